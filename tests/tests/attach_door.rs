//! What may come back by itself keeps nobody out: whoever is called because a server is down can look at the rest.

use protocol::{ClusterConnection, ClusterDialect, ClusterView, Passwords, Problem, ProblemCode, Request};
use runeglass_tests::{
    Ran,
    clustered::Servers,
    run, runeglass,
    servers::{RabbitMq, Redis},
    watched::{Looking, Workers, connection, hello, patient},
};
use serde_json::json;
use session::Keep;

/// Looks for a moment from a terminal.
fn glance(servers: &Servers) -> Ran {
    let (amqp, redis) = (&servers.rabbit.url, &servers.redis.url);
    run(runeglass().args(["attach", "--for", "2", "--amqp", amqp, "--redis", redis]))
}

/// There is one trouble, and it says who is away, what is not seen meanwhile, and that nobody has to do anything.
fn one_trouble<'v>(view: &'v ClusterView, who: &str, unseen: &str) -> &'v Problem {
    let [trouble] = &view.troubles[..] else { panic!("one trouble: {view:?}") };
    assert_eq!(trouble.code, ProblemCode::Unreachable);
    assert!(trouble.message.contains(who), "{trouble:?}");
    assert!(trouble.hint.contains(unseen) && trouble.hint.contains("tried again by itself"), "{trouble:?}");
    trouble
}

async fn refusal(looking: &Looking, connection: ClusterConnection) -> Problem {
    let request = Request::Attach { connection, passwords: Passwords::default(), record: false };
    looking.0.call(request).await.expect_err("nobody is let in")
}

#[tokio::test(flavor = "multi_thread")]
async fn one_server_that_is_down_keeps_nobody_out() {
    let mut servers = Servers { rabbit: RabbitMq::start(), redis: Redis::start_durable() };
    let workers = Workers::start(&servers, "").await;
    workers.begin("early", &patient(), json!({})).await;
    let looking = Looking::open(Keep::Nowhere).await;

    servers.redis.stop();
    let first = looking.attach(connection(&servers, ""), false).await;
    one_trouble(&first, "nobody listens at the address of Redis", "logs, joins, timers");
    assert_eq!((first.redis_as_of, first.queues_as_of), (Some(first.since), None));
    let is_known = |view: &ClusterView| {
        one_trouble(view, "Redis", "logs, joins, timers");
        view.queues.len() == 8 && view.dialect == Some(ClusterDialect::Runeglass)
    };
    looking.until_cluster("queues are shown without Redis", is_known).await;
    assert!(looking.view("early").await.is_none(), "its log is in Redis");
    let told = glance(&servers);
    assert_eq!(told.code, Some(1), "{}{}", told.stdout, told.stderr);
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert!(lines[0].starts_with("LIVE "), "{lines:?}");
    assert!(lines[1].starts_with("! nobody listens at the address of Redis: "), "{lines:?}");
    assert!(lines[1].contains("not seen meanwhile") && lines[1].contains("again by itself"), "{lines:?}");
    assert!(!told.stdout.contains("over: "), "it is told once: {}", told.stdout);
    servers.redis.start_again();
    looking.until("early", |_| true).await;
    looking.until_cluster("Redis is there", |view| view.troubles.is_empty()).await;

    servers.rabbit.stop();
    let first = looking.attach(connection(&servers, ""), false).await;
    one_trouble(&first, "nobody listens at the address of RabbitMQ", "queues");
    assert_eq!((first.redis_as_of, first.queues_as_of), (None, Some(first.since)));
    looking.until("early", |_| true).await;
    one_trouble(&looking.cluster().await, "RabbitMQ", "queues");

    servers.redis.stop();
    let refused = refusal(&looking, connection(&servers, "")).await;
    assert_eq!(refused.code, ProblemCode::Unreachable);
    for sentence in ["nobody listens at the address of RabbitMQ", "nobody listens at the address of Redis"] {
        assert!(refused.message.contains(sentence), "{refused:?}");
    }
    let told = glance(&servers);
    assert_eq!((told.code, told.stdout.as_str()), (Some(3), ""), "{}", told.stderr);
    assert!(told.stderr.contains("address of RabbitMQ; nobody listens at the address of Redis"));
    assert!(looking.0.cluster().await.is_some(), "what was looked into before still is");
    servers.redis.start_again();
    servers.rabbit.start_again();
    workers.begin("late", &hello(), json!({})).await;
    looking.until_ended("late").await;
    looking.until_cluster("both are there", |view| view.troubles.is_empty()).await;
    looking.0.close().await.expect("closed");
    workers.close().await;
}

/// A wrong password does not become right by waiting, whoever else is away.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_must_put_right_is_said_at_the_door() {
    let servers = Servers::shared();
    let looking = Looking::open(Keep::Nowhere).await;
    let nobody = ("amqp://guest:guest@127.0.0.1:1/%2f".to_owned(), "redis://127.0.0.1:1".to_owned());
    let redis = format!("redis://ada:wrong@127.0.0.1:{}", servers.redis.port);
    let connection = connection(&servers, "");
    let refused = refusal(&looking, ClusterConnection { amqp: nobody.0, redis, ..connection.clone() }).await;
    assert_eq!(refused.code, ProblemCode::Refused);
    assert!(refused.message.contains("Redis does not let this user in"), "{refused:?}");
    let amqp = format!("amqp://guest:wrong@127.0.0.1:{}/%2f", servers.rabbit.port);
    let refused = refusal(&looking, ClusterConnection { amqp, redis: nobody.1, ..connection }).await;
    assert_eq!(refused.code, ProblemCode::Refused);
    assert!(refused.message.contains("RabbitMQ does not let this user in"), "{refused:?}");
}

/// What only our own workers are asked is needed once it is known that they are ours.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_asked_is_told_once_it_is_needed() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "need.").await;
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("connects");
    let rights = ["on", ">secret", "~*", "-@all", "+@connection", "+@read", "+time", "-xrange"];
    redis::cmd("ACL").arg("SETUSER").arg("blind").arg(&rights).exec_async(&mut redis).await.expect("made");
    let redis = format!("redis://blind:secret@127.0.0.1:{}", servers.redis.port);
    let looking = Looking::open(Keep::Nowhere).await;
    let first = looking.attach(ClusterConnection { redis, ..connection(&servers, "need.") }, false).await;
    assert_eq!(first.troubles, []);
    workers.begin("one", &patient(), json!({})).await;
    let lacks = |view: &ClusterView| {
        view.troubles.iter().any(|trouble| trouble.message.contains("lacks a permission"))
    };
    let view = looking.until_cluster("it is needed", lacks).await;
    assert_eq!(view.dialect, Some(ClusterDialect::Runeglass));
    looking.0.close().await.expect("closed");
    workers.close().await;
}
