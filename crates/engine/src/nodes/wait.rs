//! `wait`: rests for a while, or until a moment. Nothing is held meanwhile.

use protocol::{Diagnostic, Millis, NodeError};
use serde_json::{Value, json};

use super::{Firing, Kind, LONGEST_MILLIS, Parameter, Resolve, Work, check_choice, parameter};
use crate::plan::{Plan, PlannedNode};

pub struct Wait;

/// The words for a length of time, in milliseconds.
pub(super) const UNITS: [(&str, f64); 4] =
    [("seconds", 1_000.0), ("minutes", 60_000.0), ("hours", 3_600_000.0), ("days", 86_400_000.0)];

impl Kind for Wait {
    fn names(&self) -> &'static [&'static str] {
        &["wait"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 4] = [
            parameter("resume", Resolve::Literal),
            parameter("amount", Resolve::Value),
            parameter("unit", Resolve::Literal),
            parameter("date_time", Resolve::Value),
        ];
        &PARAMETERS
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let units = UNITS.map(|(name, _)| name);
        let choices = [
            check_choice(node, "unit", &units),
            check_choice(node, "resume", &["time_interval", "date_time"]),
        ];
        choices.into_iter().flatten().collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        if let Some(due) = firing.resumed {
            let output = json!({"resume_at": due, "timer_id": firing.timer_id});
            return Ok(Work::done(output.into()));
        }
        let due = match firing.parameter("resume").and_then(Value::as_str) {
            Some("date_time") => moment(firing)?,
            _ => firing.now() + interval(firing)?,
        };
        Ok(Work::Wait { due })
    }
}

fn interval(firing: &Firing<'_>) -> Result<Millis, NodeError> {
    let amount = firing.amount("amount")?.unwrap_or(1.0);
    let unit = firing.parameter("unit").and_then(Value::as_str).unwrap_or("seconds");
    let millis = UNITS.into_iter().find(|(name, _)| *name == unit).map(|(_, millis)| amount * millis);
    match millis {
        Some(millis) if millis <= LONGEST_MILLIS => Ok(millis.round() as Millis),
        Some(_) => Err(firing.invalid("amount", "is longer than a hundred years")),
        None => Err(firing.invalid("unit", "must be seconds, minutes, hours or days")),
    }
}

fn moment(firing: &Firing<'_>) -> Result<Millis, NodeError> {
    let value = firing.parameter("date_time");
    let text = value.and_then(Value::as_str);
    let parsed = text.and_then(protocol::parse_moment).or_else(|| value.and_then(Value::as_i64));
    parsed.ok_or_else(|| firing.invalid("date_time", "must be a moment such as 2026-01-31T12:00:00Z"))
}
