//! Events as the messages of RFC 001.

use std::collections::BTreeMap;

use protocol::{
    CompletionMessage, Event, ExecutionEnded, ExecutionStatus, Fact, Firing, Millis, NodeError, NodeId,
    NodeStatus, NodeStatusMessage, Payload, StatusLine, WorkflowId, iso8601,
};
use serde_json::json;

/// Follows one execution; gathers what its completion has to say.
#[derive(Default)]
pub struct StatusFold {
    workflow_id: Option<WorkflowId>,
    started_at: Millis,
    node_names: BTreeMap<NodeId, String>,
    final_context: BTreeMap<String, Payload>,
}

impl StatusFold {
    /// The message that announces this event, if it is one that is announced.
    pub fn apply(&mut self, event: &Event) -> Option<StatusLine> {
        match &event.fact {
            Fact::ExecutionStarted(started) => {
                self.workflow_id = Some(started.workflow_id.clone());
                self.started_at = event.at;
                self.final_context.insert("$trigger".to_owned(), started.input.clone());
                self.node_names = node_names(&started.definition);
                None
            }
            Fact::NodeStarted(started) => {
                let mut status = self.status(event, &started.firing, NodeStatus::Running, 0);
                status.parameters = started.parameters.clone();
                Some(StatusLine::Status(Box::new(status)))
            }
            Fact::NodeSucceeded(done) => {
                self.keep(&done.firing, done.output.clone());
                let mut status = self.status(event, &done.firing, NodeStatus::Success, done.duration);
                status.output = Some(done.output.clone());
                Some(StatusLine::Status(Box::new(status)))
            }
            Fact::NodeFailed(done) => {
                if !done.children.is_empty() {
                    self.keep(&done.firing, Payload::new(json!({"error": done.error})));
                }
                let mut status = self.status(event, &done.firing, NodeStatus::Failed, done.duration);
                status.error = Some(done.error.clone());
                Some(StatusLine::Status(Box::new(status)))
            }
            Fact::ExecutionEnded(ended) => {
                Some(StatusLine::Completion(Box::new(self.completion(event, ended))))
            }
        }
    }

    /// Only what was put out outside every split reaches the final context.
    fn keep(&mut self, firing: &Firing, output: Payload) {
        if firing.lineage.is_empty() {
            self.final_context.insert(format!("${}", firing.node_id), output);
        }
    }

    fn status(
        &self,
        event: &Event,
        firing: &Firing,
        status: NodeStatus,
        duration_ms: Millis,
    ) -> NodeStatusMessage {
        let name = self.node_names.get(&firing.node_id);
        NodeStatusMessage {
            workflow_id: self.workflow_id(),
            execution_id: event.execution_id.clone(),
            node_id: firing.node_id.clone(),
            node_name: name.cloned().unwrap_or_else(|| firing.node_id.to_string()),
            status,
            parameters: None,
            output: None,
            error: None,
            executed_at: iso8601(event.at),
            duration_ms,
            lineage_stack: firing.lineage.clone(),
        }
    }

    fn completion(&self, event: &Event, ended: &ExecutionEnded) -> CompletionMessage {
        CompletionMessage {
            workflow_id: self.workflow_id(),
            execution_id: event.execution_id.clone(),
            status: ended.status,
            final_context: self.final_context.clone(),
            completed_at: iso8601(event.at),
            total_duration_ms: event.at - self.started_at,
            failure_reason: ended.error.as_ref().map(reason),
            error: ended.error.clone().filter(|_| ended.status != ExecutionStatus::Completed),
        }
    }

    fn workflow_id(&self) -> WorkflowId {
        self.workflow_id.clone().unwrap_or_else(|| WorkflowId::from("unknown"))
    }
}

fn reason(error: &NodeError) -> String {
    match &error.node_id {
        Some(node) => format!("{node}: {}", error.message),
        None => error.message.clone(),
    }
}

fn node_names(definition: &Payload) -> BTreeMap<NodeId, String> {
    let workflow: protocol::Workflow = serde_json::from_str(definition.text()).unwrap_or_default();
    workflow.nodes.iter().map(|node| (node.id.clone(), node.title().to_owned())).collect()
}
