//! The workflow as it stands in a file and in `workflow_definition` on the wire.
//!
//! Fields we do not know are kept in `other` and written back, so that a file or message made by someone else
//! passes through unharmed.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

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
    #[serde(default)]
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
    /// The execution ends as `halted`.
    Halt,
    /// The next nodes run as if nothing had happened; the error is the node's output.
    Ignore,
    /// Only the edge named here is followed.
    Branch { error_edge: EdgeId },
}

/// Credentials are referred to, never written down: whoever needs them looks them up. `ref` is our form; `id`, `name`
/// and `type` are Rune's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Credentials {
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_or_number")]
    #[ts(optional)]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<String>,
    #[serde(flatten)]
    #[ts(skip)]
    pub other: Map<String, Value>,
}

impl Credentials {
    /// What the credential may be kept under, the most telling first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.reference, &self.name, &self.id].into_iter().flatten().map(String::as_str)
    }

    /// What people call it.
    pub fn label(&self) -> Option<&str> {
        self.names().next()
    }
}

fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<Value>::deserialize(deserializer)? {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(serde::de::Error::custom(format!("{other} is neither text nor a number"))),
    }
}
