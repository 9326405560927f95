//! Failures that do not say which item they are of: the cluster leaves that out. They are placed where only one item can
//! be meant, by the message that follows, or by the item in the context of a halt; else they are told without a place,
//! with those that may be meant.

use protocol::{Consequence, Echo, Fact, Firing, Lineage, MessageId, Millis, NodeError, NodeFailed, Payload};
use serde_json::{Value, json};

use super::{
    execution::{Execution, KEPT, look_of},
    graph::Role,
    outputs::{duration, is_creation},
    track::Turn,
    wire::{Nanos, Status, WireFrame, Word},
};

/// How long a failure may wait for a sign of whose it is.
pub const PATIENCE: Millis = 2_000;
/// Open places of a node among which the one of a failure is looked for.
const LOOKED_THROUGH: usize = 256;

pub struct Unplaced {
    node: usize,
    at: Nanos,
    heard: Millis,
    duration: Millis,
    error: NodeError,
    is_creation: bool,
}

impl Unplaced {
    fn copy(&self) -> Self {
        Self { error: self.error.clone(), ..*self }
    }
}

impl Execution {
    /// A failure that does not say which item it is of.
    pub(super) fn fail_somewhere(&mut self, node: usize, at: Nanos, heard: Millis, status: &Status) {
        if self.unplaced.iter().any(|known| known.node == node && known.at == at) {
            return;
        }
        if self.unplaced.len() >= KEPT {
            self.place_failures(heard + PATIENCE);
        }
        let error = self.error(node, status.error.clone());
        let is_creation = is_creation(status.error.as_ref());
        self.unplaced.push(Unplaced { node, at, heard, duration: duration(status), error, is_creation });
    }

    /// Failures that can only be of one item, and those that nobody can place any more.
    pub(super) fn place_failures(&mut self, now: Millis) {
        if self.unplaced.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.unplaced);
        waiting.sort_by_key(|failure| failure.at);
        for (place, failure) in waiting.iter().enumerate() {
            let others = waiting[place + 1..].iter().filter(|other| other.node == failure.node).count();
            // As many failures as there are places: it does not matter which is whose. Where more are open there may
            // be very many, which are not gone through for every message.
            let meant: Vec<Lineage> = match self.open.get(&failure.node) {
                Some(open) if open.len() <= LOOKED_THROUGH => self.meant(failure).take(2 + others).collect(),
                Some(_) | None => Vec::new(),
            };
            match meant.first() {
                Some(lineage) if meant.len() <= 1 + others => {
                    let lineage = lineage.clone();
                    self.fail_at(failure, lineage);
                }
                _ if now - failure.heard >= PATIENCE => {
                    let meant: Vec<Lineage> = self.meant(failure).take(LOOKED_THROUGH).collect();
                    self.fail_nowhere(failure, &meant);
                }
                _ => self.unplaced.push(failure.copy()),
            }
        }
    }

    /// Where a failure can have happened.
    fn meant(&self, failure: &Unplaced) -> impl Iterator<Item = Lineage> {
        let open = self.open.get(&failure.node).into_iter().flatten();
        let (node, at) = (failure.node, failure.at);
        let begun = move |lineage: &&Lineage| {
            let track = self.tracks.get(&(node, (*lineage).clone()));
            track.and_then(|track| track.open).is_some_and(|open| open.began <= at)
        };
        open.filter(begun).cloned()
    }

    pub(super) fn fail_at(&mut self, failure: &Unplaced, reached: Lineage) {
        let spot = (failure.node, reached);
        let turn = self.track(&spot).end(Word::Failed, failure.at);
        self.mark_closed(&spot);
        let (Turn::Ends { visit, attempt } | Turn::Begins { visit, attempt }) = turn else { return };
        let is_join = self.graph.nodes[failure.node].role.is_join();
        let lineage = self.graph.fires_at(failure.node, &spot.1);
        if matches!(self.graph.nodes[failure.node].role, Role::MergeAll | Role::MergeAny) {
            let spot = (failure.node, lineage.clone());
            let join = self.joins.entry(spot.clone()).or_default();
            (join.ended, join.failed) = (join.ended + 1, join.failed + 1);
            self.note_join(&spot);
        }
        let visit = if is_join { visit + 1_000_000 } else { visit };
        let firing = self.firing(failure.node, lineage, visit, attempt);
        if is_join {
            self.start(firing.clone(), failure.at.millis() - failure.duration, None, None);
        }
        let (at, error) = (failure.at, failure.error.clone());
        self.fail(firing, failure.node, at, failure.duration, error, failure.is_creation);
    }

    /// It is told at once, with those that may be meant, and again where it happened once that is known.
    pub(super) fn fail_nowhere(&mut self, failure: &Unplaced, meant: &[Lineage]) {
        let depth = meant.iter().map(|lineage| lineage.steps().len()).min().unwrap_or(0);
        let shared = |depth: usize| {
            let first = meant.first().map(|lineage| lineage.prefix(depth));
            meant.iter().all(|lineage| Some(lineage.prefix(depth)) == first)
        };
        let depth = (0..depth).rev().find(|&depth| shared(depth)).unwrap_or(0);
        let lineage = meant.first().map_or_else(Lineage::default, |lineage| lineage.prefix(depth));
        let named: Vec<String> = meant.iter().take(20).map(|lineage| lineage.key().to_string()).collect();
        let id = format!("nowhere {} {}", self.seq, lineage.key());
        let message_id = MessageId::fire(&self.id, &self.graph.nodes[failure.node].id, 0, &id);
        let node_id = self.graph.nodes[failure.node].id.clone();
        let firing = Firing { message_id, node_id, lineage, attempt: 1 };
        let why = "the cluster does not say which item failed";
        let error = explained(failure, json!({"unplaced": why, "one_of": named}));
        let taken = self.graph.taken_after_failure(failure.node).filter(|_| !failure.is_creation);
        let consequence = if taken.is_some() { Consequence::GoOn } else { Consequence::Halt };
        if consequence == Consequence::Halt {
            self.halted_by.get_or_insert_with(|| error.clone());
        }
        // Which message follows is not known either, so none is waited for.
        let taken = taken.into_iter().flatten().map(|edge| self.graph.edges[edge].id.clone()).collect();
        let (duration, echo) = (failure.duration, Echo::default());
        let fact = NodeFailed { firing, duration, error, taken, consequence, echo };
        self.tell(failure.at.millis(), Fact::NodeFailed(fact));
        let debts = self.debts.entry(failure.node).or_default();
        if debts.len() >= KEPT {
            debts.remove(0);
        }
        debts.push(failure.copy());
    }

    /// A failure that was told without a place has happened here.
    fn pay_debt(&mut self, failure: Unplaced, lineage: Lineage) {
        let error = explained(&failure, json!({"was_unplaced": true}));
        self.fail_at(&Unplaced { error, ..failure }, lineage);
    }

    /// A message that leaves a node which has not succeeded there tells where it has failed.
    pub(super) fn place_by_message(&mut self, from: usize, frames: &[WireFrame]) {
        let lineage = self.graph.lineage(from, frames);
        let track = self.tracks.get(&(from, lineage.clone()));
        let Some(began) = track.and_then(|track| track.open).map(|open| open.began) else { return };
        let is_meant = |failure: &Unplaced| failure.node == from && began <= failure.at;
        if let Some(place) = self.unplaced.iter().position(is_meant) {
            let failure = self.unplaced.remove(place);
            self.fail_at(&failure, lineage);
        } else if let Some(debts) = self.debts.get_mut(&from)
            && let Some(place) = debts.iter().position(is_meant)
        {
            let failure = debts.remove(place);
            self.pay_debt(failure, lineage);
        }
    }

    /// The context of a halt is that of the item which failed: its `$item` may tell which.
    pub(super) fn place_by_context(&mut self, context: Option<Payload>) {
        // A halt follows its failure at once. Where there is none, nobody needs the context, which may be large.
        let (Some(failure), Some(context)) = (self.unplaced.last(), context) else { return };
        let context = self.secrets.cleaned(context);
        let Some(look) = context.value().get("$item").map(look_of) else { return };
        let is_it = |lineage: &Lineage| {
            let step = lineage.steps().last()?;
            let split = self.graph.node(step.split.as_str())?;
            let fan_out = self.fan_outs.get(&(split, lineage.parent()))?;
            fan_out.looks.get(step.index as usize).map(|known| *known == look)
        };
        let meant: Vec<Lineage> =
            self.meant(failure).filter(|lineage| is_it(lineage) == Some(true)).take(2).collect();
        if let [lineage] = &meant[..]
            && let Some(failure) = self.unplaced.pop()
        {
            self.fail_at(&failure, lineage.clone());
        }
    }

    /// Once no more places of a node are open than failures were told without one, these are they. What has begun since
    /// is not meant.
    pub(super) fn pay_debts(&mut self) {
        if self.debts.is_empty() {
            return;
        }
        for (node, mut debts) in std::mem::take(&mut self.debts) {
            let is_few = self.open.get(&node).is_some_and(|open| open.len() <= LOOKED_THROUGH);
            debts.sort_by_key(|failure| failure.at);
            let meant: Vec<Lineage> = match debts.last() {
                Some(last) if is_few => self.meant(last).take(debts.len() + 1).collect(),
                Some(_) | None => Vec::new(),
            };
            if meant.len() <= debts.len() {
                // The latest first: what has begun late can only be meant by them.
                let paid = debts.split_off(debts.len() - meant.len());
                let began = |lineage: Lineage| Some((self.began(node, &lineage)?, lineage));
                let mut meant: Vec<(Nanos, Lineage)> = meant.into_iter().filter_map(began).collect();
                meant.sort();
                for (failure, (began, lineage)) in paid.into_iter().zip(meant) {
                    match began <= failure.at {
                        true => self.pay_debt(failure, lineage),
                        false => debts.push(failure),
                    }
                }
            }
            if !debts.is_empty() {
                self.debts.insert(node, debts);
            }
        }
    }

    fn began(&self, node: usize, lineage: &Lineage) -> Option<Nanos> {
        let track = self.tracks.get(&(node, lineage.clone()))?;
        Some(track.open?.began)
    }
}

/// The error with something more in its details.
fn explained(failure: &Unplaced, mut more: Value) -> NodeError {
    let mut error = failure.error.clone();
    more["details"] = error.details.take().map_or(Value::Null, |details| *details);
    error.details = Some(Box::new(more));
    error
}
