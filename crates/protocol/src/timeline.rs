//! When what happened where: one row per node, small enough to be sent however long the recording is.

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, ExecutionView, Millis, NodeId};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Timeline {
    pub execution_id: ExecutionId,
    /// The number of events this is folded from.
    #[ts(type = "number")]
    pub position: u64,
    pub started_at: Millis,
    /// The moment of the last event.
    pub latest_at: Millis,
    /// In the order in which they were first heard of.
    pub rows: Vec<TimelineRow>,
    /// Moments at which something happened; of many, those that can be told apart.
    pub ticks: Vec<Tick>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct TimelineRow {
    pub node_id: NodeId,
    /// By their beginning. Bars of many firings that lie close together are one.
    pub bars: Vec<Bar>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Bar {
    pub kind: BarKind,
    pub from: Millis,
    /// Absent while it lasts.
    pub to: Option<Millis>,
    /// Firings it stands for.
    pub count: u32,
    /// Of these, those that failed.
    pub failed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum BarKind {
    /// Ready, and not taken up.
    Queue,
    Run,
    /// Rests until a moment.
    Wait,
    /// Rests before another attempt.
    Retry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Tick {
    pub at: Millis,
    /// The last event of that moment.
    #[ts(type = "number")]
    pub position: u64,
}

/// Which moment of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum When {
    /// After this many events.
    Position(#[ts(type = "number")] u64),
    /// After everything that had happened by then.
    Moment(Millis),
}

/// An execution as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct PastView {
    pub view: ExecutionView,
    /// The moment of the last event of it.
    pub at: Millis,
    /// How many events there are by now.
    #[ts(type = "number")]
    pub last: u64,
}
