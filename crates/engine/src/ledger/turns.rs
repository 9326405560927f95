//! Nodes that take their items one after the other, in the order of the indexes: what `take` lets pass depends on what
//! came before it, and the pieces of a text are worked on in their order. An item waits here until all before it are
//! done with, however it arrives. Items are counted on from piece to piece, so those behind all pieces of a text have one
//! order.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{Inputs, Joined, Plan, Tally};
use protocol::{Lineage, Payload};

use super::{Ledger, Word, joins::Meeting};

#[derive(Default)]
pub struct Turns(HashMap<TurnKey, Turn>);

/// A node, and the levels that its items have in common.
type TurnKey = (usize, Lineage);

#[derive(Default)]
struct Turn {
    next: u32,
    is_busy: bool,
    tally: Tally,
    /// Items that it has spread so far.
    minted: u32,
    /// How many items there are, once one behind the last piece was heard of.
    total: Option<u32>,
    waiting: BTreeMap<u32, (Lineage, Meeting)>,
}

impl Turns {
    /// One sentence for every node where items wait for one before them.
    pub fn undecided(&self, plan: &Plan) -> Vec<String> {
        let stuck = self.0.iter().filter(|(_, turn)| !turn.is_busy && !turn.waiting.is_empty());
        let say = |((node, parent), turn): (&TurnKey, &Turn)| {
            let (id, at, next) = (&plan.nodes[*node].id, parent.key(), turn.next);
            format!("{id} at [{at}] misses item {next}, for which {} wait", turn.waiting.len())
        };
        stuck.map(say).collect()
    }

    /// Everything that waits for its turn, for whoever compares two ledgers.
    pub fn under_way(&self, plan: &Plan) -> Vec<String> {
        let say = |((node, parent), turn): (&TurnKey, &Turn)| {
            let waiting: Vec<&u32> = turn.waiting.keys().collect();
            let (id, at) = (&plan.nodes[*node].id, parent.key());
            format!("{id} at [{at}] is at {} with {:?}, and {waiting:?} wait", turn.next, turn.tally)
        };
        self.0.iter().map(say).collect()
    }

    /// Where the items of this firing begin, if those of all firings under a parent are counted on.
    pub fn mint(&mut self, plan: &Plan, node: usize, lineage: &Lineage, count: u32) -> u32 {
        let key = turn_key(plan, node, lineage);
        let Some(turn) = key.and_then(|key| self.0.get_mut(&key)) else { return 0 };
        let first = turn.minted;
        turn.minted += count;
        first
    }

    /// The next item whose turn it is, if it is there.
    fn call(&mut self, key: &TurnKey) -> Option<(Lineage, Meeting)> {
        let turn = self.0.get_mut(key).filter(|turn| !turn.is_busy)?;
        let (lineage, mut meeting) = turn.waiting.remove(&turn.next)?;
        match &mut meeting {
            Meeting::Fire(_, joined) => {
                turn.is_busy = true;
                if let Joined::Inputs(inputs) = joined {
                    inputs.tally = turn.tally.clone();
                }
            }
            Meeting::Failed(_) | Meeting::Nothing(_) => turn.next += 1,
        }
        Some((lineage, meeting))
    }
}

/// Where a node counts its items, if it takes them in order.
fn turn_key(plan: &Plan, node: usize, lineage: &Lineage) -> Option<TurnKey> {
    plan.nodes[node].in_order.map(|depth| (node, lineage.prefix(depth)))
}

impl Ledger {
    /// A node has heard enough: it fires, at once or when its turn comes.
    pub(super) fn take_turn(&mut self, node: usize, lineage: &Lineage, meeting: Meeting) {
        let (Some(key), Some(step)) = (turn_key(&self.plan, node, lineage), lineage.steps().last()) else {
            return self.meet(node, lineage, meeting);
        };
        let around = key.1.steps().len()..lineage.steps().len() - 1;
        let is_last = lineage.steps()[around].iter().all(|piece| piece.index + 1 == piece.total);
        let turn = self.turns.0.entry(key.clone()).or_default();
        turn.total = turn.total.or(is_last.then_some(step.total));
        turn.waiting.insert(step.index, (lineage.clone(), meeting));
        self.call_next(&key);
    }

    /// A node that takes turns is done with an item.
    pub(super) fn end_turn(&mut self, node: usize, lineage: &Lineage, output: Option<&Payload>) {
        let Some(key) = turn_key(&self.plan, node, lineage) else { return };
        let Some(turn) = self.turns.0.get_mut(&key) else { return };
        turn.is_busy = false;
        turn.next += 1;
        turn.tally.count(output.map(Payload::value));
        self.call_next(&key);
    }

    fn call_next(&mut self, key: &TurnKey) {
        while let Some((lineage, meeting)) = self.turns.call(key) {
            self.meet(key.0, &lineage, meeting);
        }
        if self.turns.0.get(key).is_some_and(|turn| turn.total.is_some_and(|total| turn.next >= total)) {
            self.turns.0.remove(key);
        }
    }

    fn meet(&mut self, node: usize, lineage: &Lineage, meeting: Meeting) {
        match meeting {
            Meeting::Fire(context, joined) => self.fire(node, 0, lineage, context, joined),
            // The node is passed over: the error is for whoever gathers behind it.
            Meeting::Failed(value) => {
                self.skip(node, lineage);
                self.pass_on(node, lineage, &Word::Failed(&value));
            }
            Meeting::Nothing(context) => {
                self.skip(node, lineage);
                self.pass_on(node, lineage, &Word::Done(&context));
            }
        }
    }

    /// What one edge brings to a node with one input, or none if the node asks for nothing by name.
    pub(super) fn brought(&self, edge: usize, result: &Payload) -> Option<Joined> {
        let handle = self.plan.edges[edge].input.as_ref()?;
        Some(Joined::Inputs(Inputs::new(vec![(Arc::clone(handle), result.clone())])))
    }
}
