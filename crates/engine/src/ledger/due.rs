//! Handing out messages where many workers hold the same ledger: nobody takes anything out of it by looking.

use protocol::{MessageId, Millis, TimedOut};

use super::{Ledger, Opened, Timer};
use crate::Message;

/// Something whose moment has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Due {
    /// A message that rested.
    Message(MessageId),
    /// A join that was not complete in time.
    Join(TimedOut),
}

impl Ledger {
    /// What is due by now, with its moment, soonest first.
    pub fn due(&self, now: Millis) -> impl Iterator<Item = (Millis, Due)> {
        self.timers.iter().take_while(move |(due, _)| *due <= now).map(|(due, timer)| {
            let found = match timer {
                Timer::Message(id) => Due::Message(id.clone()),
                Timer::Join(node, group, path) => Due::Join(self.late(*node, *group, path)),
            };
            (*due, found)
        })
    }

    /// The first moment after this one at which something is due.
    pub fn due_after(&self, now: Millis) -> Option<Millis> {
        self.timers.iter().map(|(due, _)| *due).find(|due| *due > now)
    }

    /// The last moment at which something is due.
    pub fn last_due(&self) -> Option<Millis> {
        self.timers.last().map(|(due, _)| *due)
    }

    /// Whether a join still waits, and for how long it may is over.
    pub fn is_late(&self, late: &TimedOut, now: Millis) -> bool {
        self.due(now).any(|(_, due)| due == Due::Join(late.clone()))
    }

    /// Everything under way that does not rest.
    pub fn busy(&self) -> impl Iterator<Item = &Opened> {
        self.open.values().filter(|opened| opened.parked.is_none())
    }

    /// What became ready with the event `seq`, as far as it is still under way.
    pub fn since(&self, seq: u64) -> impl Iterator<Item = &Message> {
        self.open.values().filter(move |opened| opened.since == seq).map(|opened| &opened.message)
    }
}
