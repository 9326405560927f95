//! What a join of a Rune cluster has said about itself, and what is known to be on its way there.

use std::collections::BTreeSet;

use protocol::Millis;

use super::wire::Nanos;

/// What has reached a join before it opened may be heard of so long after that.
pub const LATE: Millis = 30_000;

#[derive(Default)]
pub struct Join {
    /// Indexes of items, or edges, that have reached it.
    pub reached: BTreeSet<u32>,
    /// Edges along which a message was sent to it since it fired.
    pub sent: BTreeSet<u32>,
    /// How many of what has reached it since have ended there, and of these those that failed.
    pub ended: u32,
    pub failed: u32,
    /// The highest count it has named, and of how many.
    pub said: u32,
    pub expected: u32,
    pub since: Millis,
    /// When it was heard of last.
    pub heard_at: Millis,
    /// It has heard of something and has not fired since.
    pub waits: bool,
    pub released: Option<Nanos>,
    /// The number of what was told last when it fired.
    pub released_as: u64,
    /// How many it fired with that were not heard of at that time; and which, where it says what it fired with.
    late: u32,
    pub unheard: BTreeSet<u32>,
    /// It has fired with something that was not sent to it here.
    pub is_mixed: bool,
    /// What had reached it when it fired, and of how many, where these are not the same.
    pub short: Option<(u32, u32)>,
    pub fired: u32,
    /// The node that was first, at a join that takes the first.
    pub winner: Option<usize>,
    pub ignored: BTreeSet<u32>,
}

impl Join {
    /// Something has reached it; true where that is news for people.
    pub fn reach(&mut self, part: Option<u32>, (count, expected): (u32, u32), at: Nanos) -> bool {
        if self.is_of_before(part, at) {
            // How many are here is asked for by itself, so it is said behind the opening.
            self.late = self.late.saturating_sub(1);
            part.map(|part| self.unheard.remove(&part));
            return false;
        }
        if self.released.take().is_some() {
            let Self { fired, is_mixed, sent, .. } = std::mem::take(self);
            *self = Self { fired, is_mixed, sent, ..Self::default() };
        }
        self.reached.extend(part);
        self.ended += 1;
        if !self.waits {
            (self.waits, self.since) = (true, at.millis());
        }
        let is_news = count > self.said || expected != self.expected;
        (self.said, self.expected) = (self.said.max(count), expected);
        is_news
    }

    /// It fires; what is sent to it from now on is for the next time. `told` is the number of what was told last.
    pub fn release(&mut self, expected: u32, at: Nanos, told: u64) {
        (self.waits, self.released, self.released_as) = (false, Some(at), told);
        (self.said, self.expected) = (expected, expected);
        self.fired += 1;
        self.late = expected.saturating_sub(self.ended + 1);
        (self.ended, self.failed, self.short) = (0, 0, None);
    }

    /// The same with these items, of so many. What it says it has is there, whether that was heard or not.
    pub fn release_with(&mut self, has: BTreeSet<u32>, expected: u32, at: Nanos, told: u64) {
        self.release(expected, at, told);
        self.unheard = &has - &self.reached;
        let arrived = has.len() as u32;
        self.short = Some((arrived, expected)).filter(|_| arrived < expected);
        self.reached = has;
    }

    /// Another one has fired with what waited here.
    pub fn give_way(&mut self) -> BTreeSet<u32> {
        let Self { fired, reached, .. } = std::mem::take(self);
        self.fired = fired;
        reached
    }

    /// It has fired, and nothing has come since.
    pub fn is_open(&self) -> bool {
        self.released.is_some() && !self.waits
    }

    /// It is one of those that the join has fired with.
    pub fn is_of_before(&self, part: Option<u32>, at: Nanos) -> bool {
        let is_unheard = match part {
            Some(part) => self.unheard.contains(&part),
            None => self.late > 0,
        };
        self.released.is_some_and(|released| is_unheard && at.millis() < released.millis() + LATE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Nanos {
        Nanos::read(None, 1_000 * second)
    }

    #[test]
    fn what_is_said_behind_the_opening_is_of_that_round() {
        let mut join = Join::default();
        join.reach(Some(0), (2, 3), at(1));
        join.reach(Some(2), (2, 3), at(1));
        join.release_with([0, 1, 2].into(), 3, at(2), 7);
        assert_eq!((join.short, join.unheard.len()), (None, 1));
        join.reach(Some(1), (3, 3), at(3));
        assert_eq!((join.waits, join.unheard.len(), join.fired), (false, 0, 1));
        join.reach(Some(0), (1, 3), at(4));
        assert_eq!((join.waits, join.said), (true, 1), "it comes again");

        let mut merge = Join::default();
        merge.release(2, at(1), 7);
        merge.reach(None, (1, 2), at(2));
        assert!(!merge.waits, "one of two was not heard of yet");
        merge.reach(None, (1, 2), at(3));
        assert!(merge.waits);
        merge.release(2, at(4), 9);
        merge.reach(None, (1, 2), at(5));
        assert_eq!((merge.waits, merge.fired), (true, 2), "all were heard of");

        let mut short = Join::default();
        short.release_with([0, 2].into(), 3, at(1), 7);
        assert_eq!(short.short, Some((2, 3)), "it has opened with nothing for one of them");

        let mut long_ago = Join::default();
        long_ago.release(2, at(1), 7);
        long_ago.reach(None, (1, 2), at(60));
        assert!(long_ago.waits);
    }
}
