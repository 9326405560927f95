//! The right Redis and the wrong number behind its port: everybody answers, and nothing is there.

use observer::{Database, Dialect, rune::Rune};
use protocol::{ClusterConnection, ClusterDialect, ClusterView, Gap, Problem};
use runeglass_tests::{
    clustered::Servers,
    rune_cluster::{
        Kept, Keys, Live, RuneCluster, hear,
        workflows::{fan_out, items, log, trigger, wait, workflow},
    },
    watched::{Looking, connection, until_heard},
};
use serde_json::{Value, json};
use session::Keep;

const SECOND: i64 = 1_000;

fn rest(seconds: u32) -> Value {
    workflow(vec![trigger(), wait("rest", seconds), log("end")], "start>rest rest>end")
}

/// Two that rest for so long, and an aggregator that waits for one of its items.
fn cluster(seconds: u32) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 600_000, Ok(json!("late")));
    cluster.start("fan", &fan_out(), Some(items(3)));
    for execution in ["one", "other"] {
        cluster.start(execution, &rest(seconds), None);
    }
    cluster.run_for(SECOND);
    cluster
}

/// Whoever looks for a while comes by all keys again and again; what is told in the end.
async fn look_on(kept: &Kept, rune: &mut Rune, from: i64, databases: &[Database]) -> Option<Problem> {
    for ten_seconds in 1..4 {
        kept.look(rune, from + ten_seconds * 10 * SECOND).await;
        kept.walk(rune).await;
    }
    rune.trouble(databases)
}

#[tokio::test]
async fn a_database_in_which_nothing_is_that_was_heard_of_is_told() {
    let mut kept = Kept::start().await;
    let cluster = cluster(3_600);
    let mut rune = Rune::new("test");
    hear(&mut rune, cluster.published());
    let now = cluster.now_millis();
    kept.look(&mut rune, now).await;
    assert_eq!(rune.trouble(&[]), None, "it was heard of just now");
    let told = look_on(&kept, &mut rune, now, &[]).await.expect("nothing is there");
    assert!(
        told.message.starts_with("database 0 of this Redis holds nothing of these workers: 3 of"),
        "{told:?}"
    );
    assert!(told.hint.contains("in the address of Redis; workers") && told.hint.contains("/1"), "{told:?}");
    let databases = [(0, 7), (1, 42), (5, 1)].map(|(number, keys)| Database { number, keys });
    let told = rune.trouble(&databases).expect("it is so");
    assert!(told.hint.contains("of Redis (database 1 has 42 keys, database 5 has 1 key);"), "{told:?}");
    // As soon as something of them is seen it is over, and not told again.
    kept.hold(&cluster.keys).await;
    kept.look(&mut rune, now + 60 * SECOND).await;
    assert_eq!(rune.trouble(&databases), None);
    kept.hold(&Keys::default()).await;
    assert_eq!(look_on(&kept, &mut rune, now + 60 * SECOND, &databases).await, None);
}

#[tokio::test]
async fn what_is_there_or_may_be_gone_is_not_missed() {
    let mut kept = Kept::start().await;
    let mut lost = Keys::default();
    lost.0.extend(cluster(3_600).keys.0.into_iter().filter(|(name, _)| name.ends_with(":count")));
    assert_eq!(lost.0.len(), 1);
    for (what, seconds, keys, executions) in [
        ("everything is there", 3_600, cluster(3_600).keys, 3),
        ("one key is there, and all else is lost", 3_600, lost, 3),
        ("waits that are due were taken meanwhile", 15, Keys::default(), 3),
        ("two are too few", 3_600, Keys::default(), 2),
    ] {
        kept.hold(&keys).await;
        let cluster = cluster(seconds);
        let mut rune = Rune::new("test");
        let left_out = ["other"].into_iter().take(3 - executions).collect::<Vec<_>>();
        let is_heard = |execution: &Value| !left_out.iter().any(|left_out| execution == left_out);
        let published = cluster.published().iter();
        let heard: Vec<_> =
            published.filter(|message| is_heard(&message.json()["execution_id"])).cloned().collect();
        hear(&mut rune, &heard);
        assert_eq!(look_on(&kept, &mut rune, cluster.now_millis(), &[]).await, None, "{what}");
    }
}

#[tokio::test]
async fn who_has_missed_something_or_cannot_ask_says_nothing() {
    let kept = Kept::start().await;
    let cluster = cluster(3_600);
    let now = cluster.now_millis();
    let mut deaf = Rune::new("test");
    hear(&mut deaf, cluster.published());
    let gap = Gap { from: now, until: Some(now + SECOND), dropped: 0, why: "too fast".to_owned() };
    deaf.missed(&gap, now + SECOND);
    assert_eq!(look_on(&kept, &mut deaf, now, &[]).await, None, "they may have gone on unheard");
    let mut blind = Rune::new("test");
    kept.look(&mut blind, now - 60 * SECOND).await;
    hear(&mut blind, cluster.published());
    let reader = kept.reader.clone();
    drop(kept);
    for ten_seconds in 1..4 {
        assert!(blind.look(&reader, now + ten_seconds * 10 * SECOND).await.is_err());
        assert_eq!(blind.trouble(&[]), None, "nobody answers");
    }
}

/// As with the compose file of the Rune services, and an address without a number.
#[tokio::test(flavor = "multi_thread")]
async fn the_window_names_the_database_that_has_keys() {
    let servers = Servers::start();
    let theirs = format!("{}/1", servers.redis.url);
    let mut live = Live::connect(&servers.rabbit.url, &theirs).await;
    let mut ours = Live::connect(&servers.rabbit.url, &servers.redis.url).await;
    let cluster = cluster(3_600);
    live.write(&cluster.keys).await;
    let looking = Looking::open(Keep::Nowhere).await;
    let connection = ClusterConnection { dialect: Some(ClusterDialect::Rune), ..connection(&servers, "") };
    looking.attach(connection.clone(), false).await;
    until_heard(&servers, "workflows").await;
    live.publish(cluster.published()).await;
    let view = looking.until_cluster("it is told", |view| !view.troubles.is_empty()).await;
    let [trouble] = &view.troubles[..] else { panic!("{view:?}") };
    assert!(trouble.message.starts_with("database 0 of this Redis holds nothing"), "{trouble:?}");
    let has = format!("database 1 has {} keys", cluster.keys.0.len());
    assert!(trouble.hint.contains(&has), "{has}: {trouble:?}");
    ours.add(&cluster.keys).await;
    looking.until_cluster("they are here, too", |view| view.troubles.is_empty()).await;

    // With the right number all of it is seen.
    looking.attach(ClusterConnection { redis: theirs, ..connection }, false).await;
    let is_found = |view: &ClusterView| {
        let mut families = view.redis.iter().flat_map(|redis| &redis.families);
        families.any(|family| family.pattern == "scheduler:timers")
    };
    let view = looking.until_cluster("its keys are found", is_found).await;
    assert_eq!(view.troubles, []);
    looking.0.close().await.expect("closed");
}
