//! What a reader asks about an execution beyond the view of its nodes: the items of its fan-outs, what its joins wait
//! for, when what happened. Folded only for executions that somebody looks at closely, and then event by event.

mod barrier;
mod grid;
mod groups;
mod heard;
mod items;
mod races;
mod timeline;

use std::sync::Arc;

use protocol::{BarrierView, Event, ExecutionId, Fact, FanOutPlace, ItemDetail, ItemGrid, NodeId, Timeline};

use crate::{Ledger, LedgerError, observed};

use heard::Heard;
use items::Items;
use races::Races;
use timeline::TimelineFold;

pub struct Insight {
    execution_id: ExecutionId,
    position: u64,
    items: Items,
    timeline: TimelineFold,
    /// Stands still at the end: what joins waited for then is what one asks about afterwards. Absent for an execution
    /// that was only looked at.
    ledger: Option<Ledger>,
    /// Joins of such an execution, by what they have said.
    heard: Heard,
    races: Races,
}

impl Insight {
    /// Needs the first event at least, which holds the definition.
    pub fn begin(events: &[Event]) -> Result<Self, LedgerError> {
        let is_ours = observed::can_be_followed(events);
        let shape = events.first().filter(|_| !is_ours).and_then(|first| match &first.fact {
            Fact::ExecutionStarted(started) => observed::plan_of(started),
            _ => None,
        });
        let ledger = shape.is_none().then(|| Ledger::begin(events)).transpose()?;
        let plan = match (&ledger, shape) {
            (_, Some(plan)) => plan,
            (Some(ledger), None) => Arc::clone(ledger.plan()),
            (None, None) => unreachable!("one of the two is there"),
        };
        let execution_id =
            events.first().map_or_else(|| ExecutionId::from(""), |event| event.execution_id.clone());
        let items = Items::new(Arc::clone(&plan));
        let timeline = TimelineFold::new(Arc::clone(&plan));
        let heard = Heard::new(Arc::clone(&plan));
        let races = Races::new(plan);
        Ok(Self { execution_id, position: 0, items, timeline, ledger, heard, races })
    }

    /// Takes in what follows; what was seen already is passed over.
    pub fn extend(&mut self, events: &[Event]) -> Result<(), LedgerError> {
        let seen = self.position;
        for event in events.iter().filter(|event| event.seq > seen) {
            self.items.apply(event);
            self.timeline.apply(event);
            self.races.apply(event);
            match &mut self.ledger {
                Some(ledger) if !matches!(event.fact, Fact::ExecutionEnded(_)) => drop(ledger.apply(event)?),
                Some(_) => {}
                None => self.heard.apply(event),
            }
            self.position = event.seq;
        }
        Ok(())
    }

    pub fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn timeline(&self) -> Timeline {
        self.timeline.timeline(&self.execution_id)
    }

    pub fn barrier(&self, node: &NodeId) -> BarrierView {
        let total = |split: usize, lineage: &_| self.items.total(split, lineage);
        let view = match &self.ledger {
            Some(ledger) => barrier::barrier(ledger, &self.execution_id, node, total),
            None => self.heard.barrier(&self.execution_id, node, self.position, total),
        };
        BarrierView { winner: self.races.winner(node), ..view }
    }

    pub fn item_grid(&self, place: &FanOutPlace, since: u64) -> ItemGrid {
        self.items.grid(&self.execution_id, place, since)
    }

    pub fn item(&self, place: &FanOutPlace, index: u32) -> Option<ItemDetail> {
        self.items
            .detail(&self.execution_id, place, index, |node, lineage| self.races.first_at(node, lineage))
    }
}
