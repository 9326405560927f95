//! How long joins wait while somebody holds messages. Their time stands still meanwhile: nobody who looks at an item for
//! an hour is to find that the aggregator behind it has given up.

use std::collections::HashMap;

use engine::Deadline;
use protocol::{ExecutionId, Millis};

/// What a join gets at least while something is held, so that a short timeout is not prolonged all the time.
const AT_LEAST: Millis = 60_000;

/// When executions stood still, as it was known at one moment.
#[derive(Clone, Debug, Default)]
pub struct Standstills(HashMap<ExecutionId, Standstill>);

/// When one execution stood still because something of it was held.
#[derive(Clone, Debug, Default)]
pub(super) struct Standstill {
    since: Option<Millis>,
    /// From when until when it did before that.
    spans: Vec<(Millis, Millis)>,
}

impl Standstill {
    /// Takes note of how it is now.
    pub fn note(&mut self, is_held: bool, now: Millis) {
        match (self.since, is_held) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.since = None;
                self.spans.push((since, now));
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    pub fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// Until when a join waits whose time is over; `None` if it gives up.
    fn reprieve(&self, Deadline { since, due }: Deadline, now: Millis) -> Option<Millis> {
        if self.is_on() {
            return Some(now + (due - since).max(AT_LEAST));
        }
        let within = |(from, to): &(Millis, Millis)| (to.min(&now) - from.max(&since)).max(0);
        let until = due + self.spans.iter().map(within).sum::<Millis>();
        Some(until).filter(|until| *until > now)
    }
}

impl Standstills {
    pub(super) fn of<'s>(known: impl Iterator<Item = (&'s ExecutionId, &'s Standstill)>) -> Self {
        Self(known.map(|(id, standstill)| (id.clone(), standstill.clone())).collect())
    }

    /// Until when a join waits whose time is over; `None` if it gives up.
    pub fn reprieve(&self, id: &ExecutionId, deadline: Deadline, now: Millis) -> Option<Millis> {
        self.0.get(id)?.reprieve(deadline, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE_MINUTES: Deadline = Deadline { since: 1_000, due: 301_000 };

    #[test]
    fn who_was_never_held_gives_up_in_time() {
        assert_eq!(Standstill::default().reprieve(FIVE_MINUTES, 301_000), None);
    }

    #[test]
    fn while_something_is_held_a_join_gets_its_time_again() {
        let mut standstill = Standstill::default();
        standstill.note(true, 300_999);
        assert_eq!(standstill.reprieve(FIVE_MINUTES, 301_000), Some(601_000));
        let short = Deadline { since: 300_000, due: 301_000 };
        assert_eq!(standstill.reprieve(short, 301_000), Some(361_000), "but not every second");
    }

    #[test]
    fn afterwards_it_gets_as_much_more_as_was_held() {
        let mut standstill = Standstill::default();
        // Before it began to wait, while it began, and twice after that.
        for (from, to) in [(0, 500), (900, 1_100), (2_000, 4_000), (100_000, 300_000)] {
            standstill.note(true, from);
            standstill.note(true, from + 10);
            standstill.note(false, to);
            standstill.note(false, to + 10);
        }
        assert_eq!(standstill.reprieve(FIVE_MINUTES, 301_000), Some(301_000 + 100 + 2_000 + 200_000));
        assert_eq!(standstill.reprieve(FIVE_MINUTES, 600_000), None, "that is over as well");
        let prolonged = Deadline { since: 301_000, due: 503_100 };
        assert_eq!(standstill.reprieve(prolonged, 503_100), None, "what was counted does not count again");
    }
}
