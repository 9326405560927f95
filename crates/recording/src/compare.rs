//! Two executions side by side: what is equal, what is not, where it began, and what took longer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::{
    EdgeId, Event, ExecutionId, Fact, Firing, LineageKey, MessageId, Millis, NodeError, NodeId, Payload,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::diff::{Change, diff};

/// Differences that are told in full; the others are counted.
const TOLD: usize = 200;
/// Places that are told of each.
const CHANGES: usize = 50;
/// The slowest that are told.
const SLOWEST: usize = 50;
/// What took less longer than this is noise.
const NOTICEABLE: Millis = 20;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    pub a: Option<ExecutionId>,
    pub b: Option<ExecutionId>,
    /// They ran another workflow.
    pub definition_changed: bool,
    /// What is different in what they were started with.
    pub input: Vec<Change>,
    pub total: Tally,
    pub nodes: BTreeMap<NodeId, Tally>,
    /// The difference that no other one precedes.
    pub first: Option<Divergence>,
    /// In the order in which they came up.
    pub differences: Vec<Divergence>,
    /// Differences that are not told.
    pub more: usize,
    /// What took longer in B, the most first.
    pub slower: Vec<Slower>,
}

/// Attempts by what became of them on the two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub equal: usize,
    pub changed: usize,
    pub only_a: usize,
    pub only_b: usize,
    /// Of those on both sides, the ones that took longer in B.
    pub slower: usize,
}

/// One attempt of one firing that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Divergence {
    pub node_id: NodeId,
    pub key: LineageKey,
    /// The how many-th firing of the node at this key.
    pub firing: u32,
    pub attempt: u32,
    pub verdict: &'static str,
    /// The event that ended it on each side.
    pub position_a: Option<u64>,
    pub position_b: Option<u64>,
    /// Paths begin with what they are about: `output`, `parameters`, `error`, `edges`.
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slower {
    pub node_id: NodeId,
    pub key: LineageKey,
    pub duration_a: Millis,
    pub duration_b: Millis,
}

/// Which attempt: the same in every execution of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Identity<'e> {
    node: &'e NodeId,
    key: LineageKey,
    firing: u32,
    attempt: u32,
}

struct Attempt<'e> {
    position: u64,
    duration: Millis,
    parameters: Option<&'e Payload>,
    outcome: Outcome<'e>,
    taken: &'e [EdgeId],
}

enum Outcome<'e> {
    Output(&'e Payload, Option<&'e Payload>),
    Error(&'e NodeError),
    /// It rests, or has not come to an end.
    Open,
}

/// Everything that was tried in an execution.
struct Attempts<'e> {
    by_identity: HashMap<Identity<'e>, Attempt<'e>>,
    /// Nodes that put out moments and nothing else.
    waits: BTreeSet<NodeId>,
}

pub fn compare(a: &[Event], b: &[Event]) -> Comparison {
    let (left, right) = (Attempts::of(a), Attempts::of(b));
    let mut comparison = Comparison {
        a: a.first().map(|event| event.execution_id.clone()),
        b: b.first().map(|event| event.execution_id.clone()),
        ..Comparison::default()
    };
    comparison.compare_starts(a, b);
    let identities: BTreeSet<&Identity<'_>> =
        left.by_identity.keys().chain(right.by_identity.keys()).collect();
    let mut differences = Vec::new();
    for identity in identities {
        let sides = (left.by_identity.get(identity), right.by_identity.get(identity));
        let timeless = left.waits.contains(identity.node) && right.waits.contains(identity.node);
        let verdict = match sides {
            (Some(one), Some(other)) if one.is_equal(other, timeless) => "equal",
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "only_a",
            (None, _) => "only_b",
        };
        let slower = comparison.note_slower(identity, sides);
        let node = comparison.nodes.entry(identity.node.clone()).or_default();
        node.count(verdict, slower);
        comparison.total.count(verdict, slower);
        if verdict != "equal" {
            differences.push((identity, verdict, sides));
        }
    }
    // Whatever causes a difference comes before it on both sides, so the earlier of its two places tells the order.
    let place = |side: Option<&Attempt<'_>>| side.map_or(u64::MAX, |attempt| attempt.position);
    differences.sort_by_key(|(identity, _, (one, other))| (place(*one).min(place(*other)), *identity));
    comparison.more = differences.len().saturating_sub(TOLD);
    comparison.differences = differences
        .into_iter()
        .take(TOLD)
        .map(|(identity, verdict, sides)| told(identity, verdict, sides))
        .collect();
    comparison.first = comparison.differences.first().cloned();
    comparison.slower.sort_by_key(|slower| std::cmp::Reverse(slower.duration_b - slower.duration_a));
    comparison.slower.truncate(SLOWEST);
    comparison
}

impl Comparison {
    pub fn is_equal(&self) -> bool {
        self.input.is_empty() && self.first.is_none()
    }

    fn compare_starts(&mut self, a: &[Event], b: &[Event]) {
        let start = |events: &'_ [Event]| match events.first().map(|event| event.fact.clone()) {
            Some(Fact::ExecutionStarted(started)) => Some(started),
            _ => None,
        };
        if let (Some(one), Some(other)) = (start(a), start(b)) {
            self.definition_changed = one.definition != other.definition;
            self.input = diff(one.input.value(), other.input.value(), CHANGES);
        }
    }

    fn note_slower(
        &mut self,
        identity: &Identity<'_>,
        sides: (Option<&Attempt<'_>>, Option<&Attempt<'_>>),
    ) -> bool {
        let (Some(one), Some(other)) = sides else { return false };
        let slower = other.duration - one.duration > NOTICEABLE.max(one.duration / 4);
        if slower {
            self.slower.push(Slower {
                node_id: identity.node.clone(),
                key: identity.key.clone(),
                duration_a: one.duration,
                duration_b: other.duration,
            });
        }
        slower
    }
}

impl Tally {
    fn count(&mut self, verdict: &str, slower: bool) {
        match verdict {
            "equal" => self.equal += 1,
            "changed" => self.changed += 1,
            "only_a" => self.only_a += 1,
            _ => self.only_b += 1,
        }
        self.slower += usize::from(slower);
    }
}

impl<'e> Attempts<'e> {
    fn of(events: &'e [Event]) -> Self {
        let mut by_identity: HashMap<Identity<'e>, Attempt<'e>> = HashMap::new();
        let mut firings: HashMap<&'e MessageId, u32> = HashMap::new();
        let mut seen: HashMap<(&'e NodeId, LineageKey), u32> = HashMap::new();
        let mut note = |event: &'e Event, firing: &'e Firing, change: &mut dyn FnMut(&mut Attempt<'e>)| {
            let key = firing.lineage.key();
            let number = *firings.entry(&firing.message_id).or_insert_with(|| {
                let count = seen.entry((&firing.node_id, key.clone())).or_default();
                *count += 1;
                *count
            });
            let identity = Identity { node: &firing.node_id, key, firing: number, attempt: firing.attempt };
            let attempt = by_identity.entry(identity).or_insert_with(|| Attempt {
                position: event.seq,
                duration: 0,
                parameters: None,
                outcome: Outcome::Open,
                taken: &[],
            });
            attempt.position = event.seq;
            change(attempt);
        };
        for event in events {
            match &event.fact {
                Fact::NodeStarted(started) => note(event, &started.firing, &mut |attempt| {
                    attempt.parameters = started.parameters.as_ref();
                }),
                Fact::NodeParked(parked) => note(event, &parked.firing, &mut |_| {}),
                Fact::AttemptFailed(failed) => note(event, &failed.firing, &mut |attempt| {
                    attempt.duration = failed.duration;
                    attempt.outcome = Outcome::Error(&failed.error);
                }),
                Fact::NodeSucceeded(done) => note(event, &done.firing, &mut |attempt| {
                    attempt.duration = done.duration;
                    attempt.outcome = Outcome::Output(&done.output, done.items.as_ref());
                    attempt.taken = &done.taken;
                }),
                Fact::NodeFailed(done) => note(event, &done.firing, &mut |attempt| {
                    attempt.duration = done.duration;
                    attempt.outcome = Outcome::Error(&done.error);
                    attempt.taken = &done.taken;
                }),
                Fact::ExecutionStarted(_)
                | Fact::TimedOut(_)
                | Fact::Prolonged(_)
                | Fact::Intervened(_)
                | Fact::TimerFired(_)
                | Fact::Gathered(_)
                | Fact::Missed(_)
                | Fact::ExecutionEnded(_) => {}
            }
        }
        Self { by_identity, waits: waits(events) }
    }
}

impl Attempt<'_> {
    fn is_equal(&self, other: &Self, timeless: bool) -> bool {
        let outcomes = match (&self.outcome, &other.outcome) {
            (Outcome::Output(..), Outcome::Output(..)) if timeless => true,
            (Outcome::Output(one, items), Outcome::Output(other, other_items)) => {
                is_same(Some(one), Some(other)) && is_same(*items, *other_items)
            }
            (Outcome::Error(one), Outcome::Error(other)) => one == other,
            (Outcome::Open, Outcome::Open) => true,
            (Outcome::Output(..) | Outcome::Error(_) | Outcome::Open, _) => false,
        };
        outcomes && self.taken == other.taken && is_same(self.parameters, other.parameters)
    }

    fn described(&self) -> Value {
        let (output, items, error) = match &self.outcome {
            Outcome::Output(output, items) => (Some(output.value()), items.map(Payload::value), None),
            Outcome::Error(error) => (None, None, Some(error)),
            Outcome::Open => (None, None, None),
        };
        let mut described = json!({"edges": self.taken});
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                described[name] = value;
            }
        };
        add("parameters", self.parameters.map(|parameters| parameters.value().clone()));
        add("output", output.cloned());
        add("items", items.cloned());
        add("error", error.map(|error| json!(error)));
        described
    }
}

fn told(
    identity: &Identity<'_>,
    verdict: &'static str,
    (one, other): (Option<&Attempt<'_>>, Option<&Attempt<'_>>),
) -> Divergence {
    let changes = match (one, other) {
        (Some(one), Some(other)) => {
            let mut changes = diff(&one.described(), &other.described(), CHANGES);
            changes.iter_mut().for_each(|change| change.path = change.path.replacen("$.", "", 1));
            changes
        }
        (Some(_), None) | (None, Some(_)) | (None, None) => Vec::new(),
    };
    Divergence {
        node_id: identity.node.clone(),
        key: identity.key.clone(),
        firing: identity.firing,
        attempt: identity.attempt,
        verdict,
        position_a: one.map(|attempt| attempt.position),
        position_b: other.map(|attempt| attempt.position),
        changes,
    }
}

/// The same text is the same value, and needs no parsing.
fn is_same(one: Option<&Payload>, other: Option<&Payload>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.text() == other.text() || one == other,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn waits(events: &[Event]) -> BTreeSet<NodeId> {
    let Some(Fact::ExecutionStarted(started)) = events.first().map(|event| &event.fact) else {
        return BTreeSet::new();
    };
    let workflow: protocol::Workflow = serde_json::from_str(started.definition.text()).unwrap_or_default();
    workflow.nodes.into_iter().filter(|node| node.kind == "wait").map(|node| node.id).collect()
}
