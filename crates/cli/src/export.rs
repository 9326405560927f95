//! `runeglass export`: one execution as one file.

use std::path::{Path, PathBuf};

use clap::Args;
use protocol::ExecutionId;
use recording::{Access, Store};

use crate::outcome::{CommandError, Outcome, say};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass export 3f2a9c0b1d4e5f60 --store runs.db -o case.runeglass   # everything; see replay, compare, import
  runeglass export 3f2a9c0b1d4e5f60 --store runs.db -o case.json        # a document that the window opens")]
pub struct ExportArguments {
    /// The execution's id.
    id: String,
    /// The store that holds it; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// The file to write: everything where it ends with .runeglass, else a document for the window.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub async fn export(arguments: ExportArguments) -> Result<Outcome, CommandError> {
    let path = arguments.store.map_or_else(session::Session::usual_store, Ok)?;
    let store = Store::open(&path, Access::Read).await.map_err(|error| session::store_problem(&error))?;
    let id = ExecutionId::from(arguments.id);
    if arguments.output.extension().is_some_and(|ending| ending == "runeglass") {
        let events = write_case(&store, &id, &arguments.output).await?;
        say(&format!("{} holds {events} events", arguments.output.display()))?;
        return Ok(Outcome::Completed);
    }
    let recording = session::record(&store, &id).await?;
    let text = serde_json::to_vec(&recording).map_err(|error| CommandError::usage(error.to_string(), ""))?;
    let what = format!("write {}", arguments.output.display());
    std::fs::write(&arguments.output, text).map_err(|error| CommandError::io(&what, &error))?;
    say(&format!("{} holds {} events", arguments.output.display(), recording.patches.len()))?;
    Ok(Outcome::Completed)
}

async fn write_case(store: &Store, id: &ExecutionId, path: &Path) -> Result<usize, CommandError> {
    let problem = |error| session::store_problem(&error);
    let Some(case) = store.case(id).await.map_err(problem)? else {
        // Says what is wrong in the usual words.
        return Ok(session::look::events(store, id).await?.len());
    };
    recording::write_case(path, &case).await.map_err(problem)?;
    Ok(case.events.len())
}
