//! Clusters of the public Rune services, as they run today. What they put on the exchange and into Redis is told in our
//! events, their peculiarities included: names in place of ids, barriers that call waiting a success, failures that do
//! not say where, stacks that only grow, an end at every leaf, and credentials in every message.

mod arrivals;
mod barrier;
mod begin;
mod execution;
mod facts;
mod failures;
mod graph;
mod joins;
mod look;
mod rebuild;
mod secrets;
mod track;
mod wire;

use std::collections::{HashMap, HashSet, VecDeque};

use protocol::{
    BarrierView, ClusterDialect, Event, ExecutionId, Finding, Millis, NodeId, QueueView, TimerView,
    WorkflowId,
};
use serde_json::{Value, value::RawValue};

use crate::{Dialect, Heard, News, ObserverError, Reader};
use begin::{Beginning, Start};
use execution::Execution;
use look::Seen;
use secrets::Secrets;
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

/// Definitions of workflows that are kept for executions that were heard of in the middle.
const DEFINITIONS: usize = 100;
/// Bytes of messages that wait for a definition, and of a definition that is kept.
const WAITING_BYTES: usize = 32 * 1024 * 1024;
const DEFINITION_BYTES: usize = 1024 * 1024;
/// Names of executions that were let go, so that nobody begins them anew.
const GONE: usize = 50_000;
/// How long an execution without a definition waits for one before that of its workflow is taken.
const PATIENCE: Millis = 5_000;

/// What was wrong with an execution that has ended is told for so long; and so much is told at once.
const RECENT: Millis = 900_000;
const FINDINGS: usize = 500;

/// What was let go, because there was too much of it or nobody could read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetGo {
    pub unreadable: u64,
    pub executions: u64,
    /// Messages of executions that are not, or no longer, known.
    pub messages: u64,
    pub places: u64,
}

pub struct Rune {
    cluster: String,
    bounds: Bounds,
    executions: HashMap<ExecutionId, Execution>,
    strangers: HashMap<ExecutionId, Stranger>,
    /// Bytes of what was heard of them.
    waiting_bytes: usize,
    definitions: HashMap<WorkflowId, Value>,
    gone: HashSet<ExecutionId>,
    gone_by_age: VecDeque<ExecutionId>,
    let_go: LetGo,
    /// Nodes that have begun, over all executions.
    begun: u64,
    redis: Seen,
    /// How much our clock goes before that of the cluster, by what was heard last.
    skew: Millis,
    queues: Vec<QueueView>,
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
            strangers: HashMap::new(),
            waiting_bytes: 0,
            definitions: HashMap::new(),
            gone: HashSet::new(),
            gone_by_age: VecDeque::new(),
            let_go: LetGo::default(),
            begun: 0,
            redis: Seen::default(),
            skew: 0,
            queues: Vec::new(),
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
        if !self.executions.contains_key(&id) {
            events = self.begin(&id, work, heard, !is_first);
        }
        match self.executions.get_mut(&id) {
            Some(execution) => {
                execution.hear_work(work, heard, self.begun);
                events.extend(execution.take_events());
            }
            None => self.let_go.unreadable += 1,
        }
        events
    }

    fn begin(&mut self, id: &ExecutionId, work: &Work<'_>, heard: Millis, late: bool) -> Vec<Event> {
        let workflow_id = WorkflowId::from(work.workflow_id.as_str());
        let Some((definition, secrets)) = work.workflow_definition.and_then(read_definition) else {
            return Vec::new();
        };
        if work.workflow_definition.is_some_and(|raw| raw.get().len() <= DEFINITION_BYTES) {
            self.keep_definition(&workflow_id, &definition);
        }
        // A mirrored message that was delivered again comes when others have been heard.
        let joined_late = late || self.strangers.contains_key(id);
        let context: Option<Value> =
            work.accumulated_context.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let beginning = Beginning { definition, secrets, cluster: self.cluster.clone(), joined_late };
        let start =
            Start { node: Some(&work.current_node), frames: &work.lineage_stack, context: context.as_ref() };
        let begun = Execution::begin(beginning, id.clone(), workflow_id, &start, heard);
        let Some(mut execution) = begun else { return Vec::new() };
        let mut events = execution.take_events();
        self.keep(execution);
        events.extend(self.introduce(id));
        // Behind what was heard: it fills what was not.
        if let Some(execution) = self.executions.get_mut(id)
            && let Some(context) = context.as_ref().filter(|_| joined_late)
        {
            execution.rebuild(work, context, heard);
            events.extend(execution.take_events());
        }
        events
    }

    /// What was heard before the definition was.
    fn introduce(&mut self, id: &ExecutionId) -> Vec<Event> {
        let Some(execution) = self.executions.get_mut(id) else { return Vec::new() };
        let Some(stranger) = self.strangers.remove(id) else { return Vec::new() };
        self.waiting_bytes -= stranger.bytes;
        for (heard, said) in stranger.said {
            match said {
                Owned::Status(status) => execution.hear_status(*status, heard),
                Owned::Completion(completion) => execution.hear_completion(completion, heard),
            }
        }
        execution.take_events()
    }

    fn hear_of(&mut self, id: &str, workflow_id: &str, said: Owned, from: &Heard) -> Vec<Event> {
        let (heard, bytes) = (from.at, from.body.len());
        let id = ExecutionId::from(id);
        if let Some(execution) = self.executions.get_mut(&id) {
            match said {
                Owned::Status(status) => {
                    self.begun += u64::from(status.status == wire::Word::Running);
                    execution.hear_status(*status, heard);
                }
                Owned::Completion(completion) => execution.hear_completion(completion, heard),
            }
            self.skew = execution.skew.unwrap_or(self.skew);
            return execution.take_events();
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
            let Some(definition) = self.definitions.get(&workflow_id) else {
                if now - stranger.since >= 60 * PATIENCE
                    && let Some(gone) = self.strangers.remove(&id)
                {
                    self.waiting_bytes -= gone.bytes;
                    self.let_go.messages += gone.said.len() as u64;
                }
                continue;
            };
            let beginning = Beginning {
                definition: definition.clone(),
                secrets: Secrets::default(),
                cluster: self.cluster.clone(),
                joined_late: true,
            };
            let start = Start { node: None, frames: &[], context: None };
            let since = stranger.since;
            if let Some(mut execution) = Execution::begin(beginning, id.clone(), workflow_id, &start, since) {
                events.extend(execution.take_events());
                self.keep(execution);
                events.extend(self.introduce(&id));
            }
        }
        events
    }

    fn keep_definition(&mut self, workflow_id: &WorkflowId, definition: &Value) {
        if self.definitions.len() >= DEFINITIONS && !self.definitions.contains_key(workflow_id) {
            self.definitions.clear();
        }
        self.definitions.insert(workflow_id.clone(), definition.clone());
    }

    fn keep(&mut self, execution: Execution) {
        self.make_room();
        self.executions.insert(execution.id.clone(), execution);
    }

    /// Makes room before it is needed: what has ended goes first, then what was not heard of for longest.
    fn make_room(&mut self) {
        let places: usize = self.executions.values().map(Execution::size).sum();
        if self.executions.len() < self.bounds.executions && places < self.bounds.places {
            return;
        }
        let age = |execution: &Execution| (!execution.ended, execution.heard_at, execution.id.clone());
        let mut by_age: Vec<(bool, Millis, ExecutionId)> = self.executions.values().map(age).collect();
        by_age.sort();
        for (_, _, id) in by_age.into_iter().take(self.executions.len().div_ceil(10)) {
            if let Some(gone) = self.executions.remove(&id) {
                self.let_go.executions += 1;
                self.let_go.places += gone.let_go + gone.tracks.len() as u64;
            }
            self.gone.insert(id.clone());
            self.gone_by_age.push_back(id);
        }
        while self.gone_by_age.len() > GONE {
            if let Some(oldest) = self.gone_by_age.pop_front() {
                self.gone.remove(&oldest);
            }
        }
    }
}

impl Dialect for Rune {
    fn hear(&mut self, heard: &Heard) -> News {
        let events = match wire::read(&heard.routing_key, &heard.body) {
            Ok(Said::Work(work)) => {
                let is_first = heard.routing_key == "workflow.worker.initiated" && !work.is_worker_initiated;
                self.hear_work(&work, heard.at, is_first)
            }
            Ok(Said::Status(status)) => {
                let (id, workflow) = (status.execution_id.clone(), status.workflow_id.clone());
                self.hear_of(&id, &workflow, Owned::Status(status), heard)
            }
            Ok(Said::Completion(completion)) => {
                let (id, workflow) = (completion.execution_id.clone(), completion.workflow_id.clone());
                self.hear_of(&id, &workflow, Owned::Completion(completion), heard)
            }
            Ok(Said::Nothing) => Vec::new(),
            Err(wire::Unreadable) => {
                self.let_go.unreadable += 1;
                Vec::new()
            }
        };
        News { events }
    }

    async fn look(&mut self, reader: &Reader, now: Millis) -> Result<News, ObserverError> {
        self.make_room();
        let mut events = self.adopt_strangers(now);
        for execution in self.executions.values_mut() {
            execution.wake(now);
            events.extend(execution.take_events());
        }
        let wanted = self.waiting_joins();
        let known = &self.executions;
        let frozen = self.redis.look(reader, now, &wanted, |id| known.contains_key(id)).await?;
        for payload in frozen {
            let Ok(Said::Work(work)) = wire::read("workflow.resume", payload.as_bytes()) else { continue };
            // What rests since before we came is known by what it rests with.
            if !self.executions.contains_key(work.execution_id.as_str()) {
                events.extend(self.hear_work(&work, now, false));
                if let Some(execution) = self.executions.get_mut(work.execution_id.as_str()) {
                    execution.rest_since_before(&work, now);
                    events.extend(execution.take_events());
                }
            }
        }
        Ok(News { events })
    }

    fn findings(&self, now: Millis) -> Vec<Finding> {
        let is_recent = |execution: &&Execution| !execution.ended || now - execution.heard_at < RECENT;
        let recent = self.executions.values().filter(is_recent);
        let mut findings: Vec<Finding> =
            recent.flat_map(|execution| self.findings_of(execution, now)).collect();
        findings.extend(self.findings_of_timers(now));
        findings.extend(self.queues.iter().filter_map(|queue| crate::stuck::no_consumer(queue, now)));
        crate::stuck::sort(&mut findings);
        findings.truncate(FINDINGS);
        findings
    }

    fn barrier(&self, execution: &ExecutionId, node: &NodeId) -> Option<BarrierView> {
        let execution = self.executions.get(execution)?;
        barrier::view(execution, execution.graph.node(node.as_str())?, &self.redis)
    }

    fn timers(&self) -> Vec<TimerView> {
        let mut timers = self.redis.timers();
        timers.iter_mut().for_each(|timer| timer.due += self.skew);
        timers
    }

    fn queues(&mut self, queues: &[QueueView]) {
        self.queues = queues.to_vec();
    }

    fn passed_over(&self) -> u64 {
        self.let_go().executions
    }
}

/// A definition without its credentials, which are only kept to be recognised.
fn read_definition(raw: &RawValue) -> Option<(Value, Secrets)> {
    let mut definition: Value = serde_json::from_str(raw.get()).ok()?;
    let mut secrets = Secrets::default();
    secrets.take_from_definition(&mut definition);
    Some((definition, secrets))
}
