//! `trigger`: where an execution starts. Its output is what the execution was started with.

use protocol::{Diagnostic, DiagnosticCode, Millis, Node, NodeError, Payload};
use serde_json::Value;

use super::{Firing, Kind, LONGEST_MILLIS, Parameter, Resolve, Work, invalid, parameter, wait::UNITS};
use crate::plan::{Plan, PlannedNode};

pub struct Trigger;

/// What starts an execution at a trigger. It is read by whoever starts executions, not by the execution itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Somebody who asks for it.
    Manual,
    /// A call of one of these names.
    Webhook { names: Vec<String> },
    /// The clock, again and again.
    Schedule { every: Millis },
}

/// More often than this is a load, not a schedule.
const SHORTEST_MILLIS: f64 = 1_000.0;

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
        const PARAMETERS: [Parameter; 3] = [
            parameter("amount", Resolve::Literal),
            parameter("unit", Resolve::Literal),
            parameter("path", Resolve::Literal),
        ];
        &PARAMETERS
    }

    fn is_trigger(&self) -> bool {
        true
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        match occasion(&node.source) {
            Ok(Occasion::Manual) if is_schedule(&node.source) => {
                let message = "this schedule does not say how often, so it never starts anything by itself";
                let hint = "write an amount and a unit, such as 5 and minutes";
                vec![Diagnostic::warning(DiagnosticCode::InvalidParameter, message, hint).at_node(&node.id)]
            }
            Ok(Occasion::Manual | Occasion::Webhook { .. } | Occasion::Schedule { .. }) => Vec::new(),
            Err(Complaint { message, hint }) => vec![invalid(&node.id, message, hint)],
        }
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        Ok(Work::done(firing.context.get("$trigger").cloned().unwrap_or_else(Payload::null)))
    }
}

/// Why a trigger cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub message: String,
    pub hint: &'static str,
}

/// What starts executions at this node. A webhook without a name and a schedule without an interval wait for
/// somebody who asks, like every other trigger.
pub fn occasion(node: &Node) -> Result<Occasion, Complaint> {
    if is_schedule(node) {
        return schedule(node);
    }
    match matches!(node.kind.as_str(), "webhook" | "webhookTrigger") {
        true => webhook(node),
        false => Ok(Occasion::Manual),
    }
}

fn is_schedule(node: &Node) -> bool {
    matches!(node.kind.as_str(), "scheduledTrigger" | "ScheduledTrigger")
}

fn schedule(node: &Node) -> Result<Occasion, Complaint> {
    let given = |name: &str| node.parameters.get(name).filter(|value| !value.is_null());
    let (amount, unit) = match (given("amount"), given("unit")) {
        (None, None) => return Ok(Occasion::Manual),
        (amount, unit) => (amount.unwrap_or(&Value::Null), unit.unwrap_or(&Value::Null)),
    };
    let unit_millis = UNITS.into_iter().find(|(name, _)| unit == name).map(|(_, millis)| millis);
    let unit_millis = unit_millis.ok_or_else(|| Complaint {
        message: format!("unit {unit} is not known"),
        hint: "write one of seconds, minutes, hours, days",
    })?;
    let number = amount.as_f64().or_else(|| amount.as_str()?.trim().parse().ok());
    let millis = number.map(|number| number * unit_millis);
    match millis.filter(|millis| (SHORTEST_MILLIS..=LONGEST_MILLIS).contains(millis)) {
        Some(millis) => Ok(Occasion::Schedule { every: millis.round() as Millis }),
        None => Err(Complaint {
            message: format!("every {amount} {} is not a schedule", unit.as_str().unwrap_or_default()),
            hint: "write a number; a second is the shortest time, a hundred years the longest",
        }),
    }
}

fn webhook(node: &Node) -> Result<Occasion, Complaint> {
    let given = [("webhook_guid", node.other.get("webhook_guid")), ("path", node.parameters.get("path"))];
    let mut names = Vec::new();
    for (field, value) in given {
        let Some(value) = value.filter(|value| !value.is_null()) else { continue };
        let name = value.as_str().map(|name| name.trim_matches('/')).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Complaint {
            message: format!("{field} {value} is not a name"),
            hint: "write the text that callers put behind /hooks/",
        })?;
        names.push(name.to_owned());
    }
    Ok(if names.is_empty() { Occasion::Manual } else { Occasion::Webhook { names } })
}
