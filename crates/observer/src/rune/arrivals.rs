//! What joins of a Rune cluster say. They run once for everything that reaches them and call that a success, also where
//! they wait for the rest; here they fire once, when they open.

use std::{collections::BTreeSet, sync::Arc};

use protocol::{Arrival, Echo, Fact, Gathered, Ignored, Lineage, Millis, Skipped, WhyIgnored};
use serde_json::{Map, Value};

use super::{
    execution::{Execution, Spot},
    graph::Role,
    joins::{Join, LATE},
    outputs::{duration, is_creation},
    track::Turn,
    wire::{Nanos, Status, Word, object},
};

impl Execution {
    pub(super) fn hear_aggregator(&mut self, node: usize, reached: Lineage, at: Nanos, status: Status) {
        let spot = (node, reached);
        let fires = self.graph.fires_at(node, &spot.1);
        let last = spot.1.steps().last();
        let (index, total) = (last.map(|step| step.index), last.map_or(0, |step| step.total));
        let Some(visit) = self.hear_arrival(&spot, at, status.status) else { return };
        let output = object(status.output.as_ref());
        let is_released = output.is_some_and(|output| output.contains_key("aggregated"));
        match status.status {
            Word::Success if is_released => {
                let (has, total) = opened_with(output, total);
                self.open_aggregator((node, fires.clone()), (has, total), index, at);
                self.gathered(node, &fires, total, total, at);
                self.fire(node, fires, at, status);
            }
            Word::Success => {
                let count = output.and_then(|output| output.get("_aggregator_processed_count"));
                let count =
                    count.and_then(Value::as_u64).map(|count| count as u32).or(status.processed_count);
                let count = count.unwrap_or(1);
                let join = self.taken_by((node, fires.clone()), index, at);
                let is_news = self.joins.entry(join.clone()).or_default().reach(index, (count, total), at);
                self.note_join(&join);
                if is_news {
                    self.gathered(node, &fires, count, total, at);
                }
            }
            Word::Failed => self.fail_join(node, fires, at, visit, status),
            Word::Running | Word::Waiting | Word::Unknown => {}
        }
    }

    /// An aggregator fires with what has reached all that count with it: none of them waits any more.
    fn open_aggregator(
        &mut self,
        spot: Spot,
        (mut has, total): (BTreeSet<u32>, u32),
        last: Option<u32>,
        at: Nanos,
    ) {
        has.extend(last);
        let graph = Arc::clone(&self.graph);
        let mut elsewhere: BTreeSet<u32> = last.into_iter().collect();
        let mut skipped = Vec::new();
        for &other in graph.sharers(spot.0).iter().filter(|&&other| other != spot.0) {
            let other = (other, spot.1.clone());
            if let Some(join) = self.joins.get_mut(&other).filter(|join| join.waits) {
                elsewhere.extend(join.give_way());
                self.note_join(&other);
                skipped.push(Skipped { node_id: graph.nodes[other.0].id.clone(), lineage: other.1 });
            }
        }
        if !skipped.is_empty() {
            let echo = Echo { skipped, ..Echo::default() };
            self.tell(at.millis(), Fact::Gathered(Gathered { echo }));
        }
        let join = self.joins.entry(spot.clone()).or_default();
        join.release_with(has, total, at, self.seq);
        join.unheard.retain(|part| !elsewhere.contains(part));
        self.note_join(&spot);
    }

    /// Whose an arrival is: of the aggregator that has opened with it, or of the one that it has reached.
    fn taken_by(&self, spot: Spot, part: Option<u32>, at: Nanos) -> Spot {
        let of = |other: &usize| (*other, spot.1.clone());
        let has_taken = |other: &Spot| self.joins.get(other).is_some_and(|join| join.is_of_before(part, at));
        let by = self.graph.sharers(spot.0).iter().map(of).find(has_taken);
        by.unwrap_or(spot)
    }

    /// An aggregator has opened with it, and what was said of it is not heard yet.
    pub(super) fn is_gathered(&self, node: usize, reached: &Lineage) -> bool {
        let Some(step) = reached.steps().last() else { return false };
        let join = |other: &usize| self.joins.get(&(*other, reached.parent()));
        let is_aggregator = matches!(self.graph.nodes[node].role, Role::Aggregator);
        let mut joins = self.graph.sharers(node).iter().filter(|_| is_aggregator).filter_map(join);
        joins.any(|join| join.unheard.contains(&step.index))
    }

    /// Long after a join has opened nobody says any more what it did with the rest: that is over, too.
    pub(super) fn end_gathered(&mut self, now: Millis) {
        let is_old = |join: &Join| join.released.is_some_and(|released| now - released.millis() >= LATE);
        let old = self.unheard.iter().filter(|spot| self.joins.get(spot).is_some_and(is_old));
        for (node, fires) in old.cloned().collect::<Vec<Spot>>() {
            let Some(join) = self.joins.get_mut(&(node, fires.clone())) else { continue };
            let (parts, total) = (std::mem::take(&mut join.unheard), join.expected);
            let graph = Arc::clone(&self.graph);
            let split = graph.nodes[node].scope.as_ref().and_then(|scope| scope.last());
            for (part, &split) in parts.into_iter().zip(split.into_iter().cycle()) {
                self.forget_way((node, fires.push(&graph.nodes[split].id, part, total)));
            }
            self.unheard.remove(&(node, fires));
        }
    }

    /// Nothing more is heard there.
    pub(super) fn forget_way(&mut self, spot: Spot) {
        self.queued.remove(&spot);
        if let Some(track) = self.tracks.get_mut(&spot) {
            track.open = None;
        }
        self.mark_closed(&spot);
    }

    pub(super) fn hear_merge(&mut self, node: usize, reached: Lineage, at: Nanos, status: Status) {
        let spot = (node, reached);
        let Some(visit) = self.hear_arrival(&spot, at, status.status) else { return };
        let incoming = self.graph.nodes[node].incoming.len() as u32;
        let output = object(status.output.as_ref());
        let number = |name: &str| {
            let number = output.and_then(|output| output.get(name)).and_then(Value::as_u64);
            number.map(|number| number as u32)
        };
        let expected = number("_merge_expected").unwrap_or(incoming);
        let says = |name: &str| output.is_some_and(|output| output.get(name) == Some(&Value::Bool(true)));
        match status.status {
            Word::Success if says("_merge_waiting") => {
                let count = number("_merge_arrived").unwrap_or(1);
                let is_news = self.joins.entry(spot.clone()).or_default().reach(None, (count, expected), at);
                self.note_join(&spot);
                if is_news {
                    self.gathered(node, &spot.1, count, expected, at);
                }
            }
            Word::Success if says("_merge_ignored") => self.ignore(&spot, at),
            Word::Success => {
                let winner = output.and_then(|output| output.get("_merge_winner")).and_then(Value::as_str);
                let winner = winner.and_then(|winner| self.graph.node(winner));
                let is_race = matches!(self.graph.nodes[node].role, Role::MergeAny);
                let expected = if is_race { 1 } else { expected };
                let is_deep = self.graph.depth(node) > 0;
                let join = self.joins.entry(spot.clone()).or_default();
                join.release(expected, at, self.seq);
                if !is_race {
                    // What has reached it was sent to it, here or at another key.
                    join.is_mixed |= is_deep && (join.sent.len() as u32) < expected;
                    join.sent.clear();
                }
                join.winner = winner;
                self.note_join(&spot);
                self.gathered(node, &spot.1, expected, expected, at);
                self.fire(node, spot.1, at, status);
            }
            Word::Failed => {
                let join = self.joins.entry(spot.clone()).or_default();
                (join.ended, join.failed) = (join.ended + 1, join.failed + 1);
                self.fail_join(node, spot.1, at, visit, status);
            }
            Word::Running | Word::Waiting | Word::Unknown => {}
        }
    }

    /// What reaches a join is told of when the join says what it means; `None` for what was heard before. The number is
    /// how often something has ended there.
    pub(super) fn hear_arrival(&mut self, spot: &Spot, at: Nanos, word: Word) -> Option<u32> {
        match word {
            Word::Running => {
                if self.take_up(spot, |track, is_sent| track.run(at, is_sent)) != Turn::Old {
                    self.mark_open(spot);
                }
                None
            }
            Word::Success | Word::Failed => {
                let turn = self.take_up(spot, |track, _| track.end(word, at));
                self.mark_closed(spot);
                match turn {
                    Turn::Ends { visit, .. } | Turn::EndsUnbegun { visit } => Some(visit),
                    Turn::Old | Turn::Begins { .. } => None,
                }
            }
            Word::Waiting | Word::Unknown => {
                self.let_go += 1;
                None
            }
        }
    }

    pub(super) fn fire(&mut self, node: usize, lineage: Lineage, at: Nanos, status: Status) {
        let visit = self.joins.get(&(node, lineage.clone())).map_or(1, |join| join.fired);
        let firing = self.firing(node, lineage, visit, 1);
        let duration = duration(&status);
        self.start(firing.clone(), at.millis() - duration, status.parameters, status.used_inputs);
        self.succeed(firing, node, at, duration, status.output, true);
    }

    pub(super) fn fail_join(&mut self, node: usize, lineage: Lineage, at: Nanos, visit: u32, status: Status) {
        let duration = duration(&status);
        // Counted apart from what it does when it opens.
        let firing = self.firing(node, lineage, visit + 1_000_000, 1);
        let is_creation = is_creation(status.error.as_ref());
        let error = self.error(node, status.error);
        self.start(firing.clone(), at.millis() - duration, status.parameters, status.used_inputs);
        self.fail(firing, node, at, duration, error, is_creation);
    }

    pub(super) fn gathered(
        &mut self,
        node: usize,
        lineage: &Lineage,
        arrived: u32,
        expected: u32,
        at: Nanos,
    ) {
        let node_id = self.graph.nodes[node].id.clone();
        let arrival = Arrival { node_id, lineage: lineage.clone(), arrived, expected };
        let echo = Echo { arrivals: vec![arrival], ..Echo::default() };
        self.tell(at.millis(), Fact::Gathered(Gathered { echo }));
    }

    /// A branch was too late for a join that takes the first. Nobody says which; it is one that was sent and did not win.
    pub(super) fn ignore(&mut self, spot: &Spot, at: Nanos) {
        let graph = &self.graph;
        let join = self.joins.entry(spot.clone()).or_default();
        (join.ended, join.heard_at) = (join.ended + 1, self.heard_at);
        let lost = |edge: &&u32| {
            !join.ignored.contains(*edge) && Some(graph.edges[**edge as usize].from) != join.winner
        };
        let Some(&edge) = join.sent.iter().find(lost) else { return };
        join.ignored.insert(edge);
        let edge_id = self.graph.edges[edge as usize].id.clone();
        let ignored = Ignored { edge_id, lineage: spot.1.clone(), why: WhyIgnored::LostRace };
        let echo = Echo { ignored: vec![ignored], ..Echo::default() };
        self.tell(at.millis(), Fact::Gathered(Gathered { echo }));
    }

    /// A node says that it has sent something along an edge. A message behind a wait does not say where it comes from.
    pub(super) fn note_sent_along(&mut self, edge: usize, lineage: &Lineage) {
        let to = self.graph.edges[edge].to;
        if self.graph.nodes[to].role.is_join() && lineage.steps().len() >= self.graph.depth(to) {
            let fires = self.graph.fires_at(to, lineage);
            self.joins.entry((to, fires)).or_default().sent.insert(edge as u32);
        }
    }

    pub(super) fn note_sent(&mut self, from: usize, to: usize, reached: &Lineage) {
        if !self.graph.nodes[to].role.is_join() {
            return;
        }
        let fires = self.graph.fires_at(to, reached);
        let sent = &mut self.joins.entry((to, fires)).or_default().sent;
        // The node itself has said along which; where that was not heard it is the first.
        let edges = self.graph.nodes[from].outgoing.iter().copied();
        let mut between = edges.filter(|&edge| self.graph.edges[edge].to == to).map(|edge| edge as u32);
        if !between.clone().any(|edge| sent.contains(&edge)) {
            sent.extend(between.next());
        }
    }
}

/// What an aggregator has opened with, and of how many: for what was not there it has the text `null`.
fn opened_with(output: Option<&Map<String, Value>>, total: u32) -> (BTreeSet<u32>, u32) {
    let branches = output.and_then(|output| output.get("aggregated")).and_then(Value::as_array);
    let Some(branches) = branches else { return ((0..total).collect(), total) };
    let there = branches.iter().zip(0..).filter(|(branch, _)| branch.as_str() != Some("null"));
    (there.map(|(_, index)| index).collect(), branches.len() as u32)
}
