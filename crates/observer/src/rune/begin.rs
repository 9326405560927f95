//! How an execution begins for us: with a definition, and with where it is heard of first.

use std::collections::HashMap;

use protocol::{
    Echo, ExecutionId, ExecutionStarted, Fact, Lineage, Millis, NodeSucceeded, Payload, Workflow, WorkflowId,
};
use serde_json::{Value, json};

use super::{
    execution::{Completions, Execution},
    graph::Graph,
    secrets::Secrets,
    wire::WireFrame,
};

/// A definition without its credentials, and how to begin with it.
pub struct Beginning {
    pub definition: Value,
    pub secrets: Secrets,
    pub cluster: String,
    pub joined_late: bool,
}

/// Where an execution is heard of first.
pub struct Start<'s> {
    pub node: Option<&'s str>,
    pub frames: &'s [WireFrame],
    pub context: Option<&'s Value>,
}

impl Execution {
    /// `None` where the definition cannot be read.
    pub fn begin(
        beginning: Beginning,
        id: ExecutionId,
        workflow_id: WorkflowId,
        start: &Start<'_>,
        heard_at: Millis,
    ) -> Option<Self> {
        let Beginning { mut definition, secrets, cluster, joined_late } = beginning;
        // Go writes them, empty, on every hop.
        if let Some(fields) = definition.as_object_mut() {
            fields.remove("execution_id");
            fields.retain(|name, value| name != "workflow_id" || value.as_str() != Some(""));
        }
        let workflow: protocol::Workflow = serde_json::from_value(definition.clone()).ok()?;
        let title = workflow.name.clone().unwrap_or_else(|| format!("Workflow {workflow_id}"));
        let graph = Graph::of(&workflow);
        let definition = Payload::new(definition);
        let hash = Some(engine::load_once(definition.text().as_bytes()).hash).filter(|hash| !hash.is_empty());
        let began = begin_of(&workflow, &graph, start);
        let is_start = |node: &usize| !graph.nodes[*node].role.is_join() && start.frames.is_empty();
        let first = match &began {
            Some((trigger, _)) => Some(*trigger),
            None => start.node.and_then(|node| graph.node(node)).filter(is_start),
        };
        let starts = first.map(|node| graph.nodes[node].id.clone()).into_iter().collect();
        let mut input = start.context.and_then(|context| context.get("$trigger")).cloned();
        if let Some(input) = &mut input {
            secrets.take_from(input);
        }
        let input = Payload::new(input.unwrap_or_else(|| json!({})));
        let mut execution = Self {
            id,
            graph,
            joined_late,
            heard_at,
            tracks: HashMap::new(),
            open: HashMap::new(),
            queued: HashMap::new(),
            joins: HashMap::new(),
            fan_outs: HashMap::new(),
            completions: Completions::default(),
            durations: HashMap::new(),
            ended: false,
            skew: None,
            let_go: 0,
            secrets,
            seq: 0,
            last_at: heard_at,
            unplaced: Vec::new(),
            debts: HashMap::new(),
            halted_by: None,
            told: Vec::new(),
        };
        let observed = protocol::Observed { cluster, dialect: protocol::ClusterDialect::Rune, joined_late };
        execution.tell(
            heard_at,
            Fact::ExecutionStarted(ExecutionStarted {
                workflow_id,
                title,
                path: None,
                definition_hash: hash.unwrap_or_else(|| definition.hash()[..32].to_owned()),
                definition,
                input: input.clone(),
                starts,
                origin: None,
                until: None,
                observed: Some(observed),
                other: Default::default(),
            }),
        );
        if let Some((trigger, taken)) = began {
            execution.pass_trigger(trigger, taken, input);
        }
        Some(execution)
    }

    /// No worker runs a trigger: the master begins behind it, along its first edge. Here it is a node like any other.
    fn pass_trigger(&mut self, trigger: usize, taken: usize, output: Payload) {
        let at = self.last_at;
        let firing = self.firing(trigger, Lineage::default(), 1, 1);
        self.start(firing.clone(), at, None, None);
        let taken = vec![self.graph.edges[taken].id.clone()];
        let done = NodeSucceeded { firing, duration: 0, output, items: None, taken, echo: Echo::default() };
        self.tell(at, Fact::NodeSucceeded(done));
    }
}

/// The trigger, and the edge along which it was left.
fn begin_of(workflow: &Workflow, graph: &Graph, start: &Start<'_>) -> Option<(usize, usize)> {
    let trigger = workflow.nodes.iter().position(|node| node.trigger)?;
    let outgoing = &graph.nodes[trigger].outgoing;
    let to_first = |edge: &&usize| Some(graph.nodes[graph.edges[**edge].to].id.as_str()) == start.node;
    let edge = outgoing.iter().find(to_first).or_else(|| outgoing.first())?;
    Some((trigger, *edge))
}
