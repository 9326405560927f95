//! The executions in memory. Every change is made by applying the event that is appended to the log, so that memory
//! and log cannot disagree.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use engine::{Again, Message, Plan};
use protocol::{Event, ExecutionId, Fact, Firing, Millis};
use recording::{Ledger, LedgerError};
use runtime::{Announcement, Conclusion, Receipt, Standstills, Start};
use tokio::sync::watch;

#[derive(Default)]
pub struct Executions {
    pub running: HashMap<ExecutionId, Execution>,
    /// Executions with work that is ready, each once. They take turns, so that a large one does not starve a small one.
    turns: VecDeque<ExecutionId>,
    pub closed: bool,
}

pub struct Execution {
    id: ExecutionId,
    pub ledger: Ledger,
    stopped: watch::Sender<bool>,
    has_turn: bool,
}

impl Executions {
    /// The next message, from the execution whose turn it is.
    pub fn next(&mut self) -> Option<(&Execution, Message)> {
        while let Some(id) = self.turns.pop_front() {
            let Some(execution) = self.running.get_mut(&id) else { continue };
            execution.has_turn = false;
            if let Some(message) = execution.ledger.next_ready() {
                self.take_turns(&id);
                return self.running.get(&id).map(|execution| (execution, message));
            }
        }
        None
    }

    /// Puts an execution in line if it has something ready.
    pub fn take_turns(&mut self, id: &ExecutionId) {
        if let Some(execution) = self.running.get_mut(id)
            && !execution.has_turn
            && execution.ledger.ready_count() > 0
        {
            execution.has_turn = true;
            self.turns.push_back(id.clone());
        }
    }

    pub fn next_due(&self) -> Option<Millis> {
        self.running.values().filter_map(Execution::next_due).min()
    }
}

impl Execution {
    pub fn start(start: &Start, now: Millis) -> Result<(Self, Vec<Event>), LedgerError> {
        let ledger = Ledger::new(start.execution_id.clone(), Arc::clone(&start.plan));
        let mut execution = Self::over(start.execution_id.clone(), ledger);
        let event = execution.append(now, start.fact())?;
        Ok((execution, vec![event]))
    }

    /// As it was before the crash. A message that had been started begins its next attempt.
    pub fn recover(events: &[Event]) -> Result<Self, LedgerError> {
        let id = events.first().map_or_else(|| ExecutionId::from(""), |event| event.execution_id.clone());
        Ok(Self::over(id, Ledger::replay(events)?))
    }

    fn over(id: ExecutionId, ledger: Ledger) -> Self {
        Self { id, ledger, stopped: watch::Sender::new(false), has_turn: false }
    }

    pub fn plan(&self) -> &Arc<Plan> {
        self.ledger.plan()
    }

    pub fn has_ended(&self) -> bool {
        self.ledger.is_ended()
    }

    pub fn ready_count(&self) -> usize {
        self.ledger.ready_count()
    }

    pub fn next_due(&self) -> Option<Millis> {
        self.ledger.next_due()
    }

    pub fn stopped(&self) -> watch::Receiver<bool> {
        self.stopped.subscribe()
    }

    pub fn announce(
        &mut self,
        receipt: &Receipt,
        announcement: Announcement,
    ) -> Result<Vec<Event>, LedgerError> {
        let Some(firing) = self.firing(receipt) else { return Ok(Vec::new()) };
        Ok(vec![self.append(announcement.at, engine::started(firing, announcement.parameters))?])
    }

    pub fn park(&mut self, receipt: &Receipt, now: Millis, due: Millis) -> Result<Vec<Event>, LedgerError> {
        let Some(firing) = self.firing(receipt) else { return Ok(Vec::new()) };
        Ok(vec![self.append(now, engine::parked(firing, due))?])
    }

    /// An attempt came to nothing; the next one follows after a while.
    pub fn retry(
        &mut self,
        receipt: &Receipt,
        at: Millis,
        duration: Millis,
        again: Again,
    ) -> Result<Vec<Event>, LedgerError> {
        let Some(firing) = self.firing(receipt) else { return Ok(Vec::new()) };
        Ok(vec![self.append(at, engine::tried_in_vain(firing, at, duration, again))?])
    }

    /// Wakes what is due.
    pub fn wake(&mut self, now: Millis, standstills: &Standstills) -> Result<Vec<Event>, LedgerError> {
        let facts = self.ledger.wake_unless(now, |deadline| standstills.reprieve(&self.id, deadline, now));
        facts.into_iter().map(|fact| self.append(now, fact)).collect()
    }

    /// The commit of one message, and the end of the execution where it was the last or has failed for good.
    pub fn commit(&mut self, receipt: &Receipt, conclusion: Conclusion) -> Result<Vec<Event>, LedgerError> {
        // A message that is not under way was committed before; the receipt is a duplicate.
        let Some(firing) = self.firing(receipt) else { return Ok(Vec::new()) };
        let Conclusion { announcement, at, duration, effects } = conclusion;
        let mut events = Vec::with_capacity(3);
        if let Some(Announcement { at, parameters, .. }) = announcement {
            events.push(self.append(at, engine::started(firing.clone(), parameters))?);
        }
        let fact = self.ledger.concluded(firing, at, duration, effects);
        let halted = engine::halted_by(&fact);
        events.push(self.append(at, fact)?);
        if let Some(end) = halted.or_else(|| self.ledger.quiet_end()) {
            events.push(self.append(at, end)?);
        }
        Ok(events)
    }

    pub fn end_if_quiet(&mut self, at: Millis) -> Result<Option<Event>, LedgerError> {
        self.ledger.quiet_end().map(|end| self.append(at, end)).transpose()
    }

    pub fn cancel(&mut self, now: Millis) -> Result<Vec<Event>, LedgerError> {
        Ok(vec![self.append(now, engine::cancelled())?])
    }

    pub fn firing(&self, receipt: &Receipt) -> Option<Firing> {
        self.ledger.firing(&receipt.message_id, receipt.attempt)
    }

    pub fn append(&mut self, at: Millis, fact: Fact) -> Result<Event, LedgerError> {
        let mut event = Event { execution_id: self.id.clone(), seq: self.ledger.position() + 1, at, fact };
        let heard = self.ledger.apply(&event)?;
        event.fact.note(heard);
        if self.ledger.is_ended() {
            self.stopped.send_replace(true);
        }
        Ok(event)
    }
}
