//! Events as the messages of RFC 001.

use std::collections::BTreeMap;

use protocol::{
    Arrival, CompletionMessage, Consequence, Event, ExecutionEnded, ExecutionStatus, Fact, Lineage, Millis,
    Node, NodeError, NodeId, NodeStatus, NodeStatusMessage, Payload, StatusLine, WorkflowId, iso8601,
};
use serde_json::json;

/// Follows one execution; gathers what its completion has to say.
#[derive(Default)]
pub struct StatusFold {
    workflow_id: Option<WorkflowId>,
    started_at: Millis,
    nodes: BTreeMap<NodeId, Node>,
    final_context: BTreeMap<String, Payload>,
}

impl StatusFold {
    /// The messages that announce this event.
    pub fn apply(&mut self, event: &Event) -> Vec<StatusLine> {
        match &event.fact {
            Fact::ExecutionStarted(started) => {
                self.workflow_id = Some(started.workflow_id.clone());
                self.started_at = event.at;
                self.final_context.insert("$trigger".to_owned(), started.input.clone());
                self.nodes = nodes(&started.definition);
                Vec::new()
            }
            Fact::NodeStarted(started) => {
                let mut status = self.status(event, &started.firing.node_id, &started.firing.lineage);
                status.parameters = started.parameters.clone();
                vec![line(status)]
            }
            Fact::NodeParked(parked) => {
                let mut status = self.status(event, &parked.firing.node_id, &parked.firing.lineage);
                status.status = NodeStatus::Waiting;
                status.metadata = Some(json!({"resume_at": parked.due}));
                vec![line(status)]
            }
            Fact::AttemptFailed(failed) => {
                let mut status = self.status(event, &failed.firing.node_id, &failed.firing.lineage);
                status.status = NodeStatus::Waiting;
                status.duration_ms = failed.duration;
                status.details = Some(json!({"attempt": failed.firing.attempt, "error": failed.error}));
                status.metadata = Some(json!({"resume_at": failed.due}));
                vec![line(status)]
            }
            Fact::NodeSucceeded(done) => {
                self.keep(&done.firing.node_id, &done.firing.lineage, &done.output);
                let mut status = self.status(event, &done.firing.node_id, &done.firing.lineage);
                status.status = NodeStatus::Success;
                status.duration_ms = done.duration;
                status.output = Some(done.output.clone());
                self.with_arrivals(event, status, &done.arrivals)
            }
            Fact::NodeFailed(done) => {
                if done.consequence == Consequence::GoOn {
                    let output = Payload::new(json!({"error": done.error}));
                    self.keep(&done.firing.node_id, &done.firing.lineage, &output);
                }
                let mut status = self.status(event, &done.firing.node_id, &done.firing.lineage);
                status.status = NodeStatus::Failed;
                status.duration_ms = done.duration;
                status.error = Some(done.error.clone());
                self.with_arrivals(event, status, &done.arrivals)
            }
            // The join that gave up fires next, and says so itself.
            Fact::TimedOut(_) => Vec::new(),
            Fact::ExecutionEnded(ended) => {
                vec![StatusLine::Completion(Box::new(self.completion(event, ended)))]
            }
        }
    }

    /// Only what was put out outside every split reaches the final context.
    fn keep(&mut self, node: &NodeId, lineage: &Lineage, output: &Payload) {
        if lineage.is_root() {
            self.final_context.insert(format!("${node}"), output.clone());
        }
    }

    /// Joins that have heard of something and wait for the rest say so.
    fn with_arrivals(
        &self,
        event: &Event,
        status: NodeStatusMessage,
        arrivals: &[Arrival],
    ) -> Vec<StatusLine> {
        let waiting = arrivals.iter().filter(|arrival| arrival.arrived < arrival.expected).map(|arrival| {
            let mut status = self.status(event, &arrival.node_id, &arrival.lineage);
            let gathers = self.nodes.get(&arrival.node_id).is_some_and(|node| node.kind == "aggregator");
            let Arrival { arrived, expected, .. } = arrival;
            status.status = NodeStatus::Waiting;
            status.details = Some(match gathers {
                true => json!({"processed": arrived, "total": expected}),
                false => json!({"arrived": arrived, "expected": expected}),
            });
            status
        });
        std::iter::once(status).chain(waiting).map(line).collect()
    }

    /// Says that a node is running; the caller changes what is different.
    fn status(&self, event: &Event, node: &NodeId, lineage: &Lineage) -> NodeStatusMessage {
        let name = self.nodes.get(node).map(|node| node.title().to_owned());
        NodeStatusMessage {
            workflow_id: self.workflow_id(),
            execution_id: event.execution_id.clone(),
            node_id: node.clone(),
            node_name: name.unwrap_or_else(|| node.to_string()),
            status: NodeStatus::Running,
            parameters: None,
            output: None,
            error: None,
            executed_at: iso8601(event.at),
            duration_ms: 0,
            lineage_stack: lineage.frames(&event.execution_id),
            details: None,
            metadata: None,
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

fn line(status: NodeStatusMessage) -> StatusLine {
    StatusLine::Status(Box::new(status))
}

fn reason(error: &NodeError) -> String {
    match &error.node_id {
        Some(node) => format!("{node}: {}", error.message),
        None => error.message.clone(),
    }
}

fn nodes(definition: &Payload) -> BTreeMap<NodeId, Node> {
    let workflow: protocol::Workflow = serde_json::from_str(definition.text()).unwrap_or_default();
    workflow.nodes.into_iter().map(|node| (node.id.clone(), node)).collect()
}
