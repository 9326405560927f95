//! `runeglass import`: takes an execution from a file into a store.

use std::path::PathBuf;

use clap::Args;
use recording::{Access, Store};
use session::Session;

use crate::outcome::{CommandError, Outcome, say};

#[derive(Args)]
#[command(after_help = "\
Example:
  runeglass import case.runeglass --store runs.db

A file that is not what `runeglass export` writes is refused; nothing in it is executed.")]
pub struct ImportArguments {
    /// A file that `runeglass export` wrote.
    file: PathBuf,
    /// The store to take it into; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
}

pub async fn import(arguments: ImportArguments) -> Result<Outcome, CommandError> {
    let problem = |error| session::store_problem(&error);
    let case = recording::read_case(&arguments.file).await.map_err(problem)?;
    let path = arguments.store.map_or_else(Session::usual_store, Ok)?;
    let store = Store::open(&path, Access::Write).await.map_err(problem)?;
    store.import(&case).await.map_err(problem)?;
    say(&format!("{} with {} events is in {}", case.execution_id(), case.events.len(), path.display()))?;
    Ok(Outcome::Completed)
}
