//! Clusters of the public Rune services, as they run today. What they put on the exchange and into Redis is told in our
//! events, their peculiarities included: names in place of ids, barriers that call waiting a success, failures that do
//! not say where, stacks that only grow, an end at every leaf, and credentials in every message.

mod arrivals;
mod barrier;
mod begin;
mod database;
mod definitions;
mod doubt;
mod execution;
mod facts;
mod failures;
mod frozen;
mod graph;
mod hands;
mod joins;
mod late;
mod look;
mod meanwhile;
mod outputs;
mod rebuild;
mod secrets;
mod sent;
mod shared;
mod silence;
mod timers;
mod track;
mod unsaid;
mod wire;

use std::collections::{HashMap, HashSet, VecDeque};

use protocol::{
    BarrierView, ClusterDialect, Event, ExecutionId, Finding, Gap, Millis, NodeId, Problem, QueueView,
    TimerView, WorkflowId,
};
use serde_json::Value;

use crate::{Database, Dialect, Heard, News, ObserverError, Reader};
use begin::{Beginning, Start};
use database::Place;
use definitions::Definitions;
use execution::{Execution, Guess};
use hands::Hands;
use look::{Known, Looked, Seen};
use timers::Timer;
use wire::{Completion, Said, Status, Work};

/// What is kept in memory, at most.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub executions: usize,
    /// Places over all executions of which something is remembered.
    pub places: usize,
    /// Executions whose definition is not known, and messages of each.
    pub strangers: usize,
    pub per_stranger: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { executions: 2_000, places: 500_000, strangers: 500, per_stranger: 200 }
    }
}

/// Bytes of messages that wait for a definition.
const WAITING_BYTES: usize = 32 * 1024 * 1024;
/// Names of executions that were let go, so that nobody begins them anew.
const GONE: usize = 50_000;
/// How long an execution without a definition waits for one before that of its workflow is taken.
const PATIENCE: Millis = 5_000;

/// What was wrong with an execution that has ended is told for so long.
const RECENT: Millis = 900_000;

/// Queues in which work waits for a worker.
const WORKED: [&str; 2] = ["workflow.execution", "workflow.resume"];
/// All that a cluster may have.
pub const QUEUES: [&str; 7] = [
    "workflow.execution",
    "workflow.resume",
    "workflow.node.status",
    "workflow.completion",
    "workflow.completion.recorder",
    "workflow.worker.initiated",
    "execution.token",
];

/// What was let go, because there was too much of it or nobody could read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetGo {
    pub unreadable: u64,
    pub executions: u64,
    /// Of these, those that had not ended.
    pub unfinished: u64,
    /// Messages of executions that are not, or no longer, known.
    pub messages: u64,
    pub places: u64,
}

pub struct Rune {
    cluster: String,
    bounds: Bounds,
    executions: HashMap<ExecutionId, Execution>,
    /// What they remember, together.
    places: usize,
    strangers: HashMap<ExecutionId, Stranger>,
    /// Bytes of what was heard of them.
    waiting_bytes: usize,
    definitions: Definitions,
    gone: HashSet<ExecutionId>,
    gone_by_age: VecDeque<ExecutionId>,
    let_go: LetGo,
    /// Nodes that have begun, over all executions.
    begun: u64,
    /// Of these, those that had begun before.
    redelivered: u64,
    redis: Seen,
    place: Place,
    /// How much our clock goes before that of the cluster, by what was heard last.
    skew: Millis,
    /// Since when everything that is said comes here.
    listening_since: Option<Millis>,
    /// Until when it came here, and since when it does not any more.
    heard_until: Millis,
    deaf_since: Option<Millis>,
    /// When the broker was asked for its queues.
    asked_at: Millis,
    hands: Hands,
    /// Executions that only Redis tells of and that are not taken up, because there are too many.
    unlisted: u64,
    /// How many definitions were known when executions were compared with them.
    compared: u64,
    queues: crate::stuck::Watched,
    /// What has a number and was not told: Redis fell silent in between.
    untold: Vec<Event>,
}

/// An execution of which only statuses were heard.
struct Stranger {
    since: Millis,
    workflow_id: WorkflowId,
    said: Vec<(Millis, Owned)>,
    bytes: usize,
}

enum Owned {
    Status(Box<Status>),
    Completion(Completion),
}

impl Rune {
    pub const DIALECT: ClusterDialect = ClusterDialect::Rune;

    /// The name of the cluster is written into what is observed.
    pub fn new(cluster: impl Into<String>) -> Self {
        Self::with_bounds(cluster, Bounds::default())
    }

    pub fn with_bounds(cluster: impl Into<String>, bounds: Bounds) -> Self {
        Self {
            cluster: cluster.into(),
            bounds,
            executions: HashMap::new(),
            places: 0,
            strangers: HashMap::new(),
            waiting_bytes: 0,
            definitions: Definitions::default(),
            gone: HashSet::new(),
            gone_by_age: VecDeque::new(),
            let_go: LetGo::default(),
            begun: 0,
            redelivered: 0,
            redis: Seen::default(),
            place: Place::default(),
            skew: 0,
            listening_since: None,
            heard_until: 0,
            deaf_since: None,
            asked_at: 0,
            hands: Hands::default(),
            unlisted: 0,
            compared: 0,
            queues: crate::stuck::Watched::default(),
            untold: Vec::new(),
        }
    }

    pub fn let_go(&self) -> LetGo {
        let places: u64 = self.executions.values().map(|execution| execution.let_go).sum();
        LetGo { places: self.let_go.places + places, ..self.let_go }
    }

    /// True if a message looks like one of a Rune cluster.
    pub fn is_spoken_in(heard: &Heard) -> bool {
        match wire::read(&heard.routing_key, &heard.body) {
            Ok(Said::Work(work)) => work.workflow_definition.is_some(),
            Ok(Said::Status(_) | Said::Completion(_) | Said::Nothing) | Err(_) => false,
        }
    }

    fn hear_work(&mut self, work: &Work<'_>, heard: Millis, is_first: bool) -> Vec<Event> {
        let id = ExecutionId::from(work.execution_id.as_str());
        if self.gone.contains(&id) {
            self.let_go.messages += 1;
            return Vec::new();
        }
        let mut events = Vec::new();
        let begins_anew = self.drop_guess(&id, work);
        if !self.executions.contains_key(&id) {
            events = self.begin(&id, work, heard, !is_first || begins_anew);
        }
        let begun = self.begun;
        match self.tell_of(&id, |execution| execution.hear_work(work, heard, begun)) {
            Some(more) => events.extend(more),
            None => self.let_go.unreadable += 1,
        }
        events
    }

    /// Lets an execution hear something; what it makes of it. `None` where there is none of that name.
    fn tell_of(&mut self, id: &ExecutionId, tell: impl FnOnce(&mut Execution)) -> Option<Vec<Event>> {
        let execution = self.executions.get_mut(id)?;
        let before = execution.size();
        tell(execution);
        self.redelivered += std::mem::take(&mut execution.redelivered);
        self.places = self.places + execution.size() - before;
        Some(execution.take_events())
    }

    fn begin(&mut self, id: &ExecutionId, work: &Work<'_>, heard: Millis, late: bool) -> Vec<Event> {
        let workflow_id = WorkflowId::from(work.workflow_id.as_str());
        let definition =
            work.workflow_definition.and_then(|raw| self.definitions.read(&workflow_id, raw.get()));
        let Some(definition) = definition else { return Vec::new() };
        // A mirrored message that was delivered again comes when others have been heard.
        let joined_late = late || self.strangers.contains_key(id);
        let context: Option<Value> =
            work.accumulated_context.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let beginning =
            Beginning { definition, cluster: self.cluster.clone(), joined_late, passes_trigger: true };
        let start =
            Start { node: Some(&work.current_node), frames: &work.lineage_stack, context: context.as_ref() };
        let execution = Execution::begin(beginning, id.clone(), workflow_id, &start, heard);
        let mut events = self.keep(execution, heard);
        events.extend(self.introduce(id));
        // Behind what was heard: it fills what was not.
        if let Some(context) = context.as_ref().filter(|_| joined_late) {
            let rebuilt = self.tell_of(id, |execution| execution.rebuild(work, context, heard));
            events.extend(rebuilt.unwrap_or_default());
        }
        events
    }

    /// What was heard before the definition was.
    fn introduce(&mut self, id: &ExecutionId) -> Vec<Event> {
        let Some(stranger) = self.strangers.remove(id) else { return Vec::new() };
        self.waiting_bytes -= stranger.bytes;
        let told = self.tell_of(id, |execution| {
            for (heard, said) in stranger.said {
                match said {
                    Owned::Status(status) => execution.hear_status(*status, heard),
                    Owned::Completion(completion) => execution.hear_completion(completion, heard),
                }
            }
        });
        told.unwrap_or_default()
    }

    fn hear_of(&mut self, id: &str, workflow_id: &str, said: Owned, from: &Heard) -> Vec<Event> {
        let (heard, bytes) = (from.at, from.body.len());
        if let Owned::Status(status) = &said {
            self.hands.moved(outputs::duration(status), heard);
        }
        let id = ExecutionId::from(id);
        if self.executions.contains_key(&id) {
            let begins = matches!(&said, Owned::Status(status) if status.status == wire::Word::Running);
            self.begun += u64::from(begins);
            let mut skew = None;
            let told = self.tell_of(&id, |execution| {
                match said {
                    Owned::Status(status) => execution.hear_status(*status, heard),
                    Owned::Completion(completion) => execution.hear_completion(completion, heard),
                }
                skew = execution.skew;
            });
            self.skew = skew.unwrap_or(self.skew);
            return told.unwrap_or_default();
        }
        let is_room = (self.strangers.len() < self.bounds.strangers || self.strangers.contains_key(&id))
            && self.waiting_bytes + bytes <= WAITING_BYTES;
        if self.gone.contains(&id) || !is_room {
            self.let_go.messages += 1;
            return Vec::new();
        }
        let workflow_id = WorkflowId::from(workflow_id);
        let stranger = self.strangers.entry(id).or_insert(Stranger {
            since: heard,
            workflow_id,
            said: Vec::new(),
            bytes: 0,
        });
        if stranger.said.len() < self.bounds.per_stranger {
            stranger.said.push((heard, said));
            stranger.bytes += bytes;
            self.waiting_bytes += bytes;
        } else {
            self.let_go.messages += 1;
        }
        Vec::new()
    }

    /// Executions whose definition does not come are given the one that was last heard of their workflow; those that
    /// nobody knows anything about are let go after a while.
    fn adopt_strangers(&mut self, now: Millis) -> Vec<Event> {
        let waited = self.strangers.iter().filter(|(_, stranger)| now - stranger.since >= PATIENCE);
        let mut waited: Vec<ExecutionId> = waited.map(|(id, _)| id.clone()).collect();
        waited.sort();
        let mut events = Vec::new();
        for id in waited {
            let Some(stranger) = self.strangers.get(&id) else { continue };
            let workflow_id = stranger.workflow_id.clone();
            let Some(definition) = self.definitions.latest(&workflow_id) else {
                if now - stranger.since >= 60 * PATIENCE
                    && let Some(gone) = self.strangers.remove(&id)
                {
                    self.waiting_bytes -= gone.bytes;
                    self.let_go.messages += gone.said.len() as u64;
                }
                continue;
            };
            let beginning = Beginning {
                definition,
                cluster: self.cluster.clone(),
                joined_late: true,
                passes_trigger: true,
            };
            let start = Start { node: None, frames: &[], context: None };
            let mut execution = Execution::begin(beginning, id.clone(), workflow_id, &start, stranger.since);
            execution.guess = Some(Guess::Adopted);
            events.extend(self.keep(execution, now));
            events.extend(self.introduce(&id));
        }
        events
    }

    /// Follows an execution from now on. What it begins with, and what is let go for it.
    fn keep(&mut self, mut execution: Execution, now: Millis) -> Vec<Event> {
        let mut events = self.make_room(now);
        events.extend(execution.take_events());
        self.places += execution.size();
        self.executions.insert(execution.id.clone(), execution);
        events
    }

    /// Makes room before it is needed: what has ended goes first, then what was not heard of for longest. What has not
    /// ended is told to be followed no more, so that nobody waits for its end.
    fn make_room(&mut self, now: Millis) -> Vec<Event> {
        if self.executions.len() < self.bounds.executions && self.places < self.bounds.places {
            return Vec::new();
        }
        let age = |execution: &Execution| (!execution.ended, execution.heard_at, execution.id.clone());
        let mut by_age: Vec<(bool, Millis, ExecutionId)> = self.executions.values().map(age).collect();
        by_age.sort();
        let mut events = Vec::new();
        for (_, _, id) in by_age.into_iter().take(self.executions.len().div_ceil(10)) {
            if let Some(mut gone) = self.executions.remove(&id) {
                self.places -= gone.size();
                self.let_go.executions += 1;
                self.let_go.unfinished += u64::from(!gone.ended);
                self.let_go.places += gone.let_go + gone.tracks.len() as u64;
                gone.give_up(now, "it is not followed any more: there were too many executions at once");
                events.extend(gone.take_events());
            }
            self.gone.insert(id.clone());
            self.gone_by_age.push_back(id);
        }
        while self.gone_by_age.len() > GONE {
            if let Some(oldest) = self.gone_by_age.pop_front() {
                self.gone.remove(&oldest);
            }
        }
        events
    }
}

impl Rune {
    /// Behind what was not told yet.
    fn news(&mut self, events: Vec<Event>) -> News {
        self.untold.extend(events);
        News { events: std::mem::take(&mut self.untold) }
    }

    /// What Redis has told about executions.
    fn learn(&mut self, looked: Looked, now: Millis) -> Vec<Event> {
        let mut events = Vec::new();
        for join in &looked.gone {
            events.extend(self.leave_late(join, now));
        }
        for late in looked.late {
            events.extend(self.begin_late(&late, now));
        }
        for payload in std::mem::take(&mut self.redis.timers.frozen) {
            let Ok(Said::Work(work)) = wire::read("workflow.resume", &payload) else { continue };
            // What rests since before we came is known by what it rests with.
            let known = self.executions.get(work.execution_id.as_str());
            if known.is_none_or(|execution| execution.guess.is_some()) {
                events.extend(self.hear_work(&work, now, false));
            }
        }
        let is_news = |(_, timer): &(&String, &Timer)| {
            self.executions.get(&timer.execution_id).is_some_and(|execution| execution.rests_unheard(timer))
        };
        let resting = self.redis.timers.resting(now).filter(is_news);
        let resting: Vec<(String, Timer)> = resting.map(|(id, timer)| (id.clone(), timer.clone())).collect();
        for (id, timer) in resting {
            let rests =
                self.tell_of(&timer.execution_id, |execution| execution.rest_unheard(&id, &timer, now));
            events.extend(rests.unwrap_or_default());
        }
        events
    }
}

impl Dialect for Rune {
    fn hear(&mut self, heard: &Heard) -> News {
        self.heard_until = self.heard_until.max(heard.at);
        let events = match wire::read(&heard.routing_key, &heard.body) {
            Ok(Said::Work(work)) => {
                let is_first = heard.routing_key == "workflow.worker.initiated" && !work.is_worker_initiated;
                // Only a worker sends it.
                self.hands.moved(0, heard.at);
                self.hear_work(&work, heard.at, is_first)
            }
            Ok(Said::Status(mut status)) => {
                let id = std::mem::take(&mut status.execution_id);
                let workflow = std::mem::take(&mut status.workflow_id);
                self.hear_of(&id, &workflow, Owned::Status(status), heard)
            }
            Ok(Said::Completion(mut completion)) => {
                let id = std::mem::take(&mut completion.execution_id);
                let workflow = std::mem::take(&mut completion.workflow_id);
                self.hear_of(&id, &workflow, Owned::Completion(completion), heard)
            }
            Ok(Said::Nothing) => Vec::new(),
            Err(wire::Unreadable) => {
                self.let_go.unreadable += 1;
                Vec::new()
            }
        };
        self.news(events)
    }

    async fn look(&mut self, reader: &Reader, now: Millis) -> Result<News, ObserverError> {
        self.look_at_hands(now);
        let mut events = self.make_room(now);
        events.extend(self.adopt_strangers(now));
        for execution in self.executions.values_mut() {
            execution.wake(now);
            events.extend(execution.take_events());
        }
        self.places = self.executions.values().map(Execution::size).sum();
        events.extend(self.compare_late(now));
        self.untold.extend(events);
        let wanted = self.waiting_joins();
        let room = self.room_for_late();
        let (followed, strangers, gone) = (&self.executions, &self.strangers, &self.gone);
        let known = Known {
            is_followed: |id: &str| followed.contains_key(id),
            is_passed: |id: &str| strangers.contains_key(id) || gone.contains(id),
            room,
        };
        let mut looked = Looked::default();
        let came = self.redis.look(reader, now, &wanted, known, &mut looked).await;
        self.unlisted = if room == 0 { self.redis.strangers.waiting() } else { 0 };
        let events = self.learn(looked, now);
        self.untold.extend(events);
        came?;
        self.note_look(reader.database, &wanted, now);
        match self.redis.refused.take() {
            Some(refused) if self.untold.is_empty() => Err(refused),
            Some(_) | None => Ok(self.news(Vec::new())),
        }
    }

    fn findings(&self, now: Millis) -> Vec<Finding> {
        let is_recent = |execution: &&Execution| !execution.ended || now - execution.heard_at < RECENT;
        let recent = self.executions.values().filter(is_recent);
        // While nothing is heard nothing grows old: it may have gone on unheard.
        let now = now.min(self.deaf_since.unwrap_or(now));
        let mut findings: Vec<Finding> =
            recent.flat_map(|execution| self.findings_of(execution, now)).collect();
        findings.extend(self.findings_of_timers());
        findings.extend(self.queues.findings(|name| WORKED.contains(&name), now));
        crate::stuck::sort(&mut findings);
        findings
    }

    fn trouble(&self, databases: &[Database]) -> Option<Problem> {
        self.trouble_of_place(databases)
    }

    fn barrier(&self, execution: &ExecutionId, node: &NodeId) -> Option<BarrierView> {
        let execution = self.executions.get(execution)?;
        let silent_before = self.silent_before(self.heard_until.max(self.asked_at));
        barrier::view(execution, execution.graph.node(node.as_str())?, &self.redis, silent_before)
    }

    fn timers(&self) -> Vec<TimerView> {
        let mut timers = self.redis.timers.views(|timer| self.key_of(timer));
        timers.iter_mut().for_each(|timer| timer.due += self.skew);
        timers
    }

    fn asks_for(&self) -> Vec<String> {
        QUEUES.map(str::to_owned).to_vec()
    }

    fn found(&mut self, keys: &[String]) {
        self.redis.come_by(keys);
        self.place.come_by(keys);
    }

    fn found_all(&mut self) {
        self.redis.come_round();
        self.compare_with_walk();
    }

    fn queues(&mut self, queues: &[QueueView], now: Millis) {
        self.queues.note(queues.iter().cloned(), now);
        self.asked_at = now;
        self.hands.mark(self.queues.get(facts::QUEUE).map(|queue| queue.messages), self.begun, now);
        self.look_at_hands(now);
    }

    fn listening(&mut self, since: Option<Millis>) {
        self.listening_since = since;
        if since.is_some() {
            (self.heard_until, self.deaf_since) = (self.heard_until.max(self.asked_at), None);
        } else {
            self.deaf_since.get_or_insert(self.heard_until);
        }
    }

    /// Everything that goes on may have lost something.
    fn missed(&mut self, gap: &Gap, now: Millis) -> News {
        let mut events = Vec::new();
        for execution in self.executions.values_mut().filter(|execution| !execution.ended) {
            execution.miss(gap, now);
            events.extend(execution.take_events());
        }
        self.news(events)
    }

    fn passed_over(&self) -> u64 {
        self.let_go.unfinished + self.unlisted
    }

    fn redelivered(&self) -> u64 {
        self.redelivered
    }

    /// Its queues have no dead-letter exchange: what a worker refuses is gone.
    fn dead_letters(&self) -> Option<u64> {
        None
    }

    fn unseen(&self) -> u64 {
        self.let_go.messages
    }

    fn unread(&self) -> u64 {
        self.let_go.unreadable
    }
}
