//! What a workflow means, as pure functions: no clock, no randomness, no input or output.
//!
//! * [`load`] reads a file and says everything that is wrong with it; the result is a [`Plan`].
//! * [`prepare`] resolves what a node is to do, [`conclude`] decides what follows from the answer.
//! * [`Ledger`] folds events into what is under way; [`StatusFold`] folds them into the messages of RFC 001.
//! * [`call`] holds what a node asks of the outside, as data.
//! * [`nodes`] holds one file per kind of node, [`expr`] the references and expressions in parameters.

pub mod call;
mod compare;
pub mod correlation;
mod dates;
pub mod expr;
mod ledger;
pub mod nodes;
mod plan;
mod status;
mod step;

pub use ledger::{
    Deadline, Due, Ledger, LedgerError, Missing, OpenJoin, Opened, cancelled, halted_by, joined_edges,
    parked, started, tried_in_vain,
};
pub use plan::{
    Flow, Gathering, Input, Limits, Loaded, Plan, PlannedEdge, PlannedInput, PlannedNode, Target, load,
    load_once, load_shape,
};
pub use status::StatusFold;
pub use step::{
    Again, Context, Effects, Failure, Failures, Inputs, Joined, Message, Output, Prepared, Retry, Slot,
    Tally, Trace, Work, ask, conclude, prepare,
};
