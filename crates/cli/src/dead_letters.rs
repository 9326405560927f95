//! `runeglass dead-letters`: messages that were given up, with the reason.

use std::path::PathBuf;

use clap::Args;
use protocol::{DeadLetter, iso8601};
use recording::{Access, Store};

use crate::{
    outcome::{CommandError, Outcome, say},
    terminal::plain,
};

#[derive(Args)]
#[command(after_help = "Example:\n  runeglass dead-letters --store runs.db --json")]
pub struct DeadLettersArguments {
    /// The store to look into; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// How many at most, newest first.
    #[arg(long, default_value_t = 100)]
    most: u32,
}

pub async fn list(arguments: DeadLettersArguments) -> Result<Outcome, CommandError> {
    let path = arguments.store.map_or_else(session::Session::usual_store, Ok)?;
    let problem = |error| session::store_problem(&error);
    let store = Store::open(&path, Access::Read).await.map_err(problem)?;
    let letters = store.dead_letters(arguments.most).await.map_err(problem)?;
    if letters.is_empty() && !arguments.json {
        say("no dead letters")?;
    }
    for letter in &letters {
        let json =
            || serde_json::to_string(letter).map_err(|error| CommandError::usage(error.to_string(), ""));
        say(&if arguments.json { json()? } else { line(letter) })?;
    }
    Ok(Outcome::Completed)
}

fn line(letter: &DeadLetter) -> String {
    let DeadLetter { execution_id, at, node_id, key, attempt, error, .. } = letter;
    let place = if key.as_str().is_empty() { String::new() } else { format!(" [{}]", key.as_str()) };
    format!("{} {execution_id} {node_id}{place}, attempt {attempt}: {}", iso8601(*at), plain(&error.message))
}
