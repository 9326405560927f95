//! What a reader asks about an execution beyond the view of its nodes: the items of its fan-outs. Folded only for
//! executions that somebody looks at closely, and then event by event.

mod grid;
mod groups;
mod items;

use protocol::{Event, ExecutionId, FanOutPlace, ItemDetail, ItemGrid};

use crate::{Ledger, LedgerError};

use items::Items;

pub struct Insight {
    execution_id: ExecutionId,
    position: u64,
    items: Items,
}

impl Insight {
    /// Needs the first event at least, which holds the definition.
    pub fn begin(events: &[Event]) -> Result<Self, LedgerError> {
        let ledger = Ledger::begin(events)?;
        let execution_id =
            events.first().map_or_else(|| ExecutionId::from(""), |event| event.execution_id.clone());
        Ok(Self { execution_id, position: 0, items: Items::new(ledger.plan().clone()) })
    }

    /// Takes in what follows; what was seen already is passed over.
    pub fn extend(&mut self, events: &[Event]) {
        for event in events.iter().filter(|event| event.seq > self.position).collect::<Vec<_>>() {
            self.items.apply(event);
            self.position = event.seq;
        }
    }

    pub fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn item_grid(&self, place: &FanOutPlace, since: u64) -> ItemGrid {
        self.items.grid(&self.execution_id, place, since)
    }

    pub fn item(&self, place: &FanOutPlace, index: u32) -> Option<ItemDetail> {
        self.items.detail(&self.execution_id, place, index)
    }
}
