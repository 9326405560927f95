//! The words of the house: ids, workflow, messages, events, views, requests, error codes.
//!
//! Nothing here does anything. Types that reach the user interface derive [`ts_rs::TS`]; the generated
//! TypeScript is committed and a test fails when it drifts.

mod attach;
mod barrier;
pub mod cluster;
mod control;
mod diagnostic;
mod error;
mod event;
mod explain;
mod find;
mod fork;
mod ids;
mod items;
mod lineage;
mod message;
mod note;
mod opened;
mod payload;
mod recorded;
mod report;
mod request;
mod time;
mod timeline;
mod view;
mod waits;
mod workflow;

pub use attach::{
    ClusterConnection, ClusterDialect, ClusterView, ConnectionStep, Finding, Gap, KeyFamily, Observed,
    Passwords, QueueView, RedisView, Rule, WorkerView,
};
pub use barrier::{BarrierPlace, BarrierView, MissingPart, PartAt, Whereabouts};
pub use control::{
    BreakPlace, Breakpoint, Command, ControlError, ControlView, Controls, Edit, GatePlace, HeldAt,
    HeldMessage, Logged, Mock, MockAnswer, StaleNode, WhyHeld,
};
pub use diagnostic::{Diagnostic, DiagnosticCode, Place, Severity};
pub use error::{ErrorCode, NodeError, Problem, ProblemCode};
pub use event::{
    Arrival, AttemptFailed, Change, Consequence, Echo, Event, ExecutionEnded, ExecutionStarted, Fact, Fault,
    Firing, Gathered, Ignored, Intervened, NodeFailed, NodeParked, NodeStarted, NodeSucceeded, Prolonged,
    Skipped, TimedOut, TimerFired, WhyIgnored,
};
pub use explain::{
    Condition, ExplanationView, FiringStory, Leg, Missing, MissingAt, NodeStory, NotRun, Spent, Used, Waiting,
};
pub use find::{ExecutionPage, Filter, Found, Hit, Part, Search, Unindexed};
pub use fork::{
    Again, ForkBranch, ForkEdit, ForkPlace, ForkPoint, ForkPreview, ForkWish, Origin, SideEffect,
};
pub use ids::{EdgeId, ExecutionId, MessageId, NodeId, WorkflowId};
pub use items::{FailureGroup, FanOutPlace, ItemChunk, ItemDetail, ItemGrid, ItemNode, ItemState};
pub use lineage::{Frame, Lineage, LineageKey, Step};
pub use message::{
    CompletionMessage, ExecutionStatus, NodeExecutionMessage, NodeStatus, NodeStatusMessage, StatusLine,
};
pub use note::Note;
pub use opened::{OpenedFile, RecentFile, RecentKind};
pub use payload::{Payload, REFERENCE};
pub use recorded::{Recording, TimedPatch};
pub use report::{
    CompareCounts, ComparisonView, DifferenceView, SlowerView, ValueChange, VerifiedDifference, VerifiedView,
};
pub use request::{Request, Response, RunOptions, RunsOn, Snapshot, Update};
pub use time::{Millis, iso8601, parse_moment};
pub use timeline::{Bar, BarKind, PastView, Tick, Timeline, TimelineRow, When};
pub use view::{
    Counts, DeadLetter, EdgeView, ExecutionPhase, ExecutionSummary, ExecutionView, FailedAttempt, FiringView,
    NodeDetail, NodeState, NodeView, PayloadView, Progress, ViewPatch, WorkflowEntry,
};
pub use waits::{TimerKeeper, TimerPurpose, TimerView, WaitBoard};
pub use workflow::{Credentials, Edge, ErrorPolicy, Node, Workflow};
