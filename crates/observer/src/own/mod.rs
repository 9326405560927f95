//! Our own workers. The facts of an execution are a log in Redis, so nothing has to be guessed: messages are only hints
//! that there is something to read, and a hint that is missed costs a moment, never a fact.

mod follow;
mod pace;
mod turns;
mod values;
mod waiting;
mod workers;

use std::{
    collections::{HashMap, HashSet, VecDeque},
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
use follow::{Followed, More, Taken};
use pace::Pace;
use turns::Turns;
use values::Room;
use waiting::Waiting;
use workers::Workers;

/// Executions followed at once; more are counted.
const MOST_FOLLOWED: usize = 1_000;
/// Chunks of logs that are read in one look, and bytes of them. What was read waits in a few groups to be written, so
/// this bounds what it takes in memory, too.
const CHUNKS_PER_LOOK: usize = 20;
const BYTES_PER_LOOK: usize = 8 * 1024 * 1024;
/// How long a look may take where Redis is far away: meanwhile nothing is heard and nobody gets an answer.
const LOOK_FOR: Duration = Duration::from_millis(250);
/// Ends that are remembered, so that a late hint does not bring an execution back and the walk does not read again what
/// lies in Redis for a while.
const MOST_ENDED: usize = 100_000;
/// Executions that are looked after at once, in turn.
const LOOKED_AFTER: usize = 50;
const LIST_EVERY: Millis = 500;
const HINTED_PACE: Duration = Duration::from_millis(100);
/// Where a look finds much, what is shown has a pace of its own, and more read at once costs less.
const BUSY_PACE: Duration = Duration::from_millis(250);
const MUCH: usize = 500;
const USUAL_PACE: Duration = Duration::from_millis(500);
/// A look that is due for so long is one that nobody takes.
const OVERDUE: Millis = 30_000;
/// Entries of a hash that are read at once.
const ENTRIES: usize = 200;

pub struct Own {
    prefix: String,
    followed: HashMap<ExecutionId, Followed>,
    /// How fast they are.
    paces: HashMap<ExecutionId, Pace>,
    /// Those of which there may be something to read.
    waiting: Waiting,
    /// Those that are looked after without a hint.
    quiet: Turns,
    ended: HashSet<ExecutionId>,
    ended_order: VecDeque<ExecutionId>,
    /// Seen, and not to be read.
    unreadable: HashSet<ExecutionId>,
    /// Those that go on and for which there is no room.
    crowded_out: u64,
    /// Said to have ended, and about to be read.
    announced: HashSet<ExecutionId>,
    /// Said to have ended, and not read: there was no room, or nothing was left.
    unread: HashSet<ExecutionId>,
    /// Values that do not come in time.
    slow_values: HashSet<String>,
    /// Definitions out of messages of executions whose log we have not seen.
    definitions: HashMap<ExecutionId, Payload>,
    listed_at: Millis,
    /// Facts that the last look has found.
    found_last: usize,
    /// Looks that nobody takes, with the moment they were due.
    overdue: Vec<(ExecutionId, Millis)>,
    queues: stuck::Watched,
    /// What was put aside.
    parking: stuck::Watched,
    workers: Workers,
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
            waiting: Waiting::default(),
            quiet: Turns::default(),
            ended: HashSet::new(),
            ended_order: VecDeque::new(),
            unreadable: HashSet::new(),
            crowded_out: 0,
            announced: HashSet::new(),
            unread: HashSet::new(),
            slow_values: HashSet::new(),
            definitions: HashMap::new(),
            listed_at: 0,
            found_last: 0,
            overdue: Vec::new(),
            queues: stuck::Watched::default(),
            parking: stuck::Watched::default(),
            workers: Workers::default(),
            redelivered: 0,
        }
    }

    /// Says whether there is room for it. What goes on is on the list, and found there again.
    fn hint(&mut self, id: ExecutionId) -> bool {
        if self.is_done_with(&id) || self.waiting.is_told(&id) {
            return true;
        }
        if self.followed.contains_key(&id) {
            self.waiting.follow(id);
            return true;
        }
        let has_room = self.has_room();
        if has_room {
            self.waiting.tell(id);
        }
        has_room
    }

    fn has_room(&self) -> bool {
        self.followed.len() + self.waiting.told() < MOST_FOLLOWED
    }

    fn is_done_with(&self, id: &ExecutionId) -> bool {
        self.ended.contains(id) || self.unreadable.contains(id)
    }

    /// It has ended and nobody has read it; what is left of it may still be found.
    fn miss(&mut self, id: ExecutionId) {
        if self.unread.len() < MOST_ENDED {
            self.unread.insert(id);
        }
    }

    /// Reads what was written behind what we know of executions, a chunk of each in turn.
    async fn read_hinted(
        &mut self,
        reader: &Reader,
        (now, until): (Millis, Instant),
        events: &mut Vec<Event>,
    ) -> Result<(), ObserverError> {
        let mut hot = Vec::new();
        let mut slow = std::mem::take(&mut self.slow_values);
        let mut room = Room { bytes: BYTES_PER_LOOK, slow: &mut slow };
        let mut read = Ok(());
        for chunk in 0..CHUNKS_PER_LOOK {
            if chunk > 0 && (room.is_used_up() || Instant::now() >= until) {
                break;
            }
            let Some(id) = self.waiting.next() else { break };
            if self.is_done_with(&id) {
                continue;
            }
            let mut known = self.followed.remove(&id);
            let log = follow::Log { reader, prefix: &self.prefix, id: &id };
            let before = events.len();
            let definition = self.definitions.get(&id);
            let taken = follow::read(log, &mut known, definition, now, &mut room, events).await;
            let announced = self.announced.remove(&id);
            if events.len() > before {
                self.unread.remove(&id);
                self.redelivered += self.paces.entry(id.clone()).or_default().note(&events[before..]);
            }
            match taken {
                Ok(Taken::Followed(more)) => {
                    self.definitions.remove(&id);
                    self.followed.extend(known.map(|known| (id.clone(), known)));
                    if let (More::Soon | More::Nothing, Some(pace)) = (&more, self.paces.get_mut(&id)) {
                        pace.read_to_end(now);
                    }
                    match more {
                        More::Now => self.waiting.follow(id),
                        More::Soon => hot.push(id),
                        More::Nothing => {}
                    }
                }
                Ok(Taken::Ended) => self.remember_end(id),
                Ok(Taken::Nothing) if announced => self.miss(id),
                Ok(Taken::Nothing) => {}
                Ok(Taken::Unreadable(why)) => {
                    tracing::warn!(execution = %id, why, "an execution cannot be followed");
                    // Whoever was told of it is told that nothing more comes.
                    events.extend(known.map(|known| known.left(&id, now, &why)));
                    self.let_go(&id);
                    if self.unreadable.len() < MOST_ENDED {
                        self.unreadable.insert(id);
                    }
                }
                Err(error) => {
                    self.followed.extend(known.map(|known| (id.clone(), known)));
                    if announced {
                        self.announced.insert(id.clone());
                    }
                    hot.push(id);
                    read = Err(error);
                    break;
                }
            }
        }
        self.slow_values = slow;
        // What has just moved will move again.
        hot.into_iter().for_each(|id| self.waiting.follow(id));
        read
    }

    fn let_go(&mut self, id: &ExecutionId) {
        self.definitions.remove(id);
        self.paces.remove(id);
        self.workers.leave(id);
    }

    fn remember_end(&mut self, id: ExecutionId) {
        self.let_go(&id);
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
        let behind = match listed.len() < MOST_FOLLOWED {
            true => 0,
            false => {
                let all: u64 = reader.ask(Read::ZCard, key.as_str()).await?;
                all.saturating_sub(MOST_FOLLOWED as u64)
            }
        };
        self.crowded_out = self.note_looks(listed, now) + behind;
        Ok(())
    }

    /// Executions with the moment at which a worker is to look at them. Says for how many there is no room.
    fn note_looks(&mut self, listed: Vec<(String, f64)>, now: Millis) -> u64 {
        let mut crowded_out = 0;
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
                crowded_out += u64::from(!self.hint(id));
            }
        }
        crowded_out
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
                self.waiting.follow(id);
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
        self.workers.note(id, entries.iter().map(|(_, lease)| lease.as_str()), now);
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
            let is_new = !self.followed.contains_key(&id) && !self.is_done_with(&id);
            match self.hint(id.clone()) {
                true if is_new => drop(self.announced.insert(id)),
                true => {}
                false => self.miss(id),
            }
        }
        News::default()
    }

    async fn look(&mut self, reader: &Reader, now: Millis) -> Result<News, ObserverError> {
        let mut news = News::default();
        let until = Instant::now() + LOOK_FOR;
        if now - self.listed_at >= LIST_EVERY {
            self.list(reader, now).await?;
            self.look_after_some(reader, (now, until)).await?;
            self.workers.forget_old(now);
            self.listed_at = now;
        }
        let read = self.read_hinted(reader, (now, until), &mut news.events).await;
        self.found_last = news.events.len();
        // What was read before something went wrong is news all the same.
        if news.events.is_empty() {
            read?;
        }
        Ok(news)
    }

    fn findings(&self, now: Millis) -> Vec<Finding> {
        let overdue: Vec<Resting> = self.overdue.iter().map(|(id, due)| look_of(id, *due)).collect();
        let slow = self.paces.iter().flat_map(|(id, pace)| match self.followed.get(id) {
            Some(Followed::Whole(ledger)) => pace.findings(id, ledger),
            Some(Followed::Tail { .. }) | None => Vec::new(),
        });
        let mut findings = self.queues.findings(|_| true, now);
        findings.extend(self.parking.parked());
        findings.extend(stuck::overdue_timers(&overdue, now));
        // All of them: how many are listed is decided where they are counted.
        findings.extend(slow);
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
        match self.waiting.is_empty() {
            true => USUAL_PACE,
            false if self.found_last >= MUCH => BUSY_PACE,
            false => HINTED_PACE,
        }
    }

    fn found(&mut self, keys: &[String]) {
        for key in keys {
            if let Some((id, "log")) = cluster::key_of_execution(&self.prefix, key)
                && self.has_room()
                && !self.followed.contains_key(&id)
                && !self.is_done_with(&id)
            {
                self.waiting.find(id);
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
        self.workers.views()
    }

    fn redelivered(&self) -> u64 {
        self.redelivered
    }

    fn dead_letters(&self) -> Option<u64> {
        Some(self.parking.messages())
    }

    fn passed_over(&self) -> u64 {
        self.crowded_out + self.unread.len() as u64
    }

    fn unreadable(&self) -> u64 {
        self.unreadable.len() as u64
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

    #[test]
    fn busy_ones_take_the_room_of_nobody_else() {
        let mut own = Own::new("");
        for number in 0..600 {
            let id = ExecutionId::from(format!("busy-{number}"));
            own.followed.insert(id.clone(), Followed::Tail { position: 1, told: 1 });
            own.hint(id);
        }
        let listed = |count| (0..count).map(|number| (format!("new-{number}"), 9e15)).collect();
        assert_eq!(own.note_looks(listed(400), 0), 0, "400 more can be followed");
        assert_eq!(own.note_looks(listed(450), 0), 50, "and no more");
        let completion = |id: &str| Heard {
            at: 0,
            routing_key: "workflow.completion".to_owned(),
            body: format!(r#"{{"execution_id": "{id}"}}"#).into_bytes(),
        };
        own.hear(&completion("over"));
        own.hear(&completion("over"));
        own.hear(&completion("busy-1"));
        assert_eq!(own.passed_over(), 1, "who has ended and is not read is told");
    }
}
