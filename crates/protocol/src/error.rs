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
    /// The two sides of a zip have different lengths.
    ZipLengthMismatch,
    /// More than a limit allows.
    LimitExceeded,
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
    /// It ran elsewhere, and how it went on was not seen.
    NotObserved,
}

impl ErrorCode {
    /// The message was given up by the house, not by its node.
    pub fn is_dead_letter(self) -> bool {
        matches!(self, Self::RetriesUsedUp | Self::LineageMismatch)
    }

    /// What to do next.
    pub fn hint(self) -> &'static str {
        match self {
            Self::ExpressionFailed => {
                "look at the input of the node: the reference or expression must fit what is there"
            }
            Self::ExpressionLimit => {
                "do less in one expression, or spread the work over the items of a split"
            }
            Self::InvalidParameter => "change the parameter in the workflow, or the data it is taken from",
            Self::NodeExecutionFailed => "look at the error and at what the node saw",
            Self::SimulatedFailure => {
                "lower failure_rate of the node, or deal with the error: ignore it, or give it an edge"
            }
            Self::TimeoutExceeded => {
                "see which branch or item is missing; a larger timeout waits longer, 0 for ever"
            }
            Self::IncompleteMerge => "see why the branch did not come, or leave out strict",
            Self::ZipLengthMismatch => "see which side has more items; filter_items or take make them equal",
            Self::LimitExceeded => "raise the limit that the error names, or do less at once",
            Self::CredentialNotFound => "add it with `runeglass credentials set NAME`",
            Self::CredentialUnusable => {
                "look at the fields of the credential and at the permissions of its file"
            }
            Self::CredentialsUnreachable => "unlock the keyring, or keep the credential in a file",
            Self::ConnectionFailed => {
                "check the address, and that the server runs; retry and retry_delay try again"
            }
            Self::HttpTimeout => "give it more time with timeout, or try again with retry",
            Self::HttpBodyTooLarge => "ask for less at once, for example page by page",
            Self::HttpTooManyRedirects => "ask the address that the server leads to in the end",
            Self::AddressForbidden => {
                "start with --private-addresses yes if workflows may reach this network"
            }
            Self::HttpStatusRaised => "see what the server says; raise_on_status decides which statuses fail",
            Self::MailRefused => {
                "see what the mail server says; a refusal for now can be tried again with retry"
            }
            Self::RetriesUsedUp => {
                "mend what is in the details, then start again; `runeglass dead-letters` lists what was given up"
            }
            Self::LineageMismatch => "this is a fault of Runeglass; please keep the recording",
            Self::Cancelled => "start it again when you like",
            Self::Stalled => {
                "see which edges are missing; this is a fault of Runeglass, please keep the recording"
            }
            Self::NotObserved => "ask whoever keeps the recordings of the cluster, such as its master",
        }
    }

    /// A failure that ends the execution with this code ends it as failed; others halt it, as their author decided.
    pub fn is_breakdown(self) -> bool {
        self.is_dead_letter()
            || matches!(
                self,
                Self::TimeoutExceeded | Self::ZipLengthMismatch | Self::LimitExceeded | Self::Stalled
            )
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
    pub details: Option<Box<serde_json::Value>>,
}

impl NodeError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { message: message.into(), code, node_id: None, details: None }
    }

    pub fn with_details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
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
    /// A server does not answer. It may do so by itself later.
    Unreachable,
    /// A server answers, and does not let us in as we are.
    Refused,
    Infrastructure,
    ReadOnly,
}
