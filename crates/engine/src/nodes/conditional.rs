//! `conditional`: one condition, two ways on.

use protocol::{Diagnostic, DiagnosticCode, ErrorCode, NodeError};
use serde_json::{Value, json};

use super::{Firing, Kind, Parameter, Resolve, Route, Work, invalid, parameter, required};
use crate::{
    compare::is_true,
    plan::{Plan, PlannedNode},
};

pub struct Conditional;

impl Kind for Conditional {
    fn names(&self) -> &'static [&'static str] {
        &["conditional", "if"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 3] = [
            required("expression", Resolve::Expression),
            parameter("true_edge_id", Resolve::Literal),
            parameter("false_edge_id", Resolve::Literal),
        ];
        &PARAMETERS
    }

    fn check(&self, plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (side, parameter) in [("true", "true_edge_id"), ("false", "false_edge_id")] {
            let named = node.source.parameters.get(parameter).and_then(Value::as_str);
            match (named, branch(plan, node, side)) {
                (_, Some(_)) => {}
                (Some(name), None) => {
                    let hint = "name an edge whose src is this node";
                    found.push(invalid(
                        &node.id,
                        format!("{parameter} {name:?} is no edge of this node"),
                        hint,
                    ));
                }
                (None, None) => found.push(
                    Diagnostic::warning(
                        DiagnosticCode::MissingBranch,
                        format!("nothing follows when the condition is {side}"),
                        format!("name the edge in {parameter}, or leave it if the path is meant to end here"),
                    )
                    .at_node(&node.id),
                ),
            }
        }
        found
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let value = firing.parameters.get("expression").ok_or_else(|| {
            NodeError::new(ErrorCode::InvalidParameter, "parameter \"expression\" is missing")
        })?;
        Ok(Work::done(json!({"result": is_true(value)}).into()))
    }

    fn route(&self, node: &PlannedNode, output: &Value) -> Route {
        let taken = output["result"] == Value::Bool(true);
        Route::Only(node.ways.get(usize::from(!taken)).copied().flatten())
    }

    fn ways(&self, plan: &Plan, node: &PlannedNode) -> Vec<Option<usize>> {
        ["true", "false"].map(|side| branch(plan, node, side)).to_vec()
    }
}

/// The edge of one side: the one the parameter names, else the one with that handle or label.
fn branch(plan: &Plan, node: &PlannedNode, side: &str) -> Option<usize> {
    let named = node.source.parameters.get(&format!("{side}_edge_id")).and_then(Value::as_str);
    node.outgoing.iter().copied().find(|&edge| {
        let edge = &plan.edges[edge].source;
        match named {
            Some(name) => edge.id.as_str() == name,
            None => edge.source_handle.as_deref().or(edge.label.as_deref()) == Some(side),
        }
    })
}
