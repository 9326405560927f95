//! What every backend shares: the trait it implements, the line that walks its messages, and the clock.

mod backend;
mod clock;
mod line;

pub use backend::{Announcement, Backend, Conclusion, Delivery, Receipt, Stopped};
pub use clock::Clock;
pub use line::{LineError, work};
