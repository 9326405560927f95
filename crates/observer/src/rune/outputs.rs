//! What nodes of a Rune cluster have made, and how they have failed, in our words.

use protocol::{ErrorCode, Millis, NodeError, Payload};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    execution::Execution,
    wire::{Status, WireError, sane},
};

impl Execution {
    /// Branches come as text inside of text, each with everything it saw. The items of the split, which are in each of
    /// them, are told once: by the split.
    pub(super) fn decoded(&self, output: &Payload) -> Payload {
        let mut output = output.value().clone();
        let Some(branches) = output.get_mut("aggregated").and_then(Value::as_array_mut) else {
            return output.into();
        };
        for branch in branches {
            let inside = branch.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            let Some(mut inside) = inside else { continue };
            for field in inside.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
                if let Some(count) = field.get("_split_items").and_then(Value::as_array).map(Vec::len) {
                    *field = json!({"count": count});
                }
            }
            self.secrets.take_from(&mut inside);
            *branch = inside;
        }
        output.into()
    }

    pub(super) fn error(&self, node: usize, said: Option<WireError>) -> NodeError {
        let WireError { mut message, code, details } = said.unwrap_or_default();
        self.secrets.take_from_text(&mut message);
        if message.is_empty() {
            message = "the node failed and does not say why".to_owned();
        }
        let mut details = details.filter(|details| !details.is_null());
        if let Some(details) = &mut details {
            self.secrets.take_from(details);
        }
        let is_raised = message.contains("matches raise_on_status");
        let ours = if is_raised { ErrorCode::HttpStatusRaised } else { ErrorCode::NodeExecutionFailed };
        if code != "NODE_EXECUTION_FAILED" && !code.is_empty() {
            details = Some(json!({"code": code, "details": details}));
        }
        let node_id = Some(self.graph.nodes[node].id.clone());
        NodeError { message, code: ours, node_id, details: details.map(Box::new) }
    }
}

/// The array, without the text around it being taken apart twice.
pub fn split_items(output: &Payload) -> Option<Payload> {
    #[derive(Deserialize)]
    struct Spread {
        #[serde(rename = "_split_items")]
        items: Payload,
    }
    let spread: Spread = serde_json::from_str(output.text()).ok()?;
    Some(spread.items).filter(|items| items.value().is_array())
}

pub fn duration(status: &Status) -> Millis {
    status.duration_ms.filter(|duration| duration.is_finite()).map_or(0, |duration| sane(duration as Millis))
}

/// A node that could not even be made ends the execution, whatever its author wanted.
pub fn is_creation(error: Option<&WireError>) -> bool {
    error.is_some_and(|error| error.code == "NODE_CREATION_FAILED")
}
