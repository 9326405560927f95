//! What people do to executions by hand. Only an engine in this process can be asked to.

use engine::Message;
use protocol::{
    Change, ControlError, Echo, Event, ExecutionId, Fact, Intervened, LineageKey, Millis, NodeId,
};
use recording::{LedgerError, Store};
use runtime::{LocalEngine, Receipt};

use crate::{Embedded, EmbeddedError, executions::Execution};

/// How far an execution is, for whoever waits until nothing moves any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtRest {
    pub position: u64,
    /// Messages that can be worked on now.
    pub ready: usize,
    /// Messages that somebody works on, or holds.
    pub in_hand: usize,
    /// When the next timer is due.
    pub next_due: Option<Millis>,
}

impl Embedded {
    /// `None` once the execution has ended.
    pub fn at_rest(&self, id: &ExecutionId) -> Option<AtRest> {
        self.lock().running.get(id).map(Execution::at_rest)
    }

    /// Goes on with one execution that a crash interrupted.
    pub async fn take_up(&self, store: &Store, id: &ExecutionId) -> Result<(), EmbeddedError> {
        let execution = Execution::recover(&store.events(id).await?)?;
        self.take_in(&mut self.lock(), id, execution);
        Ok(())
    }

    /// Waits until everything that has happened so far can be read.
    pub async fn flush(&self) -> Result<(), EmbeddedError> {
        Ok(self.journal.durable().await?)
    }

    /// Makes a timer fire before it is due: that of a node at a key, or the first of all. False if there is none.
    pub async fn fire_timer(
        &self,
        id: &ExecutionId,
        wanted: Option<(&NodeId, &LineageKey)>,
    ) -> Result<bool, EmbeddedError> {
        self.journal.room().await?;
        let now = self.clock.now();
        let mut fired = false;
        let fire = |execution: &mut Execution| {
            let events = execution.fire_timer(now, wanted)?;
            fired = !events.is_empty();
            Ok(events)
        };
        match self.change(&mut self.lock(), id, false, fire)? {
            true => Ok(fired),
            false => Err(EmbeddedError::NotRunning(id.clone())),
        }
    }
}

impl LocalEngine for Embedded {
    fn look_again(&self) {
        self.ready.notify_one();
    }

    fn mark(&self, message: &Message, at: Millis, change: Change) -> Result<(), ControlError> {
        let receipt = Receipt {
            execution_id: message.execution_id.clone(),
            message_id: message.id.clone(),
            attempt: message.attempt,
        };
        let mut written = false;
        let mark = |execution: &mut Execution| {
            let events = execution.intervene(&receipt, at, change)?;
            written = !events.is_empty();
            Ok(events)
        };
        let changed = self.change(&mut self.lock(), &message.execution_id, false, mark);
        match changed {
            Ok(true) if written => Ok(()),
            Ok(_) => {
                Err(ControlError::missing("the message is not under way any more", "look at what is held"))
            }
            Err(error) => Err(ControlError::invalid(error.to_string(), "nothing was changed")),
        }
    }
}

impl Execution {
    fn at_rest(&self) -> AtRest {
        AtRest {
            position: self.ledger.position(),
            ready: self.ready_count(),
            in_hand: self.ledger.in_hand(),
            next_due: self.next_due(),
        }
    }

    fn intervene(
        &mut self,
        receipt: &Receipt,
        at: Millis,
        change: Change,
    ) -> Result<Vec<Event>, LedgerError> {
        let Some(firing) = self.firing(receipt) else { return Ok(Vec::new()) };
        let fact = Fact::Intervened(Intervened { firing, change, echo: Echo::default() });
        let mut events = vec![self.append(at, fact)?];
        events.extend(self.end_if_quiet(at)?);
        Ok(events)
    }

    fn fire_timer(
        &mut self,
        now: Millis,
        wanted: Option<(&NodeId, &LineageKey)>,
    ) -> Result<Vec<Event>, LedgerError> {
        let facts = self.ledger.fire_by_hand(wanted).unwrap_or_default();
        facts.into_iter().map(|fact| self.append(now, fact)).collect()
    }
}
