//! What every backend shares: the trait it implements, the line that walks its messages, the gate in it, the clock,
//! what is counted, the world outside and the secrets that are needed there.

mod backend;
mod clock;
pub mod credentials;
mod gate;
mod line;
mod metrics;
mod outside;
mod start;

pub use backend::{Announcement, Backend, Conclusion, Delivery, Receipt, Stopped};
pub use clock::Clock;
pub use gate::{Answer, Answers, Gate, Holds, LocalEngine, Mocks, Settings, Standstills, check_breakpoint};
pub use line::{LineError, Workshop, work};
pub use metrics::Metrics;
pub use outside::{AddressPolicy, Answering, Outside, World, is_public};
pub use start::Start;
