//! Nodes that ask the world outside: real servers on this machine, kind and unkind, on a clock that is moved.

use std::{
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use embedded::Embedded;
use engine::{Failure, Output, Plan, call::Call};
use protocol::{ErrorCode, Event, ExecutionStatus, Fact, NodeError, Payload};
use recording::{Access, Ledger, Store};
use runeglass_tests::{
    local::{self, Ran, plan, run, run_in},
    outside::{MailServer, Web},
};
use runtime::{
    AddressPolicy, Answering, Clock, Outside, Start, Workshop, World,
    credentials::{CredentialFile, Keychain},
};
use serde_json::{Value, json};

/// A trigger and one node that is called `ask`.
fn one(node: Value) -> Value {
    let mut ask = json!({"id": "ask"});
    ask.as_object_mut().expect("an object").extend(node.as_object().expect("an object").clone());
    json!({
        "nodes": [{"id": "start", "type": "trigger"}, ask],
        "edges": [{"id": "e", "src": "start", "dst": "ask"}]
    })
}

fn http(parameters: Value) -> Value {
    one(json!({"type": "http", "parameters": parameters}))
}

async fn ask(parameters: Value) -> Ran {
    run(plan(&http(parameters)), json!({"name": "Ada", "n": 7})).await
}

fn error(ran: &Ran) -> &NodeError {
    ran.completion.error.as_ref().unwrap_or_else(|| panic!("it went well: {:?}", ran.completion.status))
}

fn attempts(ran: &Ran) -> usize {
    ran.events.iter().filter(|event| matches!(event.fact, Fact::AttemptFailed(_))).count()
}

#[tokio::test]
async fn a_request_is_what_its_author_wrote() {
    let web = Web::start().await;
    let ran = ask(json!({
        "method": "post", "url": format!("{}?a=1", web.url("/echo")),
        "query": {"who": "$trigger.name", "n": "$trigger.n", "list": ["x", "y z"], "none": null},
        "headers": {"X-Name": "{{ $trigger.name.toUpperCase() }}", "X-Number": 5},
        "body": {"total": "$trigger.n"}
    }))
    .await;
    let output = ran.output("ask");
    assert_eq!(output["status"], 200);
    assert_eq!(output["status_text"], "200 OK");
    assert_eq!(output["headers"]["Content-Type"], "application/json");
    let heard = &output["body"];
    assert_eq!(heard["method"], "POST");
    assert_eq!(heard["path"], "/echo?a=1&who=Ada&n=7&list=x&list=y+z");
    assert_eq!(heard["headers"]["x-name"], "ADA");
    assert_eq!(heard["headers"]["x-number"], "5");
    assert_eq!(heard["headers"]["content-type"], "application/json");
    assert_eq!(heard["body"], r#"{"total":7}"#);
    assert_eq!(heard["headers"]["idempotency-key"].as_str().map(str::len), Some(32));
}

#[tokio::test]
async fn bodies_keep_what_they_are() {
    let web = Web::start().await;
    let body = async |path: &str| ask(json!({"url": web.url(path)})).await;
    assert_eq!(body("/status/204").await.output("ask")["body"], "");
    assert_eq!(body("/status/500").await.output("ask")["body"], "you asked for 500");
    assert_eq!(body("/bytes").await.output("ask")["body"], json!({"base64": "/wD+", "bytes": 3}));
    assert!(body("/deep").await.output("ask")["body"].is_string(), "what no reader can hold stays text");
    let ran = body("/large-number").await;
    let text = ran.completion.final_context["$ask"].text().to_owned();
    assert!(text.contains("12345678901234567890123"), "no digit is lost: {text}");
    let ran = ask(json!({"url": web.url("/echo"), "method": "PUT", "body": "as it is"})).await;
    assert_eq!(ran.output("ask")["body"]["body"], "as it is");
    let ran = ask(json!({"url": web.url("/echo"), "body": {}})).await;
    assert_eq!(ran.output("ask")["body"]["body"], "");
}

#[tokio::test]
async fn hostile_answers_end_in_a_named_error() {
    let web = Web::start().await;
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    for (parameters, code, words) in [
        (json!({"url": format!("http://{closed}/")}), ErrorCode::ConnectionFailed, "refused"),
        (json!({"url": web.url("/endless")}), ErrorCode::HttpBodyTooLarge, "more than 10 MiB"),
        (json!({"url": web.url("/loop")}), ErrorCode::HttpTooManyRedirects, "more than 5 times"),
        (json!({"url": web.url("/silence"), "timeout": 0.05}), ErrorCode::HttpTimeout, "within 0.05 s"),
        (json!({"url": web.url("/silence"), "timeout": "0.05"}), ErrorCode::HttpTimeout, "within 0.05 s"),
        (
            json!({"url": web.url("/status/404"), "raise_on_status": "4xx, 5xx"}),
            ErrorCode::HttpStatusRaised,
            "404 Not Found",
        ),
        (
            json!({"url": web.url("/status/503"), "raise_on_status": "404 or 503"}),
            ErrorCode::HttpStatusRaised,
            "503",
        ),
        (json!({"url": "ftp://example.org/"}), ErrorCode::InvalidParameter, "http:// or https://"),
        (json!({"url": "http://a b/"}), ErrorCode::InvalidParameter, "is not a URL"),
        (
            json!({"url": web.url("/echo"), "headers": {"a b": "c"}}),
            ErrorCode::InvalidParameter,
            "name of a header",
        ),
        (
            json!({"url": web.url("/echo"), "headers": {"a": "b\nc"}}),
            ErrorCode::InvalidParameter,
            "cannot be sent",
        ),
        (json!({"url": web.url("/echo"), "headers": [1]}), ErrorCode::InvalidParameter, "must be an object"),
        (json!({"url": web.url("/echo"), "method": "GE T"}), ErrorCode::InvalidParameter, "not a method"),
        (json!({"url": web.url("/echo"), "retry": -1}), ErrorCode::InvalidParameter, "zero or more"),
        (json!({"url": web.url("/echo"), "retry": 1.5}), ErrorCode::InvalidParameter, "whole number"),
        (json!({"url": web.url("/echo"), "timeout": 1e9}), ErrorCode::InvalidParameter, "longer than a day"),
        (json!({"url": "$trigger.nobody"}), ErrorCode::ExpressionFailed, "nobody"),
    ] {
        let ran = ask(parameters.clone()).await;
        assert_eq!(error(&ran).code, code, "{parameters}: {}", error(&ran).message);
        assert!(error(&ran).message.contains(words), "{parameters}: {}", error(&ran).message);
        assert_eq!(ran.completion.status, ExecutionStatus::Halted, "{parameters}");
    }
    assert_eq!(
        ask(json!({"url": web.url("/status/404"), "raise_on_status": "5xx"})).await.output("ask")["status"],
        404
    );
}

#[tokio::test]
async fn other_branches_go_on_when_one_cannot_reach_its_server() {
    let web = Web::start().await;
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "broken", "type": "http", "parameters": {"url": "http://127.0.0.1:1/"}, "error": {"type": "ignore"}},
            {"id": "works", "type": "http", "parameters": {"url": web.url("/status/200")}},
            {"id": "both", "type": "merge"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "broken"}, {"id": "2", "src": "start", "dst": "works"},
            {"id": "3", "src": "broken", "dst": "both"}, {"id": "4", "src": "works", "dst": "both"}
        ]
    });
    let ran = run(plan(&workflow), json!({})).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Completed);
    assert_eq!(ran.output("both")[0]["error"]["code"], "CONNECTION_FAILED");
    assert_eq!(ran.output("both")[1]["status"], 200);
}

#[tokio::test]
async fn a_node_tries_again_by_its_own_policy() {
    let web = Web::start().await;
    let parameters = |times: usize| json!({"url": web.url(&format!("/flaky/{times}")), "raise_on_status": "5xx", "retry": 3, "retry_delay": 600});
    let ran = ask(parameters(2)).await;
    assert_eq!(ran.output("ask")["body"], json!({"after": 2}));
    assert_eq!((attempts(&ran), ran.ended_at()), (2, 1_200_000), "two delays of ten minutes each");
    let keys: Vec<Value> =
        web.requests().iter().map(|request| request["headers"]["idempotency-key"].clone()).collect();
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "one key for all attempts: {keys:?}");

    let ran = ask(parameters(9)).await;
    assert_eq!((attempts(&ran), error(&ran).code), (3, ErrorCode::HttpStatusRaised));
    assert!(error(&ran).message.contains("after 4 attempts"), "{}", error(&ran).message);
    assert!(ran.dead_letters.is_empty(), "the node gave up, not the house");
}

/// The house fails so many times before it lets a call through.
struct Broken {
    times: usize,
    failed: AtomicUsize,
    world: Arc<dyn Outside>,
}

impl Outside for Broken {
    fn perform<'c>(&'c self, call: &'c Call) -> Answering<'c> {
        match self.failed.fetch_add(1, Ordering::SeqCst) < self.times {
            true => Box::pin(async {
                let error = NodeError::new(ErrorCode::CredentialsUnreachable, "the keyring does not answer");
                Err::<Output, Failure>(Failure::System(error))
            }),
            false => self.world.perform(call),
        }
    }
}

async fn ask_broken(times: usize, workflow: &Value) -> Ran {
    let clock = Clock::simulated(0);
    let outside = Broken { times, failed: AtomicUsize::new(0), world: local::world(&clock) };
    run_in(Arc::new(outside), clock, plan(workflow), json!({"items": [1, 2]})).await
}

#[tokio::test]
async fn the_house_tries_again_after_5_25_and_125_seconds() {
    let web = Web::start().await;
    let workflow = http(json!({"url": web.url("/status/200")}));
    let ran = ask_broken(3, &workflow).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Completed);
    assert_eq!((attempts(&ran), ran.ended_at()), (3, 155_000));

    let ran = ask_broken(4, &workflow).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Failed, "given up is not halted");
    assert_eq!(error(&ran).code, ErrorCode::RetriesUsedUp);
    let [letter] = ran.dead_letters.as_slice() else { panic!("{:?}", ran.dead_letters) };
    assert_eq!((letter.node_id.as_str(), letter.attempt), ("ask", 4));
    assert_eq!(letter.error.details.as_ref().expect("details")["reason"]["code"], "CREDENTIALS_UNREACHABLE");
}

#[tokio::test]
async fn a_dead_letter_inside_a_split_is_the_result_of_its_item() {
    let web = Web::start().await;
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items", "max_in_flight": 1}},
            {"id": "ask", "type": "http", "parameters": {"url": web.url("/status/200")}},
            {"id": "all", "type": "aggregator", "parameters": {"timeout": 0}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "ask"}, {"id": "3", "src": "ask", "dst": "all"}]
    });
    let ran = ask_broken(4, &workflow).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Completed);
    assert_eq!(ran.output("all")[0]["error"]["code"], "RETRIES_USED_UP");
    assert_eq!(ran.output("all")[1]["status"], 200);
    assert_eq!(ran.dead_letters.len(), 1);
}

#[tokio::test]
async fn a_restart_during_a_retry_delay_goes_on_with_the_next_attempt() {
    let web = Web::start().await;
    let workflow =
        http(json!({"url": web.url("/flaky/1"), "raise_on_status": "5xx", "retry": 1, "retry_delay": 3600}));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store.db");

    let (place, planned) = (path.clone(), plan(&workflow));
    let first = tokio::task::spawn_blocking(move || {
        // A runtime of its own: whatever is under way in it ends with it, as in a crash.
        let process = tokio::runtime::Runtime::new().expect("a runtime");
        process.block_on(until_an_attempt_fails(&place, planned));
    });
    first.await.expect("the first process ran");
    let store = Arc::new(Store::open(&path, Access::Write).await.expect("the store opens again"));
    let clock = Clock::simulated(10_000);
    let engine = Embedded::open(Arc::clone(&store), clock.clone());
    let mut feed = engine.feed();
    engine.recover(&store).await.expect("it recovers");
    tokio::spawn(runtime::work(Arc::clone(&engine), Workshop::new(clock.clone(), local::world(&clock)), 4));
    let mut ended = None;
    while ended.is_none() {
        let group = feed.recv().await.expect("events");
        ended =
            group.iter().find(|event| matches!(event.fact, Fact::ExecutionEnded(_))).map(|event| event.at);
    }
    assert_eq!(ended, Some(3_600_000), "the delay began before the restart");
    assert_eq!(web.requests().len(), 2);
    let started: Vec<u32> = store
        .events(&"x".into())
        .await
        .expect("events")
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::NodeStarted(started) if started.firing.node_id.as_str() == "ask" => {
                Some(started.firing.attempt)
            }
            _ => None,
        })
        .collect();
    assert_eq!(started, [1, 2]);
}

/// A recording may break off anywhere; what is under way then is told by the recording alone.
#[tokio::test]
async fn a_recording_that_breaks_off_between_attempts_goes_on_where_it_was() {
    let web = Web::start().await;
    let ran =
        ask(json!({"url": web.url("/flaky/2"), "raise_on_status": "5xx", "retry": 2, "retry_delay": 6}))
            .await;
    let behind = |at: usize| Ledger::replay(&ran.events[..=at]).expect("every prefix adds up");
    let mut starts = 0;
    for (at, event) in ran.events.iter().enumerate() {
        match &event.fact {
            Fact::AttemptFailed(failed) => {
                let mut ledger = behind(at);
                assert_eq!(
                    (ledger.next_due(), ledger.ready_count()),
                    (Some(failed.due), 0),
                    "one timer, nothing ready"
                );
                assert!(
                    ledger.wake(failed.due - 1).is_empty() && ledger.ready_count() == 0,
                    "not before it is due"
                );
                ledger.wake(failed.due);
                let message = ledger.next_ready().expect("the next attempt");
                assert_eq!((message.attempt, message.resumed), (failed.firing.attempt + 1, None));
                assert_eq!(ledger.next_due(), None);
            }
            Fact::NodeStarted(started) if started.firing.node_id.as_str() == "ask" => {
                starts += 1;
                let mut ledger = behind(at);
                let message = ledger.next_ready().expect("what was begun begins again");
                assert_eq!((message.attempt, message.resumed), (started.firing.attempt + 1, None));
                assert_eq!(ledger.next_due(), None, "no timer of an earlier attempt is left");
            }
            _ => {}
        }
    }
    assert_eq!(starts, 3);
}

async fn until_an_attempt_fails(path: &Path, plan: Arc<Plan>) {
    let clock = Clock::simulated(0);
    // Somebody is busy, so that the clock stands still and the delay does not pass.
    clock.work_began(1);
    let store = Arc::new(Store::open(path, Access::Write).await.expect("a store"));
    let engine = Embedded::open(Arc::clone(&store), clock.clone());
    let mut feed = engine.feed();
    tokio::spawn(runtime::work(Arc::clone(&engine), Workshop::new(clock.clone(), local::world(&clock)), 4));
    let (execution_id, workflow_id, title) = ("x".into(), "x".into(), "X".to_owned());
    let start = Start {
        execution_id,
        workflow_id,
        title,
        plan,
        input: Payload::new(json!({})),
        path: None,
        starts: None,
        origin: None,
        until: None,
    };
    engine.start(start).await.expect("it starts");
    let failed = |event: &Event| matches!(event.fact, Fact::AttemptFailed(_));
    while !feed.recv().await.expect("events").iter().any(failed) {}
}

async fn ask_as(world: World, clock: Clock, workflow: &Value) -> Ran {
    run_in(Arc::new(world), clock, plan(workflow), json!({})).await
}

#[tokio::test]
async fn private_addresses_are_out_of_reach_where_the_policy_says_so() {
    let web = Web::start().await;
    let port = web.port;
    for url in [
        web.url("/echo"),
        format!("http://localhost:{port}/echo"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/".to_owned(),
    ] {
        let clock = Clock::simulated(0);
        let world = World::new(Arc::new(Keychain::default()), AddressPolicy::PublicOnly, clock.clone());
        let ran = ask_as(world, clock, &http(json!({"url": url, "retry": 5}))).await;
        assert_eq!(error(&ran).code, ErrorCode::AddressForbidden, "{url}");
        assert_eq!(attempts(&ran), 0, "a forbidden address stays forbidden");
    }
    assert!(web.requests().is_empty(), "nothing was asked");
}

/// A keychain of one file with these credentials.
fn keychain(folder: &tempfile::TempDir, kept: &[(&str, Value)]) -> Arc<Keychain> {
    let file = CredentialFile::at(folder.path().join("credentials.json"));
    kept.iter().for_each(|(name, value)| file.set(name, value.clone()).expect("kept"));
    Arc::new(Keychain::new(vec![Arc::new(file)]))
}

#[tokio::test]
async fn credentials_sign_requests_and_never_come_back() {
    let (web, other) = (Web::start().await, Web::start().await);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kept = keychain(
        &folder,
        &[
            ("shop", json!({"username": "ada", "password": "p4ssw0rd!"})),
            ("key", json!({"type": "header", "field": "X-Key", "value": "k3y-k3y"})),
        ],
    );
    let clock = Clock::simulated(0);
    let world = || World::new(Arc::clone(&kept), AddressPolicy::Any, clock.clone());
    let signed = |credentials: Value, url: String| {
        one(json!({"type": "http", "parameters": {"url": url}, "credentials": credentials}))
    };

    for credentials in [json!({"ref": "shop"}), json!({"id": 7, "name": "shop", "type": "basic_auth"})] {
        let ran = ask_as(world(), clock.clone(), &signed(credentials, web.url("/echo"))).await;
        assert_eq!(
            web.requests().last().expect("asked")["headers"]["authorization"],
            "Basic YWRhOnA0c3N3MHJkIQ=="
        );
        assert_eq!(ran.output("ask")["headers"]["X-Heard"], "Basic ███");
        let all = format!("{:?}", ran.events);
        assert!(!all.contains("p4ssw0rd") && !all.contains("YWRhOnA0c3N3MHJkIQ"), "{all}");
    }

    let ran = ask_as(
        world(),
        clock.clone(),
        &signed(json!({"ref": "key"}), web.url(&format!("/elsewhere/{}", other.port))),
    )
    .await;
    assert_eq!(ran.output("ask")["status"], 307, "a key for one server is not shown to another");
    assert!(other.requests().is_empty());
    ask_as(
        world(),
        clock.clone(),
        &signed(json!({"ref": "shop"}), web.url(&format!("/elsewhere/{}", other.port))),
    )
    .await;
    assert!(other.requests()[0]["headers"].get("authorization").is_none());
    assert!(other.requests()[0]["headers"].get("referer").is_none(), "nor is told where we come from");

    let ran = ask_as(world(), clock.clone(), &signed(json!({"ref": "nobody"}), web.url("/echo"))).await;
    assert_eq!(error(&ran).code, ErrorCode::CredentialNotFound);
    assert!(error(&ran).message.contains("runeglass credentials set nobody"), "{}", error(&ran).message);
}

#[tokio::test]
async fn mails_are_sent_refused_and_tried_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (kind, full, busy) = (
        MailServer::start("250 fine"),
        MailServer::start("550 no such user"),
        MailServer::start("451 later"),
    );
    let server = |port: u16| json!({"type": "smtp", "host": "127.0.0.1", "port": port.to_string(), "username": "ada", "password": "s3cret-pass"});
    let kept = keychain(
        &folder,
        &[
            ("kind", server(kind.port)),
            ("full", server(full.port)),
            ("busy", server(busy.port)),
            ("odd", json!({"password": "x"})),
        ],
    );
    let clock = Clock::simulated(0);
    let send = async |name: &str, parameters: Value| {
        let workflow = one(json!({"type": "smtp", "credentials": {"ref": name}, "parameters": parameters}));
        ask_as(World::new(Arc::clone(&kept), AddressPolicy::Any, clock.clone()), clock.clone(), &workflow)
            .await
    };
    let mail = json!({"from": "Ada <ada@example.org>", "to": ["grace@example.org", "b@example.org, c@example.org"], "bcc": "d@example.org", "subject": "Grüße", "body": {"n": 1}});
    let ran = send("kind", mail.clone()).await;
    let output = ran.output("ask");
    assert_eq!(
        (&output["success"], &output["recipients"]),
        (&json!(true), &json!(4)),
        "{:?}",
        ran.completion.error
    );
    let [taken] = &kind.mails()[..] else { panic!("{:?}", kind.mails()) };
    for line in ["From: Ada <ada@example.org>", "RCPT TO:<d@example.org>", "{\"n\":1}", "@runeglass>"] {
        assert!(taken.contains(line), "{line} is missing in {taken}");
    }
    assert!(!taken.contains("Bcc"), "whoever is in bcc is not told to the others: {taken}");

    for (name, parameters, code, words) in [
        ("full", mail.clone(), ErrorCode::MailRefused, "no such user"),
        ("busy", mail.clone(), ErrorCode::MailRefused, "later"),
        ("odd", mail.clone(), ErrorCode::CredentialUnusable, "no host"),
        (
            "kind",
            json!({"from": "ada", "to": "b@example.org"}),
            ErrorCode::InvalidParameter,
            "not a mail address",
        ),
        ("kind", json!({"from": "a@example.org", "to": []}), ErrorCode::InvalidParameter, "names nobody"),
        ("kind", json!({"from": "a@example.org", "to": 7}), ErrorCode::InvalidParameter, "list of them"),
    ] {
        let ran = send(name, parameters).await;
        assert_eq!(error(&ran).code, code, "{name}: {}", error(&ran).message);
        assert!(error(&ran).message.contains(words), "{name}: {}", error(&ran).message);
    }
    let mut patient = mail;
    patient["retry"] = json!(2);
    let ran = send("busy", patient).await;
    assert_eq!(attempts(&ran), 2, "a server that says not now is asked again");
}
