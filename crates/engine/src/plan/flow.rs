//! How decisions travel: what a node waits for, which edges exclude each other, and who must hear that an edge will
//! never carry a value. All of it is known before anything runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::nodes::{Inbox, ScopeEffect};

/// The shape of a workflow, as far as decisions are concerned. Nodes and edges are places in the plan.
pub struct Shape<'s> {
    /// Topological.
    pub order: &'s [usize],
    /// Source and target of each edge.
    pub edges: &'s [(usize, usize)],
    pub effects: &'s [ScopeEffect],
    pub inboxes: &'s [Inbox],
    /// Nodes that follow one of several sides, and the side of each of their edges.
    pub sides: &'s BTreeMap<usize, BTreeMap<usize, u32>>,
    /// The open fan-outs inside each node.
    pub scopes: &'s [Vec<usize>],
}

/// What a node does with decisions on its incoming edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Every value is a firing; nothing is kept.
    Each,
    /// As `Each`, but it is known that at most one edge carries a value per key, and somebody behind wants to know
    /// when none does.
    Exclusive { edges: Vec<usize> },
    /// Fires once per key, when every edge is decided.
    List { edges: Vec<usize> },
    /// Fires once per key, with the first value.
    Race { edges: Vec<usize> },
    /// Fires once per parent key and group, when all items are decided. Edges that exclude each other are one group.
    Collapse { groups: Vec<Vec<usize>> },
}

/// Somebody who must hear that nothing will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The inbox behind this edge.
    Inbox(usize),
    /// A split that will never run.
    Split(usize),
}

#[derive(Clone, Debug, Default)]
pub struct Flow {
    pub inputs: Vec<Input>,
    /// For each edge, who must hear that it is done.
    pub frontiers: Vec<Arc<[Target]>>,
    /// For each split, the nodes that gather what it spreads.
    pub collapsers: Vec<Vec<usize>>,
    /// Edges that may carry more than one value per key.
    pub repeating: BTreeSet<usize>,
}

pub fn flow(shape: &Shape<'_>) -> Flow {
    let nodes = shape.inboxes.len();
    let (incoming, outgoing) = adjacency(shape);
    let guards = guards(shape, &incoming, &outgoing);
    let mut inputs: Vec<Input> =
        (0..nodes).map(|node| input(shape, node, &incoming[node], &guards)).collect();
    let repeating = repeating(shape, &inputs, &incoming, &outgoing);
    let collapsers = collapsers(shape, nodes, &incoming);
    let frontiers = frontiers(shape, &mut inputs, &incoming, &outgoing, &collapsers);
    Flow { inputs, frontiers, collapsers, repeating }
}

type Lists = Vec<Vec<usize>>;

fn adjacency(shape: &Shape<'_>) -> (Lists, Lists) {
    let nodes = shape.inboxes.len();
    let (mut incoming, mut outgoing) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (edge, &(from, to)) in shape.edges.iter().enumerate() {
        outgoing[from].push(edge);
        incoming[to].push(edge);
    }
    (incoming, outgoing)
}

/// The sides that must have been taken for an edge to carry a value, by the node that chose.
type Guard = BTreeMap<usize, u32>;

fn guards(shape: &Shape<'_>, incoming: &Lists, outgoing: &Lists) -> Vec<Guard> {
    let mut of_edges: Vec<Guard> = vec![Guard::new(); shape.edges.len()];
    for &node in shape.order {
        // What holds on every way into the node holds in it.
        let mut ways = incoming[node].iter().map(|&edge| &of_edges[edge]);
        let mut common = ways.next().cloned().unwrap_or_default();
        for way in ways {
            common.retain(|chooser, side| way.get(chooser) == Some(side));
        }
        // Behind an aggregator every side of a choice inside its fan-out has been taken by some item.
        if let (ScopeEffect::Pop, Some(closed)) = (shape.effects[node], shape.scopes[node].last()) {
            common.retain(|chooser, _| !shape.scopes[*chooser].contains(closed));
        }
        for &edge in &outgoing[node] {
            of_edges[edge] = common.clone();
            if let Some(&side) = shape.sides.get(&node).and_then(|sides| sides.get(&edge)) {
                of_edges[edge].insert(node, side);
            }
        }
    }
    of_edges
}

fn exclude(left: &Guard, right: &Guard) -> bool {
    left.iter().any(|(chooser, side)| right.get(chooser).is_some_and(|other| other != side))
}

fn input(shape: &Shape<'_>, node: usize, incoming: &[usize], guards: &[Guard]) -> Input {
    match shape.inboxes[node] {
        Inbox::List => Input::List { edges: incoming.to_vec() },
        Inbox::Race => Input::Race { edges: incoming.to_vec() },
        Inbox::Collapse => Input::Collapse { groups: groups(incoming, guards) },
        Inbox::None if incoming.len() > 1 && groups(incoming, guards).len() == 1 => {
            Input::Exclusive { edges: incoming.to_vec() }
        }
        Inbox::None => Input::Each,
    }
}

/// Edges of one group exclude each other pairwise.
fn groups(edges: &[usize], guards: &[Guard]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &edge in edges {
        let fits =
            |group: &&mut Vec<usize>| group.iter().all(|&other| exclude(&guards[edge], &guards[other]));
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(edge),
            None => groups.push(vec![edge]),
        }
    }
    groups
}

fn repeating(shape: &Shape<'_>, inputs: &[Input], incoming: &Lists, outgoing: &Lists) -> BTreeSet<usize> {
    let mut repeating = BTreeSet::new();
    for &node in shape.order {
        let repeats = match &inputs[node] {
            Input::Each => {
                incoming[node].len() > 1 || incoming[node].iter().any(|edge| repeating.contains(edge))
            }
            Input::Exclusive { edges } => edges.iter().any(|edge| repeating.contains(edge)),
            Input::Collapse { groups } => groups.len() > 1,
            // A join behind a repeating edge is refused by validation.
            Input::List { .. } | Input::Race { .. } => false,
        };
        if repeats {
            repeating.extend(outgoing[node].iter().copied());
        }
    }
    repeating
}

fn collapsers(shape: &Shape<'_>, nodes: usize, incoming: &Lists) -> Lists {
    let mut collapsers = vec![Vec::new(); nodes];
    for (node, incoming) in incoming.iter().enumerate() {
        if shape.inboxes[node] == Inbox::Collapse
            && !incoming.is_empty()
            && let Some(&split) = shape.scopes[node].last()
        {
            collapsers[split].push(node);
        }
    }
    collapsers
}

/// From the leaves back: whoever waits is a target, whoever only passes on adds the targets behind it.
fn frontiers(
    shape: &Shape<'_>,
    inputs: &mut [Input],
    incoming: &Lists,
    outgoing: &Lists,
    collapsers: &Lists,
) -> Vec<Arc<[Target]>> {
    let mut of_edges: Vec<Arc<[Target]>> = vec![[].into(); shape.edges.len()];
    for &node in shape.order.iter().rev() {
        let behind = targets_behind(&outgoing[node], &of_edges);
        if matches!(inputs[node], Input::Exclusive { .. }) && behind.is_empty() {
            inputs[node] = Input::Each;
        }
        for &edge in &incoming[node] {
            of_edges[edge] = match &inputs[node] {
                Input::List { .. }
                | Input::Race { .. }
                | Input::Collapse { .. }
                | Input::Exclusive { .. } => [Target::Inbox(edge)].into(),
                // Another value may still come, so one edge says nothing.
                Input::Each if incoming[node].len() > 1 => [].into(),
                Input::Each if shape.effects[node] == ScopeEffect::Push => {
                    // A split with sides has an error edge, behind which somebody may wait as well.
                    match collapsers[node].is_empty() && !shape.sides.contains_key(&node) {
                        true => [].into(),
                        false => [Target::Split(node)].into(),
                    }
                }
                Input::Each => Arc::clone(&behind),
            };
        }
    }
    of_edges
}

fn targets_behind(outgoing: &[usize], of_edges: &[Arc<[Target]>]) -> Arc<[Target]> {
    match outgoing {
        [] => [].into(),
        [edge] => Arc::clone(&of_edges[*edge]),
        edges => {
            let all: BTreeSet<Target> =
                edges.iter().flat_map(|&edge| of_edges[edge].iter().copied()).collect();
            all.into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Example {
        edges: Vec<(usize, usize)>,
        effects: Vec<ScopeEffect>,
        inboxes: Vec<Inbox>,
        sides: BTreeMap<usize, BTreeMap<usize, u32>>,
    }

    /// Nodes by letter, in topological order: `s`plit, `a`ggregator, `m`erge, `r`ace, `?` condition, `.` any other.
    /// The edges of a condition are its sides, in order.
    fn example(nodes: &str, edges: &[(usize, usize)]) -> Flow {
        let effect = |letter| match letter {
            's' => ScopeEffect::Push,
            'a' => ScopeEffect::Pop,
            _ => ScopeEffect::Same,
        };
        let inbox = |letter| match letter {
            'm' => Inbox::List,
            'r' => Inbox::Race,
            'a' => Inbox::Collapse,
            _ => Inbox::None,
        };
        let mut sides: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (edge, &(from, _)) in edges.iter().enumerate() {
            if nodes.as_bytes()[from] == b'?' {
                let known = sides.entry(from).or_default();
                let side = known.len() as u32;
                known.insert(edge, side);
            }
        }
        let example = Example {
            edges: edges.to_vec(),
            effects: nodes.chars().map(effect).collect(),
            inboxes: nodes.chars().map(inbox).collect(),
            sides,
        };
        let order: Vec<usize> = (0..nodes.len()).collect();
        let mut incoming = vec![Vec::new(); nodes.len()];
        edges.iter().for_each(|&(from, to)| incoming[to].push((from, false)));
        let joins: Vec<bool> = example.inboxes.iter().map(|inbox| *inbox == Inbox::List).collect();
        let (scopes, problems) = super::super::scope::scopes(&order, &incoming, &example.effects, &joins);
        assert_eq!(problems, []);
        flow(&Shape {
            order: &order,
            edges: &example.edges,
            effects: &example.effects,
            inboxes: &example.inboxes,
            sides: &example.sides,
            scopes: &scopes,
        })
    }

    #[test]
    fn a_line_needs_nobody_to_hear_anything() {
        let flow = example("...", &[(0, 1), (1, 2)]);
        assert!(flow.frontiers.iter().all(|targets| targets.is_empty()));
        assert_eq!(flow.inputs, [Input::Each, Input::Each, Input::Each]);
    }

    #[test]
    fn a_dropped_item_is_heard_of_by_its_aggregator() {
        // 0 split, 1 condition, 2 and 3 work, 4 aggregator behind 2 only
        let flow = example("s?..a", &[(0, 1), (1, 2), (1, 3), (2, 4)]);
        assert_eq!(flow.collapsers[0], [4]);
        assert_eq!(*flow.frontiers[1], [Target::Inbox(3)]);
        assert!(flow.frontiers[2].is_empty(), "what ends in a leaf decides nothing");
    }

    #[test]
    fn sides_of_one_condition_are_one_group() {
        let flow = example("s?..a", &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
        assert_eq!(flow.inputs[4], Input::Collapse { groups: vec![vec![3, 4]] });
        let flow = example("s...a", &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
        assert_eq!(flow.inputs[4], Input::Collapse { groups: vec![vec![3], vec![4]] });
    }

    #[test]
    fn meeting_again_behind_a_condition_is_exclusive_and_otherwise_repeats() {
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)];
        let flow_of = |nodes| example(nodes, &edges);
        assert_eq!(flow_of("?...m").inputs[3], Input::Exclusive { edges: vec![2, 3] });
        assert_eq!(flow_of("?....").inputs[3], Input::Each, "nobody behind wants to know");
        assert!(flow_of("?....").repeating.is_empty());
        assert_eq!(flow_of(".....").repeating, BTreeSet::from([4]));
    }

    #[test]
    fn a_split_that_never_runs_is_a_target_of_its_own() {
        // a condition in front of a split: the other side says that the split is blocked
        let flow = example("?.s.a", &[(0, 1), (0, 2), (2, 3), (3, 4)]);
        assert_eq!(*flow.frontiers[1], [Target::Split(2)]);
    }
}
