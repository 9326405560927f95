//! Why does it not go on: joins that wait, what each of them lacks, and where that is now.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Input, PlannedEdge};
use protocol::{EdgeId, Lineage, Missing, MissingAt, NodeId, Waiting};

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
    let mut missing = match history.plan.node(heard.node).map(|node| &history.plan.flow.inputs[node]) {
        Some(Input::List { edges } | Input::Race { edges } | Input::Exclusive { edges }) => {
            missing_edges(history, heard, edges)
        }
        Some(_) | None => missing_items(history, heard),
    };
    // It may have gone by where nobody heard it.
    if history.is_patchy {
        let lost = missing.iter_mut().filter(|part| part.whereabouts == MissingAt::Lost);
        lost.for_each(|part| part.whereabouts = MissingAt::Unseen);
    }
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
        brought(history, heard).filter_map(|fired| index(&fired.firing.lineage)).collect();
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

/// The firings that have brought something to a join. Where nobody says who did, those that have sent something there.
fn brought<'h, 'e>(
    history: &'h History<'e>,
    heard: &'h Heard<'e>,
) -> impl Iterator<Item = &'h Fired<'e>> + use<'h, 'e> {
    let said = heard.by.iter().map(|&at| &history.firings[at]);
    let join = history.plan.node(heard.node);
    let leads_there = move |id: &EdgeId| {
        history.plan.edges.iter().any(|edge| edge.source.id == *id && Some(edge.to) == join)
    };
    let has_sent = move |fired: &&Fired<'_>| {
        heard.by.is_empty() && fired.done().is_some_and(|done| done.taken.iter().any(leads_there))
    };
    said.chain(history.firings.iter().filter(has_sent))
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
    // What was sent along one of these ways and has not begun. Who went another way brings nothing here.
    let has_begun = |node: usize| {
        let mut fired = history.of_node(&plan.nodes[node].id);
        fired.any(|(_, fired)| touches(&fired.firing.lineage, heard.lineage))
    };
    let leads_here = |id: &EdgeId| {
        let is_way = |edge: &PlannedEdge| edge.source.id == *id && before.contains(&edge.to);
        plan.edges.iter().any(|edge| is_way(edge) && !has_begun(edge.to))
    };
    let is_sent = |fired: &&&Fired<'_>| fired.done().is_some_and(|done| done.taken.iter().any(leads_here));
    let has_failed =
        |fired: &&&Fired<'_>| fired.done().is_some_and(|done| done.outcome.is_err() && done.taken.is_empty());
    let last = |found: &dyn Fn(&&&Fired<'_>) -> bool| candidates.iter().rev().find(|fired| found(fired));
    let found = candidates.iter().find(is_under_way).or_else(|| last(&is_sent)).or_else(|| last(&has_failed));
    found.map_or(MissingAt::Lost, |fired| whereabouts(fired))
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

#[cfg(test)]
mod tests {
    use protocol::{
        Arrival, Echo, Event, ExecutionStarted, Fact, Firing, Gap, Gathered, NodeStarted, NodeSucceeded,
        Payload, Step,
    };
    use serde_json::json;

    use super::*;

    fn firing(node: &str, index: Option<u32>) -> Firing {
        let inside =
            |index| Lineage::default().then(Step { split: "each".into(), index, total: 3, first: 0 });
        Firing {
            message_id: format!("{node} {index:?}").as_str().into(),
            node_id: node.into(),
            lineage: index.map_or_else(Lineage::default, inside),
            attempt: 1,
        }
    }

    fn began(node: &str, index: Option<u32>) -> Fact {
        Fact::NodeStarted(NodeStarted { firing: firing(node, index), parameters: None, input: None })
    }

    fn done(node: &str, index: Option<u32>, edge: &str) -> Fact {
        Fact::NodeSucceeded(NodeSucceeded {
            firing: firing(node, index),
            duration: 0,
            output: Payload::null(),
            items: None,
            taken: vec![edge.into()],
            echo: Echo::default(),
        })
    }

    fn history_of(definition: serde_json::Value, facts: Vec<Fact>) -> Vec<Event> {
        let start = ExecutionStarted {
            workflow_id: "w".into(),
            title: "w".to_owned(),
            path: None,
            definition_hash: String::new(),
            definition: Payload::new(definition),
            input: Payload::new(json!({"items": [1, 2, 3]})),
            starts: vec!["start".into()],
            origin: None,
            until: None,
            observed: None,
            other: Default::default(),
        };
        let facts = std::iter::once(Fact::ExecutionStarted(Box::new(start))).chain(facts);
        let event = |(seq, fact)| Event { execution_id: "e".into(), seq, at: 0, fact };
        (1..).zip(facts).map(event).collect()
    }

    fn gathered(node: &str, arrived: u32, expected: u32) -> Fact {
        let arrival = Arrival { node_id: node.into(), lineage: Lineage::default(), arrived, expected };
        Fact::Gathered(Gathered { echo: Echo { arrivals: vec![arrival], ..Echo::default() } })
    }

    /// Other workers wait for a way that was not taken, too.
    #[test]
    fn a_branch_behind_another_choice_is_lost_and_not_on_its_way() {
        let definition = json!({
            "nodes": [
                {"id": "start", "type": "trigger"},
                {"id": "check", "type": "conditional", "parameters": {
                    "expression": "true", "true_edge_id": "yes", "false_edge_id": "no"
                }},
                {"id": "approve", "type": "log", "parameters": {"message": "x"}},
                {"id": "stock", "type": "log", "parameters": {"message": "x"}},
                {"id": "both", "type": "merge"},
            ],
            "edges": [
                {"id": "a", "src": "start", "dst": "check"},
                {"id": "yes", "src": "check", "dst": "approve"}, {"id": "no", "src": "check", "dst": "stock"},
                {"id": "b", "src": "approve", "dst": "both"}, {"id": "c", "src": "stock", "dst": "both"},
            ],
        });
        let ran = |node: &str, edge: &str| [began(node, None), done(node, None, edge)];
        let checked = |edge: &str| [ran("start", "a"), ran("check", edge)].concat();
        let whereabouts = |facts: Vec<Fact>| {
            let events = history_of(definition.clone(), facts);
            let found = waiting(&History::of(&events).unwrap());
            let [join] = &found[..] else { panic!("{found:?}") };
            let [missing] = &join.missing[..] else { panic!("{join:?}") };
            (missing.what.clone(), missing.whereabouts.clone())
        };
        let stock = "edge c from stock".to_owned();
        let hangs = [checked("yes"), ran("approve", "b").into(), vec![gathered("both", 1, 2)]].concat();
        assert_eq!(whereabouts(hangs.clone()), (stock.clone(), MissingAt::Lost));
        let gap =
            Fact::Missed(Gap { from: 0, until: Some(1), dropped: 0, why: "there was no connection".into() });
        assert_eq!(whereabouts([hangs, vec![gap]].concat()), (stock.clone(), MissingAt::Unseen));
        // The other way round it is only a matter of time.
        let both = [ran("approve", "b").into(), checked("no"), vec![gathered("both", 1, 2)]].concat();
        assert_eq!(whereabouts(both), (stock, MissingAt::Queued { behind: Some("check".into()) }));
    }

    /// Other workers say how far a join is, and not who has come.
    #[test]
    fn a_join_that_tells_only_numbers_waits_for_who_has_sent_nothing() {
        let definition = json!({
            "nodes": [
                {"id": "start", "type": "trigger"},
                {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}},
                {"id": "work", "type": "log", "parameters": {"message": "x"}},
                {"id": "all", "type": "aggregator"},
            ],
            "edges": [
                {"id": "a", "src": "start", "dst": "each"}, {"id": "b", "src": "each", "dst": "work"},
                {"id": "c", "src": "work", "dst": "all"},
            ],
        });
        let facts = vec![
            began("work", Some(2)),
            done("work", Some(2), "c"),
            gathered("all", 1, 3),
            began("work", Some(0)),
        ];
        let events = history_of(definition, facts);
        let found = waiting(&History::of(&events).unwrap());
        let [join] = &found[..] else { panic!("{found:?}") };
        assert_eq!((join.node_id.as_str(), join.arrived, join.expected), ("all", 1, 3));
        let missing: Vec<&str> = join.missing.iter().map(|missing| missing.what.as_str()).collect();
        assert_eq!(missing, ["item 0", "item 1"]);
        assert!(matches!(join.missing[0].whereabouts, MissingAt::Running { .. }), "{join:?}");
    }
}
