//! `trigger`: where an execution starts. Its output is what the execution was started with.

use protocol::{NodeError, Payload};

use super::{Firing, Kind, Parameter, Resolve, Work, parameter};

pub struct Trigger;

impl Kind for Trigger {
    fn names(&self) -> &'static [&'static str] {
        &[
            "trigger",
            "manualTrigger",
            "ManualTrigger",
            "scheduledTrigger",
            "ScheduledTrigger",
            "webhookTrigger",
            "webhook",
        ]
    }

    fn parameters(&self) -> &'static [Parameter] {
        // A schedule is read by whoever starts executions, not by the execution itself.
        const PARAMETERS: [Parameter; 2] =
            [parameter("amount", Resolve::Literal), parameter("unit", Resolve::Literal)];
        &PARAMETERS
    }

    fn is_trigger(&self) -> bool {
        true
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        Ok(Work::done(firing.context.get("$trigger").cloned().unwrap_or_else(Payload::null)))
    }
}
