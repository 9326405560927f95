//! `runeglass replay`: a recording at any moment, held against the core, or with another workflow.

use std::path::{Path, PathBuf};

use clap::Args;
use protocol::{ExecutionId, ExecutionView, NodeState, Recording, iso8601, parse_moment};
use recording::{Difference, Verified, ViewFold};

use crate::{
    compare,
    outcome::{CommandError, Outcome, say, say_json},
    source,
    terminal::{plain, short},
    validate::print_diagnostics,
};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass replay 3f2a9c0b1d4e5f60 --at 120 --store runs.db
  runeglass replay case.runeglass --at 2026-01-31T12:00:00Z --json
  runeglass replay case.runeglass --verify
  runeglass replay case.runeglass --workflow edited.json   # what would have happened

Nothing outside is asked: answers come from the recording.")]
pub struct ReplayArguments {
    /// An execution's id, or an exported file.
    recording: String,
    /// The number of an event, or a moment; the end where absent.
    #[arg(long, value_name = "N|MOMENT")]
    at: Option<String>,
    /// Run the core over the recorded answers and tell the first difference.
    #[arg(long)]
    verify: bool,
    /// Run this workflow over the recorded answers and tell what would have been different.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verify", "at"])]
    workflow: Option<PathBuf>,
    /// The store that holds it; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The place that is asked for.
#[derive(Clone, Copy)]
enum Place {
    Event(u64),
    Moment(i64),
}

pub async fn replay(arguments: ReplayArguments) -> Result<Outcome, CommandError> {
    if let Some(workflow) = &arguments.workflow {
        return what_if(&arguments, workflow).await;
    }
    if arguments.verify {
        let events = source::events(&arguments.recording, arguments.store).await?;
        let verified = recording::verify(&events).map_err(|error| session::ledger_problem(&error))?;
        return report(&verified, arguments.json);
    }
    let place = arguments.at.as_deref().map_or(Ok(Place::Event(u64::MAX)), parse_place)?;
    let view = view_at(&arguments.recording, arguments.store, place).await?;
    if arguments.at.is_some() {
        check_reached(&view, place)?;
    }
    match arguments.json {
        true => say_json(&view)?,
        false => print_view(&view)?,
    }
    Ok(Outcome::Completed)
}

fn parse_place(text: &str) -> Result<Place, CommandError> {
    let event = text.parse().ok().map(Place::Event);
    event.or_else(|| parse_moment(text).map(Place::Moment)).ok_or_else(|| {
        CommandError::usage(format!("{text:?} is no place"), "--at 120, or --at 2026-01-31T12:00:00Z")
    })
}

/// Says so where the recording has no such place, rather than showing another one.
fn check_reached(view: &ExecutionView, place: Place) -> Result<(), CommandError> {
    let last = view.position;
    match place {
        Place::Event(0) => Err(CommandError::usage("there is no event 0", "events count from 1")),
        Place::Event(position) if position > last => Err(CommandError::usage(
            format!("there is no event {position}: the recording has {last}"),
            format!("--at {last} is the last one"),
        )),
        Place::Moment(_) if last == 0 => Err(CommandError::usage(
            "nothing had happened by then",
            format!("it began at {}", iso8601(view.summary.started_at)),
        )),
        Place::Event(_) | Place::Moment(_) => Ok(()),
    }
}

async fn view_at(name: &str, store: Option<PathBuf>, place: Place) -> Result<ExecutionView, CommandError> {
    if !source::is_file(name) {
        let store = source::open_store(store).await?;
        let id = ExecutionId::from(name);
        let position = match place {
            Place::Event(position) => position,
            Place::Moment(moment) => {
                let found = store.position_at(&id, moment).await;
                found.map_err(|error| session::store_problem(&error))?.unwrap_or(0)
            }
        };
        let view = session::look::view_at(&store, &id, position.max(1)).await?;
        // Before the first event there is only what is about to begin.
        return Ok(if position == 0 { ExecutionView { position, ..view } } else { view });
    }
    if let Some(document) = read_document(Path::new(name))? {
        return Ok(in_document(document, place));
    }
    let events = source::events(name, store).await?;
    let comes_later = |event: &&protocol::Event| match place {
        Place::Event(position) => event.seq <= position,
        Place::Moment(moment) => event.at <= moment,
    };
    let fold = events.first().and_then(ViewFold::begin);
    let mut fold = fold.ok_or_else(|| CommandError::usage("the recording has no beginning", ""))?;
    events.iter().take_while(comes_later).for_each(|event| fold.apply(event));
    Ok(fold.view().clone())
}

/// The older form of an export, which the window opens; `None` for a file that is no text.
fn read_document(path: &Path) -> Result<Option<Recording>, CommandError> {
    let what = format!("read {}", path.display());
    let bytes = std::fs::read(path).map_err(|error| CommandError::io(&what, &error))?;
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(None);
    }
    let document: Recording = serde_json::from_slice(&bytes)
        .map_err(|error| CommandError::usage(format!("{} is no recording: {error}", path.display()), ""))?;
    Ok(Some(document))
}

fn in_document(document: Recording, place: Place) -> ExecutionView {
    let Recording { start: mut view, patches, .. } = document;
    for timed in patches {
        let reached = match place {
            Place::Event(position) => timed.patch.position <= position,
            Place::Moment(moment) => timed.at <= moment,
        };
        if !reached {
            break;
        }
        view.position = timed.patch.position;
        view.summary = timed.patch.summary;
        view.nodes.extend(timed.patch.nodes);
        view.edges.extend(timed.patch.edges);
    }
    view
}

fn print_view(view: &ExecutionView) -> Result<(), CommandError> {
    let summary = &view.summary;
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let phase = word(serde_json::to_value(summary.phase).unwrap_or_default());
    let began = iso8601(summary.started_at);
    say(&format!(
        "{} {} after event {}: {phase}, began {began}",
        summary.execution_id,
        plain(&summary.title),
        view.position
    ))?;
    for (id, node) in view.nodes.iter().filter(|(_, node)| node.state != NodeState::Idle) {
        let state = word(serde_json::to_value(node.state).unwrap_or_default());
        let counts = &node.counts;
        let mut line = format!("  {id}: {state}");
        for (name, count) in [
            ("queued", counts.queued),
            ("running", counts.running),
            ("waiting", counts.waiting),
            ("succeeded", counts.success),
            ("failed", counts.failed),
            ("skipped", counts.skipped),
        ] {
            if count > 1 {
                line.push_str(&format!(", {count} {name}"));
            }
        }
        if let Some(progress) = node.progress {
            line.push_str(&format!(", {} of {} arrived", progress.arrived, progress.expected));
        }
        if let Some(error) = &node.error {
            line.push_str(&format!(": {}", short(&error.message, 100)));
        }
        say(&line)?;
    }
    Ok(())
}

fn report(verified: &Verified, json: bool) -> Result<Outcome, CommandError> {
    if json {
        say_json(verified)?;
    } else {
        let Verified { events, firings, recorded_answers, difference } = verified;
        say(&format!(
            "{events} events agree; {firings} firings were worked out again, {recorded_answers} answers came from the recording"
        ))?;
        if let Some(Difference { position, node_id, key, what, recorded, replayed }) = difference {
            let node = node_id.as_ref().map_or("the execution", |id| id.as_str());
            let key = if key.is_root() { String::new() } else { format!(" [{key}]") };
            say(&format!("event {position}, {node}{key}: {what} differs"))?;
            say(&format!("  recorded: {}", short(&recorded.to_string(), 1_000)))?;
            say(&format!("  replayed: {}", short(&replayed.to_string(), 1_000)))?;
        }
    }
    Ok(if verified.difference.is_none() { Outcome::Completed } else { Outcome::FailedOrHalted })
}

async fn what_if(arguments: &ReplayArguments, workflow: &Path) -> Result<Outcome, CommandError> {
    let loaded = session::read_workflow(workflow);
    print_diagnostics(workflow, &loaded.diagnostics);
    let Some(plan) = loaded.plan else { return Err(CommandError::Said(Outcome::Invalid)) };
    let events = source::events(&arguments.recording, arguments.store.clone()).await?;
    let imagined = recording::imagine(&events, plan).map_err(|error| session::ledger_problem(&error))?;
    let comparison = recording::compare(&events, &imagined.events);
    if arguments.json {
        say_json(&serde_json::json!({"unknown": imagined.unknown, "comparison": comparison}))?;
    } else {
        for unknown in imagined.unknown.iter().take(20) {
            let why = if unknown.asked_before { "would ask something else" } else { "did not ask then" };
            let key = if unknown.key.is_root() { String::new() } else { format!(" [{}]", unknown.key) };
            say(&format!("{}{key} {why}; what comes behind it is not known", unknown.node_id))?;
        }
        say("A is what happened, B is what would have happened:")?;
        compare::print(&comparison)?;
    }
    Ok(if comparison.is_equal() { Outcome::Completed } else { Outcome::FailedOrHalted })
}
