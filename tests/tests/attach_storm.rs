//! Looking into a cluster that misbehaves: servers that go and come, floods, garbage, and doors that stay shut.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use lapin::{
    BasicProperties, Connection, ConnectionProperties,
    options::{BasicConsumeOptions, BasicPublishOptions},
    types::{FieldTable, ShortString},
};
use protocol::{
    ClusterConnection, ClusterDialect, ClusterView, ConnectionStep, ExecutionPhase, Passwords, Request,
    Response, Rule,
};
use runeglass_tests::{
    clustered::Servers,
    outside::Web,
    proxy::Proxy,
    run, runeglass,
    servers::{RabbitMq, Redis},
    watched::{Looking, Workers, connection, hello},
};
use serde_json::json;
use session::{Clock, Keep, Options, Reach, Session};

async fn publisher(servers: &Servers) -> (Connection, lapin::Channel) {
    let connection = Connection::connect(&servers.rabbit.url, ConnectionProperties::default()).await;
    let connection = connection.expect("connects");
    let channel = connection.create_channel().await.expect("a channel");
    (connection, channel)
}

async fn publish(channel: &lapin::Channel, key: &str, body: &[u8]) {
    let (exchange, key) = (ShortString::from("odd.workflows"), ShortString::from(key));
    let sent = channel.basic_publish(
        exchange,
        key,
        BasicPublishOptions::default(),
        body,
        BasicProperties::default(),
    );
    sent.await.expect("sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_on_when_the_servers_are_back() {
    let mut servers = Servers { rabbit: RabbitMq::start(), redis: Redis::start_durable() };
    let workers = Workers::start(&servers, "").await;
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, ""), false).await;
    workers.begin("one", &hello(), json!({})).await;
    looking.until_ended("one").await;

    servers.redis.crash();
    workers.begin("two", &hello(), json!({})).await;
    assert_eq!(looking.until_ended("two").await.summary.phase, ExecutionPhase::Completed);
    looking.until_cluster("Redis is back", |view| view.troubles.is_empty()).await;

    let crash = tokio::task::spawn_blocking(move || {
        servers.rabbit.crash();
        servers
    });
    let gone = looking.until_cluster("the broker is gone", |view| !view.troubles.is_empty()).await;
    let trouble = &gone.troubles[0];
    assert!(
        trouble.message.contains("is gone") || trouble.message.contains("nobody listens"),
        "who was let in knows that it is the right server: {trouble:?}"
    );
    assert!(trouble.hint.contains("tried again by itself"), "{trouble:?}");
    let heard = gone.queues_as_of.expect("what is old says so");
    assert!(heard >= gone.since && gone.redis_as_of.is_none(), "{gone:?}");
    let servers = crash.await.expect("started again");
    let is_over = |view: &ClusterView| view.gaps.last().is_some_and(|gap| gap.until.is_some());
    let is_back = |view: &ClusterView| view.troubles.is_empty() && is_over(view);
    let view = looking.until_cluster("the broker is back, and what was missed is told", is_back).await;
    let gap = view.gaps.last().expect("what was missed is told");
    assert!(gap.why.contains("no connection to RabbitMQ"), "{gap:?}");
    assert!(gap.why.contains("no event is lost"), "of our own workers the log is read: {gap:?}");
    workers.begin("three", &hello(), json!({})).await;
    assert_eq!(looking.until_ended("three").await.summary.phase, ExecutionPhase::Completed);
    looking.0.close().await.expect("closed");
    workers.close().await;
    drop(servers);
}

/// A network that has changed says nothing to anybody: what was sent just never arrives.
#[tokio::test(flavor = "multi_thread")]
async fn it_dials_again_when_redis_falls_silent() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "mute.").await;
    let way = Proxy::before(servers.redis.port).await;
    let redis = format!("redis://127.0.0.1:{}", way.port);
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(ClusterConnection { redis, ..connection(&servers, "mute.") }, false).await;
    workers.begin("one", &hello(), json!({})).await;
    looking.until_ended("one").await;
    way.silence();
    workers.begin("two", &hello(), json!({})).await;
    assert_eq!(looking.until_ended("two").await.summary.phase, ExecutionPhase::Completed);
    looking.until_cluster("it is said no longer", |view| view.troubles.is_empty()).await;
    looking.0.close().await.expect("closed");
    workers.close().await;
}

/// The same of RabbitMQ, which is heard of every two seconds at the latest.
#[tokio::test(flavor = "multi_thread")]
async fn it_dials_again_when_rabbitmq_falls_silent() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "hush.").await;
    let way = Proxy::before(servers.rabbit.port).await;
    let amqp = format!("amqp://guest:guest@127.0.0.1:{}/%2f", way.port);
    let looking = Looking::open(Keep::Nowhere).await;
    // Of others everything is copied, so that something can be missed.
    let theirs =
        ClusterConnection { amqp, dialect: Some(ClusterDialect::Rune), ..connection(&servers, "hush.") };
    looking.attach(theirs, false).await;
    looking.until_cluster("it listens", |view| !view.queues.is_empty()).await;
    way.silence();
    let gone = looking.until_cluster("it is missed", |view| !view.troubles.is_empty()).await;
    assert!(gone.troubles[0].message.contains("RabbitMQ"), "{:?}", gone.troubles);
    let is_back = |view: &ClusterView| {
        view.troubles.is_empty() && view.gaps.last().is_some_and(|gap| gap.until.is_some())
    };
    let view = looking.until_cluster("it has dialled again", is_back).await;
    assert!(view.gaps[0].why.contains("no connection to RabbitMQ"), "{:?}", view.gaps);
    let heard = view.heard;
    workers.begin("one", &hello(), json!({})).await;
    looking.until_cluster("it hears again", |view| view.heard > heard).await;
    looking.0.close().await.expect("closed");
    workers.close().await;
}

/// Keys of others, and facts that nobody here understands, are told and passed over.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_read_holds_up_no_other() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "new.").await;
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("connects");
    let mut set = redis::pipe();
    set.cmd("SET").arg("new.exec:{a}:log").arg("no log").ignore();
    let fact = r#"{"type": "said_by_newer_workers", "data": {}}"#;
    set.cmd("XADD").arg("new.exec:{b}:log").arg("1-0").arg("at").arg(1).arg("fact").arg(fact).ignore();
    set.cmd("ZADD").arg("new.looks").arg(9e15).arg("a").arg(9e15).arg("b").ignore();
    let _: () = set.query_async(&mut redis).await.expect("written");
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, "new."), false).await;
    workers.begin("c", &hello(), json!({})).await;
    assert_eq!(looking.until_ended("c").await.summary.phase, ExecutionPhase::Completed);
    let view = looking.until_cluster("they are counted", |view| view.unreadable == 2).await;
    assert_eq!(view.troubles, []);
    looking.0.close().await.expect("closed");
    workers.close().await;
}

/// A laptop that was shut for a while does not believe that it has heard everything.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_stood_still_says_so() {
    let servers = Servers::shared();
    let mut observer = runeglass();
    let (amqp, redis) = (&servers.rabbit.url, &servers.redis.url);
    observer.args(["attach", "--json", "--for", "600", "--dialect", "rune", "--queue-prefix", "odd."]);
    observer.args(["--amqp", amqp, "--redis", redis]);
    // The exchange is there as soon as somebody works.
    let workers = Workers::start(&servers, "odd.").await;
    let mut observer = observer.stdout(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(observer.stdout.take().expect("piped")).lines();
    let mut lines = lines.map_while(Result::ok);
    assert!(lines.any(|line| line.contains("odd.workflow.execution")), "it looks");
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &observer.id().to_string()]).status();
        assert!(sent.expect("sent").success());
    };
    signal("-STOP");
    tokio::time::sleep(Duration::from_secs(13)).await;
    signal("-CONT");
    assert!(lines.any(|line| line.contains("this machine stood still")), "the gap is told");
    observer.kill().expect("killed");
    observer.wait().expect("ended");
    workers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_and_giants_are_told_and_nothing_more() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "odd.").await;
    // Somebody else's key, with a name that is no text.
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("connects");
    let _: () = redis::cmd("SET").arg(b"odd.\xff\xfe").arg(1).query_async(&mut redis).await.expect("set");
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, "odd."), false).await;
    // Of our own workers only completions are copied; of others everything is.
    let listening = Looking::open(Keep::Nowhere).await;
    let theirs = ClusterConnection { dialect: Some(ClusterDialect::Rune), ..connection(&servers, "odd.") };
    listening.attach(theirs, false).await;
    listening.until_cluster("it listens", |view| !view.queues.is_empty()).await;
    let (publishing, channel) = publisher(&servers).await;
    publish(&channel, "odd.workflow.node.status", b"\xff\xfe garbage").await;
    publish(&channel, "odd.workflow.garbage", b"[1, 2").await;
    publish(&channel, "odd.workflow.garbage", br#"{"execution_id": "{}:*"}"#).await;
    publish(&channel, "odd.workflow.garbage", &vec![b'x'; 50 << 20]).await;
    let large =
        |view: &protocol::ClusterView| view.gaps.iter().any(|gap| gap.why.contains("larger than 16 MiB"));
    let view = listening.until_cluster("the large one is told", large).await;
    let families = |view: &protocol::ClusterView| {
        let families = view.redis.iter().flat_map(|redis| &redis.families);
        families.into_iter().any(|family| family.pattern.contains("no text"))
    };
    looking.until_cluster("names that are no text are passed by", families).await;
    assert_eq!((view.dropped, view.unread), (1, 1), "one is too large, and one could not be read: {view:?}");
    // What our own workers can make nothing of is put aside, and that is said.
    publish(&channel, "odd.workflow.execution", b"[1, 2").await;
    let aside = |view: &protocol::ClusterView| {
        view.findings.iter().any(|found| {
            found.rule == Rule::Parked && found.queue.as_deref() == Some("odd.workflow.execution.parking")
        })
    };
    looking.until_cluster("the parked one is told", aside).await;
    workers.begin("last", &hello(), json!({})).await;
    assert_eq!(looking.until_ended("last").await.summary.phase, ExecutionPhase::Completed);
    looking.0.close().await.expect("closed");
    listening.0.close().await.expect("closed");
    workers.close().await;
    drop(publishing);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_only_look_suffices() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "read.").await;
    servers.rabbit.control(&["add_user", "reader", "secret"]);
    let (own, read) = (r"^amq\.gen.*$", r"^(read\.workflows|amq\.gen.*)$");
    servers.rabbit.control(&["set_permissions", "-p", "/", "reader", own, own, read]);
    // As it stands in the page of the observer.
    let rights = "resetchannels ~* -@all +@connection +@read +info +time -keys";
    redis_user(&servers, "observer", rights).await;

    let amqp = format!("amqp://reader@127.0.0.1:{}/%2f", servers.rabbit.port);
    let redis = format!("redis://observer@127.0.0.1:{}", servers.redis.port);
    let passwords = Passwords { amqp: Some("secret".to_owned()), redis: Some("secret".to_owned()) };
    let connection = ClusterConnection { amqp: amqp.clone(), redis, ..connection(&servers, "read.") };
    let looking = Looking::open(Keep::Nowhere).await;
    let test = Request::TestConnection { connection: connection.clone(), passwords: passwords.clone() };
    let Ok(Response::ConnectionSteps(steps)) = looking.0.call(test).await else { panic!("steps") };
    assert!(steps.len() == 5 && steps.iter().all(|step| step.problem.is_none()), "{steps:?}");
    let attach = Request::Attach { connection, passwords, record: false };
    looking.0.call(attach).await.expect("attached");
    workers.begin("seen", &hello(), json!({})).await;
    looking.until_ended("seen").await;
    let view = looking.until_cluster("queues", |view| view.queues.len() == 8).await;
    assert_eq!(
        (view.dialect, view.troubles.len()),
        (Some(ClusterDialect::Runeglass), 0),
        "{:?}",
        view.troubles
    );

    // The same user can do nothing else.
    let url = format!("amqp://reader:secret@127.0.0.1:{}/%2f", servers.rabbit.port);
    let forbidden = Connection::connect(&url, ConnectionProperties::default()).await.expect("connects");
    let channel = forbidden.create_channel().await.expect("a channel");
    let consumed = channel.basic_consume(
        ShortString::from("read.workflow.node.status"),
        ShortString::from(""),
        BasicConsumeOptions::default(),
        FieldTable::default(),
    );
    assert!(consumed.await.is_err(), "it may not take from a queue");
    let url = format!("redis://observer:secret@127.0.0.1:{}", servers.redis.port);
    let client = redis::Client::open(url).expect("an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("connects");
    let set = redis::cmd("SET").arg("read.mark").arg(1).exec_async(&mut redis).await;
    assert_eq!(set.expect_err("it may not write").code(), Some("NOPERM"));
    looking.0.close().await.expect("closed");
    workers.close().await;
}

/// Who may not ask for something is not told that there is none of it.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_asked_is_not_taken_for_nothing() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "less.").await;
    workers.begin("one", &hello(), json!({})).await;
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut mark = client.get_multiplexed_async_connection().await.expect("connects");
    redis::cmd("SET").arg("less.mark").arg(1).exec_async(&mut mark).await.expect("set");
    redis_user(&servers, "modest", "resetchannels ~* -@all +@connection +@read +time -keys -memory").await;
    let redis = format!("redis://modest:secret@127.0.0.1:{}", servers.redis.port);
    // This machine believes that it is 1970.
    let (keep, clock, reach) = (Keep::Nowhere, Clock::simulated(1_000), Reach::default());
    let options = Options { keep, folder: None, clock, recover: false, reach };
    let looking = Looking(Session::open(options).await.expect("opened"));
    looking.attach(ClusterConnection { redis, ..connection(&servers, "less.") }, false).await;
    let listed = |view: &ClusterView, name| {
        view.redis.iter().flat_map(|redis| &redis.families).any(|family| family.pattern == name)
    };
    let families =
        |view: &ClusterView| ["less.mark", "less.exec:{*}:log"].iter().all(|name| listed(view, *name));
    let asked = |view: &ClusterView| view.redis.as_ref().is_some_and(|redis| redis.refused.len() == 2);
    let view = looking.until_cluster("keys", |view| families(view) && asked(view)).await;
    let redis = view.redis.expect("seen");
    assert_eq!(redis.refused, ["INFO", "MEMORY USAGE"]);
    assert_eq!((redis.version, redis.used_bytes), (None, None));
    assert!(redis.families.iter().all(|family| family.keys > 0 && family.bytes.is_none()));
    // How long a key lives is another question, and may be asked.
    let ends: Vec<(&str, Option<u64>)> =
        redis.families.iter().map(|family| (family.pattern.as_str(), family.without_end)).collect();
    assert!(ends.contains(&("less.mark", Some(1))), "{ends:?}");
    assert!(ends.contains(&("less.exec:{*}:log", Some(0))), "{ends:?}");
    assert!(view.ahead > 1_000_000_000_000, "the cluster knows better: {}", view.ahead);
    assert_eq!((view.ended, view.queues_as_of, view.redis_as_of), (None, None, None));
    looking.0.close().await.expect("closed");
    workers.close().await;
}

async fn redis_user(servers: &Servers, name: &str, rights: &str) {
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("connects");
    let rights: Vec<&str> = ["on", ">secret"].into_iter().chain(rights.split(' ')).collect();
    let mut made = redis::cmd("ACL");
    made.arg("SETUSER").arg(name).arg(&rights);
    let _: () = made.query_async(&mut redis).await.expect("made");
}

fn bad(amqp: &str, redis: &str, prefix: &str) -> ClusterConnection {
    ClusterConnection {
        name: "bad".to_owned(),
        colour: String::new(),
        amqp: amqp.to_owned(),
        redis: redis.to_owned(),
        prefix: prefix.to_owned(),
        dialect: None,
    }
}

async fn steps(looking: &Looking, connection: ClusterConnection) -> Vec<ConnectionStep> {
    let test = Request::TestConnection { connection, passwords: Passwords::default() };
    match looking.0.call(test).await {
        Ok(Response::ConnectionSteps(steps)) => steps,
        other => panic!("{other:?}"),
    }
}

/// What comes of attaching with it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Door {
    /// Somebody has to put something right.
    Shut,
    /// The server may come back by itself, and the other one is there.
    Away,
    /// What is missing may not be needed.
    Open,
}

/// A test says so in the one step that fails, and attaching says the same or goes on.
async fn knock(looking: &Looking, connection: ClusterConnection, sentence: &str, door: Door) {
    check(&steps(looking, connection.clone()).await, sentence);
    let request = Request::Attach { connection, passwords: Passwords::default(), record: false };
    match (looking.0.call(request).await, door) {
        (Err(problem), Door::Shut) => {
            assert!(problem.message.contains(sentence) && !problem.hint.is_empty(), "{problem:?}");
        }
        (Ok(Response::Cluster(Some(view))), Door::Away) => {
            let [trouble] = &view.troubles[..] else { panic!("{sentence}: {view:?}") };
            assert!(trouble.message.contains(sentence), "{trouble:?} instead of {sentence}");
            assert!(trouble.hint.contains("tried again by itself"), "{trouble:?}");
        }
        (Ok(Response::Cluster(Some(view))), Door::Open) => assert_eq!(view.troubles, [], "{sentence}"),
        (came, door) => panic!("{door:?}: {sentence}: {came:?}"),
    }
}

/// The one step that fails says this.
fn check(steps: &[ConnectionStep], sentence: &str) {
    let problems: Vec<&protocol::Problem> = steps.iter().filter_map(|step| step.problem.as_ref()).collect();
    assert_eq!(problems.len(), 1, "{steps:?}");
    assert!(problems[0].message.contains(sentence), "{:?} instead of {sentence:?}", problems[0]);
    assert!(!problems[0].hint.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shut_door_is_one_sentence() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "shut.").await;
    servers.rabbit.control(&["add_user", "stranger", "secret"]);
    servers.rabbit.control(&["set_permissions", "-p", "/", "stranger", "^$", "^$", "^$"]);
    redis_user(&servers, "narrow", "~* -@all +@connection +@read +time -xrange").await;
    let looking = Looking::open(Keep::Nowhere).await;
    let (rabbit, redis) = (servers.rabbit.port, servers.redis.port);
    let web = Web::start().await;
    let good = (servers.rabbit.url.clone(), servers.redis.url.clone());
    let nobody = "127.0.0.1:1";
    // In front of nobody: it takes every connection, and ends it.
    let way = Proxy::before(1).await.port;
    for (amqp, sentence, door) in [
        (format!("amqp://guest:wrong@127.0.0.1:{rabbit}/%2f"), "does not let this user in", Door::Shut),
        (format!("amqp://guest:guest@127.0.0.1:{rabbit}/elsewhere"), "no such virtual host", Door::Shut),
        // Redis waits for the end of a line, which a greeting in AMQP does not have.
        (format!("amqp://guest:guest@127.0.0.1:{redis}/%2f"), "does not answer in time", Door::Away),
        (format!("amqp://guest:guest@127.0.0.1:{}/%2f", web.port), "does not speak AMQP", Door::Shut),
        (format!("amqp://stranger:secret@127.0.0.1:{rabbit}/%2f"), "lacks a permission", Door::Shut),
        (format!("amqp://guest:guest@{nobody}/%2f"), "nobody listens", Door::Away),
        (format!("amqp://guest:guest@127.0.0.1:{way}/%2f"), "RabbitMQ", Door::Away),
        (format!("amqps://guest:guest@127.0.0.1:{way}/%2f"), "RabbitMQ", Door::Away),
        (format!("amqps://guest:guest@127.0.0.1:{rabbit}/%2f"), "does not speak TLS", Door::Shut),
    ] {
        knock(&looking, bad(&amqp, &good.1, "shut."), sentence, door).await;
    }
    knock(&looking, bad(&good.0, &good.1, "nobody."), "nothing of that name is there", Door::Shut).await;
    let narrow = format!("redis://narrow:secret@127.0.0.1:{redis}");
    for (redis, sentence, door) in [
        (format!("redis://127.0.0.1:{rabbit}"), "does not speak as Redis does", Door::Shut),
        (format!("redis://{nobody}"), "nobody listens", Door::Away),
        (format!("redis://127.0.0.1:{way}"), "Redis", Door::Away),
        (format!("rediss://127.0.0.1:{way}"), "Redis", Door::Away),
        (format!("redis://ada:wrong@127.0.0.1:{redis}"), "does not let this user in", Door::Shut),
        (format!("redis://127.0.0.1:{redis}/99"), "no database of that number", Door::Shut),
        // Only our own workers keep what it reads, and nobody knows yet whose workers these are.
        (narrow.clone(), "lacks a permission", Door::Open),
    ] {
        knock(&looking, bad(&good.0, &redis, "shut."), sentence, door).await;
    }
    let of = |dialect| ClusterConnection { dialect: Some(dialect), ..bad(&good.0, &narrow, "shut.") };
    knock(&looking, of(ClusterDialect::Runeglass), "lacks a permission", Door::Shut).await;
    let steps = steps(&looking, of(ClusterDialect::Rune)).await;
    assert!(steps.len() == 5 && steps.iter().all(|step| step.problem.is_none()), "{steps:?}");
    // The same on the command line, with an exit code, and without the password.
    let wrong = format!("amqp://guest:hunter2@127.0.0.1:{rabbit}/%2f");
    let ran =
        run(runeglass().args(["attach", "--queue-prefix", "shut.", "--amqp", &wrong, "--redis", &good.1]));
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("does not let this user in") && !ran.stderr.contains("hunter2"),
        "{}",
        ran.stderr
    );
    let ran = run(runeglass().args(["attach", "--amqp", "nonsense", "--redis", &good.1]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let ran = run(runeglass().args([
        "attach",
        "--for",
        "3",
        "--queue-prefix",
        "shut.",
        "--amqp",
        &good.0,
        "--redis",
        &good.1,
    ]));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("LIVE cluster") && ran.stdout.contains("workers of Runeglass"),
        "{}",
        ran.stdout
    );
    workers.close().await;
}

/// A server that speaks TLS under another name than the one it is called by.
struct Misnamed(Child);

impl Drop for Misnamed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_for_another_name_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new("openssl")
        .current_dir(folder.path())
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem", "-out",
            "cert.pem",
        ])
        .args(["-subj", "/CN=elsewhere.example", "-addext", "subjectAltName=DNS:elsewhere.example"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .stderr(Stdio::null())
        .status();
    assert!(made.expect("openssl is there").success());
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("told").port();
    let server = Command::new("openssl")
        .current_dir(folder.path())
        .args([
            "s_server",
            "-quiet",
            "-accept",
            &format!("127.0.0.1:{port}"),
            "-cert",
            "cert.pem",
            "-key",
            "key.pem",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _server = Misnamed(server.expect("it starts"));
    for _ in 0..1_200 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let url = format!("amqps://guest:guest@127.0.0.1:{port}/%2f");
    let trusted = folder.path().join("cert.pem");
    let ran = run(runeglass().env("SSL_CERT_FILE", &trusted).args([
        "attach",
        "--amqp",
        &url,
        "--redis",
        "redis://127.0.0.1:1",
    ]));
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("is for another name"), "{}", ran.stderr);
    let stranger = run(runeglass().args(["attach", "--amqp", &url, "--redis", "redis://127.0.0.1:1"]));
    assert!(
        stranger.stderr.contains("not trusted") || stranger.stderr.contains("another name"),
        "{}",
        stranger.stderr
    );
    // The same of Redis, behind a broker that is as it should be.
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "name.").await;
    let (amqp, redis) = (servers.rabbit.url.clone(), format!("rediss://127.0.0.1:{port}"));
    let ran = run(runeglass().env("SSL_CERT_FILE", &trusted).args([
        "attach",
        "--queue-prefix",
        "name.",
        "--amqp",
        &amqp,
        "--redis",
        &redis,
    ]));
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("the certificate of Redis is"), "{}", ran.stderr);
    workers.close().await;
}
