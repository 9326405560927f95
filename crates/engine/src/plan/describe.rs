//! The plan as data, for people who ask why an execution will go the way it goes.

use serde_json::{Value, json};

use super::{Input, Plan, Target};

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
            described["gathered_by"] = json!(self.ids(&self.flow.collapsers[at]));
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
            Input::Collapse { groups } => {
                let groups: Vec<Vec<&str>> = groups.iter().map(|edges| self.edge_ids(edges)).collect();
                json!({"policy": "collapse", "groups": groups})
            }
        }
    }

    fn describe_edge(&self, at: usize) -> Value {
        let edge = &self.edges[at];
        let from = &self.nodes[edge.from];
        let mut scope = self.ids(&from.scope);
        scope.truncate(self.depth_of(at));
        if self.depth_of(at) > from.scope.len() {
            scope.push(from.id.as_str());
        }
        let told: Vec<Value> = self.flow.frontiers[at]
            .iter()
            .map(|target| match target {
                Target::Inbox(edge) => {
                    json!({"node": self.nodes[self.edges[*edge].to].id, "edge": self.edges[*edge].source.id})
                }
                Target::Split(node) => json!({"node": self.nodes[*node].id}),
            })
            .collect();
        json!({
            "id": edge.source.id,
            "src": from.id,
            "dst": self.nodes[edge.to].id,
            "scope": scope,
            "repeats": self.flow.repeating.contains(&at),
            "told_when_done": told,
        })
    }

    fn ids(&self, nodes: &[usize]) -> Vec<&str> {
        nodes.iter().map(|&node| self.nodes[node].id.as_str()).collect()
    }

    fn edge_ids(&self, edges: &[usize]) -> Vec<&str> {
        edges.iter().map(|&edge| self.edges[edge].source.id.as_str()).collect()
    }
}
