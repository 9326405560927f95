//! `simulate`: a node for demos and tests. It takes a while, and sometimes fails, always in the same way: chance is
//! drawn from the node's id and key.

use protocol::{ErrorCode, NodeError, Payload};
use serde_json::json;

use super::{Firing, Kind, LONGEST_MILLIS, Output, Parameter, Resolve, Work, parameter};
use crate::expr::as_text;

pub struct Simulate;

impl Kind for Simulate {
    fn names(&self) -> &'static [&'static str] {
        &["simulate"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 5] = [
            parameter("latency_ms", Resolve::Value),
            parameter("jitter_ms", Resolve::Value),
            parameter("failure_rate", Resolve::Value),
            parameter("error_message", Resolve::Value),
            parameter("output", Resolve::Value),
        ];
        &PARAMETERS
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let latency = firing.amount("latency_ms")?.unwrap_or(0.0);
        let jitter = firing.amount("jitter_ms")?.unwrap_or(0.0);
        let failure_rate = firing.amount("failure_rate")?.unwrap_or(0.0);
        if latency + jitter > LONGEST_MILLIS {
            return Err(firing.invalid("latency_ms", "is longer than a hundred years"));
        }
        let drawn = if jitter > 0.0 { jitter * chance(firing, "jitter") } else { 0.0 };
        let millis = (latency + drawn).round() as i64;
        let then = if failure_rate > 0.0 && chance(firing, "failure") < failure_rate {
            let message = firing.parameter("error_message").map(as_text);
            let message = message.unwrap_or_else(|| "the simulated work failed".to_owned());
            Err(NodeError::new(ErrorCode::SimulatedFailure, message)
                .with_details(json!({"latency_ms": millis})))
        } else {
            let default = || json!({"ok": true, "latency_ms": millis});
            Ok(Output::from(Payload::new(firing.parameters.get("output").cloned().unwrap_or_else(default))))
        };
        Ok(Work::Sleep { millis, then: Box::new(then) })
    }
}

/// From 0 to 1, the same for the same node, key and question.
fn chance(firing: &Firing<'_>, question: &str) -> f64 {
    let hash = blake3::hash(format!("{question}/{}", firing.identity).as_bytes());
    let bytes = hash.as_bytes();
    let drawn = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    f64::from(drawn) / (f64::from(u32::MAX) + 1.0)
}
