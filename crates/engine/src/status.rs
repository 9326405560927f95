//! Events as the messages of RFC 001.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    Arrival, Change, CompletionMessage, Consequence, Echo, Event, ExecutionEnded, ExecutionStatus, Fact,
    Lineage, Millis, Node, NodeError, NodeFailed, NodeId, NodeStatus, NodeStatusMessage, Payload, StatusLine,
    WorkflowId, iso8601,
};
use serde_json::json;

/// Follows one execution; gathers what its completion has to say.
#[derive(Default)]
pub struct StatusFold {
    workflow_id: Option<WorkflowId>,
    started_at: Millis,
    nodes: BTreeMap<NodeId, Node>,
    /// Nodes that ran or were said to be skipped.
    spoken_of: BTreeSet<NodeId>,
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
                self.speak_of(&started.firing.node_id);
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
                self.with_echo(event, status, &done.echo)
            }
            Fact::NodeFailed(done) => {
                self.keep_failure(done);
                let mut status = self.status(event, &done.firing.node_id, &done.firing.lineage);
                status.status = NodeStatus::Failed;
                status.duration_ms = done.duration;
                status.error = Some(done.error.clone());
                self.with_echo(event, status, &done.echo)
            }
            // The join that gave up fires next, and says so itself.
            Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_) => Vec::new(),
            Fact::Intervened(done) if done.change == Change::Dropped => {
                let (node, lineage) = (&done.firing.node_id, &done.firing.lineage);
                let status = self.status(event, node, lineage);
                self.with_echo(event, NodeStatusMessage { status: NodeStatus::Skipped, ..status }, &done.echo)
            }
            Fact::Intervened(_) => Vec::new(),
            Fact::ExecutionEnded(ended) => {
                let mut lines = self.never_reached(event);
                lines.push(StatusLine::Completion(Box::new(self.completion(event, ended))));
                lines
            }
        }
    }

    /// Takes in an event that somebody else announces. How the execution has ended, if it has.
    pub fn follow(&mut self, event: &Event) -> Option<CompletionMessage> {
        match &event.fact {
            Fact::NodeStarted(started) => self.speak_of(&started.firing.node_id),
            Fact::NodeSucceeded(done) => {
                self.keep(&done.firing.node_id, &done.firing.lineage, &done.output);
                self.hear(&done.echo);
            }
            Fact::NodeFailed(done) => {
                self.keep_failure(done);
                self.hear(&done.echo);
            }
            Fact::Intervened(done) if done.change == Change::Dropped => self.hear(&done.echo),
            Fact::Gathered(done) => self.hear(&done.echo),
            Fact::Intervened(_)
            | Fact::NodeParked(_)
            | Fact::AttemptFailed(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::TimerFired(_)
            | Fact::Missed(_) => {}
            Fact::ExecutionStarted(_) | Fact::ExecutionEnded(_) => {
                if let Some(StatusLine::Completion(completion)) = self.apply(event).pop() {
                    return Some(*completion);
                }
            }
        }
        None
    }

    fn hear(&mut self, echo: &Echo) {
        for skipped in &echo.skipped {
            self.speak_of(&skipped.node_id);
        }
    }

    fn speak_of(&mut self, node: &NodeId) {
        if !self.spoken_of.contains(node) {
            self.spoken_of.insert(node.clone());
        }
    }

    fn keep_failure(&mut self, done: &NodeFailed) {
        if done.consequence == Consequence::GoOn {
            let output = Payload::new(json!({"error": done.error}));
            self.keep(&done.firing.node_id, &done.firing.lineage, &output);
        }
    }

    /// Only what was put out outside every split reaches the final context.
    fn keep(&mut self, node: &NodeId, lineage: &Lineage, output: &Payload) {
        if lineage.is_root() {
            self.final_context.insert(format!("${node}"), output.clone());
        }
    }

    /// Joins that have heard of something and wait for the rest say so, and nodes that will never run.
    fn with_echo(&mut self, event: &Event, status: NodeStatusMessage, echo: &Echo) -> Vec<StatusLine> {
        let mut lines = vec![line(status)];
        for Arrival { node_id, lineage, arrived, expected } in &echo.arrivals {
            if arrived < expected {
                let mut status = self.status(event, node_id, lineage);
                let gathers = self.nodes.get(node_id).is_some_and(|node| node.kind == "aggregator");
                status.status = NodeStatus::Waiting;
                status.details = Some(match gathers {
                    true => json!({"processed": arrived, "total": expected}),
                    false => json!({"arrived": arrived, "expected": expected}),
                });
                lines.push(line(status));
            }
        }
        lines.extend(
            echo.skipped.iter().map(|skipped| self.skipped(event, &skipped.node_id, &skipped.lineage)),
        );
        lines
    }

    fn skipped(&mut self, event: &Event, node: &NodeId, lineage: &Lineage) -> StatusLine {
        self.speak_of(node);
        line(NodeStatusMessage { status: NodeStatus::Skipped, ..self.status(event, node, lineage) })
    }

    /// Nodes that nobody has spoken of never ran and never will.
    fn never_reached(&mut self, event: &Event) -> Vec<StatusLine> {
        let silent: Vec<NodeId> =
            self.nodes.keys().filter(|node| !self.spoken_of.contains(*node)).cloned().collect();
        silent.iter().map(|node| self.skipped(event, node, &Lineage::default())).collect()
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
