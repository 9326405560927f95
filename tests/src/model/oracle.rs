//! What a workflow means, computed without messages: node by node, key by key, from the decisions on its edges. It
//! shares nothing with the engine but the reading of the file.

use std::collections::BTreeMap;

use engine::{Input, Plan};
use serde_json::{Value, json};

/// What an edge carries at a key.
#[derive(Clone, Debug, PartialEq)]
enum Word {
    Value(Value),
    /// An item failed on the way.
    Failed(Value),
    Nothing,
}

type Key = Vec<u32>;

/// What every node put out at every key where it ran: its output, or its error as `{"error": message}`.
pub type Meaning = BTreeMap<(String, Key), Value>;

struct Oracle<'p> {
    plan: &'p Plan,
    input: Value,
    words: BTreeMap<(usize, Key), Word>,
    /// The items of each split at each key where it ran.
    items: BTreeMap<(usize, Key), Vec<Value>>,
    meaning: Meaning,
}

pub fn meaning(plan: &Plan, input: &Value) -> Meaning {
    let mut oracle = Oracle {
        plan,
        input: input.clone(),
        words: BTreeMap::new(),
        items: BTreeMap::new(),
        meaning: Meaning::new(),
    };
    for node in order(plan) {
        let scope = plan.nodes[node].scope.clone();
        let outer = match plan.flow.inputs[node] {
            Input::Collapse { .. } => scope.len() - 1,
            _ => scope.len(),
        };
        for key in oracle.keys(&scope[..outer]) {
            oracle.visit(node, &key);
        }
    }
    oracle.meaning
}

/// Every node behind the nodes that lead to it.
fn order(plan: &Plan) -> Vec<usize> {
    let mut waiting: Vec<usize> = vec![0; plan.nodes.len()];
    plan.edges.iter().for_each(|edge| waiting[edge.to] += 1);
    let mut order: Vec<usize> = (0..plan.nodes.len()).filter(|node| waiting[*node] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        let node = order[at];
        for edge in plan.edges.iter().filter(|edge| edge.from == node) {
            waiting[edge.to] -= 1;
            if waiting[edge.to] == 0 {
                order.push(edge.to);
            }
        }
        at += 1;
    }
    order
}

impl Oracle<'_> {
    fn keys(&self, scope: &[usize]) -> Vec<Key> {
        scope.iter().fold(vec![Vec::new()], |keys, split| {
            let inside = |key: &Key| {
                let count = self.items.get(&(*split, key.clone())).map_or(0, Vec::len) as u32;
                (0..count).map(|index| [key.as_slice(), &[index]].concat()).collect::<Vec<Key>>()
            };
            keys.iter().flat_map(inside).collect()
        })
    }

    fn incoming(&self, node: usize) -> Vec<usize> {
        (0..self.plan.edges.len()).filter(|edge| self.plan.edges[*edge].to == node).collect()
    }

    fn word(&self, edge: usize, key: &Key) -> Word {
        let depth = self.plan.nodes[self.plan.edges[edge].from].scope_behind();
        self.words.get(&(edge, key[..depth.min(key.len())].to_vec())).cloned().unwrap_or(Word::Nothing)
    }

    fn visit(&mut self, node: usize, key: &Key) {
        let incoming = self.incoming(node);
        match self.plan.nodes[node].source.kind.as_str() {
            "aggregator" => self.gather(node, key, &incoming),
            "merge" => self.merge(node, key, &incoming),
            _ => {
                let words: Vec<Word> = incoming.iter().map(|edge| self.word(*edge, key)).collect();
                let runs = incoming.is_empty() || words.iter().any(|word| matches!(word, Word::Value(_)));
                match words.into_iter().find(|word| matches!(word, Word::Failed(_))) {
                    _ if runs => self.run(node, key),
                    Some(failed) => self.pass(node, key, &failed),
                    None => self.pass(node, key, &Word::Nothing),
                }
            }
        }
    }

    /// The node does not run; whoever is behind it hears the same. A split that does not run has no items, and what
    /// gathers them hears it too.
    fn pass(&mut self, node: usize, key: &Key, word: &Word) {
        match self.plan.nodes[node].source.kind.as_str() {
            "split" => {
                let gatherers = self.plan.flow.collapsers[node].clone();
                for gatherer in gatherers {
                    self.say_all(gatherer, key, word);
                }
            }
            _ => self.say_all(node, key, word),
        }
    }

    fn say_all(&mut self, node: usize, key: &Key, word: &Word) {
        for &edge in &self.plan.nodes[node].leaving {
            self.words.insert((edge, key.clone()), word.clone());
        }
    }

    fn run(&mut self, node: usize, key: &Key) {
        let planned = &self.plan.nodes[node];
        let parameters = &planned.source.parameters;
        match planned.source.kind.as_str() {
            "trigger" => self.put_out(node, key, self.input.clone(), |_| true),
            "conditional" => {
                let holds = self.look(node, key, parameters["expression"].as_str().unwrap_or_default())
                    == json!(true);
                let (plan, side) = (self.plan, holds.to_string());
                self.put_out(node, key, json!({"result": holds}), |edge| {
                    plan.edges[edge].source.source_handle.as_deref() == Some(&side)
                });
            }
            "split" => {
                let items = self.look(node, key, parameters["input_array"].as_str().unwrap_or_default());
                let items = items.as_array().cloned().unwrap_or_default();
                self.meaning.insert((planned.id.to_string(), key.clone()), json!({"count": items.len()}));
                for (item, index) in items.iter().zip(0..) {
                    let inside: Key = [key.as_slice(), &[index]].concat();
                    self.say_all(node, &inside, &Word::Value(item.clone()));
                }
                self.items.insert((node, key.clone()), items);
            }
            _ => self.simulate(node, key),
        }
    }

    fn simulate(&mut self, node: usize, key: &Key) {
        let planned = &self.plan.nodes[node];
        if fails(self.plan, node, key) {
            let error = json!({"error": "the simulated work failed"});
            self.meaning.insert((planned.id.to_string(), key.clone()), error.clone());
            let word = match planned.source.error {
                None => Word::Failed(error),
                Some(_) => Word::Value(error),
            };
            return self.say_all(node, key, &word);
        }
        let mut output = planned.source.parameters["output"].clone();
        if let Some(saw) = output.get("saw").and_then(Value::as_str).map(str::to_owned) {
            output["saw"] = self.look(node, key, &saw);
        }
        self.put_out(node, key, output, |_| true);
    }

    fn put_out(&mut self, node: usize, key: &Key, output: Value, taken: impl Fn(usize) -> bool) {
        self.meaning.insert((self.plan.nodes[node].id.to_string(), key.clone()), output.clone());
        for &edge in &self.plan.nodes[node].leaving {
            let word = if taken(edge) { Word::Value(output.clone()) } else { Word::Nothing };
            self.words.insert((edge, key.clone()), word);
        }
    }

    fn merge(&mut self, node: usize, key: &Key, incoming: &[usize]) {
        let values: Vec<Value> = incoming
            .iter()
            .filter_map(|edge| match self.word(*edge, key) {
                Word::Value(value) | Word::Failed(value) => Some(value),
                Word::Nothing => None,
            })
            .collect();
        match values.is_empty() {
            true => self.pass(node, key, &Word::Nothing),
            false => self.put_out(node, key, Value::Array(values), |_| true),
        }
    }

    fn gather(&mut self, node: usize, key: &Key, incoming: &[usize]) {
        let split = *self.plan.nodes[node].scope.last().expect("an aggregator stands behind a split");
        // A split that never ran has told the aggregator's edges already.
        let Some(items) = self.items.get(&(split, key.clone())) else { return };
        let parameters = self.plan.nodes[node].source.parameters.clone();
        let (skipped, on_error) = (parameters["skipped"].as_str(), parameters["on_error"].as_str());
        let mut gathered = Vec::new();
        for index in 0..items.len() as u32 {
            let inside: Key = [key.as_slice(), &[index]].concat();
            let words: Vec<Word> = incoming.iter().map(|edge| self.word(*edge, &inside)).collect();
            let said = words.iter().find(|word| matches!(word, Word::Value(_)));
            match said.or_else(|| words.iter().find(|word| matches!(word, Word::Failed(_)))) {
                Some(Word::Value(value)) => gathered.push(value.clone()),
                Some(Word::Failed(error)) if on_error == Some("include") => gathered.push(error.clone()),
                Some(Word::Failed(_) | Word::Nothing) => {}
                None if skipped == Some("null") => gathered.push(Value::Null),
                None if skipped == Some("marker") => gathered.push(json!({"skipped": true})),
                None => {}
            }
        }
        self.put_out(node, key, Value::Array(gathered), |_| true);
    }

    /// A reference as the generator writes them: `$trigger.x`, `$item.x`, `$n3`.
    fn look(&self, node: usize, key: &Key, reference: &str) -> Value {
        let (root, field) =
            reference.split_once('.').map_or((reference, None), |(root, field)| (root, Some(field)));
        let value = match root {
            "$trigger" => self.input.clone(),
            "$item" => {
                let scope = &self.plan.nodes[node].scope;
                let parent = (scope[scope.len() - 1], key[..key.len() - 1].to_vec());
                self.items[&parent][key[key.len() - 1] as usize].clone()
            }
            _ => {
                let before = self.plan.node(&root[1..].into()).expect("a node of this plan");
                let planned = &self.plan.nodes[before];
                let depth = match planned.source.kind.as_str() {
                    "aggregator" => planned.scope.len() - 1,
                    _ => planned.scope.len(),
                };
                self.meaning[&(planned.id.to_string(), key[..depth].to_vec())].clone()
            }
        };
        match field {
            Some(field) => value[field].clone(),
            None => value,
        }
    }
}

/// Chance is part of the meaning: it is drawn from the node and its key.
fn fails(plan: &Plan, node: usize, key: &Key) -> bool {
    let planned = &plan.nodes[node];
    let rate = planned.source.parameters.get("failure_rate").and_then(Value::as_f64).unwrap_or(0.0);
    let steps: Vec<String> = planned
        .scope
        .iter()
        .zip(key)
        .map(|(split, index)| format!("{}={index}", plan.nodes[*split].id))
        .collect();
    let hash = blake3::hash(format!("failure/{}@{}", planned.id, steps.join("/")).as_bytes());
    let bytes = hash.as_bytes();
    let drawn = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    f64::from(drawn) / (f64::from(u32::MAX) + 1.0) < rate
}
