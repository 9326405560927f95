//! Looking into recordings, with or without an engine: for the session and for the command line.

use std::collections::BTreeSet;

use protocol::{Event, ExecutionId, ExecutionView, ForkBranch, Found, Problem, Search};
use recording::Store;

use crate::{problem::from_store, unknown};

/// Events whose words are gathered before a request is answered; the answer says how many are left.
pub const INDEXED_PER_REQUEST: u64 = 20_000;

/// Executions that are looked through for forks.
const LOOKED_THROUGH: u32 = 10_000;

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

/// The tree an execution belongs to, parents first: where it comes from, and everything that comes from there.
pub async fn forks(store: &Store, id: &ExecutionId) -> Result<Vec<ForkBranch>, Problem> {
    if store.span(id, 1).await.map_err(|error| from_store(&error))?.is_none() {
        return Err(unknown(id));
    }
    let all = store.executions(LOOKED_THROUGH).await.map_err(|error| from_store(&error))?;
    let origin = |id: &ExecutionId| {
        let found = all.iter().find(|summary| summary.execution_id == *id);
        found.and_then(|summary| summary.origin.clone())
    };
    let mut root = id.clone();
    // An execution is younger than its parent, but one from a file may say anything: nobody is passed twice.
    let mut passed = BTreeSet::from([root.clone()]);
    while let Some(origin) = origin(&root)
        && passed.insert(origin.parent.clone())
    {
        root = origin.parent;
    }
    let mut tree = BTreeSet::from([root.clone()]);
    let mut branches = vec![ForkBranch { execution_id: root, origin: None }];
    // Newest first: parents come before their forks the other way round.
    for summary in all.into_iter().rev() {
        if summary.origin.as_ref().is_some_and(|origin| tree.contains(&origin.parent))
            && tree.insert(summary.execution_id.clone())
        {
            branches.push(ForkBranch { execution_id: summary.execution_id, origin: summary.origin });
        }
    }
    Ok(branches)
}
