//! Looks through a join: who has arrived, who is missing, and where each of them is.

use std::collections::{HashMap, HashSet, VecDeque};

use engine::{Ledger, Missing, OpenJoin, Opened, Plan, joined_edges};
use protocol::{
    BarrierPlace, BarrierView, ExecutionId, Lineage, MissingPart, NodeId, NodeState, PartAt, Whereabouts,
};

/// Keys that are told of.
pub const PLACES: usize = 20;
/// Missing parts that are told one by one.
pub const LISTED: usize = 100;

/// `total_of` says how many items a fan-out has at a key, where it has fired.
pub fn barrier(
    ledger: &Ledger,
    execution_id: &ExecutionId,
    node_id: &NodeId,
    total_of: impl Fn(usize, &Lineage) -> Option<usize>,
) -> BarrierView {
    let plan = ledger.plan();
    let mut joins = plan.node(node_id).map_or_else(Vec::new, |node| {
        let mut joins = ledger.open_joins(node);
        if joins.is_empty() {
            joins.extend(silent(ledger, node, total_of));
        }
        joins
    });
    joins.sort_by_key(|join| (join.arrived.abs_diff(join.expected), join.lineage.key()));
    joins.reverse();
    let total = joins.len();
    joins.truncate(PLACES);
    BarrierView {
        execution_id: execution_id.clone(),
        node_id: node_id.clone(),
        position: ledger.position(),
        places: joins.iter().map(|join| place(ledger, join)).collect(),
        total,
        winner: None,
        verdict: None,
    }
}

/// A join outside every fan-out that has heard of nothing yet.
fn silent(
    ledger: &Ledger,
    node: usize,
    total_of: impl Fn(usize, &Lineage) -> Option<usize>,
) -> Option<OpenJoin> {
    let plan = ledger.plan();
    let root = Lineage::default();
    if !plan.nodes[node].fires.is_empty() || ledger.is_closed(node, &root) || ledger.position() == 0 {
        return None;
    }
    let edges = joined_edges(plan, node);
    let (expected, missing) = match plan.nodes[node].scope.last() {
        Some(&split) if edges.is_empty() => {
            let total = total_of(split, &root)?;
            (total, Missing::Items((0..total as u32).collect()))
        }
        _ => (edges.len(), Missing::Edges(edges.to_vec())),
    };
    (expected > 0).then_some(OpenJoin { lineage: root, arrived: 0, expected, missing, due: None })
}

fn place(ledger: &Ledger, join: &OpenJoin) -> BarrierPlace {
    let missing: Vec<MissingPart> = match &join.missing {
        Missing::Items(items) => missing_items(ledger, &join.lineage, items),
        Missing::Edges(edges) => {
            edges.iter().map(|&edge| missing_branch(ledger, &join.lineage, edge)).collect()
        }
    };
    BarrierPlace {
        key: join.lineage.key(),
        arrived: join.arrived,
        expected: join.expected,
        due: join.due,
        whereabouts: whereabouts(&missing),
        missing: missing.into_iter().take(LISTED).collect(),
    }
}

fn missing_items(ledger: &Ledger, parent: &Lineage, items: &[u32]) -> Vec<MissingPart> {
    let depth = parent.steps().len();
    // The most urgent of what is under way inside each item.
    let mut inside: HashMap<u32, &Opened> = HashMap::new();
    for opened in ledger.messages().filter(|opened| opened.message.lineage.prefix(depth) == *parent) {
        if let Some(step) = opened.message.lineage.steps().get(depth) {
            let known = inside.entry(step.index).or_insert(opened);
            if urgency(opened) < urgency(known) {
                *known = opened;
            }
        }
    }
    let at = |index: &u32| match inside.get(index) {
        Some(opened) => part_at(ledger.plan(), opened),
        None => not_begun(),
    };
    items.iter().map(|index| MissingPart::Item { index: *index, at: at(index) }).collect()
}

/// The way back from an edge, nearest first: whoever is under way there could still bring it.
fn missing_branch(ledger: &Ledger, lineage: &Lineage, edge: usize) -> MissingPart {
    let plan = ledger.plan();
    let mut at_node: HashMap<usize, &Opened> = HashMap::new();
    for opened in ledger.messages().filter(|opened| are_related(&opened.message.lineage, lineage)) {
        let known = at_node.entry(opened.message.node).or_insert(opened);
        if urgency(opened) < urgency(known) {
            *known = opened;
        }
    }
    let parent = plan.edges[edge].from;
    let found = upstream(plan, parent).into_iter().find_map(|node| at_node.get(&node).copied());
    MissingPart::Branch {
        edge_id: plan.edges[edge].source.id.clone(),
        parent: plan.nodes[parent].id.clone(),
        at: found.map_or_else(lost, |opened| part_at(plan, opened)),
    }
}

/// A node and everything that leads to it, nearest first.
pub fn upstream(plan: &Plan, node: usize) -> Vec<usize> {
    let (mut seen, mut open, mut order) = (HashSet::from([node]), VecDeque::from([node]), Vec::new());
    while let Some(next) = open.pop_front() {
        order.push(next);
        for edge in plan.edges.iter().filter(|edge| edge.to == next) {
            if seen.insert(edge.from) {
                open.push_back(edge.from);
            }
        }
    }
    order
}

pub fn are_related(left: &Lineage, right: &Lineage) -> bool {
    let depth = left.steps().len().min(right.steps().len());
    left.prefix(depth) == right.prefix(depth)
}

/// What runs is nearest to its end.
fn urgency(opened: &Opened) -> u8 {
    match (opened.parked, opened.started) {
        (None, Some(_)) => 0,
        (Some(_), None) => 1,
        (Some(_), Some(_)) => 2,
        (None, None) => 3,
    }
}

fn part_at(plan: &Plan, opened: &Opened) -> PartAt {
    let state = match (opened.parked, opened.started) {
        (Some(_), _) => NodeState::WaitingTimer,
        (None, Some(_)) => NodeState::Running,
        (None, None) => NodeState::Queued,
    };
    PartAt {
        node_id: Some(plan.nodes[opened.message.node].id.clone()),
        state,
        retrying: opened.parked.is_some() && opened.started.is_none(),
        attempt: opened.message.attempt,
        since: opened.started,
        due: opened.parked,
    }
}

/// An item that nobody has asked for yet.
pub fn not_begun() -> PartAt {
    PartAt { node_id: None, state: NodeState::Queued, retrying: false, attempt: 0, since: None, due: None }
}

/// Nothing under way can bring it any more.
pub fn lost() -> PartAt {
    PartAt { state: NodeState::Idle, ..not_begun() }
}

pub fn whereabouts(missing: &[MissingPart]) -> Vec<Whereabouts> {
    let mut found: Vec<Whereabouts> = Vec::new();
    for at in missing.iter().map(MissingPart::at) {
        let same = |known: &&mut Whereabouts| {
            known.node_id == at.node_id && known.state == at.state && known.retrying == at.retrying
        };
        match found.iter_mut().find(same) {
            Some(known) => {
                known.count += 1;
                known.due = known.due.into_iter().chain(at.due).min();
            }
            None => found.push(Whereabouts {
                node_id: at.node_id.clone(),
                state: at.state,
                retrying: at.retrying,
                count: 1,
                due: at.due,
            }),
        }
    }
    found.sort_by_key(|known| std::cmp::Reverse(known.count));
    found
}
