//! Firings that rest. They are found by their moment, to know which is due first, and by their name, to let one go on:
//! what that costs must not depend on how many rest, because a fan-out may put a hundred thousand to rest.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::{MessageId, Millis, NodeId};

#[derive(Default)]
pub struct Parked {
    /// By node and by the moment they rest until.
    by_moment: BTreeMap<NodeId, BTreeSet<(Millis, MessageId)>>,
    /// The moment each rests until.
    moments: HashMap<MessageId, Millis>,
}

impl Parked {
    /// As it was kept.
    pub fn of(listed: Vec<(NodeId, Vec<(Millis, MessageId)>)>) -> Self {
        let mut parked = Self::default();
        for (node, resting) in listed {
            for (due, message) in resting {
                parked.rest(&node, &message, due);
            }
        }
        parked
    }

    pub fn listed(&self) -> Vec<(NodeId, Vec<(Millis, MessageId)>)> {
        let list = |(node, resting): (&NodeId, &BTreeSet<(Millis, MessageId)>)| {
            (node.clone(), resting.iter().cloned().collect())
        };
        self.by_moment.iter().map(list).collect()
    }

    /// A firing rests until a moment; false where it rested before, and only the moment is another one.
    pub fn rest(&mut self, node: &NodeId, message: &MessageId, due: Millis) -> bool {
        let is_new = !self.go_on(node, message);
        self.moments.insert(message.clone(), due);
        self.by_moment.entry(node.clone()).or_default().insert((due, message.clone()));
        is_new
    }

    /// It rests no longer; false where it did not.
    pub fn go_on(&mut self, node: &NodeId, message: &MessageId) -> bool {
        let Some(due) = self.moments.remove(message) else { return false };
        if let Some(resting) = self.by_moment.get_mut(node) {
            resting.remove(&(due, message.clone()));
        }
        true
    }

    /// The moment at which the first firing of a node goes on.
    pub fn next_of(&self, node: &NodeId) -> Option<Millis> {
        self.by_moment.get(node)?.first().map(|(due, _)| *due)
    }

    pub fn len(&self) -> usize {
        self.moments.len()
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Event, ExecutionStarted, Fact, Firing, Lineage, NodeParked, NodeStarted, Payload};
    use serde_json::json;

    use super::*;
    use crate::ViewFold;

    fn message(number: usize) -> MessageId {
        MessageId::from(format!("m{number}"))
    }

    #[test]
    fn the_first_moment_is_known_and_one_that_moves_rests_once() {
        let node = NodeId::from("wait");
        let mut parked = Parked::default();
        assert!(parked.rest(&node, &message(1), 50) && parked.rest(&node, &message(2), 30));
        assert_eq!(parked.next_of(&node), Some(30));
        assert!(!parked.rest(&node, &message(2), 90), "it rested before");
        assert_eq!((parked.next_of(&node), parked.len()), (Some(50), 2));
        assert_eq!(Parked::of(parked.listed()).listed(), parked.listed());
        assert!(parked.go_on(&node, &message(1)) && !parked.go_on(&node, &message(1)));
        assert_eq!((parked.next_of(&node), parked.len()), (Some(90), 1));
        assert!(parked.go_on(&node, &message(2)));
        assert_eq!((parked.next_of(&node), parked.len()), (None, 0));
    }

    fn event(seq: u64, fact: Fact) -> Event {
        Event { execution_id: "e".into(), seq, at: 0, fact }
    }

    fn begun() -> ViewFold {
        let nodes = json!([{"id": "s", "type": "split"}, {"id": "wait", "type": "wait"}]);
        let definition = Payload::new(json!({"nodes": nodes, "edges": []}));
        let started = ExecutionStarted {
            workflow_id: "w".into(),
            title: "many rest".to_owned(),
            path: None,
            definition_hash: String::new(),
            definition,
            input: Payload::new(json!({})),
            starts: Vec::new(),
            origin: None,
            until: None,
            observed: None,
            other: Default::default(),
        };
        ViewFold::begin(&event(1, Fact::ExecutionStarted(Box::new(started)))).expect("a start")
    }

    /// Where each of them had to look through all others this would take an hour.
    #[test]
    fn a_hundred_thousand_rest_and_go_on() {
        const MANY: u32 = 100_000;
        let mut fold = begun();
        let firing = |index: u32| Firing {
            message_id: message(index as usize),
            node_id: "wait".into(),
            lineage: Lineage::default().push(&"s".into(), index, MANY),
            attempt: 1,
        };
        let start =
            |index| Fact::NodeStarted(NodeStarted { firing: firing(index), parameters: None, input: None });
        for index in 0..MANY {
            fold.apply(&event(1, start(index)));
            let due = Millis::from(MANY - index);
            fold.apply(&event(1, Fact::NodeParked(NodeParked { firing: firing(index), due })));
        }
        let node = &fold.view().nodes["wait"];
        assert_eq!((node.counts.waiting, node.counts.running, node.due), (MANY as usize, 0, Some(1)));
        for index in (1..MANY).rev() {
            fold.apply(&event(1, start(index)));
        }
        let node = &fold.view().nodes["wait"];
        assert_eq!((node.counts.waiting, node.due), (1, Some(Millis::from(MANY))));
    }
}
