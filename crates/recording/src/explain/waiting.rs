//! Why does it not go on: joins that wait, what each of them lacks, and where that is now.

use std::collections::{BTreeMap, BTreeSet};

use engine::Input;
use protocol::{Lineage, Missing, MissingAt, NodeId, Waiting};

use super::history::{Fired, Heard, History, State, touches};

/// Missing things that are told; the others are counted.
const TOLD: usize = 50;

pub fn waiting(history: &History<'_>) -> Vec<Waiting> {
    // Once it has ended nobody waits, unless that is why it ended.
    let stalled = |error: &protocol::NodeError| error.code == protocol::ErrorCode::Stalled;
    if history.ended.is_some_and(|ended| !ended.error.as_ref().is_some_and(stalled)) {
        return Vec::new();
    }
    let fired: BTreeSet<(&NodeId, String)> = history
        .firings
        .iter()
        .map(|fired| (&fired.firing.node_id, fired.firing.lineage.key().to_string()))
        .collect();
    let open = history.joins.values().filter(|heard| {
        heard.arrived < heard.expected && !fired.contains(&(heard.node, heard.lineage.key().to_string()))
    });
    open.map(|heard| describe(history, heard)).collect()
}

fn describe(history: &History<'_>, heard: &Heard<'_>) -> Waiting {
    let missing = match history.plan.node(heard.node).map(|node| &history.plan.flow.inputs[node]) {
        Some(Input::List { edges } | Input::Race { edges } | Input::Exclusive { edges }) => {
            missing_edges(history, heard, edges)
        }
        Some(_) | None => missing_items(history, heard),
    };
    let more = missing.len().saturating_sub(TOLD);
    Waiting {
        node_id: heard.node.clone(),
        key: heard.lineage.key(),
        arrived: heard.arrived,
        expected: heard.expected,
        missing: missing.into_iter().take(TOLD).collect(),
        more,
    }
}

/// Items by index: those of which a firing has brought something have arrived.
fn missing_items(history: &History<'_>, heard: &Heard<'_>) -> Vec<Missing> {
    let depth = heard.lineage.steps().len();
    let index = |lineage: &Lineage| {
        let inside = lineage.prefix(depth) == *heard.lineage;
        lineage.steps().get(depth).filter(|_| inside).map(|step| step.index)
    };
    let arrived: BTreeSet<u32> =
        heard.by.iter().filter_map(|&at| index(&history.firings[at].firing.lineage)).collect();
    let mut latest: BTreeMap<u32, &Fired<'_>> = BTreeMap::new();
    for fired in &history.firings {
        if let Some(index) = index(&fired.firing.lineage) {
            let known = latest.entry(index).or_insert(fired);
            // What is under way says more than what is done.
            if known.done().is_some() {
                *known = fired;
            }
        }
    }
    let missing = (0..heard.expected).filter(|index| !arrived.contains(index));
    missing
        .map(|index| Missing {
            what: format!("item {index}"),
            whereabouts: latest
                .get(&index)
                .map_or(MissingAt::Queued { behind: None }, |fired| whereabouts(fired)),
        })
        .collect()
}

/// An edge is decided when the node before it has ended at this key, or was said never to run.
fn missing_edges(history: &History<'_>, heard: &Heard<'_>, edges: &[usize]) -> Vec<Missing> {
    let plan = &history.plan;
    let is_decided = |edge: &&usize| {
        let before = &plan.nodes[plan.edges[**edge].from].id;
        let ended = history
            .of_node(before)
            .any(|(_, fired)| fired.done().is_some() && touches(&fired.firing.lineage, heard.lineage));
        let skipped = history
            .skips
            .iter()
            .any(|(skipped, _)| skipped.node_id == *before && touches(&skipped.lineage, heard.lineage));
        ended || skipped
    };
    let mut undecided: Vec<&usize> = edges.iter().filter(|edge| !is_decided(edge)).collect();
    if undecided.is_empty() {
        // A node that fires more than once at a key may still take what it has not taken yet.
        let is_taken = |edge: &&usize| {
            let id = &plan.edges[**edge].source.id;
            history.firings.iter().any(|fired| {
                fired.done().is_some_and(|done| done.taken.contains(id))
                    && touches(&fired.firing.lineage, heard.lineage)
            })
        };
        undecided = edges.iter().filter(|edge| !is_taken(edge)).collect();
    }
    let undecided = if undecided.is_empty() { edges.iter().collect() } else { undecided };
    undecided
        .into_iter()
        .map(|&edge| Missing {
            what: format!(
                "edge {} from {}",
                plan.edges[edge].source.id, plan.nodes[plan.edges[edge].from].id
            ),
            whereabouts: on_the_way(history, heard, plan.edges[edge].from),
        })
        .collect()
}

/// The first thing under way that can still reach a node.
fn on_the_way(history: &History<'_>, heard: &Heard<'_>, node: usize) -> MissingAt {
    let plan = &history.plan;
    let mut before = BTreeSet::from([node]);
    let mut next = vec![node];
    while let Some(node) = next.pop() {
        let sources = plan.edges.iter().filter(|edge| edge.to == node).map(|edge| edge.from);
        next.extend(sources.filter(|source| before.insert(*source)));
    }
    let reaches = |fired: &&Fired<'_>| {
        plan.node(&fired.firing.node_id).is_some_and(|node| before.contains(&node))
            && touches(&fired.firing.lineage, heard.lineage)
    };
    let candidates: Vec<&Fired<'_>> = history.firings.iter().filter(reaches).collect();
    let is_under_way = |fired: &&&Fired<'_>| fired.done().is_none() && !matches!(fired.state, State::Dropped);
    let under_way = candidates.iter().find(is_under_way);
    under_way.or(candidates.last()).map_or(MissingAt::Lost, |fired| whereabouts(fired))
}

fn whereabouts(fired: &Fired<'_>) -> MissingAt {
    let node_id = fired.firing.node_id.clone();
    match &fired.state {
        State::Running => MissingAt::Running { node_id, since: fired.began },
        State::Resting { due } => MissingAt::Waiting { node_id, until: *due },
        State::Retrying { due, error } => {
            MissingAt::Retrying { node_id, until: *due, error: error.message.clone() }
        }
        State::Dropped => MissingAt::Lost,
        State::Done(done) => match done.outcome {
            _ if !done.taken.is_empty() => MissingAt::Queued { behind: Some(node_id) },
            Err(error) => MissingAt::Failed { node_id, error: error.message.clone() },
            Ok(_) => MissingAt::Lost,
        },
    }
}
