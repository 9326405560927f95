//! How long items take at the nodes of an execution, so that one that lags behind is told.

use std::collections::{HashMap, VecDeque};

use engine::Ledger;
use protocol::{Event, ExecutionId, Fact, Finding, Millis, NodeId, NodeSucceeded};

use crate::stuck::{self, At, Item, SLOW};

/// Times of one node that are remembered, the latest.
const REMEMBERED: usize = 64;
/// Items of one execution that are told of.
const LISTED: usize = 20;

/// What items have taken that went well, by node.
#[derive(Default)]
pub struct Pace(HashMap<NodeId, VecDeque<Millis>>);

impl Pace {
    pub fn note(&mut self, events: &[Event]) {
        for event in events {
            let Fact::NodeSucceeded(NodeSucceeded { firing, duration, .. }) = &event.fact else { continue };
            if firing.lineage.is_root() {
                continue;
            }
            let took = self.0.entry(firing.node_id.clone()).or_default();
            took.push_back(*duration);
            if took.len() > REMEMBERED {
                took.pop_front();
            }
        }
    }

    pub fn findings(&self, id: &ExecutionId, ledger: &Ledger, now: Millis) -> Vec<Finding> {
        let slow = ledger.busy().filter_map(|opened| {
            let message = &opened.message;
            let since = opened.started.filter(|since| now - since >= SLOW)?;
            let node = ledger.plan().workflow.nodes.get(message.node)?;
            let peers = self.0.get(&node.id)?.iter().copied().collect();
            let at = At::node(id, &node.id, message.lineage.key(), node.title());
            stuck::slow_item(&Item { at, since, peers }, now)
        });
        slow.take(LISTED).collect()
    }
}

#[cfg(test)]
mod tests {
    use engine::Message;
    use protocol::{ExecutionStarted, Firing, NodeStarted, Payload, Rule};
    use serde_json::{Value, json};

    use super::*;

    /// An execution as its log tells it.
    struct Logged {
        ledger: Ledger,
        pace: Pace,
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
            Self { ledger, pace: Pace::default(), seq: 1 }
        }

        fn say(&mut self, at: Millis, fact: Fact) {
            self.seq += 1;
            let event = Event { execution_id: "x".into(), seq: self.seq, at, fact };
            self.ledger.apply(&event).expect("it adds up");
            self.pace.note(&[event]);
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

        fn slow(&self, now: Millis) -> Vec<Finding> {
            self.pace.findings(&"x".into(), &self.ledger, now)
        }
    }

    #[test]
    fn an_item_that_lags_behind_its_peers_is_named() {
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
        logged.succeed(&split, Some(json!([0, 1, 2, 3, 4, 5, 6])), "b", 1);
        let items: Vec<Message> = (0..7).map(|_| logged.next()).collect();
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
        logged.succeed(&items[6], None, "c", 60_000);
        assert_eq!(logged.slow(200_000), []);
    }
}
