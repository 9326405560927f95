//! Executions that were only looked at. The engine did not run them, so its ledger cannot follow them, and what it would
//! say of their joins would be what it does itself, not what they do there.

use std::sync::Arc;

use engine::Plan;
use protocol::{ClusterDialect, Event, ExecutionStarted, Fact, Observed};

/// The plan of what was started. Of what is only looked at, its shape is enough.
pub fn plan_of(started: &ExecutionStarted) -> Option<Arc<Plan>> {
    let text = started.definition.text().as_bytes();
    let plan = engine::load_once(text).plan;
    plan.or_else(|| started.observed.as_ref().and_then(|_| engine::load_shape(text)))
}

/// The engine can follow it from its first event on.
pub fn can_be_followed(events: &[Event]) -> bool {
    let Some(Event { fact: Fact::ExecutionStarted(started), .. }) = events.first() else { return true };
    !matches!(
        started.observed,
        Some(Observed { dialect: ClusterDialect::Rune, .. } | Observed { joined_late: true, .. })
    )
}
