//! `runeglass export`: one execution as one document.

use std::path::PathBuf;

use clap::Args;
use protocol::ExecutionId;
use recording::{Access, Store};

use crate::outcome::{CommandError, Outcome, say};

#[derive(Args)]
#[command(after_help = "Example:\n  runeglass export 3f2a9c0b1d4e5f60 --store runs.db -o case.json")]
pub struct ExportArguments {
    /// The execution's id.
    id: String,
    /// The store that holds it; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub async fn export(arguments: ExportArguments) -> Result<Outcome, CommandError> {
    let path = arguments.store.map_or_else(session::Session::usual_store, Ok)?;
    let store = Store::open(&path, Access::Read).await.map_err(|error| session::store_problem(&error))?;
    let recording = session::record(&store, &ExecutionId::from(arguments.id)).await?;
    let text = serde_json::to_vec(&recording).map_err(|error| CommandError::usage(error.to_string(), ""))?;
    let what = format!("write {}", arguments.output.display());
    std::fs::write(&arguments.output, text).map_err(|error| CommandError::io(&what, &error))?;
    say(&format!("{} holds {} events", arguments.output.display(), recording.patches.len()))?;
    Ok(Outcome::Completed)
}
