//! `runeglass credentials`: keeps secrets that workflows refer to by name.

use std::{
    io::{IsTerminal, Read},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use protocol::{Problem, ProblemCode};
use serde_json::Value;
use session::{CredentialFile, FileError, KeeperError, Keyring, Session};

use crate::outcome::{CommandError, Outcome, say};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass credentials set github < token.txt
  echo '{\"type\": \"basic_auth\", \"username\": \"ada\", \"password\": \"…\"}' | runeglass credentials set shop
  runeglass credentials list

A workflow refers to it: \"credentials\": {\"ref\": \"github\"}. It is looked up when a call is made: first in the
variable RUNEGLASS_CREDENTIAL_GITHUB, then in the file, then in the keyring.")]
pub struct CredentialsArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Read a secret from stdin and keep it: JSON with its fields, or a token as plain text.
    Set {
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// The names in the file; values are never shown.
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Forget a secret.
    Remove {
        name: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Args)]
struct Place {
    /// A file that only you may read; the one in the user's data folder where absent.
    #[arg(long, value_name = "PATH", env = "RUNEGLASS_CREDENTIALS")]
    file: Option<PathBuf>,
    /// The keyring of the desktop instead of a file.
    #[arg(long, conflicts_with = "file")]
    keyring: bool,
}

impl Place {
    fn file(self) -> Result<CredentialFile, CommandError> {
        Ok(CredentialFile::at(self.file.map_or_else(Session::usual_credentials, Ok)?))
    }
}

pub fn credentials(arguments: CredentialsArguments) -> Result<Outcome, CommandError> {
    match arguments.action {
        Action::Set { name, place } => set(&name, place),
        Action::List { place } => list(place),
        Action::Remove { name, place } => remove(&name, place),
    }
}

fn set(name: &str, place: Place) -> Result<Outcome, CommandError> {
    let text = read_secret(name)?;
    if place.keyring {
        Keyring::set(name, &text).map_err(from_keeper)?;
        say(&format!("{name} is in the keyring"))?;
    } else {
        let value = serde_json::from_str(&text).ok().filter(Value::is_object);
        let file = place.file()?;
        file.set(name, value.unwrap_or(Value::String(text))).map_err(from_file)?;
        say(&format!("{name} is in {}", file.path().display()))?;
    }
    Ok(Outcome::Completed)
}

fn read_secret(name: &str) -> Result<String, CommandError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        eprintln!("Type the secret {name}, then Enter and Ctrl+D; it is shown while you type.");
    }
    let mut text = String::new();
    stdin.lock().read_to_string(&mut text).map_err(|error| CommandError::io("read stdin", &error))?;
    match text.trim() {
        "" => Err(CommandError::usage("the secret is empty", "give it on stdin")),
        text => Ok(text.to_owned()),
    }
}

fn list(place: Place) -> Result<Outcome, CommandError> {
    if place.keyring {
        let hint = "look into the keyring with the tool of your desktop; the service is runeglass";
        return Err(CommandError::usage("a keyring does not tell what it holds", hint));
    }
    let file = place.file()?;
    let names = file.names().map_err(from_file)?;
    if names.is_empty() {
        eprintln!("there are no credentials in {}", file.path().display());
    }
    names.iter().try_for_each(|name| say(name))?;
    Ok(Outcome::Completed)
}

fn remove(name: &str, place: Place) -> Result<Outcome, CommandError> {
    let found = match place.keyring {
        true => Keyring::remove(name).map_err(from_keeper)?,
        false => place.file()?.remove(name).map_err(from_file)?,
    };
    match found {
        true => say(&format!("{name} is forgotten"))?,
        false => {
            return Err(CommandError::usage(
                format!("there is no credential {name:?}"),
                "see `runeglass credentials list`",
            ));
        }
    }
    Ok(Outcome::Completed)
}

fn from_file(error: FileError) -> CommandError {
    Problem::new(
        ProblemCode::Infrastructure,
        error.to_string(),
        "check the file, or name another with --file",
    )
    .into()
}

fn from_keeper(error: KeeperError) -> CommandError {
    let hint = "unlock the keyring, or leave --keyring out to use a file";
    let message = match error {
        KeeperError::Absent(_) => "this machine has no keyring that answers".to_owned(),
        KeeperError::Silent(why) | KeeperError::Unusable(why) => why,
    };
    Problem::new(ProblemCode::Infrastructure, message, hint).into()
}
