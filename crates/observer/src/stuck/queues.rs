//! Queues that nobody consumes.

use std::collections::BTreeMap;

use protocol::{Finding, Millis, QueueView, Rule};

use super::{At, Said, counted};

/// A worker that starts again is not news.
const GRACE: Millis = 5_000;

/// A queue that holds something and has no consumer.
#[derive(Clone, Debug)]
pub struct Unconsumed<'q> {
    pub queue: &'q QueueView,
    /// Since when it was seen like that.
    pub since: Millis,
    /// Work waits in it: then it need not grow to be wrong.
    pub is_work: bool,
}

pub fn no_consumer(unconsumed: &Unconsumed<'_>, now: Millis) -> Option<Finding> {
    let QueueView { name, messages, consumers, growth } = unconsumed.queue;
    let is_idle = unconsumed.is_work && now - unconsumed.since >= GRACE;
    if *consumers > 0 || *messages == 0 || (*growth <= 0.0 && !is_idle) {
        return None;
    }
    let grows = if *growth > 0.0 { format!("; it grows by {growth:.1} a second") } else { String::new() };
    let many = counted(*messages as usize, "message");
    let sentence = format!("{name} holds {many} and nobody takes them{grows}.");
    let evidence = vec![format!("{name}: {many}, 0 consumers")];
    let advice = "Start a worker, or the service that consumes this queue; where it runs, see whether it is connected \
                  to this virtual host, with the same prefix.";
    Some(At::default().finding(Rule::NoConsumer, unconsumed.since, Said { sentence, evidence, advice }))
}

/// Queues as they were seen last, and since when nobody consumes them.
#[derive(Default)]
pub struct Watched(BTreeMap<String, (QueueView, Millis)>);

impl Watched {
    pub fn note(&mut self, queues: impl IntoIterator<Item = QueueView>, now: Millis) {
        let before = std::mem::take(&mut self.0);
        for queue in queues {
            let is_alone = |queue: &QueueView| queue.consumers == 0 && queue.messages > 0;
            let since = before.get(&queue.name).filter(|(known, _)| is_alone(known)).map(|(_, since)| *since);
            self.0.insert(queue.name.clone(), (queue, since.unwrap_or(now)));
        }
    }

    pub fn get(&self, name: &str) -> Option<&QueueView> {
        self.0.get(name).map(|(queue, _)| queue)
    }

    pub fn findings(&self, is_work: impl Fn(&str) -> bool, now: Millis) -> Vec<Finding> {
        let found = self.0.values().filter_map(|(queue, since)| {
            no_consumer(&Unconsumed { queue, since: *since, is_work: is_work(&queue.name) }, now)
        });
        found.collect()
    }
}
