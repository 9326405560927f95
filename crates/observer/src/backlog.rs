//! Whether the broker has dropped copies of ours. It does not say so, and it has two reasons: our queue is full, or a
//! copy has waited for so long that it is not news any more.

use std::collections::VecDeque;

use protocol::Millis;

use crate::broker::{KEPT_BYTES, KEPT_MESSAGES, KEPT_MILLIS};

/// A copy that has waited for so long goes soon, or has gone.
const OLD: Millis = KEPT_MILLIS / 10 * 9;

/// Copies that were heard, and their bytes.
#[derive(Clone, Copy, Default)]
pub struct Heap {
    pub messages: u64,
    pub bytes: u64,
}

impl Heap {
    fn since(self, before: Self) -> Self {
        Self {
            messages: self.messages.saturating_sub(before.messages),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

/// What waited in our queue at a moment.
#[derive(Clone, Copy)]
struct Sample {
    at: Millis,
    waiting: u64,
    /// All that was heard until then.
    heard: Heap,
}

/// Our queue, as it was asked about lately.
#[derive(Default)]
pub struct Backlog(VecDeque<Sample>);

impl Backlog {
    /// Says since when copies may have been dropped, if they may. `heard` was counted before the queue was asked, so what
    /// was on its way then is never taken for dropped.
    pub fn note(&mut self, at: Millis, waiting: u64, heard: Heap) -> Option<Millis> {
        let now = Sample { at, waiting, heard };
        let lately = self.0.back().map_or(heard, |before| heard.since(before.heard));
        // The last one that is old enough tells most.
        while self.0.get(1).is_some_and(|next| at - next.at >= OLD) {
            self.0.pop_front();
        }
        let old = self.0.front().filter(|old| at - old.at >= OLD);
        // What waited then comes before all that came later. Where less was heard since, some of it still waits, or is gone.
        let aged = old.filter(|old| heard.since(old.heard).messages < old.waiting).map(|old| old.at);
        self.0.push_back(now);
        aged.or_else(|| is_full(waiting, lately).then_some(at))
    }
}

/// A queue that holds nine tenths of what it may, by number or by what its messages lately weighed, has dropped some.
fn is_full(waiting: u64, lately: Heap) -> bool {
    let bytes = waiting * lately.bytes.checked_div(lately.messages).unwrap_or_default();
    waiting * 10 >= u64::from(KEPT_MESSAGES) * 9 || bytes * 10 >= KEPT_BYTES.unsigned_abs() * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 4 kB each.
    fn heap(messages: u64) -> Heap {
        Heap { messages, bytes: messages * 4_096 }
    }

    #[test]
    fn a_queue_is_full_by_number_or_by_weight() {
        let lately = |messages, bytes| Heap { messages, bytes };
        assert!(!is_full(0, lately(0, 0)));
        assert!(!is_full(10_000, lately(100, 100_000)));
        assert!(is_full(18_000, lately(100, 100_000)));
        assert!(is_full(3_100, lately(100, 2_000_000)), "at 20 kB each it is the bytes that count");
        assert!(!is_full(2_900, lately(100, 2_000_000)));
    }

    /// Asks every two seconds; says when something was told first, and since when it may be missing.
    fn told(sent_per_second: u64, fetched_per_second: u64, seconds: i64) -> Option<(Millis, Millis)> {
        let mut backlog = Backlog::default();
        (0..seconds / 2).find_map(|round| {
            let (at, elapsed) = (round * 2_000, round.unsigned_abs() * 2);
            let heard = elapsed * fetched_per_second.min(sent_per_second);
            let waiting = elapsed * sent_per_second.saturating_sub(fetched_per_second);
            backlog.note(at, waiting, heap(heard)).map(|since| (at, since))
        })
    }

    #[test]
    fn copies_that_wait_for_too_long_are_gone_although_the_queue_is_not_full() {
        let (at, since) = told(400, 250, 120).expect("a slow line loses some");
        assert!((60_000..90_000).contains(&at), "it takes a while until something is that old: {at}");
        assert!((27_000..31_000).contains(&(at - since)), "they were sent that long ago: {since}");
        assert_eq!(told(400, 400, 600), None, "who keeps up loses nothing");
        assert_eq!(told(400, 390, 120), None, "what waits for a few seconds is not gone");
    }

    #[test]
    fn a_burst_that_is_fetched_in_time_loses_nothing() {
        let mut backlog = Backlog::default();
        for (second, waiting, heard) in [(0, 0, 0), (2, 9_000, 0), (10, 5_000, 4_000), (20, 10, 8_990)] {
            assert_eq!(backlog.note(second * 1_000, waiting, heap(heard)), None, "at {second} s");
        }
        assert_eq!(backlog.note(30_000, 0, heap(9_000)), None);
        assert_eq!(backlog.note(90_000, 3, heap(9_000)), None, "what has just come");
        assert_eq!(backlog.note(120_000, 3, heap(9_000)), Some(90_000), "nobody fetches them");
    }
}
