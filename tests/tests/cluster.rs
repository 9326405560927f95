//! The two halves of the cluster room, on real servers.

use cluster::{Broker, ClusterError, Decision, Delivered, Facts, Queue, Topology};
use protocol::{Lineage, LineageKey, NodeExecutionMessage};
use runeglass_tests::servers::{RabbitMq, Redis};
use serde_json::json;

fn message() -> NodeExecutionMessage {
    serde_json::from_value(json!({
        "workflow_id": "wf", "execution_id": "exec_1", "current_node": "a",
        "workflow_definition": {"nodes": [{"id": "a", "type": "log", "parameters": {"message": "$trigger"}}], "edges": []},
        "accumulated_context": {"$trigger": {"big": 9_007_199_254_740_993_i64}},
        "lineage_stack": [{"split_node_id": "s", "branch_id": "exec_1_s_5", "item_index": 5, "total_items": 100}],
        "from_node": "t", "workflow_version": 3
    }))
    .expect("a message")
}

/// The broker moves a refused message in its own time, so it is asked until it has.
async fn arrives(broker: &Broker, queue: Queue) -> Delivered {
    for _ in 0..100 {
        if let Some(delivered) = broker.receive(queue).await.expect("readable") {
            return delivered;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("nothing arrived in {queue:?}");
}

#[tokio::test]
async fn a_message_travels_through_the_broker_unharmed_and_is_parked_when_refused() {
    let rabbit = RabbitMq::start();
    let broker = Broker::connect(&rabbit.url, Topology::new("test.")).await.expect("connects");
    broker.send(&message()).await.expect("confirmed");
    let delivered = broker.receive(Queue::Execution).await.expect("readable").expect("there");
    assert_eq!(delivered.message, message(), "unknown fields and large numbers included");
    delivered.acknowledge().await.expect("acknowledged");
    assert!(broker.receive(Queue::Execution).await.expect("readable").is_none());

    broker.send(&message()).await.expect("confirmed");
    broker.receive(Queue::Execution).await.expect("readable").expect("there").park().await.expect("parked");
    let parked = arrives(&broker, Queue::Parking).await;
    assert_eq!(parked.message.current_node.as_str(), "a");

    // Declaring the same again is harmless.
    Broker::connect(&rabbit.url, Topology::new("test.")).await.expect("connects twice");
    let refused = Broker::connect("amqp://guest:wrong@127.0.0.1:1/%2f", Topology::new("test.")).await;
    assert!(matches!(refused, Err(ClusterError::Broker(_))));
}

#[tokio::test]
async fn a_decision_is_written_once() {
    let redis = Redis::start();
    assert!(redis.process() > 0);
    let facts = Facts::connect(&redis.url).await.expect("connects");
    let key = Lineage::default().push(&"split".into(), 3, 10).key();
    let first = Decision::Value("payload-1".to_owned());
    let decide = async |edge: &str, key: &LineageKey, decision: &Decision| {
        facts.decide(&"x".into(), &edge.into(), key, decision).await.expect("decided")
    };
    assert_eq!(decide("e", &key, &first).await, first);
    assert_eq!(decide("e", &key, &Decision::Done).await, first, "a duplicate or late word changes nothing");
    assert_eq!(decide("e", &LineageKey::default(), &Decision::Done).await, Decision::Done);
    assert_eq!(decide("f", &key, &Decision::Done).await, Decision::Done);
}
