//! Executions for the tests of a store.

use protocol::{
    Event, ExecutionEnded, ExecutionStarted, ExecutionStatus, Fact, Firing, Lineage, MessageId, NodeId,
    NodeStarted, NodeSucceeded, Payload,
};
use serde_json::{Value, json};

/// An execution of `count` chained nodes that all put out `output`.
pub fn execution(id: &str, count: usize, output: &Value) -> Vec<Event> {
    let node = |at: usize| json!({"id": format!("n{at}"), "type": "simulate", "parameters": {}});
    let edge =
        |at: usize| json!({"id": format!("e{at}"), "src": format!("n{}", at - 1), "dst": format!("n{at}")});
    let definition = json!({
        "nodes": (0..count).map(node).collect::<Vec<_>>(), "edges": (1..count).map(edge).collect::<Vec<_>>()
    });
    let node_id = |at: usize| -> NodeId { format!("n{at}").into() };
    // The ids that the engine derives: the start, then along each edge.
    let mut messages = vec![MessageId::start(&id.into(), &node_id(0))];
    for at in 1..count {
        messages.push(messages[at - 1].child(&format!("e{at}").into(), 0));
    }
    let firing = |at: usize| Firing {
        message_id: messages[at].clone(),
        node_id: node_id(at),
        lineage: Lineage::default(),
        attempt: 1,
    };
    let mut facts = vec![Fact::ExecutionStarted(Box::new(ExecutionStarted {
        workflow_id: "w".into(),
        title: "W".to_owned(),
        path: None,
        definition_hash: "h".to_owned(),
        definition: Payload::new(definition),
        input: Payload::new(json!({"x": 1})),
        starts: vec![node_id(0)],
        origin: None,
        until: None,
        observed: None,
        other: Default::default(),
    }))];
    for at in 0..count {
        facts.push(Fact::NodeStarted(NodeStarted {
            firing: firing(at),
            parameters: Some(Payload::new(json!({}))),
            input: None,
        }));
        facts.push(Fact::NodeSucceeded(NodeSucceeded {
            firing: firing(at),
            duration: 3,
            output: Payload::new(output.clone()),
            items: None,
            taken: (at + 1 < count).then(|| format!("e{}", at + 1).into()).into_iter().collect(),
            echo: Default::default(),
        }));
    }
    facts.push(Fact::ExecutionEnded(ExecutionEnded { status: ExecutionStatus::Completed, error: None }));
    let event =
        |(at, fact)| Event { execution_id: id.into(), seq: at as u64 + 1, at: 1_000 + at as i64, fact };
    facts.into_iter().enumerate().map(event).collect()
}
