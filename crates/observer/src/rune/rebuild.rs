//! What happened before we came, put together from what a message carries along: under the name of each node that came
//! before it stands what that node has made.

use protocol::{Fact, Millis, NodeStarted};
use serde_json::{Value, json};

use super::{
    execution::Execution,
    graph::Role,
    timers::Timer,
    track::Turn,
    wire::{Nanos, Status, WireFrame, Word, Work},
};

impl Execution {
    /// It rests by what Redis says, and nobody has heard of it. Where everything is heard it comes yet.
    pub(super) fn rests_unheard(&self, timer: &Timer) -> bool {
        let Some(node) = self.graph.node(timer.node_id.as_str()) else { return false };
        let lineage = self.graph.lineage(node, &timer.frames);
        let is_open = self.open.get(&node).is_some_and(|open| open.contains(&lineage));
        self.is_patchy() && !self.ended && !is_open
    }

    /// The same is told now.
    pub(super) fn rest_unheard(&mut self, id: &str, timer: &Timer, now: Millis) {
        let output = json!({"resume_at": timer.due, "timer_id": id}).into();
        let status = Status::unheard(&timer.node_id, Word::Waiting, Some(output), &timer.frames);
        // It began before its moment, whatever the clocks say: its end may be told a little before ours.
        let due = timer.due + self.skew.unwrap_or_default();
        let heard_at = self.heard_at;
        self.hear_status(status, now.min(due));
        self.heard_at = self.heard_at.max(heard_at);
    }

    /// Puts together what happened before we came from what a message carries along.
    pub fn rebuild(&mut self, work: &Work<'_>, context: &Value, heard: Millis) {
        let Some(node) = self.graph.node(&work.current_node) else { return };
        // The node itself is not over: what stands under its name was put there to wait with it.
        let before = self.graph.upstream(node).split_off(1);
        for node in before.into_iter().rev() {
            self.rebuild_node(node, &work.lineage_stack, context, heard);
        }
    }

    pub(super) fn rebuild_where_unknown(&mut self, from: usize, work: &Work<'_>, heard: Millis) {
        let spot = (from, self.graph.lineage(from, &work.lineage_stack));
        let is_join = self.graph.nodes[from].role.is_join();
        // Where all was heard, the status comes before the message, or comes yet.
        if !self.is_patchy() || is_join || self.tracks.get(&spot).is_some_and(|track| track.visits > 0) {
            return;
        }
        let context = work.accumulated_context.and_then(|raw| serde_json::from_str(raw.get()).ok());
        if let Some(context) = context {
            self.rebuild(work, &context, heard);
        }
    }

    /// What a node sends on that says nothing itself tells that it ran.
    pub(super) fn end_mute(&mut self, from: usize, work: &Work<'_>, heard: Millis) {
        let place = &self.graph.nodes[from];
        let spot = (from, self.graph.lineage(from, &work.lineage_stack));
        if !place.is_mute() || place.role.is_join() || self.queued.remove(&spot).is_none() {
            return;
        }
        let context: Option<Value> =
            work.accumulated_context.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let mut output = context.and_then(|mut context| context.get_mut("$").map(Value::take));
        if let Some(output) = &mut output {
            self.secrets.take_from(output);
        }
        let at = Nanos::read(None, heard);
        let Turn::EndsUnbegun { visit } = self.track(&spot).end_unheard(at) else { return };
        let firing = self.firing(from, spot.1, visit, 1);
        self.start(firing.clone(), heard, None, None);
        // What it has sent is heard by itself.
        self.succeed(firing, from, at, 0, output.map(Into::into), false);
    }

    pub(super) fn rebuild_node(&mut self, node: usize, frames: &[WireFrame], context: &Value, heard: Millis) {
        let key = format!("${}", self.graph.nodes[node].name);
        let Some(mut output) = context.get(&key).cloned() else { return };
        self.secrets.take_from(&mut output);
        let reached = self.graph.lineage(node, frames);
        let fires = self.graph.fires_at(node, &reached);
        let is_wait_going_on = matches!(self.graph.nodes[node].role, Role::Wait)
            && self.open.get(&node).is_some_and(|open| open.contains(&fires));
        let has_fired = self.joins.get(&(node, fires.clone())).is_some_and(|join| join.fired > 0);
        let known = self.tracks.entry((node, fires.clone())).or_default();
        if known.visits > 0 || is_wait_going_on || has_fired {
            return;
        }
        let at = Nanos::read(None, heard);
        let Turn::EndsUnbegun { visit } = known.end_unheard(at) else { return };
        if self.graph.nodes[node].begins_once {
            self.queued.remove(&(node, reached));
        }
        let firing = self.firing(node, fires, visit, 1);
        self.tell(
            heard,
            Fact::NodeStarted(NodeStarted { firing: firing.clone(), parameters: None, input: None }),
        );
        // What followed from it, and is over, was not heard either.
        self.succeed(firing, node, at, 0, Some(output.into()), false);
    }
}
