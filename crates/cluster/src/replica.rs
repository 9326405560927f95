//! A worker's copy of what is under way in an execution, folded from the log. Every copy opens the same messages at
//! the same facts, so whoever wrote a fact knows what to publish, and everybody else that it is not theirs to publish.

use std::sync::Arc;

use engine::{Ledger, Message, StatusFold};
use protocol::{CompletionMessage, Event, Fact, Millis, Payload, StatusLine, TimedOut, WorkflowId};

use serde_json::{Map, Value};

use crate::{
    ClusterError,
    wire::{Common, Late},
};

pub struct Replica {
    pub ledger: Ledger,
    statuses: StatusFold,
    pub workflow_id: WorkflowId,
    definition: Payload,
    other: Arc<Map<String, Value>>,
    /// Once the execution has ended.
    pub completion: Option<CompletionMessage>,
}

/// What a fact brings about.
pub struct Made {
    /// The fact itself, with what it means for others.
    pub event: Event,
    /// Messages that became ready.
    pub messages: Vec<Message>,
    pub statuses: Vec<StatusLine>,
}

impl Replica {
    /// After the first facts of an execution.
    pub fn begin(events: Vec<Event>) -> Result<Self, ClusterError> {
        let mut replica = Self::before(&events)?;
        replica.follow(events)?;
        Ok(replica)
    }

    /// In front of the first facts of an execution.
    pub fn before(events: &[Event]) -> Result<Self, ClusterError> {
        let ledger = Ledger::begin(events)?;
        let Some(Fact::ExecutionStarted(start)) = events.first().map(|event| &event.fact) else {
            return Err(ClusterError::Damaged("a log that does not begin with a start".to_owned()));
        };
        Ok(Self {
            ledger,
            statuses: StatusFold::default(),
            workflow_id: start.workflow_id.clone(),
            definition: start.definition.clone(),
            other: Arc::new(start.other.clone()),
            completion: None,
        })
    }

    /// What is sent of a join that was not complete in time.
    pub fn late(&self, due: Millis, timed_out: TimedOut) -> Late {
        let (workflow_id, execution_id) = (self.workflow_id.clone(), self.ledger.execution_id().clone());
        Late { workflow_id, execution_id, due, timed_out }
    }

    /// What its messages have in common.
    pub fn common(&self) -> Common {
        Common {
            workflow_id: self.workflow_id.clone(),
            definition: self.definition.clone(),
            plan: Arc::clone(self.ledger.plan()),
            other: Arc::clone(&self.other),
        }
    }

    /// Takes in what others have written, and make known themselves.
    pub fn follow(&mut self, events: Vec<Event>) -> Result<(), ClusterError> {
        // What we wrote ourselves and heard nothing of comes back this way too; then it is known already.
        let known = self.ledger.position();
        for mut event in events.into_iter().filter(|event| event.seq > known) {
            let heard = self.ledger.apply(&event)?;
            event.fact.note(heard);
            if let Some(completion) = self.statuses.follow(&event) {
                self.completion = Some(completion);
            }
            while self.ledger.next_ready().is_some() {}
        }
        Ok(())
    }

    pub fn apply(&mut self, mut event: Event) -> Result<Made, ClusterError> {
        let heard = self.ledger.apply(&event)?;
        event.fact.note(heard);
        let statuses = self.statuses.apply(&event);
        if let Some(StatusLine::Completion(completion)) = statuses.last() {
            self.completion = Some((**completion).clone());
        }
        let messages = std::iter::from_fn(|| self.ledger.next_ready()).collect();
        Ok(Made { event, messages, statuses })
    }
}
