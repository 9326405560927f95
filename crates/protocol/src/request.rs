//! What a host (window, web page, command line) may ask of a session, and what it hears without asking.

use serde::{Deserialize, Serialize};

use crate::{
    ExecutionId, ExecutionPage, ExecutionSummary, ExecutionView, Filter, Found, NodeDetail, NodeId, Problem,
    Recording, Search, ViewPatch, WorkflowEntry,
};

/// A wish of the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub enum Request {
    /// → `Response::Snapshot`
    Snapshot,
    /// Start the workflow in this file of the folder. → `Response::Started`
    Run {
        path: String,
        /// Becomes `$trigger`; the workflow's `sample_input` where absent.
        #[serde(default)]
        #[ts(optional = nullable, type = "unknown")]
        input: Option<serde_json::Value>,
    },
    /// End a running execution as `halted`. → `Response::Done`
    Cancel { execution_id: ExecutionId },
    /// → `Response::Execution`
    Execution { execution_id: ExecutionId },
    /// The view after the event at a position, or after the last one. → `Response::Execution`
    ExecutionAt {
        execution_id: ExecutionId,
        #[ts(type = "number")]
        position: u64,
    },
    /// Executions, newest first, a page at a time. → `Response::Executions`
    Executions {
        #[serde(default)]
        filter: Filter,
        #[serde(default)]
        #[ts(optional = nullable)]
        after: Option<String>,
        #[serde(default)]
        #[ts(optional = nullable)]
        limit: Option<u32>,
    },
    /// Words and paths in payloads. → `Response::Found`
    Find { search: Box<Search> },
    /// → `Response::NodeDetail`
    NodeDetail { execution_id: ExecutionId, node_id: NodeId },
    /// The whole execution as one document that opens anywhere. → `Response::Recording`
    Record { execution_id: ExecutionId },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum Response {
    Snapshot(Snapshot),
    Started { execution_id: ExecutionId },
    Done,
    Execution(Box<ExecutionView>),
    Executions(ExecutionPage),
    Found(Found),
    NodeDetail(Box<NodeDetail>),
    Recording(Box<Recording>),
}

/// Where a host starts from; updates say what has changed since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Snapshot {
    pub version: String,
    /// The watched folder, for people.
    pub folder: String,
    pub workflows: Vec<WorkflowEntry>,
    /// Newest first.
    pub executions: Vec<ExecutionSummary>,
}

/// What a host hears without asking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum Update {
    /// The folder has changed; this is all of it.
    Workflows(Vec<WorkflowEntry>),
    /// An execution has moved on; an unknown one has just begun.
    Execution(Box<ViewPatch>),
    /// Something is wrong that no request asked about, such as a full disk.
    Trouble(Problem),
}
