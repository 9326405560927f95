//! One hop of a message, without the outside: `prepare` before the work, `conclude` after it.

mod attempt;
mod context;

use std::{
    fmt,
    sync::{Arc, LazyLock, OnceLock},
};

use protocol::{
    Consequence, ErrorCode, ErrorPolicy, ExecutionId, Lineage, MessageId, Millis, NodeError, Payload,
};
use serde_json::{Map, Value, json};

pub use attempt::{Again, Failure, Failures, Retry};
pub use context::Context;

use crate::{
    call::Call,
    expr::{Moment, Scope, Template},
    nodes::{Firing, Pick, Resolve, Route},
    plan::{Plan, PlannedNode},
};

/// Work to do: one node at one lineage key, with the context that reached it.
#[derive(Clone, Debug)]
pub struct Message {
    pub execution_id: ExecutionId,
    pub id: MessageId,
    /// The node's place in the plan.
    pub node: usize,
    pub lineage: Lineage,
    pub context: Context,
    /// Counts from 1.
    pub attempt: u32,
    /// Attempts that came to nothing and count against a policy.
    pub failures: Failures,
    /// What a join has gathered.
    pub joined: Option<Arc<Joined>>,
    /// The moment it was parked until, once that has come.
    pub resumed: Option<Millis>,
    /// Parameters that somebody has given by hand, in place of the resolved ones.
    pub parameters: Option<Payload>,
}

impl Message {
    /// Changes what the node sees under a name.
    pub fn set(&mut self, key: &str, value: Payload) {
        match (key, self.joined.as_deref(), value.value().as_object()) {
            ("$inputs", Some(Joined::Inputs(inputs)), Some(brought)) => {
                let handle = |(name, value): (&String, &Value)| (name.as_str().into(), value.clone().into());
                let changed = Inputs {
                    tally: inputs.tally.clone(),
                    ..Inputs::new(brought.iter().map(handle).collect())
                };
                self.joined = Some(Arc::new(Joined::Inputs(changed)));
            }
            _ => self.context = std::mem::take(&mut self.context).with(key, value),
        }
    }

    /// Everything the node sees, by name.
    pub fn seen(&self) -> Payload {
        let entry = |(key, value): (&str, &Payload)| (key.to_owned(), value.value().clone());
        let mut seen: Map<String, Value> = self.context.iter().map(entry).collect();
        if let Some(Joined::Inputs(inputs)) = self.joined.as_deref() {
            seen.insert("$inputs".to_owned(), inputs.object().value().clone());
        }
        Payload::new(Value::Object(seen))
    }
}

/// What a join has gathered, in the order of edges or items.
#[derive(Clone, Debug)]
pub enum Joined {
    List {
        values: Vec<Payload>,
        missing: Vec<String>,
    },
    Winner(Payload),
    Collapse(Vec<Slot>),
    /// The items of both sides of a zip or a cross.
    Sides(Vec<Vec<Slot>>),
    Inputs(Inputs),
    TimedOut {
        arrived: usize,
        expected: usize,
    },
    /// More keys wait here than may, for this input.
    Overflow {
        input: Arc<str>,
        most: usize,
    },
}

impl Joined {
    /// What the handles of a node have brought.
    pub fn inputs(&self) -> Option<&Inputs> {
        match self {
            Self::Inputs(inputs) => Some(inputs),
            Self::List { .. }
            | Self::Winner(_)
            | Self::Collapse(_)
            | Self::Sides(_)
            | Self::TimedOut { .. }
            | Self::Overflow { .. } => None,
        }
    }
}

/// What came of one item.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    Value(Payload),
    /// The error, in the form `{"error": …}`.
    Failed(Payload),
    /// It left the way to the aggregator.
    Skipped,
    /// What came of a stream of pieces, in their order.
    Pieces(Vec<Slot>),
}

/// What the handles of a node have brought.
#[derive(Clone, Default)]
pub struct Inputs {
    /// By handle. One that brought nothing, and need not, is absent.
    pub values: Vec<(Arc<str>, Payload)>,
    /// For a node that takes its items in order: what it has done with those before.
    pub tally: Tally,
    /// As one object, once somebody has asked.
    whole: OnceLock<Payload>,
}

impl Inputs {
    pub fn new(values: Vec<(Arc<str>, Payload)>) -> Self {
        Self { values, ..Self::default() }
    }

    /// As one object, made of the texts: whoever wants the whole is JavaScript, which reads text.
    pub fn object(&self) -> Payload {
        self.whole.get_or_init(|| self.written()).clone()
    }

    fn written(&self) -> Payload {
        let field =
            |(handle, value): &(Arc<str>, Payload)| format!("{}:{}", Value::from(&**handle), value.text());
        let fields: Vec<String> = self.values.iter().map(field).collect();
        match Payload::from_text(format!("{{{}}}", fields.join(","))) {
            Ok(whole) => whole,
            Err(error) => unreachable!("the texts of JSON values do not form an object: {error}"),
        }
    }

    pub fn get(&self, handle: &str) -> Option<&Payload> {
        self.values.iter().find(|(name, _)| &**name == handle).map(|(_, value)| value)
    }
}

impl fmt::Debug for Inputs {
    /// Whether somebody has asked for the whole is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inputs").field("values", &self.values).field("tally", &self.tally).finish()
    }
}

/// What a node that takes items in order has done with those before, under one parent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub seen: u64,
    pub passed: u64,
    /// The keys of what has passed, where the node names them.
    pub keys: imbl::OrdSet<Arc<str>>,
}

impl Tally {
    /// The output that passes something has it in `output`, and perhaps names it in `key`.
    pub fn count(&mut self, output: Option<&Value>) {
        self.seen += 1;
        let Some(output) = output.filter(|output| output.get("output").is_some()) else { return };
        self.passed += 1;
        if let Some(key) = output.get("key").and_then(Value::as_str) {
            self.keys.insert(key.into());
        }
    }
}

/// What a node puts out.
#[derive(Clone, Debug)]
pub struct Output {
    pub payload: Payload,
    /// The items of a fan-out, as one array.
    pub items: Option<Payload>,
}

impl From<Payload> for Output {
    fn from(payload: Payload) -> Self {
        Self { payload, items: None }
    }
}

/// What a firing is about to do; nothing has happened yet.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// With every reference resolved; absent when they could not be.
    pub parameters: Option<Payload>,
    pub work: Work,
}

#[derive(Clone, Debug)]
pub enum Work {
    /// The answer is known: the node needs nothing from outside.
    Done(Output),
    /// The node fails before it has begun.
    Failed(NodeError),
    /// Takes a while, then answers.
    Sleep { millis: Millis, then: Box<Result<Output, NodeError>> },
    /// Something outside is asked; its answer is the node's.
    Call(Box<Call>),
    /// Rests until that moment; then it is prepared again, resumed.
    Wait { due: Millis },
}

impl Work {
    pub fn done(payload: Payload) -> Self {
        Self::Done(payload.into())
    }
}

/// What follows from an answer. Committed as one step.
#[derive(Clone, Debug)]
pub struct Effects {
    pub outcome: Result<Output, NodeError>,
    /// Edges that carry a value, as places of the plan. The node's other edges never will, at this key.
    pub taken: Vec<usize>,
    pub consequence: Consequence,
}

/// Resolves the parameters and asks the kind what is to be done. A failure here is an answer like any other.
pub fn prepare(plan: &Plan, message: &Message, now: Millis) -> Prepared {
    let node = &plan.nodes[message.node];
    if let Err(error) = check_lineage(plan, node, message).and_then(|()| check_room(node, message)) {
        return Prepared { parameters: None, work: Work::Failed(at(error, node)) };
    }
    let identity = format!("{}@{}", node.id, message.lineage.key());
    let moment = Moment { now, seed: seed(&message.execution_id, &identity) };

    let given = message.parameters.clone();
    let parameters = match given.map_or_else(|| resolved_parameters(plan, node, message, moment), Ok) {
        Ok(parameters) => parameters,
        Err(error) => return Prepared { parameters: None, work: Work::Failed(at(error, node)) },
    };
    let firing = Firing {
        plan,
        node,
        identity,
        context: &message.context,
        parameters: parameters.value().as_object().unwrap_or(&NO_PARAMETERS),
        joined: message.joined.as_deref(),
        resumed: message.resumed,
        timer_id: &message.id,
        moment,
    };
    let work = node.kind.work(&firing).unwrap_or_else(|error| Work::Failed(at(error, node)));
    Prepared { parameters: Some(parameters), work }
}

/// What an expression says of a message, as if it stood in a parameter of its node.
pub fn ask(plan: &Plan, message: &Message, question: &Template, now: Millis) -> Result<Value, NodeError> {
    let node = &plan.nodes[message.node];
    let identity = format!("{}@{}", node.id, message.lineage.key());
    let moment = Moment { now, seed: seed(&message.execution_id, &identity) };
    let inputs = message.joined.as_deref().and_then(Joined::inputs);
    let find = |key: &str| message.context.get(key).cloned();
    let keys = || message.context.keys();
    question.resolve(&Scope { names: &plan.names, find: &find, keys: &keys, inputs, moment })
}

/// A join at which too many keys wait does not get as far as its parameters.
fn check_room(node: &PlannedNode, message: &Message) -> Result<(), NodeError> {
    let Some(Joined::Overflow { input, most }) = message.joined.as_deref() else { return Ok(()) };
    let message = format!(
        "{:?} exceeded max_pending_keys ({most}): so many keys wait for something on the input {input:?}",
        node.id.as_str()
    );
    Err(NodeError::new(ErrorCode::LimitExceeded, message)
        .with_details(json!({"input": input, "max_pending_keys": most})))
}

/// Where the random numbers of a firing start.
fn seed(execution: &ExecutionId, identity: &str) -> u32 {
    let mut hasher = blake3::Hasher::new();
    for part in [execution.as_str(), "/", identity] {
        hasher.update(part.as_bytes());
    }
    let hash = hasher.finalize();
    let [first, second, third, fourth, ..] = *hash.as_bytes();
    u32::from_le_bytes([first, second, third, fourth])
}

static NO_PARAMETERS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// A message stands where its node stands: its open fan-outs are those of the node. A join stands one level further
/// out than what it gathers.
fn check_lineage(plan: &Plan, node: &PlannedNode, message: &Message) -> Result<(), NodeError> {
    let scope = node.fires.as_slice();
    let steps = message.lineage.steps();
    let fits = steps.len() == scope.len()
        && steps.iter().zip(scope).all(|(step, &split)| step.split == plan.nodes[split].id);
    if fits {
        return Ok(());
    }
    let expected: Vec<&str> = scope.iter().map(|&split| plan.nodes[split].id.as_str()).collect();
    let message =
        format!("the message is at [{}], but the node is inside {expected:?}", message.lineage.key());
    Err(NodeError::new(ErrorCode::LineageMismatch, message))
}

/// Decides what follows: which edges carry a value, and whether the execution goes on.
pub fn conclude(plan: &Plan, message: &Message, answer: Result<Output, NodeError>) -> Effects {
    let node = &plan.nodes[message.node];
    let outcome = answer.map_err(|error| at(error, node));
    let (taken, consequence) = match (&outcome, &node.source.error) {
        (Ok(output), _) => (routed(plan, node, output), Consequence::GoOn),
        (Err(_), Some(ErrorPolicy::Ignore)) => (ignored(node), Consequence::GoOn),
        (Err(_), Some(ErrorPolicy::Branch { .. })) => {
            (node.on_error.into_iter().collect(), Consequence::GoOn)
        }
        // What breaks a limit for one item breaks it for the next.
        (Err(error), None) if !message.lineage.is_root() && error.code != ErrorCode::LimitExceeded => {
            (Vec::new(), Consequence::Contained)
        }
        (Err(_), Some(ErrorPolicy::Halt) | None) => (Vec::new(), Consequence::Halt),
    };
    Effects { outcome, taken, consequence }
}

/// What a firing leaves behind.
pub struct Trace {
    /// What the node saw, and what came of it.
    pub context: Context,
    /// What flows along its edges and fills a slot: its output, or the working payload where it writes one.
    pub result: Payload,
}

impl Context {
    pub fn after(&self, node: &PlannedNode, outcome: Result<&Payload, &NodeError>) -> Trace {
        let output = match outcome {
            Ok(output) => output.clone(),
            Err(error) => Payload::new(json!({"error": error})),
        };
        let context = self.clone().with(&node.context_key, output.clone());
        match outcome.ok().and_then(|output| node.kind.working_payload(output.value())) {
            Some(working) => {
                let working = Payload::new(working);
                Trace { context: context.with("$json", working.clone()), result: working }
            }
            None => Trace { context, result: output },
        }
    }
}

/// A node that follows one of several ways follows the last one when its failure is ignored: that of `false`, or the
/// fallback.
fn ignored(node: &PlannedNode) -> Vec<usize> {
    match node.ways.last() {
        Some(way) => way.iter().copied().collect(),
        None => node.outgoing.clone(),
    }
}

fn routed(plan: &Plan, node: &PlannedNode, output: &Output) -> Vec<usize> {
    let carries = |edge: &usize| match (&plan.edges[*edge].pick, &output.items) {
        // What an item lacks is known when it is sent.
        (Pick::Whole | Pick::Index, _) | (Pick::Field(_), Some(_)) => true,
        (Pick::Field(name), None) => {
            let value = output.payload.value();
            let working = node.kind.working_payload(value);
            working.as_ref().unwrap_or(value).get(&**name).is_some()
        }
    };
    match node.kind.route(node, output.payload.value()) {
        Route::All => node.outgoing.iter().copied().filter(carries).collect(),
        Route::Only(edge) => edge.into_iter().collect(),
    }
}

fn resolved_parameters(
    plan: &Plan,
    node: &PlannedNode,
    message: &Message,
    moment: Moment,
) -> Result<Payload, NodeError> {
    let inputs = message.joined.as_deref().and_then(Joined::inputs);
    let brought = inputs.map_or(&[][..], |inputs| &inputs.values);
    let is_parameter = |handle: &str| node.kind.parameters().iter().any(|known| known.name == handle);
    let mut brought = brought.iter().filter(|(handle, _)| is_parameter(handle)).peekable();
    if let (Some(always), None) = (&node.constant_parameters, brought.peek()) {
        return Ok(always.clone());
    }
    let find = |key: &str| message.context.get(key).cloned();
    let keys = || message.context.keys();
    let scope = Scope { names: &plan.names, find: &find, keys: &keys, inputs, moment };
    let mut resolved = Map::new();
    // What a handle has brought counts, not what is written for when it brings nothing.
    for (handle, value) in brought {
        resolved.insert(handle.to_string(), value.value().clone());
    }
    for (name, raw) in &node.source.parameters {
        if resolved.contains_key(name) {
            continue;
        }
        let value = match (node.how(name), node.templates.get(name)) {
            (Resolve::Value | Resolve::Rules | Resolve::Path | Resolve::Expression, Some(template)) => {
                template.resolve(&scope).map_err(|mut error| {
                    error.message = format!("parameter {name:?}: {}", error.message);
                    error
                })?
            }
            (Resolve::Later | Resolve::Literal, _) | (_, None) => raw.clone(),
        };
        resolved.insert(name.clone(), value);
    }
    match node.kind.parameters().iter().find(|known| known.required && !resolved.contains_key(known.name)) {
        Some(missing) => Err(NodeError::new(
            ErrorCode::InvalidParameter,
            format!("parameter {:?} is missing", missing.name),
        )),
        None => Ok(Payload::new(Value::Object(resolved))),
    }
}

fn at(mut error: NodeError, node: &PlannedNode) -> NodeError {
    error.node_id = Some(node.id.clone());
    error
}
