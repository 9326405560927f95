//! Why: is it stuck, did it go this way, did it not run, does this value come from there, did it take so long. As data,
//! and as sentences.

mod history;
mod node;
mod spent;
mod waiting;

use protocol::{
    ErrorCode, Event, ExecutionId, ExecutionStatus, Leg, Missing, MissingAt, NodeId, NodeStory, Spent,
    Waiting, iso8601,
};
use serde::Serialize;

use crate::LedgerError;
use history::History;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    pub execution_id: Option<ExecutionId>,
    /// Absent while it goes on.
    pub status: Option<ExecutionStatus>,
    pub sentences: Vec<String>,
    pub waiting: Vec<Waiting>,
    pub critical_path: Vec<Leg>,
    pub spent: Vec<Spent>,
    pub node: Option<NodeStory>,
}

/// Explains an execution, and one of its nodes where one is named, at a key where one is given.
pub fn explain(
    events: &[Event],
    node: Option<&NodeId>,
    key: Option<&str>,
) -> Result<Explanation, LedgerError> {
    let history = History::of(events)?;
    let mut explanation = Explanation {
        execution_id: events.first().map(|event| event.execution_id.clone()),
        status: history.ended.map(|ended| ended.status),
        sentences: Vec::new(),
        waiting: waiting::waiting(&history),
        critical_path: spent::critical_path(&history),
        spent: spent::spent(&history),
        node: node.map(|node| node::story(events, &history, node, key)).transpose()?,
    };
    explanation.sentences = match &explanation.node {
        Some(story) => story_sentences(story),
        None => sentences(&history, &explanation),
    };
    Ok(explanation)
}

fn sentences(history: &History<'_>, explanation: &Explanation) -> Vec<String> {
    let took = history.last - history.began;
    let failed =
        history.firings.iter().filter(|fired| fired.done().is_some_and(|done| done.outcome.is_err()));
    let (firings, failed) = (history.firings.len(), failed.count());
    let mut said = vec![match history.ended {
        Some(ended) => {
            let status = match ended.status {
                ExecutionStatus::Completed => "completed",
                ExecutionStatus::Failed => "failed",
                ExecutionStatus::Halted => "was halted",
            };
            format!("it {status} after {took} ms with {firings} firings, {failed} of them failed")
        }
        None => format!("it goes on: {firings} firings so far, {failed} of them failed"),
    }];
    if let Some(error) = history.ended.and_then(|ended| ended.error.as_ref()) {
        let by = error.node_id.as_ref().map_or_else(String::new, |node| format!("{node}: "));
        said.push(match error.code {
            ErrorCode::Cancelled => "it was stopped by the user".to_owned(),
            _ => format!("it ended because {by}{}", error.message),
        });
    }
    said.extend(explanation.waiting.iter().map(waiting_sentence));
    if let (None, true) = (history.ended, explanation.waiting.is_empty()) {
        let open = history.firings.iter().filter(|fired| fired.done().is_none()).count();
        said.push(format!("no join waits; {open} firings are under way"));
    }
    let slowest = explanation.critical_path.iter().max_by_key(|leg| leg.total());
    if let Some(leg) = slowest {
        let way: Vec<&str> = explanation.critical_path.iter().map(|leg| leg.node_id.as_str()).collect();
        let shown = if way.len() > 12 { &way[way.len() - 12..] } else { &way[..] };
        said.push(format!("the way that took longest is {}", shown.join(" → ")));
        said.push(format!(
            "on it {} took most: {} ms in the queue, {} ms at work, {} ms waiting for a timer",
            place(&leg.node_id, leg.key.as_str()),
            leg.queue,
            leg.run,
            leg.timer
        ));
    }
    said
}

fn waiting_sentence(waiting: &Waiting) -> String {
    let missing: Vec<String> = waiting.missing.iter().take(5).map(missing_words).collect();
    let more = waiting.missing.len().saturating_sub(5) + waiting.more;
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let place = place(&waiting.node_id, waiting.key.as_str());
    format!("{place} has {} of {}: {}{more}", waiting.arrived, waiting.expected, missing.join("; "))
}

fn missing_words(missing: &Missing) -> String {
    let what = &missing.what;
    match &missing.whereabouts {
        MissingAt::Queued { behind: None } => format!("{what} is queued"),
        MissingAt::Queued { behind: Some(node) } => format!("{what} is queued behind {node}"),
        MissingAt::Running { node_id, since } => {
            format!("{what} is at work in {node_id} since {}", iso8601(*since))
        }
        MissingAt::Waiting { node_id, until } => {
            format!("{what} waits in {node_id} until {}", iso8601(*until))
        }
        MissingAt::Retrying { node_id, until, error } => {
            format!("{what} is tried again in {node_id} at {} after: {error}", iso8601(*until))
        }
        MissingAt::Failed { node_id, error } => format!("{what} failed in {node_id}: {error}"),
        MissingAt::Lost => format!("{what} is lost"),
        MissingAt::Unseen => format!("{what} was not seen, and not everything was heard"),
    }
}

fn story_sentences(story: &NodeStory) -> Vec<String> {
    let mut said = Vec::new();
    if story.firings > 0 {
        said.push(format!("{} ran {} times, {} of them failed", story.node_id, story.firings, story.failed));
    }
    if let Some(firing) = &story.firing {
        let place = place(&story.node_id, firing.key.as_str());
        if let Some(by) = &firing.set_off_by {
            said.push(format!("{place} was set off by {by}"));
        }
        for condition in &firing.conditions {
            let held = condition.held.map_or("was not looked at".to_owned(), |held| format!("was {held}"));
            said.push(format!("{} {held}; with its values: {}", condition.written, condition.resolved));
        }
        for used in &firing.used {
            let value = used.value.as_ref().map_or_else(|| "nothing".to_owned(), shortened);
            let from = used.node_id.as_ref().map_or_else(String::new, |node| format!(", put out by {node}"));
            let event = used.position.map_or_else(String::new, |position| format!(" at event {position}"));
            said.push(format!("{} used {} = {value}{from}{event}", used.parameter, used.reference));
        }
        let names = |edges: &[protocol::EdgeId]| {
            edges.iter().map(|edge| edge.as_str().to_owned()).collect::<Vec<_>>()
        };
        if !firing.not_taken.is_empty() {
            let (taken, not_taken) = (names(&firing.taken), names(&firing.not_taken));
            said.push(format!("it followed {:?} and not {:?}", taken, not_taken));
        }
        said.extend(firing.error.iter().map(|error| format!("{place} failed: {error}")));
    }
    said.extend(story.not_run.iter().map(|not_run| not_run.sentence.clone()));
    said
}

fn place(node: &NodeId, key: &str) -> String {
    if key.is_empty() { node.to_string() } else { format!("{node} at [{key}]") }
}

fn shortened(value: &serde_json::Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
