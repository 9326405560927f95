//! When something went by unseen.

use std::collections::VecDeque;

use protocol::{Gap, Millis};

/// Gaps that are listed; the oldest go first.
const LISTED: usize = 100;
/// A gap that goes on is told of in pieces of this length, so that nobody waits for its end.
const PIECE: Millis = 5_000;
/// After so long without a drop a gap is over.
const QUIET: Millis = 1_000;

const DISCONNECTED: &str = "there was no connection to RabbitMQ; what was sent then was not heard";
const DISCONNECTED_FROM_A_LOG: &str =
    "there was no connection to RabbitMQ; no event is lost, because the log of the workers is read";
const TOO_FAST: &str = "messages came faster than this machine could take them in";
const TOO_LARGE: &str = "a message was larger than 16 MiB and was passed over";
const OVERFLOWED: &str =
    "our queue was full, or copies grew too old in it; how many the broker has dropped is not known";
const STOOD_STILL: &str =
    "this machine stood still; how many copies the broker has dropped meanwhile is not known";

/// Why something may have gone by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// There is no connection since that moment, or had been none for a while when it was noticed.
    Lost {
        since: Millis,
    },
    /// There is one again.
    Back {
        at: Millis,
    },
    /// Our queue was full, or copies of that time were too old.
    Overflowed {
        since: Millis,
        at: Millis,
    },
    StoodStill {
        from: Millis,
        until: Millis,
    },
}

#[derive(Default)]
pub struct Gaps {
    listed: VecDeque<Gap>,
    /// Pieces that are not told of yet: at most one of each kind.
    untold: Vec<Gap>,
    dropped: u64,
    large: u64,
}

impl Gaps {
    /// The latest last.
    pub fn listed(&self) -> Vec<Gap> {
        self.listed.iter().cloned().collect()
    }

    /// `is_logged`: what happens meanwhile is read elsewhere. `ahead` is how far the clock of the cluster is before ours.
    pub fn lapsed(&mut self, lapse: Lapse, is_logged: bool, ahead: Millis) {
        match lapse {
            Lapse::Lost { since } => {
                let why = if is_logged { DISCONNECTED_FROM_A_LOG } else { DISCONNECTED };
                self.push(Gap { from: since + ahead, until: None, dropped: 0, why: why.to_owned() });
            }
            Lapse::Back { at } => self.end(at + ahead),
            Lapse::Overflowed { .. } | Lapse::StoodStill { .. } if is_logged => {}
            Lapse::Overflowed { since, at } => self.note(since + ahead, at + ahead, 0, OVERFLOWED),
            Lapse::StoodStill { from, until } => self.note(from + ahead, until + ahead, 0, STOOD_STILL),
        }
    }

    /// What goes on ends here.
    fn end(&mut self, now: Millis) {
        if let Some(open) = self.listed.iter_mut().rev().find(|gap| gap.until.is_none()) {
            open.until = Some(now.max(open.from));
            self.untold.push(open.clone());
        }
    }

    /// How many were dropped since the beginning.
    pub fn dropped(&mut self, total: u64, now: Millis) {
        let more = total - std::mem::replace(&mut self.dropped, total);
        if more > 0 {
            self.note(now, now, more, TOO_FAST);
        }
    }

    /// How many were too large since the beginning.
    pub fn large(&mut self, total: u64, now: Millis) {
        let more = total - std::mem::replace(&mut self.large, total);
        if more > 0 {
            self.note(now, now, more, TOO_LARGE);
        }
    }

    /// What is over, or goes on for so long that it has to be told of; each once.
    pub fn take_over(&mut self, now: Millis) -> Vec<Gap> {
        let is_over = |gap: &mut Gap| {
            now - gap.from >= PIECE
                || [DISCONNECTED, DISCONNECTED_FROM_A_LOG].contains(&gap.why.as_str())
                || gap.until.is_some_and(|until| now - until >= QUIET)
        };
        self.untold.extract_if(.., is_over).collect()
    }

    /// Everything that nobody was told of, because nobody looks any longer.
    pub fn take_all(&mut self, now: Millis) -> Vec<Gap> {
        self.end(now);
        std::mem::take(&mut self.untold)
    }

    /// Makes the last gap of the kind longer, or begins one.
    fn note(&mut self, from: Millis, until: Millis, dropped: u64, why: &str) {
        let gap = Gap { from, until: Some(until), dropped, why: why.to_owned() };
        match self.untold.iter_mut().find(|known| known.why == why) {
            Some(known) => known.extend(&gap),
            None => self.untold.push(gap.clone()),
        }
        match self.listed.iter_mut().rev().find(|known| known.goes_on_with(&gap)) {
            Some(known) => known.extend(&gap),
            None => self.push(gap),
        }
    }

    fn push(&mut self, gap: Gap) {
        self.listed.push_back(gap);
        if self.listed.len() > LISTED {
            self.listed.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_that_follow_each_other_are_one_gap_and_are_told_in_pieces() {
        let mut gaps = Gaps::default();
        for tick in 0..60 {
            gaps.dropped(10 * (tick + 1), tick as Millis * 250);
        }
        assert_eq!(gaps.listed().len(), 1);
        assert_eq!((gaps.listed()[0].dropped, gaps.listed()[0].until), (600, Some(14_750)));
        let mut told = gaps.take_over(15_000);
        assert_eq!(told.len(), 1);
        assert!(gaps.take_over(15_000).is_empty(), "each is told once");
        gaps.dropped(605, 15_100);
        assert!(gaps.take_over(15_200).is_empty(), "it may go on");
        told.extend(gaps.take_over(16_200));
        assert_eq!(told.iter().map(|gap| gap.dropped).sum::<u64>(), 605, "every drop is told");
        gaps.dropped(606, 60_000);
        assert_eq!(gaps.listed().len(), 2, "another one, later");
    }

    #[test]
    fn a_lost_connection_is_a_gap_until_it_is_back() {
        let mut gaps = Gaps::default();
        gaps.lapsed(Lapse::Back { at: 100 }, false, 0);
        assert!(gaps.listed().is_empty(), "before the first connection there is nothing to miss");
        gaps.lapsed(Lapse::Lost { since: 1_000 }, false, 0);
        assert_eq!(gaps.listed()[0].until, None);
        assert!(gaps.take_over(2_500).is_empty(), "it is not over");
        gaps.lapsed(Lapse::Back { at: 2_900 }, false, 100);
        let told = gaps.take_over(3_000);
        assert_eq!((told[0].from, told[0].until), (1_000, Some(3_000)));
        assert_eq!(gaps.listed(), told);
        assert!(told[0].why.contains("was not heard"), "{told:?}");
        gaps.lapsed(Lapse::Lost { since: 4_000 }, true, 0);
        assert!(gaps.listed()[1].why.contains("no event is lost"), "{:?}", gaps.listed());
        let told = gaps.take_all(9_000);
        assert_eq!(told[0].until, Some(9_000), "nobody waits for its end");
        assert!(gaps.take_all(9_500).is_empty());
    }

    #[test]
    fn a_machine_that_stood_still_has_missed_something() {
        let mut gaps = Gaps::default();
        gaps.lapsed(Lapse::StoodStill { from: 1_000, until: 61_000 }, false, 0);
        let told = gaps.take_over(62_000);
        assert_eq!((told[0].from, told[0].until), (1_000, Some(61_000)));
        assert!(told[0].why.contains("stood still"), "{told:?}");
    }

    #[test]
    fn few_are_listed() {
        let mut gaps = Gaps::default();
        for number in 1..=300 {
            gaps.large(number, number as Millis * 10_000);
        }
        assert_eq!(gaps.listed().len(), LISTED);
        assert_eq!(gaps.listed().last().map(|gap| gap.from), Some(3_000_000));
    }
}
