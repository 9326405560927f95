//! Everything about one node of one execution, for the inspector.

use std::collections::BTreeMap;

use protocol::{
    Event, ExecutionId, Fact, FailedAttempt, Firing, FiringView, NodeDetail, NodeId, NodeState, Payload,
    PayloadView,
};
use serde_json::{Map, Value};

use crate::{Ledger, LedgerError};

/// More firings than this are counted, not listed.
const LISTED: usize = 200;

/// The page of one node.
pub fn node_detail(events: &[Event], node: &NodeId) -> Result<NodeDetail, LedgerError> {
    let mut found = collect(events, |id| id == node)?;
    Ok(page(events, node, found.remove(node).unwrap_or_default()))
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

fn collect(events: &[Event], wanted: impl Fn(&NodeId) -> bool) -> Result<Firings, LedgerError> {
    let mut ledger = Ledger::begin(events)?;
    let mut firings = Firings::new();
    for event in events {
        match &event.fact {
            Fact::NodeStarted(started) if wanted(&started.firing.node_id) => {
                let input =
                    ledger.get(&started.firing.message_id).map(|opened| whole(opened.message.context.iter()));
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
                    firing.duration_ms = Some(done.duration);
                    firing.output = Some(PayloadView::of(&done.output));
                }
            }
            Fact::NodeFailed(done) => {
                if let Some(firing) = find(&mut firings, &done.firing) {
                    firing.state = NodeState::Failed;
                    firing.duration_ms = Some(done.duration);
                    firing.hint = Some(done.error.code.hint().to_owned());
                    firing.error = Some(done.error.clone());
                }
            }
            Fact::ExecutionEnded(_) => {
                let unfinished = firings.values_mut().flatten().filter(|firing| !is_final(firing.state));
                unfinished.for_each(|firing| firing.state = NodeState::Skipped);
            }
            Fact::ExecutionStarted(_) | Fact::NodeStarted(_) | Fact::TimedOut(_) => {}
        }
        ledger.apply(event)?;
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
