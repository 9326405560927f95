//! What is known of one node at one key, put together from statuses that may come twice, late, or not at all. What it
//! ends up with depends on what was said, not on the order in which it was heard. Where one worker goes on with what another
//! has begun, their clocks may differ a little.

use protocol::Millis;

use super::wire::{Nanos, Word};

/// Statuses of one place that are remembered, to know a copy when it comes again.
const REMEMBERED: usize = 16;
/// By so much, in milliseconds, the clocks of two workers may differ.
const CLOCKS: Millis = 500;

#[derive(Default)]
pub struct Track {
    /// How often it ran here, as far as was heard.
    pub visits: u32,
    pub open: Option<Open>,
    last_end: Option<Nanos>,
    latest: Option<Nanos>,
    seen: Vec<(Word, Nanos)>,
    /// Whether its last end was a success.
    pub went_well: Option<bool>,
    /// Statuses that were heard, by what they say; copies are not counted.
    runs: u32,
    rests: u32,
    ends: u32,
    /// How often it was taken up before it was known that something was sent here.
    pub unsent: u32,
}

/// It has begun and is not over.
#[derive(Clone, Copy)]
pub struct Open {
    pub visit: u32,
    pub attempt: u32,
    pub began: Nanos,
    /// The moment until which it rests.
    pub due: Option<Millis>,
}

/// What a status means for the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing that was not known.
    Old,
    Begins {
        visit: u32,
        attempt: u32,
    },
    /// Its beginning was not heard.
    EndsUnbegun {
        visit: u32,
    },
    Ends {
        visit: u32,
        attempt: u32,
    },
}

impl Track {
    /// It has begun. What was sent here is taken up now, also by a worker whose clock goes behind.
    pub fn run(&mut self, at: Nanos, is_sent: bool) -> Turn {
        let is_next = is_sent && self.runs >= self.ends;
        let is_over = self.last_end.is_some_and(|end| at <= end);
        let is_known = is_over || self.open.is_some_and(|open| at <= open.began);
        if !self.note(Word::Running, at) || (is_known && !is_next) {
            return Turn::Old;
        }
        // Begun again before it was over: delivered again.
        let open = match self.open {
            Some(open) => Open { attempt: open.attempt + 1, began: at, due: None, ..open },
            None => {
                self.visits += 1;
                Open { visit: self.visits, attempt: 1, began: at, due: None }
            }
        };
        self.open = Some(open);
        Turn::Begins { visit: open.visit, attempt: open.attempt }
    }

    /// It rests until a moment. `Begins` where its beginning was not heard.
    pub fn rest(&mut self, at: Nanos, due: Millis) -> Option<(Turn, Open)> {
        let is_over = self.open.is_none() && self.last_end.is_some_and(|end| at <= end);
        if !self.note(Word::Waiting, at) || is_over {
            return None;
        }
        let turn = match self.open {
            Some(_) => Turn::Old,
            None => {
                self.visits += 1;
                self.open = Some(Open { visit: self.visits, attempt: 1, began: at, due: None });
                Turn::Begins { visit: self.visits, attempt: 1 }
            }
        };
        let open = self.open.as_mut()?;
        (open.due, open.began) = (Some(due), open.began.max(at));
        Some((turn, *open))
    }

    pub fn end(&mut self, word: Word, at: Nanos) -> Turn {
        if !self.note(word, at) {
            return Turn::Old;
        }
        if self.last_end.is_none_or(|end| end < at) {
            (self.last_end, self.went_well) = (Some(at), Some(word == Word::Success));
        }
        match self.open.take_if(|open| open.began <= at.shifted(CLOCKS)) {
            Some(open) => Turn::Ends { visit: open.visit, attempt: open.attempt },
            None => {
                self.visits += 1;
                Turn::EndsUnbegun { visit: self.visits }
            }
        }
    }

    /// It is over, as something says that came later: nobody has heard it.
    pub fn end_unheard(&mut self, at: Nanos) -> Turn {
        let turn = self.end(Word::Success, at);
        self.ends = 0;
        turn
    }

    /// How often somebody has taken up what was sent here: not everything that follows from it needs to be heard.
    pub fn taken_up(&self) -> u32 {
        self.runs.max(self.rests).max(self.ends)
    }

    /// It was taken up more often than it has ended.
    pub fn is_in_hand(&self) -> bool {
        self.runs > self.ends
    }

    /// When something was said of it last.
    pub fn latest(&self) -> Option<Nanos> {
        self.latest
    }

    /// Something was said of it at that moment or later.
    pub fn is_after(&self, at: Nanos) -> bool {
        self.latest.is_some_and(|latest| latest >= at)
    }

    /// False for a copy.
    fn note(&mut self, word: Word, at: Nanos) -> bool {
        if self.seen.contains(&(word, at)) {
            return false;
        }
        if self.seen.len() >= REMEMBERED {
            self.seen.remove(0);
        }
        self.seen.push((word, at));
        match word {
            Word::Running => self.runs += 1,
            Word::Waiting => self.rests += 1,
            Word::Success | Word::Failed => self.ends += 1,
            Word::Unknown => {}
        }
        self.latest = self.latest.max(Some(at));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u32) -> Nanos {
        Nanos::read(Some(&format!("2026-01-01T00:00:{second:02}Z")), 0)
    }

    /// Ends, and whether it is open, after the statuses of some seconds.
    fn check(heard: &[(Word, u32)], ends: usize, is_open: bool) {
        let mut track = Track::default();
        let mut found = 0;
        for (word, second) in heard {
            let turn = match word {
                Word::Running => track.run(at(*second), false),
                Word::Waiting => track.rest(at(*second), 99).map_or(Turn::Old, |(turn, _)| turn),
                Word::Success | Word::Failed | Word::Unknown => track.end(*word, at(*second)),
            };
            found += usize::from(matches!(turn, Turn::Ends { .. } | Turn::EndsUnbegun { .. }));
        }
        assert_eq!((found, track.open.is_some()), (ends, is_open), "{heard:?}");
    }

    #[test]
    fn the_order_in_which_it_is_heard_does_not_matter() {
        use Word::{Running as R, Success as S, Waiting as W};
        for order in [
            [(R, 1), (S, 2), (R, 3), (S, 4)],
            [(S, 4), (S, 2), (R, 3), (R, 1)],
            [(R, 3), (S, 2), (R, 1), (S, 4)],
            [(R, 1), (R, 3), (S, 4), (S, 2)],
        ] {
            check(&order, 2, false);
        }
        check(&[(R, 1), (R, 3), (S, 4)], 1, false);
        check(&[(S, 4), (R, 1), (R, 3)], 1, false);
        check(&[(R, 1), (R, 1), (S, 2), (S, 2), (R, 1)], 1, false);
        check(&[(R, 1), (S, 2), (R, 3)], 1, true);
        check(&[(R, 3), (R, 1), (S, 2)], 1, true);
        check(&[(R, 1), (W, 2)], 0, true);
        check(&[(W, 2), (R, 1), (W, 2)], 0, true);
        check(&[(S, 5), (W, 2), (R, 1)], 1, false);
    }

    #[test]
    fn what_was_sent_begins_by_any_clock() {
        let mut track = Track::default();
        assert_eq!(track.run(at(5), true), Turn::Begins { visit: 1, attempt: 1 });
        assert_eq!(track.end(Word::Success, at(6)), Turn::Ends { visit: 1, attempt: 1 });
        assert_eq!(track.run(at(3), false), Turn::Old, "it is heard of late");
        assert_eq!(track.run(at(4), true), Turn::Begins { visit: 2, attempt: 1 }, "it was sent again");
        let behind = at(4).shifted(-100);
        assert_eq!(track.end(Word::Success, behind), Turn::Ends { visit: 2, attempt: 1 });
        assert_eq!(track.taken_up(), 3);
    }
}
