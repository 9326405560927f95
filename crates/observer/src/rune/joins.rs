//! What a join of a Rune cluster has said about itself, and what is known to be on its way there.

use std::collections::BTreeSet;

use protocol::Millis;

use super::wire::Nanos;

#[derive(Default)]
pub struct Join {
    /// Indexes of items, or edges, that have reached it.
    pub reached: BTreeSet<u32>,
    /// Edges along which a message was sent to it.
    pub sent: BTreeSet<u32>,
    /// The highest count it has named, and of how many.
    pub said: u32,
    pub expected: u32,
    pub since: Millis,
    /// When it was heard of last.
    pub heard_at: Millis,
    /// It has heard of something and has not fired since.
    pub waits: bool,
    pub released: Option<Nanos>,
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
        if self.released.is_some_and(|released| at <= released) {
            // It came before, and was heard behind.
            self.reached.extend(part);
            self.settle_short();
            return false;
        }
        if self.released.take().is_some() {
            let fired = self.fired;
            *self = Self { fired, ..Self::default() };
        }
        self.reached.extend(part);
        if !self.waits {
            (self.waits, self.since) = (true, at.millis());
        }
        let is_news = count > self.said || expected != self.expected;
        (self.said, self.expected) = (self.said.max(count), expected);
        is_news
    }

    pub fn release(&mut self, part: Option<u32>, expected: u32, at: Nanos) {
        self.reached.extend(part);
        (self.waits, self.released) = (false, Some(at));
        (self.said, self.expected) = (expected, expected);
        self.fired += 1;
        self.short = Some((self.reached.len() as u32, expected));
        self.settle_short();
    }

    fn settle_short(&mut self) {
        let reached = self.reached.len() as u32;
        self.short = self
            .short
            .map(|(_, expected)| (reached, expected))
            .filter(|(reached, expected)| reached < expected);
    }
}
