//! Workflows on the embedded backend, on a simulated clock that starts at 0.

use std::sync::Arc;

use embedded::Embedded;
use engine::{Limits, Plan};
use protocol::{CompletionMessage, DeadLetter, Event, Fact, Payload, StatusLine};
use recording::{Access, Ledger, StatusFold, Store};
use runtime::{AddressPolicy, Clock, Outside, Start, Workshop, World, credentials::Keychain};
use serde_json::Value;

/// What came of a run.
pub struct Ran {
    pub events: Vec<Event>,
    pub completion: CompletionMessage,
    pub dead_letters: Vec<DeadLetter>,
}

impl Ran {
    /// The output of a node outside every split.
    pub fn output(&self, node: &str) -> Value {
        let found = self.completion.final_context.get(&format!("${node}"));
        found.map_or(Value::Null, |payload| payload.value().clone())
    }

    /// How often a node finished.
    pub fn firings(&self, node: &str) -> usize {
        let of_node = |event: &&Event| match &event.fact {
            Fact::NodeSucceeded(done) => done.firing.node_id.as_str() == node,
            Fact::NodeFailed(done) => done.firing.node_id.as_str() == node,
            _ => false,
        };
        self.events.iter().filter(of_node).count()
    }

    /// When the execution ended, on its own clock.
    pub fn ended_at(&self) -> i64 {
        self.events.last().map_or(0, |event| event.at)
    }
}

pub fn plan(workflow: &Value) -> Arc<Plan> {
    let loaded = engine::load(workflow.to_string().as_bytes(), &Limits::default());
    loaded.plan.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// The world outside as it is: servers on this machine may be asked.
pub fn world(clock: &Clock) -> Arc<dyn Outside> {
    Arc::new(World::new(Arc::new(Keychain::default()), AddressPolicy::Any, clock.clone()))
}

/// A wish to start a plan under an id.
pub fn start(id: &str, plan: Arc<Plan>, input: Value) -> Start {
    Start {
        execution_id: id.into(),
        workflow_id: "local".into(),
        title: "Local".to_owned(),
        plan,
        input: Payload::new(input),
        path: None,
        starts: None,
        origin: None,
        until: None,
    }
}

pub async fn run(plan: Arc<Plan>, input: Value) -> Ran {
    let clock = Clock::simulated(0);
    run_in(world(&clock), clock, plan, input).await
}

/// Runs a plan to its end. The feed, the store and the fold of the store are checked against each other.
pub async fn run_in(outside: Arc<dyn Outside>, clock: Clock, plan: Arc<Plan>, input: Value) -> Ran {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(&folder.path().join("local.db"), Access::Write).await.expect("a store");
    let store = Arc::new(store);
    let engine = Embedded::open(Arc::clone(&store), clock.clone());
    let mut feed = engine.feed();
    tokio::spawn(runtime::work(Arc::clone(&engine), Workshop::new(clock, outside), 64));
    let start = start("local", plan, input);
    engine.start(start).await.expect("it starts");
    let mut events: Vec<Event> = Vec::new();
    while !matches!(events.last().map(|event| &event.fact), Some(Fact::ExecutionEnded(_))) {
        events.extend(feed.recv().await.expect("the engine works").iter().cloned());
    }
    assert!(events == store.events(&"local".into()).await.expect("events"), "the feed is what was stored");
    let replayed = Ledger::replay(&events).expect("the log adds up");
    assert!(
        replayed.is_ended() && replayed.is_quiet() && replayed.undecided().is_empty(),
        "nothing is left behind"
    );
    let completion = completion(&events);
    let dead_letters = store.dead_letters(100).await.expect("dead letters");
    Ran { events, completion, dead_letters }
}

fn completion(events: &[Event]) -> CompletionMessage {
    let mut fold = StatusFold::default();
    let mut completions = events.iter().flat_map(|event| fold.apply(event)).filter_map(|line| match line {
        StatusLine::Completion(completion) => Some(*completion),
        StatusLine::Status(_) => None,
    });
    let completion = completions.next().expect("a completion");
    assert!(completions.next().is_none(), "one completion");
    completion
}
