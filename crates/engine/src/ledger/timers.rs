//! Timers: messages that rest until a moment, and joins that give up waiting.

use protocol::{Fact, Lineage, MessageId, Millis, Prolonged, Step, TimedOut};

use super::{Ledger, joins::JoinKey};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A message that rests.
    Message(MessageId),
    /// A join that waits: its node, its group, and its key with the totals and beginnings of its levels.
    Join(usize, usize, Vec<(u32, u32, u32)>),
}

/// How long a join waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When it was set, or last prolonged.
    pub since: Millis,
    pub due: Millis,
}

impl Ledger {
    /// The moment of the next timer.
    pub fn next_due(&self) -> Option<Millis> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Wakes what rested until now; joins that were not complete in time are returned as facts to be written.
    pub fn wake(&mut self, now: Millis) -> Vec<Fact> {
        self.wake_unless(now, |_| None)
    }

    /// The same, where somebody may say until when a join is to wait although its time is over.
    pub fn wake_unless(&mut self, now: Millis, reprieve: impl Fn(Deadline) -> Option<Millis>) -> Vec<Fact> {
        let mut facts = Vec::new();
        while let Some((due, timer)) = self.timers.first().cloned().filter(|(due, _)| *due <= now) {
            self.timers.remove(&(due, timer.clone()));
            match timer {
                Timer::Message(id) => {
                    if let Some(opened) = self.open.get_mut(&id) {
                        opened.wake(due);
                        self.ready.push_back(id);
                    }
                }
                Timer::Join(node, group, path) => {
                    let late = self.late(node, group, &path);
                    let until = self.deadline(&late).and_then(&reprieve);
                    facts.push(late.or_prolonged(until));
                }
            }
        }
        facts
    }

    /// How long a join waits, if it does.
    pub fn deadline(&self, join: &TimedOut) -> Option<Deadline> {
        let node = self.plan.node(&join.node_id)?;
        let key = JoinKey { node, group: join.group, lineage: join.lineage.clone() };
        match self.joins.collapses.get(&key) {
            Some(collapse) => collapse.deadline,
            None => self.joins.inboxes.get(&node)?.get(&join.lineage)?.deadline,
        }
    }

    /// The first thing a join hears sets its timer.
    pub(super) fn arm(&mut self, key: &JoinKey) {
        let Some(timeout) = self.plan.nodes[key.node].timeout else { return };
        let (since, due) = (self.now, self.now + timeout);
        if let Some(deadline) = self.deadline_mut(key)
            && deadline.is_none()
        {
            *deadline = Some(Deadline { since, due });
            self.timers.insert((due, Self::join_timer(key)));
        }
    }

    pub(super) fn disarm(&mut self, key: &JoinKey, deadline: Option<Deadline>) {
        if let Some(Deadline { due, .. }) = deadline {
            self.timers.remove(&(due, Self::join_timer(key)));
        }
    }

    /// A join that waits no longer needs no more time.
    pub(super) fn prolong(&mut self, node: usize, prolonged: &Prolonged) {
        let key = JoinKey { node, group: prolonged.group, lineage: prolonged.lineage.clone() };
        let fresh = Deadline { since: self.now, due: prolonged.due };
        let Some(deadline) = self.deadline_mut(&key).filter(|deadline| deadline.is_some()) else { return };
        let before = deadline.replace(fresh);
        self.disarm(&key, before);
        self.timers.insert((fresh.due, Self::join_timer(&key)));
    }

    fn deadline_mut(&mut self, key: &JoinKey) -> Option<&mut Option<Deadline>> {
        match self.joins.collapses.get_mut(key) {
            Some(collapse) => Some(&mut collapse.deadline),
            None => {
                let inbox = self.joins.inboxes.get_mut(&key.node)?.get_mut(&key.lineage)?;
                Some(&mut inbox.deadline)
            }
        }
    }

    pub(super) fn late(&self, node: usize, group: usize, path: &[(u32, u32, u32)]) -> TimedOut {
        let node_id = self.plan.nodes[node].id.clone();
        TimedOut { node_id, lineage: self.lineage_of(node, path), group }
    }

    fn lineage_of(&self, node: usize, path: &[(u32, u32, u32)]) -> Lineage {
        let splits = &self.plan.nodes[node].fires;
        splits.iter().zip(path).fold(Lineage::default(), |lineage, (&split, &(index, total, first))| {
            lineage.then(Step { split: self.plan.nodes[split].id.clone(), index, total, first })
        })
    }

    fn join_timer(key: &JoinKey) -> Timer {
        let path = key.lineage.steps().iter().map(|step| (step.index, step.total, step.first)).collect();
        Timer::Join(key.node, key.group, path)
    }
}
