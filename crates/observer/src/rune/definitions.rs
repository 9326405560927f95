//! Definitions of workflows, read once. Every message of a Rune cluster carries one, and executions of one workflow
//! carry the same: what is told by it is worked out for the first and shared with the others.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use protocol::{Payload, Workflow, WorkflowId};
use serde_json::Value;

use super::{
    graph::{EDGES, Graph, NODES},
    secrets::Secrets,
};

/// Definitions that are kept.
const KEPT: usize = 100;
/// A larger one is read again for each execution.
const LARGEST: usize = 1024 * 1024;

/// A definition without its credentials, and what it means.
pub struct Definition {
    pub text: Payload,
    pub name: Option<String>,
    pub hash: String,
    pub graph: Arc<Graph>,
    /// The node that the master begins behind.
    pub trigger: Option<usize>,
    pub secrets: Secrets,
}

#[derive(Default)]
pub struct Definitions {
    by_text: HashMap<[u64; 2], Arc<Definition>>,
    /// The one that was heard of last.
    by_workflow: HashMap<WorkflowId, Arc<Definition>>,
    /// How often a workflow was heard of with another definition.
    changes: u64,
    /// Texts hold credentials, so they are known again by two numbers that mean nothing elsewhere.
    numbers: [RandomState; 2],
}

impl Definitions {
    /// `None` where it cannot be read.
    pub fn read(&mut self, workflow: &WorkflowId, text: &str) -> Option<Arc<Definition>> {
        let number = [self.numbers[0].hash_one(text), self.numbers[1].hash_one(text)];
        let known = self.by_text.get(&number).cloned();
        let definition = known.or_else(|| Definition::read(text).map(Arc::new))?;
        if text.len() <= LARGEST {
            make_room(&mut self.by_text);
            make_room(&mut self.by_workflow);
            self.by_text.insert(number, Arc::clone(&definition));
            let before = self.by_workflow.insert(workflow.clone(), Arc::clone(&definition));
            self.changes += u64::from(before.is_none_or(|before| !Arc::ptr_eq(&before, &definition)));
        }
        Some(definition)
    }

    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The only workflow that is meant; `None` where there is none, or more than one.
    pub fn only(&self, is_meant: impl Fn(&Definition) -> bool) -> Option<(WorkflowId, Arc<Definition>)> {
        let mut meant = self.by_workflow.iter().filter(|(_, definition)| is_meant(definition));
        let (workflow, definition) = meant.next()?;
        meant.next().is_none().then(|| (workflow.clone(), Arc::clone(definition)))
    }

    /// What an execution of this workflow most likely runs.
    pub fn latest(&self, workflow: &WorkflowId) -> Option<Arc<Definition>> {
        self.by_workflow.get(workflow).cloned()
    }
}

fn make_room<K, V>(kept: &mut HashMap<K, V>) {
    if kept.len() >= KEPT {
        kept.clear();
    }
}

impl Definition {
    pub fn read(text: &str) -> Option<Self> {
        let mut definition: Value = serde_json::from_str(text).ok()?;
        let many = |list: &str| definition.get(list).and_then(Value::as_array).map_or(0, Vec::len);
        if many("nodes") > NODES || many("edges") > EDGES {
            return None;
        }
        let mut secrets = Secrets::default();
        secrets.take_from_definition(&mut definition);
        // Go writes them, empty, on every hop.
        if let Some(fields) = definition.as_object_mut() {
            fields.remove("execution_id");
            fields.retain(|name, value| name != "workflow_id" || value.as_str() != Some(""));
        }
        let text = Payload::new(definition);
        let workflow: Workflow = serde_json::from_str(text.text()).ok()?;
        let graph = Arc::new(Graph::of(&workflow)?);
        let hash = Some(engine::load_once(text.text().as_bytes()).hash).filter(|hash| !hash.is_empty());
        let hash = hash.unwrap_or_else(|| text.hash()[..32].to_owned());
        let trigger = workflow.nodes.iter().position(|node| node.trigger);
        Some(Self { text, name: workflow.name, hash, graph, trigger, secrets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(node: &str) -> String {
        format!(r#"{{"workflow_id":"","nodes":[{{"id":"{node}","name":"N","type":"log"}}],"edges":[]}}"#)
    }

    #[test]
    fn the_same_text_is_read_once_and_few_are_kept() {
        let mut definitions = Definitions::default();
        let workflow = WorkflowId::from("7");
        let first = definitions.read(&workflow, &text("a")).unwrap();
        let again = definitions.read(&workflow, &text("a")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let edited = definitions.read(&workflow, &text("b")).unwrap();
        assert!(!Arc::ptr_eq(&first, &edited));
        assert!(Arc::ptr_eq(&edited, &definitions.latest(&workflow).unwrap()), "the last one counts");
        assert_eq!(edited.text.text(), r#"{"nodes":[{"id":"b","name":"N","type":"log"}],"edges":[]}"#);
        for number in 0..500 {
            definitions.read(&WorkflowId::from(number.to_string()), &text(&format!("n{number}"))).unwrap();
        }
        assert!(definitions.by_text.len() <= KEPT && definitions.by_workflow.len() <= KEPT);
        assert!(definitions.read(&workflow, "[1, 2").is_none());
    }
}
