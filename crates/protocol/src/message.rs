//! The three messages of RFC 001, with the fields that RFC 004, 005 and 006 add. Field names are the contract.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ExecutionId, Frame, Millis, NodeError, NodeId, Payload, Workflow, WorkflowId};

/// Work to do: one node at one lineage key (RFC 001 6.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeExecutionMessage {
    pub workflow_id: WorkflowId,
    pub execution_id: ExecutionId,
    pub current_node: NodeId,
    pub workflow_definition: Workflow,
    pub accumulated_context: Map<String, Value>,
    /// Open fan-outs, outermost first (RFC 004 3.1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage_stack: Vec<Frame>,
    /// The node that sent this message (RFC 005 6.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_node: Option<NodeId>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Progress of one node (RFC 001 6.2). `output` and `error` are always written, `null` where they do not apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeStatusMessage {
    pub workflow_id: WorkflowId,
    pub execution_id: ExecutionId,
    pub node_id: NodeId,
    pub node_name: String,
    pub status: NodeStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Payload>,
    #[serde(default)]
    pub output: Option<Payload>,
    #[serde(default)]
    pub error: Option<NodeError>,
    pub executed_at: String,
    pub duration_ms: Millis,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage_stack: Vec<Frame>,
    /// While waiting, what for: `arrived` of `expected` (RFC 005 6.2), `processed` of `total` (RFC 004 7.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// While waiting, `resume_at` (RFC 006 6.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    Running,
    Success,
    Failed,
    Waiting,
    Skipped,
}

/// The end of an execution (RFC 001 6.3); exactly one per execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompletionMessage {
    pub workflow_id: WorkflowId,
    pub execution_id: ExecutionId,
    pub status: ExecutionStatus,
    pub final_context: BTreeMap<String, Payload>,
    pub completed_at: String,
    pub total_duration_ms: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum ExecutionStatus {
    /// Every message was dealt with.
    Completed,
    /// It could not go on: invalid, stalled, timed out, retries used up.
    Failed,
    /// Stopped on purpose: the halt policy of a failing node, or the user.
    Halted,
}

/// One line of `runeglass run --events`: a status, or the completion that is always the last one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StatusLine {
    Status(Box<NodeStatusMessage>),
    Completion(Box<CompletionMessage>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reads what the RFC prints and writes it back unchanged.
    fn check<T: Serialize + for<'de> Deserialize<'de>>(example: Value) {
        let text = example.to_string();
        let message: T = serde_json::from_str(&text).unwrap();
        let written: Value = serde_json::from_str(&serde_json::to_string(&message).unwrap()).unwrap();
        assert_eq!(written, example);
    }

    #[test]
    fn execution_message_of_rfc_001_with_lineage_and_sender() {
        check::<NodeExecutionMessage>(json!({
            "workflow_id": "wf_email_notification", "execution_id": "exec_1", "current_node": "http_fetch_user",
            "workflow_definition": {
                "nodes": [{"id": "http_fetch_user", "type": "http", "parameters": {}, "position": [1.0, 2.0]}],
                "edges": [{"id": "e", "src": "a", "dst": "b", "is_error": "error"}]
            },
            "accumulated_context": {"$trigger": {"user_id": "user_123"}},
            "lineage_stack": [{"split_node_id": "s", "branch_id": "exec_1_s_5", "item_index": 5, "total_items": 100}],
            "from_node": "trigger_1",
            "workflow_version": 3
        }));
    }

    #[test]
    fn status_message_of_rfc_001() {
        check::<NodeStatusMessage>(json!({
            "workflow_id": "wf", "execution_id": "exec_1", "node_id": "n", "node_name": "N", "status": "success",
            "output": {"status": 200, "body": {"name": "John Doe"}}, "error": null,
            "executed_at": "2025-10-09T12:35:01Z", "duration_ms": 234
        }));
        check::<NodeStatusMessage>(json!({
            "workflow_id": "wf", "execution_id": "exec_1", "node_id": "n", "node_name": "N", "status": "failed",
            "output": null, "error": {"message": "no", "code": "NODE_EXECUTION_FAILED", "details": {"url": "u"}},
            "executed_at": "2025-10-09T12:35:30Z", "duration_ms": 30000
        }));
    }

    #[test]
    fn completion_message_of_rfc_001() {
        check::<CompletionMessage>(json!({
            "workflow_id": "wf", "execution_id": "exec_1", "status": "completed",
            "final_context": {"$smtp": {"sent": true}, "$trigger": {}},
            "completed_at": "2025-10-09T12:35:45Z", "total_duration_ms": 4523
        }));
    }
}
