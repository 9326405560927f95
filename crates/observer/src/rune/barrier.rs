//! Looks through a join of a Rune cluster: Redis says what has arrived, the statuses say where the rest is.

use std::collections::{BTreeSet, HashMap};

use protocol::{BarrierPlace, BarrierView, Lineage, Millis, MissingPart, NodeState, PartAt, Whereabouts};

use crate::stuck::Standing;

use super::{
    execution::{Execution, Spot},
    graph::Role,
    joins::Join,
    look::{Answer, Kept, Seen},
    track::Track,
};

/// Keys that are told of.
const PLACES: usize = 20;
/// Missing parts that are told one by one.
const LISTED: usize = 100;
/// Items that are gone through: a message may claim to be one of any number.
const ITEMS: u32 = 100_000;

/// A join at one key, with everything that is missing.
pub struct Looked {
    pub lineage: Lineage,
    pub stands: Standing,
    pub missing: Vec<MissingPart>,
}

pub fn view(
    execution: &Execution,
    node: usize,
    seen: &Seen,
    silent_before: Option<Millis>,
) -> Option<BarrierView> {
    if !execution.graph.nodes[node].role.is_join() {
        return None;
    }
    let wanted = execution.wanted(node);
    let answer = wanted.as_ref().and_then(|wanted| seen.answer(wanted));
    let kept = answer.map(|answer| answer.kept);
    let every = execution.joins.keys().filter(|(join, _)| *join == node);
    let keys = every.map(|(_, lineage)| lineage.clone()).collect();
    let places = places(execution, node, answer, keys);
    let mut places: Vec<Looked> = places.filter(|place| !place.stands.is_open).collect();
    places.sort_by_key(|place| (std::cmp::Reverse(place.missing.len()), place.lineage.key()));
    let total = places.len();
    let verdict = verdict(execution, node, &places, kept, silent_before);
    let winner = winner(execution, node, kept).map(|winner| execution.graph.nodes[winner].id.clone());
    places.truncate(PLACES);
    let place = |looked: Looked| BarrierPlace {
        key: looked.lineage.key(),
        arrived: looked.stands.arrived as usize,
        expected: looked.stands.expected as usize,
        due: None,
        whereabouts: whereabouts(&looked.missing),
        missing: looked.missing.into_iter().take(LISTED).collect(),
    };
    Some(BarrierView {
        execution_id: execution.id.clone(),
        node_id: execution.graph.nodes[node].id.clone(),
        position: execution.position(),
        places: places.into_iter().map(place).collect(),
        total,
        winner,
        verdict,
    })
}

/// Who was first. The lock is empty where that came behind a wait, which says nothing of where it comes from.
fn winner(execution: &Execution, node: usize, kept: Option<&Kept>) -> Option<usize> {
    let of_lock = kept.and_then(|kept| kept.lock.as_deref()).and_then(|lock| execution.graph.node(lock));
    let mut joins = execution.joins.iter().filter(|((join, _), _)| *join == node);
    of_lock.or_else(|| joins.find_map(|(_, join)| join.winner))
}

/// The keys of a join at which something may be wrong: it waits there, has opened short of something, or says nothing of
/// what has reached it.
pub fn suspects(execution: &Execution, node: usize, silent_before: Option<Millis>) -> BTreeSet<Lineage> {
    let from = (node, Lineage::default());
    let of_node = |spots: &BTreeSet<Spot>| -> Vec<Lineage> {
        let spots = spots.range(from.clone()..).take_while(|(join, _)| *join == node);
        spots.map(|(_, lineage)| lineage.clone()).collect()
    };
    let began = |reached: &Lineage| execution.tracks.get(&(node, reached.clone()))?.open;
    let is_silent = |reached: &&Lineage| {
        let began = began(reached).map(|open| open.began.millis());
        silent_before.zip(began).is_some_and(|(before, began)| began <= before)
    };
    let open = execution.open.get(&node).into_iter().flatten();
    let silent = open.filter(is_silent).map(|reached| execution.graph.fires_at(node, reached));
    of_node(&execution.waiting).into_iter().chain(of_node(&execution.short)).chain(silent).collect()
}

/// It has reached the join, which takes a moment, and nothing was heard of it for long although everything is heard.
/// What a join opens with may be more than the broker takes: it drops the message, and the worker does not know.
pub fn is_unanswered(
    execution: &Execution,
    node: usize,
    part: &MissingPart,
    silent_before: Option<Millis>,
) -> bool {
    let at = part.at();
    at.state == NodeState::Running
        && at.node_id.as_ref() == Some(&execution.graph.nodes[node].id)
        && !execution.is_patchy()
        && silent_before.zip(at.since).is_some_and(|(before, since)| since <= before)
}

/// A join at these keys, and where Redis has something, one after the other as somebody asks for them.
pub fn places<'e>(
    execution: &'e Execution,
    node: usize,
    answer: Option<Answer<'e>>,
    mut keys: BTreeSet<Lineage>,
) -> impl Iterator<Item = Looked> + 'e {
    let graph = &execution.graph;
    // Where the join stands outside of everything there is only one key.
    let fires_deeper = match graph.nodes[node].role {
        Role::Aggregator => graph.depth(node) > 1,
        _ => graph.depth(node) > 0,
    };
    if answer.is_some() && !fires_deeper {
        keys.insert(Lineage::default());
    }
    // What Redis has is of all keys together: it says something of one only where there is one.
    let waiting =
        |lineage: &&Lineage| execution.joins.get(&(node, (*lineage).clone())).is_none_or(|join| join.waits);
    let alone = keys.iter().filter(waiting).count() <= 1;
    let answer = answer.filter(|_| alone);
    keys.into_iter().filter_map(move |lineage| match graph.nodes[node].role {
        Role::Aggregator => items(execution, node, lineage, answer),
        Role::MergeAny => None,
        _ => Some(branches(execution, node, lineage, answer)),
    })
}

fn items(execution: &Execution, node: usize, lineage: Lineage, answer: Option<Answer<'_>>) -> Option<Looked> {
    let kept = answer.map(|answer| answer.kept);
    let split = *execution.graph.nodes[node].scope.as_ref()?.last()?;
    let join = execution.joins.get(&(node, lineage.clone()));
    let is_open = join.is_some_and(Join::is_open) || gave_way_to(execution, node, &lineage).is_some();
    let total = execution.fan_outs.get(&(split, lineage.clone())).map(|fan_out| fan_out.total);
    let total = total.or_else(|| join.map(|join| join.expected).filter(|expected| *expected > 0));
    let expected = total.or_else(|| kept?.expected)?;
    let mut heard = join.map(|join| join.reached.clone()).unwrap_or_default();
    // What waits at another one that counts with it is counted here as well.
    let sharers = execution.graph.sharers(node).iter().filter(|&&other| other != node && !is_open);
    for other in sharers.filter_map(|&other| execution.joins.get(&(other, lineage.clone()))) {
        heard.extend(other.reached.iter().filter(|_| other.waits));
    }
    let arrived = match kept.and_then(|kept| kept.results.clone()).filter(|_| !is_open) {
        Some(results) if is_older(answer, join) => &results | &heard,
        Some(results) => results,
        None => heard,
    };
    let inside = inside(execution, &lineage);
    let at = |index: u32| match inside.get(&index) {
        Some(at) => at.clone(),
        None if has_begun(execution, split, &lineage, index, expected) => lost(),
        None if execution.is_patchy() => PartAt { state: NodeState::Queued, ..lost() },
        None => lost(),
    };
    let missing = (0..expected.min(ITEMS)).filter(|index| !arrived.contains(index));
    let missing = missing.map(|index| MissingPart::Item { index, at: at(index) }).collect();
    // Fan-outs that share a counter count each other's items.
    let is_alone = execution.fan_outs.keys().filter(|(at, _)| *at == split).take(2).count() < 2;
    let counted = kept.filter(|_| is_alone && !is_open).and_then(Kept::counted_twice);
    let since = since(execution, join);
    let members = kept.filter(|kept| kept.results.is_none() && !is_open).map_or(0, |kept| kept.members);
    let arrived = (arrived.len() as u32).max(members);
    let stands = Standing { since, arrived, counted, expected, is_open };
    Some(Looked { lineage, stands, missing })
}

/// The aggregator that counts with this one and has opened with what had reached both.
fn gave_way_to(execution: &Execution, node: usize, lineage: &Lineage) -> Option<usize> {
    let join = |other: usize| execution.joins.get(&(other, lineage.clone()));
    let waits = join(node).is_some_and(|join| join.waits);
    let mut others = execution.graph.sharers(node).iter().copied().filter(|&other| other != node && !waits);
    others.find(|&other| join(other).is_some_and(Join::is_open))
}

/// Since when a join waits; where it has said nothing, since when nothing was heard.
fn since(execution: &Execution, join: Option<&Join>) -> Millis {
    join.map(|join| join.since).filter(|since| *since > 0).unwrap_or(execution.heard_at)
}

/// The join was heard of since Redis was asked.
fn is_older(answer: Option<Answer<'_>>, join: Option<&Join>) -> bool {
    answer.zip(join).is_some_and(|(answer, join)| answer.at <= join.heard_at)
}

fn has_begun(execution: &Execution, split: usize, parent: &Lineage, index: u32, total: u32) -> bool {
    let item = parent.push(&execution.graph.nodes[split].id, index, total);
    execution.graph.nodes[split].outgoing.iter().any(|&edge| {
        let first = execution.graph.edges[edge].to;
        execution.tracks.contains_key(&(first, item.clone()))
    })
}

/// The most urgent of what is under way inside each item.
fn inside(execution: &Execution, parent: &Lineage) -> HashMap<u32, PartAt> {
    let depth = parent.steps().len();
    let mut inside: HashMap<u32, PartAt> = HashMap::new();
    let mut note = |lineage: &Lineage, at: PartAt| {
        let Some(step) = lineage.steps().get(depth).filter(|_| lineage.prefix(depth) == *parent) else {
            return;
        };
        let known = inside.entry(step.index).or_insert_with(|| at.clone());
        if urgency(at.state) < urgency(known.state) {
            *known = at;
        }
    };
    for (node, places) in &execution.open {
        places.iter().for_each(|lineage| note(lineage, open_at(execution, *node, lineage)));
    }
    for ((node, lineage), queued) in &execution.queued {
        note(lineage, queued_at(execution, *node, queued.since));
    }
    // A join inside that waits holds its items up.
    for spot in &execution.waiting {
        let node_id = Some(execution.graph.nodes[spot.0].id.clone());
        let since = execution.joins.get(spot).map(|join| join.since);
        note(&spot.1, PartAt { node_id, state: NodeState::WaitingBarrier, since, ..lost() });
    }
    inside
}

fn urgency(state: NodeState) -> u8 {
    match state {
        NodeState::Running => 0,
        NodeState::WaitingTimer => 1,
        NodeState::Queued => 2,
        NodeState::WaitingBarrier => 3,
        NodeState::Idle | NodeState::Success | NodeState::Failed | NodeState::Skipped => 4,
    }
}

fn open_at(execution: &Execution, node: usize, lineage: &Lineage) -> PartAt {
    let open = execution.tracks.get(&(node, lineage.clone())).and_then(|track| track.open);
    let due = open.and_then(|open| open.due);
    PartAt {
        node_id: Some(execution.graph.nodes[node].id.clone()),
        state: if due.is_some() { NodeState::WaitingTimer } else { NodeState::Running },
        retrying: false,
        attempt: open.map_or(1, |open| open.attempt),
        since: open.map(|open| open.began.millis()),
        due,
    }
}

fn queued_at(execution: &Execution, node: usize, since: Millis) -> PartAt {
    let node_id = Some(execution.graph.nodes[node].id.clone());
    PartAt { node_id, state: NodeState::Queued, since: Some(since), ..lost() }
}

fn branches(execution: &Execution, node: usize, lineage: Lineage, answer: Option<Answer<'_>>) -> Looked {
    let graph = &execution.graph;
    let join = execution.joins.get(&(node, lineage.clone()));
    let is_open = join.is_some_and(Join::is_open);
    let incoming = &graph.nodes[node].incoming;
    let sent = join.filter(|join| join.ended > 0 || join.said > 0).into_iter().flat_map(|join| &join.sent);
    let mut arrivals: BTreeSet<usize> = sent.map(|&edge| graph.edges[edge as usize].from).collect();
    let mut arrived = join.map_or(0, |join| join.said);
    if let Some(kept) = answer.map(|answer| answer.kept) {
        let there: BTreeSet<usize> = kept.arrivals.iter().filter_map(|id| graph.node(id)).collect();
        if is_older(answer, join) {
            // What was sent since has arrived, or waits in front of it.
            arrived = arrived.max(there.len() as u32);
            arrivals.extend(there);
        } else {
            (arrived, arrivals) = (there.len() as u32, there);
        }
    }
    let is_used_up = is_used_up(execution, node, &lineage);
    if is_used_up && answer.is_none() {
        // Which of them nobody says.
        let here = incoming.iter().take(arrived as usize);
        arrivals = here.map(|&edge| graph.edges[edge].from).collect();
    }
    if answer.is_none() && join.is_some_and(|join| (join.ended as usize) < join.sent.len()) {
        arrivals = first_of(execution, arrivals, &lineage, arrived as usize);
    }
    let failed = join.map_or(0, |join| join.failed as usize);
    let mut surplus = arrivals.len().saturating_sub(arrived as usize).min(failed);
    // What fails there came behind a wait, which says nothing of where it comes from.
    arrivals.retain(|&parent| {
        let has_failed = surplus > 0 && matches!(graph.nodes[parent].role, Role::Wait);
        surplus -= usize::from(has_failed);
        !has_failed
    });
    // One arrival per parent, however many edges lead from it.
    let mut taken = arrivals.clone();
    let missing = incoming.iter().filter(|&&edge| !taken.remove(&graph.edges[edge].from));
    let missing = missing.map(|&edge| {
        let parent = graph.edges[edge].from;
        let at = match join.filter(|join| join.sent.contains(&(edge as u32))) {
            _ if is_used_up => None,
            Some(join) if is_in_front(join, arrivals.contains(&parent)) => {
                Some(in_front(execution, node, &lineage, join))
            }
            Some(_) => None,
            None => on_the_way(execution, parent, &lineage),
        };
        MissingPart::Branch {
            edge_id: graph.edges[edge].id.clone(),
            parent: graph.nodes[parent].id.clone(),
            at: at.unwrap_or_else(lost),
        }
    });
    let missing: Vec<MissingPart> = missing.collect();
    let since = since(execution, join);
    let expected = join.map(|join| join.expected).filter(|&expected| expected > 0);
    let expected = expected.unwrap_or(incoming.len() as u32);
    Looked { stands: Standing { since, arrived, counted: None, expected, is_open }, missing, lineage }
}

/// Those of which something was said first: what they have sent is here, and what the others have sent waits in front.
fn first_of(
    execution: &Execution,
    parents: BTreeSet<usize>,
    lineage: &Lineage,
    many: usize,
) -> BTreeSet<usize> {
    let said_at = |parent: &usize| Some(execution.tracks.get(&(*parent, lineage.clone()))?.latest());
    let mut parents: Vec<usize> = parents.into_iter().collect();
    parents.sort_by_key(said_at);
    parents.into_iter().take(many).collect()
}

/// Everything has reached a join inside of a fan-out and it waits: another item has opened with what came here, because
/// its keys say nothing of items.
pub fn is_used_up(execution: &Execution, node: usize, lineage: &Lineage) -> bool {
    let spot = (node, lineage.clone());
    let graph = &execution.graph;
    let is_all = |join: &Join| {
        let many = graph.nodes[node].incoming.len();
        join.waits && join.failed == 0 && join.sent.len() == many && join.ended as usize >= many
    };
    let is_moving = execution.queued.contains_key(&spot)
        || execution.tracks.get(&spot).is_some_and(|track| track.open.is_some());
    graph.depth(node) > 0
        && matches!(graph.nodes[node].role, Role::MergeAll)
        && !execution.is_patchy()
        && !is_moving
        && execution.joins.get(&spot).is_some_and(is_all)
}

/// What was sent to a merge waits in front of it as long as less has ended there than was sent. What came from the same
/// node before does not count again; what did not arrive although all has ended has failed there.
fn is_in_front(join: &Join, is_here: bool) -> bool {
    (join.ended as usize) < join.sent.len() || (!is_here && join.failed == 0)
}

fn in_front(execution: &Execution, node: usize, lineage: &Lineage, join: &Join) -> PartAt {
    let spot = (node, lineage.clone());
    let is_open = execution.tracks.get(&spot).is_some_and(|track| track.open.is_some());
    match execution.queued.get(&spot) {
        _ if is_open => open_at(execution, node, lineage),
        Some(queued) => queued_at(execution, node, queued.since),
        // Two were taken up at once, and one of them has ended.
        None if execution.tracks.get(&spot).is_some_and(Track::is_in_hand) => {
            let at = queued_at(execution, node, join.heard_at);
            PartAt { state: NodeState::Running, attempt: 1, ..at }
        }
        None => queued_at(execution, node, join.heard_at),
    }
}

/// What is under way nearest to a node that has not come: itself, or something that leads to it.
fn on_the_way(execution: &Execution, parent: usize, lineage: &Lineage) -> Option<PartAt> {
    let related = |other: &Lineage| {
        let depth = other.steps().len().min(lineage.steps().len());
        other.prefix(depth) == lineage.prefix(depth)
    };
    execution.graph.upstream(parent).into_iter().find_map(|node| {
        let open = execution.open.get(&node).into_iter().flatten().find(|place| related(place));
        let open = open.map(|place| open_at(execution, node, place));
        open.or_else(|| {
            let queued = execution.queued.iter().find(|((at, place), _)| *at == node && related(place));
            queued.map(|(_, queued)| queued_at(execution, node, queued.since))
        })
    })
}

/// Nothing under way can bring it.
fn lost() -> PartAt {
    PartAt { node_id: None, state: NodeState::Idle, retrying: false, attempt: 0, since: None, due: None }
}

fn whereabouts(missing: &[MissingPart]) -> Vec<Whereabouts> {
    let mut found: Vec<Whereabouts> = Vec::new();
    for at in missing.iter().map(MissingPart::at) {
        match found.iter_mut().find(|known| known.node_id == at.node_id && known.state == at.state) {
            Some(known) => {
                known.count += 1;
                known.due = known.due.into_iter().chain(at.due).min();
            }
            None => found.push(Whereabouts {
                node_id: at.node_id.clone(),
                state: at.state,
                retrying: false,
                count: 1,
                due: at.due,
            }),
        }
    }
    found.sort_by_key(|known| std::cmp::Reverse(known.count));
    found
}

/// What all of that comes to.
fn verdict(
    execution: &Execution,
    node: usize,
    places: &[Looked],
    kept: Option<&Kept>,
    silent_before: Option<Millis>,
) -> Option<String> {
    let waits = execution.waiting.iter().filter(|(join, _)| *join == node).count();
    if matches!(execution.graph.nodes[node].role, Role::MergeAny) {
        return verdict_of_race(execution, node, kept);
    }
    let Some(first) = places.first() else {
        let mut known = execution.joins.iter().filter(|((join, _), _)| *join == node);
        if known.clone().any(|(_, join)| join.fired > 0) {
            return Some("It has opened.".to_owned());
        }
        let other = known.find_map(|((_, lineage), _)| gave_way_to(execution, node, lineage))?;
        let other = execution.title_of(other);
        return Some(format!(
            "It does not open: {other} counts with it, and has opened with what came to both."
        ));
    };
    if waits > 1 && matches!(execution.graph.nodes[node].role, Role::Aggregator) {
        return Some(format!(
            "It waits at {waits} keys, and Redis keeps one counter for all of them: they will open with each other's \
             items."
        ));
    }
    let lost = first.missing.iter().filter(|part| part.at().state == NodeState::Idle).count();
    let Standing { arrived, expected, counted, .. } = first.stands;
    if let Some(counted) = counted.filter(|&counted| counted > arrived) {
        return Some(format!(
            "{counted} arrivals were counted and {arrived} of {expected} are different: one came twice."
        ));
    }
    if lost > 0 && !execution.is_patchy() {
        let gone = match (lost, expected.saturating_sub(arrived)) {
            (1, 1) => "the missing one".to_owned(),
            (lost, all) if lost >= all as usize => "any of the others".to_owned(),
            (lost, _) => format!("{lost} of the others"),
        };
        return Some(format!(
            "It can no longer open: {arrived} of {expected} are here, and nothing is under way that could bring {gone}."
        ));
    }
    if first.missing.iter().any(|part| is_unanswered(execution, node, part, silent_before)) {
        return Some(format!(
            "{arrived} of {expected} are here; what came last has reached it, and it has said nothing since: its result may \
             be too large."
        ));
    }
    if waits > 1 {
        return Some(format!(
            "It waits at {waits} keys, and Redis keeps one set for all of them: they will open with each other's \
             branches."
        ));
    }
    if kept.is_none() && waits > 0 {
        return Some(format!(
            "It has said {arrived} of {expected}; Redis was not asked yet, or no longer knows it."
        ));
    }
    if execution.is_patchy() {
        return Some(format!(
            "{arrived} of {expected} are here; not everything was heard, so where the others are is told as far as it was \
             seen."
        ));
    }
    Some(format!("{arrived} of {expected} are here; the others are on their way."))
}

fn verdict_of_race(execution: &Execution, node: usize, kept: Option<&Kept>) -> Option<String> {
    let first = winner(execution, node, kept).map(|winner| execution.title_of(winner));
    let joins = execution.joins.iter().filter(|((join, _), _)| *join == node);
    let (fired, ended) =
        joins.fold((0, 0), |(fired, ended), (_, join)| (fired + join.fired, ended + join.ended));
    match first {
        Some(first) if fired > 0 => Some(format!("It has opened: {first} was first.")),
        None if fired > 0 => {
            Some("It has opened. It is not said who was first: behind a wait nobody is named.".to_owned())
        }
        Some(first) => Some(format!("{first} was first and has its lock; that it has opened was not heard.")),
        None if ended > 0 => {
            Some("Somebody was first and has its lock; that it has opened was not heard.".to_owned())
        }
        None => None,
    }
}
