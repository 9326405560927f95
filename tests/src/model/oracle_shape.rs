//! The shape of a workflow as the oracle sees it, read from the file and the scopes alone.

use std::collections::{BTreeMap, BTreeSet};

use engine::Plan;
use protocol::ErrorPolicy;
use serde_json::Value;

pub struct Shape<'p> {
    plan: &'p Plan,
    /// Every node behind the nodes that lead to it.
    pub order: Vec<usize>,
    pub incoming: Vec<Vec<usize>>,
    pub leaving: Vec<Vec<usize>>,
    pub on_error: Vec<Option<usize>>,
    /// How many splits are open on each edge.
    pub depth: Vec<usize>,
}

/// Which way was taken at each node that chooses.
type Sides<'p> = BTreeMap<usize, &'p str>;

/// One of the ways of a node that chooses.
pub type Side<'p> = (usize, &'p str);

impl<'p> Shape<'p> {
    pub fn of(plan: &'p Plan) -> Self {
        let nodes = plan.nodes.len();
        let (mut incoming, mut leaving) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (at, edge) in plan.edges.iter().enumerate() {
            incoming[edge.to].push(at);
            leaving[edge.from].push(at);
        }
        let error_edge = |node: usize| match &plan.nodes[node].source.error {
            Some(ErrorPolicy::Branch { error_edge }) => {
                leaving[node].iter().copied().find(|at| plan.edges[*at].source.id == *error_edge)
            }
            Some(ErrorPolicy::Halt | ErrorPolicy::Ignore) | None => None,
        };
        let on_error: Vec<Option<usize>> = (0..nodes).map(error_edge).collect();
        let depth = |at: usize| {
            let from = plan.edges[at].from;
            let inside = plan.nodes[from].scope.len();
            match plan.nodes[from].source.kind.as_str() {
                "split" if on_error[from] != Some(at) => inside + 1,
                "aggregator" => inside - 1,
                _ => inside,
            }
        };
        let depth = (0..plan.edges.len()).map(depth).collect();
        let order = order(plan, &incoming, &leaving);
        Self { plan, order, incoming, leaving, on_error, depth }
    }

    /// The splits inside which a node fires: an aggregator stands in one and speaks outside of it.
    pub fn fires_in(&self, node: usize) -> &'p [usize] {
        let scope = &self.plan.nodes[node].scope;
        match self.plan.nodes[node].source.kind.as_str() {
            "aggregator" => &scope[..scope.len() - 1],
            _ => scope,
        }
    }

    pub fn handle(&self, edge: usize) -> Option<&'p str> {
        self.plan.edges[edge].source.source_handle.as_deref()
    }

    /// The way of its node on which an edge lies, if the node chooses.
    pub fn side(&self, edge: usize) -> Option<Side<'p>> {
        let from = self.plan.edges[edge].from;
        let side = match (self.on_error[from], self.plan.nodes[from].source.kind.as_str()) {
            (Some(error), _) if error == edge => Some("error"),
            (_, "conditional" | "switch") => self.handle(edge),
            (Some(_), _) => Some("no error"),
            (None, _) => None,
        };
        side.map(|side| (from, side))
    }

    /// Nodes that lie on every way to a node: without them no way leads here from a node that nothing leads to.
    pub fn on_every_way(&self, node: usize) -> BTreeSet<usize> {
        let avoidable = |without: usize| {
            let mut rest = vec![node];
            let mut seen = BTreeSet::new();
            while let Some(at) = rest.pop() {
                if self.incoming[at].is_empty() {
                    return true;
                }
                let before = self.incoming[at].iter().map(|edge| self.plan.edges[*edge].from);
                rest.extend(before.filter(|before| *before != without && seen.insert(*before)));
            }
            false
        };
        let outer = self.fires_in(node);
        let is_outside = |other: &usize| outer.starts_with(self.fires_in(*other));
        (0..self.plan.nodes.len())
            .filter(|other| *other != node && is_outside(other) && !avoidable(*other))
            .collect()
    }

    /// The edges of an aggregator; those on which never more than one carries a value per item stand together.
    pub fn groups(&self, node: usize) -> Vec<Vec<usize>> {
        let sides: BTreeMap<usize, Sides<'p>> =
            self.incoming[node].iter().map(|edge| (*edge, self.common_sides(*edge))).collect();
        let exclude = |one: usize, other: usize| {
            sides[&one].iter().any(|(node, side)| sides[&other].get(node).is_some_and(|taken| taken != side))
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &edge in &self.incoming[node] {
            match groups.iter_mut().find(|group| group.iter().all(|&other| exclude(edge, other))) {
                Some(group) => group.push(edge),
                None => groups.push(vec![edge]),
            }
        }
        groups
    }

    /// The sides that are taken on every way that leads over an edge.
    fn common_sides(&self, edge: usize) -> Sides<'p> {
        let mut ways = self.ways(edge).into_iter();
        let first = ways.next().unwrap_or_default();
        ways.fold(first, |mut common, way| {
            common.retain(|node, side| way.get(node) == Some(side));
            common
        })
    }

    /// An edge over which the items of a split come.
    pub fn spread(&self, split: usize) -> Option<usize> {
        self.leaving[split].iter().copied().find(|edge| self.on_error[split] != Some(*edge))
    }

    /// Every way that leads over an edge, as the sides that are taken on it.
    fn ways(&self, edge: usize) -> Vec<Sides<'p>> {
        let from = self.plan.edges[edge].from;
        let planned = &self.plan.nodes[from];
        let gathers = planned.scope.last().filter(|_| planned.source.kind == "aggregator");
        let mut ways: Vec<Sides<'p>> = match gathers.and_then(|split| self.spread(*split)) {
            // What one item has chosen says nothing about the others.
            Some(spread) => self.ways(spread),
            None if self.incoming[from].is_empty() => vec![Sides::new()],
            None => self.incoming[from].iter().flat_map(|before| self.ways(*before)).collect(),
        };
        if let Some((from, side)) = self.side(edge) {
            for way in &mut ways {
                way.insert(from, side);
            }
        }
        ways
    }

    /// Chance is part of the meaning: it is drawn from the node and its key.
    pub fn fails(&self, node: usize, key: &[u32]) -> bool {
        let planned = &self.plan.nodes[node];
        let rate = planned.source.parameters.get("failure_rate").and_then(Value::as_f64).unwrap_or(0.0);
        let step = |(split, index): (&usize, &u32)| format!("{}={index}", self.plan.nodes[*split].id);
        let steps: Vec<String> = planned.scope.iter().zip(key).map(step).collect();
        let hash = blake3::hash(format!("failure/{}@{}", planned.id, steps.join("/")).as_bytes());
        let bytes = hash.as_bytes();
        let drawn = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        f64::from(drawn) / (f64::from(u32::MAX) + 1.0) < rate
    }
}

fn order(plan: &Plan, incoming: &[Vec<usize>], leaving: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = incoming.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..waiting.len()).filter(|node| waiting[*node] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for edge in &leaving[order[at]] {
            let to = plan.edges[*edge].to;
            waiting[to] -= 1;
            if waiting[to] == 0 {
                order.push(to);
            }
        }
        at += 1;
    }
    order
}
