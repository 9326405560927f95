//! What the workers of a Rune cluster have in hand. Each takes ten messages at once and works on one, so nine wait where
//! no queue shows them: a message that nobody begins with may only wait for its turn.

use protocol::Millis;

use super::{Rune, execution::Execution, graph::Role};

/// Nobody goes from one message to the next that slowly.
const IDLE: Millis = 5_000;
/// How long it is remembered how long nodes took.
const REMEMBERED: Millis = 900_000;
/// Places that are looked through for the one that runs longest.
const LOOKED_THROUGH: usize = 10_000;

#[derive(Default)]
pub struct Hands {
    /// When something was seen to run, or to begin or end, last.
    busy_at: Millis,
    /// The last moment before which nothing had run for a while.
    idle_at: Option<Millis>,
    /// The longest that a node took, lately and before that, and since when that is lately.
    longest: [Millis; 2],
    lately_since: Millis,
    /// When what runs longest began.
    running_since: Option<Millis>,
}

impl Hands {
    /// Something has begun, or ended after so long.
    pub fn moved(&mut self, lasted: Millis, at: Millis) {
        self.busy_at = self.busy_at.max(at);
        if at - self.lately_since >= REMEMBERED {
            (self.longest, self.lately_since) = ([0, self.longest[0]], at);
        }
        self.longest[0] = self.longest[0].max(lasted);
    }

    fn note(&mut self, is_busy: bool, running_since: Option<Millis>, now: Millis) {
        self.running_since = running_since;
        if is_busy || running_since.is_some() {
            self.busy_at = self.busy_at.max(now);
        } else if now - self.busy_at >= IDLE {
            self.idle_at = Some(now);
        }
    }

    /// Whoever had a message in hand that was sent then would have begun with it.
    pub fn were_idle_since(&self, sent: Millis) -> bool {
        self.idle_at.is_some_and(|idle| idle - IDLE >= sent)
    }

    /// The longest that a node took lately, or takes.
    pub fn longest(&self, now: Millis) -> Millis {
        let running = self.running_since.map_or(0, |since| now - since);
        running.max(self.longest[0]).max(self.longest[1])
    }
}

impl Rune {
    /// Sees whether anything runs at this moment, as far as everything is heard.
    pub(super) fn look_at_hands(&mut self, now: Millis) {
        if self.deaf_since.is_some() {
            return;
        }
        let followed = self.executions.values().filter(|execution| !execution.ended);
        let running_since = followed.flat_map(running).take(LOOKED_THROUGH).min();
        self.hands.note(!self.strangers.is_empty(), running_since, now);
    }
}

/// When everything began that runs. What rests is in nobody's hands.
fn running(execution: &Execution) -> impl Iterator<Item = Millis> {
    let works = |node: usize| !matches!(execution.graph.nodes[node].role, Role::Wait);
    let open = execution.open.iter().filter(move |(node, _)| works(**node));
    let places = open.flat_map(|(node, places)| places.iter().map(|lineage| (*node, lineage.clone())));
    places.filter_map(|spot| Some(execution.tracks.get(&spot)?.open?.began.millis()))
}
