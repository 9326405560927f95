//! How an execution begins for us: with a definition, and with where it is heard of first.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use protocol::{
    Echo, ExecutionId, ExecutionStarted, Fact, Lineage, Millis, NodeSucceeded, Payload, WorkflowId,
};
use serde_json::{Value, json};

use super::{
    definitions::Definition,
    execution::{Completions, Execution},
    graph::Graph,
    secrets::Secrets,
    wire::WireFrame,
};

/// How to begin with a definition.
pub struct Beginning {
    pub definition: Arc<Definition>,
    pub cluster: String,
    pub joined_late: bool,
    /// What follows the trigger may be under way: of an execution that says nothing that is not known.
    pub passes_trigger: bool,
}

/// Where an execution is heard of first.
pub struct Start<'s> {
    pub node: Option<&'s str>,
    pub frames: &'s [WireFrame],
    pub context: Option<&'s Value>,
}

impl Execution {
    pub fn begin(
        beginning: Beginning,
        id: ExecutionId,
        workflow_id: WorkflowId,
        start: &Start<'_>,
        heard_at: Millis,
    ) -> Self {
        let Beginning { definition, cluster, joined_late, passes_trigger } = beginning;
        let title = definition.name.clone().unwrap_or_else(|| format!("Workflow {workflow_id}"));
        let (graph, secrets) = (Arc::clone(&definition.graph), definition.secrets.clone());
        let began = begin_of(&definition, start).filter(|_| passes_trigger);
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
        let definition_hash = definition.hash.clone();
        let unheard = Self::unheard(id, graph, secrets, heard_at);
        let mut execution = Self { joined_late, definition_hash, ..unheard };
        let observed = protocol::Observed::new(cluster, protocol::ClusterDialect::Rune, joined_late);
        execution.tell(
            heard_at,
            Fact::ExecutionStarted(Box::new(ExecutionStarted {
                workflow_id,
                title,
                path: None,
                definition_hash: definition.hash.clone(),
                definition: definition.text.clone(),
                input: input.clone(),
                starts,
                origin: None,
                until: None,
                observed: Some(observed),
                other: Default::default(),
            })),
        );
        if let Some((trigger, taken)) = began {
            execution.pass_trigger(trigger, taken, input);
        }
        execution
    }

    /// Of which nothing has been heard.
    fn unheard(id: ExecutionId, graph: Arc<Graph>, secrets: Secrets, heard_at: Millis) -> Self {
        Self {
            id,
            graph,
            definition_hash: String::new(),
            joined_late: false,
            missed_until: None,
            guess: None,
            heard_at,
            tracks: HashMap::new(),
            open: HashMap::new(),
            queued: HashMap::new(),
            joins: HashMap::new(),
            waiting: BTreeSet::new(),
            short: BTreeSet::new(),
            unheard: BTreeSet::new(),
            fan_outs: HashMap::new(),
            items: 0,
            completions: Completions::default(),
            durations: HashMap::new(),
            ended: false,
            skew: None,
            let_go: 0,
            redelivered: 0,
            secrets,
            seq: 0,
            last_at: heard_at,
            unplaced: Vec::new(),
            debts: BTreeMap::new(),
            unsaid: HashMap::new(),
            halted_by: None,
            told: Vec::new(),
        }
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
fn begin_of(definition: &Definition, start: &Start<'_>) -> Option<(usize, usize)> {
    let (trigger, graph) = (definition.trigger?, &definition.graph);
    let outgoing = &graph.nodes[trigger].outgoing;
    let to_first = |edge: &&usize| Some(graph.nodes[graph.edges[**edge].to].id.as_str()) == start.node;
    let edge = outgoing.iter().find(to_first).or_else(|| outgoing.first())?;
    Some((trigger, *edge))
}
