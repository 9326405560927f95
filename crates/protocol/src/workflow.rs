//! The workflow as it stands in a file and in `workflow_definition` on the wire.
//!
//! Fields we do not know are kept in `other` and written back, so that a file or message made by someone else
//! passes through unharmed.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};

use crate::{EdgeId, NodeId, WorkflowId};

/// A directed acyclic graph of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Workflow {
    /// Names the workflow across versions. The file's name is taken where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub workflow_id: Option<WorkflowId>,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// One line that tells the workflow's story.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// What `$trigger` holds when an execution is started without an input of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub sample_input: Option<Value>,
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub edges: Vec<Edge>,
    #[serde(flatten)]
    #[ts(skip)]
    pub other: Map<String, Value>,
}

/// One step of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Node {
    /// Unique in the workflow: letters, digits, `_` and `-`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,128}$"))]
    pub id: NodeId,
    /// A title for people; `$<name>` is an alias of `$<id>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional = nullable)]
    pub name: String,
    /// The kind of node, such as `log` or `conditional`.
    #[serde(rename = "type")]
    pub kind: String,
    /// An execution starts at the nodes that are marked as triggers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional = nullable)]
    pub trigger: bool,
    /// What the node is to do; strings may hold references (`$fetch.body`) and `{{ expressions }}`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[ts(type = "{ [key: string]: unknown }")]
    pub parameters: Map<String, Value>,
    /// Free for the author; kept, not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub output: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub credentials: Option<Credentials>,
    /// What happens when the node fails; `halt` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<ErrorPolicy>,
    #[serde(flatten)]
    #[ts(skip)]
    pub other: Map<String, Value>,
}

impl Node {
    /// The name people see.
    pub fn title(&self) -> &str {
        if self.name.is_empty() { self.id.as_str() } else { &self.name }
    }
}

/// From one node to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Edge {
    /// Unique in the workflow.
    pub id: EdgeId,
    /// The node the edge leaves.
    pub src: NodeId,
    /// The node the edge enters.
    pub dst: NodeId,
    /// The output the edge leaves from, on nodes that name their outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source_handle: Option<String>,
    /// The input the edge arrives at, on nodes that name their inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub target_handle: Option<String>,
    /// A word for people, such as `yes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub label: Option<String>,
    #[serde(flatten)]
    #[ts(skip)]
    pub other: Map<String, Value>,
}

/// What happens when a node fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum ErrorPolicy {
    /// The next nodes run as if nothing had happened; the error is the node's output.
    Ignore,
    /// Only the edge named here is followed.
    Branch { error_edge: EdgeId },
    /// The execution ends as `halted`. A word that is not known is read as this one, as in every Rune cluster.
    #[serde(other)]
    Halt,
}

/// Credentials are referred to, never written down: the worker resolves the reference. The reference is a `ref`, or
/// the `id`, `name` and `type` of a credential as Rune writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Credentials {
    /// The name under which the worker knows them.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reference: Option<String>,
    /// A number in a file is read as its digits.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_or_number")]
    #[schemars(extend("type" = ["string", "number", "null"]))]
    #[ts(optional)]
    pub id: Option<String>,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// What they are for, such as `api_key` or `smtp`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<String>,
    #[serde(flatten)]
    #[ts(skip)]
    pub other: Map<String, Value>,
}

impl Credentials {
    /// What they may be kept under: the reference, the name, the id.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = [&self.reference, &self.name, &self.id];
        names.into_iter().filter_map(Option::as_deref).filter(|name| !name.is_empty())
    }

    /// What to call them.
    pub fn label(&self) -> Option<&str> {
        self.names().next()
    }
}

/// Go writes what is empty as `null`.
fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string or a number")]
    enum Written {
        Text(String),
        Number(Number),
    }
    let written = Option::deserialize(deserializer)?;
    Ok(written.map(|written| match written {
        Written::Text(text) => text,
        Written::Number(number) => number.to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn credentials_are_a_reference_in_either_form() {
        for (written, label) in [
            (json!({"ref": "mail"}), Some("mail")),
            (json!({"id": "7", "name": "Mail", "type": "smtp"}), Some("Mail")),
            (json!({"id": "7", "name": "", "values": {"kept": [1]}}), Some("7")),
            (json!({"ref": "mine", "name": "Mail"}), Some("mine")),
            (json!({}), None),
        ] {
            let credentials: Credentials = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(credentials.label(), label, "{written}");
            assert_eq!(serde_json::to_value(&credentials).unwrap(), written, "nothing is lost");
        }
        let numbered: Credentials = serde_json::from_value(json!({"id": 7, "name": null})).unwrap();
        assert_eq!(numbered.label(), Some("7"));
        assert!(serde_json::from_value::<Credentials>(json!({"id": [7]})).is_err());
    }

    #[test]
    fn a_node_takes_the_liberties_of_a_rune_worker() {
        let node: Node = serde_json::from_value(json!({
            "id": "n", "name": "N", "trigger": false, "type": "log", "parameters": null, "output": null,
            "credentials": null, "error": {"type": "halt", "error_edge": ""}, "position": [1.5, 2]
        }))
        .unwrap();
        assert!(node.parameters.is_empty() && node.output.is_none() && node.credentials.is_none());
        assert_eq!(node.error, Some(ErrorPolicy::Halt));
        assert_eq!(node.other["position"], json!([1.5, 2]));
        for (written, policy) in [
            (json!({"type": "ignore", "error_edge": ""}), ErrorPolicy::Ignore),
            (json!({"type": "explode", "error_edge": ""}), ErrorPolicy::Halt),
            (json!({"type": "branch", "error_edge": "e"}), ErrorPolicy::Branch { error_edge: "e".into() }),
        ] {
            assert_eq!(serde_json::from_value::<ErrorPolicy>(written.clone()).unwrap(), policy, "{written}");
        }
        assert_eq!(serde_json::to_value(ErrorPolicy::Halt).unwrap(), json!({"type": "halt"}));
    }
}
