//! One file per kind of node. This page says what a kind is, and which there are.

mod aggregator;
mod choose;
mod combine;
mod conditional;
mod date_time;
mod edit;
mod gather;
pub mod http;
mod in_order;
mod iterate;
mod lists;
mod log;
mod merge;
mod simulate;
pub mod smtp;
mod split;
mod switch;
mod trigger;
mod wait;

pub use trigger::{Occasion, occasion};

use protocol::{Diagnostic, ErrorCode, MessageId, Millis, Node, NodeError, NodeId, Payload};
use serde_json::{Map, Value};

use crate::{
    correlation::Descriptor,
    expr::{Moment, Scope, Template},
    plan::{Plan, PlannedNode},
    step::{Context, Inputs, Joined, Output, Retry, Work},
};

/// What a kind of node knows about itself.
pub trait Kind: Send + Sync {
    /// The name in `type`, the usual one first; others are names it has elsewhere.
    fn names(&self) -> &'static [&'static str];

    fn parameters(&self) -> &'static [Parameter];

    /// Executions start at nodes of this kind.
    fn is_trigger(&self) -> bool {
        false
    }

    /// What it says about its inputs and outputs: which items belong together, and which levels open and close.
    fn descriptor(&self) -> Descriptor {
        Descriptor::single()
    }

    /// What travels along an edge that leaves from this output.
    fn pick(&self, output: &str) -> Pick {
        match output {
            Descriptor::OUT => Pick::Whole,
            other => Pick::Field(other.into()),
        }
    }

    /// How many items of the fan-out it opens may be under way at once; as many as there are where absent.
    fn window(&self, _node: &Node) -> Option<u32> {
        None
    }

    /// What the node does with decisions on its incoming edges.
    fn inbox(&self, _node: &Node) -> Inbox {
        let descriptor = self.descriptor();
        match (descriptor.join, descriptor.closes()) {
            (true, _) => Inbox::Sides,
            (false, true) => Inbox::Collapse,
            (false, false) => Inbox::None,
        }
    }

    /// Items of what it spreads that are not there, by what it has gathered.
    fn gaps(&self, _joined: Option<&Joined>) -> Vec<Gap> {
        Vec::new()
    }

    /// For a kind that follows one of several ways: the edge of each way, where it has one.
    fn ways(&self, _plan: &Plan, _node: &PlannedNode) -> Vec<Option<usize>> {
        Vec::new()
    }

    /// Complaints about this node that the list of parameters cannot express.
    fn check(&self, _plan: &Plan, _node: &PlannedNode) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// What is to be done for one firing.
    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError>;

    /// Which of the node's normal edges carry a value after it has succeeded.
    fn route(&self, _node: &PlannedNode, _output: &Value) -> Route {
        Route::All
    }

    /// The working payload (`$json`) the output leaves behind, for kinds that write one.
    fn working_payload(&self, _output: &Value) -> Option<Value> {
        None
    }
}

/// A parameter of a kind.
pub struct Parameter {
    pub name: &'static str,
    pub how: Resolve,
    pub required: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolve {
    /// Strings inside may hold references and `{{ }}`.
    Value,
    /// The text is an expression as a whole, also without `{{ }}`.
    Expression,
    /// As [`Resolve::Value`], for a list of rules: a `field` is a path into an item and no reference, and quotes around
    /// what it is compared with are not part of it.
    Rules,
    /// As [`Resolve::Value`], for text that is one reference, perhaps without its `$`.
    Path,
    /// As [`Resolve::Value`], but the node resolves it itself, perhaps several times.
    Later,
    /// Taken as it stands.
    Literal,
}

const fn parameter(name: &'static str, how: Resolve) -> Parameter {
    Parameter { name, how, required: false }
}

const fn required(name: &'static str, how: Resolve) -> Parameter {
    Parameter { name, how, required: true }
}

/// The part of a result that travels along an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    Whole,
    /// A field; where there is none, nothing travels.
    Field(Box<str>),
    /// The place of the item.
    Index,
}

impl Pick {
    /// The part of a result, or of one item of it.
    pub fn of(&self, result: &Payload, index: Option<u32>) -> Option<Payload> {
        match (self, index) {
            (Self::Whole, _) | (Self::Index, None) => Some(result.clone()),
            (Self::Field(name), _) => result.value().get(&**name).cloned().map(Payload::new),
            (Self::Index, Some(index)) => Some(Payload::new(index.into())),
        }
    }
}

/// An item that is not there: nothing came of it, or an error did.
pub struct Gap {
    pub index: u32,
    pub error: Option<Payload>,
}

/// How a node takes what comes along its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inbox {
    /// Every value is a firing.
    None,
    /// All edges, once per key.
    List,
    /// The first value, once per key.
    Race,
    /// All items of the innermost fan-out, once per parent key.
    Collapse,
    /// All items of two fan-outs that have a parent in common, once per parent key.
    Sides,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    All,
    /// The edge at this place of the plan, or none.
    Only(Option<usize>),
}

/// One node at one key, about to do its work.
pub struct Firing<'f> {
    pub plan: &'f Plan,
    pub node: &'f PlannedNode,
    /// Names the firing: the same on every try and in every execution of the same workflow.
    pub identity: String,
    pub context: &'f Context,
    /// Resolved, except those the kind resolves later.
    pub parameters: &'f Map<String, Value>,
    /// What a join has gathered.
    pub joined: Option<&'f Joined>,
    /// The moment a firing was parked until, once that has come.
    pub resumed: Option<Millis>,
    pub timer_id: &'f MessageId,
    pub moment: Moment,
}

impl Firing<'_> {
    pub fn now(&self) -> Millis {
        self.moment.now
    }

    /// What the node's handles have brought.
    pub fn inputs(&self) -> Option<&Inputs> {
        self.joined.and_then(Joined::inputs)
    }

    /// A parameter that is absent or `null` is `None`.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.get(name).filter(|value| !value.is_null())
    }

    /// A number of zero or more; numbers in quotes are numbers.
    pub fn amount(&self, name: &str) -> Result<Option<f64>, NodeError> {
        let Some(value) = self.parameter(name) else { return Ok(None) };
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        match number {
            Some(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            _ => Err(self.invalid(name, &format!("must be a number of zero or more, but is {value}"))),
        }
    }

    pub fn invalid(&self, parameter: &str, complaint: &str) -> NodeError {
        NodeError::new(ErrorCode::InvalidParameter, format!("parameter {parameter:?} {complaint}"))
    }

    /// Resolves a template, with some roots replaced.
    pub fn resolve(&self, template: &Template, replaced: &[(&str, &Payload)]) -> Result<Value, NodeError> {
        let find = |key: &str| {
            let replaced =
                replaced.iter().find(|(name, _)| *name == key).map(|(_, payload)| (*payload).clone());
            replaced.or_else(|| self.context.get(key).cloned())
        };
        let keys = || self.context.keys();
        let (names, inputs, moment) = (&self.plan.names, self.inputs(), self.moment);
        template.resolve(&Scope { names, find: &find, keys: &keys, inputs, moment })
    }
}

static KINDS: [&dyn Kind; 38] = [
    &trigger::Trigger,
    &http::Http,
    &smtp::Smtp,
    &log::Log,
    &edit::Edit,
    &lists::Filter,
    &lists::Sort,
    &lists::Limit,
    &date_time::Now,
    &date_time::Add,
    &date_time::Subtract,
    &date_time::Format,
    &date_time::Parse,
    &conditional::Conditional,
    &switch::Switch,
    &split::Split,
    &aggregator::Aggregator,
    &merge::Merge,
    &wait::Wait,
    &simulate::Simulate,
    &iterate::ForEach,
    &iterate::Lines,
    &gather::Collect,
    &gather::Last,
    &gather::Count,
    &gather::Batch,
    &combine::Zip,
    &combine::Cross,
    &choose::If,
    &choose::SwitchValue,
    &choose::FilterItems,
    &choose::Reroute,
    &choose::Fallback,
    &in_order::Take,
    &in_order::Drop,
    &in_order::TakeWhile,
    &in_order::DropWhile,
    &in_order::Distinct,
];

/// The kind of a node. `if` is a `conditional`, or the choice between two data edges, by how it is written.
pub fn kind_of(node: &Node) -> Option<&'static dyn Kind> {
    match node.kind.as_str() {
        "if" if !node.parameters.contains_key("expression") => kind(choose::If.names()[0]),
        name => kind(name),
    }
}

pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    KINDS.into_iter().find(|kind| kind.names().contains(&name))
}

/// The names people most likely meant.
pub fn nearest(name: &str) -> Vec<&'static str> {
    let all = KINDS.into_iter().flat_map(|kind| kind.names()).copied();
    nearest_of(name, all)
}

pub(crate) fn nearest_of<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = name.to_lowercase();
    let mut close: Vec<(usize, &str)> = candidates
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(wanted.len()) / 3)
        .collect();
    close.sort();
    close.into_iter().map(|(_, candidate)| candidate).take(3).collect()
}

/// The usual name of every kind.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().map(|kind| kind.names()[0])
}

fn invalid(node: &NodeId, message: String, hint: &str) -> Diagnostic {
    Diagnostic::error(protocol::DiagnosticCode::InvalidParameter, message, hint).at_node(node)
}

/// Complains about a word that is none of the words allowed.
fn check_choice(node: &PlannedNode, parameter: &str, allowed: &[&str]) -> Option<Diagnostic> {
    let value = node.source.parameters.get(parameter).filter(|value| !value.is_null())?;
    if value.as_str().is_some_and(|word| allowed.contains(&word)) {
        return None;
    }
    let hint = format!("write one of {}", allowed.join(", "));
    Some(invalid(&node.id, format!("{parameter} {value} is not known"), &hint))
}

/// A hundred years: what takes longer is a mistake.
const LONGEST_MILLIS: f64 = 100.0 * 365.25 * 86_400_000.0;

/// Seconds that somebody waits for: a day at most.
const SHORT_SECONDS: f64 = 86_400.0;
const MOST_RETRIES: f64 = 100.0;

fn short_time(firing: &Firing<'_>, name: &str, default_seconds: f64) -> Result<Millis, NodeError> {
    let seconds = firing.amount(name)?.unwrap_or(default_seconds);
    if seconds > SHORT_SECONDS {
        return Err(firing.invalid(name, "is longer than a day"));
    }
    Ok((seconds * 1_000.0).round() as Millis)
}

/// The policy in `retry` and `retry_delay`.
fn retry(firing: &Firing<'_>) -> Result<Retry, NodeError> {
    let times = firing.amount("retry")?.unwrap_or(0.0);
    if times > MOST_RETRIES || times.fract() != 0.0 {
        return Err(firing.invalid("retry", &format!("must be a whole number up to {MOST_RETRIES}")));
    }
    Ok(Retry { times: times as u32, delay: short_time(firing, "retry_delay", 0.0)? })
}

/// How long a join waits, where its author does not say: five minutes (RFC 004, RFC 005).
const TIMEOUT_SECONDS: f64 = 300.0;

/// How long a join waits from the first thing it hears; `None` for ever, which is written as 0. Where data edges meet
/// nobody gives up unless the author says so.
pub(crate) fn timeout(node: &PlannedNode) -> Option<Millis> {
    let joins = node.kind.inbox(&node.source) != Inbox::None;
    let is_control = node.descriptor.inputs.iter().all(|input| input.name == Descriptor::IN);
    let usual = if is_control { TIMEOUT_SECONDS } else { 0.0 };
    let seconds = seconds(node.source.parameters.get("timeout")).unwrap_or(usual);
    (joins && seconds > 0.0).then(|| (seconds * 1_000.0).round() as Millis)
}

fn seconds(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn check_timeout(node: &PlannedNode) -> Option<Diagnostic> {
    let value = node.source.parameters.get("timeout").filter(|value| !value.is_null())?;
    let fits = seconds(Some(value)).is_some_and(|seconds| (0.0..=3.2e9).contains(&seconds));
    let hint = "write a number of seconds, or 0 to wait for ever";
    (!fits).then(|| invalid(&node.id, format!("timeout {value} is not a time"), hint))
}

fn timed_out(arrived: usize, expected: usize) -> NodeError {
    let message = format!("{arrived} of {expected} arrived in time");
    NodeError::new(ErrorCode::TimeoutExceeded, message)
        .with_details(serde_json::json!({"arrived": arrived, "expected": expected}))
}
