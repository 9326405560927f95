//! A cluster of the public Rune services, simulated: the messages it puts on the exchange and the keys it keeps in Redis,
//! its defects included. It is driven by small workflows, in simulated time, and yields what is heard in memory; the
//! same can be published to a real RabbitMQ and Redis.
//!
//! It is written from a description of what such a cluster does, so that an observer can be tested against it. It is not
//! how a workflow should be run.

mod encode;
mod kept;
mod keys;
mod message;
mod publish;
mod resolve;
pub mod watching;
mod work;
pub mod workflows;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
};

use serde_json::{Value, json};

pub use kept::{Kept, hear};
pub use keys::{Key, Keys};
pub use message::{Frame, Message};
pub use publish::Live;

/// A copy of what went through the exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// In milliseconds since 1970.
    pub at: i64,
    pub routing_key: &'static str,
    pub body: String,
}

impl Published {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("what is published is JSON")
    }

    pub fn is_status(&self) -> bool {
        self.routing_key == "workflow.node.status"
    }
}

/// What goes wrong, beyond what always does.
#[derive(Default)]
pub struct Faults {
    /// The worker dies after it has sent everything and before it acknowledges: the message comes again. By node and
    /// item, once each.
    pub redelivered: BTreeSet<(String, Option<u32>)>,
    /// The message cannot be decoded and is gone.
    pub discarded: BTreeSet<String>,
    /// The worker dies between the claim of a timer and the message.
    pub lost_resumes: bool,
    /// No worker polls for timers.
    pub no_scheduler: bool,
    /// The clock of the worker that has a node in hand goes before by so many milliseconds. By node.
    pub clocks: BTreeMap<String, i64>,
    /// A message waits so many milliseconds longer for a worker: others are before it. By the node it comes from and
    /// the one it goes to.
    pub held_up: BTreeMap<(String, String), i64>,
    /// Between what a worker has done in Redis and what it says of it pass so many milliseconds. By node and item, once
    /// each.
    pub slow_to_say: BTreeMap<(String, Option<u32>), i64>,
    /// The worker dies once it has the lock of a race: the message comes again. By node, once each.
    pub lost_winners: BTreeSet<String>,
}

/// How the world outside answers a url: how long it takes, and what comes of it.
type Answers = BTreeMap<String, (i64, Result<Value, String>)>;

pub struct RuneCluster {
    /// Nanoseconds since 1970.
    now: i64,
    agenda: BinaryHeap<Reverse<(i64, u64)>>,
    actions: BTreeMap<u64, Action>,
    next: u64,
    published: Vec<Published>,
    pub keys: Keys,
    answers: Answers,
    pub faults: Faults,
}

enum Action {
    Deliver(Box<Message>),
    Finish(Box<Message>),
    /// Says what came of a node.
    Say(Box<(Message, work::Outcome)>),
    /// The message of a timer that was claimed.
    Resume(Box<Message>),
    Poll,
}

const MILLI: i64 = 1_000_000;
/// 2026-06-25T11:00:00Z
const BEGIN: i64 = 1_782_385_200_000 * MILLI;
/// How long a message takes through the broker, and how often timers are polled.
const TRANSIT: i64 = MILLI + 234_567;
const POLL: i64 = 500 * MILLI;

impl Default for RuneCluster {
    fn default() -> Self {
        Self::new()
    }
}

impl RuneCluster {
    pub fn new() -> Self {
        Self {
            now: BEGIN,
            agenda: BinaryHeap::new(),
            actions: BTreeMap::new(),
            next: 0,
            published: Vec::new(),
            keys: Keys::default(),
            answers: Answers::new(),
            faults: Faults::default(),
        }
    }

    /// Calls to a url take so many milliseconds and are answered with a body, or fail.
    pub fn answer(&mut self, url: &str, millis: i64, answer: Result<Value, &str>) {
        self.answers.insert(url.to_owned(), (millis, answer.map_err(str::to_owned)));
    }

    /// The master starts a workflow of the worker's shape: behind its trigger, along the first edge only.
    pub fn start(&mut self, execution: &str, workflow: &Value, trigger: Option<Value>) {
        let nodes = workflow["nodes"].as_array().expect("nodes");
        let is_trigger = |node: &&Value| node["trigger"] == json!(true);
        let trigger_id = nodes.iter().find(is_trigger).expect("a trigger")["id"].clone();
        let edges = workflow["edges"].as_array().expect("edges");
        let first = edges.iter().find(|edge| edge["src"] == trigger_id).expect("an edge from the trigger");
        let context = trigger.map_or_else(|| json!({}), |body| json!({"$trigger": body}));
        let message = Message {
            workflow_id: "7".to_owned(),
            execution_id: execution.to_owned(),
            current_node: first["dst"].as_str().expect("a node").to_owned(),
            definition: workflow.clone(),
            context,
            stack: Vec::new(),
            from_node: None,
            is_worker_initiated: false,
        };
        // On the default exchange: nobody who listens to the other one hears of it.
        self.later(TRANSIT, Action::Deliver(Box::new(message)));
    }

    pub fn now_millis(&self) -> i64 {
        self.now / MILLI
    }

    /// Until nothing happens any more by itself.
    pub fn run(&mut self) {
        self.run_until(i64::MAX / MILLI);
    }

    /// For so many milliseconds.
    pub fn run_for(&mut self, millis: i64) {
        let end = self.now_millis() + millis;
        self.run_until(end);
        self.now = self.now.max(end * MILLI);
    }

    fn run_until(&mut self, millis: i64) {
        while let Some(Reverse((at, number))) = self.agenda.peek().copied() {
            if at / MILLI > millis {
                return;
            }
            self.agenda.pop();
            self.now = self.now.max(at);
            match self.actions.remove(&number) {
                Some(Action::Deliver(message)) => self.deliver(*message),
                Some(Action::Finish(message)) => self.finish(*message),
                Some(Action::Say(said)) => self.say(said.0, said.1),
                Some(Action::Resume(message)) => self.resume(*message),
                Some(Action::Poll) => self.poll(),
                None => {}
            }
        }
    }

    /// Everything that was heard so far.
    pub fn published(&self) -> &[Published] {
        &self.published
    }

    fn later(&mut self, nanos: i64, action: Action) {
        self.next += 1;
        self.agenda.push(Reverse((self.now + nanos, self.next)));
        self.actions.insert(self.next, action);
    }

    fn publish(&mut self, routing_key: &'static str, body: &Value) {
        // A worker refuses to send a status without the name of its node.
        if routing_key == "workflow.node.status" && body["node_name"] == "" {
            return;
        }
        // Two messages never have the same moment.
        self.now += 1_000;
        let at = self.now_millis();
        self.published.push(Published { at, routing_key, body: encode::text(body) });
    }

    /// To the queue of the workers, and to whoever listens.
    fn send(&mut self, message: Message) {
        self.publish("workflow.execution", &message.json());
        let way = (message.from_node.clone().unwrap_or_default(), message.current_node.clone());
        let waits = self.faults.held_up.get(&way).copied().unwrap_or_default();
        self.later(TRANSIT + waits * MILLI, Action::Deliver(Box::new(message)));
    }

    fn moment(&self) -> String {
        encode::moment(self.now)
    }

    /// The next moment by the clock of the worker that has a node in hand.
    fn next_moment(&self, node: &str) -> String {
        encode::moment(self.now + 1_000 + self.faults.clocks.get(node).copied().unwrap_or_default() * MILLI)
    }
}
