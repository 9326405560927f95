//! References and expressions in parameters.
//!
//! A [`Template`] is compiled once per plan. Plain references never start the JavaScript engine.

mod condition;
mod reference;
mod scan;
mod script;
mod template;

pub use reference::{Reference, Segment};
pub use script::{Moment, check_syntax};
pub use template::{Names, Scope, Template, as_text};

use protocol::{ErrorCode, NodeError};

/// What an expression may use. Time is counted in steps of the interpreter, so that a replay on a slower machine
/// gives the same answer.
pub(crate) struct Bounds;

impl Bounds {
    /// The interpreter asks once per about ten thousand instructions whether to go on.
    pub const STEPS: u32 = 1_000;
    pub const MEMORY_BYTES: usize = 32 * 1024 * 1024;
    pub const STACK_BYTES: usize = 256 * 1024;
}

pub(crate) fn failed(message: impl Into<String>) -> NodeError {
    NodeError::new(ErrorCode::ExpressionFailed, message)
}
