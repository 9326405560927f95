//! The items of one fan-out: where each stands, which nodes it has seen, which edges it has travelled.

use protocol::{ItemChunk, ItemGrid, ItemState, Millis, NodeError, Payload};
use serde_json::value::RawValue;

use super::groups::Groups;

/// Unchanged items between two changed ones that are cheaper to send than a new chunk.
const GAP: usize = 24;

pub struct Grid {
    items: Vec<Item>,
    /// What happened at each node of the fan-out, node by node, one cell per item.
    nodes: Vec<Cell>,
    /// Which edges of the fan-out were travelled, edge by edge.
    edges: Vec<bool>,
    pub groups: Groups,
    /// The array it was made of.
    array: Payload,
}

/// How much is under way inside an item, and what came of it.
#[derive(Clone, Default)]
pub struct Item {
    pub queued: u32,
    /// Began before what sent them was heard of, where an execution is only looked at.
    pub ahead: u32,
    pub running: u32,
    pub waiting: u32,
    pub retrying: u32,
    /// Joins inside that have heard of something and have not fired.
    pub gathering: u32,
    pub finished: bool,
    pub skipped: bool,
    pub failed: Option<u8>,
    pub error: Option<Box<NodeError>>,
    /// The last event that meant something to it.
    changed: u64,
}

/// One node at one item.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Cell {
    #[default]
    Untouched,
    Queued,
    Running,
    Waiting(Millis),
    Retrying(Millis),
    Gathering,
    Success,
    Failed,
    Skipped,
}

impl Grid {
    pub fn new(total: usize, nodes: usize, edges: usize, array: Payload) -> Self {
        Self {
            items: vec![Item::default(); total],
            nodes: vec![Cell::default(); total * nodes],
            edges: vec![false; total * edges],
            groups: Groups::default(),
            array,
        }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn item(&self, index: u32) -> Option<&Item> {
        self.items.get(index as usize)
    }

    pub fn change(&mut self, seq: u64, index: u32, change: impl FnOnce(&mut Item)) {
        if let Some(item) = self.items.get_mut(index as usize) {
            change(item);
            item.changed = seq;
        }
    }

    pub fn fail(&mut self, seq: u64, index: u32, node: &protocol::NodeId, error: &NodeError) {
        if self.item(index).is_some_and(|item| item.failed.is_none()) {
            let group = self.groups.add(node, error);
            self.change(seq, index, |item| {
                item.failed = Some(group);
                item.error = Some(Box::new(error.clone()));
            });
        }
    }

    /// The execution is over: what is not finished never will be.
    pub fn end(&mut self, seq: u64) {
        for item in &mut self.items {
            if item.is_under_way() || !(item.finished || item.skipped || item.failed.is_some()) {
                *item =
                    Item { skipped: true, failed: item.failed, error: item.error.take(), ..Item::default() };
                item.changed = seq;
            }
        }
        for cell in &mut self.nodes {
            if !matches!(cell, Cell::Untouched | Cell::Success | Cell::Failed) {
                *cell = Cell::Skipped;
            }
        }
    }

    pub fn mark(&mut self, row: usize, index: u32, cell: Cell) {
        let place = row * self.items.len() + index as usize;
        if let Some(known) = self.nodes.get_mut(place).filter(|_| (index as usize) < self.items.len()) {
            *known = cell;
        }
    }

    pub fn cell(&self, row: usize, index: u32) -> Cell {
        self.nodes.get(row * self.items.len() + index as usize).copied().unwrap_or_default()
    }

    pub fn travel(&mut self, row: usize, index: u32) {
        let place = row * self.items.len() + index as usize;
        if let Some(travelled) = self.edges.get_mut(place) {
            *travelled = true;
        }
    }

    pub fn has_travelled(&self, row: usize, index: u32) -> bool {
        self.edges.get(row * self.items.len() + index as usize).copied().unwrap_or_default()
    }

    /// The element of the array that an item is.
    pub fn value(&self, index: u32) -> Option<Payload> {
        let elements: Vec<&RawValue> = serde_json::from_str(self.array.text()).ok()?;
        elements.get(index as usize).map(|&element| Payload::from_raw(element.to_owned()))
    }

    /// The items that have changed after a position, neighbours together.
    pub fn chunks(&self, since: u64) -> Vec<ItemChunk> {
        let changed = (0..self.items.len()).filter(|&index| since == 0 || self.items[index].changed > since);
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for index in changed {
            match ranges.last_mut() {
                Some((_, end)) if index <= *end + GAP => *end = index,
                _ => ranges.push((index, index)),
            }
        }
        let letter = |item: &Item| ItemGrid::letter(item.state());
        let chunk = |(start, end): (usize, usize)| ItemChunk {
            start: start as u32,
            states: self.items[start..=end].iter().map(letter).collect(),
        };
        ranges.into_iter().map(chunk).collect()
    }
}

impl Item {
    pub fn is_under_way(&self) -> bool {
        self.queued + self.running + self.waiting + self.retrying + self.gathering > 0
    }

    /// The most urgent of what happens inside; a failure is the result of the item, whatever else goes on.
    pub fn state(&self) -> ItemState {
        if let Some(group) = self.failed {
            return ItemState::Failed { group };
        }
        match () {
            () if self.running > 0 => ItemState::Running,
            () if self.queued > 0 => ItemState::Queued,
            () if self.retrying > 0 => ItemState::Retrying,
            () if self.waiting > 0 => ItemState::Waiting,
            () if self.gathering > 0 => ItemState::Gathering,
            () if self.finished => ItemState::Success,
            () if self.skipped => ItemState::Skipped,
            () => ItemState::Queued,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn grid(total: usize) -> Grid {
        let array: Vec<usize> = (0..total).collect();
        Grid::new(total, 2, 1, Payload::new(json!(array)))
    }

    #[test]
    fn only_what_has_changed_is_sent_and_neighbours_together() {
        let mut grid = grid(200);
        assert_eq!(grid.chunks(0), [ItemChunk { start: 0, states: "q".repeat(200) }]);
        grid.change(7, 3, |item| item.running = 1);
        grid.change(8, 5, |item| item.finished = true);
        grid.change(9, 150, |item| item.waiting = 1);
        let expected = [
            ItemChunk { start: 3, states: "rqs".to_owned() },
            ItemChunk { start: 150, states: "w".to_owned() },
        ];
        assert_eq!(grid.chunks(6), expected);
        assert_eq!(grid.chunks(8), expected[1..]);
        assert_eq!(grid.chunks(9), []);
    }

    #[test]
    fn what_is_not_finished_at_the_end_is_skipped() {
        let mut grid = grid(3);
        grid.change(1, 0, |item| item.finished = true);
        grid.change(1, 1, |item| item.running = 1);
        grid.mark(0, 1, Cell::Running);
        grid.end(2);
        assert_eq!(grid.chunks(0), [ItemChunk { start: 0, states: "skk".to_owned() }]);
        assert_eq!((grid.cell(0, 1), grid.cell(1, 1)), (Cell::Skipped, Cell::Untouched));
        assert_eq!(grid.value(2).map(|value| value.text().to_owned()).as_deref(), Some("2"));
    }
}
