//! What the debugger says.

use protocol::{
    BreakPlace, Breakpoint, Change, ControlView, Event, Fact, Firing, GatePlace, HeldMessage, LineageKey,
    Logged, MessageId, Millis, Mock, MockAnswer, NodeDetail, NodeId, NodeState, PastView, PayloadView,
    StaleNode, TimerPurpose, TimerView, WhyHeld, iso8601,
};
use serde_json::json;

use crate::{
    outcome::{CommandError, say},
    terminal::{plain, short},
};

/// Messages that are listed; all of them are counted.
const LISTED: usize = 20;

type Said = Result<(), CommandError>;

pub fn breakpoints(all: &[Breakpoint]) -> Said {
    for (at, known) in all.iter().enumerate() {
        say(&format!("{}: {}", at + 1, breakpoint(known)))?;
    }
    if all.is_empty() { say("there are no breakpoints") } else { Ok(()) }
}

pub fn mocks(all: &[Mock]) -> Said {
    for (at, Mock { node_id, key, answer }) in all.iter().enumerate() {
        let key = key.as_ref().map(LineageKey::to_string).unwrap_or_default();
        let answer = match answer {
            MockAnswer::Output { value } => format!("pinned to {}", short(&value.to_string(), 200)),
            MockAnswer::Error { message } => format!("fails: {}", plain(message)),
            MockAnswer::Latency { millis } => format!("takes {millis} ms longer"),
        };
        say(&format!("{}: {} {answer}", at + 1, place(node_id, &key)))?;
    }
    if all.is_empty() { say("every node does its own work") } else { Ok(()) }
}

pub fn stale(nodes: &[StaleNode]) -> Said {
    for StaleNode { node_id, because, removed } in nodes {
        let what = if *removed { "was removed" } else { "was set or changed" };
        say(&plain(&format!("{node_id}: the pin or mock of {because} {what} since")))?;
    }
    if nodes.is_empty() { say("nothing is stale") } else { Ok(()) }
}

pub fn breakpoint(breakpoint: &Breakpoint) -> String {
    let any =
        |node: &Option<NodeId>| node.as_ref().map_or("anywhere".to_owned(), |node| format!("at {node}"));
    let mut said = match &breakpoint.place {
        BreakPlace::Before { node_id } => format!("before {node_id}"),
        BreakPlace::After { node_id } => format!("after {node_id}"),
        BreakPlace::Edge { edge_id } => format!("on the edge {edge_id}"),
        BreakPlace::Error { node_id } => format!("on an error {}", any(node_id)),
        BreakPlace::Barrier { node_id } => format!("when a barrier opens {}", any(node_id)),
    };
    let item = breakpoint.item.map(|item| format!(", item {item}"));
    let key = breakpoint.key.as_ref().map(|key| format!(", at [{key}]"));
    let hits = breakpoint.hits.map(|hits| format!(", from hit {hits} on"));
    let condition = breakpoint.condition.as_ref().map(|condition| format!(", if {condition}"));
    let log = breakpoint.log.as_ref().map(|log| format!(", logs {log}"));
    [item, key, hits, condition, log].into_iter().flatten().for_each(|part| said.push_str(&part));
    plain(&said)
}

pub fn logged(logged: &Logged) -> Said {
    say(&format!("log {}: {}", place(&logged.node_id, logged.key.as_str()), plain(&logged.text)))
}

pub fn held(view: &ControlView, selected: Option<&MessageId>) -> Said {
    if view.held.is_empty() {
        return say("nothing is held");
    }
    let is_selected = |at: usize, held: &HeldMessage| match selected {
        Some(selected) => held.message_id == *selected,
        None => at == 0,
    };
    for (at, held) in view.held.iter().enumerate().take(LISTED) {
        let mark = if is_selected(at, held) { ">" } else { " " };
        let gate = match held.gate {
            GatePlace::Before => "before",
            GatePlace::After => "after",
        };
        let edited = if held.edited { ", edited" } else { "" };
        let place = place(&held.node_id, held.key.as_str());
        say(&format!("{mark} {}: held {gate} {place} ({}{edited})", at + 1, why(&held.why)))?;
    }
    match view.held_total {
        total if total > LISTED => say(&format!("  … {total} in all")),
        _ => Ok(()),
    }
}

fn why(why: &WhyHeld) -> String {
    match why {
        WhyHeld::Breakpoint { index } => format!("breakpoint {}", index + 1),
        WhyHeld::BrokenCondition { index, complaint } => {
            format!("breakpoint {} cannot be decided: {}", index + 1, plain(complaint))
        }
        WhyHeld::Paused => "paused".to_owned(),
        WhyHeld::NodePaused => "its node is paused".to_owned(),
        WhyHeld::Stepped => "stepped".to_owned(),
    }
}

pub fn message(held: &HeldMessage) -> Said {
    say(&place(&held.node_id, held.key.as_str()))?;
    payload("parameters", held.parameters.as_ref())?;
    payload("sees", Some(&held.context))?;
    payload("output", held.output.as_ref())?;
    if let Some(error) = &held.error {
        say(&format!("error: {}", plain(&error.message)))?;
    }
    match &held.asks {
        Some(asks) => say(&format!("asks: {}", plain(asks))),
        None => Ok(()),
    }
}

pub fn detail(detail: &NodeDetail) -> Said {
    if detail.total == 0 {
        return say("it has not run");
    }
    for firing in detail.firings.iter().take(LISTED).rev() {
        let state = state(firing.state);
        say(&format!(
            "{}, attempt {}: {state}",
            place(&detail.node_id, firing.key.as_str()),
            firing.attempt
        ))?;
        payload("parameters", firing.parameters.as_ref())?;
        payload("output", firing.output.as_ref())?;
        if let Some(error) = &firing.error {
            say(&format!("error: {}", plain(&error.message)))?;
        }
    }
    Ok(())
}

fn payload(name: &str, view: Option<&PayloadView>) -> Said {
    match view {
        Some(PayloadView::Whole { json, .. }) => say(&format!("{name}: {}", plain(&json.to_string()))),
        Some(PayloadView::Cut { text, bytes }) => {
            say(&format!("{name}: {} ({bytes} bytes)", short(text, 2_000)))
        }
        None => Ok(()),
    }
}

pub fn timers<'t>(timers: impl Iterator<Item = &'t TimerView>) -> Said {
    let mut any = false;
    for timer in timers.take(LISTED) {
        any = true;
        let until = match timer.purpose {
            TimerPurpose::Deadline { stands: true, .. } => "stands still while something is held".to_owned(),
            TimerPurpose::Deadline { .. } | TimerPurpose::Rest | TimerPurpose::Retry { .. } => {
                format!("until {}", iso8601(timer.due))
            }
        };
        say(&format!("{} {until}", place(&timer.node_id, timer.key.as_str())))?;
    }
    if any { Ok(()) } else { say("no timer is set") }
}

pub fn resting(due: Millis) -> Said {
    say(&format!("nothing moves until {}: warp fires the timer now, wait waits for it", iso8601(due)))
}

pub fn ended(events: &[Event]) -> Said {
    let ended = events.iter().rev().find_map(|event| match &event.fact {
        Fact::ExecutionEnded(ended) => Some(ended),
        _ => None,
    });
    let Some(ended) = ended else { return say("it goes on") };
    let error = ended.error.as_ref().map(|error| format!(": {}", plain(&error.message))).unwrap_or_default();
    let status = json!(ended.status);
    say(&format!("{}{error}, {} events", status.as_str().unwrap_or("ended"), events.len()))
}

pub fn events(events: &[Event], node: Option<&NodeId>) -> Said {
    for event in events {
        let is_of = |firing: Option<&Firing>| {
            node.is_none_or(|node| firing.is_some_and(|firing| firing.node_id == *node))
        };
        let (what, firing) = described(&event.fact);
        if is_of(firing) {
            say(&line(event.seq, &what, firing))?;
        }
    }
    Ok(())
}

pub fn past(past: &PastView, events: &[Event]) -> Said {
    let position = past.view.position;
    if let Some(event) = events.iter().find(|event| event.seq == position) {
        let (what, firing) = described(&event.fact);
        say(&format!("{} (of {})", line(position, &what, firing), events.len()))?;
    }
    for (id, node) in past.view.nodes.iter().filter(|(_, node)| node.state != NodeState::Idle) {
        let counts = node.counts;
        let changed =
            node.interventions.map(|times| format!(", changed by hand {times}×")).unwrap_or_default();
        let (done, failed) = (counts.success, counts.failed);
        say(&format!("  {id}: {}, {done} done, {failed} failed{changed}", state(node.state)))?;
    }
    Ok(())
}

fn line(position: u64, what: &str, firing: Option<&Firing>) -> String {
    let place = firing.map(|firing| format!(" {}", place(&firing.node_id, firing.lineage.key().as_str())));
    format!("event {position}: {what}{}", place.unwrap_or_default())
}

fn described(fact: &Fact) -> (String, Option<&Firing>) {
    match fact {
        Fact::ExecutionStarted(_) => ("execution started".to_owned(), None),
        Fact::NodeStarted(started) => ("started".to_owned(), Some(&started.firing)),
        Fact::NodeParked(parked) => (format!("rests until {}", iso8601(parked.due)), Some(&parked.firing)),
        Fact::AttemptFailed(failed) => ("attempt failed".to_owned(), Some(&failed.firing)),
        Fact::NodeSucceeded(done) => ("succeeded".to_owned(), Some(&done.firing)),
        Fact::NodeFailed(done) => ("failed".to_owned(), Some(&done.firing)),
        Fact::TimedOut(late) => (format!("timed out: {}", late.node_id), None),
        Fact::Prolonged(join) => {
            let until = iso8601(join.due);
            (format!("{} waits on until {until}, since messages were held", join.node_id), None)
        }
        Fact::Intervened(done) => {
            let what = match &done.change {
                Change::Context(_) => "what it sees was changed by hand",
                Change::Parameters(_) => "its parameters were changed by hand",
                Change::Output { .. } | Change::Error(_) => "its answer was given",
                Change::Dropped => "its message was taken away",
                Change::Duplicated => "its message was delivered twice",
            };
            (what.to_owned(), Some(&done.firing))
        }
        Fact::TimerFired(fired) => {
            (format!("timer of {} fired by hand, due {}", fired.node_id, iso8601(fired.due)), None)
        }
        Fact::Gathered(_) => ("a join has said what it has".to_owned(), None),
        Fact::Missed(gap) => (format!("something went by unseen: {}", plain(&gap.why)), None),
        Fact::ExecutionEnded(_) => ("execution ended".to_owned(), None),
    }
}

fn place(node: &NodeId, key: &str) -> String {
    let node = plain(node.as_str());
    if key.is_empty() { node } else { format!("{node} [{}]", plain(key)) }
}

fn state(state: NodeState) -> &'static str {
    match state {
        NodeState::Idle => "idle",
        NodeState::Queued => "queued",
        NodeState::Running => "running",
        NodeState::WaitingTimer => "waits for a moment",
        NodeState::WaitingBarrier => "gathers",
        NodeState::Success => "success",
        NodeState::Failed => "failed",
        NodeState::Skipped => "skipped",
    }
}
