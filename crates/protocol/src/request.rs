//! What a host (window, web page, command line) may ask of a session, and what it hears without asking.

use serde::{Deserialize, Serialize};

use crate::{
    BarrierView, Command, ComparisonView, ControlView, Controls, ExecutionId, ExecutionPage,
    ExecutionSummary, ExecutionView, ExplanationView, FanOutPlace, Filter, ForkBranch, ForkPoint,
    ForkPreview, ForkWish, Found, ItemDetail, ItemGrid, LineageKey, NodeDetail, NodeId, Note, PastView,
    Problem, Recording, Search, Timeline, VerifiedView, ViewPatch, WaitBoard, When, WorkflowEntry,
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
        #[serde(default)]
        #[ts(optional = nullable)]
        options: Option<RunOptions>,
    },
    /// End a running execution as `halted`. → `Response::Done`
    Cancel { execution_id: ExecutionId },
    /// → `Response::Execution`
    Execution { execution_id: ExecutionId },
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
    NodeDetail {
        execution_id: ExecutionId,
        node_id: NodeId,
        /// Only the firings at this key; the latest of all where absent.
        #[serde(default)]
        #[ts(optional = nullable)]
        key: Option<LineageKey>,
        /// As it was after this many events; as it is now where absent.
        #[serde(default)]
        #[ts(optional = nullable, type = "number")]
        at: Option<u64>,
    },
    /// The items of a fan-out. → `Response::Items`
    Items {
        execution_id: ExecutionId,
        place: FanOutPlace,
        /// Only those that have changed after this position; all of them after 0.
        #[serde(default)]
        #[ts(type = "number")]
        since: u64,
        /// As it was after this many events; as it is now where absent.
        #[serde(default)]
        #[ts(optional = nullable, type = "number")]
        at: Option<u64>,
    },
    /// One item of a fan-out. → `Response::Item`
    Item {
        execution_id: ExecutionId,
        place: FanOutPlace,
        index: u32,
        /// As it was after this many events; as it is now where absent.
        #[serde(default)]
        #[ts(optional = nullable, type = "number")]
        at: Option<u64>,
    },
    /// What a join waits for. → `Response::Barrier`
    Barrier {
        execution_id: ExecutionId,
        node_id: NodeId,
        /// As it was after this many events; as it is now where absent.
        #[serde(default)]
        #[ts(optional = nullable, type = "number")]
        at: Option<u64>,
    },
    /// Everything that waits for a moment. → `Response::Waits`
    Waits,
    /// When what happened where. → `Response::Timeline`
    Timeline { execution_id: ExecutionId },
    /// The execution as it was. → `Response::Past`
    ViewAt { execution_id: ExecutionId, when: When },
    /// The whole execution as one document that opens anywhere. → `Response::Recording`
    Record { execution_id: ExecutionId },
    /// Breakpoints, pins and mocks of a workflow. → `Response::Controls`
    Controls { path: String },
    /// All of them at once; executions that are under way heed them from now on. → `Response::Done`
    SetControls { path: String, controls: Box<Controls> },
    /// What is held of an execution. → `Response::Control`
    Held { execution_id: ExecutionId },
    /// For executions of this machine's own engine. → `Response::Control`, after the command
    Control { execution_id: ExecutionId, command: Box<Command> },
    /// What can be changed at an event. → `Response::ForkPoint`
    ForkPoint {
        execution_id: ExecutionId,
        #[ts(type = "number")]
        position: u64,
    },
    /// What a fork would ask of the world outside. → `Response::ForkPreview`
    ForkPreview { execution_id: ExecutionId, wish: Box<ForkWish> },
    /// Starts a new execution that takes its past from this one. → `Response::Started`
    Fork { execution_id: ExecutionId, wish: Box<ForkWish> },
    /// The executions that this one comes from, and all that come from them. → `Response::Forks`
    Forks { execution_id: ExecutionId },
    /// → `Response::Comparison`
    Compare { a: ExecutionId, b: ExecutionId },
    /// → `Response::Explanation`
    Explain {
        execution_id: ExecutionId,
        #[serde(default)]
        #[ts(optional = nullable)]
        node_id: Option<NodeId>,
        #[serde(default)]
        #[ts(optional = nullable)]
        key: Option<LineageKey>,
        /// As it was after this many events; as it is now where absent.
        #[serde(default)]
        #[ts(optional = nullable, type = "number")]
        at: Option<u64>,
    },
    /// Hold the recording against the engine. → `Response::Verified`
    Verify { execution_id: ExecutionId },
    /// Takes an execution from a `.runeglass` file of this machine into the store. → `Response::Started`
    Import { file: String },
    /// → `Response::Notes`
    Notes { execution_id: ExecutionId },
    /// Without a text it is a bookmark. → `Response::Done`
    AddNote {
        execution_id: ExecutionId,
        #[ts(type = "number")]
        position: u64,
        #[serde(default)]
        #[ts(optional = nullable)]
        node_id: Option<NodeId>,
        #[serde(default)]
        text: String,
    },
}

/// How an execution is run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(default, deny_unknown_fields)]
#[ts(export_to = "protocol.ts", optional_fields = nullable)]
pub struct RunOptions {
    /// Hold every message in front of its work, from the first one on.
    pub paused: Option<bool>,
    /// Only this node runs, and what leads to it.
    pub until: Option<NodeId>,
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
    Items(Box<ItemGrid>),
    Item(Box<ItemDetail>),
    Barrier(Box<BarrierView>),
    Waits(Box<WaitBoard>),
    Timeline(Box<Timeline>),
    Past(Box<PastView>),
    Recording(Box<Recording>),
    Controls(Box<Controls>),
    Control(Box<ControlView>),
    ForkPoint(Box<ForkPoint>),
    ForkPreview(Box<ForkPreview>),
    Forks(Vec<ForkBranch>),
    Comparison(Box<ComparisonView>),
    Explanation(Box<ExplanationView>),
    Verified(Box<VerifiedView>),
    Notes(Vec<Note>),
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
    /// What is held has changed somewhere; whoever shows it asks again.
    Control,
    /// Something is wrong that no request asked about, such as a full disk.
    Trouble(Problem),
}
