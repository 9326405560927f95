//! `aggregator`: gathers what a split has spread, in the order of the items.

use protocol::{Diagnostic, ErrorCode, NodeError, Payload};
use serde_json::{Value, json};

use super::{
    Firing, Kind, Parameter, Resolve, Work, check_choice, check_timeout, gather::flat, parameter, timed_out,
};
use crate::{
    correlation::Descriptor,
    plan::{Plan, PlannedNode},
    step::{Joined, Slot},
};

pub struct Aggregator;

pub const SKIPPED: [&str; 3] = ["null", "omit", "marker"];
pub const ON_ERROR: [&str; 3] = ["include", "omit", "fail"];

impl Kind for Aggregator {
    fn names(&self) -> &'static [&'static str] {
        &["aggregator"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 3] = [
            parameter("timeout", Resolve::Literal),
            parameter("skipped", Resolve::Literal),
            parameter("on_error", Resolve::Literal),
        ];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::gathers(Descriptor::IN, &[Descriptor::OUT])
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let choices = [check_choice(node, "skipped", &SKIPPED), check_choice(node, "on_error", &ON_ERROR)];
        choices.into_iter().flatten().chain(check_timeout(node)).collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let slots = match firing.joined {
            Some(Joined::Collapse(slots)) => slots,
            Some(Joined::TimedOut { arrived, expected }) => return Err(timed_out(*arrived, *expected)),
            _ => {
                return Err(NodeError::new(
                    ErrorCode::InvalidParameter,
                    "an aggregator gathers what a split spreads",
                ));
            }
        };
        array(firing, &flat(slots), "null").map(Work::done)
    }
}

/// The results in the order of the items; what becomes of those that were skipped or failed is the author's choice.
pub fn array(firing: &Firing<'_>, slots: &[Slot], usually: &str) -> Result<Payload, NodeError> {
    let chosen = |name: &str| firing.parameter(name).and_then(Value::as_str);
    let (skipped, on_error) = (chosen("skipped").unwrap_or(usually), chosen("on_error").unwrap_or_default());
    let mut text = String::from("[");
    for (index, slot) in slots.iter().enumerate() {
        let part = match (slot, skipped, on_error) {
            (Slot::Value(value), _, _) => value.text(),
            (Slot::Failed(_), _, "omit") | (Slot::Skipped, "omit", _) => continue,
            (Slot::Failed(error), _, "fail") => {
                let message = format!("item {index} failed: {}", error.value()["error"]["message"]);
                return Err(NodeError::new(ErrorCode::NodeExecutionFailed, message)
                    .with_details(json!({"item_index": index, "error": error.value()})));
            }
            (Slot::Failed(error), _, _) => error.text(),
            (Slot::Skipped, "marker", _) => "{\"skipped\":true}",
            (Slot::Skipped | Slot::Pieces(_), _, _) => "null",
        };
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(part);
    }
    text.push(']');
    Payload::from_text(text).map_err(|error| {
        let message = format!("the results do not form an array: {error}");
        NodeError::new(ErrorCode::NodeExecutionFailed, message)
    })
}
