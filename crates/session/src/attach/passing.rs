//! What is seen of a cluster and not recorded is here in passing, and a cluster that is looked at for long has no end of
//! it. Of what has ended the oldest goes first; what is under way, or open somewhere, stays.

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::{Event, ExecutionId, Fact};
use recording::{Store, StoreError};

use crate::insights::Insights;

/// How much may be here in passing.
#[derive(Clone, Copy)]
pub struct Room {
    /// Executions that have ended.
    pub ended: usize,
    /// What the store may grow by.
    pub bytes: u64,
}

/// As many as a page lists, and what a laptop can spare.
const USUAL: Room = Room { ended: 2_000, bytes: 512 * 1024 * 1024 };
/// One in so many goes at once, so that it is not looked for all the time.
const SHARE: usize = 4;
/// Names that are remembered, so that a late word about one of them is not written behind nothing. The observer
/// remembers far fewer executions itself.
const REMEMBERED: usize = 20_000;

pub struct Passing {
    store: Arc<Store>,
    insights: Arc<Insights>,
    room: Room,
    /// What the store holds besides.
    bytes_before: AtomicU64,
    gone: Mutex<Gone>,
    forgotten: AtomicU64,
}

#[derive(Default)]
struct Gone {
    /// Those that have ended and are still here.
    ended: usize,
    names: HashSet<ExecutionId>,
    by_age: VecDeque<ExecutionId>,
}

impl Passing {
    pub async fn begin(store: Arc<Store>, insights: Arc<Insights>) -> Result<Self, StoreError> {
        Self::with_room(store, insights, USUAL).await
    }

    async fn with_room(store: Arc<Store>, insights: Arc<Insights>, room: Room) -> Result<Self, StoreError> {
        let bytes_before = AtomicU64::new(store.used_bytes().await?);
        let (gone, forgotten) = (Mutex::default(), AtomicU64::new(0));
        Ok(Self { store, insights, room, bytes_before, gone, forgotten })
    }

    /// How many have gone.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Takes out what is about executions that have gone, unless they are told anew.
    pub fn leave_out(&self, events: &mut Vec<Event>) {
        let mut gone = self.lock();
        if gone.names.is_empty() {
            return;
        }
        for event in events.iter().filter(|event| event.seq == 1) {
            gone.names.remove(&event.execution_id);
        }
        events.retain(|event| !gone.names.contains(&event.execution_id));
    }

    /// Lets the oldest go where there is too much, now that these have come; says what that was.
    pub async fn make_room(&self, come: &[Event]) -> Result<Vec<ExecutionId>, StoreError> {
        let ended = {
            let mut gone = self.lock();
            gone.ended += come.iter().filter(|event| matches!(event.fact, Fact::ExecutionEnded(_))).count();
            gone.ended
        };
        let is_too_large = ended > 0 && self.grown().await? > self.room.bytes;
        if ended <= self.room.ended && !is_too_large {
            return Ok(Vec::new());
        }
        let open = self.insights.open();
        let removed = self.store.remove_oldest_passing(ended.div_ceil(SHARE), &open).await?;
        self.insights.forget(&removed).await;
        self.forgotten.fetch_add(removed.len() as u64, Ordering::Relaxed);
        let left = self.lock().note(&removed);
        if is_too_large {
            self.store.sweep().await?;
        }
        // What is still too large is something else, such as executions of our own, and takes no room from these.
        if is_too_large && left == 0 {
            self.bytes_before.store(self.store.used_bytes().await?, Ordering::Relaxed);
        }
        Ok(removed)
    }

    /// What the store has grown by.
    async fn grown(&self) -> Result<u64, StoreError> {
        let before = self.bytes_before.load(Ordering::Relaxed);
        Ok(self.store.used_bytes().await?.saturating_sub(before))
    }

    fn lock(&self) -> MutexGuard<'_, Gone> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gone {
    /// Says how many are left that have ended.
    fn note(&mut self, removed: &[ExecutionId]) -> usize {
        self.ended = self.ended.saturating_sub(removed.len());
        for id in removed {
            if self.names.insert(id.clone()) {
                self.by_age.push_back(id.clone());
            }
        }
        while self.by_age.len() > REMEMBERED {
            self.by_age.pop_front().map(|oldest| self.names.remove(&oldest));
        }
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use protocol::{
        ClusterDialect, ExecutionEnded, ExecutionStarted, ExecutionStatus, Millis, Observed, Payload,
    };
    use recording::Access;
    use serde_json::json;

    use super::*;

    fn started(id: &str, at: Millis, input: &str) -> Event {
        let definition = json!({"nodes": [{"id": "start", "type": "trigger"}], "edges": []});
        let fact = Fact::ExecutionStarted(Box::new(ExecutionStarted {
            workflow_id: "w".into(),
            title: id.to_owned(),
            path: None,
            definition_hash: String::new(),
            definition: Payload::new(definition),
            input: Payload::new(json!({ "text": input })),
            starts: vec!["start".into()],
            origin: None,
            until: None,
            observed: Some(Observed::new("shop", ClusterDialect::Rune, false)),
            other: Default::default(),
        }));
        Event { execution_id: id.into(), seq: 1, at, fact }
    }

    fn ended(id: &str, at: Millis) -> Event {
        let fact = Fact::ExecutionEnded(ExecutionEnded { status: ExecutionStatus::Completed, error: None });
        Event { execution_id: id.into(), seq: 2, at, fact }
    }

    struct Seen {
        passing: Passing,
        store: Arc<Store>,
        insights: Arc<Insights>,
        _folder: tempfile::TempDir,
    }

    impl Seen {
        async fn with_room(room: Room) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(&folder.path().join("seen.db"), Access::Write).await.unwrap();
            let store = Arc::new(store);
            let insights = Arc::new(Insights::new(Arc::clone(&store)));
            let passing = Passing::with_room(Arc::clone(&store), Arc::clone(&insights), room).await.unwrap();
            Self { passing, store, insights, _folder: folder }
        }

        async fn see(&self, id: &str, mut events: Vec<Event>, keep: bool) {
            self.passing.leave_out(&mut events);
            self.store.append_observed(&events).await.unwrap();
            if events.iter().any(|event| event.seq == 1) {
                self.store.mark_observed(&[id.into()], keep).await.unwrap();
            }
            self.passing.make_room(&events).await.unwrap();
        }

        async fn left(&self) -> Vec<String> {
            let listed = self.store.executions(100).await.unwrap();
            listed.iter().rev().map(|summary| summary.execution_id.to_string()).collect()
        }
    }

    #[tokio::test]
    async fn the_oldest_that_nobody_wants_goes_first() {
        let seen = Seen::with_room(Room { ended: 4, bytes: u64::MAX }).await;
        seen.see("runs", vec![started("runs", 1, "")], false).await;
        seen.see("kept", vec![started("kept", 2, ""), ended("kept", 3)], true).await;
        for (id, at) in [("open", 10), ("a", 20), ("b", 30)] {
            seen.see(id, vec![started(id, at, ""), ended(id, at + 1)], false).await;
        }
        seen.insights.note_open(&"open".into());
        assert_eq!(seen.passing.forgotten(), 0);
        seen.see("c", vec![started("c", 40, ""), ended("c", 41)], false).await;
        assert_eq!(seen.left().await, ["runs", "kept", "open", "c"], "a quarter goes at once");
        assert_eq!(seen.passing.forgotten(), 2);
        // A late word about one that has gone is passed over; told anew it is back.
        seen.see("a", vec![ended("a", 50)], false).await;
        assert_eq!(seen.left().await, ["runs", "kept", "open", "c"]);
        seen.see("a", vec![started("a", 60, "")], false).await;
        assert_eq!(seen.left().await, ["runs", "kept", "open", "c", "a"]);
    }

    #[tokio::test]
    async fn it_never_takes_more_room_than_it_has() {
        let seen = Seen::with_room(Room { ended: 1_000, bytes: 1024 * 1024 }).await;
        for number in 0..100 {
            let (id, text) = (format!("e{number}"), noise(number));
            seen.see(&id, vec![started(&id, number, &text), ended(&id, number + 1)], false).await;
            let used = seen.store.used_bytes().await.unwrap();
            assert!(used < 2 * 1024 * 1024, "{used} bytes after {number}");
        }
        assert!(seen.passing.forgotten() > 50, "{}", seen.passing.forgotten());
        assert_eq!(seen.left().await.last().map(String::as_str), Some("e99"));
    }

    #[tokio::test]
    async fn what_others_write_takes_no_room_from_it() {
        let seen = Seen::with_room(Room { ended: 1_000, bytes: 1024 * 1024 }).await;
        for number in 0..60 {
            let (id, text) = (format!("ours{number}"), noise(number));
            seen.store.append(&[started(&id, number, &text)]).await.unwrap();
        }
        for (id, at) in [("a", 100), ("b", 200), ("c", 300)] {
            seen.see(id, vec![started(id, at, ""), ended(id, at + 1)], false).await;
        }
        assert_eq!(seen.passing.forgotten(), 1, "one went before that was known");
        assert_eq!(seen.left().await[60..], ["b", "c"]);
    }

    /// Fifty thousand letters that cannot be packed well.
    fn noise(seed: Millis) -> String {
        let mut state = seed.unsigned_abs().wrapping_add(1);
        let mut letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'0' + (state >> 58) as u8)
        };
        (0..50_000).map(|_| letter()).collect()
    }
}
