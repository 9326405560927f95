//! Items of a split that nobody has asked for yet. They become messages one by one, so that a million items do not
//! need a million messages in memory.

use std::{collections::VecDeque, sync::Arc};

use engine::{Context, Input, Message, Plan};
use protocol::{Event, Lineage, MessageId, Payload};
use serde_json::{json, value::RawValue};

use super::{Ledger, LedgerError, Value, Word};

#[derive(Default)]
pub struct FanOuts {
    waiting: VecDeque<FanOut>,
    /// Messages that are still to be made.
    remaining: usize,
}

struct FanOut {
    split: usize,
    parent: Lineage,
    message: MessageId,
    /// The edges whose nodes fire once per item.
    edges: Vec<usize>,
    context: Context,
    items: Arc<[Payload]>,
    next: u32,
}

/// One item on its way.
pub struct Item {
    lineage: Lineage,
    context: Context,
    /// Edge and id of each message.
    messages: Vec<(usize, MessageId)>,
}

impl FanOuts {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// The next item of the oldest fan-out.
    pub fn next(&mut self, plan: &Plan) -> Option<Item> {
        let fan_out = self.waiting.front_mut()?;
        let item = fan_out.take(plan);
        self.remaining -= fan_out.edges.len();
        if fan_out.is_exhausted() {
            self.waiting.pop_front();
        }
        Some(item)
    }

    /// Every item up to the one that `lineage` names.
    pub fn up_to(&mut self, plan: &Plan, lineage: &Lineage) -> Vec<Item> {
        let Some(step) = lineage.steps().last() else { return Vec::new() };
        let parent = lineage.parent();
        let mut items = Vec::new();
        for fan_out in &mut self.waiting {
            if plan.nodes[fan_out.split].id == step.split && fan_out.parent == parent {
                while fan_out.next <= step.index && !fan_out.is_exhausted() {
                    items.push(fan_out.take(plan));
                    self.remaining -= fan_out.edges.len();
                }
            }
        }
        self.waiting.retain(|fan_out| !fan_out.is_exhausted());
        items
    }
}

impl FanOut {
    fn is_exhausted(&self) -> bool {
        self.next as usize >= self.items.len()
    }

    fn take(&mut self, plan: &Plan) -> Item {
        let index = self.next;
        self.next += 1;
        let total = self.items.len() as u32;
        let id = |&edge: &usize| (edge, self.message.child(&plan.edges[edge].source.id, index));
        Item {
            lineage: self.parent.push(&plan.nodes[self.split].id, index, total),
            context: with_item(&self.context, &self.items[index as usize], index),
            messages: self.edges.iter().map(id).collect(),
        }
    }
}

fn with_item(context: &Context, item: &Payload, index: u32) -> Context {
    context.with("$item", item.clone()).with("$index", Payload::new(json!(index)))
}

impl Ledger {
    /// A split has fired: its register is written, its items are on their way, and who gathers them is told where
    /// there is nothing to gather.
    pub(super) fn fan_out(
        &mut self,
        event: &Event,
        message: &Message,
        context: Context,
        items: &Payload,
        taken: &[usize],
    ) -> Result<(), LedgerError> {
        let parsed: Result<Vec<Box<RawValue>>, _> = serde_json::from_str(items.text());
        let parsed =
            parsed.map_err(|error| self.refuse(event, format!("the items are not an array: {error}")))?;
        let items: Arc<[Payload]> = parsed.into_iter().map(Payload::from_raw).collect();
        let plan = Arc::clone(&self.plan);
        let split = message.node;
        let total = items.len() as u32;
        self.scopes.insert((split, message.lineage.clone()), context.clone());
        if let Some(edge) = plan.nodes[split].on_error {
            self.tell(&plan.flow.frontiers[edge], &message.lineage, &Word::Done(&context));
        }
        if total == 0 {
            for &collapser in &plan.flow.collapsers[split] {
                self.collapse_nothing(collapser, &message.lineage);
            }
            return Ok(());
        }
        let fires = |edge: &&usize| matches!(plan.flow.inputs[plan.edges[**edge].to], Input::Each);
        let (lazy, eager): (Vec<usize>, Vec<usize>) = taken.iter().partition(fires);
        // Inboxes hear of all items at once: what they decide must not depend on when an item is asked for.
        let is_inside = |edge: &usize| !taken.contains(edge) && plan.nodes[split].on_error != Some(*edge);
        let untaken: Vec<usize> = plan.nodes[split].leaving.iter().copied().filter(is_inside).collect();
        for (item, index) in items.iter().zip(0..).filter(|_| !eager.is_empty() || !untaken.is_empty()) {
            let lineage = message.lineage.push(&plan.nodes[split].id, index, total);
            for &edge in &eager {
                let context = with_item(&context, item, index);
                let value = Value { context, result: item.clone(), failed: false };
                self.send(edge, &lineage, message.id.child(&plan.edges[edge].source.id, index), &value);
            }
            for &edge in &untaken {
                self.tell(&plan.flow.frontiers[edge], &lineage, &Word::Done(&context));
            }
        }
        if !lazy.is_empty() {
            let (parent, message) = (message.lineage.clone(), message.id.clone());
            self.fan_outs.remaining += items.len() * lazy.len();
            self.fan_outs.waiting.push_back(FanOut {
                split,
                parent,
                message,
                edges: lazy,
                context,
                items,
                next: 0,
            });
        }
        Ok(())
    }

    pub(super) fn open_item(&mut self, item: Item) {
        for (edge, id) in item.messages {
            let node = self.plan.edges[edge].to;
            self.open(id, node, item.lineage.clone(), item.context.clone(), None);
        }
    }
}
