//! A wish to start an execution, the same for every backend.

use std::sync::Arc;

use engine::Plan;
use protocol::{ExecutionId, ExecutionStarted, Fact, NodeId, Origin, Payload, WorkflowId};

pub struct Start {
    pub execution_id: ExecutionId,
    pub workflow_id: WorkflowId,
    pub title: String,
    pub plan: Arc<Plan>,
    pub input: Payload,
    /// The file the workflow was read from, for people.
    pub path: Option<String>,
    /// Where it starts; at every start of the plan where absent.
    pub starts: Option<Vec<NodeId>>,
    /// The execution it is forked from, where it is.
    pub origin: Option<Origin>,
    /// The only node that runs, with what leads to it; all of them where absent.
    pub until: Option<NodeId>,
}

impl Start {
    /// The first fact of the execution.
    pub fn fact(&self) -> Fact {
        let definition = serde_json::to_value(&*self.plan.workflow).unwrap_or_default();
        let everywhere = || self.plan.starts.iter().map(|&node| self.plan.nodes[node].id.clone()).collect();
        Fact::ExecutionStarted(Box::new(ExecutionStarted {
            workflow_id: self.workflow_id.clone(),
            title: self.title.clone(),
            path: self.path.clone(),
            definition_hash: self.plan.hash.clone(),
            definition: Payload::new(definition),
            input: self.input.clone(),
            starts: self.starts.clone().unwrap_or_else(everywhere),
            origin: self.origin.clone(),
            until: self.until.clone(),
            observed: None,
            other: Default::default(),
        }))
    }
}
