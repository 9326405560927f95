//! The executions in memory. Every change is made by applying the event that is appended to the log, so that memory
//! and log cannot disagree.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use engine::{Message, Plan};
use protocol::{
    Child, ErrorCode, Event, ExecutionEnded, ExecutionId, ExecutionStarted, ExecutionStatus, Fact, Firing,
    MessageId, Millis, NodeError, NodeFailed, NodeStarted, NodeSucceeded, Payload,
};
use recording::{Ledger, LedgerError};
use runtime::{Announcement, Conclusion, Receipt};
use tokio::sync::watch;

use crate::Start;

#[derive(Default)]
pub struct Executions {
    pub running: HashMap<ExecutionId, Execution>,
    pub ready: VecDeque<Message>,
    pub closed: bool,
}

pub struct Execution {
    id: ExecutionId,
    ledger: Ledger,
    stopped: watch::Sender<bool>,
}

impl Execution {
    pub fn start(start: &Start, now: Millis) -> Result<(Self, Vec<Message>, Vec<Event>), LedgerError> {
        let messages = start.plan.starts.iter().map(|&node| {
            let node_id = start.plan.nodes[node].id.clone();
            let message_id = MessageId::start(&start.execution_id, &node_id);
            Child { message_id, node_id, edge_id: None, lineage: Vec::new() }
        });
        let definition = serde_json::to_value(&*start.plan.workflow).unwrap_or_default();
        let fact = Fact::ExecutionStarted(ExecutionStarted {
            workflow_id: start.workflow_id.clone(),
            title: start.title.clone(),
            path: start.path.clone(),
            definition_hash: start.plan.hash.clone(),
            definition: Payload::new(definition),
            input: start.input.clone(),
            messages: messages.collect(),
        });
        let ledger = Ledger::new(start.execution_id.clone(), Arc::clone(&start.plan));
        let mut execution =
            Self { id: start.execution_id.clone(), ledger, stopped: watch::Sender::new(false) };
        let (event, messages) = execution.append(now, fact)?;
        Ok((execution, messages, vec![event]))
    }

    /// As it was before the crash.
    pub fn recover(events: &[Event]) -> Result<Self, LedgerError> {
        let ledger = Ledger::replay(events)?;
        let id = events.first().map_or_else(|| ExecutionId::from(""), |event| event.execution_id.clone());
        Ok(Self { id, ledger, stopped: watch::Sender::new(false) })
    }

    /// The messages under way after a crash. One that had been started begins its next attempt.
    pub fn interrupted(&self) -> Vec<Message> {
        let again = |opened: &recording::Opened| {
            let mut message = opened.message.clone();
            message.attempt += u32::from(opened.started);
            message
        };
        self.ledger.open().map(again).collect()
    }

    pub fn plan(&self) -> &Arc<Plan> {
        self.ledger.plan()
    }

    pub fn has_ended(&self) -> bool {
        self.ledger.is_ended()
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
        let fact = Fact::NodeStarted(NodeStarted { firing, parameters: announcement.parameters });
        let (event, _) = self.append(announcement.at, fact)?;
        Ok(vec![event])
    }

    /// The commit of one message, and the end of the execution where it was the last or has failed for good.
    pub fn commit(
        &mut self,
        receipt: &Receipt,
        conclusion: Conclusion,
    ) -> Result<(Vec<Event>, Vec<Message>), LedgerError> {
        // A message that is not under way was committed before; the receipt is a duplicate.
        let Some(firing) = self.firing(receipt) else { return Ok((Vec::new(), Vec::new())) };
        let Conclusion { at, duration, effects } = conclusion;
        let children = effects.children;
        let (fact, error) = match effects.outcome {
            Ok(output) => (Fact::NodeSucceeded(NodeSucceeded { firing, duration, output, children }), None),
            Err(error) => {
                let failed = NodeFailed { firing, duration, error: error.clone(), children };
                (Fact::NodeFailed(failed), Some(error))
            }
        };
        let (event, messages) = self.append(at, fact)?;
        let mut events = vec![event];
        if effects.halts {
            events.push(self.end(at, ExecutionStatus::Halted, error)?);
            return Ok((events, Vec::new()));
        }
        if self.ledger.is_quiet() {
            events.push(self.end(at, ExecutionStatus::Completed, None)?);
        }
        Ok((events, messages))
    }

    pub fn cancel(&mut self, now: Millis) -> Result<Vec<Event>, LedgerError> {
        let error = NodeError::new(ErrorCode::Cancelled, "stopped by the user");
        Ok(vec![self.end(now, ExecutionStatus::Halted, Some(error))?])
    }

    fn end(
        &mut self,
        at: Millis,
        status: ExecutionStatus,
        error: Option<NodeError>,
    ) -> Result<Event, LedgerError> {
        let (event, _) = self.append(at, Fact::ExecutionEnded(ExecutionEnded { status, error }))?;
        self.stopped.send_replace(true);
        Ok(event)
    }

    fn firing(&self, receipt: &Receipt) -> Option<Firing> {
        let message = &self.ledger.get(&receipt.message_id)?.message;
        Some(Firing {
            message_id: receipt.message_id.clone(),
            node_id: self.ledger.plan().nodes[message.node].id.clone(),
            lineage: message.lineage.to_vec(),
            attempt: receipt.attempt,
        })
    }

    fn append(&mut self, at: Millis, fact: Fact) -> Result<(Event, Vec<Message>), LedgerError> {
        let event = Event { execution_id: self.id.clone(), seq: self.ledger.position() + 1, at, fact };
        let messages = self.ledger.apply(&event)?;
        Ok((event, messages))
    }
}
