//! Joins: what each has heard, and when it has heard enough. A decision is written once; whatever comes later for the
//! same edge and key changes nothing.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use crate::{Context, Input, Inputs, Joined, Plan, PlannedEdge, Target};
use protocol::{Arrival, Ignored, Lineage, MessageId, Payload, WhyIgnored};

use super::{
    Deadline, Ledger, Value, Word,
    gather::{Collapse, Side},
};

#[derive(Default)]
pub struct Joins {
    /// Lists, races and exclusive inputs that have heard of something, by node and key.
    pub(super) inboxes: HashMap<usize, BTreeMap<Lineage, Inbox>>,
    /// Decisions from outer levels, which hold for every key inside.
    pub(super) outer: HashMap<(usize, Lineage), Decision>,
    /// Gatherings that have heard of something.
    pub(super) collapses: HashMap<JoinKey, Collapse>,
    /// Sides that are decided, of a node whose other side is not.
    pub(super) sides: HashMap<(usize, Lineage), Vec<Option<Side>>>,
    /// What has fired or never will: nothing more is heard there.
    pub(super) closed: HashSet<JoinKey>,
    /// Of these, those that gave up waiting.
    pub(super) timed_out: HashSet<JoinKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JoinKey {
    pub node: usize,
    pub group: usize,
    pub lineage: Lineage,
}

#[derive(Clone, Debug)]
pub enum Decision {
    Value(Value),
    /// With what was known when it became clear.
    Done(Context),
}

/// What a node that waits for several edges comes to at a key.
pub enum Meeting {
    Fire(Context, Joined),
    Failed(Value),
    Nothing(Context),
}

impl Decision {
    fn context(&self) -> &Context {
        match self {
            Self::Value(value) => &value.context,
            Self::Done(context) => context,
        }
    }

    fn said(&self) -> String {
        match self {
            Self::Value(value) if value.failed.is_some() => format!("failed {:?}", value.result),
            Self::Value(value) => format!("value {:?}", value.result),
            Self::Done(_) => "done".to_owned(),
        }
    }
}

#[derive(Default)]
pub struct Inbox {
    pub(super) decided: BTreeMap<usize, Decision>,
    pub(super) deadline: Option<Deadline>,
}

impl Joins {
    /// An exclusive input has its value: there is nothing left to hear at this key.
    pub fn note_value(&mut self, node: usize, lineage: &Lineage) {
        if let Some(inboxes) = self.inboxes.get_mut(&node) {
            inboxes.remove(lineage);
        }
        self.closed.insert(JoinKey { node, group: 0, lineage: lineage.clone() });
    }

    /// One sentence for every join that waits.
    pub fn undecided(&self, plan: &Plan) -> Vec<String> {
        let mut sentences = Vec::new();
        for (&node, inboxes) in &self.inboxes {
            let edges = edges_of(plan, node);
            // What an aggregator has heard of is said below.
            if edges.is_empty() {
                continue;
            }
            for (lineage, inbox) in inboxes {
                let missing: Vec<&str> = edges
                    .iter()
                    .filter(|edge| !inbox.decided.contains_key(edge))
                    .map(|&edge| plan.edges[edge].source.id.as_str())
                    .collect();
                sentences.push(format!(
                    "{} at [{}] misses {}",
                    plan.nodes[node].id,
                    lineage.key(),
                    missing.join(", ")
                ));
            }
        }
        for (key, collapse) in &self.collapses {
            let (node, at) = (&plan.nodes[key.node].id, key.lineage.key());
            sentences.push(format!(
                "{node} at [{at}] has {} of {} items",
                collapse.filled,
                collapse.slots.len()
            ));
        }
        sentences.extend(self.half_decided(plan));
        sentences.sort();
        sentences
    }

    /// One sentence for every node of which one side is decided.
    fn half_decided(&self, plan: &Plan) -> impl Iterator<Item = String> {
        self.sides.iter().map(|((node, lineage), sides)| {
            let (id, at) = (&plan.nodes[*node].id, lineage.key());
            let missing = sides.iter().filter(|side| side.is_none()).count();
            format!("{id} at [{at}] misses {missing} of {} sides", sides.len())
        })
    }

    /// Everything that has heard of something and has not heard enough.
    pub fn under_way(&self, plan: &Plan) -> Vec<String> {
        let inboxes = self.inboxes.iter().flat_map(|(&node, inboxes)| {
            inboxes.iter().map(move |(lineage, inbox)| {
                let (id, at) = (&plan.nodes[node].id, lineage.key());
                format!(
                    "{id} at [{at}] until {:?} has heard {:?}",
                    inbox.deadline,
                    said(plan, &inbox.decided)
                )
            })
        });
        let collapses = self.collapses.iter().map(|(key, collapse)| {
            let (id, at) = (&plan.nodes[key.node].id, key.lineage.key());
            let Collapse { slots, deadline, .. } = collapse;
            format!("{id} at [{at}] group {} until {deadline:?} holds {slots:?}", key.group)
        });
        inboxes.chain(collapses).chain(self.half_decided(plan)).collect()
    }

    /// What is kept so that nothing is decided twice.
    pub fn decided(&self, plan: &Plan) -> Vec<String> {
        let closed = self.closed.iter().map(|key| {
            format!("{} at [{}] group {} is closed", plan.nodes[key.node].id, key.lineage.key(), key.group)
        });
        let outer = self.outer.iter().map(|((edge, lineage), decision)| {
            format!("{} at [{}] is {}", plan.edges[*edge].source.id, lineage.key(), decision.said())
        });
        let mut sentences: Vec<String> = closed.chain(outer).collect();
        sentences.sort();
        sentences
    }
}

fn said<'p>(plan: &'p Plan, decided: &BTreeMap<usize, Decision>) -> Vec<(&'p str, String)> {
    let of_edge =
        |(edge, decision): (&usize, &Decision)| (plan.edges[*edge].source.id.as_str(), decision.said());
    decided.iter().map(of_edge).collect()
}

impl Ledger {
    /// Says to everyone in `targets` that nothing comes at this key, or that an error does.
    pub(super) fn tell(&mut self, targets: &[Target], lineage: &Lineage, word: &Word<'_>) {
        for target in targets {
            match *target {
                Target::Inbox(edge) => self.offer(edge, lineage, word.decision()),
                Target::Split(split) => self.pass_on(split, lineage, word),
            }
        }
    }

    /// A split will never run at this key: there is nothing to gather behind it.
    pub(super) fn block(&mut self, split: usize, lineage: &Lineage, word: &Word<'_>) {
        let plan = Arc::clone(&self.plan);
        for &gathering in &plan.flow.collapsers[split] {
            self.gather_none(gathering, lineage, word);
        }
    }

    /// A node does not run at this key, or has failed there: who waits behind it is told.
    pub(super) fn pass_on(&mut self, node: usize, lineage: &Lineage, word: &Word<'_>) {
        let plan = Arc::clone(&self.plan);
        let planned = &plan.nodes[node];
        let is_split = planned.opens();
        if is_split {
            self.block(node, lineage, word);
        }
        // Behind a split there are no keys to tell of, but for its error edge.
        for &edge in planned.leaving.iter().filter(|edge| !is_split || planned.on_error == Some(**edge)) {
            self.tell(&plan.flow.frontiers[edge], lineage, word);
        }
    }

    /// Writes the decision of an edge at a key, unless there is one, and fires what is complete.
    pub(super) fn offer(&mut self, edge: usize, lineage: &Lineage, decision: Decision) {
        let plan = Arc::clone(&self.plan);
        let node = plan.edges[edge].to;
        match &plan.flow.inputs[node] {
            Input::Collapse { groups } | Input::Sides { groups } => {
                let group = groups.iter().position(|edges| edges.contains(&edge)).unwrap_or(0);
                self.collapse(edge, group, &groups[group], lineage, decision);
            }
            Input::List { edges }
            | Input::Race { edges }
            | Input::Exclusive { edges }
            | Input::Join { edges } => {
                if edges.len() == 1 {
                    return self.hear_alone(node, edges, lineage, &decision);
                }
                let depth = plan.nodes[node].scope.len();
                if lineage.steps().len() < depth {
                    self.joins.outer.entry((edge, lineage.clone())).or_insert(decision);
                    for waiting in self.waiting_under(node, lineage) {
                        self.evaluate(node, edges, &waiting);
                    }
                    return;
                }
                let key = JoinKey { node, group: 0, lineage: lineage.clone() };
                if self.joins.closed.contains(&key) {
                    self.note_ignored(edge, &key, lineage, &decision);
                    return;
                }
                let inbox = self.joins.inboxes.entry(node).or_default().entry(lineage.clone()).or_default();
                inbox.decided.entry(edge).or_insert(decision);
                self.evaluate(node, edges, lineage);
            }
            Input::Each => {}
        }
    }

    /// One edge is all there is to wait for, and it is decided once per key: nothing has to be kept but whether there is
    /// anything left to hear at all.
    fn hear_alone(&mut self, node: usize, edges: &[usize], lineage: &Lineage, decision: &Decision) {
        if lineage.is_root() {
            self.joins.closed.insert(JoinKey { node, group: 0, lineage: lineage.clone() });
        }
        let meeting = meet(&self.plan, node, edges, |_| Some(decision));
        self.take_turn(node, lineage, meeting);
    }

    fn waiting_under(&self, node: usize, prefix: &Lineage) -> Vec<Lineage> {
        let Some(inboxes) = self.joins.inboxes.get(&node) else { return Vec::new() };
        let inside = |lineage: &&Lineage| lineage.steps().starts_with(prefix.steps());
        inboxes.range(prefix..).map(|(lineage, _)| lineage).take_while(inside).cloned().collect()
    }

    /// Fires what waits for several edges at a key, if it has heard enough.
    fn evaluate(&mut self, node: usize, edges: &[usize], lineage: &Lineage) {
        let plan = Arc::clone(&self.plan);
        let inboxes = self.joins.inboxes.get(&node);
        let Some(inbox) = inboxes.and_then(|inboxes| inboxes.get(lineage)) else { return };
        let decision = |edge: &usize| {
            let own = inbox.decided.get(edge);
            own.or_else(|| self.joins.outer.get(&(*edge, lineage.prefix(plan.depth_of(*edge)))))
        };
        let lacking: Vec<usize> = edges.iter().copied().filter(|edge| decision(edge).is_none()).collect();
        // A branch that failed wins a race only when no other is left.
        let wins =
            |edge: &usize| matches!(decision(edge), Some(Decision::Value(value)) if value.failed.is_none());
        let has_winner = matches!(plan.flow.inputs[node], Input::Race { .. }) && edges.iter().any(wins);
        let is_full = inboxes.is_some_and(|inboxes| inboxes.len() > plan.nodes[node].most_pending);
        let meeting = match lacking.first() {
            Some(edge) if !has_winner && is_full => {
                Some(overflow(&plan, *edge, known(&plan, edges, decision)))
            }
            Some(_) if !has_winner => None,
            _ => Some(meet(&plan, node, edges, decision)),
        };
        if edges.len() > 1 && !matches!(plan.flow.inputs[node], Input::Exclusive { .. }) {
            self.note_arrival(node, lineage, edges.len() - lacking.len(), edges.len());
        }
        let key = JoinKey { node, group: 0, lineage: lineage.clone() };
        match meeting {
            None => self.arm(&key),
            Some(meeting) => {
                self.close_join(&key);
                self.take_turn(node, lineage, meeting);
            }
        }
    }

    pub(super) fn time_out(&mut self, node: usize, group: usize, lineage: &Lineage) {
        let key = JoinKey { node, group, lineage: lineage.clone() };
        if self.joins.closed.contains(&key) {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let (arrived, expected, context) = match self.joins.collapses.remove(&key) {
            Some(collapse) => {
                self.disarm(&key, collapse.deadline);
                // Items of which it has heard something, but not enough.
                if let Some(inboxes) = self.joins.inboxes.get_mut(&node) {
                    inboxes.retain(|item, _| item.parent() != *lineage);
                }
                let context = self.outside(node, lineage, collapse.witness.map(|(_, context)| context));
                (collapse.filled, collapse.slots.len(), context)
            }
            None => {
                let inbox = self.joins.inboxes.get_mut(&node).and_then(|inboxes| inboxes.remove(lineage));
                let inbox = inbox.unwrap_or_default();
                self.disarm(&key, inbox.deadline);
                let edges = edges_of(&plan, node);
                let outer =
                    |edge: &usize| self.joins.outer.get(&(*edge, lineage.prefix(plan.depth_of(*edge))));
                let heard = |edge: &usize| inbox.decided.get(edge).or_else(|| outer(edge));
                let known: Vec<&Decision> = edges.iter().filter_map(heard).collect();
                (known.len(), edges.len(), union(known.iter().map(|decision| decision.context())))
            }
        };
        self.joins.timed_out.insert(key.clone());
        self.close_sides(&key);
        self.joins.closed.insert(key);
        self.fire(node, group, lineage, context, Joined::TimedOut { arrived, expected });
    }

    pub(super) fn fire(
        &mut self,
        node: usize,
        group: usize,
        lineage: &Lineage,
        context: Context,
        joined: Joined,
    ) {
        let id =
            MessageId::fire(&self.execution_id, &self.plan.nodes[node].id, group, lineage.key().as_str());
        self.open(id, node, lineage.clone(), context, Some(joined));
    }

    fn close_join(&mut self, key: &JoinKey) {
        let inboxes = self.joins.inboxes.get_mut(&key.node);
        if let Some(inbox) = inboxes.and_then(|inboxes| inboxes.remove(&key.lineage)) {
            self.disarm(key, inbox.deadline);
        }
        self.joins.closed.insert(key.clone());
    }

    /// A value that nobody wants any more is said, so that people see where it went.
    pub(super) fn note_ignored(
        &mut self,
        edge: usize,
        key: &JoinKey,
        lineage: &Lineage,
        decision: &Decision,
    ) {
        let why = match (decision, self.joins.timed_out.contains(key)) {
            (Decision::Done(_), _) => return,
            (Decision::Value(_), true) => WhyIgnored::Late,
            (Decision::Value(_), false) => WhyIgnored::LostRace,
        };
        let edge_id = self.plan.edges[edge].source.id.clone();
        self.echo.ignored.push(Ignored { edge_id, lineage: lineage.clone(), why });
    }

    pub(super) fn note_arrival(&mut self, node: usize, lineage: &Lineage, arrived: usize, expected: usize) {
        let (arrived, expected) = (arrived as u32, expected as u32);
        let node_id = self.plan.nodes[node].id.clone();
        self.echo.arrivals.push(Arrival { node_id, lineage: lineage.clone(), arrived, expected });
    }
}

/// What everybody who has said something knows together. What comes from an outer level does not hide the item this is
/// about, nor does a branch on which nothing came hide what the others bring. What such a branch knew is known all the
/// same: the item, above all.
fn known<'d>(plan: &Plan, edges: &[usize], decision: impl Fn(&usize) -> Option<&'d Decision>) -> Context {
    let mut decisions: Vec<(usize, &Decision)> =
        edges.iter().filter_map(|edge| Some((plan.depth_of(*edge), decision(edge)?))).collect();
    decisions.sort_by_key(|(depth, decision)| (*depth, matches!(decision, Decision::Value(_))));
    union(decisions.iter().map(|(_, decision)| decision.context()))
}

/// What a node comes to at a key, once it has heard enough.
fn meet<'d>(
    plan: &Plan,
    node: usize,
    edges: &[usize],
    decision: impl Fn(&usize) -> Option<&'d Decision> + Copy,
) -> Meeting {
    let known = known(plan, edges, decision);
    if matches!(plan.flow.inputs[node], Input::Join { .. }) {
        return meet_handles(plan, node, known, decision);
    }
    let mut values: Vec<&Value> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for edge in edges {
        match decision(edge) {
            Some(Decision::Value(value)) => values.push(value),
            Some(Decision::Done(_)) => missing.push(plan.nodes[plan.edges[*edge].from].id.to_string()),
            None => {}
        }
    }
    let Some(&first) = values.first() else { return Meeting::Nothing(known) };
    if is_passed_over(plan, node, first) {
        return Meeting::Failed(first.clone());
    }
    match &plan.flow.inputs[node] {
        Input::Race { .. } => {
            let winner = values.iter().find(|value| value.failed.is_none()).copied().unwrap_or(first);
            Meeting::Fire(winner.context.clone(), Joined::Winner(winner.result.clone()))
        }
        _ => {
            let values = values.iter().map(|value| value.result.clone()).collect();
            Meeting::Fire(known, Joined::List { values, missing })
        }
    }
}

/// What the handles of a node come to, once all are decided: what they bring; or an error that one of them brings, which
/// is for whoever gathers behind the node; or nothing, where one that is needed brings nothing.
fn meet_handles<'d>(
    plan: &Plan,
    node: usize,
    known: Context,
    decision: impl Fn(&usize) -> Option<&'d Decision>,
) -> Meeting {
    let mut inputs = Inputs::default();
    let mut is_blocked = false;
    for input in &plan.nodes[node].inputs {
        let mut values = Vec::with_capacity(input.edges.len());
        for decided in input.edges.iter().filter_map(&decision) {
            match decided {
                Decision::Value(value) if value.failed.is_some() => return Meeting::Failed(value.clone()),
                Decision::Value(value) => values.push(value.result.clone()),
                Decision::Done(_) => {}
            }
        }
        let brought = match input.list && input.edges.len() > 1 {
            true => Some(values).filter(|values| !values.is_empty()).map(|values| list(&values)),
            false => values.into_iter().next(),
        };
        is_blocked |= brought.is_none() && input.required;
        let value = brought.or_else(|| input.default.clone());
        inputs.values.extend(value.map(|value| (Arc::clone(&input.name), value)));
    }
    match is_blocked {
        true => Meeting::Nothing(known),
        false => Meeting::Fire(known, Joined::Inputs(inputs)),
    }
}

/// Too many keys wait for the same edge: the node fails, and says so.
fn overflow(plan: &Plan, edge: usize, known: Context) -> Meeting {
    let PlannedEdge { to, input, source, .. } = &plan.edges[edge];
    let input = input.clone().unwrap_or_else(|| source.id.as_str().into());
    Meeting::Fire(known, Joined::Overflow { input, most: plan.nodes[*to].most_pending })
}

fn list(values: &[Payload]) -> Payload {
    Payload::new(values.iter().map(|value| value.value().clone()).collect())
}

fn union<'c>(contexts: impl Iterator<Item = &'c Context>) -> Context {
    contexts.cloned().reduce(|all, context| all.union(&context)).unwrap_or_default()
}

/// Whether what a node has heard is an error for whoever waits behind it. Nothing else is offered to an exclusive input.
/// And nothing runs on a side of a choice that was never made, lest something runs on two of them.
fn is_passed_over(plan: &Plan, node: usize, first: &Value) -> bool {
    match &plan.flow.inputs[node] {
        Input::Exclusive { .. } => true,
        Input::Each
        | Input::List { .. }
        | Input::Race { .. }
        | Input::Join { .. }
        | Input::Collapse { .. }
        | Input::Sides { .. } => first.failed.is_some_and(|origin| plan.flow.is_unchosen(node, origin)),
    }
}

fn edges_of(plan: &Plan, node: usize) -> &[usize] {
    match &plan.flow.inputs[node] {
        Input::List { edges }
        | Input::Race { edges }
        | Input::Exclusive { edges }
        | Input::Join { edges } => edges,
        Input::Each | Input::Collapse { .. } | Input::Sides { .. } => &[],
    }
}
