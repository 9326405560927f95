//! How many messages lie in the queues of a cluster, and how fast that changes.

use std::collections::BTreeMap;

use protocol::{Millis, QueueView};

use crate::tap::Hearing;

#[derive(Default)]
pub struct Depths(BTreeMap<String, (QueueView, Millis)>);

impl Depths {
    /// What the broker has said last.
    pub fn note(&mut self, hearing: &Hearing) {
        let before = std::mem::take(&mut self.0);
        for (name, depth) in &hearing.queues {
            let growth = match before.get(name) {
                Some((known, at)) if hearing.asked_at > *at => {
                    let seconds = (hearing.asked_at - at) as f64 / 1_000.0;
                    trend(known.growth, (depth.messages as f64 - known.messages as f64) / seconds)
                }
                Some((known, _)) => known.growth,
                None => 0.0,
            };
            let (messages, consumers) = (depth.messages, depth.consumers);
            let queue = QueueView { name: name.clone(), messages, consumers, growth };
            self.0.insert(name.clone(), (queue, hearing.asked_at));
        }
    }

    pub fn views(&self) -> Vec<QueueView> {
        self.0.values().map(|(queue, _)| queue.clone()).collect()
    }
}

/// How fast a queue grows. Half of it is what was before, so that one look does not make a trend; what is left of one
/// comes to nothing in the end.
fn trend(before: f64, fresh: f64) -> f64 {
    ((before + fresh) / 2.0 * 10.0).trunc() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_stands_still_is_said_to_stand_still() {
        for burst in [5.0, -5.0, 1_234.5] {
            let settled = (0..20).fold(burst, |growth, _| trend(growth, 0.0));
            assert_eq!(settled, 0.0, "after a change of {burst}");
        }
        let steady = (0..20).fold(0.0, |growth, _| trend(growth, 3.0));
        assert!((2.8..=3.0).contains(&steady), "{steady}");
    }
}
