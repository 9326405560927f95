//! Gatherings: what came of each item of a level, until all have been heard of. An aggregator has one per parent and
//! group, a zip one for each of its sides.

use std::sync::Arc;

use crate::{Context, Gathering, Input, Joined, Slot};
use protocol::Lineage;

use super::{
    Deadline, Ledger, Word,
    joins::{Decision, JoinKey},
};

pub struct Collapse {
    /// What the first of the items that arrived with a value knew, by index.
    pub(super) witness: Option<(u32, Context)>,
    pub(super) slots: Vec<Option<Slot>>,
    pub(super) filled: usize,
    pub(super) deadline: Option<Deadline>,
}

impl Collapse {
    fn counted(&self) -> (usize, usize) {
        (self.filled, self.slots.len())
    }
}

/// What one side of a zip or a cross has come to at a parent.
pub enum Side {
    /// All of its items, and what the first of them knew.
    Items(Vec<Slot>, Option<Context>),
    /// It was never opened: nothing comes, or an error does.
    Lost(Decision),
}

impl Side {
    fn count(&self) -> usize {
        match self {
            Self::Items(slots, _) => slots.len(),
            Self::Lost(_) => 0,
        }
    }
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
        if step.and_then(|step| slots.and_then(|slots| slots.get(step.place()))).is_some_and(Option::is_some)
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
            Decision::Value(value) if value.failed.is_some() => {
                (Slot::Failed(value.result), Some(value.context))
            }
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
        let total = step.count();
        let collapse = self.joins.collapses.entry(key.clone()).or_insert_with(|| Collapse {
            witness: None,
            slots: vec![None; total],
            filled: 0,
            deadline: None,
        });
        let Some(empty) = collapse.slots.get_mut(step.place()).filter(|slot| slot.is_none()) else {
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
            let (arrived, expected) = self.counted(&key);
            self.note_arrival(node, &key.lineage, arrived, expected);
        }
        if filled < total {
            if self.is_outermost(&key) {
                self.arm(&key);
            }
            return;
        }
        let Some(collapse) = self.joins.collapses.remove(&key) else { return };
        self.disarm(&key, collapse.deadline);
        let slots = collapse.slots.into_iter().map(|slot| slot.unwrap_or(Slot::Skipped)).collect();
        self.gathered(key, slots, collapse.witness.map(|(_, context)| context));
    }

    /// How many items are there, of how many; of a zip on both sides, as far as it has heard of them.
    fn counted(&self, key: &JoinKey) -> (usize, usize) {
        let Input::Sides { groups } = &self.plan.flow.inputs[key.node] else {
            return self.joins.collapses.get(key).map_or((0, 0), Collapse::counted);
        };
        let complete = self.joins.sides.get(&(key.node, key.lineage.clone()));
        let of_side = |group: usize| {
            let gathering = self.joins.collapses.get(&JoinKey { group, ..key.clone() });
            let slots = complete.and_then(|sides| sides[group].as_ref()).map_or(0, Side::count);
            gathering.map_or((slots, slots), Collapse::counted)
        };
        let sides = (0..groups.len()).map(of_side);
        sides.fold((0, 0), |(arrived, expected), (more, of)| (arrived + more, expected + of))
    }

    /// All of one level is there. Pieces are a slot of the level around them; sides wait for each other.
    fn gathered(&mut self, key: JoinKey, slots: Vec<Slot>, witness: Option<Context>) {
        let JoinKey { node, group, ref lineage } = key;
        self.joins.closed.insert(key.clone());
        if !self.is_outermost(&key) {
            return self.fill(Gathering { node, group }, lineage, Slot::Pieces(slots), witness);
        }
        if matches!(self.plan.flow.inputs[node], Input::Sides { .. }) {
            return self.settle_side(&key, Side::Items(slots, witness));
        }
        let context = self.outside(node, lineage, witness);
        self.fire(node, group, lineage, context, Joined::Collapse(slots));
    }

    /// One side is decided. The node fires once both are, or is passed over where one is lost: which of them was first
    /// must not be seen, so an error counts before nothing, and the left side before the right.
    fn settle_side(&mut self, key: &JoinKey, side: Side) {
        let plan = Arc::clone(&self.plan);
        let Input::Sides { groups } = &plan.flow.inputs[key.node] else { return };
        let place = (key.node, key.lineage.clone());
        let sides = self.joins.sides.entry(place.clone());
        let sides = sides.or_insert_with(|| groups.iter().map(|_| None).collect());
        sides[key.group] = Some(side);
        if !sides.iter().all(Option::is_some) {
            return;
        }
        let sides = self.joins.sides.remove(&place).unwrap_or_default();
        let (mut items, mut lost) = (Vec::new(), Vec::new());
        let mut known = Context::default();
        for side in sides.into_iter().flatten() {
            match side {
                Side::Items(slots, witness) => {
                    items.push(slots);
                    known = witness.map_or(known.clone(), |witness| known.union(&witness));
                }
                Side::Lost(decision) => lost.push(decision),
            }
        }
        lost.sort_by_key(|decision| matches!(decision, Decision::Done(_)));
        let (node, lineage) = (key.node, &key.lineage);
        let word = match lost.first() {
            None => {
                let context = self.outside(node, lineage, Some(known));
                return self.fire(node, 0, lineage, context, Joined::Sides(items));
            }
            Some(Decision::Value(value)) => Word::Failed(value),
            Some(Decision::Done(context)) => Word::Done(context),
        };
        self.skip(node, lineage);
        self.pass_on(node, lineage, &word);
    }

    /// It stands where its node fires.
    fn is_outermost(&self, key: &JoinKey) -> bool {
        key.lineage.steps().len() <= self.plan.nodes[key.node].fires.len()
    }

    /// What several edges that exclude each other come to for an item: what the one brings that brings something, a
    /// value or the error that stands for it; nothing once no edge is left that could.
    fn settled(
        &mut self,
        edge: usize,
        edges: &[usize],
        lineage: &Lineage,
        decision: Decision,
    ) -> Option<Decision> {
        let inboxes = self.joins.inboxes.entry(self.plan.edges[edge].to).or_default();
        let inbox = inboxes.entry(lineage.clone()).or_default();
        if let Decision::Done(_) = &decision {
            inbox.decided.entry(edge).or_insert_with(|| decision.clone());
            if edges.iter().any(|edge| !inbox.decided.contains_key(edge)) {
                return None;
            }
        }
        // Other groups of the same aggregator keep what they have heard of the item.
        inbox.decided.retain(|decided, _| !edges.contains(decided));
        if inbox.decided.is_empty() {
            inboxes.remove(lineage);
        }
        Some(decision)
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
        if matches!(self.plan.flow.inputs[node], Input::Sides { .. }) {
            return self.settle_side(&key, Side::Lost(word.decision()));
        }
        if group == 0 {
            self.skip(node, lineage);
        }
        self.pass_on(node, lineage, word);
    }

    /// Where the time of one side is up, the others are of no use.
    pub(super) fn close_sides(&mut self, key: &JoinKey) {
        let plan = Arc::clone(&self.plan);
        let Input::Sides { groups } = &plan.flow.inputs[key.node] else { return };
        self.joins.sides.remove(&(key.node, key.lineage.clone()));
        for group in 0..groups.len() {
            let side = JoinKey { group, ..key.clone() };
            let collapse = self.joins.collapses.remove(&side);
            self.disarm(&side, collapse.and_then(|collapse| collapse.deadline));
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
