//! Items of a split that nobody has asked for yet. They become messages one by one, so that a million items do not
//! need a million messages in memory; a split that says so (`max_in_flight`) has no more than that many under way.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use crate::{Context, Input, Message, Plan};
use protocol::{Event, Lineage, MessageId, Payload, Step};
use serde_json::{json, value::RawValue};

use super::{Ledger, LedgerError, Value, Word};

#[derive(Default)]
pub struct FanOuts {
    /// By age.
    waiting: BTreeMap<u64, FanOut>,
    by_key: HashMap<FanOutKey, u64>,
    /// Those whose next item may be asked for.
    open: BTreeSet<u64>,
    /// Messages that may be asked for.
    remaining: usize,
    born: u64,
    /// Messages and fan-outs under way inside each item of a split with a window, by the item's lineage.
    under_way: HashMap<Lineage, u32>,
}

/// A split and where it fired.
type FanOutKey = (usize, Lineage);

struct FanOut {
    split: usize,
    parent: Lineage,
    message: MessageId,
    /// The edges whose nodes fire once per item.
    edges: Vec<usize>,
    context: Context,
    /// Those that are there, with their places.
    items: Arc<[(u32, Payload)]>,
    /// Of how many, and where they begin.
    total: u32,
    first: u32,
    /// The next of the items.
    next: usize,
    /// Items that may be under way at once.
    window: Option<u32>,
    in_flight: u32,
    /// What it adds to the messages that may be asked for.
    offered: usize,
    /// The items it is inside of, which are under way as long as it waits.
    inside: Vec<WindowedItem>,
}

/// A split with a window, and the lineage of one of its items.
type WindowedItem = (usize, Lineage);

/// One item on its way.
pub struct Item {
    pub lineage: Lineage,
    pub context: Context,
    /// Edge, id and value of each message.
    pub messages: Vec<(usize, MessageId, Payload)>,
}

impl FanOuts {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn remaining(&self) -> usize {
        self.remaining
    }

    fn add(&mut self, fan_out: FanOut) {
        let age = self.born;
        self.born += 1;
        self.hold(&fan_out.inside);
        self.by_key.insert((fan_out.split, fan_out.parent.clone()), age);
        self.waiting.insert(age, fan_out);
        self.refresh(age);
    }

    /// Every item that is still to be asked for, without asking for it.
    pub fn pending(&self, plan: &Plan) -> Vec<Item> {
        let items = |fan_out: &FanOut| {
            let rest = fan_out.next..fan_out.items.len();
            rest.map(|place| fan_out.item(plan, place)).collect::<Vec<Item>>()
        };
        self.waiting.values().flat_map(items).collect()
    }

    /// The next item of the oldest fan-out that may send one.
    pub fn next(&mut self, plan: &Plan) -> Option<Item> {
        let age = *self.open.first()?;
        let item = self.waiting.get_mut(&age).map(|fan_out| fan_out.take(plan));
        self.refresh(age);
        item
    }

    /// Every item up to the one that `lineage` names.
    pub fn up_to(&mut self, plan: &Plan, lineage: &Lineage) -> Vec<Item> {
        let Some(step) = lineage.steps().last() else { return Vec::new() };
        let key = plan.node(&step.split).map(|split| (split, lineage.parent()));
        let Some(&age) = key.and_then(|key| self.by_key.get(&key)) else { return Vec::new() };
        let mut items = Vec::new();
        if let Some(fan_out) = self.waiting.get_mut(&age) {
            while fan_out.items.get(fan_out.next).is_some_and(|(index, _)| *index <= step.index) {
                items.push(fan_out.take(plan));
            }
        }
        self.refresh(age);
        items
    }

    /// A message at this node and lineage is under way.
    pub fn entered(&mut self, plan: &Plan, node: usize, lineage: &Lineage) {
        self.hold(&windowed(plan, node, lineage));
    }

    /// A message at this node and lineage is done with.
    pub fn left(&mut self, plan: &Plan, node: usize, lineage: &Lineage) {
        self.release(&windowed(plan, node, lineage));
    }

    fn hold(&mut self, items: &[WindowedItem]) {
        for (split, item) in items {
            let messages = self.under_way.entry(item.clone()).or_insert(0);
            *messages += 1;
            if *messages == 1 {
                self.shift(*split, item, |in_flight| in_flight + 1);
            }
        }
    }

    fn release(&mut self, items: &[WindowedItem]) {
        for (split, item) in items {
            let Some(messages) = self.under_way.get_mut(item) else { continue };
            *messages -= 1;
            if *messages == 0 {
                self.under_way.remove(item);
                self.shift(*split, item, |in_flight| in_flight.saturating_sub(1));
            }
        }
    }

    fn shift(&mut self, split: usize, item: &Lineage, change: impl Fn(u32) -> u32) {
        // Once all items were asked for, nobody waits for room any more.
        let Some(&age) = self.by_key.get(&(split, item.parent())) else { return };
        if let Some(fan_out) = self.waiting.get_mut(&age) {
            fan_out.in_flight = change(fan_out.in_flight);
        }
        self.refresh(age);
    }

    /// Counts anew what a fan-out offers; an exhausted one is gone.
    fn refresh(&mut self, age: u64) {
        let Some(fan_out) = self.waiting.get_mut(&age) else { return };
        let offered = fan_out.openable() * fan_out.edges.len();
        self.remaining = self.remaining + offered - fan_out.offered;
        fan_out.offered = offered;
        if offered > 0 {
            self.open.insert(age);
            return;
        }
        self.open.remove(&age);
        if fan_out.is_exhausted()
            && let Some(fan_out) = self.waiting.remove(&age)
        {
            self.by_key.remove(&(fan_out.split, fan_out.parent));
            self.release(&fan_out.inside);
        }
    }
}

/// The splits with a window that a message is inside of, each with the item it belongs to.
fn windowed(plan: &Plan, node: usize, lineage: &Lineage) -> Vec<WindowedItem> {
    let scope = plan.nodes[node].fires.iter().zip(1..);
    let windowed = scope.filter(|(split, _)| plan.nodes[**split].window.is_some());
    windowed.map(|(&split, depth)| (split, lineage.prefix(depth))).collect()
}

impl FanOut {
    fn is_exhausted(&self) -> bool {
        self.next >= self.items.len()
    }

    /// Items that may be asked for now.
    fn openable(&self) -> usize {
        let left = self.items.len() - self.next.min(self.items.len());
        self.window.map_or(left, |window| left.min(window.saturating_sub(self.in_flight) as usize))
    }

    fn take(&mut self, plan: &Plan) -> Item {
        let item = self.item(plan, self.next);
        self.next += 1;
        item
    }

    fn item(&self, plan: &Plan, place: usize) -> Item {
        let (index, item) = &self.items[place];
        let message = |&edge: &usize| {
            let value = plan.edges[edge].pick.of(item, Some(*index));
            let id = self.message.child(&plan.edges[edge].source.id, *index);
            (edge, id, value.unwrap_or_else(Payload::null))
        };
        Item {
            lineage: self.parent.then(Step {
                split: plan.nodes[self.split].id.clone(),
                index: *index,
                total: self.total,
                first: self.first,
            }),
            context: with_item(&self.context, item, *index),
            messages: self.edges.iter().map(message).collect(),
        }
    }
}

/// A split that has fired, and its edges: to inboxes, to nodes that fire once per item, and those it does not follow.
#[derive(Clone, Copy)]
struct Spread<'s> {
    message: &'s Message,
    context: &'s Context,
    total: u32,
    first: u32,
    eager: &'s [usize],
    lazy: &'s [usize],
    untaken: &'s [usize],
}

fn with_item(context: &Context, item: &Payload, index: u32) -> Context {
    context.clone().with("$item", item.clone()).with("$index", Payload::new(json!(index)))
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
        let count = items.len() as u32;
        let first = self.turns.mint(&plan, split, &message.lineage, count);
        let total = first + count;
        self.scopes.insert((split, message.lineage.clone()), context.clone());
        if let Some(edge) = plan.nodes[split].on_error {
            self.skip_behind(&[edge], &message.lineage);
            self.tell(&plan.flow.frontiers[edge], &message.lineage, &Word::Done(&context));
        }
        if count == 0 {
            self.skip_behind(&plan.nodes[split].outgoing, &message.lineage);
            for &gathering in &plan.flow.collapsers[split] {
                self.gather_nothing(gathering, &message.lineage);
            }
            return Ok(());
        }
        let gaps: HashMap<u32, Option<Payload>> = plan.nodes[split]
            .kind
            .gaps(message.joined.as_deref())
            .into_iter()
            .map(|gap| (first + gap.index, gap.error))
            .collect();
        let fires = |edge: &&usize| matches!(plan.flow.inputs[plan.edges[**edge].to], Input::Each);
        let (lazy, eager): (Vec<usize>, Vec<usize>) = taken.iter().partition(fires);
        let is_inside = |edge: &usize| !taken.contains(edge) && plan.nodes[split].on_error != Some(*edge);
        let untaken: Vec<usize> = plan.nodes[split].leaving.iter().copied().filter(is_inside).collect();
        if !lazy.is_empty() {
            let present = items.iter().zip(first..).filter(|(_, index)| !gaps.contains_key(index));
            self.fan_outs.add(FanOut {
                split,
                parent: message.lineage.clone(),
                message: message.id.clone(),
                edges: lazy.clone(),
                context: context.clone(),
                items: present.map(|(item, index)| (index, item.clone())).collect(),
                total,
                first,
                next: 0,
                window: plan.nodes[split].window,
                in_flight: 0,
                offered: 0,
                inside: windowed(&plan, split, &message.lineage),
            });
        }
        let spread = Spread {
            message,
            context: &context,
            total,
            first,
            eager: &eager,
            lazy: &lazy,
            untaken: &untaken,
        };
        let is_heard = !eager.is_empty() || !untaken.is_empty() || !gaps.is_empty();
        for (item, index) in items.iter().zip(first..).filter(|_| is_heard) {
            self.tell_item(&spread, index, item, gaps.get(&index));
        }
        Ok(())
    }

    /// Inboxes hear of all items at once: what they decide must not depend on when an item is asked for. What they fire
    /// counts against the window, but does not wait for it.
    fn tell_item(&mut self, spread: &Spread<'_>, index: u32, item: &Payload, gap: Option<&Option<Payload>>) {
        let plan = Arc::clone(&self.plan);
        let Spread { message, context, total, first, eager, lazy, untaken } = *spread;
        let split = plan.nodes[message.node].id.clone();
        let lineage = message.lineage.then(Step { split, index, total, first });
        let inside = with_item(context, item, index);
        let mut lost = untaken.to_vec();
        match gap {
            None => {
                for &edge in eager {
                    let Some(result) = plan.edges[edge].pick.of(item, Some(index)) else {
                        lost.push(edge);
                        continue;
                    };
                    let value = Value { context: inside.clone(), result, failed: None };
                    self.send(edge, &lineage, (&message.id, index), &value);
                }
            }
            Some(None) => lost.extend(eager.iter().chain(lazy)),
            Some(Some(error)) => {
                let value =
                    Value { context: inside.clone(), result: error.clone(), failed: Some(message.node) };
                let failed: Vec<usize> = eager.iter().chain(lazy).copied().collect();
                self.skip_behind(&failed, &lineage);
                for edge in failed {
                    self.tell(&plan.flow.frontiers[edge], &lineage, &Word::Failed(&value));
                }
            }
        }
        self.skip_behind(&lost, &lineage);
        for edge in lost {
            // Whoever runs all the same, with a default, knows which item it is about.
            self.tell(&plan.flow.frontiers[edge], &lineage, &Word::Done(&inside));
        }
    }

    pub(super) fn open_item(&mut self, item: Item) {
        for (edge, id, value) in item.messages {
            let node = self.plan.edges[edge].to;
            self.reach(edge, &item.lineage);
            let joined = self.brought(edge, &value);
            self.open(id, node, item.lineage.clone(), item.context.clone(), joined);
        }
    }
}
