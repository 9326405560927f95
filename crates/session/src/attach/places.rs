//! Where what is seen stands. What somebody has kept stays as it is: an execution that is told from its beginning again
//! stands beside its recording, under a name of its own, and is shown, recorded and forgotten by that name.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use protocol::{ClusterDialect, ClusterView, Event, ExecutionId, Observed, TimerView};
use recording::{Standing, Store, StoreError};

use crate::insights::Insights;

pub struct Places {
    store: Arc<Store>,
    insights: Arc<Insights>,
    state: Mutex<State>,
}

/// Only what was recorded before is in here.
#[derive(Default)]
struct State {
    /// Those that stand under another name than they have on the cluster.
    names: HashMap<ExecutionId, ExecutionId>,
    /// How far executions were recorded before, by the name they stand under.
    recorded: HashMap<ExecutionId, u64>,
}

/// What becomes of an execution that begins here.
enum Place {
    Free,
    /// What stands there makes room.
    Replaced,
    /// All up to here is recorded.
    After(u64),
    Taken,
}

impl Places {
    pub fn new(store: Arc<Store>, insights: Arc<Insights>) -> Self {
        Self { store, insights, state: Mutex::default() }
    }

    /// Finds a place for executions that begin here, and lets every event say where it stands.
    pub async fn find(&self, events: &mut [Event], dialect: ClusterDialect) -> Result<(), StoreError> {
        let begun: Vec<&Event> = events.iter().filter(|event| event.seq == 1).collect();
        let ids: Vec<ExecutionId> = begun.iter().map(|event| event.execution_id.clone()).collect();
        self.lock().forget(&ids);
        let known = self.store.recorded_among(&ids).await?;
        let mut replaced = Vec::new();
        for event in begun.into_iter().filter(|event| known.contains(&event.execution_id)) {
            self.find_one(event, dialect, &mut replaced).await?;
        }
        self.store.erase(&replaced).await?;
        self.insights.forget(&replaced).await;
        let state = self.lock();
        if !state.names.is_empty() {
            events.iter_mut().for_each(|event| state.rename(&mut event.execution_id));
        }
        Ok(())
    }

    async fn find_one(
        &self,
        first: &Event,
        dialect: ClusterDialect,
        replaced: &mut Vec<ExecutionId>,
    ) -> Result<(), StoreError> {
        let id = &first.execution_id;
        let names = std::iter::once(id.clone());
        for name in names.chain((2..).map(|number| ExecutionId::from(format!("{id}~{number}")))) {
            match place(self.store.standing(&name).await?.as_ref(), first, dialect) {
                Place::Taken => continue,
                Place::Free => {}
                Place::Replaced => replaced.push(name.clone()),
                Place::After(last) => {
                    self.store.look_again(&name).await?;
                    self.lock().recorded.insert(name.clone(), last);
                }
            }
            if name != *id {
                self.lock().names.insert(id.clone(), name);
            }
            break;
        }
        Ok(())
    }

    /// Those that are not recorded yet.
    pub fn unrecorded<'e>(&self, events: &'e [Event]) -> Cow<'e, [Event]> {
        let recorded = &self.lock().recorded;
        let is_new = |event: &&Event| recorded.get(&event.execution_id).is_none_or(|last| event.seq > *last);
        match recorded.is_empty() || events.iter().all(|event| is_new(&event)) {
            true => Cow::Borrowed(events),
            false => events.iter().filter(is_new).cloned().collect(),
        }
    }

    /// What the cluster calls an execution that stands here. A recording from before is not what goes on there now.
    pub fn on_the_cluster(&self, id: &ExecutionId) -> Option<ExecutionId> {
        let state = self.lock();
        let called = state.names.iter().find(|(_, name)| *name == id).map(|(called, _)| called);
        match called {
            Some(called) => Some(called.clone()),
            None => (!state.names.contains_key(id)).then(|| id.clone()),
        }
    }

    pub fn rename_timers(&self, timers: &mut [TimerView]) {
        let state = self.lock();
        timers.iter_mut().for_each(|timer| state.rename(&mut timer.execution_id));
    }

    pub fn rename_findings(&self, view: &mut ClusterView) {
        let state = self.lock();
        let about = view.findings.iter_mut().filter_map(|finding| finding.execution_id.as_mut());
        about.for_each(|id| state.rename(id));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget(&mut self, begun: &[ExecutionId]) {
        for id in begun {
            let name = self.names.remove(id);
            self.recorded.remove(name.as_ref().unwrap_or(id));
        }
    }

    fn rename(&self, id: &mut ExecutionId) {
        if let Some(name) = self.names.get(id) {
            *id = name.clone();
        }
    }
}

/// Logs of our own workers have one order, so a recording of the same log is gone on with; what was heard of other
/// workers is told anew.
fn place(standing: Option<&Standing>, first: &Event, dialect: ClusterDialect) -> Place {
    let Some(standing) = standing else { return Place::Free };
    match (&standing.observed, dialect) {
        // It was begun here: whoever works on it records it.
        (None, ClusterDialect::Runeglass) => Place::After(u64::MAX),
        (Some(Observed { dialect: ClusterDialect::Runeglass, .. }), ClusterDialect::Runeglass)
            if standing.started_at == first.at && !standing.was_lost =>
        {
            Place::After(standing.last)
        }
        _ if standing.may_be_told_anew() => Place::Replaced,
        _ => Place::Taken,
    }
}
