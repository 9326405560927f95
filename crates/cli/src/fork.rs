//! `runeglass fork` and `runeglass rerun`: new executions that take their past from a recorded one.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use engine::Plan;
use protocol::{
    Again, Event, ExecutionId, Fact, ForkBranch, ForkEdit, ForkPreview, ForkWish, NodeId, PayloadView,
    Request, Response, StatusLine,
};
use runtime::Clock;
use serde_json::Value;
use session::{AddressPolicy, Keep, Options, Session};

use crate::{
    edit::Assignment,
    outcome::{CommandError, Outcome, say, say_json},
    reach::ReachArguments,
    source,
    standstill::until_held,
    terminal::plain,
    validate::print_diagnostics,
};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass fork 3f2a9c0b1d4e5f60 --at 12 --set '$item.total=5' --store runs.db
  runeglass fork 3f2a9c0b1d4e5f60 --at 13 --set 'output.status=404' --run notify --yes
  runeglass fork 3f2a9c0b1d4e5f60 --from price
  runeglass fork 3f2a9c0b1d4e5f60 --workflow edited.json

What happened up to the event is taken as it was. Behind it nodes work again; what asks the outside is answered from
the recording, but for the nodes of --run, and for nodes that --workflow has edited or added. The parent is only read.")]
pub struct ForkArguments {
    /// The execution's id.
    id: String,
    /// The number of the event from which it goes another way.
    #[arg(long, value_name = "N", required_unless_present_any = ["from", "workflow"])]
    at: Option<u64>,
    /// Change something at that event: what a node sees at its start, its output at its end, the input at event 1.
    #[arg(long, value_name = "PATH=JSON", requires = "at")]
    set: Vec<String>,
    /// Let this node really ask the outside.
    #[arg(long, value_name = "NODE", requires = "at")]
    run: Vec<String>,
    /// Let this node and everything behind it work again, and take everything else from the recording.
    #[arg(long, value_name = "NODE", conflicts_with = "at")]
    from: Option<String>,
    #[command(flatten)]
    how: HowArguments,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  runeglass rerun 3f2a9c0b1d4e5f60 --failed fetch --store runs.db --yes
  runeglass rerun 3f2a9c0b1d4e5f60 --item each=37 --from fetch --store runs.db --yes

Only the failed items of a node run again, or one item that is named, with what follows from them; all others are taken
from the recording. The result is a new execution with a complete aggregate.")]
pub struct RerunArguments {
    /// The execution's id.
    id: String,
    /// The node whose failed items run again.
    #[arg(long, value_name = "NODE", required_unless_present = "item", conflicts_with = "item")]
    failed: Option<String>,
    /// The item that runs again, as its fan-outs and indexes, such as each=37 or users=5/orders=2.
    #[arg(long, value_name = "KEY")]
    item: Option<String>,
    /// The node from which it runs again; all of its way where absent.
    #[arg(long, value_name = "NODE", requires = "item")]
    from: Option<String>,
    #[command(flatten)]
    how: HowArguments,
}

#[derive(Args)]
struct HowArguments {
    /// Run this workflow instead of the recorded one.
    #[arg(long, value_name = "FILE")]
    workflow: Option<PathBuf>,
    /// The store that holds it; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// Go on although the outside is really asked.
    #[arg(long)]
    yes: bool,
    /// Print the completion as the last line of stdout.
    #[arg(long)]
    json: bool,
    /// Let time pass at once, in order, on a simulated clock.
    #[arg(long)]
    virtual_time: bool,
    #[command(flatten)]
    reach: ReachArguments,
}

pub async fn fork(arguments: ForkArguments) -> Result<Outcome, CommandError> {
    let ForkArguments { id, at, set, run, from, how } = arguments;
    let id = ExecutionId::from(id);
    let (session, how) = how.open().await?;
    let wish = match (at, from) {
        (_, Some(from)) => ForkWish::From { node_id: from.into() },
        (at, None) => {
            let position = match at {
                Some(at) => at,
                // Whatever is as it was is taken as it was.
                None => session.recorded(&id).await?.len() as u64,
            };
            let set = set.iter().map(|set| Assignment::parse(set)).collect::<Result<Vec<_>, _>>()?;
            let edit = match set.is_empty() {
                true => None,
                false => Some(fork_edit(&session, &session.recorded(&id).await?, position, set).await?),
            };
            ForkWish::At { position, edit, run: run.into_iter().map(NodeId::from).collect() }
        }
    };
    how.carry_out(&session, &id, &wish).await
}

pub async fn rerun(arguments: RerunArguments) -> Result<Outcome, CommandError> {
    let RerunArguments { id, failed, item, from, how } = arguments;
    let wish = match (failed, item) {
        (Some(failed), _) => ForkWish::Failed { node_id: failed.into() },
        (None, item) => {
            ForkWish::Item { key: item.unwrap_or_default().as_str().into(), node_id: from.map(NodeId::from) }
        }
    };
    let (session, how) = how.open().await?;
    how.carry_out(&session, &id.into(), &wish).await
}

/// What is left of the arguments once the session is open.
struct How {
    workflow: Option<Arc<Plan>>,
    yes: bool,
    json: bool,
}

impl HowArguments {
    async fn open(self) -> Result<(Session, How), CommandError> {
        let workflow = match &self.workflow {
            Some(file) => {
                let loaded = session::read_workflow(file);
                print_diagnostics(file, &loaded.diagnostics);
                Some(loaded.plan.ok_or(CommandError::Said(Outcome::Invalid))?)
            }
            None => None,
        };
        let clock = Clock::system();
        let clock = if self.virtual_time { Clock::simulated(clock.now()) } else { clock };
        let path = self.store.map_or_else(Session::usual_store, Ok)?;
        if !path.exists() {
            let message = format!("there is no store at {}", path.display());
            return Err(CommandError::usage(message, "name the file that was given to --store"));
        }
        let (keep, reach) = (Keep::At(path), self.reach.reach(AddressPolicy::Any));
        let session = Session::open(Options { keep, folder: None, clock, recover: false, reach }).await?;
        Ok((session, How { workflow, yes: self.yes, json: self.json }))
    }
}

impl How {
    async fn carry_out(
        self,
        session: &Session,
        id: &ExecutionId,
        wish: &ForkWish,
    ) -> Result<Outcome, CommandError> {
        let preview = session.preview_fork_into(id, wish, self.workflow.clone()).await?;
        if !self.json {
            say_preview(&preview)?;
        }
        if preview.effects_total > 0 && !self.yes {
            let message =
                format!("{} question(s) would really be asked; nothing was started", preview.effects_total);
            return Err(CommandError::usage(message, "--yes goes on"));
        }
        let mut started = session.fork_into(id, wish, self.workflow).await?;
        let held = until_held(session, &started.execution_id);
        tokio::pin!(held);
        loop {
            let line = tokio::select! {
                biased;
                line = started.statuses.next() => line,
                held = &mut held => {
                    session.close().await?;
                    return Err(held);
                }
            };
            let Some(line) = line else { break };
            if let StatusLine::Completion(completion) = line {
                session.close().await?;
                match self.json {
                    true => say_json(&completion)?,
                    false => say(&format!("{} {:?}", started.execution_id, completion.status))?,
                }
                return Ok(completion.status.into());
            }
        }
        Err(session.until_trouble().await.into())
    }
}

pub fn say_preview(preview: &ForkPreview) -> Result<(), CommandError> {
    if preview.pinned > 0 {
        say(&format!("{} question(s) are answered from the recording", preview.pinned))?;
    }
    for effect in &preview.effects {
        let key = if effect.key.is_root() { String::new() } else { format!(" [{}]", effect.key) };
        say(&plain(&format!("really asks: {}{key}: {}", effect.node_id, effect.asks)))?;
    }
    match preview.effects_total - preview.effects.len() {
        0 => Ok(()),
        more => say(&format!("… and {more} more")),
    }
}

#[derive(Args)]
#[command(after_help = "\
Example:
  runeglass forks 3f2a9c0b1d4e5f60 --store runs.db")]
pub struct ForksArguments {
    /// The id of any execution of the tree.
    id: String,
    /// The store that holds it; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// Print the tree as one JSON array, parents first.
    #[arg(long)]
    json: bool,
}

pub async fn forks(arguments: ForksArguments) -> Result<Outcome, CommandError> {
    let store = source::open_store(arguments.store).await?;
    let id = ExecutionId::from(arguments.id);
    let tree = session::look::forks(&store, &id).await?;
    match arguments.json {
        true => say_json(&tree)?,
        false => say_tree(&tree, &id)?,
    }
    Ok(Outcome::Completed)
}

/// Every execution below the one it comes from.
pub fn say_tree(tree: &[ForkBranch], here: &ExecutionId) -> Result<(), CommandError> {
    let roots = tree.iter().filter(|branch| branch.origin.is_none());
    roots.into_iter().try_for_each(|root| say_branch(tree, root, 0, here))
}

fn say_branch(
    tree: &[ForkBranch],
    branch: &ForkBranch,
    depth: usize,
    here: &ExecutionId,
) -> Result<(), CommandError> {
    let ForkBranch { execution_id, origin } = branch;
    let from = origin.as_ref().map(|origin| match &origin.again {
        Some(Again::Failed { node_id }) => format!(": the failed items of {node_id} again"),
        Some(Again::From { node_id }) => format!(": {node_id} and what is behind it again"),
        Some(Again::Item { key, node_id: None }) => format!(": the item {key} again"),
        Some(Again::Item { key, node_id: Some(node_id) }) => {
            format!(": the item {key} again, from {node_id} on")
        }
        None if origin.edit.is_some() => format!(": from event {} on, changed there", origin.position),
        None => format!(": from event {} on", origin.position),
    });
    let mark = if execution_id == here { " (this one)" } else { "" };
    say(&format!("{}{execution_id}{}{mark}", "  ".repeat(depth), plain(&from.unwrap_or_default())))?;
    let is_child =
        |other: &&ForkBranch| other.origin.as_ref().is_some_and(|origin| origin.parent == *execution_id);
    tree.iter().filter(is_child).try_for_each(|child| say_branch(tree, child, depth + 1, here))
}

/// What is changed at an event, from what was there.
pub async fn fork_edit(
    session: &Session,
    events: &[Event],
    position: u64,
    assignments: Vec<Assignment>,
) -> Result<ForkEdit, CommandError> {
    let at = events.iter().find(|event| event.seq == position);
    let at = at.ok_or_else(|| CommandError::usage(format!("there is no event {position}"), "see events"))?;
    let refuse = |root: &str, what: &str| {
        let hint = "$… at the start of a node, output at its end, input at event 1";
        CommandError::usage(format!("{root} cannot be changed at event {position}, which is {what}"), hint)
    };
    match &at.fact {
        Fact::ExecutionStarted(started) => {
            Ok(ForkEdit::Input { value: change(assignments, "input", started.input.value(), &refuse)? })
        }
        Fact::NodeSucceeded(done) => {
            let before = done.items.as_ref().unwrap_or(&done.output).value();
            Ok(ForkEdit::Output { value: change(assignments, "output", before, &refuse)? })
        }
        Fact::NodeFailed(_) => {
            Ok(ForkEdit::Output { value: change(assignments, "output", &Value::Null, &refuse)? })
        }
        Fact::NodeStarted(started) => {
            let (node_id, key) = (started.firing.node_id.clone(), Some(started.firing.lineage.key()));
            let execution_id = at.execution_id.clone();
            let request = Request::NodeDetail { execution_id, node_id, key, at: Some(position) };
            let mut seen = match session.call(request).await? {
                Response::NodeDetail(detail) => {
                    match detail.firings.first().and_then(|it| it.input.clone()) {
                        Some(PayloadView::Whole { json, .. }) => json,
                        Some(PayloadView::Cut { .. }) | None => Value::Null,
                    }
                }
                _ => Value::Null,
            };
            let mut entries = std::collections::BTreeMap::new();
            for assignment in assignments {
                let root = assignment.root.clone();
                if !root.starts_with('$') {
                    return Err(refuse(&root, "the start of a node"));
                }
                let value = assignment.apply(seen[root.as_str()].clone())?;
                seen[root.as_str()] = value.clone();
                entries.insert(root, value);
            }
            Ok(ForkEdit::Context { entries })
        }
        Fact::NodeParked(_)
        | Fact::AttemptFailed(_)
        | Fact::TimedOut(_)
        | Fact::Prolonged(_)
        | Fact::Intervened(_)
        | Fact::TimerFired(_)
        | Fact::Gathered(_)
        | Fact::Missed(_)
        | Fact::ExecutionEnded(_) => Err(refuse("something", "neither a start nor an end of a node")),
    }
}

fn change(
    assignments: Vec<Assignment>,
    root: &str,
    before: &Value,
    refuse: &impl Fn(&str, &str) -> CommandError,
) -> Result<Value, CommandError> {
    let mut value = before.clone();
    for assignment in assignments {
        if assignment.root != root {
            return Err(refuse(&assignment.root, &format!("where {root} is")));
        }
        value = assignment.apply(value)?;
    }
    Ok(value)
}
