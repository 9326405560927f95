//! Queues that nobody consumes, and what was put aside.

use std::collections::BTreeMap;

use protocol::{Finding, Millis, QueueView, Rule};

use super::{At, Said, counted};

/// A worker that starts again is not news.
const GRACE: Millis = 5_000;
/// What comes in bursts grows in between as well.
const LULL: Millis = 60_000;

/// A queue that holds something and has no consumer.
#[derive(Clone, Debug)]
pub struct Unconsumed<'q> {
    pub queue: &'q QueueView,
    /// Since when it was seen like that.
    pub since: Millis,
    /// When it was seen to grow last, since then.
    pub grew_at: Option<Millis>,
    /// Work waits in it: then it need not grow to be wrong.
    pub is_work: bool,
}

pub fn no_consumer(unconsumed: &Unconsumed<'_>, now: Millis) -> Option<Finding> {
    let QueueView { name, messages, consumers, growth } = unconsumed.queue;
    let lasts = now - unconsumed.since >= GRACE;
    let grows = *growth > 0.0 || unconsumed.grew_at.is_some_and(|at| now - at < LULL);
    if *consumers > 0 || *messages == 0 || !lasts || !(grows || unconsumed.is_work) {
        return None;
    }
    let grows = if *growth > 0.0 { format!("; it grows by {growth:.1} a second") } else { String::new() };
    let many = counted(*messages as usize, "message");
    let them = if *messages == 1 { "it" } else { "them" };
    let sentence = format!("{name} holds {many} and nobody takes {them}{grows}.");
    let evidence = vec![format!("{name}: {many}, 0 consumers")];
    let advice = "Start a worker, or the service that consumes this queue; where it runs, see whether it is connected \
                  to this virtual host, with the same prefix.";
    let found =
        At::default().finding(Rule::NoConsumer, unconsumed.since, Said { sentence, evidence, advice });
    Some(Finding { queue: Some(name.clone()), ..found })
}

/// A queue for what workers have given up, which is never read by itself.
pub fn parked(queue: &QueueView, since: Millis) -> Option<Finding> {
    let QueueView { name, messages, .. } = queue;
    let many = match *messages {
        0 => return None,
        1 => "1 message that no worker could deal with is".to_owned(),
        more => format!("{more} messages that no worker could deal with are"),
    };
    let sentence = format!("{many} parked in {name}.");
    let evidence = vec![format!("{name}: {}", counted(*messages as usize, "message"))];
    let advice = "Read them there: the header x-reason of each says why. Whatever waits for them waits for ever. When the \
                  reason is gone, send them to the work queue again, or cancel the executions and take them away.";
    let found = At::default().finding(Rule::Parked, since, Said { sentence, evidence, advice });
    Some(Finding { queue: Some(name.clone()), ..found })
}

/// Queues as they were seen last.
#[derive(Default)]
pub struct Watched(BTreeMap<String, Seen>);

struct Seen {
    queue: QueueView,
    /// Since when nobody consumes it, if nobody does.
    since: Millis,
    grew_at: Option<Millis>,
}

impl Watched {
    pub fn note(&mut self, queues: impl IntoIterator<Item = QueueView>, now: Millis) {
        let mut before = std::mem::take(&mut self.0);
        for queue in queues {
            let is_alone = |queue: &QueueView| queue.consumers == 0 && queue.messages > 0;
            let known = before.remove(&queue.name).filter(|known| is_alone(&known.queue));
            let (since, grew_at) = known.map_or((now, None), |known| (known.since, known.grew_at));
            let grew_at = if queue.growth > 0.0 { Some(now) } else { grew_at };
            self.0.insert(queue.name.clone(), Seen { queue, since, grew_at });
        }
    }

    pub fn get(&self, name: &str) -> Option<&QueueView> {
        self.0.get(name).map(|seen| &seen.queue)
    }

    /// All that is in them.
    pub fn messages(&self) -> u64 {
        self.0.values().map(|seen| seen.queue.messages).sum()
    }

    pub fn parked(&self) -> impl Iterator<Item = Finding> {
        self.0.values().filter_map(|Seen { queue, since, .. }| parked(queue, *since))
    }

    pub fn findings(&self, is_work: impl Fn(&str) -> bool, now: Millis) -> Vec<Finding> {
        let found = self.0.values().filter_map(|Seen { queue, since, grew_at }| {
            let is_work = is_work(&queue.name);
            no_consumer(&Unconsumed { queue, since: *since, grew_at: *grew_at, is_work }, now)
        });
        found.collect()
    }
}
