//! The executions that somebody looks at closely. Each is folded once and then kept up with, so that a question costs
//! as much as has happened since the last one.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex as Lock, PoisonError},
};

use protocol::{ExecutionId, Problem};
use recording::{Insight, Store};
use tokio::sync::Mutex;

use crate::{
    problem::{from_ledger, from_store},
    unknown,
};

/// More than this many executions are not looked at at once; the one that was looked at least lately is forgotten.
const KEPT: usize = 4;
/// Executions that count as open: those that somebody has asked for last.
const OPEN: usize = 16;
/// Events of a recording that is worth preparing for travels.
const LONG: u64 = 5_000;

/// The recordings that were walked through from end to end; each of them once.
#[derive(Default)]
pub struct Travelled(Lock<HashSet<ExecutionId>>);

impl Travelled {
    /// Whoever looks at the timeline of a long recording goes to some moment of it next. One walk through it leaves
    /// snapshots on the way, so that every moment is near one of them.
    pub fn prepare(&self, store: &Arc<Store>, id: &ExecutionId, position: u64) {
        let is_first = || self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        if position < LONG || !is_first() {
            return;
        }
        let (store, id) = (Arc::clone(store), id.clone());
        tokio::spawn(async move {
            // What is wrong with the store is said when somebody asks for a moment.
            if let Err(error) = store.view_at(&id, u64::MAX).await {
                tracing::warn!(%error, execution = %id, "no snapshots could be made");
            }
        });
    }
}

pub struct Insights {
    store: Arc<Store>,
    /// The one that was asked about last stands last.
    kept: Mutex<Vec<Insight>>,
    /// The one that was looked at in its past. Who goes forward goes on from there.
    past: Mutex<Option<Insight>>,
    /// The one that was asked for last stands last.
    open: Lock<VecDeque<ExecutionId>>,
}

impl Insights {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, kept: Mutex::new(Vec::new()), past: Mutex::new(None), open: Lock::default() }
    }

    /// These are told anew from their beginning: what was made of them before counts no longer.
    pub async fn forget(&self, executions: &[ExecutionId]) {
        self.kept.lock().await.retain(|insight| !executions.contains(insight.execution_id()));
        self.past.lock().await.take_if(|insight| executions.contains(insight.execution_id()));
    }

    /// Somebody looks at it.
    pub fn note_open(&self, id: &ExecutionId) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|known| known != id);
        open.push_back(id.clone());
        if open.len() > OPEN {
            open.pop_front();
        }
    }

    /// Those that somebody has looked at last.
    pub fn open(&self) -> Vec<ExecutionId> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Asks about an execution as it is now, or as it was after some of its events.
    pub async fn ask<T>(
        &self,
        id: &ExecutionId,
        at: Option<u64>,
        question: impl FnOnce(&Insight) -> T + Send,
    ) -> Result<T, Problem> {
        self.note_open(id);
        match at {
            Some(position) => self.ask_past(id, position, question).await,
            None => self.ask_now(id, question).await,
        }
    }

    async fn ask_past<T>(
        &self,
        id: &ExecutionId,
        position: u64,
        question: impl FnOnce(&Insight) -> T + Send,
    ) -> Result<T, Problem> {
        let mut past = self.past.lock().await;
        let usable = |insight: &Insight| insight.execution_id() == id && insight.position() <= position;
        let known = past.take().filter(usable);
        let after = known.as_ref().map_or(0, Insight::position);
        let mut events = self.store.events_after(id, after).await.map_err(|error| from_store(&error))?;
        let mut insight = match known {
            Some(known) => known,
            None if events.is_empty() => return Err(unknown(id)),
            None => Insight::begin(&events).map_err(|error| from_ledger(&error))?,
        };
        events.retain(|event| event.seq <= position);
        insight.extend(&events).map_err(|error| from_ledger(&error))?;
        let answer = question(&insight);
        *past = Some(insight);
        Ok(answer)
    }

    async fn ask_now<T>(
        &self,
        id: &ExecutionId,
        question: impl FnOnce(&Insight) -> T + Send,
    ) -> Result<T, Problem> {
        let mut kept = self.kept.lock().await;
        let known = kept.iter().position(|insight| insight.execution_id() == id).map(|at| kept.remove(at));
        let position = known.as_ref().map_or(0, Insight::position);
        let events = self.store.events_after(id, position).await.map_err(|error| from_store(&error))?;
        let mut insight = match known {
            Some(known) => known,
            None if events.is_empty() => return Err(unknown(id)),
            None => Insight::begin(&events).map_err(|error| from_ledger(&error))?,
        };
        insight.extend(&events).map_err(|error| from_ledger(&error))?;
        let answer = question(&insight);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(insight);
        Ok(answer)
    }
}
