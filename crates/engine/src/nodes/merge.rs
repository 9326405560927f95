//! `merge`: branches come together. All of them, or the first.

use protocol::{Diagnostic, DiagnosticCode, ErrorCode, Node, NodeError, Payload};
use serde_json::Value;

use super::{
    Firing, Inbox, Kind, Parameter, Resolve, Work, check_choice, check_timeout, parameter, timed_out,
};
use crate::{
    plan::{Plan, PlannedNode},
    step::Joined,
};

pub struct Merge;

const WAIT_MODES: [&str; 2] = ["wait_for_all", "wait_for_any"];

impl Kind for Merge {
    fn names(&self) -> &'static [&'static str] {
        &["merge"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 4] = [
            parameter("mode", Resolve::Literal),
            parameter("wait_mode", Resolve::Literal),
            parameter("timeout", Resolve::Literal),
            parameter("strict", Resolve::Literal),
        ];
        &PARAMETERS
    }

    fn inbox(&self, node: &Node) -> Inbox {
        match node.parameters.get("wait_mode").and_then(Value::as_str) {
            Some("wait_for_any") => Inbox::Race,
            _ => Inbox::List,
        }
    }

    fn check(&self, plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let choices = [check_choice(node, "mode", &["append"]), check_choice(node, "wait_mode", &WAIT_MODES)];
        let parents = plan.edges.iter().filter(|edge| plan.nodes[edge.to].id == node.id).count();
        let lonely = (parents < 2).then(|| {
            let message = format!("a merge with {parents} incoming edge has nothing to merge");
            let hint = "lead another branch here, or remove the node";
            Diagnostic::warning(DiagnosticCode::NothingToMerge, message, hint).at_node(&node.id)
        });
        choices.into_iter().flatten().chain(check_timeout(node)).chain(lonely).collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        match firing.joined {
            Some(Joined::List { values, missing }) => {
                let strict = firing.parameter("strict").and_then(Value::as_bool).unwrap_or(false);
                if strict && !missing.is_empty() {
                    let message = format!("nothing came from {}", missing.join(", "));
                    return Err(NodeError::new(ErrorCode::IncompleteMerge, message));
                }
                let texts: Vec<&str> = values.iter().map(Payload::text).collect();
                let whole = Payload::from_text(format!("[{}]", texts.join(",")));
                whole.map(Work::done).map_err(|error| {
                    NodeError::new(
                        ErrorCode::NodeExecutionFailed,
                        format!("the results do not form an array: {error}"),
                    )
                })
            }
            Some(Joined::Winner(value)) => Ok(Work::done(value.clone())),
            Some(Joined::TimedOut { arrived, expected }) => Err(timed_out(*arrived, *expected)),
            Some(Joined::Collapse(_) | Joined::Sides(_) | Joined::Inputs(_)) | None => {
                Err(NodeError::new(ErrorCode::InvalidParameter, "a merge needs branches that lead to it"))
            }
        }
    }
}
