//! What must have happened, because something came of it: a node that has sent a message on, or whose result is in what
//! the execution ends with, is over, although nobody has heard it say so. A worker that cannot publish a status goes on
//! without it.

use protocol::{ErrorPolicy, Lineage, Millis, Payload};
use serde_json::{Value, json};

use super::{
    execution::{Execution, Spot},
    graph::Role,
    joins::LATE,
    wire::{Status, WireError, WireFrame, Word, Work},
};

/// A place that has sent something on, and has not said that it is over.
pub struct Unsaid {
    heard: Millis,
    frames: Vec<WireFrame>,
    /// What stands under its name in what it has sent.
    output: Option<Value>,
}

impl Execution {
    /// A message tells that the node which it comes from is over. Its own word for that was said before; where it has
    /// not come it may come yet.
    pub(super) fn note_gone_on(&mut self, work: &Work<'_>, to: usize, from: Option<usize>, heard: Millis) {
        let Some(from) = from.or_else(|| self.wait_before(work, to)) else { return };
        let spot = (from, self.graph.lineage(from, &work.lineage_stack));
        if !self.is_unsaid(&spot) || self.unsaid.contains_key(&spot) {
            return;
        }
        let context: Option<Value> =
            work.accumulated_context.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let name = format!("${}", self.graph.nodes[from].name);
        let output = context.and_then(|mut context| context.get_mut(&name).map(Value::take));
        self.unsaid.insert(spot, Unsaid { heard, frames: work.lineage_stack.clone(), output });
    }

    /// What an execution ends with tells the same of everything that is in it, outside of fan-outs: which item it is of
    /// is not said.
    pub(super) fn note_completed(&mut self, context: Option<&Payload>, heard: Millis) {
        let Some(context) = context else { return };
        for node in 0..self.graph.nodes.len() {
            let spot = (node, Lineage::default());
            if !self.is_unsaid(&spot) {
                continue;
            }
            let name = format!("${}", self.graph.nodes[node].name);
            let is_there = context.text().contains(&name);
            if let Some(output) = is_there.then(|| context.value().get(&name).cloned()).flatten() {
                let unsaid = Unsaid { heard, frames: Vec::new(), output: Some(output) };
                self.unsaid.entry(spot).or_insert(unsaid);
            }
        }
    }

    /// Behind a wait nobody is said to have sent the message.
    fn wait_before(&self, work: &Work<'_>, to: usize) -> Option<usize> {
        let [edge] = self.graph.nodes[to].incoming[..] else { return None };
        let from = self.graph.edges[edge].from;
        let is_wait = matches!(self.graph.nodes[from].role, Role::Wait);
        (is_wait && work.is_worker_initiated && work.from_node.is_none()).then_some(from)
    }

    /// Somebody was sent there, or has begun there, and has never ended. In a circle a message may be of another time,
    /// so nothing is made of it.
    fn is_unsaid(&self, spot: &Spot) -> bool {
        let (place, track) = (&self.graph.nodes[spot.0], self.tracks.get(spot));
        let has_ended = match place.role.is_join() {
            true => {
                let fires = self.graph.fires_at(spot.0, &spot.1);
                self.joins.get(&(spot.0, fires)).is_some_and(|join| join.fired > 0)
            }
            false => track.is_some_and(|track| track.went_well.is_some()),
        };
        let is_open = self.queued.contains_key(spot) || track.is_some_and(|track| track.open.is_some());
        place.begins_once && !place.is_mute() && is_open && !has_ended
    }

    /// Nobody says it any more: then it is told as if somebody had.
    pub(super) fn end_unsaid(&mut self, now: Millis) {
        let old = self.unsaid.extract_if(|_, unsaid| now - unsaid.heard >= LATE);
        for (spot, unsaid) in old.collect::<Vec<_>>() {
            if self.is_unsaid(&spot) {
                self.say_unsaid(&spot, unsaid);
            }
        }
    }

    fn say_unsaid(&mut self, spot: &Spot, unsaid: Unsaid) {
        let place = &self.graph.nodes[spot.0];
        let goes_on = matches!(place.error, Some(ErrorPolicy::Ignore | ErrorPolicy::Branch { .. }));
        let has_failed = goes_on && unsaid.output.is_none() && !place.role.is_join();
        let output = match (&place.role, unsaid.output) {
            // That is how it says that it has opened.
            (Role::Aggregator, output) => output.or_else(|| Some(json!({"aggregated": null}))),
            (_, output) => output,
        };
        let word = if has_failed { Word::Failed } else { Word::Success };
        let mut status = Status::unheard(&place.id, word, output.map(Into::into), &unsaid.frames);
        if has_failed {
            let message = "the node failed, and why was not heard".to_owned();
            status.error = Some(WireError { message, ..WireError::default() });
        }
        // As early as it can have been: what came of it is later by any clock.
        let began = self.tracks.get(spot).and_then(|track| track.open).map(|open| open.began.millis());
        let sent = self.queued.get(spot).map(|queued| queued.since);
        let heard_at = self.heard_at;
        self.hear_status(status, began.or(sent).unwrap_or(unsaid.heard));
        self.heard_at = heard_at;
        // Everything has reached it, whether that was heard or not.
        if matches!(self.graph.nodes[spot.0].role, Role::MergeAll) {
            self.forget_way(spot.clone());
        }
    }
}
