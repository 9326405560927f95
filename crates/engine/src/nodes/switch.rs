//! `switch`: several conditions, the first that holds decides the way.

use protocol::{Diagnostic, NodeError};
use serde_json::{Value, json};

use super::{Firing, Kind, Parameter, Resolve, Route, Work, invalid, parameter};
use crate::{
    compare::{Operator, compare},
    plan::{Plan, PlannedNode},
};

pub struct Switch;

impl Kind for Switch {
    fn names(&self) -> &'static [&'static str] {
        &["switch"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("rules", Resolve::Rules), parameter("routes", Resolve::Literal)];
        &PARAMETERS
    }

    fn check(&self, plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let hint = "write \"rules\": [{\"value\": \"$x\", \"operator\": \"==\", \"compare\": 1}] and one route more than rules";
        let rules = match (node.source.parameters.get("rules"), node.source.parameters.get("routes")) {
            (Some(Value::Array(rules)), _) => rules.as_slice(),
            // Rune leaves out an empty list; then everything goes the last way.
            (None | Some(Value::Null), Some(_)) => &[],
            _ => return vec![invalid(&node.id, "rules must be a list".to_owned(), hint)],
        };
        for (index, rule) in rules.iter().enumerate() {
            let operator = rule.get("operator").and_then(Value::as_str).unwrap_or_default();
            if Operator::parse(operator).is_none() {
                found.push(invalid(
                    &node.id,
                    format!("rule {index} has the unknown operator {operator:?}"),
                    hint,
                ));
            }
        }
        for (index, route) in routes(node).iter().enumerate() {
            if let Some(name) = route
                && edge(plan, node, name).is_none()
            {
                found.push(invalid(
                    &node.id,
                    format!("route {index} {name:?} is no edge of this node"),
                    hint,
                ));
            }
        }
        found
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let rules = firing.parameters.get("rules").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, rule) in rules.iter().enumerate() {
            let part = |name: &str| rule.get(name).unwrap_or(&Value::Null);
            let operator = part("operator").as_str().and_then(Operator::parse);
            let operator = operator.ok_or_else(|| firing.invalid("rules", "hold an unknown operator"))?;
            if compare(part("value"), operator, part("compare")) {
                return Ok(Work::done(json!({"output_index": index, "matched_rule": rule}).into()));
            }
        }
        Ok(Work::done(json!({"output_index": rules.len(), "fallback": true}).into()))
    }

    fn route(&self, node: &PlannedNode, output: &Value) -> Route {
        let index = output["output_index"].as_u64().unwrap_or(0) as usize;
        Route::Only(node.ways.get(index).copied().flatten())
    }

    fn ways(&self, plan: &Plan, node: &PlannedNode) -> Vec<Option<usize>> {
        cases(plan, node)
    }
}

/// The edge names in `routes`, one per rule and one more for when none holds.
fn routes(node: &PlannedNode) -> Vec<Option<&str>> {
    let routes =
        node.source.parameters.get("routes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    routes.iter().map(Value::as_str).collect()
}

fn edge(plan: &Plan, node: &PlannedNode, name: &str) -> Option<usize> {
    node.outgoing.iter().copied().find(|&edge| plan.edges[edge].source.id.as_str() == name)
}

/// The edge of every case: the one `routes` names, else the one with that handle.
fn cases(plan: &Plan, node: &PlannedNode) -> Vec<Option<usize>> {
    let rules = node.source.parameters.get("rules").and_then(Value::as_array).map_or(0, Vec::len);
    let named = routes(node);
    let by_handle = |index: usize| {
        let handles = match index == rules {
            true => ["fallback".to_owned(), "switch-fallback".to_owned()],
            false => [format!("case-{index}"), format!("switch-case-{index}")],
        };
        node.outgoing.iter().copied().find(|&edge| {
            let handle = plan.edges[edge].source.source_handle.as_deref();
            handle.is_some_and(|handle| handles.iter().any(|known| known == handle))
        })
    };
    let case = |index: usize| match named.get(index) {
        Some(Some(name)) => edge(plan, node, name),
        Some(None) => None,
        None => by_handle(index),
    };
    (0..=rules).map(case).collect()
}
