//! Triggers that start executions without a user: a call from outside, and the clock. Nothing happens here unless a
//! host asks for it.

mod schedules;
mod timetable;

use std::path::Path;

use engine::nodes::{Occasion, occasion};
use protocol::{ExecutionId, Node, NodeId, Payload, Problem, ProblemCode, Workflow};

use crate::{Beginning, Session, runnable, stem};

pub use schedules::{Schedules, Turn};

/// One trigger of one workflow file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trigger {
    pub path: String,
    pub node: NodeId,
}

impl Session {
    /// Starts the one workflow whose webhook has this name, at that webhook.
    pub async fn call_hook(&self, name: &str, body: Payload) -> Result<ExecutionId, Problem> {
        let name = name.trim_matches('/');
        let hooked = |workflow: &Workflow| nodes(workflow, |node| is_called(node, name));
        let listening = self.library()?.paths(|workflow| !hooked(workflow).is_empty());
        match listening.as_slice() {
            [] => Err(no_hook()),
            [path] => self.start_at(path, hooked, body).await?.ok_or_else(no_hook),
            [..] => {
                let message = format!("more than one workflow has this webhook: {}", listening.join(", "));
                Err(Problem::new(ProblemCode::Ambiguous, message, "give each webhook a name of its own"))
            }
        }
    }

    /// Starts a file of the folder, as it is now, at some of its nodes; `None` if it has no such nodes any more.
    async fn start_at(
        &self,
        path: &str,
        at: impl Fn(&Workflow) -> Vec<NodeId>,
        input: Payload,
    ) -> Result<Option<ExecutionId>, Problem> {
        let plan = runnable(self.library()?.load(path)?, path)?;
        let starts = at(&plan.workflow);
        if starts.is_empty() {
            return Ok(None);
        }
        let (name, path) = (stem(Path::new(path)), Some(path.to_owned()));
        let (input, starts) = (Some(input), Some(starts));
        let started =
            self.begin(plan, Beginning { name, path, input, starts, ..Beginning::default() }).await?;
        Ok(Some(started.execution_id))
    }
}

fn nodes(workflow: &Workflow, wanted: impl Fn(&Node) -> bool) -> Vec<NodeId> {
    workflow.nodes.iter().filter(|node| wanted(node)).map(|node| node.id.clone()).collect()
}

fn is_called(node: &Node, name: &str) -> bool {
    matches!(occasion(node), Ok(Occasion::Webhook { names }) if names.iter().any(|known| known == name))
}

/// Says nothing about the webhooks that do exist.
fn no_hook() -> Problem {
    let hint = "check the address; it ends with the webhook_guid or the path of a webhook trigger";
    Problem::new(ProblemCode::NotFound, "there is no such webhook", hint)
}
