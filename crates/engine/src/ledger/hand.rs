//! What people do to messages and timers by hand. It is written down like everything else, so that the log adds up.

use std::sync::Arc;

use crate::Output;
use protocol::{Change, Event, Fact, Firing, Intervened, LineageKey, NodeId, TimedOut, TimerFired};

use super::{Ledger, LedgerError, Opened, Timer, Word};

impl Ledger {
    pub(super) fn intervene(&mut self, event: &Event, done: &Intervened) -> Result<(), LedgerError> {
        if done.change == Change::Dropped {
            return self.take_away(event, &done.firing);
        }
        let opened = self.opened(event, &done.firing)?;
        match &done.change {
            Change::Context(entries) => {
                entries.iter().for_each(|(key, value)| opened.message.set(key, value.clone()));
            }
            Change::Parameters(parameters) => opened.message.parameters = Some(parameters.clone()),
            Change::Output { output, items } => {
                opened.given = Some(Ok(Output { payload: output.clone(), items: items.clone() }));
            }
            Change::Error(error) => opened.given = Some(Err(error.clone())),
            Change::Dropped | Change::Duplicated => {}
        }
        Ok(())
    }

    /// The node does not run at this key: whoever waits behind it is told, as behind a way that was not taken.
    fn take_away(&mut self, event: &Event, firing: &Firing) -> Result<(), LedgerError> {
        let Opened { message, .. } = self.close(event, firing)?;
        let plan = Arc::clone(&self.plan);
        self.skip_behind(&plan.nodes[message.node].leaving, &message.lineage);
        self.pass_on(message.node, &message.lineage, &Word::Done(&message.context));
        self.end_turn(message.node, &message.lineage, None);
        Ok(())
    }

    /// The timer of a node at a key, or the first of all, as the facts that make it fire now.
    pub fn fire_by_hand(&self, wanted: Option<(&NodeId, &LineageKey)>) -> Option<Vec<Fact>> {
        let facts = self.timers.iter().filter_map(|(due, timer)| self.fired(*due, timer));
        let is_wanted = |fired: &TimerFired| match wanted {
            Some((node, key)) => fired.node_id == *node && fired.lineage.key() == *key,
            None => true,
        };
        let (fired, gives_up) = facts.into_iter().find(|(fired, _)| is_wanted(fired))?;
        let gives_up = gives_up.map(Fact::TimedOut);
        Some(std::iter::once(Fact::TimerFired(fired)).chain(gives_up).collect())
    }

    fn fired(&self, due: i64, timer: &Timer) -> Option<(TimerFired, Option<TimedOut>)> {
        match timer {
            Timer::Message(id) => {
                let message = &self.open.get(id)?.message;
                let node_id = self.plan.nodes[message.node].id.clone();
                let (lineage, message_id) = (message.lineage.clone(), Some(id.clone()));
                Some((TimerFired { node_id, lineage, message_id, due }, None))
            }
            Timer::Join(node, group, path) => {
                let late = self.late(*node, *group, path);
                let (node_id, lineage) = (late.node_id.clone(), late.lineage.clone());
                Some((TimerFired { node_id, lineage, message_id: None, due }, Some(late)))
            }
        }
    }

    pub(super) fn cut_short(&mut self, event: &Event, fired: &TimerFired) -> Result<(), LedgerError> {
        let Some(id) = &fired.message_id else {
            // What follows is said by the join itself, which gives up.
            let is_it = |(due, timer): &&(i64, Timer)| {
                self.fired(*due, timer).is_some_and(|(known, late)| late.is_some() && known == *fired)
            };
            if let Some(timer) = self.timers.iter().find(is_it).cloned() {
                self.timers.remove(&timer);
            }
            return Ok(());
        };
        let refused = self.refuse(event, format!("{} has no timer that is due then", fired.node_id));
        let Some(opened) = self.open.get_mut(id).filter(|opened| opened.parked == Some(fired.due)) else {
            return Err(refused);
        };
        opened.wake(fired.due);
        self.timers.remove(&(fired.due, Timer::Message(id.clone())));
        self.ready.push_back(id.clone());
        Ok(())
    }

    /// Messages that are neither ready nor resting: somebody has them in hand.
    pub fn in_hand(&self) -> usize {
        let active = self.open.values().filter(|opened| opened.parked.is_none()).count();
        active - self.ready.iter().filter(|id| self.open.contains_key(*id)).count().min(active)
    }
}

impl Opened {
    /// The moment it rested until has come.
    pub(super) fn wake(&mut self, due: i64) {
        self.parked = None;
        self.woken = Some(due);
        // Who has not begun was not resting: the next attempt is due.
        self.message.resumed = self.started.map(|_| due);
    }
}
