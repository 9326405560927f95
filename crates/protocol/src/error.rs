//! Error codes: of a failing node, and of a request that could not be served.

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Why a node failed. Part of the contract: codes are added, never renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[ts(export_to = "protocol.ts")]
pub enum ErrorCode {
    /// A reference or `{{ expression }}` could not be evaluated.
    ExpressionFailed,
    /// An expression used more time, memory or stack than it may.
    ExpressionLimit,
    /// A parameter has the wrong type or value after resolution.
    InvalidParameter,
    /// The node did its work and the work failed.
    NodeExecutionFailed,
    /// `simulate` was asked to fail.
    SimulatedFailure,
    /// A join was not complete in time.
    TimeoutExceeded,
    /// A strict merge lacks a branch.
    IncompleteMerge,
    /// A credential is referred to that nobody here has.
    CredentialNotFound,
    /// A credential is there and cannot be used.
    CredentialUnusable,
    /// Whoever keeps credentials does not answer.
    CredentialsUnreachable,
    /// Nobody answers at the address.
    ConnectionFailed,
    /// The answer took too long.
    HttpTimeout,
    /// The answer is larger than may be read.
    HttpBodyTooLarge,
    /// The answer led on and on.
    HttpTooManyRedirects,
    /// The address lies in a network that workflows may not reach here.
    AddressForbidden,
    /// The answer has a status that the author wants to fail on.
    HttpStatusRaised,
    /// The mail server did not take the message.
    MailRefused,
    /// The house failed, again and again; the message is kept as a dead letter.
    RetriesUsedUp,
    /// A message does not stand where its node stands in the nest of fan-outs; it is kept as a dead letter.
    LineageMismatch,
    /// The user ended the execution.
    Cancelled,
    /// Nothing is under way, yet something is undecided.
    Stalled,
}

impl ErrorCode {
    /// The message was given up by the house, not by its node.
    pub fn is_dead_letter(self) -> bool {
        matches!(self, Self::RetriesUsedUp | Self::LineageMismatch)
    }

    /// A failure that ends the execution with this code ends it as failed; others halt it, as their author decided.
    pub fn is_breakdown(self) -> bool {
        self.is_dead_letter() || matches!(self, Self::TimeoutExceeded | Self::Stalled)
    }
}

/// A failing node is data: this is what a status message, an error edge and the context carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct NodeError {
    pub message: String,
    pub code: ErrorCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub details: Option<serde_json::Value>,
}

impl NodeError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { message: message.into(), code, node_id: None, details: None }
    }

    pub fn with_details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// Why a request of the user could not be served, in the words the user sees.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, ts_rs::TS)]
#[error("{message}")]
#[ts(export_to = "protocol.ts")]
pub struct Problem {
    pub code: ProblemCode,
    pub message: String,
    pub hint: String,
}

impl Problem {
    pub fn new(code: ProblemCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum ProblemCode {
    NotFound,
    InvalidRequest,
    InvalidWorkflow,
    /// More than one thing answers to what was asked for.
    Ambiguous,
    StoreInUse,
    StoreRefused,
    StoreFull,
    Infrastructure,
    ReadOnly,
}
