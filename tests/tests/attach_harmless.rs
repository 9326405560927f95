//! An observer changes nothing, on a cluster of either dialect, and leaves nothing when it is killed.

use runeglass_tests::{
    clustered::Servers,
    rune_cluster::{
        Live, RuneCluster,
        workflows::{fan_out as rune_fan_out, items, log, merge_behind_a_choice, trigger, wait, workflow},
    },
    traces::{Onlooker, Traces, own_queue},
    watched::{Workers, fan_out, patient},
};
use serde_json::json;

/// Its queue has a bound in every way, and goes with it.
fn assert_bounded(queue: &str) {
    let told: Vec<&str> = queue.split('\t').collect();
    let [_, durable, auto_delete, exclusive, arguments] = told[..] else { panic!("{queue}") };
    assert_eq!((durable, auto_delete, exclusive), ("false", "true", "true"), "{queue}");
    for bound in
        ["x-max-length\"", "x-max-length-bytes", "x-overflow", "drop-head", "x-message-ttl", "x-expires"]
    {
        assert!(arguments.contains(bound), "{bound}: {arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_of_our_own_workers_leaves_no_trace() {
    let servers = Servers::start();
    let workers = Workers::start(&servers, "").await;
    let input = json!({"items": (0..50).collect::<Vec<u32>>()});
    workers.begin("alone", &fan_out(1), input.clone()).await;
    let alone = workers.end("alone").await;
    workers.begin("resting", &patient(), json!({})).await;
    let before = Traces::at_rest(&servers).await;
    assert!(before.has_queue("workflow.node.status"), "statuses wait for a master that has not come yet");

    let mut onlooker = Onlooker::start(&servers).await;
    onlooker.saw("\"execution_id\":\"resting\"");
    assert_bounded(&own_queue(&servers));
    before.assert_same(&servers, "looks").await;

    // What it looks at has the same result as before.
    workers.begin("watched", &fan_out(1), input).await;
    let watched = workers.end("watched").await;
    assert_eq!(watched["final_context"], alone["final_context"]);
    onlooker.saw("\"execution_id\":\"watched\"");
    onlooker.has_asked(&["TIME", "SCAN", "XRANGE", "ZRANGE", "INFO"]).await;
    let before = Traces::at_rest(&servers).await;
    onlooker.kill(&servers).await;
    before.assert_same(&servers, "looks").await;
    onlooker.assert_only_read();
    workers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_of_rune_services_leaves_no_trace() {
    let servers = Servers::start();
    let mut live = Live::connect(&servers.rabbit.url, &servers.redis.url).await;
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 60_000, Ok(json!("late")));
    let rests = workflow(vec![trigger(), wait("rest", 3_600), log("end")], "start>rest rest>end");
    cluster.start("stuck", &merge_behind_a_choice(), Some(json!({"n": 9})));
    cluster.start("rests", &rests, None);
    cluster.run_for(1_000);
    live.publish(cluster.published()).await;
    live.add(&cluster.keys).await;
    let told = cluster.published().len();
    let before = Traces::at_rest(&servers).await;

    let mut onlooker = Onlooker::start(&servers).await;
    // Both began before, and are known by what is kept of them.
    onlooker.saw("\"execution_id\":\"rests\"");
    assert_bounded(&own_queue(&servers));
    before.assert_same(&servers, "nothing").await;

    cluster.start("watched", &rune_fan_out(), Some(items(3)));
    cluster.run_for(1_000);
    live.publish(&cluster.published()[told..]).await;
    live.add(&cluster.keys).await;
    onlooker.saw("\"execution_id\":\"watched\"");
    let asked = ["TIME", "SCAN", "ZRANGE", "HKEYS", "HGET", "SMEMBERS", "GET", "INFO", "MEMORY USAGE"];
    onlooker.has_asked(&asked).await;
    let before = Traces::at_rest(&servers).await;
    onlooker.kill(&servers).await;
    before.assert_same(&servers, "nothing").await;
    onlooker.assert_only_read();
}
