//! Recordings by name: the id of an execution in a store, or a file that was exported.

use std::path::{Path, PathBuf};

use protocol::{Event, ExecutionId};
use recording::{Access, Store};
use session::Session;

use crate::outcome::CommandError;

pub async fn open_store(path: Option<PathBuf>) -> Result<Store, CommandError> {
    let path = path.map_or_else(Session::usual_store, Ok)?;
    Ok(Store::open(&path, Access::Read).await.map_err(|error| session::store_problem(&error))?)
}

/// All events of an execution in a store, or of an exported file.
pub async fn events(name: &str, store: Option<PathBuf>) -> Result<Vec<Event>, CommandError> {
    if is_file(name) {
        let case = recording::read_case(Path::new(name)).await;
        return Ok(case.map_err(|error| session::store_problem(&error))?.events);
    }
    let store = open_store(store).await?;
    Ok(session::look::events(&store, &ExecutionId::from(name)).await?)
}

/// An id has no dots and no folders; a file that is meant has.
pub fn is_file(name: &str) -> bool {
    Path::new(name).is_file() || name.contains(['/', '.'])
}
