//! Breakpoints, ready to be asked about messages.

use engine::{Input, Message, Plan, ask, expr::Names, expr::Template, expr::as_text};
use protocol::{BreakPlace, Breakpoint, ControlError, Millis, NodeId};
use serde_json::Value;

use super::{Stage, Standing};

/// A breakpoint whose expressions were read with the names of a workflow.
pub(super) struct Armed {
    breakpoint: Breakpoint,
    condition: Option<Result<Template, String>>,
    log: Option<Result<Template, String>>,
    pub hits: u32,
}

/// What a breakpoint says to a message.
#[derive(Debug, PartialEq)]
pub(super) enum Hit {
    Hold,
    /// The condition could not be decided.
    Broken(String),
    Log(String),
}

impl Armed {
    pub fn new(breakpoint: &Breakpoint, names: &Names) -> Self {
        let compile = |text: &String| Template::compile_expression(text, names);
        let text = |text: &String| Template::compile(&Value::String(text.clone()), names);
        Self {
            condition: breakpoint.condition.as_ref().map(compile),
            log: breakpoint.log.as_ref().map(text),
            breakpoint: breakpoint.clone(),
            hits: 0,
        }
    }

    pub fn is(&self, breakpoint: &Breakpoint) -> bool {
        self.breakpoint == *breakpoint
    }

    pub fn hit(&mut self, standing: &Standing, now: Millis) -> Option<Hit> {
        if self.breakpoint.disabled == Some(true) || !self.is_here(standing) || !self.is_item(standing) {
            return None;
        }
        let message = seen_from(standing);
        let decided = match &self.condition {
            None => Ok(true),
            Some(Ok(condition)) => ask(&standing.plan, &message, condition, now)
                .map(|value| is_true(&value))
                .map_err(|error| error.message),
            Some(Err(complaint)) => Err(complaint.clone()),
        };
        match decided {
            Ok(false) => return None,
            Ok(true) => {}
            Err(complaint) => return Some(Hit::Broken(complaint)),
        }
        self.hits += 1;
        if self.breakpoint.hits.is_some_and(|from| self.hits < from) {
            return None;
        }
        Some(match &self.log {
            None => Hit::Hold,
            Some(Ok(text)) => match ask(&standing.plan, &message, text, now) {
                Ok(said) => Hit::Log(as_text(&said)),
                Err(error) => Hit::Log(format!("({})", error.message)),
            },
            Some(Err(complaint)) => Hit::Log(format!("({complaint})")),
        })
    }

    fn is_here(&self, standing: &Standing) -> bool {
        let Standing { plan, message, stage } = standing;
        let is_node = |id: &NodeId| plan.nodes[message.node].id == *id;
        let is_wanted = |id: &Option<NodeId>| id.as_ref().is_none_or(is_node);
        match (&self.breakpoint.place, stage) {
            (BreakPlace::Before { node_id }, Stage::Before(_)) => is_node(node_id),
            (BreakPlace::After { node_id }, Stage::After(_)) => is_node(node_id),
            (BreakPlace::Edge { edge_id }, Stage::After(effects)) => {
                effects.taken.iter().any(|&edge| plan.edges[edge].source.id == *edge_id)
            }
            (BreakPlace::Error { node_id }, Stage::After(effects)) => {
                effects.outcome.is_err() && is_wanted(node_id)
            }
            (BreakPlace::Barrier { node_id }, Stage::Before(_)) => {
                gathers(plan, message.node) && is_wanted(node_id)
            }
            (BreakPlace::Before { .. } | BreakPlace::Barrier { .. }, Stage::After(_))
            | (
                BreakPlace::After { .. } | BreakPlace::Edge { .. } | BreakPlace::Error { .. },
                Stage::Before(_),
            ) => false,
        }
    }

    fn is_item(&self, standing: &Standing) -> bool {
        let lineage = &standing.message.lineage;
        let index = lineage.steps().last().map(|step| step.index);
        self.breakpoint.item.is_none_or(|item| index == Some(item))
            && self.breakpoint.key.as_ref().is_none_or(|key| lineage.key() == *key)
    }
}

/// Says what is wrong with a breakpoint for this workflow, if anything.
pub fn check(plan: &Plan, breakpoint: &Breakpoint) -> Result<(), ControlError> {
    let known = |id: &NodeId| plan.node(id).is_some();
    let (is_known, what) = match &breakpoint.place {
        BreakPlace::Before { node_id } | BreakPlace::After { node_id } => (known(node_id), node_id.as_str()),
        BreakPlace::Error { node_id } | BreakPlace::Barrier { node_id } => {
            (node_id.as_ref().is_none_or(known), node_id.as_ref().map_or("", NodeId::as_str))
        }
        BreakPlace::Edge { edge_id } => {
            (plan.edges.iter().any(|edge| edge.source.id == *edge_id), edge_id.as_str())
        }
    };
    if !is_known {
        let hint = "name a node or an edge of the workflow by its id";
        return Err(ControlError::missing(format!("there is no {what:?} in this workflow"), hint));
    }
    let armed = Armed::new(breakpoint, &plan.names);
    match armed.condition.into_iter().chain(armed.log).find_map(Result::err) {
        Some(complaint) => {
            let hint = "write an expression on the message, such as $item.total > 100";
            Err(ControlError::invalid(complaint, hint))
        }
        None => Ok(()),
    }
}

/// After the work a condition also knows what came of it.
fn seen_from(standing: &Standing) -> Message {
    let Standing { plan, message, stage } = standing;
    let Some(effects) = stage.effects() else { return message.clone() };
    let outcome = effects.outcome.as_ref().map(|output| &output.payload);
    let context = message.context.after(&plan.nodes[message.node], outcome).context;
    Message { context, ..message.clone() }
}

fn gathers(plan: &Plan, node: usize) -> bool {
    match &plan.flow.inputs[node] {
        Input::List { .. }
        | Input::Race { .. }
        | Input::Join { .. }
        | Input::Collapse { .. }
        | Input::Sides { .. } => true,
        Input::Each | Input::Exclusive { .. } => false,
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
