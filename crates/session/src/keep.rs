//! Where a session keeps what happens.

use std::{path::PathBuf, sync::Arc};

use protocol::Problem;
use recording::{Access, Redaction, Store};

use crate::{in_data_folder, problem};

/// Where recordings are kept.
#[derive(Clone)]
pub enum Keep {
    /// In this file.
    At(PathBuf),
    /// Nowhere: a store that is removed with the session.
    Nowhere,
    /// Not even there: events are made, followed and forgotten. For measuring what it costs to write them; nothing that
    /// has happened can be looked at.
    Unrecorded,
}

/// The open store, and what lies beside it.
pub(crate) struct Kept {
    pub store: Arc<Store>,
    /// The file of known clusters.
    pub connections: PathBuf,
    pub temporary: Option<tempfile::TempDir>,
}

impl Keep {
    pub(crate) async fn open(self, redaction: Redaction) -> Result<Kept, Problem> {
        let (path, temporary) = match self {
            Self::At(path) => (path, None),
            Self::Nowhere | Self::Unrecorded => {
                let folder = tempfile::tempdir()
                    .map_err(|error| problem::from_io("make a temporary store", &error))?;
                (folder.path().join("run.db"), Some(folder))
            }
        };
        let connections = match &temporary {
            Some(folder) => folder.path().join("connections.json"),
            // Who has no data folder has them beside the store.
            None => in_data_folder("connections.json", "")
                .unwrap_or_else(|_| path.with_extension("connections.json")),
        };
        let store = Store::open(&path, Access::Write).await.map_err(|error| problem::from_store(&error))?;
        let store = Arc::new(store.hiding(redaction));
        // Seen on a cluster by a session that ended without detaching, and not to be kept.
        store.remove_passing().await.map_err(|error| problem::from_store(&error))?;
        // A full disk is no reason not to show what is there.
        if let Err(error) = store.leave_observed(None).await {
            tracing::warn!(%error, "what was seen last of a cluster looks as if it went on");
        }
        Ok(Kept { store, connections, temporary })
    }
}
