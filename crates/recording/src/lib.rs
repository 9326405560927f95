//! Events: stored, and folded into what people and the engine need of them.
//!
//! * [`Store`] keeps events in SQLite. In local mode they are the durable state.
//! * [`Ledger`] folds them into the messages under way, for the engine and for looking back.
//! * [`ViewFold`] folds them into what people see.
//! * [`Insight`] folds them into what a closer look asks for: items of fan-outs, what joins wait for, a timeline.
//! * [`TimerFold`] folds them into what waits for a moment.
//! * [`StatusFold`] folds them into the messages of RFC 001.

mod detail;
mod document;
mod insight;
mod ledger;
mod status;
mod store;
mod timers;
mod view;

pub use detail::{node_detail, node_detail_at};
pub use document::record;
pub use insight::Insight;
pub use ledger::{Ledger, LedgerError, Opened};
pub use status::StatusFold;
pub use store::{Access, Checked, Cleaned, Prune, Store, StoreError};
pub use timers::TimerFold;
pub use view::{ViewFold, ViewState};
