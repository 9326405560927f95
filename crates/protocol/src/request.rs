//! What a host (window, web page, command line) may ask of a session, and what it hears without asking.

use serde::{Deserialize, Serialize};

use crate::{
    BarrierView, ClusterConnection, ClusterView, Command, ComparisonView, ConnectionStep, ControlView,
    Controls, ExecutionId, ExecutionPage, ExecutionSummary, ExecutionView, ExplanationView, FanOutPlace,
    Filter, ForkBranch, ForkPoint, ForkPreview, ForkWish, Found, ItemDetail, ItemGrid, LineageKey,
    NodeDetail, NodeId, Note, Passwords, PastView, Problem, Recording, Search, Timeline, VerifiedView,
    ViewPatch, WaitBoard, When, WorkflowEntry,
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
    ForkPreview {
        execution_id: ExecutionId,
        wish: Box<ForkWish>,
        /// Runs the workflow in this file of the folder, as it is now; the one of the parent where absent.
        #[serde(default)]
        #[ts(optional = nullable)]
        path: Option<String>,
    },
    /// Starts a new execution that takes its past from this one. → `Response::Started`
    Fork {
        execution_id: ExecutionId,
        wish: Box<ForkWish>,
        /// Runs the workflow in this file of the folder, as it is now; the one of the parent where absent.
        #[serde(default)]
        #[ts(optional = nullable)]
        path: Option<String>,
    },
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
    /// Look into a live cluster, and into no other any more. → `Response::Cluster`
    Attach {
        connection: ClusterConnection,
        #[serde(default)]
        passwords: Passwords,
        /// Keep what is seen; otherwise it is gone after detaching.
        #[serde(default)]
        record: bool,
    },
    /// Stop looking. → `Response::Done`
    Detach,
    /// The attached cluster, `null` where there is none. → `Response::Cluster`
    Cluster,
    /// From now on keep, or do not keep, what is seen of the attached cluster. → `Response::Cluster`
    KeepObserved { on: bool },
    /// Try every step of attaching, and leave again. → `Response::ConnectionSteps`
    TestConnection {
        connection: ClusterConnection,
        #[serde(default)]
        passwords: Passwords,
    },
    /// → `Response::Connections`
    Connections,
    /// Keep a connection by its name; given passwords go to the keyring. → `Response::Done`
    SaveConnection {
        connection: ClusterConnection,
        #[serde(default)]
        passwords: Passwords,
    },
    /// Forget a connection and its passwords. → `Response::Done`
    ForgetConnection { name: String },
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
    Cluster(Option<Box<ClusterView>>),
    ConnectionSteps(Vec<ConnectionStep>),
    Connections(Vec<ClusterConnection>),
}

/// Where a host starts from; updates say what has changed since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Snapshot {
    pub version: String,
    pub runs_on: RunsOn,
    /// What runs here is gone when the host ends: it has a store for the time being only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub keeps_nothing: bool,
    /// The watched folder, for people.
    pub folder: String,
    pub workflows: Vec<WorkflowEntry>,
    /// Newest first.
    pub executions: Vec<ExecutionSummary>,
    /// Executions that are kept and not among these: of very many, those that ended longest ago.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(optional, as = "Option<usize>")]
    pub unlisted: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Where the executions of a host run, and so what can be done about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum RunsOn {
    /// In its own engine: they can be started, held, changed and forked.
    #[default]
    Here,
    /// On a cluster whose recordings it keeps: they can be watched and cancelled.
    Cluster,
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
    /// The attached cluster has changed; `null` once there is none.
    Cluster(Option<Box<ClusterView>>),
    /// These executions are not kept any more.
    Forgotten(Vec<ExecutionId>),
    /// Something is wrong that no request asked about, such as a full disk.
    Trouble(Problem),
}
