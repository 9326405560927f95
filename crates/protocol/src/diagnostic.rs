//! What validation has to say about a workflow: everything found, not the first complaint.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{EdgeId, NodeId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Diagnostic {
    pub code: DiagnosticCode,
    pub severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub edge_id: Option<EdgeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub place: Option<Place>,
    pub message: String,
    pub hint: String,
}

/// A place in the file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum Severity {
    Error,
    Warning,
}

/// Part of the contract: codes are added, never renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[ts(export_to = "protocol.ts")]
pub enum DiagnosticCode {
    UnreadableFile,
    FileTooLarge,
    NotText,
    NotJson,
    TooDeep,
    WrongShape,
    NoNodes,
    TooManyNodes,
    TooManyEdges,
    InvalidId,
    ReservedId,
    DuplicateId,
    AmbiguousName,
    UnknownKind,
    UnknownNode,
    SelfLoop,
    Cycle,
    Unreachable,
    InvalidParameter,
    UnknownParameter,
    InvalidExpression,
    UnknownReference,
    ReferenceNotUpstream,
    MissingBranch,
    MissingErrorEdge,
    ScopeMismatch,
    NothingToMerge,
    TriggerWithInput,
    RepeatedInput,
    InlineSecret,
    UnknownErrorPolicy,
    UnknownHandle,
    NeverFollowed,
}

impl Diagnostic {
    pub fn error(code: DiagnosticCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            node_id: None,
            edge_id: None,
            place: None,
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub fn warning(code: DiagnosticCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, hint) }
    }

    pub fn at_node(mut self, node: &NodeId) -> Self {
        self.node_id = Some(node.clone());
        self
    }

    pub fn at_edge(mut self, edge: &EdgeId) -> Self {
        self.edge_id = Some(edge.clone());
        self
    }

    pub fn at_place(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
