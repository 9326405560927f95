//! Keeps how executions are held, so that one that was paused comes back paused.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use recording::{Store, StoreError};
use runtime::Gate;
use tokio::sync::{Mutex, watch};

/// The shortest time between two times that it is written by itself. What a command has changed is written before the
/// command is answered.
const PACE: Duration = Duration::from_millis(50);

pub struct Keeper {
    store: Arc<Store>,
    gate: Gate,
    /// Whoever writes asks what there is to write while nobody else does, so that what is newer comes later.
    turn: Mutex<()>,
}

impl Keeper {
    pub fn start(store: &Arc<Store>, gate: &Gate) -> Arc<Self> {
        let keeper = Arc::new(Self { store: Arc::clone(store), gate: gate.clone(), turn: Mutex::default() });
        if let Some(changes) = gate.changes() {
            tokio::spawn(keep_up(Arc::downgrade(&keeper), changes));
        }
        keeper
    }

    /// Writes what has changed.
    pub async fn keep(&self) -> Result<(), StoreError> {
        let _turn = self.turn.lock().await;
        let changed = self.gate.changed_holds();
        if changed.is_empty() { Ok(()) } else { self.store.set_holds(&changed).await }
    }
}

/// As long as somebody needs it.
async fn keep_up(keeper: Weak<Keeper>, mut changes: watch::Receiver<u64>) {
    while changes.changed().await.is_ok() {
        let Some(keeper) = keeper.upgrade() else { return };
        if let Err(error) = keeper.keep().await {
            // A store that cannot be written stops the engine, which says so to everybody.
            tracing::warn!(%error, "how executions are held could not be kept");
        }
        drop(keeper);
        tokio::time::sleep(PACE).await;
    }
}
