//! What goes on when an end is announced. Something seems to go on also where nobody has heard that it is over: what
//! must be over because of what came of it is left out, and where something has gone by unseen only what is heard
//! behind the end counts.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use protocol::{Gap, Lineage, Millis, Payload};

use super::{
    execution::{Completions, Execution, SKEW, Spot},
    wire::{Completion, End, Nanos, Status, Word},
};

/// What was dropped is told of up to five seconds later: nothing is said before.
const HELD_BACK: Millis = 6_000;

/// Something that seemed to be under way when the first end was heard.
pub struct Going {
    /// For people.
    words: String,
    /// When the last of it began.
    since: Millis,
}

/// What seems to go on at a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    Runs,
    IsSent,
    Waits { said: u32, expected: u32 },
}

/// How many of its places do so, and when the last of them began.
#[derive(Default)]
struct Places {
    many: usize,
    last: Millis,
}

impl Completions {
    /// What went on for sure, for people: what began before something has gone by may have ended unheard. Clocks of
    /// workers differ.
    pub fn meanwhile(&self) -> Vec<String> {
        let is_sure =
            |going: &&Going| self.missed_until.is_none_or(|missed_until| going.since - SKEW > missed_until);
        self.meanwhile.iter().filter(is_sure).map(|going| going.words.clone()).collect()
    }

    /// Whatever was missed before the first is told of by now.
    pub fn are_settled(&self, now: Millis) -> bool {
        self.first_heard.is_some_and(|heard| now - heard >= HELD_BACK)
    }

    /// What goes by later has nothing to do with what went on at the first.
    pub fn miss(&mut self, gap: &Gap, now: Millis) {
        if self.first_heard.is_some_and(|heard| gap.from <= heard + HELD_BACK) {
            self.missed_until = self.missed_until.max(Some(gap.until.unwrap_or(now)));
        }
    }
}

impl Execution {
    pub(super) fn note_first_end(&mut self, completion: &Completion, at: Nanos, heard: Millis) {
        let meanwhile = self.meanwhile(completion);
        let completions = &mut self.completions;
        (completions.first_at, completions.first_heard) = (Some(at), Some(heard));
        (completions.meanwhile, completions.missed_until) = (meanwhile, self.missed_until);
    }

    /// What begins behind the first end, or ends behind it, went on, whatever has gone by unseen.
    pub(super) fn note_gone_on_after(&mut self, node: usize, reached: &Lineage, at: Nanos, status: &Status) {
        let Some(first) = self.completions.first_at.filter(|first| at > *first) else { return };
        // What had reached a join when it opened may be told of behind that.
        let is_join = self.graph.nodes[node].role.is_join();
        let track = self.tracks.get(&(node, reached.clone()));
        let is_known = is_join || track.is_some_and(|track| track.is_after(first));
        match status.status {
            Word::Running => self.completions.begun_after += 1,
            // Not what we have said ourselves, because nobody has heard it, and not what was counted when it began.
            Word::Success | Word::Failed if status.executed_at.is_some() && !is_known => {
                self.completions.ended_after += 1;
            }
            Word::Success | Word::Failed | Word::Waiting | Word::Unknown => {}
        }
    }

    /// What seems to be under way, but for what must be over.
    fn meanwhile(&self, completion: &Completion) -> Vec<Going> {
        if self.joined_late || self.let_go > 0 {
            return Vec::new();
        }
        let mut found: BTreeMap<(usize, Doing), Places> = BTreeMap::new();
        for (node, doing, since) in self.seemingly_under_way() {
            let places = found.entry((node, doing)).or_default();
            (places.many, places.last) = (places.many + 1, places.last.max(since));
        }
        if self.is_of_one_unheard(completion, found.values().map(|places| places.many).sum()) {
            return Vec::new();
        }
        let made = self.made_unheard(completion.final_context.as_ref(), &found);
        let rest = found.into_iter().filter(|((node, _), _)| !made.contains(node));
        let going = |((node, doing), places): ((usize, Doing), Places)| {
            let name = self.title_of(node);
            let words = match doing {
                Doing::Runs => format!("{name} runs"),
                Doing::IsSent => format!("a message to {name} is under way"),
                Doing::Waits { said, expected } => format!("{name} waits with {said} of {expected}"),
            };
            Going { words, since: places.last }
        };
        rest.map(going).collect()
    }

    /// Each place, and since when; without those that have sent something on.
    fn seemingly_under_way(&self) -> Vec<(usize, Doing, Millis)> {
        let over = self.unsaid.keys().map(|(node, lineage)| self.fires(*node, lineage));
        let over: HashSet<Spot> = over.collect();
        let is_over = |node: usize, lineage: &Lineage| {
            self.is_gathered(node, lineage) || over.contains(&self.fires(node, lineage))
        };
        let mut found = Vec::new();
        for (&node, places) in &self.open {
            for lineage in places.iter().filter(|lineage| !is_over(node, lineage)) {
                let open = self.tracks.get(&(node, lineage.clone())).and_then(|track| track.open);
                found.push((node, Doing::Runs, open.map_or(0, |open| open.began.millis())));
            }
        }
        let is_told = |node: usize| !self.graph.nodes[node].is_mute();
        let sent =
            self.queued.iter().filter(|((node, lineage), _)| is_told(*node) && !is_over(*node, lineage));
        found.extend(sent.map(|((node, _), queued)| (*node, Doing::IsSent, queued.since)));
        let waiting = self.waiting.iter().filter(|spot| !over.contains(*spot));
        let waiting = waiting.filter_map(|spot| Some((spot.0, self.joins.get(spot)?)));
        found.extend(waiting.map(|(node, join)| {
            (node, Doing::Waits { said: join.said, expected: join.expected }, join.since)
        }));
        found
    }

    fn fires(&self, node: usize, lineage: &Lineage) -> Spot {
        (node, self.graph.fires_at(node, lineage))
    }

    /// Somebody has failed, and nobody has heard who: where only one is left it is that one.
    fn is_of_one_unheard(&self, completion: &Completion, many: usize) -> bool {
        let is_heard =
            completion.status == End::Completed || self.halted_by.is_some() || !self.unplaced.is_empty();
        !is_heard && many <= 1
    }

    /// Nodes whose result is in what the execution ends with although nobody has heard that they have made one, and of
    /// which one place is left: that is where it was made.
    fn made_unheard(
        &self,
        context: Option<&Payload>,
        found: &BTreeMap<(usize, Doing), Places>,
    ) -> BTreeSet<usize> {
        let Some(context) = context else { return BTreeSet::new() };
        let is_in = |node: &usize| {
            let name = format!("${}", self.graph.nodes[*node].name);
            context.text().contains(&name) && context.value().get(&name).is_some()
        };
        let mut made: BTreeSet<usize> = found.keys().map(|(node, _)| *node).filter(is_in).collect();
        for ((node, _), _) in found.iter().filter(|(_, places)| places.many > 1) {
            made.remove(node);
        }
        if made.is_empty() {
            return made;
        }
        let fired = self.joins.iter().filter(|(_, join)| join.fired > 0).map(|((node, _), _)| *node);
        let is_join = |node: usize| self.graph.nodes[node].role.is_join();
        let ended = self.tracks.iter().filter(|(_, track)| track.went_well == Some(true));
        let ended = ended.map(|((node, _), _)| *node).filter(|node| !is_join(*node));
        for node in fired.chain(ended) {
            made.remove(&node);
        }
        made
    }
}
