//! What is on its way to a node: told by the node that sent it, and gone once somebody takes it up. Both are counted, in
//! the order they are heard: what is taken up was sent before, whatever the clocks of the workers say.

use protocol::{Lineage, Millis};

use super::{
    execution::{Execution, Spot, TRACKS},
    graph::Role,
    track::Track,
    wire::Nanos,
};

/// Messages under way to one place, that nobody has taken up.
#[derive(Clone, Copy, Default)]
pub struct Queued {
    /// Those that nodes say they have sent, and those that were taken up. A message itself may come as a copy.
    expected: u32,
    taken: u32,
    /// When the last of them was sent.
    latest: Millis,
    pub since: Millis,
    /// Its message was heard, not only expected.
    pub heard: bool,
    /// Nodes that had begun in the whole cluster when it was heard.
    pub begun_before: u64,
}

impl Execution {
    /// Messages are on their way, unless what they lead to was heard before.
    pub(super) fn follow(&mut self, taken: &[usize], lineage: &Lineage, at: Nanos) {
        // Where ways of different depth meet it is not known before at which key: the message itself says so.
        let is_known = |edge: &&usize| self.graph.nodes[self.graph.edges[**edge].to].scope.is_some();
        for edge in taken.iter().filter(is_known).copied().collect::<Vec<usize>>() {
            self.note_sent_along(edge, lineage);
            let spot = (self.graph.edges[edge].to, lineage.clone());
            let track = self.tracks.get_mut(&spot).filter(|track| track.unsent > 0 && track.is_after(at));
            let is_known = track.map(|track| track.unsent -= 1).is_some();
            let queued = if is_known { self.queued.get_mut(&spot) } else { self.queue(spot, at.millis()) };
            if let Some(queued) = queued {
                queued.expected += 1;
            }
        }
    }

    /// A message itself was heard. The first one comes from the master, which says nothing else of it.
    pub(super) fn note_message(&mut self, spot: Spot, is_first: bool, heard: Millis, begun: u64) {
        let place = &self.graph.nodes[spot.0];
        if place.scope.is_none() && !matches!(place.role, Role::Wait) {
            self.note_sent_here(spot, heard, begun);
            return;
        }
        let is_known = self.tracks.get(&spot).is_some_and(|track| track.visits > 0);
        let queued = if is_known { self.queued.get_mut(&spot) } else { self.queue(spot, heard) };
        if let Some(queued) = queued {
            (queued.heard, queued.begun_before) = (true, begun);
            queued.expected = queued.expected.max(u32::from(is_first));
        }
    }

    /// The same where nobody else says that it was sent.
    fn note_sent_here(&mut self, spot: Spot, heard: Millis, begun: u64) {
        if let Some(track) = self.tracks.get_mut(&spot).filter(|track| track.unsent > 0) {
            track.unsent -= 1;
        } else if let Some(queued) = self.queue(spot, heard) {
            queued.expected += 1;
            (queued.heard, queued.begun_before) = (true, begun);
        }
    }

    /// `None` where there is no more room.
    fn queue(&mut self, spot: Spot, since: Millis) -> Option<&mut Queued> {
        if self.queued.len() >= TRACKS && !self.queued.contains_key(&spot) {
            self.let_go += 1;
            return None;
        }
        let queued = self.queued.entry(spot).or_insert(Queued { since, ..Queued::default() });
        queued.latest = since;
        Some(queued)
    }

    /// Something was heard of a place. Where that is news, somebody has taken up what was under way to it.
    pub(super) fn take_up<T>(&mut self, spot: &Spot, hear: impl FnOnce(&mut Track, bool) -> T) -> T {
        let is_sent = self.queued.contains_key(spot);
        let is_join = self.graph.nodes[spot.0].role.is_join();
        let track = self.tracks.entry(spot.clone()).or_default();
        let before = track.taken_up();
        let turn = hear(track, is_sent);
        if track.taken_up() > before {
            // Begun again before it was over: delivered again, and not sent again.
            let is_again = !is_join && track.open.is_some_and(|open| open.attempt > 1);
            let Some(queued) = self.queued.get_mut(spot) else {
                track.unsent += u32::from(!is_again);
                return turn;
            };
            (queued.taken, queued.since) = (queued.taken + 1, queued.latest);
            track.unsent += u32::from(queued.taken > queued.expected);
            if queued.taken >= queued.expected {
                self.queued.remove(spot);
            }
        }
        turn
    }
}
