//! `runeglass find`: executions, and what was in their payloads.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use protocol::{
    ExecutionId, ExecutionPhase, ExecutionSummary, Filter, Found, Hit, Millis, NodeId, Search, iso8601,
    parse_moment,
};
use recording::{Access, Store};
use session::{Session, look};

use crate::{
    outcome::{CommandError, Outcome, say, say_json},
    terminal::{duration, plain},
};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass find --phase failed                            # executions, newest first
  runeglass find ada 'order 42'                            # payloads with both
  runeglass find --path '$.order.id == 42' --workflow parcel
  runeglass find --path '$..email contains \"@example\"' --json

A path is compared with the input, the parameters, the outputs and the items of every event.")]
pub struct FindArguments {
    /// Words that all have to occur in one event; `wor*` is the beginning of a word.
    words: Vec<String>,
    /// A path and what is asked of it, such as '$.order.id == 42'.
    #[arg(long, value_name = "QUERY")]
    path: Option<String>,
    /// Only this execution.
    #[arg(long, value_name = "ID")]
    execution: Option<String>,
    /// A part of the title, the id or the file of the workflow.
    #[arg(long, value_name = "TEXT")]
    workflow: Option<String>,
    /// Only executions in this state.
    #[arg(long, value_enum)]
    phase: Option<Phase>,
    /// Started at this moment or later, such as 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "MOMENT", value_parser = moment)]
    since: Option<Millis>,
    /// Started before this moment.
    #[arg(long, value_name = "MOMENT", value_parser = moment)]
    until: Option<Millis>,
    /// Only what this node has seen or done.
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// How many at most.
    #[arg(long, default_value_t = 50)]
    most: u32,
    /// Go on where the page before has ended.
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,
    /// The store to look into; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// Print the page as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Phase {
    Running,
    Completed,
    Failed,
    Halted,
}

impl From<Phase> for ExecutionPhase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Running => Self::Running,
            Phase::Completed => Self::Completed,
            Phase::Failed => Self::Failed,
            Phase::Halted => Self::Halted,
        }
    }
}

pub async fn find(arguments: FindArguments) -> Result<Outcome, CommandError> {
    let path = arguments.store.clone().map_or_else(Session::usual_store, Ok)?;
    let store = Store::open(&path, Access::Read).await.map_err(|error| session::store_problem(&error))?;
    let filter = Filter {
        execution_id: arguments.execution.clone().map(ExecutionId::from),
        workflow: arguments.workflow.clone(),
        phase: arguments.phase.map(ExecutionPhase::from),
        since: arguments.since,
        until: arguments.until,
    };
    match arguments.words.is_empty() && arguments.path.is_none() {
        true => list(&store, &arguments, &filter).await?,
        false => search(&store, arguments, filter).await?,
    }
    Ok(Outcome::Completed)
}

async fn list(store: &Store, arguments: &FindArguments, filter: &Filter) -> Result<(), CommandError> {
    if arguments.node.is_some() {
        return Err(CommandError::usage("--node needs something to look for", "add words, or --path"));
    }
    let page = store.list(filter, arguments.after.as_deref(), arguments.most).await;
    let page = page.map_err(|error| session::store_problem(&error))?;
    if arguments.json {
        return say_json(&page);
    }
    page.executions.iter().try_for_each(|execution| say(&execution_line(execution)))?;
    say_next(page.next.as_deref())
}

async fn search(store: &Store, arguments: FindArguments, filter: Filter) -> Result<(), CommandError> {
    // Words of one argument stand together.
    let quoted = |word: &String| match word.contains(char::is_whitespace) {
        true => format!("\"{}\"", word.replace('"', " ")),
        false => word.replace('"', " "),
    };
    let words: Vec<String> = arguments.words.iter().map(quoted).collect();
    let mut search = Search {
        words: (!words.is_empty()).then(|| words.join(" ")),
        path: arguments.path,
        node_id: arguments.node.map(NodeId::from),
        filter,
        after: arguments.after,
        limit: Some(arguments.most),
    };
    let mut found = look::find(store, &search, u64::MAX).await?;
    // A page that had to look at much is short; people at a terminal have asked for so many, and wait.
    while let Some(missing @ 1..) = arguments.most.checked_sub(found.hits.len() as u32)
        && let Some(next) = found.next.take()
    {
        (search.after, search.limit) = (Some(next), Some(missing));
        let more = look::find(store, &search, 0).await?;
        found.hits.extend(more.hits);
        found.next = more.next;
    }
    if arguments.json {
        return say_json(&found);
    }
    found.hits.iter().try_for_each(|hit| say(&hit_line(hit)))?;
    let Found { unindexed, next, hits } = &found;
    if unindexed.events > 0 {
        say(&format!("{} events of {} executions are not indexed", unindexed.events, unindexed.executions))?;
    }
    if hits.is_empty() && next.is_none() {
        say("nothing was found")?;
    }
    say_next(next.as_deref())
}

fn execution_line(execution: &ExecutionSummary) -> String {
    let ExecutionSummary { execution_id, title, phase, started_at, ended_at, error, .. } = execution;
    let took = ended_at.map_or_else(|| "under way".to_owned(), |end| duration(end - started_at));
    let phase = serde_json::to_value(phase).unwrap_or_default();
    let error = error.as_ref().map_or_else(String::new, |error| format!(": {}", plain(&error.message)));
    let phase = phase.as_str().unwrap_or_default();
    format!("{} {execution_id} {phase} {took} {}{error}", iso8601(*started_at), plain(title))
}

fn hit_line(hit: &Hit) -> String {
    let Hit { execution_id, position, at, node_id, key, part, path, excerpt, .. } = hit;
    let node = node_id.as_ref().map_or("the execution", NodeId::as_str);
    let key = if key.is_root() { String::new() } else { format!(" [{key}]") };
    let part = serde_json::to_value(part).unwrap_or_default();
    let place = path.as_ref().map_or_else(String::new, |path| format!(" {}", plain(path)));
    let part = part.as_str().unwrap_or_default();
    format!("{} {execution_id} {position} {node}{key} {part}{place}: {}", iso8601(*at), plain(excerpt))
}

fn say_next(next: Option<&str>) -> Result<(), CommandError> {
    next.map_or(Ok(()), |next| say(&format!("there is more: --after {next}")))
}

fn moment(text: &str) -> Result<Millis, String> {
    parse_moment(text).ok_or_else(|| "a moment such as 2026-01-31T12:00:00Z".to_owned())
}
