//! The pure core, run again over what was recorded: to see that it still says the same, and what an edited workflow
//! would have said. Nothing outside is asked.

mod dream;
mod imagine;
mod verify;

pub(crate) use dream::Dream;
pub use imagine::{Imagined, UnknownAnswer, imagine};
pub use verify::{Difference, Verified, verify};
