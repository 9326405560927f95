//! How long items take at the nodes of an execution, so that one that lags behind is told; and what was begun again.

use std::collections::{HashMap, HashSet, VecDeque};

use engine::{Ledger, Opened};
use protocol::{Event, ExecutionId, Fact, Finding, Firing, MessageId, Millis, NodeId};

use crate::stuck::{self, At, Item, SLOW};

/// Times of one node that are remembered, the latest.
const REMEMBERED: usize = 64;

#[derive(Default)]
pub struct Pace {
    /// What items have taken that went well, by node.
    took: HashMap<NodeId, VecDeque<Millis>>,
    /// What has begun, and neither ended nor rests.
    busy: HashSet<MessageId>,
    /// When its log was read to the end last.
    read_at: Option<Millis>,
}

impl Pace {
    /// Says how many of these were begun by one worker after another: their messages were delivered again.
    pub fn note(&mut self, events: &[Event]) -> u64 {
        let mut again = 0;
        for event in events {
            match &event.fact {
                Fact::NodeStarted(started) => {
                    again += u64::from(!self.busy.insert(started.firing.message_id.clone()));
                }
                Fact::NodeSucceeded(done) => {
                    self.busy.remove(&done.firing.message_id);
                    self.note_time(&done.firing, done.duration);
                }
                Fact::NodeFailed(done) => drop(self.busy.remove(&done.firing.message_id)),
                Fact::AttemptFailed(failed) => drop(self.busy.remove(&failed.firing.message_id)),
                Fact::NodeParked(parked) => drop(self.busy.remove(&parked.firing.message_id)),
                Fact::Intervened(done) => drop(self.busy.remove(&done.firing.message_id)),
                Fact::ExecutionStarted(_)
                | Fact::TimedOut(_)
                | Fact::Prolonged(_)
                | Fact::TimerFired(_)
                | Fact::Gathered(_)
                | Fact::Missed(_)
                | Fact::ExecutionEnded(_) => {}
            }
        }
        again
    }

    /// Its log was read to the end at that moment: whoever has not ended then goes on.
    pub fn read_to_end(&mut self, now: Millis) {
        self.read_at = Some(now);
    }

    fn note_time(&mut self, firing: &Firing, duration: Millis) {
        if firing.lineage.is_root() {
            return;
        }
        let took = self.took.entry(firing.node_id.clone()).or_default();
        took.push_back(duration);
        if took.len() > REMEMBERED {
            took.pop_front();
        }
    }

    /// No more than workers have in their hands at once. What goes on is known as of the last time when all was read: of
    /// what nobody has read yet, or cannot read now, it is not known how long it has taken.
    pub fn findings(&self, id: &ExecutionId, ledger: &Ledger) -> Vec<Finding> {
        let Some(now) = self.read_at else { return Vec::new() };
        let slow = |opened: &Opened| {
            let message = &opened.message;
            let since = opened.started.filter(|since| now - since >= SLOW)?;
            let node = ledger.plan().workflow.nodes.get(message.node)?;
            let peers = self.took.get(&node.id)?.iter().copied().collect();
            let at = At::node(id, &node.id, message.lineage.key(), node.title());
            stuck::slow_item(&Item { at, since, peers }, now)
        };
        ledger.busy().filter_map(slow).collect()
    }
}

#[cfg(test)]
mod tests {
    use engine::Message;
    use protocol::{ExecutionStarted, NodeStarted, NodeSucceeded, Payload, Rule};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        Dialect,
        own::{Followed, Own},
    };

    /// An execution as its log tells it.
    struct Logged {
        ledger: Ledger,
        pace: Pace,
        again: u64,
        seq: u64,
    }

    impl Logged {
        fn begin(workflow: Value) -> Self {
            let fact = Fact::ExecutionStarted(Box::new(ExecutionStarted {
                workflow_id: "w".into(),
                title: "Fan".to_owned(),
                path: None,
                definition_hash: String::new(),
                definition: Payload::new(workflow),
                input: Payload::new(json!({})),
                starts: vec!["start".into()],
                origin: None,
                until: None,
                observed: None,
                other: Default::default(),
            }));
            let first = Event { execution_id: "x".into(), seq: 1, at: 0, fact };
            let mut ledger = Ledger::begin(std::slice::from_ref(&first)).expect("it begins");
            ledger.apply(&first).expect("it adds up");
            Self { ledger, pace: Pace::default(), again: 0, seq: 1 }
        }

        fn say(&mut self, at: Millis, fact: Fact) {
            self.seq += 1;
            let event = Event { execution_id: "x".into(), seq: self.seq, at, fact };
            self.ledger.apply(&event).expect("it adds up");
            self.again += self.pace.note(&[event]);
        }

        fn start(&mut self, message: &Message, at: Millis) -> Firing {
            let firing = self.ledger.firing(&message.id, 1).expect("it is under way");
            let started = NodeStarted { firing: firing.clone(), parameters: None, input: None };
            self.say(at, Fact::NodeStarted(started));
            firing
        }

        fn succeed(&mut self, message: &Message, items: Option<Value>, edge: &str, duration: Millis) {
            let firing = self.start(message, 0);
            let succeeded = NodeSucceeded {
                firing,
                duration,
                output: Payload::new(json!({})),
                items: items.map(Payload::new),
                taken: vec![edge.into()],
                echo: Default::default(),
            };
            self.say(duration, Fact::NodeSucceeded(succeeded));
        }

        fn next(&mut self) -> Message {
            self.ledger.next_ready().expect("something is ready")
        }

        /// With all of its log read at that moment.
        fn slow(&mut self, now: Millis) -> Vec<Finding> {
            self.pace.read_to_end(now);
            self.pace.findings(&"x".into(), &self.ledger)
        }
    }

    /// A fan-out of so many items; none of them has begun.
    fn fan_out(count: usize) -> (Logged, Vec<Message>) {
        let mut logged = Logged::begin(json!({
            "nodes": [
                {"id": "start", "type": "trigger"},
                {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}},
                {"id": "work", "type": "log", "name": "Fetch", "parameters": {"message": "$item"}},
                {"id": "all", "type": "aggregator"}
            ],
            "edges": [
                {"id": "a", "src": "start", "dst": "each"}, {"id": "b", "src": "each", "dst": "work"},
                {"id": "c", "src": "work", "dst": "all"}
            ]
        }));
        let first = logged.next();
        logged.succeed(&first, None, "a", 30_000);
        let split = logged.next();
        logged.succeed(&split, Some(json!((0..count).collect::<Vec<usize>>())), "b", 1);
        let items = (0..count).map(|_| logged.next()).collect();
        (logged, items)
    }

    #[test]
    fn an_item_that_lags_behind_its_peers_is_named() {
        let (mut logged, items) = fan_out(7);
        for item in &items[..4] {
            logged.succeed(item, None, "c", 1_000);
        }
        logged.start(&items[6], 40_000);
        assert_eq!(logged.slow(100_000), [], "too few peers tell what is usual");
        logged.succeed(&items[4], None, "c", 1_000);
        assert_eq!(logged.slow(49_000), [], "it may come in a moment");
        let found = logged.slow(100_000);
        assert_eq!(found.len(), 1, "what has not begun is not slow: {found:?}");
        assert_eq!((found[0].rule, found[0].since), (Rule::SlowItem, 40_000));
        assert_eq!(found[0].key.as_ref().map(|key| key.as_str()), Some("each=6"));
        assert!(
            found[0].sentence.contains("Fetch at each=6 runs for 60 s, where others took 1 s"),
            "{found:?}"
        );
        assert_eq!(logged.again, 0);
        logged.succeed(&items[6], None, "c", 60_000);
        assert_eq!(logged.slow(200_000), []);
        assert_eq!(logged.again, 1, "a second worker has begun with it");
    }

    #[test]
    fn what_is_not_read_yet_is_not_slow() {
        let (mut logged, items) = fan_out(7);
        items[..6].iter().for_each(|item| logged.succeed(item, None, "c", 1_000));
        logged.start(&items[6], 40_000);
        let found = |logged: &Logged| logged.pace.findings(&"x".into(), &logged.ledger).len();
        assert_eq!(found(&logged), 0, "it may have ended long ago, further on in the log");
        logged.pace.read_to_end(45_000);
        assert_eq!(found(&logged), 0, "Redis is gone since: nobody knows how it goes on");
        logged.pace.read_to_end(90_000);
        assert_eq!(found(&logged), 1, "it still runs");
    }

    #[test]
    fn however_many_lag_behind_each_of_them_counts() {
        let mut own = Own::new("");
        for number in 0..12 {
            let (mut logged, items) = fan_out(30);
            items[..5].iter().for_each(|item| logged.succeed(item, None, "c", 1_000));
            items[5..].iter().for_each(|item| drop(logged.start(item, 40_000)));
            let id = ExecutionId::from(format!("x-{number}"));
            logged.pace.read_to_end(100_000);
            own.followed.insert(id.clone(), Followed::Whole(Box::new(logged.ledger)));
            own.paces.insert(id, logged.pace);
        }
        let mut found = own.findings(100_000);
        let unlisted = stuck::list(&mut found);
        let all = found.len() + unlisted.values().sum::<usize>();
        assert_eq!(all, 12 * 25, "few of them are listed, and the others are counted");
    }
}
