//! `runeglass explain`: why an execution, or one of its nodes, did what it did.

use std::path::PathBuf;

use clap::Args;
use protocol::NodeId;

use crate::{
    outcome::{CommandError, Outcome, say, say_json},
    source,
    terminal::plain,
};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass explain 3f2a9c0b1d4e5f60 --store runs.db              # is it stuck, and where did the time go
  runeglass explain 3f2a9c0b1d4e5f60 risky --store runs.db        # why did it go this way, or not run
  runeglass explain case.runeglass pack --key each=7 --json")]
pub struct ExplainArguments {
    /// An execution's id, or an exported file.
    recording: String,
    /// The node to explain; the execution where absent.
    node: Option<String>,
    /// Which of the node's firings, by its key.
    #[arg(long, value_name = "KEY", requires = "node")]
    key: Option<String>,
    /// The store that holds it; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// Print everything as one JSON object.
    #[arg(long)]
    json: bool,
}

pub async fn explain(arguments: ExplainArguments) -> Result<Outcome, CommandError> {
    let events = source::events(&arguments.recording, arguments.store).await?;
    let node = arguments.node.map(NodeId::from);
    let explanation = recording::explain(&events, node.as_ref(), arguments.key.as_deref());
    let explanation = explanation.map_err(|error| session::ledger_problem(&error))?;
    match arguments.json {
        true => say_json(&explanation)?,
        false => explanation.sentences.iter().try_for_each(|sentence| say(&plain(sentence)))?,
    }
    Ok(Outcome::Completed)
}
