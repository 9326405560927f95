//! Executions that say nothing: a join of theirs waits since before we came, and only its keys in Redis tell of it. Keys
//! name nodes and no workflow. Where only one known workflow has such a join, the execution is taken for one of it;
//! else nothing is drawn but the join and what has reached it. Once a message tells more, it is told anew.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use protocol::{Event, ExecutionId, Lineage, Millis, WorkflowId};
use serde_json::{Value, json};

use crate::ObserverError;

use super::{
    Rune,
    begin::{Beginning, Start},
    definitions::Definition,
    execution::{Execution, Guess},
    graph::{Graph, Role},
    look::{Asked, Asking, Kept, Wanted},
    wire::{Nanos, Work},
};

/// Executions that are looked at in one look, and joins of each.
const LOOKED_AT: usize = 5;
const JOINS: usize = 4;
/// Who is under way is heard of soon: an execution is taken up when its joins have been as they are for so long.
const PATIENCE: Millis = 5_000;
/// Executions of which only Redis tells. Joins that never open stay there for ever, so there may be any number.
const LISTED: usize = 200;

/// An execution, told by its joins.
pub struct Late {
    pub execution: String,
    pub joins: Vec<(Wanted, Kept)>,
}

/// Executions in Redis that nobody has heard of.
#[derive(Default)]
pub struct Strangers {
    turn: usize,
    waiting: u64,
    /// Those that were looked at, since when, and how they were.
    seen: BTreeMap<String, (Millis, Vec<(Wanted, Kept)>)>,
}

impl Strangers {
    /// How many there are.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Looks at a few of them. Those that have not changed for a while are returned, as many as there is room for.
    pub(super) async fn look(
        &mut self,
        asking: &mut Asking<'_>,
        now: Millis,
        found: impl Iterator<Item = &Wanted>,
        room: usize,
    ) -> Result<Vec<Late>, ObserverError> {
        let mut by_execution: BTreeMap<&str, Vec<&Wanted>> = BTreeMap::new();
        for join in found {
            by_execution.entry(join.execution()).or_default().push(join);
        }
        self.waiting = by_execution.len() as u64;
        self.seen.retain(|id, _| by_execution.contains_key(id.as_str()));
        let mut late = Vec::new();
        if room == 0 || by_execution.is_empty() {
            return Ok(late);
        }
        let many = by_execution.len();
        let in_turn = by_execution.iter().cycle().skip(self.turn % many).take(many.min(LOOKED_AT));
        for (id, joins) in in_turn {
            let Some(joins) = unopened(asking, joins).await? else { break };
            self.turn = self.turn.wrapping_add(1);
            match self.seen.get(*id).filter(|(_, before)| *before == joins) {
                Some((since, _)) if now - since >= PATIENCE && late.len() < room => {
                    self.seen.remove(*id);
                    late.push(Late { execution: (*id).to_owned(), joins });
                }
                Some(_) => {}
                None if joins.is_empty() => drop(self.seen.remove(*id)),
                None => drop(self.seen.insert((*id).to_owned(), (now, joins))),
            }
        }
        Ok(late)
    }
}

/// `None` where there is no more room to ask.
async fn unopened(
    asking: &mut Asking<'_>,
    joins: &[&Wanted],
) -> Result<Option<Vec<(Wanted, Kept)>>, ObserverError> {
    let mut found = Vec::new();
    for join in joins.iter().take(JOINS) {
        match join.ask(asking).await? {
            Asked::Kept(kept) if standing(&kept).is_some() => found.push(((*join).clone(), kept)),
            Asked::Kept(_) | Asked::Refused => {}
            Asked::NoRoom => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// How many have arrived, and of how many where that is known. `None` for what is left of a join that is over, and for
/// how many a split has sent on where none has arrived: nothing may gather them.
fn standing(kept: &Kept) -> Option<(u32, Option<u32>)> {
    let has_arrived = kept.count.is_some() || kept.members > 0;
    match (kept.expected.filter(|_| has_arrived), kept.arrivals.len() as u32) {
        (Some(expected), _) => Some((kept.members, Some(expected))),
        (None, 0) => None,
        (None, arrived) => Some((arrived, None)),
    }
}

impl Rune {
    /// How many more executions may be taken up of which only Redis tells.
    pub(super) fn room_for_late(&self) -> usize {
        let listed = self
            .executions
            .values()
            .filter(|execution| execution.guess.is_some_and(Guess::is_late) && !execution.ended)
            .count();
        LISTED.saturating_sub(listed)
    }

    pub(super) fn begin_late(&mut self, late: &Late, now: Millis) -> Vec<Event> {
        let meant = self.definitions.only(|definition| has_joins(&definition.graph, late));
        let (guess, workflow_id, definition) = match meant {
            Some((workflow_id, definition)) => (Guess::Workflow, workflow_id, definition),
            None => {
                let Some(outline) = Definition::read(&outline(late).to_string()) else { return Vec::new() };
                (Guess::Outline, WorkflowId::from(late.execution.as_str()), Arc::new(outline))
            }
        };
        let cluster = self.cluster.clone();
        let beginning = Beginning { definition, cluster, joined_late: true, passes_trigger: false };
        let start = Start { node: None, frames: &[], context: None };
        let id = ExecutionId::from(late.execution.as_str());
        let mut execution = Execution::begin(beginning, id, workflow_id, &start, now);
        execution.guess = Some(guess);
        execution.wait_since_before(late, now);
        self.keep(execution, now)
    }

    /// A definition that was not known may tell what an execution is made of.
    pub(super) fn compare_late(&mut self, now: Millis) -> Vec<Event> {
        let changes = self.definitions.changes();
        if self.compared == changes {
            return Vec::new();
        }
        let is_outline = |execution: &&Execution| execution.guess == Some(Guess::Outline) && !execution.ended;
        let outlines: Vec<ExecutionId> =
            self.executions.values().filter(is_outline).map(|execution| execution.id.clone()).collect();
        let mut events = Vec::new();
        self.compared = changes;
        for id in outlines {
            let late = self.redis.unopened_of(id.as_str());
            if late.joins.is_empty() {
                // It was taken up a moment ago, and its joins were not looked into since.
                self.compared = 0;
                continue;
            }
            let is_meant = |definition: &Definition| has_joins(&definition.graph, &late);
            if self.definitions.only(is_meant).is_some() {
                self.remove(&id);
                events.extend(self.begin_late(&late, now));
            }
        }
        events
    }

    /// A message tells what an execution is made of, and what is secret: where that was guessed, and wrong, it begins
    /// anew, and what was told before is forgotten by everybody. True where it does.
    pub(super) fn drop_guess(&mut self, id: &ExecutionId, work: &Work<'_>) -> bool {
        let Some(execution) = self.executions.get_mut(id).filter(|execution| execution.guess.is_some())
        else {
            return false;
        };
        let workflow = WorkflowId::from(work.workflow_id.as_str());
        let told = work.workflow_definition.and_then(|raw| self.definitions.read(&workflow, raw.get()));
        let Some(told) = told else { return false };
        // What only Redis told of, and was given up, is told anew; what was heard of is not.
        let goes_on = !execution.ended || execution.guess == Some(Guess::Adopted);
        // Each execution may have credentials of its own: what was told of it before may hold them.
        if told.hash == execution.definition_hash && goes_on && execution.secrets.has_all(&told.secrets) {
            execution.guess = None;
            return false;
        }
        self.remove(id);
        true
    }

    /// Nothing is kept of a join any more. Of an execution that is only known by it nothing is left to follow.
    pub(super) fn leave_late(&mut self, join: &Wanted, now: Millis) -> Vec<Event> {
        let Some(execution) = self.executions.get_mut(join.execution()) else { return Vec::new() };
        let mut nodes = 0..execution.graph.nodes.len();
        let is_guessed = execution.guess.is_some_and(Guess::is_late);
        let Some(node) = nodes.find(|&node| is_guessed && execution.wanted(node).as_ref() == Some(join))
        else {
            return Vec::new();
        };
        execution.waiting.remove(&(node, Lineage::default()));
        if execution.waiting.is_empty() {
            let message = "what its join waited with is gone from Redis; what came of it is not known";
            execution.give_up(now, message);
        }
        execution.take_events()
    }

    fn remove(&mut self, id: &ExecutionId) {
        if let Some(gone) = self.executions.remove(id) {
            self.places -= gone.size();
        }
    }
}

impl Execution {
    /// Its joins wait as they stand in Redis.
    fn wait_since_before(&mut self, late: &Late, now: Millis) {
        let at = Nanos::read(None, now);
        for node in 0..self.graph.nodes.len() {
            let wanted = self.wanted(node);
            let Some((_, kept)) = late.joins.iter().find(|(join, _)| Some(join) == wanted.as_ref()) else {
                continue;
            };
            let Some((arrived, expected)) = standing(kept) else { continue };
            let expected = expected.unwrap_or(self.graph.nodes[node].incoming.len() as u32);
            let spot = (node, Lineage::default());
            let join = self.joins.entry(spot.clone()).or_default();
            join.reached.extend(kept.results.iter().flatten());
            join.reach(None, (arrived, expected), at);
            self.note_join(&spot);
            self.gathered(node, &spot.1, arrived, expected, at);
        }
    }
}

/// Whether a workflow has these joins, outside of every other fan-out, where there is only one key.
fn has_joins(graph: &Graph, late: &Late) -> bool {
    late.joins.iter().all(|(join, kept)| match join {
        Wanted::Items { split, .. } => graph.node(split).is_some_and(|split| {
            let gathers = |node: usize| {
                let scope = graph.nodes[node].scope.as_ref();
                matches!(graph.nodes[node].role, Role::Aggregator)
                    && scope.is_some_and(|scope| *scope == [split])
            };
            (0..graph.nodes.len()).any(gathers)
        }),
        Wanted::Branches { merge, .. } => graph.node(merge).is_some_and(|merge| {
            let incoming = graph.nodes[merge].incoming.iter();
            let parents: BTreeSet<&str> =
                incoming.map(|&edge| graph.nodes[graph.edges[edge].from].id.as_str()).collect();
            matches!(graph.nodes[merge].role, Role::MergeAll)
                && graph.depth(merge) == 0
                && kept.arrivals.iter().all(|parent| parents.contains(parent.as_str()))
        }),
    })
}

/// A workflow of nothing but joins, what has reached them, and what has not, of which nothing is known.
fn outline(late: &Late) -> Value {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    let mut node = |id: &str, name: &str, kind: &str| {
        if names.insert(id.to_owned()) {
            nodes.push(json!({"id": id, "name": name, "type": kind}));
        }
    };
    let mut edge = |from: &str, to: &str| {
        edges.push(json!({"id": format!("{from} to {to}"), "src": from, "dst": to}));
    };
    for (join, kept) in &late.joins {
        match join {
            Wanted::Items { split, .. } => {
                let (inside, gathers) = (format!("{split}-inside"), format!("{split}-gathered"));
                node(split, split, "split");
                node(&inside, &format!("what is inside of {split}"), "unknown");
                node(&gathers, &format!("what gathers {split}"), "aggregator");
                edge(split, &inside);
                edge(&inside, &gathers);
            }
            Wanted::Branches { merge, .. } => {
                let unknown = format!("{merge}-unknown");
                node(merge, merge, "merge");
                node(&unknown, &format!("somewhere else in front of {merge}"), "unknown");
                for parent in &kept.arrivals {
                    node(parent, parent, "unknown");
                    edge(parent, merge);
                }
                edge(&unknown, merge);
            }
        }
    }
    json!({"name": "A workflow that no message has told", "nodes": nodes, "edges": edges})
}
