//! What a workflow means, as pure functions: no clock, no randomness, no input or output.
//!
//! * [`load`] reads a file and says everything that is wrong with it; the result is a [`Plan`].
//! * [`prepare`] resolves what a node is to do, [`conclude`] decides what follows from the answer.
//! * [`nodes`] holds one file per kind of node, [`expr`] the references and expressions in parameters.

mod compare;
pub mod expr;
pub mod nodes;
mod plan;
mod step;

pub use plan::{Flow, Input, Limits, Loaded, Plan, PlannedEdge, PlannedNode, Target, load};
pub use step::{
    Context, Effects, Joined, Message, Output, Prepared, Slot, Work, conclude, prepare, result_of,
};
