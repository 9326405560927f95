//! How decisions travel: what a node waits for, which edges exclude each other, and who must hear that an edge will
//! never carry a value. All of it is known before anything runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::nodes::Inbox;

/// The shape of a workflow, as far as decisions are concerned. Nodes and edges are places in the plan.
pub struct Shape<'s> {
    /// Topological.
    pub order: &'s [usize],
    /// Source and target of each edge.
    pub edges: &'s [(usize, usize)],
    /// The levels that are open on each edge.
    pub levels: &'s [Vec<usize>],
    /// Nodes whose firing opens a level.
    pub opens: &'s [bool],
    pub waits: &'s [Waits],
    /// Nodes that follow one of several sides, and the side of each of their edges.
    pub sides: &'s BTreeMap<usize, BTreeMap<usize, u32>>,
    /// The levels at which each node fires.
    pub fires: &'s [Vec<usize>],
}

/// What a node waits for before it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Inbox(Inbox),
    /// One decision of each of its handles, or its turn.
    Join,
}

impl Shape<'_> {
    /// The levels that a node closes: open on an edge to it, and not where it fires.
    fn closed(&self, node: usize, incoming: &[usize]) -> BTreeSet<usize> {
        let depth = self.fires[node].len();
        incoming.iter().flat_map(|&edge| self.levels[edge].iter().skip(depth)).copied().collect()
    }
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
    /// Fires once per key, when every handle is decided; where one that is needed brings nothing, it never does.
    Join { edges: Vec<usize> },
    /// Fires once per parent key and group, when all items are decided. Edges that exclude each other are one group.
    Collapse { groups: Vec<Vec<usize>> },
    /// Fires once per parent key, when all items of both sides are decided. A side is a group of one edge.
    Sides { groups: Vec<Vec<usize>> },
}

impl Input {
    /// What has heard of something and not enough is kept somewhere.
    pub fn keeps(&self) -> bool {
        !matches!(self, Self::Each)
    }
}

/// Who gathers the items of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gathering {
    pub node: usize,
    pub group: usize,
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
    /// For each split, who gathers what it spreads.
    pub collapsers: Vec<Vec<Gathering>>,
    /// Edges that may carry more than one value per key.
    pub repeating: BTreeSet<usize>,
}

pub fn flow(shape: &Shape<'_>) -> Flow {
    let nodes = shape.waits.len();
    let (incoming, outgoing) = adjacency(shape);
    let guards = guards(shape, &incoming, &outgoing);
    let mut inputs: Vec<Input> =
        (0..nodes).map(|node| input(shape, node, &incoming[node], &guards)).collect();
    let repeating = repeating(shape, &inputs, &incoming, &outgoing);
    let collapsers = collapsers(shape, &inputs);
    let frontiers = frontiers(shape, &mut inputs, &incoming, &outgoing, &collapsers);
    Flow { inputs, frontiers, collapsers, repeating }
}

type Lists = Vec<Vec<usize>>;

fn adjacency(shape: &Shape<'_>) -> (Lists, Lists) {
    let nodes = shape.waits.len();
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
        let closed = shape.closed(node, &incoming[node]);
        common.retain(|chooser, _| !shape.fires[*chooser].iter().any(|level| closed.contains(level)));
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
    let edges = incoming.to_vec();
    match shape.waits[node] {
        Waits::Join => Input::Join { edges },
        Waits::Inbox(Inbox::List) => Input::List { edges },
        Waits::Inbox(Inbox::Race) => Input::Race { edges },
        Waits::Inbox(Inbox::Sides) => {
            Input::Sides { groups: edges.into_iter().map(|edge| vec![edge]).collect() }
        }
        // What is open nowhere is one value, and that is all there is.
        Waits::Inbox(Inbox::Collapse) if shape.closed(node, incoming).is_empty() => Input::Each,
        Waits::Inbox(Inbox::Collapse) => Input::Collapse { groups: groups(incoming, guards) },
        Waits::Inbox(Inbox::None) if incoming.len() > 1 && groups(incoming, guards).len() == 1 => {
            Input::Exclusive { edges }
        }
        Waits::Inbox(Inbox::None) => Input::Each,
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
            Input::List { .. } | Input::Race { .. } | Input::Join { .. } | Input::Sides { .. } => false,
        };
        if repeats {
            repeating.extend(outgoing[node].iter().copied());
        }
    }
    repeating
}

fn collapsers(shape: &Shape<'_>, inputs: &[Input]) -> Vec<Vec<Gathering>> {
    let mut collapsers = vec![Vec::new(); inputs.len()];
    for (node, input) in inputs.iter().enumerate() {
        let (Input::Collapse { groups } | Input::Sides { groups }) = input else { continue };
        for (group, edges) in groups.iter().enumerate() {
            for level in shape.closed(node, edges) {
                collapsers[level].push(Gathering { node, group });
            }
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
    collapsers: &[Vec<Gathering>],
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
                | Input::Join { .. }
                | Input::Collapse { .. }
                | Input::Sides { .. }
                | Input::Exclusive { .. } => [Target::Inbox(edge)].into(),
                // Another value may still come, so one edge says nothing.
                Input::Each if incoming[node].len() > 1 => [].into(),
                Input::Each if shape.opens[node] => {
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

    /// Nodes by letter, in topological order: `s`plit, `a`ggregator, `m`erge, `r`ace, `?` condition, `.` any other.
    /// The edges of a condition are its sides, in order.
    fn example(nodes: &str, edges: &[(usize, usize)]) -> Flow {
        let letters = nodes.as_bytes();
        let waits = |letter: &u8| match letter {
            b'm' => Waits::Inbox(Inbox::List),
            b'r' => Waits::Inbox(Inbox::Race),
            b'a' => Waits::Inbox(Inbox::Collapse),
            _ => Waits::Inbox(Inbox::None),
        };
        let mut sides: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        let (mut levels, mut fires) = (vec![Vec::new(); edges.len()], vec![Vec::new(); nodes.len()]);
        for node in 0..nodes.len() {
            let arriving = edges.iter().zip(&levels).filter(|((_, to), _)| *to == node);
            let deepest = arriving.map(|(_, levels)| levels).max_by_key(|levels: &&Vec<usize>| levels.len());
            fires[node] = deepest.cloned().unwrap_or_default();
            if letters[node] == b'a' {
                fires[node].pop();
            }
            for (edge, _) in edges.iter().enumerate().filter(|(_, (from, _))| *from == node) {
                levels[edge] = fires[node].clone();
                levels[edge].extend((letters[node] == b's').then_some(node));
                if letters[node] == b'?' {
                    let known = sides.entry(node).or_default();
                    known.insert(edge, known.len() as u32);
                }
            }
        }
        flow(&Shape {
            order: &(0..nodes.len()).collect::<Vec<_>>(),
            edges,
            levels: &levels,
            opens: &letters.iter().map(|letter| *letter == b's').collect::<Vec<_>>(),
            waits: &letters.iter().map(waits).collect::<Vec<_>>(),
            sides: &sides,
            fires: &fires,
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
        assert_eq!(flow.collapsers[0], [Gathering { node: 4, group: 0 }]);
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
