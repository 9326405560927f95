//! The plan as data, for people who ask why an execution will go the way it goes.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Input, Plan, PlannedInput, Target};
use crate::correlation::{self, Descriptor, OutputFlow, Root};

impl Plan {
    /// Scopes, what each node waits for, and who hears of an edge that is never taken.
    pub fn describe(&self) -> Value {
        let nodes: Vec<Value> = (0..self.nodes.len()).map(|at| self.describe_node(at)).collect();
        let edges: Vec<Value> = (0..self.edges.len()).map(|at| self.describe_edge(at)).collect();
        json!({
            "definition_hash": self.hash,
            "starts": self.ids(&self.starts),
            "nodes": nodes,
            "edges": edges,
        })
    }

    fn describe_node(&self, at: usize) -> Value {
        let node = &self.nodes[at];
        let mut described = json!({
            "id": node.id,
            "type": node.kind.names()[0],
            "scope": self.ids(&node.scope),
            "input": self.describe_input(at),
        });
        if !self.flow.collapsers[at].is_empty() {
            let by: BTreeSet<&str> =
                self.flow.collapsers[at].iter().map(|by| self.nodes[by.node].id.as_str()).collect();
            described["gathered_by"] = json!(by);
        }
        if !node.inputs.is_empty() || node.descriptor.inputs.iter().any(|input| input.name != Descriptor::IN)
        {
            described["handles"] = self.describe_handles(at);
        }
        if let (Some(timeout), false) =
            (node.timeout, matches!(self.flow.inputs[at], Input::Each | Input::Exclusive { .. }))
        {
            described["timeout_ms"] = json!(timeout);
        }
        described
    }

    fn describe_input(&self, at: usize) -> Value {
        match &self.flow.inputs[at] {
            Input::Each => json!({"policy": "each"}),
            Input::Exclusive { edges } => json!({"policy": "exclusive", "edges": self.edge_ids(edges)}),
            Input::List { edges } => json!({"policy": "all", "edges": self.edge_ids(edges)}),
            Input::Race { edges } => json!({"policy": "any", "edges": self.edge_ids(edges)}),
            Input::Join { edges } => {
                let policy = if self.nodes[at].in_order.is_some() { "in_order" } else { "handles" };
                json!({"policy": policy, "edges": self.edge_ids(edges)})
            }
            Input::Collapse { groups } => json!({"policy": "collapse", "groups": self.groups(groups)}),
            Input::Sides { groups } => json!({"policy": "sides", "groups": self.groups(groups)}),
        }
    }

    fn describe_edge(&self, at: usize) -> Value {
        let edge = &self.edges[at];
        let from = &self.nodes[edge.from];
        let told: Vec<Value> = self.flow.frontiers[at]
            .iter()
            .map(|target| match target {
                Target::Inbox(edge) => {
                    json!({"node": self.nodes[self.edges[*edge].to].id, "edge": self.edges[*edge].source.id})
                }
                Target::Split(node) => json!({"node": self.nodes[*node].id}),
            })
            .collect();
        let known = &self.analysis.edges[&edge.source.id];
        let mut described = json!({
            "id": edge.source.id,
            "src": from.id,
            "dst": self.nodes[edge.to].id,
            "scope": self.ids(&edge.scope),
            "roots": known.scope.0.iter().map(Root::as_str).collect::<Vec<_>>(),
            "repeats": self.flow.repeating.contains(&at) || known.repeats,
            "told_when_done": told,
        });
        if let Some(input) = &edge.input {
            described["from"] = json!(edge.output);
            described["to"] = json!(input);
        }
        described
    }

    /// What the inputs and outputs of a node with handles carry.
    fn describe_handles(&self, at: usize) -> Value {
        let node = &self.nodes[at];
        let known = &self.analysis.nodes[&node.id];
        let roots = |roots: &[Root]| roots.iter().map(|root| root.as_str().to_owned()).collect::<Vec<_>>();
        let flow = |flow: &correlation::Flow| {
            json!({
                "scope": roots(&flow.scope.0),
                "repeats": flow.repeats,
                "child_roots": roots(&flow.child_roots),
            })
        };
        let input = |input: &PlannedInput| {
            let mut described = known.inputs.get(&*input.name).map_or(Value::Null, |known| flow(&known.flow));
            described["type"] = json!(if input.list { "list[any]" } else { "any" });
            described["required"] = json!(input.required);
            described["edges"] = json!(self.edge_ids(&input.edges));
            (input.name.to_string(), described)
        };
        let inputs: Map<String, Value> = node.inputs.iter().map(input).collect();
        let outputs = known.outputs.iter().filter(|(name, _)| *name != Descriptor::ERROR);
        let output = |(name, output): (&String, &OutputFlow)| {
            let mut described = flow(&output.flow);
            described["contributors"] = json!(output.contributors);
            (name.clone(), described)
        };
        let outputs: Map<String, Value> = outputs.map(output).collect();
        json!({"invocation": roots(&known.invocation.0), "inputs": inputs, "outputs": outputs})
    }

    fn groups(&self, groups: &[Vec<usize>]) -> Vec<Vec<&str>> {
        groups.iter().map(|edges| self.edge_ids(edges)).collect()
    }

    fn ids(&self, nodes: &[usize]) -> Vec<&str> {
        nodes.iter().map(|&node| self.nodes[node].id.as_str()).collect()
    }

    fn edge_ids(&self, edges: &[usize]) -> Vec<&str> {
        edges.iter().map(|&edge| self.edges[edge].source.id.as_str()).collect()
    }
}
