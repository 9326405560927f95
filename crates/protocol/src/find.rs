//! Looking for executions, and for what was in their payloads.

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, ExecutionPhase, ExecutionSummary, LineageKey, Millis, NodeId};

/// Which executions; what is absent does not matter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(default, deny_unknown_fields)]
#[ts(export_to = "protocol.ts", optional_fields = nullable)]
pub struct Filter {
    pub execution_id: Option<ExecutionId>,
    /// A part of the title, the id or the file of the workflow.
    pub workflow: Option<String>,
    pub phase: Option<ExecutionPhase>,
    /// Started at this moment or later.
    pub since: Option<Millis>,
    /// Started before this moment.
    pub until: Option<Millis>,
}

/// One page of executions, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ExecutionPage {
    pub executions: Vec<ExecutionSummary>,
    /// Asks for the next page; absent on the last.
    pub next: Option<String>,
}

/// What to look for in payloads and errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(default, deny_unknown_fields)]
#[ts(export_to = "protocol.ts", optional_fields = nullable)]
pub struct Search {
    /// Words that all have to occur; `"two words"` stand together, `wor*` is the beginning of a word.
    pub words: Option<String>,
    /// Such as `$.order.id == 42`.
    pub path: Option<String>,
    pub node_id: Option<NodeId>,
    pub filter: Filter,
    /// Where the page before this one has ended.
    pub after: Option<String>,
    /// At most this many; 50 where absent, never more than 500.
    pub limit: Option<u32>,
}

/// One page of what was found, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Found {
    pub hits: Vec<Hit>,
    /// Asks for the next page; a page may be short, or empty, and there is still another.
    pub next: Option<String>,
    /// What the index does not know yet, so that it was not looked at.
    pub unindexed: Unindexed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Unindexed {
    pub executions: usize,
    #[ts(type = "number")]
    pub events: u64,
}

/// An event in whose payload something was found. A large payload that occurs several times in an execution is found
/// where it occurs first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Hit {
    pub execution_id: ExecutionId,
    pub title: String,
    #[ts(type = "number")]
    pub position: u64,
    pub at: Millis,
    /// Absent where it is the input of the execution.
    pub node_id: Option<NodeId>,
    pub key: LineageKey,
    pub part: Part,
    /// Where in the payload, for a path query.
    pub path: Option<String>,
    /// A little of the text around it.
    pub excerpt: String,
}

/// Which payload of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum Part {
    Input,
    Parameters,
    Output,
    Items,
    Error,
}
