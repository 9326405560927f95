//! Looking into recordings, with or without an engine: for the session and for the command line.

use protocol::{Event, ExecutionId, ExecutionView, Found, Problem, Search};
use recording::Store;

use crate::{problem::from_store, unknown};

/// Events whose words are gathered before a request is answered; the answer says how many are left.
pub const INDEXED_PER_REQUEST: u64 = 20_000;

/// The view after the event at a position, or after the last one.
pub async fn view_at(store: &Store, id: &ExecutionId, position: u64) -> Result<ExecutionView, Problem> {
    let view = store.view_at(id, position).await.map_err(|error| from_store(&error))?;
    view.ok_or_else(|| unknown(id))
}

/// The whole recording.
pub async fn events(store: &Store, id: &ExecutionId) -> Result<Vec<Event>, Problem> {
    crate::events(store, id).await
}

/// One page of what was found, after gathering the words of at most so many events.
pub async fn find(store: &Store, search: &Search, index_budget: u64) -> Result<Found, Problem> {
    store.search(search, index_budget).await.map_err(|error| from_store(&error))
}
