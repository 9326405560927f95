//! What people see of an execution. Folded from events in Rust, live and when looking back; the user interface
//! replaces parts by key and decides nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Diagnostic, EdgeId, ExecutionId, Frame, Gap, LineageKey, MessageId, Millis, NodeError, NodeId, Observed,
    Origin, Payload, Workflow, WorkflowId,
};

/// A file of the workflow folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct WorkflowEntry {
    /// Relative to the folder; names the workflow in requests.
    pub path: String,
    pub title: String,
    pub story: String,
    /// Absent when the file could not be read as a workflow at all.
    pub definition: Option<Workflow>,
    pub definition_hash: String,
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum ExecutionPhase {
    Running,
    Completed,
    Failed,
    Halted,
}

/// One line in the list of executions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ExecutionSummary {
    pub execution_id: ExecutionId,
    pub workflow_id: WorkflowId,
    pub title: String,
    /// The file it was started from, where there was one.
    pub path: Option<String>,
    /// Tells whether the file has changed since.
    pub definition_hash: String,
    pub phase: ExecutionPhase,
    pub started_at: Millis,
    pub ended_at: Option<Millis>,
    /// Why it did not complete.
    pub error: Option<NodeError>,
    /// The execution it was forked from, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub origin: Option<Origin>,
    /// Where it was looked at, if it is not one of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub observed: Option<Observed>,
    /// What happened at its end and could not be written: it happens again when the execution is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub unkept: Option<Gap>,
}

/// The whole picture of an execution at one position of its recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ExecutionView {
    pub summary: ExecutionSummary,
    /// The graph the execution started with, whatever has happened to the file since.
    pub definition: Workflow,
    /// The number of events this picture is folded from.
    #[ts(type = "number")]
    pub position: u64,
    pub nodes: BTreeMap<NodeId, NodeView>,
    pub edges: BTreeMap<EdgeId, EdgeView>,
}

/// The state a node is shown in. With a fan-out, the most urgent state of its firings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum NodeState {
    #[default]
    Idle,
    Queued,
    Running,
    /// Resting until a moment.
    WaitingTimer,
    /// A join that has not heard of everything yet.
    WaitingBarrier,
    Success,
    Failed,
    Skipped,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct NodeView {
    pub state: NodeState,
    pub counts: Counts,
    /// The highest attempt of any firing; more than 1 after a retry or a restart.
    pub attempts: u32,
    pub started_at: Option<Millis>,
    pub ended_at: Option<Millis>,
    /// Time spent inside the node, over all its firings.
    #[ts(type = "number")]
    pub busy_ms: Millis,
    /// Firings that wait for their next attempt.
    pub retrying: usize,
    /// When the next of its timers is due.
    pub due: Option<Millis>,
    /// How much of what it gathers has arrived.
    pub progress: Option<Progress>,
    /// The latest failure.
    pub error: Option<NodeError>,
    /// How often somebody has changed one of its messages or given its answer; absent where nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub interventions: Option<usize>,
}

/// What has arrived at a join, over all its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Progress {
    pub arrived: usize,
    pub expected: usize,
}

/// Firings of one node by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Counts {
    pub queued: usize,
    pub running: usize,
    pub waiting: usize,
    pub success: usize,
    pub failed: usize,
    pub skipped: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct EdgeView {
    /// Messages that travelled along it.
    pub messages: usize,
    /// Of these, messages that a join did not take: it had its winner, or had given up.
    pub ignored: usize,
    /// Of these, messages that came after the join had given up; the others lost a race.
    #[serde(default)]
    pub late: usize,
    /// True once it is known that nothing will travel along it.
    pub skipped: bool,
}

/// What changed in a view: every part is a whole replacement under its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ViewPatch {
    pub execution_id: ExecutionId,
    /// The position of the view after this patch.
    #[ts(type = "number")]
    pub position: u64,
    pub summary: ExecutionSummary,
    pub nodes: BTreeMap<NodeId, NodeView>,
    pub edges: BTreeMap<EdgeId, EdgeView>,
}

impl ViewPatch {
    /// Makes one patch of two: the later one wins key by key.
    pub fn absorb(&mut self, later: ViewPatch) {
        self.position = later.position;
        self.summary = later.summary;
        self.nodes.extend(later.nodes);
        self.edges.extend(later.edges);
    }
}

/// Everything the inspector shows of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct NodeDetail {
    pub execution_id: ExecutionId,
    pub node_id: NodeId,
    /// The latest firings, newest first; `total` says how many there are.
    pub firings: Vec<FiringView>,
    pub total: usize,
}

/// One firing of a node: what it was asked to do, what it saw and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct FiringView {
    pub message_id: MessageId,
    pub key: LineageKey,
    pub lineage: Vec<Frame>,
    pub attempt: u32,
    pub state: NodeState,
    /// The event with which it began, and the one with which it ended.
    #[serde(default)]
    #[ts(optional = nullable, type = "number")]
    pub start_position: Option<u64>,
    #[serde(default)]
    #[ts(optional = nullable, type = "number")]
    pub end_position: Option<u64>,
    pub started_at: Option<Millis>,
    pub duration_ms: Option<Millis>,
    /// Parameters with every reference resolved.
    pub parameters: Option<PayloadView>,
    /// The accumulated context the node saw.
    pub input: Option<PayloadView>,
    pub output: Option<PayloadView>,
    pub error: Option<NodeError>,
    /// What to do about the error.
    pub hint: Option<String>,
    /// Attempts that came to nothing and were followed by another.
    pub failures: Vec<FailedAttempt>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct FailedAttempt {
    pub attempt: u32,
    pub at: Millis,
    pub duration_ms: Millis,
    pub error: NodeError,
    pub tried_again_at: Millis,
}

/// A message that the house has given up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeadLetter {
    pub execution_id: ExecutionId,
    pub at: Millis,
    pub message_id: MessageId,
    pub node_id: NodeId,
    pub key: LineageKey,
    pub attempt: u32,
    pub error: NodeError,
}

/// A payload for the eye. One that is too large to send is cut, and says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum PayloadView {
    Whole {
        #[ts(type = "unknown")]
        json: serde_json::Value,
        bytes: usize,
    },
    /// The first part of the text, and the true size.
    Cut { text: String, bytes: usize },
}

impl PayloadView {
    /// What is sent at most of one payload, so that a window never chokes on one.
    pub const LIMIT: usize = 1024 * 1024;
    const SHOWN_OF_CUT: usize = 64 * 1024;

    pub fn of(payload: &Payload) -> Self {
        let text = payload.text();
        if text.len() <= Self::LIMIT {
            return Self::Whole { json: payload.value().clone(), bytes: text.len() };
        }
        let end = (0..=Self::SHOWN_OF_CUT).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        Self::Cut { text: text[..end].to_owned(), bytes: text.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_payload_is_cut_and_says_its_true_size() {
        let payload = Payload::new(serde_json::Value::String("ä".repeat(PayloadView::LIMIT)));
        let PayloadView::Cut { text, bytes } = PayloadView::of(&payload) else { panic!("not cut") };
        assert_eq!(bytes, 2 * PayloadView::LIMIT + 2);
        assert!(text.len() <= PayloadView::SHOWN_OF_CUT && text.starts_with("\"ä"));
    }
}
