//! Our own workers. The facts of an execution are a log in Redis, so nothing has to be guessed: messages are only hints
//! that there is something to read, and a hint that is missed costs a moment, never a fact.

mod follow;
mod pace;
mod turns;

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    time::Duration,
};

use protocol::{
    BarrierView, Event, ExecutionId, Finding, Millis, NodeId, Payload, QueueView, TimerView, WorkerView,
    cluster, cluster::Queue,
};
use serde::Deserialize;
use tokio::time::Instant;

use crate::{
    Dialect, Heard, News, ObserverError, Read, Reader,
    stuck::{self, At, Resting},
};
use follow::{Followed, More, Room, Taken};
use pace::Pace;
use turns::Turns;

/// Executions followed at once; more are counted.
const MOST_FOLLOWED: usize = 1_000;
/// Chunks of logs that are read in one look, and bytes of them. What was read waits in a few groups to be written, so
/// this bounds what it takes in memory, too.
const CHUNKS_PER_LOOK: usize = 20;
const BYTES_PER_LOOK: usize = 8 * 1024 * 1024;
/// How long a look may take where Redis is far away: meanwhile nothing is heard and nobody gets an answer.
const LOOK_FOR: Duration = Duration::from_millis(250);
/// Ends that are remembered, so that a late hint does not bring an execution back.
const MOST_ENDED: usize = 20_000;
/// Executions that are looked after at once, in turn.
const LOOKED_AFTER: usize = 50;
const LIST_EVERY: Millis = 500;
const HINTED_PACE: Duration = Duration::from_millis(100);
const USUAL_PACE: Duration = Duration::from_millis(500);
/// A look that is due for so long is one that nobody takes.
const OVERDUE: Millis = 30_000;
/// A worker that was not seen for so long is not told of any more.
const WORKER_MEMORY: Millis = 60_000;
/// Slow items that are told of at once.
const FINDINGS: usize = 200;
/// Entries of a hash that are read at once.
const ENTRIES: usize = 200;

pub struct Own {
    prefix: String,
    followed: HashMap<ExecutionId, Followed>,
    /// How fast they are.
    paces: HashMap<ExecutionId, Pace>,
    /// Those of which there may be something to read.
    hinted: Turns,
    /// Those that are looked after without a hint.
    quiet: Turns,
    ended: HashSet<ExecutionId>,
    ended_order: VecDeque<ExecutionId>,
    /// Seen, and not to be read.
    unreadable: HashSet<ExecutionId>,
    /// Those that go on and for which there is no room.
    crowded_out: u64,
    /// Definitions out of messages of executions whose log we have not seen.
    definitions: HashMap<ExecutionId, Payload>,
    listed_at: Millis,
    /// Looks that nobody takes, with the moment they were due.
    overdue: Vec<(ExecutionId, Millis)>,
    queues: stuck::Watched,
    /// What was put aside.
    parking: stuck::Watched,
    workers: BTreeMap<String, WorkerView>,
    redelivered: u64,
}

/// What is read of a message.
#[derive(Deserialize)]
struct Hint {
    execution_id: ExecutionId,
    #[serde(default)]
    workflow_definition: Option<Payload>,
}

impl Own {
    pub fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
            followed: HashMap::new(),
            paces: HashMap::new(),
            hinted: Turns::default(),
            quiet: Turns::default(),
            ended: HashSet::new(),
            ended_order: VecDeque::new(),
            unreadable: HashSet::new(),
            crowded_out: 0,
            definitions: HashMap::new(),
            listed_at: 0,
            overdue: Vec::new(),
            queues: stuck::Watched::default(),
            parking: stuck::Watched::default(),
            workers: BTreeMap::new(),
            redelivered: 0,
        }
    }

    /// Where there is no room it is passed over for now: whatever goes on is on the list, and found there again.
    fn hint(&mut self, id: ExecutionId) {
        if self.ended.contains(&id) || self.unreadable.contains(&id) {
            return;
        }
        if self.followed.contains_key(&id) || self.has_room() {
            self.hinted.push(id);
        }
    }

    fn has_room(&self) -> bool {
        self.followed.len() + self.hinted.len() < MOST_FOLLOWED
    }

    /// Reads what was written behind what we know of executions, a chunk of each in turn.
    async fn read_hinted(
        &mut self,
        reader: &Reader,
        (now, until): (Millis, Instant),
        events: &mut Vec<Event>,
    ) -> Result<(), ObserverError> {
        let mut hot = Vec::new();
        let mut room = Room { bytes: BYTES_PER_LOOK };
        for chunk in 0..CHUNKS_PER_LOOK {
            if chunk > 0 && (room.is_used_up() || Instant::now() >= until) {
                break;
            }
            let Some(id) = self.hinted.next() else { break };
            let mut known = self.followed.remove(&id);
            let log = follow::Log { reader, prefix: &self.prefix, id: &id };
            let before = events.len();
            let definition = self.definitions.get(&id);
            let taken = follow::read(log, &mut known, definition, now, &mut room, events).await;
            match taken {
                Ok(Taken::Followed(more)) => {
                    self.definitions.remove(&id);
                    let again = self.paces.entry(id.clone()).or_default().note(&events[before..]);
                    self.redelivered += again;
                    self.followed.extend(known.map(|known| (id.clone(), known)));
                    match more {
                        More::Now => self.hinted.push(id),
                        More::Soon => hot.push(id),
                        More::Nothing => {}
                    }
                }
                Ok(Taken::Ended) => self.remember_end(id),
                Ok(Taken::Nothing) => {}
                Ok(Taken::Unreadable(why)) => {
                    tracing::warn!(execution = %id, why, "an execution cannot be followed");
                    // Whoever was told of it is told that nothing more comes.
                    events.extend(known.map(|known| known.left(&id, now, &why)));
                    self.paces.remove(&id);
                    if self.unreadable.len() < MOST_ENDED {
                        self.unreadable.insert(id);
                    }
                }
                Err(error) => {
                    self.followed.extend(known.map(|known| (id.clone(), known)));
                    hot.push(id);
                    hot.into_iter().for_each(|id| self.hinted.push(id));
                    return Err(error);
                }
            }
        }
        // What has just moved will move again.
        hot.into_iter().for_each(|id| self.hinted.push(id));
        Ok(())
    }

    fn remember_end(&mut self, id: ExecutionId) {
        self.definitions.remove(&id);
        self.paces.remove(&id);
        if self.ended.insert(id.clone()) {
            self.ended_order.push_back(id);
        }
        while self.ended_order.len() > MOST_ENDED {
            self.ended_order.pop_front().map(|oldest| self.ended.remove(&oldest));
        }
    }

    /// Everything that has not ended is on one list.
    async fn list(&mut self, reader: &Reader, now: Millis) -> Result<(), ObserverError> {
        let key = cluster::looks_key(&self.prefix);
        let last = (MOST_FOLLOWED - 1).to_string();
        let listed: Vec<(String, f64)> =
            reader.ask(Read::ZRange, &[key.as_str(), "0", &last, "WITHSCORES"][..]).await?;
        self.note_looks(listed, now);
        self.crowded_out = match self.has_room() {
            true => 0,
            false => {
                let all: u64 = reader.ask(Read::ZCard, key.as_str()).await?;
                all.saturating_sub(MOST_FOLLOWED as u64)
            }
        };
        Ok(())
    }

    /// Executions with the moment at which a worker is to look at them.
    fn note_looks(&mut self, listed: Vec<(String, f64)>, now: Millis) {
        self.overdue.clear();
        for (id, at) in listed {
            let id = ExecutionId::from(id);
            if !cluster::is_execution_id(id.as_str()) {
                continue;
            }
            // Moments are whole numbers far below what a double can hold.
            let due = at as Millis;
            // One that has ended stays on the list until a worker takes it off.
            if now - due > OVERDUE && self.followed.contains_key(&id) {
                self.overdue.push((id.clone(), due));
            }
            if !self.followed.contains_key(&id) {
                self.hint(id);
            }
        }
    }

    /// Those that nobody has spoken of, and who works on them.
    async fn look_after_some(
        &mut self,
        reader: &Reader,
        (now, until): (Millis, Instant),
    ) -> Result<(), ObserverError> {
        if self.quiet.is_empty() {
            self.followed.keys().for_each(|id| self.quiet.push(id.clone()));
        }
        for _ in 0..LOOKED_AFTER {
            let Some(id) = self.quiet.next() else { return Ok(()) };
            if self.followed.contains_key(&id) {
                self.see_workers(reader, &id, now).await?;
                self.hinted.push(id);
            }
            if Instant::now() >= until {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn see_workers(
        &mut self,
        reader: &Reader,
        id: &ExecutionId,
        now: Millis,
    ) -> Result<(), ObserverError> {
        let key = cluster::execution_key(&self.prefix, id, "leases");
        let count = ENTRIES.to_string();
        let (_, entries): (String, Vec<(String, String)>) =
            reader.ask(Read::HScan, &[key.as_str(), "0", "COUNT", &count][..]).await?;
        let mut holds: BTreeMap<String, usize> = BTreeMap::new();
        for (_, lease) in &entries {
            let held = lease.rsplit_once(' ').and_then(|(who, until)| Some((who, until.parse().ok()?)));
            let Some((who, until)) = held else { continue };
            let until: Millis = until;
            if until >= now {
                *holds.entry(who.to_owned()).or_default() += 1;
            }
        }
        for (name, holds) in holds {
            self.workers.insert(name.clone(), WorkerView { name, holds, last_seen: now });
        }
        self.workers.retain(|_, worker| now - worker.last_seen < WORKER_MEMORY);
        Ok(())
    }
}

impl Dialect for Own {
    fn hear(&mut self, heard: &Heard) -> News {
        // Garbage is no hint; the log knows better anyway.
        let Ok(hint) = serde_json::from_slice::<Hint>(&heard.body) else { return News::default() };
        let id = hint.execution_id;
        if cluster::is_execution_id(id.as_str()) {
            let unseen = !self.followed.contains_key(&id) && self.definitions.len() < MOST_FOLLOWED;
            if let Some(definition) = hint.workflow_definition.filter(|_| unseen) {
                self.definitions.entry(id.clone()).or_insert(definition);
            }
            self.hint(id);
        }
        News::default()
    }

    async fn look(&mut self, reader: &Reader, now: Millis) -> Result<News, ObserverError> {
        let mut news = News::default();
        let until = Instant::now() + LOOK_FOR;
        if now - self.listed_at >= LIST_EVERY {
            self.list(reader, now).await?;
            self.look_after_some(reader, (now, until)).await?;
            self.listed_at = now;
        }
        let read = self.read_hinted(reader, (now, until), &mut news.events).await;
        // What was read before something went wrong is news all the same.
        if news.events.is_empty() {
            read?;
        }
        Ok(news)
    }

    fn findings(&self, now: Millis) -> Vec<Finding> {
        let overdue: Vec<Resting> = self.overdue.iter().map(|(id, due)| look_of(id, *due)).collect();
        let slow = self.paces.iter().flat_map(|(id, pace)| match self.followed.get(id) {
            Some(Followed::Whole(ledger)) => pace.findings(id, ledger, now),
            Some(Followed::Tail { .. }) | None => Vec::new(),
        });
        let mut findings = self.queues.findings(|_| true, now);
        findings.extend(self.parking.parked());
        findings.extend(stuck::overdue_timers(&overdue, now));
        findings.extend(slow.take(FINDINGS));
        stuck::sort(&mut findings);
        findings
    }

    fn barrier(&self, _execution: &ExecutionId, _node: &NodeId) -> Option<BarrierView> {
        // The events say everything.
        None
    }

    fn timers(&self) -> Vec<TimerView> {
        // The events say everything.
        Vec::new()
    }

    fn reads_a_log(&self) -> bool {
        true
    }

    /// The facts are in the log, so copies of work and statuses would only cost the broker its time. What ends is told,
    /// because its log goes soon; what goes on is looked after.
    fn wants(&self) -> &'static [&'static str] {
        &["workflow.completion"]
    }

    fn asks_for(&self) -> Vec<String> {
        Queue::ALL.map(|queue| queue.name("")).to_vec()
    }

    fn pace(&self) -> Duration {
        if self.hinted.is_empty() { USUAL_PACE } else { HINTED_PACE }
    }

    fn found(&mut self, keys: &[String]) {
        for key in keys {
            if let Some((id, "log")) = cluster::key_of_execution(&self.prefix, key) {
                self.hint(id);
            }
        }
    }

    fn queues(&mut self, queues: &[QueueView], now: Millis) {
        // Statuses may wait for a master that has not come yet; work may not.
        let worked = [Queue::Execution, Queue::Timeout].map(|queue| queue.name(&self.prefix));
        let work = queues.iter().filter(|queue| worked.contains(&queue.name)).cloned();
        self.queues.note(work, now);
        let aside = Queue::Parking.name(&self.prefix);
        self.parking.note(queues.iter().filter(|queue| queue.name == aside).cloned(), now);
    }

    fn workers(&self) -> Vec<WorkerView> {
        self.workers.values().cloned().collect()
    }

    fn redelivered(&self) -> u64 {
        self.redelivered
    }

    fn dead_letters(&self) -> Option<u64> {
        Some(self.parking.messages())
    }

    fn passed_over(&self) -> u64 {
        self.crowded_out + self.unreadable.len() as u64
    }
}

/// When a worker was to look at an execution again, as a timer that nobody has claimed.
fn look_of(id: &ExecutionId, due: Millis) -> Resting {
    let at = At { execution_id: Some(id.clone()), name: "It".to_owned(), ..At::default() };
    Resting { at, timer: format!("looks {id}"), due, has_timer: true, alone_since: None }
}

#[cfg(test)]
mod tests {
    use protocol::Rule;

    use super::*;

    #[test]
    fn only_what_goes_on_is_overdue() {
        let mut own = Own::new("");
        let looks = || vec![("goes-on".to_owned(), 10_000.0), ("over".to_owned(), 10_000.0)];
        own.followed.insert("goes-on".into(), Followed::Tail { position: 1, told: 1 });
        own.remember_end("over".into());
        own.note_looks(looks(), 30_000);
        assert_eq!(own.findings(30_000), [], "a worker may be busy");
        own.note_looks(looks(), 60_000);
        let found = own.findings(60_000);
        assert_eq!(found.len(), 1, "what has ended waits for nobody: {found:?}");
        assert_eq!((found[0].rule, found[0].since), (Rule::OverdueTimer, 10_000));
        assert_eq!(found[0].execution_id, Some("goes-on".into()));
    }
}
