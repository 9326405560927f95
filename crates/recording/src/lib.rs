//! Events: stored, and folded into what people and the engine need of them.
//!
//! * [`Store`] keeps events in SQLite. In local mode they are the durable state.
//! * [`Ledger`] folds them into the messages under way, for the engine and for looking back.
//! * [`ViewFold`] folds them into what people see.
//! * [`StatusFold`] folds them into the messages of RFC 001.

mod detail;
mod document;
mod ledger;
mod path;
mod status;
mod store;
mod view;

pub use detail::node_detail;
pub use document::record;
pub use ledger::{Ledger, LedgerError, Opened};
pub use status::StatusFold;
pub use store::{Access, Checked, Cleaned, Prune, Store, StoreError};
pub use view::{ViewFold, ViewState};
