//! Random workflows that make sense: conditions, switches, joins and races with and without a timeout, error edges,
//! nested splits with one or several aggregators, arrays that are empty or no arrays, waits, drops, several triggers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Case, Dice, Model};

/// An end of the graph that can be led on: a node, and how its edge leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    node: usize,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Plain,
    Handle(&'static str),
    Error,
}

struct Builder {
    dice: Dice,
    nodes: Vec<Value>,
    edges: Vec<Value>,
    /// The splits that are open at each node.
    scopes: Vec<Vec<usize>>,
    /// The nodes that lead to each node.
    parents: Vec<Vec<usize>>,
}

/// Conditions look at these flags of the input or of the item.
const FLAGS: usize = 4;

/// The generator may lead sides together so that the engine cannot tell them apart; such a file is refused, and the
/// next one is taken.
const ATTEMPTS: u64 = 50;

/// A workflow that the engine accepts.
pub fn random(seed: u64) -> Case {
    let cases = (0..ATTEMPTS).map(|attempt| attempt_at(seed.wrapping_add(attempt << 40)));
    let mut refused = Vec::new();
    for case in cases {
        match &case.plan {
            Ok(_) => return case,
            Err(complaint) => refused.push((complaint.clone(), case.workflow)),
        }
    }
    panic!("seed {seed}: {ATTEMPTS} workflows were refused, the last with {:#?}", refused.pop())
}

fn attempt_at(seed: u64) -> Case {
    let dice = Dice::new(seed);
    let mut builder =
        Builder { dice, nodes: Vec::new(), edges: Vec::new(), scopes: Vec::new(), parents: Vec::new() };
    let budget = 4 + builder.dice.roll(12);
    builder.begin(budget);
    let depth = 2 + builder.dice.roll(2);
    let input = builder.things(depth);
    Case::new(Model::Control, json!({"nodes": builder.nodes, "edges": builder.edges}), input)
}

fn plain(node: usize) -> Open {
    Open { node, way: Way::Plain }
}

impl Builder {
    fn begin(&mut self, budget: usize) {
        let start = plain(self.add("trigger", json!({}), &[]));
        match self.dice.roll(10) {
            0 => {
                let other = plain(self.add("trigger", json!({}), &[]));
                let first = self.chain(start, budget / 2).unwrap_or(start);
                let second = self.chain(other, budget / 3).unwrap_or(other);
                self.meet_and_go_on(&[first, second], budget / 3);
            }
            // Nothing leads to a node that is merged all the same.
            1 => {
                let orphan = plain(self.add("simulate", json!({"output": "orphan"}), &[]));
                let first = self.chain(start, budget / 2).unwrap_or(start);
                self.meet_and_go_on(&[first, orphan], budget / 2);
            }
            _ => drop(self.chain(start, budget)),
        }
    }

    fn meet_and_go_on(&mut self, ends: &[Open], budget: usize) {
        let joined = self.merge(ends);
        if let Some(end) = joined {
            self.chain(end, budget);
        }
    }

    fn add(&mut self, kind: &str, parameters: Value, from: &[Open]) -> usize {
        let node = self.nodes.len();
        let scopes = from.iter().map(|open| self.scope_behind(*open));
        let scope = scopes.max_by_key(Vec::len).unwrap_or_default();
        self.nodes.push(json!({"id": format!("n{node}"), "type": kind, "parameters": parameters}));
        self.scopes.push(scope);
        self.parents.push(from.iter().map(|open| open.node).collect());
        for open in from {
            let id = format!("e{}", self.edges.len());
            let mut edge = json!({"id": id, "src": format!("n{}", open.node), "dst": format!("n{node}")});
            match open.way {
                Way::Plain => {}
                Way::Handle(handle) => edge["source_handle"] = json!(handle),
                Way::Error => self.nodes[open.node]["error"] = json!({"type": "branch", "error_edge": id}),
            }
            self.edges.push(edge);
        }
        node
    }

    fn kind(&self, node: usize) -> &str {
        self.nodes[node]["type"].as_str().unwrap_or_default()
    }

    fn scope_behind(&self, open: Open) -> Vec<usize> {
        let mut scope = self.scopes[open.node].clone();
        match (self.kind(open.node), open.way) {
            ("split", Way::Plain | Way::Handle(_)) => scope.push(open.node),
            ("aggregator", _) => drop(scope.pop()),
            _ => {}
        }
        scope
    }

    fn depth(&self, open: Open) -> usize {
        self.scope_behind(open).len()
    }

    /// Nodes one behind the other; gives the end, unless the way ends in a leaf.
    fn chain(&mut self, from: Open, mut budget: usize) -> Option<Open> {
        let mut end = from;
        while budget > 0 {
            let part = budget.min(1 + self.dice.roll(budget + 4));
            budget -= part;
            end = self.element(end, part)?;
        }
        Some(end)
    }

    fn element(&mut self, from: Open, budget: usize) -> Option<Open> {
        match self.dice.roll(if budget < 3 { 4 } else { 10 }) {
            0 | 1 => Some(self.work(from)),
            2 if budget < 3 => Some(self.work(from)),
            2 | 3 => self.guarded(from, budget),
            4 | 5 => {
                let ends = self.choice(from, budget);
                self.meet(&ends)
            }
            6..=8 if self.depth(from) < 3 => self.spread(from, budget),
            _ => self.branches(from, budget),
        }
    }

    /// A node that does something of its own: works, rests or filters.
    fn work(&mut self, from: Open) -> Open {
        let node = self.worker(from);
        self.policy(node);
        plain(node)
    }

    fn worker(&mut self, from: Open) -> usize {
        match self.dice.roll(9) {
            0 => {
                let amount = [json!(0), json!(1), json!(2.5), json!("soon")][self.dice.roll(4)].clone();
                self.add("wait", json!({"amount": amount, "unit": "seconds"}), &[from])
            }
            1 => {
                let moment = [0, 500, 2_000][self.dice.roll(3)];
                self.add("wait", json!({"resume": "date_time", "date_time": moment}), &[from])
            }
            2 => {
                let (root, field) = (self.root(from), ["a", "b", "odd"][self.dice.roll(3)]);
                let rules = json!([{"field": "f0", "operator": "==", "value": true}]);
                let array = format!("{root}.{field}");
                self.add("filter", json!({"input_array": array, "rules": rules}), &[from])
            }
            _ => {
                let rate = [0.0, 0.0, 0.3][self.dice.roll(3)];
                let output = json!({"by": self.nodes.len()});
                let node = self.add("simulate", json!({"output": output, "failure_rate": rate}), &[from]);
                self.look_back(node);
                node
            }
        }
    }

    /// The node looks at what a node before it has put out: mostly the one in front of it.
    fn look_back(&mut self, node: usize) {
        let before = self.parents[node].clone();
        let sure = match before.as_slice() {
            [one] if self.kind(*one) != "trigger" => Some(*one),
            _ => None,
        };
        let seen = match self.dice.roll(4) {
            0 => return,
            1 => {
                let all = self.known(node);
                all.get(self.dice.roll(all.len())).copied()
            }
            _ => sure,
        };
        let reference = seen.map_or_else(|| "$trigger.k".to_owned(), |seen| format!("$n{seen}"));
        self.nodes[node]["parameters"]["output"]["saw"] = json!(reference);
    }

    /// Nodes that may be referred to. Whether they are known then is part of the meaning, but for what a join that
    /// gave up has heard: behind one of these only what lies on every way is named.
    fn known(&self, node: usize) -> Vec<usize> {
        let ancestors = self.ancestors(node, None);
        let gives_up =
            |node: &usize| self.nodes[*node]["parameters"]["timeout"].as_f64().is_some_and(|t| t > 0.0);
        let loose = ancestors.iter().any(gives_up);
        let reader = &self.scopes[node];
        let is_legal = |other: &usize| {
            let mut scope = self.scopes[*other].clone();
            if self.kind(*other) == "aggregator" {
                scope.pop();
            }
            self.kind(*other) != "trigger" && reader.starts_with(&scope)
        };
        let on_every_way = |other: &usize| {
            let around = self.ancestors(node, Some(*other));
            !around.iter().any(|start| self.parents[*start].is_empty())
        };
        ancestors.iter().filter(|other| is_legal(other) && (!loose || on_every_way(other))).copied().collect()
    }

    /// The nodes that lead here, without the ways that go over `without`.
    fn ancestors(&self, node: usize, without: Option<usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut rest = vec![node];
        while let Some(at) = rest.pop() {
            for &parent in &self.parents[at] {
                if Some(parent) != without && found.insert(parent) {
                    rest.push(parent);
                }
            }
        }
        found
    }

    fn root(&mut self, from: Open) -> &'static str {
        if self.depth(from) > 0 && !self.dice.one_in(4) { "$item" } else { "$trigger" }
    }

    /// What happens when the node fails: inside a split mostly nothing is said, outside that would halt.
    fn policy(&mut self, node: usize) {
        let inside = self.scope_behind(plain(node)).len();
        let inside = if self.kind(node) == "split" { inside - 1 } else { inside };
        let policy = match self.dice.roll(48) {
            0 => Some("halt"),
            1..=16 => Some("ignore"),
            17 => None,
            _ if inside == 0 => Some("ignore"),
            _ => None,
        };
        if let Some(policy) = policy {
            self.nodes[node]["error"] = json!({"type": policy});
        }
    }

    /// A worker with an error edge.
    fn guarded(&mut self, from: Open, budget: usize) -> Option<Open> {
        let node = self.worker(from);
        let end = self.side(plain(node), budget.saturating_sub(2));
        self.rescue(node, end)
    }

    /// An error edge for a node, led to where its other way has come to.
    fn rescue(&mut self, node: usize, end: Option<Open>) -> Option<Open> {
        let saved = self.side(Open { node, way: Way::Error }, 1);
        match (end, saved) {
            (Some(end), Some(saved)) => match self.dice.one_in(2) {
                true => self.meet(&[end, saved]),
                false => self.meet(&[saved, end]),
            },
            (one, other) => one.or(other),
        }
    }

    /// A policy, or an error edge.
    fn protected(&mut self, node: usize, end: Option<Open>) -> Option<Open> {
        if self.dice.one_in(5) {
            return self.rescue(node, end);
        }
        self.policy(node);
        end
    }

    /// The sides of a condition or a switch, as far as they do not end in a leaf.
    fn choice(&mut self, from: Open, budget: usize) -> Vec<Open> {
        let root = self.root(from);
        let (node, handles) = match self.dice.one_in(3) {
            true => {
                let rule =
                    |index: usize| json!({"value": format!("{root}.k"), "operator": "==", "compare": index});
                let rules: Vec<Value> = (0..2).map(rule).collect();
                (self.add("switch", json!({"rules": rules}), &[from]), &["case-0", "case-1", "fallback"][..])
            }
            false => {
                let flag = self.dice.roll(FLAGS);
                let expression = match self.dice.one_in(10) {
                    true => format!("{root}.missing"),
                    false => format!("{root}.f{flag}"),
                };
                (self.add("conditional", json!({"expression": expression}), &[from]), &["true", "false"][..])
            }
        };
        let part = ((budget - 1) / handles.len()).max(1);
        let mut ends = Vec::new();
        for (index, handle) in handles.iter().enumerate() {
            if index > 0 && self.dice.one_in(4) {
                continue;
            }
            ends.extend(self.side(Open { node, way: Way::Handle(handle) }, part));
        }
        match self.dice.one_in(8) {
            true => ends.extend(self.side(Open { node, way: Way::Error }, 1)),
            false => self.policy(node),
        }
        ends
    }

    /// One of several ways on: sometimes it leads on at once, sometimes it ends in a leaf.
    fn side(&mut self, from: Open, budget: usize) -> Option<Open> {
        if self.dice.one_in(6) {
            return Some(from);
        }
        let first = self.work(from);
        if self.dice.one_in(6) {
            return None;
        }
        self.chain(first, budget.saturating_sub(1))
    }

    /// Ways that exclude each other come together.
    fn meet(&mut self, ends: &[Open]) -> Option<Open> {
        match ends {
            [] => None,
            [end] => Some(*end),
            _ if self.dice.one_in(3) => {
                let node = self.add("simulate", json!({"output": {"met": self.nodes.len()}}), ends);
                self.look_back(node);
                Some(plain(node))
            }
            _ => self.merge(ends),
        }
    }

    fn merge(&mut self, ends: &[Open]) -> Option<Open> {
        let level = |open: &Open| self.depth(*open);
        let same = ends.iter().map(level).collect::<BTreeSet<_>>().len() == 1;
        let timeout = [0, 0, 1, 3][self.dice.roll(4)];
        let parameters = match self.dice.roll(6) {
            0 => json!({"timeout": timeout, "strict": true}),
            1 | 2 if same => json!({"timeout": timeout, "wait_mode": "wait_for_any"}),
            _ => json!({"timeout": timeout}),
        };
        let node = self.add("merge", parameters, ends);
        self.protected(node, Some(plain(node)))
    }

    /// A handle and an error edge lead one way only, so more ways begin behind a node of their own.
    fn forked(&mut self, from: Open) -> Open {
        if from.way == Way::Plain { from } else { self.work(from) }
    }

    fn branches(&mut self, from: Open, budget: usize) -> Option<Open> {
        let from = self.forked(from);
        let count = 2 + self.dice.roll(2);
        let part = ((budget - 1) / count).max(1);
        let ends: Vec<Open> = (0..count).filter_map(|_| self.side(from, part)).collect();
        match ends.as_slice() {
            [] => Some(self.work(from)),
            [end] => Some(*end),
            // Every value is a firing of its own; no join can be behind that.
            _ if self.dice.one_in(8) => {
                let node = self.add("simulate", json!({"output": {"each": self.nodes.len()}}), &ends);
                self.policy(node);
                self.tail(plain(node))
            }
            ends => self.merge(ends),
        }
    }

    fn tail(&mut self, from: Open) -> Option<Open> {
        if self.dice.one_in(2) {
            self.work(from);
        }
        None
    }

    /// A split and what is inside, up to where it is gathered.
    fn spread(&mut self, from: Open, budget: usize) -> Option<Open> {
        let root = if self.depth(from) > 0 { "$item" } else { "$trigger" };
        let field = ["a", "b", "none", "odd", "odd"][self.dice.roll(5)];
        let from = self.forked(from);
        let outer = self.dice.one_in(4).then(|| self.outer(from));
        let split = self.add("split", json!({"input_array": format!("{root}.{field}")}), &[from]);
        let inside = plain(split);
        let budget = budget.saturating_sub(2).max(1);
        let gathered = match (outer, self.dice.roll(8)) {
            (Some(outer), _) => {
                let end = self.chain(inside, budget).unwrap_or(inside);
                let ends = if self.dice.one_in(2) { [end, outer] } else { [outer, end] };
                let merged = self.merge(&ends).unwrap_or(inside);
                let end = self.chain(merged, budget / 2).unwrap_or(merged);
                Some(self.gather(&[end]))
            }
            (None, 0) => {
                let ends = self.choice(inside, budget + 1);
                self.gather_sides(&ends, inside)
            }
            (None, 1) => {
                let ends = [self.work(inside), self.work(inside)];
                let (one, other) = (self.gather(&ends[..1]), self.gather(&ends[1..]));
                if self.dice.one_in(2) { self.merge(&[one, other]) } else { Some(one) }
            }
            // Two ways that both carry a value: gathered one by one, so nothing can join behind.
            (None, 2) if self.dice.one_in(2) => {
                let mut ends = self.choice(inside, budget);
                ends.extend(self.choice(inside, budget));
                ends.push(self.work(inside));
                let gather = self.gather(&ends);
                self.nodes[gather.node]["parameters"]["timeout"] = json!(0);
                self.tail(gather)
            }
            (None, 3) if self.dice.one_in(2) => self.chain(inside, budget).and(None),
            // Where the way inside ends in a leaf, the items themselves are gathered.
            (None, _) => {
                let end = self.chain(inside, budget).unwrap_or(inside);
                let gather = self.gather(&[end]);
                if self.dice.one_in(6) { self.rescue(gather.node, Some(gather)) } else { Some(gather) }
            }
        };
        self.protected(split, gathered)
    }

    /// A value of the outer level for a merge inside; sometimes it leaves the way.
    fn outer(&mut self, from: Open) -> Open {
        let value = self.work(from);
        if !self.dice.one_in(3) {
            return value;
        }
        let flag = format!("{}.f1", self.root(from));
        let node = self.add("conditional", json!({"expression": flag}), &[value]);
        self.work(Open { node, way: Way::Handle("true") })
    }

    fn gather_sides(&mut self, ends: &[Open], inside: Open) -> Option<Open> {
        match ends {
            [] => Some(self.gather(&[inside])),
            [one, other] if self.dice.one_in(3) => {
                let gathered = [self.gather(&[*one]), self.gather(&[*other])];
                self.merge(&gathered)
            }
            ends => Some(self.gather(ends)),
        }
    }

    fn gather(&mut self, ends: &[Open]) -> Open {
        let skipped = ["null", "omit", "marker"][self.dice.roll(3)];
        let on_error = ["include", "include", "omit", "fail"][self.dice.roll(4)];
        let timeout = [0, 0, 1, 3][self.dice.roll(4)];
        let parameters = json!({"timeout": timeout, "skipped": skipped, "on_error": on_error});
        let node = self.add("aggregator", parameters, ends);
        self.policy(node);
        plain(node)
    }

    /// An object with flags, a number, arrays of the same kind of object, and something that is perhaps an array.
    fn things(&mut self, depth: usize) -> Value {
        let mut thing = json!({"none": [], "k": self.dice.roll(3)});
        for flag in 0..FLAGS {
            thing[format!("f{flag}")] = json!(self.dice.one_in(2));
        }
        let most = if depth > 2 { [3, 2, 2] } else { [2, 1, 1] };
        for (name, most) in ["a", "b", "odd"].into_iter().zip(most) {
            let count = if depth == 0 { 0 } else { self.dice.roll(most + 1) };
            thing[name] = match name == "odd" && self.dice.one_in(2) {
                true => json!("no array"),
                false => (0..count).map(|_| self.things(depth - 1)).collect(),
            };
        }
        thing
    }
}
