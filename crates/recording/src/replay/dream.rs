//! An execution that does not happen: the core and a ledger, without anything around them.

use std::sync::Arc;

use engine::{Effects, Message, Output, Plan};
use protocol::{
    Consequence, Echo, EdgeId, ErrorCode, Event, ExecutionEnded, ExecutionId, ExecutionStatus, Fact, Firing,
    Millis, NodeError, NodeFailed, NodeSucceeded,
};

use crate::{Ledger, LedgerError};

pub(crate) struct Dream {
    id: ExecutionId,
    pub plan: Arc<Plan>,
    pub ledger: Ledger,
    pub now: Millis,
    pub events: Vec<Event>,
}

impl Dream {
    pub fn new(id: ExecutionId, plan: Arc<Plan>, now: Millis) -> Self {
        let ledger = Ledger::new(id.clone(), Arc::clone(&plan));
        Self { id, plan, ledger, now, events: Vec::new() }
    }

    pub fn firing(&self, message: &Message) -> Firing {
        Firing {
            message_id: message.id.clone(),
            node_id: self.plan.nodes[message.node].id.clone(),
            lineage: message.lineage.clone(),
            attempt: message.attempt,
        }
    }

    /// Goes on to the next timer; `false` if there is none. Joins give up only where that is wanted.
    pub fn wake(&mut self, joins_give_up: bool) -> Result<bool, LedgerError> {
        let Some(due) = self.ledger.next_due() else { return Ok(false) };
        self.now = self.now.max(due);
        for fact in self.ledger.wake(self.now) {
            if joins_give_up {
                self.append(fact)?;
            }
        }
        Ok(true)
    }

    pub fn commit(&mut self, firing: Firing, duration: Millis, effects: Effects) -> Result<(), LedgerError> {
        let Effects { outcome, taken, consequence } = effects;
        let id = |&edge: &usize| -> EdgeId { self.plan.edges[edge].source.id.clone() };
        let taken = taken.iter().map(id).collect();
        let echo = Echo::default();
        let error = outcome.as_ref().err().cloned();
        self.append(match outcome {
            Ok(Output { payload: output, items }) => {
                Fact::NodeSucceeded(NodeSucceeded { firing, duration, output, items, taken, echo })
            }
            Err(error) => Fact::NodeFailed(NodeFailed { firing, duration, error, taken, consequence, echo }),
        })?;
        if consequence == Consequence::Halt {
            let broken = error.as_ref().is_some_and(|error| error.code.is_breakdown());
            let status = if broken { ExecutionStatus::Failed } else { ExecutionStatus::Halted };
            return self.append(Fact::ExecutionEnded(ExecutionEnded { status, error }));
        }
        if !self.ledger.is_quiet() {
            return Ok(());
        }
        let undecided = self.ledger.undecided();
        let ended = match undecided.is_empty() {
            true => ExecutionEnded { status: ExecutionStatus::Completed, error: None },
            false => {
                let message = format!("nothing is under way, yet {}", undecided.join("; "));
                let error = Some(NodeError::new(ErrorCode::Stalled, message));
                ExecutionEnded { status: ExecutionStatus::Failed, error }
            }
        };
        self.append(Fact::ExecutionEnded(ended))
    }

    pub fn append(&mut self, fact: Fact) -> Result<(), LedgerError> {
        let mut event =
            Event { execution_id: self.id.clone(), seq: self.ledger.position() + 1, at: self.now, fact };
        let heard = self.ledger.apply(&event)?;
        event.fact.note(heard);
        self.events.push(event);
        Ok(())
    }
}
