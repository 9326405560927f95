//! Files that a window opens: what they are, and what was open before.

use serde::{Deserialize, Serialize};

use crate::ExecutionId;

/// What the window shows of a file that somebody has opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum OpenedFile {
    /// Another store is open now: nothing of what was shown is true any more.
    Store,
    /// An execution that is in the store now.
    Execution { execution_id: ExecutionId },
    /// A recorded document, for the page to read.
    Recording { name: String, text: String },
    /// A workflow of the folder.
    Workflow { path: String },
}

/// A file that was open before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct RecentFile {
    pub path: String,
    pub kind: RecentKind,
    /// It is not where it was.
    pub missing: bool,
    /// The store that is open now.
    pub open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum RecentKind {
    /// Executions are kept in it.
    Store,
    /// One execution, with everything in it.
    Case,
    /// One execution, as a document.
    Recording,
}
