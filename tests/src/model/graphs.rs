//! Random workflows that make sense: conditions, merges, nested splits, empty arrays, drops, errors.

use serde_json::{Value, json};

use super::Dice;

/// A workflow and the input it is started with.
pub struct Random {
    pub workflow: Value,
    pub input: Value,
}

struct Builder {
    dice: Dice,
    nodes: Vec<Value>,
    edges: Vec<Value>,
    /// Open splits.
    depth: usize,
}

/// An end of the graph that can be led on: a node, and the handle its edge leaves from.
#[derive(Clone, Copy)]
struct Open {
    node: usize,
    side: Option<bool>,
}

/// Conditions look at these flags of the input or of the item.
const FLAGS: usize = 4;

pub fn random(seed: u64) -> Random {
    let mut builder = Builder { dice: Dice::new(seed), nodes: Vec::new(), edges: Vec::new(), depth: 0 };
    let start = builder.add("trigger", json!({}));
    let budget = 3 + builder.dice.roll(9);
    builder.chain(Open { node: start, side: None }, budget);
    let input = builder.things(3);
    Random { workflow: json!({"nodes": builder.nodes, "edges": builder.edges}), input }
}

impl Builder {
    fn add(&mut self, kind: &str, parameters: Value) -> usize {
        let at = self.nodes.len();
        self.nodes.push(json!({"id": format!("n{at}"), "type": kind, "parameters": parameters}));
        at
    }

    fn join(&mut self, from: Open, to: usize) {
        let id = format!("e{}", self.edges.len());
        let mut edge = json!({"id": id, "src": format!("n{}", from.node), "dst": format!("n{to}")});
        if let Some(side) = from.side {
            edge["source_handle"] = json!(side.to_string());
        }
        self.edges.push(edge);
    }

    /// Nodes one behind the other; gives the end, unless the way ends in a leaf.
    fn chain(&mut self, from: Open, mut budget: usize) -> Option<Open> {
        let mut end = from;
        while budget > 0 {
            let part = 1 + self.dice.roll(budget);
            budget -= part;
            end = self.element(end, part)?;
        }
        Some(end)
    }

    fn element(&mut self, from: Open, budget: usize) -> Option<Open> {
        match self.dice.roll(if budget < 3 { 3 } else { 7 }) {
            0..=2 => Some(self.work(from)),
            3 => self.condition(from, budget),
            4 | 5 if self.depth < 3 => Some(self.spread(from, budget)),
            _ => Some(self.branches(from, budget)),
        }
    }

    fn work(&mut self, from: Open) -> Open {
        let before = format!("$n{}", from.node);
        // A condition or a node that may have failed says little about what is behind it, so it is not looked at.
        let output = json!({"by": self.nodes.len(), "saw": before});
        let failure_rate = [0.0, 0.0, 0.3][self.dice.roll(3)];
        let node = self.add("simulate", json!({"output": output, "failure_rate": failure_rate}));
        if self.depth == 0 || self.dice.one_in(3) {
            self.nodes[node]["error"] = json!({"type": "ignore"});
        }
        self.join(from, node);
        Open { node, side: None }
    }

    fn condition(&mut self, from: Open, budget: usize) -> Option<Open> {
        let root = if self.depth > 0 && !self.dice.one_in(4) { "$item" } else { "$trigger" };
        let flag = self.dice.roll(FLAGS);
        let node = self.add("conditional", json!({"expression": format!("{root}.f{flag}")}));
        self.join(from, node);
        let (left, right) = (Open { node, side: Some(true) }, Open { node, side: Some(false) });
        let half = (budget - 1) / 2;
        let left = self.side(left, half.max(1));
        let right = if self.dice.one_in(3) { None } else { self.side(right, half.max(1)) };
        match (left, right) {
            (Some(left), Some(right)) => {
                let node = match self.dice.one_in(2) {
                    true => self.add("merge", json!({"timeout": 0})),
                    false => self.add("simulate", json!({"output": {"met": self.nodes.len()}})),
                };
                self.join(left, node);
                self.join(right, node);
                Some(Open { node, side: None })
            }
            (one, other) => one.or(other),
        }
    }

    /// A side of a condition begins with a node of its own, so that an edge tells one side from the other.
    fn side(&mut self, from: Open, budget: usize) -> Option<Open> {
        let first = self.work(from);
        if self.dice.one_in(6) {
            return None;
        }
        self.chain(first, budget - 1)
    }

    fn spread(&mut self, from: Open, budget: usize) -> Open {
        let root = if self.depth > 0 { "$item" } else { "$trigger" };
        let field = ["a", "b", "none"][self.dice.roll(3)];
        let split = self.add("split", json!({"input_array": format!("{root}.{field}")}));
        self.join(from, split);
        self.depth += 1;
        let end = self.chain(Open { node: split, side: None }, budget.saturating_sub(2).max(1));
        self.depth -= 1;
        let skipped = ["null", "omit", "marker"][self.dice.roll(3)];
        let on_error = ["include", "omit"][self.dice.roll(2)];
        let gather = self.add("aggregator", json!({"timeout": 0, "skipped": skipped, "on_error": on_error}));
        // Where the way inside ends in a leaf, the items themselves are gathered.
        self.join(end.unwrap_or(Open { node: split, side: None }), gather);
        Open { node: gather, side: None }
    }

    fn branches(&mut self, from: Open, budget: usize) -> Open {
        let count = 2 + self.dice.roll(2);
        let part = ((budget - 1) / count).max(1);
        let ends: Vec<Open> = (0..count).filter_map(|_| self.side(from, part)).collect();
        if ends.is_empty() {
            return self.work(from);
        }
        let merge = self.add("merge", json!({"timeout": 0}));
        ends.into_iter().for_each(|end| self.join(end, merge));
        Open { node: merge, side: None }
    }

    /// An object with flags and arrays of the same kind of object.
    fn things(&mut self, depth: usize) -> Value {
        let mut thing = json!({"none": []});
        for flag in 0..FLAGS {
            thing[format!("f{flag}")] = json!(self.dice.one_in(2));
        }
        for name in ["a", "b"] {
            let count = if depth == 0 { 0 } else { [0, 1, 2, 3][self.dice.roll(4)] };
            thing[name] = (0..count).map(|_| self.things(depth - 1)).collect();
        }
        thing
    }
}
