//! Everything about one node of one execution, for the inspector.

use std::collections::BTreeMap;

use protocol::{
    Change, Event, ExecutionId, Fact, FailedAttempt, Firing, FiringView, Lineage, LineageKey, NodeDetail,
    NodeId, NodeState, Payload, PayloadView,
};
use serde_json::{Map, Value};

use crate::{Ledger, LedgerError, observed};

/// More firings than this are counted, not listed.
const LISTED: usize = 200;

/// The page of one node.
pub fn node_detail(events: &[Event], node: &NodeId) -> Result<NodeDetail, LedgerError> {
    let mut found = collect(events, |firing| firing.node_id == *node)?;
    Ok(page(events, node, found.remove(node).unwrap_or_default()))
}

/// The page of one node at one key. What happened at that key, around it and inside it is mostly enough to tell what
/// the node saw there; where it is not, everything is gone through.
pub fn node_detail_at(events: &[Event], node: &NodeId, key: &LineageKey) -> Result<NodeDetail, LedgerError> {
    let wanted = |firing: &Firing| firing.node_id == *node && firing.lineage.key() == *key;
    let near: Vec<Event> = events.iter().filter(|event| is_near(event, key)).cloned().collect();
    let mut found = collect_from(&near, wanted, Completeness::Parts)?;
    let is_whole = events.last().is_some_and(|last| last.seq == events.len() as u64);
    if found.is_empty() && is_whole {
        found = collect(events, wanted)?;
    }
    Ok(page(events, node, found.remove(node).unwrap_or_default()))
}

fn is_near(event: &Event, key: &LineageKey) -> bool {
    match &event.fact {
        Fact::ExecutionStarted(_) | Fact::ExecutionEnded(_) => true,
        Fact::NodeStarted(started) => is_related(&started.firing.lineage, key),
        Fact::NodeParked(parked) => is_related(&parked.firing.lineage, key),
        Fact::AttemptFailed(failed) => is_related(&failed.firing.lineage, key),
        Fact::NodeSucceeded(done) => is_related(&done.firing.lineage, key),
        Fact::NodeFailed(done) => is_related(&done.firing.lineage, key),
        Fact::TimedOut(late) => is_related(&late.lineage, key),
        Fact::Prolonged(join) => is_related(&join.lineage, key),
        Fact::Intervened(done) => is_related(&done.firing.lineage, key),
        Fact::TimerFired(fired) => is_related(&fired.lineage, key),
        Fact::Gathered(_) | Fact::Missed(_) => false,
    }
}

/// True if one of the two leads to the other.
fn is_related(lineage: &Lineage, key: &LineageKey) -> bool {
    let mut rest = key.as_str();
    for step in lineage.steps() {
        if rest.is_empty() {
            return true;
        }
        let level = rest.split('/').next().unwrap_or_default();
        let index = level.strip_prefix(step.split.as_str()).and_then(|level| level.strip_prefix('='));
        if index.and_then(|index| index.parse().ok()) != Some(step.index) {
            return false;
        }
        rest = rest[level.len()..].trim_start_matches('/');
    }
    true
}

/// The pages of all nodes that ran.
pub fn all_details(events: &[Event]) -> Result<BTreeMap<NodeId, NodeDetail>, LedgerError> {
    let found = collect(events, |_| true)?;
    Ok(found.into_iter().map(|(node, firings)| (node.clone(), page(events, &node, firings))).collect())
}

fn page(events: &[Event], node: &NodeId, mut firings: Vec<FiringView>) -> NodeDetail {
    let execution_id =
        events.first().map_or_else(|| ExecutionId::from(""), |event| event.execution_id.clone());
    let total = firings.len();
    firings.reverse();
    firings.truncate(LISTED);
    NodeDetail { execution_id, node_id: node.clone(), firings, total }
}

type Firings = BTreeMap<NodeId, Vec<FiringView>>;

fn collect(events: &[Event], wanted: impl Fn(&Firing) -> bool) -> Result<Firings, LedgerError> {
    collect_from(events, wanted, Completeness::Whole)
}

enum Completeness {
    /// Everything that happened: an event that does not fit is a damaged recording.
    Whole,
    /// Some of it: an event that does not fit hangs on what was left out.
    Parts,
}

impl Completeness {
    /// False if the ledger does not take the event.
    fn take(&self, ledger: &mut Ledger, event: &Event) -> Result<bool, LedgerError> {
        match self {
            Self::Whole => ledger.apply(event).map(|_| true),
            Self::Parts => {
                let next = Event { seq: ledger.position() + 1, ..event.clone() };
                Ok(ledger.apply(&next).is_ok())
            }
        }
    }
}

fn collect_from(
    events: &[Event],
    wanted: impl Fn(&Firing) -> bool,
    completeness: Completeness,
) -> Result<Firings, LedgerError> {
    let mut ledger = observed::can_be_followed(events).then(|| Ledger::begin(events)).transpose()?;
    let mut firings = Firings::new();
    for event in events {
        // The ledger goes first: an item is opened there when something is said of it.
        if let Some(ledger) = &mut ledger
            && !completeness.take(ledger, event)?
        {
            continue;
        }
        match &event.fact {
            Fact::NodeStarted(started) if wanted(&started.firing) => {
                let opened = ledger.as_ref().and_then(|ledger| ledger.get(&started.firing.message_id));
                let input = opened.map(|opened| whole(opened.message.context.iter()));
                let input = input.or_else(|| started.input.clone());
                let firing = started_firing(event, &started.firing, input, started.parameters.as_ref());
                match find(&mut firings, &started.firing) {
                    Some(known) => {
                        let failures = std::mem::take(&mut known.failures);
                        *known = FiringView { failures, ..firing };
                    }
                    None => firings.entry(started.firing.node_id.clone()).or_default().push(firing),
                }
            }
            Fact::NodeParked(parked) => {
                if let Some(firing) = find(&mut firings, &parked.firing) {
                    firing.state = NodeState::WaitingTimer;
                }
            }
            Fact::AttemptFailed(failed) => {
                if let Some(firing) = find(&mut firings, &failed.firing) {
                    firing.state = NodeState::WaitingTimer;
                    firing.failures.push(FailedAttempt {
                        attempt: failed.firing.attempt,
                        at: event.at,
                        duration_ms: failed.duration,
                        error: failed.error.clone(),
                        tried_again_at: failed.due,
                    });
                }
            }
            Fact::NodeSucceeded(done) => {
                if let Some(firing) = find(&mut firings, &done.firing) {
                    firing.state = NodeState::Success;
                    firing.end_position = Some(event.seq);
                    firing.duration_ms = Some(done.duration);
                    firing.output = Some(PayloadView::of(&done.output));
                }
            }
            Fact::NodeFailed(done) => {
                if let Some(firing) = find(&mut firings, &done.firing) {
                    firing.state = NodeState::Failed;
                    firing.end_position = Some(event.seq);
                    firing.duration_ms = Some(done.duration);
                    firing.hint = Some(done.error.code.hint().to_owned());
                    firing.error = Some(done.error.clone());
                }
            }
            Fact::ExecutionEnded(_) => {
                let unfinished = firings.values_mut().flatten().filter(|firing| !is_final(firing.state));
                unfinished.for_each(|firing| firing.state = NodeState::Skipped);
            }
            Fact::Intervened(done) => {
                if let Some(firing) =
                    find(&mut firings, &done.firing).filter(|_| done.change == Change::Dropped)
                {
                    firing.state = NodeState::Skipped;
                }
            }
            Fact::ExecutionStarted(_)
            | Fact::NodeStarted(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_) => {}
        }
    }
    Ok(firings)
}

fn is_final(state: NodeState) -> bool {
    matches!(state, NodeState::Success | NodeState::Failed)
}

fn started_firing(
    event: &Event,
    firing: &Firing,
    input: Option<Payload>,
    parameters: Option<&Payload>,
) -> FiringView {
    FiringView {
        message_id: firing.message_id.clone(),
        key: firing.lineage.key(),
        lineage: firing.lineage.frames(&event.execution_id),
        attempt: firing.attempt,
        state: NodeState::Running,
        start_position: Some(event.seq),
        end_position: None,
        started_at: Some(event.at),
        duration_ms: None,
        parameters: parameters.map(PayloadView::of),
        input: input.as_ref().map(PayloadView::of),
        output: None,
        error: None,
        hint: None,
        failures: Vec::new(),
    }
}

fn find<'f>(firings: &'f mut Firings, firing: &Firing) -> Option<&'f mut FiringView> {
    let of_node = firings.get_mut(&firing.node_id)?;
    of_node.iter_mut().rev().find(|known| known.message_id == firing.message_id)
}

fn whole<'c>(context: impl Iterator<Item = (&'c str, &'c Payload)>) -> Payload {
    let fields: Map<String, Value> =
        context.map(|(key, payload)| (key.to_owned(), payload.value().clone())).collect();
    Payload::new(Value::Object(fields))
}
