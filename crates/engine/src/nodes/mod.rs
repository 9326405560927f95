//! One file per kind of node. This page says what a kind is, and which there are.

mod conditional;
mod edit;
mod log;
mod simulate;
mod trigger;

pub(crate) use conditional::branch as conditional_branch;

use protocol::{Diagnostic, ErrorCode, Millis, NodeError, NodeId, Payload};
use serde_json::{Map, Value};

use crate::{
    expr::{Moment, Scope, Template},
    plan::{Plan, PlannedNode},
    step::{Context, Work},
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

    /// What the node does to the scope of what leaves it.
    fn scope(&self) -> ScopeEffect {
        ScopeEffect::Same
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

/// What a node does to the nest of fan-outs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeEffect {
    Same,
    /// Opens a fan-out: what leaves is one level deeper.
    Push,
    /// Closes the innermost fan-out.
    Pop,
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
    pub moment: Moment,
}

impl Firing<'_> {
    pub fn now(&self) -> Millis {
        self.moment.now
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
        template.resolve(&Scope { names: &self.plan.names, find: &find, keys: &keys, moment: self.moment })
    }
}

static KINDS: [&dyn Kind; 5] =
    [&trigger::Trigger, &log::Log, &edit::Edit, &conditional::Conditional, &simulate::Simulate];

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
