//! Events: stored, and folded into what people and the engine need of them.
//!
//! * [`Store`] keeps events in SQLite. In local mode they are the durable state.
//! * [`ViewFold`] folds them into what people see.
//! * [`Insight`] folds them into what a closer look asks for: items of fan-outs, what joins wait for, a timeline.
//! * [`TimerFold`] folds them into what waits for a moment.

mod compare;
mod detail;
mod diff;
mod document;
mod explain;
pub mod fork;
mod insight;
mod observed;
mod path;
mod redact;
mod replay;
mod store;
mod timers;
mod view;

pub use compare::{Comparison, Divergence, Slower, Tally, compare};
pub use detail::{node_detail, node_detail_at};
pub use diff::{Change, diff};
pub use document::record;
pub use engine::{Ledger, LedgerError, StatusFold};
pub use explain::{Explanation, explain};
pub use insight::Insight;
pub use redact::{Redaction, lost_values};
pub use replay::{Difference, Imagined, UnknownAnswer, Verified, imagine, verify};
pub use store::{Access, Case, Checked, Cleaned, Prune, Standing, Store, StoreError, read_case, write_case};
pub use timers::TimerFold;
pub use view::{ViewFold, ViewState};
