//! The timers that there must be, kept beside the ledger: who rests and which join waits, and until when. None fires
//! early, each fires once, and none is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use engine::Plan;
use protocol::{Arrival, MessageId, Millis, NodeId, TimedOut};
use recording::Ledger;

use super::{Failure, Kind, fail};

/// A join by its node and its key.
type Join = (NodeId, String);

pub struct Timers {
    rests: BTreeMap<MessageId, Millis>,
    rested: BTreeSet<MessageId>,
    /// Attempts that are to be repeated, and not before when.
    retries: BTreeMap<MessageId, Millis>,
    /// How long each kind of join waits.
    patience: BTreeMap<NodeId, Millis>,
    waiting: BTreeMap<Join, Millis>,
    over: BTreeSet<Join>,
}

type Step = Result<(), Failure>;

impl Timers {
    pub fn new(plan: &Plan) -> Self {
        // A timeout is written in seconds; 0 is for ever.
        let patience = |node: &engine::PlannedNode| {
            let seconds = node.source.parameters.get("timeout")?.as_f64().filter(|seconds| *seconds > 0.0)?;
            Some((node.id.clone(), (seconds * 1_000.0) as Millis))
        };
        Self {
            rests: BTreeMap::new(),
            rested: BTreeSet::new(),
            retries: BTreeMap::new(),
            patience: plan.nodes.iter().filter_map(patience).collect(),
            waiting: BTreeMap::new(),
            over: BTreeSet::new(),
        }
    }

    pub fn rest(&mut self, message: &MessageId, due: Millis) -> Step {
        let again = self.rests.insert(message.clone(), due).is_some() || self.rested.contains(message);
        if again { fail(Kind::Timer, format!("{message} rests again")) } else { Ok(()) }
    }

    /// An attempt came to nothing; the next one is not to begin before `due`.
    pub fn retry(&mut self, message: &MessageId, due: Millis) {
        self.retries.insert(message.clone(), due);
    }

    /// An attempt begins.
    pub fn attempt(&mut self, message: &MessageId, now: Millis) -> Step {
        match self.retries.remove(message).is_some_and(|due| now < due) {
            true => fail(Kind::Timer, format!("{message} is tried again at {now}, too early")),
            false => Ok(()),
        }
    }

    /// A message is about to be committed.
    pub fn finish(&mut self, message: &MessageId, now: Millis) -> Step {
        let Some(due) = self.rests.remove(message) else { return Ok(()) };
        self.rested.insert(message.clone());
        match now < due {
            true => fail(Kind::Timer, format!("{message} is woken at {now}, before {due}")),
            false => Ok(()),
        }
    }

    /// Joins have heard of something: the first thing sets the timer, the last one takes it away.
    pub fn hear(&mut self, ledger: &Ledger, heard: &[Arrival], now: Millis) {
        for arrival in heard {
            let Some(patience) = self.patience.get(&arrival.node_id) else { continue };
            let key = arrival.lineage.key();
            let id = MessageId::fire(&"storm".into(), &arrival.node_id, 0, key.as_str());
            let join = (arrival.node_id.clone(), key.as_str().to_owned());
            if arrival.arrived >= arrival.expected || ledger.get(&id).is_some() {
                self.waiting.remove(&join);
                self.over.insert(join);
            } else if !self.over.contains(&join) {
                self.waiting.entry(join).or_insert(now + patience);
            }
        }
    }

    pub fn give_up(&mut self, late: &TimedOut, now: Millis) -> Step {
        let join = (late.node_id.clone(), late.lineage.key().as_str().to_owned());
        let due = self.waiting.remove(&join);
        self.over.insert(join);
        match due.is_some_and(|due| due <= now) {
            true => Ok(()),
            false => fail(Kind::Timer, format!("{} gives up at {now}, due {due:?}", late.node_id)),
        }
    }

    /// Everything that was due has been woken.
    pub fn nothing_overdue(&self, now: Millis) -> Step {
        match self.waiting.iter().find(|(_, due)| **due <= now) {
            Some((join, due)) => fail(Kind::Timer, format!("{join:?} was due at {due}, it is {now}")),
            None => Ok(()),
        }
    }

    pub fn nothing_left(&self) -> Step {
        match self.waiting.is_empty() && self.rests.is_empty() && self.retries.is_empty() {
            true => Ok(()),
            false => fail(Kind::Timer, format!("{:?} and {:?} are left", self.waiting, self.rests)),
        }
    }
}
