//! One execution of a Rune cluster: what was said of it becomes events of ours.
//!
//! It ends when a completion was heard **and** nothing of it is under way: every leaf there says that all is completed,
//! also while its siblings run, so a completion alone says little. Until then it goes on, and the detector tells of the
//! early end. What it ends as is the worst that was said, since a halt is not undone by a sibling that went well.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use protocol::{
    Consequence, Echo, ErrorCode, Event, ExecutionEnded, ExecutionId, ExecutionStatus, Fact, Firing, Gap,
    Lineage, MessageId, Millis, NodeError, NodeFailed, NodeParked, NodeStarted, NodeSucceeded, Payload,
};
use serde_json::{Value, json};

use super::{
    failures::{PATIENCE, Unplaced},
    graph::{Graph, Role},
    joins::Join,
    meanwhile::Going,
    outputs::{duration, is_creation, split_items},
    secrets::{Secrets, hide},
    sent::Queued,
    track::{Track, Turn},
    unsaid::Unsaid,
    wire::{Completion, End, Nanos, Status, Word, Work, object, sane},
};

/// Places of one execution of which something is remembered.
pub const TRACKS: usize = 200_000;
/// After so long without a word an end that was announced is taken for one.
const SILENCE: Millis = 600_000;
/// Clocks that differ by less are taken for the same.
pub(super) const SKEW: Millis = 5_000;
/// Completions, and durations of a node, that are kept one by one.
pub const KEPT: usize = 64;

/// How it is known what an execution is made of of which no message has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The only known workflow that has such joins.
    Workflow,
    /// Nothing but its joins, and what has reached them.
    Outline,
    /// Statuses of it were heard; the definition is the one that was last heard of its workflow.
    Adopted,
}

impl Guess {
    /// Nothing is known of it but what Redis has.
    pub fn is_late(self) -> bool {
        match self {
            Self::Workflow | Self::Outline => true,
            Self::Adopted => false,
        }
    }
}

/// A node and where it stands.
pub type Spot = (usize, Lineage);

pub struct Execution {
    pub id: ExecutionId,
    pub graph: Arc<Graph>,
    pub definition_hash: String,
    /// It had begun before we came.
    pub joined_late: bool,
    /// The end of the last time in which something of it may have gone by unseen.
    pub missed_until: Option<Millis>,
    /// Where no message has told what it is made of.
    pub guess: Option<Guess>,
    pub heard_at: Millis,
    pub tracks: HashMap<Spot, Track>,
    /// Places that have begun and are not over, by node.
    pub open: HashMap<usize, BTreeSet<Lineage>>,
    /// Messages under way to a place, that nobody has taken up.
    pub queued: HashMap<Spot, Queued>,
    pub joins: HashMap<Spot, Join>,
    /// Of these, those that wait, those that have opened short of something, and those that have opened with what was
    /// not heard.
    pub waiting: BTreeSet<Spot>,
    pub short: BTreeSet<Spot>,
    pub(super) unheard: BTreeSet<Spot>,
    pub fan_outs: HashMap<Spot, FanOut>,
    /// Items of all of these.
    pub(super) items: usize,
    pub completions: Completions,
    /// How long a node took, lately, inside of fan-outs.
    pub durations: HashMap<usize, Vec<Millis>>,
    pub ended: bool,
    /// How much our clock goes before that of the cluster, once something was heard that has a moment.
    pub skew: Option<Millis>,
    /// Statuses and places that were let go.
    pub let_go: u64,
    /// Nodes that were seen to begin again, and are not counted yet.
    pub redelivered: u64,
    pub(super) secrets: Secrets,
    pub(super) seq: u64,
    pub(super) last_at: Millis,
    /// Failures of which it is not known where they happened.
    pub(super) unplaced: Vec<Unplaced>,
    /// Failures that were told without a place, by node: so many of its open places are over.
    pub(super) debts: BTreeMap<usize, Vec<Unplaced>>,
    /// Places that have sent something on and were not heard to be over.
    pub(super) unsaid: HashMap<Spot, Unsaid>,
    pub(super) halted_by: Option<NodeError>,
    pub(super) told: Vec<Event>,
}

pub struct FanOut {
    pub total: u32,
    pub at: Nanos,
    /// The number of what was told last.
    pub told_as: u64,
    /// What its items look like, to know one when it comes again.
    pub(super) looks: Vec<u64>,
}

/// Two values that look the same are the same, as far as anybody has to know.
pub fn look_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

#[derive(Default)]
pub struct Completions {
    pub count: u32,
    pub said: Vec<(End, Nanos)>,
    /// What seemed to be under way when the first was heard.
    pub(super) meanwhile: Vec<Going>,
    /// Nodes that began behind the first, and others that ended behind it.
    pub begun_after: u32,
    pub ended_after: u32,
    pub first_at: Option<Nanos>,
    pub(super) first_heard: Option<Millis>,
    /// The end of the last time until the first in which something may have gone by unseen.
    pub(super) missed_until: Option<Millis>,
    worst: Option<End>,
}

impl Execution {
    /// When something was said, on our clock: what is told is compared with our own moment. It is decided once, so
    /// that copies of a message have the same moment.
    fn moment(&mut self, said: Option<&str>, heard: Millis) -> Nanos {
        let moment = Nanos::read(said, heard);
        let differs = heard - moment.millis();
        let skew = *self.skew.get_or_insert(if differs.abs() < SKEW { 0 } else { differs });
        if said.is_some() { moment.shifted(skew) } else { moment }
    }

    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.told)
    }

    /// Places of which something is kept in memory.
    pub fn size(&self) -> usize {
        self.tracks.len() + self.queued.len() + self.joins.len() + self.items / 16
    }

    pub fn position(&self) -> u64 {
        self.seq
    }

    /// Something that could still go on, or is waited for.
    pub fn is_under_way(&self) -> bool {
        let is_heard = |(node, _): &Spot| !self.graph.nodes[*node].is_mute();
        // What says nothing may be what has announced the end.
        let is_sent = self.completions.count == 0 || self.queued.keys().any(is_heard);
        (!self.queued.is_empty() && is_sent)
            || !self.unplaced.is_empty()
            || self.open.values().any(|places| !places.is_empty())
            || !self.waiting.is_empty()
    }

    /// What a join has heard has changed.
    pub(super) fn note_join(&mut self, spot: &Spot) {
        let is = self.joins.get_mut(spot).map_or([false; 3], |join| {
            join.heard_at = self.heard_at;
            [join.waits, join.short.is_some(), !join.unheard.is_empty()]
        });
        for (is_one, set) in is.into_iter().zip([&mut self.waiting, &mut self.short, &mut self.unheard]) {
            if !is_one {
                set.remove(spot);
            } else if !set.contains(spot) {
                set.insert(spot.clone());
            }
        }
    }

    /// A message to a node: somebody is to take it up. `begun` is how many nodes have begun in the whole cluster.
    pub fn hear_work(&mut self, work: &Work<'_>, heard: Millis, begun: u64) {
        self.heard_at = heard;
        let Some(node) = self.graph.node(&work.current_node) else {
            self.let_go += 1;
            return;
        };
        let reached = self.graph.lineage(node, &work.lineage_stack);
        let from = work.from_node.as_deref().and_then(|from| self.graph.node(from));
        if let Some(from) = from {
            self.place_by_message(from, &work.lineage_stack);
            self.rebuild_where_unknown(from, work, heard);
            self.end_mute(from, work, heard);
            self.note_sent(from, node, &reached);
        }
        self.note_gone_on(work, node, from, heard);
        self.note_message((node, reached), !work.is_worker_initiated, heard, begun);
    }

    pub fn hear_status(&mut self, mut status: Status, heard: Millis) {
        self.heard_at = heard;
        let node = self.graph.node(&status.node_id);
        let Some(node) = node.filter(|_| self.has_room()) else {
            self.let_go += 1;
            return;
        };
        status.parameters = status.parameters.map(|parameters| self.secrets.cleaned_parameters(parameters));
        status.output = status.output.map(|output| self.secrets.cleaned(output));
        status.used_inputs = status.used_inputs.map(|inputs| self.secrets.cleaned(inputs));
        let at = self.moment(status.executed_at.as_deref(), heard);
        let reached = self.graph.lineage(node, &status.lineage_stack);
        let is_placed = match &self.graph.nodes[node].scope {
            Some(scope) => status.lineage_stack.len() >= scope.len(),
            None => {
                let mut open = self.open.get(&node).into_iter().flatten();
                !status.lineage_stack.is_empty() || open.all(Lineage::is_root)
            }
        };
        self.note_gone_on_after(node, &reached, at, &status);
        let is_failure = status.status == Word::Failed;
        match self.graph.nodes[node].role {
            _ if is_failure && !is_placed => self.fail_somewhere(node, at, heard, &status),
            Role::Aggregator => self.hear_aggregator(node, reached, at, status),
            Role::MergeAll | Role::MergeAny => self.hear_merge(node, reached, at, status),
            Role::Split | Role::Wait | Role::Conditional(_) | Role::Switch(_) | Role::Plain => {
                self.hear_plain((node, reached), at, status);
            }
        }
        self.place_failures(heard);
        self.settle(heard);
    }

    pub fn hear_completion(&mut self, completion: Completion, heard: Millis) {
        self.heard_at = heard;
        let at = self.moment(completion.completed_at.as_deref(), heard);
        let said = (completion.status, at);
        if self.completions.said.contains(&said) {
            return;
        }
        self.note_completed(completion.final_context.as_ref(), heard);
        // A sibling that went well says nothing of what failed.
        if completion.status == End::Completed {
            self.place_failures(heard);
        } else {
            self.place_by_context(completion.final_context.clone());
            self.place_failures(heard + PATIENCE);
        }
        if self.completions.count == 0 {
            self.note_first_end(&completion, at, heard);
        }
        let completions = &mut self.completions;
        completions.count += 1;
        completions.worst = completions.worst.max(Some(completion.status));
        if completions.said.len() < KEPT {
            completions.said.push(said);
        }
        self.settle(heard);
    }

    /// Time has passed: what waited for a sign waits no longer. An execution that was said to be over, and of which
    /// nothing was heard for long, is over, unless something of it rests or waits: a message of it was not heard.
    pub fn wake(&mut self, now: Millis) {
        self.place_failures(now);
        self.end_unsaid(now);
        self.end_gathered(now);
        let is_silent = self.completions.count > 0 && now - self.heard_at >= SILENCE;
        if is_silent && !self.ended && !self.is_held_up() {
            self.let_go += self.queued.len() as u64;
            self.queued.clear();
            self.open.clear();
            self.tracks.values_mut().for_each(|track| track.open = None);
        }
        self.settle(now);
    }

    /// Something went by unseen.
    pub fn miss(&mut self, gap: &Gap, now: Millis) {
        self.missed_until = self.missed_until.max(Some(gap.until.unwrap_or(now)));
        self.completions.miss(gap, now);
        self.tell(now, Fact::Missed(gap.clone()));
    }

    /// Not everything of it was heard, or kept.
    pub fn is_patchy(&self) -> bool {
        self.joined_late || self.missed_until.is_some() || self.let_go > 0
    }

    /// Something may have gone by unseen since a moment.
    pub fn missed_since(&self, moment: Millis) -> bool {
        self.missed_until.is_some_and(|until| until >= moment) || self.let_go > 0
    }

    /// Nobody follows it any more.
    pub fn give_up(&mut self, now: Millis, message: &str) {
        if !self.ended {
            self.ended = true;
            let error = Some(NodeError::new(ErrorCode::NotObserved, message.to_owned()));
            self.tell(now, Fact::ExecutionEnded(ExecutionEnded { status: ExecutionStatus::Halted, error }));
        }
    }

    /// Something rests until a moment, or waits for others.
    fn is_held_up(&self) -> bool {
        let rests = |(node, places): (&usize, &BTreeSet<Lineage>)| {
            places.iter().any(|lineage| {
                let track = self.tracks.get(&(*node, lineage.clone()));
                track.and_then(|track| track.open).is_some_and(|open| open.due.is_some())
            })
        };
        !self.waiting.is_empty() || self.open.iter().any(rests)
    }

    pub(super) fn hear_plain(&mut self, spot: Spot, at: Nanos, status: Status) {
        match status.status {
            Word::Running => {
                let turn = self.take_up(&spot, |track, is_sent| track.run(at, is_sent));
                if let Turn::Begins { visit, attempt } = turn {
                    let is_again = self.graph.nodes[spot.0].begins_once && (visit > 1 || attempt > 1);
                    self.redelivered += u64::from(is_again);
                    self.mark_open(&spot);
                    let firing = self.firing(spot.0, spot.1, visit, attempt);
                    self.start(firing, at.millis(), status.parameters, status.used_inputs);
                }
            }
            Word::Waiting => self.rest(&spot, at, status),
            Word::Success | Word::Failed => self.end_plain(spot, at, status),
            Word::Unknown => self.let_go += 1,
        }
    }

    pub(super) fn rest(&mut self, spot: &Spot, at: Nanos, status: Status) {
        let due = object(status.output.as_ref()).and_then(|output| output.get("resume_at"));
        let due = due.and_then(Value::as_i64).map(|due| sane(due) + self.skew.unwrap_or_default());
        let due = due.unwrap_or_else(|| at.millis());
        let Some((turn, open)) = self.take_up(spot, |track, _| track.rest(at, due)) else { return };
        self.mark_open(spot);
        let firing = self.firing(spot.0, spot.1.clone(), open.visit, open.attempt);
        if turn != Turn::Old {
            self.start(firing.clone(), at.millis(), status.parameters, status.used_inputs);
        }
        self.tell(at.millis(), Fact::NodeParked(NodeParked { firing, due }));
    }

    pub(super) fn end_plain(&mut self, spot: Spot, at: Nanos, status: Status) {
        let turn = self.take_up(&spot, |track, _| track.end(status.status, at));
        self.mark_closed(&spot);
        let duration = duration(&status);
        let (visit, attempt) = match turn {
            Turn::Ends { visit, attempt } => (visit, attempt),
            Turn::EndsUnbegun { visit } => {
                let firing = self.firing(spot.0, spot.1.clone(), visit, 1);
                self.start(firing, at.millis() - duration, status.parameters, status.used_inputs);
                (visit, 1)
            }
            Turn::Old | Turn::Begins { .. } => return,
        };
        if !spot.1.is_root() {
            let known = self.durations.entry(spot.0).or_default();
            if known.len() >= KEPT {
                known.remove(0);
            }
            known.push(duration);
        }
        let firing = self.firing(spot.0, spot.1, visit, attempt);
        match status.status {
            Word::Failed => {
                let is_creation = is_creation(status.error.as_ref());
                let error = self.error(spot.0, status.error);
                self.fail(firing, spot.0, at, duration, error, is_creation);
            }
            _ => self.succeed(firing, spot.0, at, duration, status.output, true),
        }
    }

    pub(super) fn succeed(
        &mut self,
        firing: Firing,
        node: usize,
        at: Nanos,
        duration: Millis,
        output: Option<Payload>,
        follows: bool,
    ) {
        let taken = self.graph.taken(node, output.as_ref());
        let lineage = firing.lineage.clone();
        let (output, items, taken) = match (&self.graph.nodes[node].role, output) {
            (Role::Split, output) => {
                let items = output.as_ref().and_then(split_items).unwrap_or_else(|| json!([]).into());
                let total = items.value().as_array().map_or(0, Vec::len);
                // Nothing runs behind an empty array, not even what stands behind the aggregator.
                let taken = if total == 0 { Vec::new() } else { taken };
                (json!({"count": total}).into(), Some(items), taken)
            }
            (Role::Aggregator, Some(output)) => (self.decoded(&output), None, taken),
            (_, output) => (output.unwrap_or_else(|| json!({}).into()), None, taken),
        };
        let edges = taken.iter().map(|&edge| self.graph.edges[edge].id.clone()).collect();
        let done = NodeSucceeded {
            firing,
            duration,
            output,
            items: items.clone(),
            taken: edges,
            echo: Echo::default(),
        };
        self.tell(at.millis(), Fact::NodeSucceeded(done));
        match items {
            Some(items) => self.spread(node, &lineage, &items, &taken, at, follows),
            None if follows => self.follow(&taken, &lineage, at),
            None => {}
        }
    }

    pub(super) fn spread(
        &mut self,
        node: usize,
        lineage: &Lineage,
        items: &Payload,
        taken: &[usize],
        at: Nanos,
        follows: bool,
    ) {
        let looks: Vec<u64> = items.value().as_array().into_iter().flatten().map(look_of).collect();
        let total = looks.len() as u32;
        self.items += looks.len();
        let before =
            self.fan_outs.insert((node, lineage.clone()), FanOut { total, at, told_as: self.seq, looks });
        self.items -= before.map_or(0, |before| before.looks.len());
        if !follows {
            return;
        }
        let messages = total as usize * taken.len();
        if messages > TRACKS {
            self.let_go += messages as u64;
            return;
        }
        let split = self.graph.nodes[node].id.clone();
        for index in 0..total {
            self.follow(taken, &lineage.push(&split, index, total), at);
        }
    }

    pub(super) fn fail(
        &mut self,
        firing: Firing,
        node: usize,
        at: Nanos,
        duration: Millis,
        error: NodeError,
        is_creation: bool,
    ) {
        let taken = self.graph.taken_after_failure(node).filter(|_| !is_creation);
        let consequence = if taken.is_some() { Consequence::GoOn } else { Consequence::Halt };
        if consequence == Consequence::Halt {
            self.halted_by.get_or_insert_with(|| error.clone());
        }
        let taken = taken.unwrap_or_default();
        let lineage = firing.lineage.clone();
        let edges = taken.iter().map(|&edge| self.graph.edges[edge].id.clone()).collect();
        let fact = NodeFailed { firing, duration, error, taken: edges, consequence, echo: Echo::default() };
        self.tell(at.millis(), Fact::NodeFailed(fact));
        self.follow(&taken, &lineage, at);
    }

    pub(super) fn settle(&mut self, heard: Millis) {
        self.pay_debts();
        if self.ended || self.completions.count == 0 || self.is_under_way() {
            return;
        }
        self.ended = true;
        let worst = self.completions.worst.unwrap_or(End::Completed);
        let status = match worst {
            End::Failed => ExecutionStatus::Failed,
            End::Halted => ExecutionStatus::Halted,
            End::Completed if self.halted_by.is_some() => ExecutionStatus::Halted,
            End::Completed => ExecutionStatus::Completed,
        };
        let error = self.halted_by.clone().filter(|_| status != ExecutionStatus::Completed);
        let said = self.completions.said.iter().map(|(_, at)| at.millis()).max();
        self.tell(said.unwrap_or(heard), Fact::ExecutionEnded(ExecutionEnded { status, error }));
    }

    pub fn title_of(&self, node: usize) -> &str {
        let place = &self.graph.nodes[node];
        if place.name.is_empty() { place.id.as_str() } else { &place.name }
    }

    pub(super) fn start(
        &mut self,
        firing: Firing,
        at: Millis,
        parameters: Option<Payload>,
        input: Option<Payload>,
    ) {
        self.tell(at, Fact::NodeStarted(NodeStarted { firing, parameters, input }));
    }

    pub(super) fn firing(&self, node: usize, lineage: Lineage, visit: u32, attempt: u32) -> Firing {
        let node_id = self.graph.nodes[node].id.clone();
        let message_id = MessageId::fire(&self.id, &node_id, visit as usize, lineage.key().as_str());
        Firing { message_id, node_id, lineage, attempt }
    }

    pub(super) fn tell(&mut self, at: Millis, mut fact: Fact) {
        if self.secrets.are_too_many() {
            hide(&mut fact);
        }
        self.seq += 1;
        // Clocks of a cluster differ; a recording never goes back.
        self.last_at = self.last_at.max(at);
        self.told.push(Event { execution_id: self.id.clone(), seq: self.seq, at: self.last_at, fact });
    }

    /// Forgets places that are over once there are too many. Where most are not over nothing more is taken in: to go
    /// through all of them for every message would help nobody.
    fn has_room(&mut self) -> bool {
        if self.tracks.len() < TRACKS {
            return true;
        }
        let open: usize = self.open.values().map(BTreeSet::len).sum();
        if open > TRACKS / 2 {
            return false;
        }
        let before = self.tracks.len();
        self.tracks.retain(|_, track| track.open.is_some());
        self.let_go += (before - self.tracks.len()) as u64;
        self.tracks.len() < TRACKS
    }

    pub(super) fn track(&mut self, spot: &Spot) -> &mut Track {
        self.tracks.entry(spot.clone()).or_default()
    }

    pub(super) fn mark_open(&mut self, spot: &Spot) {
        self.open.entry(spot.0).or_default().insert(spot.1.clone());
    }

    pub(super) fn mark_closed(&mut self, spot: &Spot) {
        let is_open = self.tracks.get(spot).is_some_and(|track| track.open.is_some());
        if let Some(open) = self.open.get_mut(&spot.0).filter(|_| !is_open) {
            open.remove(&spot.1);
        }
    }
}
