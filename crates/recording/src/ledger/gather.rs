//! Gatherings: what came of each item of a level, until all have been heard of. An aggregator has one per parent and
//! group, a zip one for each of its sides.

use std::sync::Arc;

use engine::{Context, Gathering, Input, Joined, Slot};
use protocol::{Lineage, Millis};

use super::{
    Ledger, Word,
    joins::{Decision, JoinKey},
};

pub struct Collapse {
    /// What the first of the items that arrived with a value knew, by index.
    pub(super) witness: Option<(u32, Context)>,
    pub(super) slots: Vec<Option<Slot>>,
    pub(super) filled: usize,
    pub(super) due: Option<Millis>,
}

impl Ledger {
    pub(super) fn collapse(
        &mut self,
        edge: usize,
        group: usize,
        edges: &[usize],
        lineage: &Lineage,
        decision: Decision,
    ) {
        let node = self.plan.edges[edge].to;
        let key = JoinKey { node, group, lineage: lineage.parent() };
        if self.joins.closed.contains(&key) {
            self.note_ignored(edge, &key, lineage, &decision);
            return;
        }
        let slots = self.joins.collapses.get(&key).map(|collapse| &collapse.slots);
        let step = lineage.steps().last();
        if step
            .and_then(|step| slots.and_then(|slots| slots.get(step.index as usize)))
            .is_some_and(Option::is_some)
        {
            return;
        }
        let decision = match edges.len() {
            1 => decision,
            _ => match self.settled(edge, edges, lineage, decision) {
                Some(decision) => decision,
                None => return,
            },
        };
        let (slot, witness) = match decision {
            Decision::Value(value) if value.failed => (Slot::Failed(value.result), Some(value.context)),
            Decision::Value(value) => (Slot::Value(value.result), Some(value.context)),
            Decision::Done(_) => (Slot::Skipped, None),
        };
        self.fill(Gathering { node, group }, lineage, slot, witness);
    }

    /// Writes what came of an item, and goes on when it was the last one.
    fn fill(&mut self, gathering: Gathering, item: &Lineage, slot: Slot, witness: Option<Context>) {
        let Some(step) = item.steps().last() else { return };
        let Gathering { node, group } = gathering;
        let key = JoinKey { node, group, lineage: item.parent() };
        let total = step.total as usize;
        let collapse = self.joins.collapses.entry(key.clone()).or_insert_with(|| Collapse {
            witness: None,
            slots: vec![None; total],
            filled: 0,
            due: None,
        });
        let Some(empty) = collapse.slots.get_mut(step.index as usize).filter(|slot| slot.is_none()) else {
            return;
        };
        *empty = Some(slot);
        if let Some(context) = witness
            && collapse.witness.as_ref().is_none_or(|(index, _)| step.index < *index)
        {
            collapse.witness = Some((step.index, context));
        }
        collapse.filled += 1;
        let filled = collapse.filled;
        if self.is_outermost(&key) {
            self.note_arrival(node, &key.lineage, filled, total);
        }
        if filled < total {
            if self.is_outermost(&key) {
                self.arm(&key);
            }
            return;
        }
        let Some(collapse) = self.joins.collapses.remove(&key) else { return };
        self.disarm(&key, collapse.due);
        let slots = collapse.slots.into_iter().map(|slot| slot.unwrap_or(Slot::Skipped)).collect();
        self.gathered(key, slots, collapse.witness.map(|(_, context)| context));
    }

    /// All of one level is there. Pieces are a slot of the level around them; sides wait for each other.
    fn gathered(&mut self, key: JoinKey, slots: Vec<Slot>, witness: Option<Context>) {
        let JoinKey { node, group, ref lineage } = key;
        self.joins.closed.insert(key.clone());
        if !self.is_outermost(&key) {
            return self.fill(Gathering { node, group }, lineage, Slot::Pieces(slots), witness);
        }
        let plan = Arc::clone(&self.plan);
        let joined = match &plan.flow.inputs[node] {
            Input::Sides { groups } => {
                let sides = self.joins.sides.entry((node, lineage.clone()));
                let sides = sides.or_insert_with(|| vec![None; groups.len()]);
                sides[group] = Some(slots);
                if !sides.iter().all(Option::is_some) {
                    return;
                }
                let sides = self.joins.sides.remove(&(node, lineage.clone())).unwrap_or_default();
                Joined::Sides(sides.into_iter().flatten().collect())
            }
            _ => Joined::Collapse(slots),
        };
        let context = self.outside(node, lineage, witness);
        let group = if matches!(joined, Joined::Sides(_)) { 0 } else { group };
        self.fire(node, group, lineage, context, joined);
    }

    /// It stands where its node fires.
    fn is_outermost(&self, key: &JoinKey) -> bool {
        key.lineage.steps().len() <= self.plan.nodes[key.node].fires.len()
    }

    /// What several edges that exclude each other come to for an item, once all have been heard of: the value on one of
    /// them, else the error, else nothing. Where a choice itself has failed, its error takes every way, and joins on
    /// several of them may make a value of it; then the first edge counts, not the first to arrive.
    fn settled(
        &mut self,
        edge: usize,
        edges: &[usize],
        lineage: &Lineage,
        decision: Decision,
    ) -> Option<Decision> {
        let inboxes = self.joins.inboxes.entry(self.plan.edges[edge].to).or_default();
        let inbox = inboxes.entry(lineage.clone()).or_default();
        inbox.decided.entry(edge).or_insert(decision);
        let heard: Option<Vec<&Decision>> = edges.iter().map(|edge| inbox.decided.get(edge)).collect();
        let settled = heard?.into_iter().min_by_key(|decision| match decision {
            Decision::Value(value) if !value.failed => 0,
            Decision::Value(_) => 1,
            Decision::Done(_) => 2,
        });
        let settled = settled.cloned();
        // Other groups of the same aggregator keep what they have heard of the item.
        inbox.decided.retain(|decided, _| !edges.contains(decided));
        if inbox.decided.is_empty() {
            inboxes.remove(lineage);
        }
        settled
    }

    /// An empty array: whoever gathers its items has everything there is.
    pub(super) fn gather_nothing(&mut self, gathering: Gathering, parent: &Lineage) {
        let Gathering { node, group } = gathering;
        let key = JoinKey { node, group, lineage: parent.clone() };
        if !self.joins.closed.contains(&key) {
            self.gathered(key, Vec::new(), None);
        }
    }

    /// A level that is never opened at this key: there is nothing to gather, not even an empty array.
    pub(super) fn gather_none(&mut self, gathering: Gathering, lineage: &Lineage, word: &Word<'_>) {
        let Gathering { node, group } = gathering;
        let key = JoinKey { node, group, lineage: lineage.clone() };
        if self.joins.closed.contains(&key) {
            return;
        }
        self.joins.closed.insert(key.clone());
        if !self.is_outermost(&key) {
            let (slot, witness) = match word {
                Word::Done(_) => (Slot::Skipped, None),
                Word::Failed(value) => (Slot::Failed(value.result.clone()), Some(value.context.clone())),
            };
            return self.fill(gathering, lineage, slot, witness);
        }
        self.close_sides(&key);
        if group == 0 || matches!(self.plan.flow.inputs[node], Input::Sides { .. }) {
            self.skip(node, lineage);
        }
        self.pass_on(node, lineage, word);
    }

    /// Where one side is lost, the others are of no use.
    pub(super) fn close_sides(&mut self, key: &JoinKey) {
        let plan = Arc::clone(&self.plan);
        let Input::Sides { groups } = &plan.flow.inputs[key.node] else { return };
        self.joins.sides.remove(&(key.node, key.lineage.clone()));
        for group in 0..groups.len() {
            let side = JoinKey { group, ..key.clone() };
            let collapse = self.joins.collapses.remove(&side);
            self.disarm(&side, collapse.and_then(|collapse| collapse.due));
            self.joins.closed.insert(side);
        }
    }

    /// What remains behind an aggregator: what was known in front of what it closes, and what a node outside of that has
    /// brought to a merge inside, which every item that passed the merge knows.
    pub(super) fn outside(&self, collapser: usize, parent: &Lineage, witness: Option<Context>) -> Context {
        let plan = &self.plan;
        let outer = &plan.nodes[collapser].fires;
        let groups = match &plan.flow.inputs[collapser] {
            Input::Collapse { groups } | Input::Sides { groups } => groups.as_slice(),
            _ => &[],
        };
        let closed = groups.iter().flatten().filter_map(|edge| plan.edges[*edge].scope.get(outer.len()));
        let in_front = closed.filter_map(|level| self.scopes.get(&(*level, parent.clone())));
        let mut context = in_front.fold(Context::default(), |all, context| all.union(context));
        for (key, payload) in witness.iter().flat_map(Context::iter) {
            let node = key.strip_prefix('$').and_then(|id| plan.node(&id.into()));
            let is_outside = |node: usize| outer.starts_with(&plan.nodes[node].fires);
            if context.get(key).is_none() && node.is_some_and(is_outside) {
                context = context.with(key, payload.clone());
            }
        }
        context
    }
}
