//! Which messages of an execution are under way, and what each of them knows. The engine's memory in local mode, and
//! the way to find out afterwards what a node saw.

use std::{collections::BTreeMap, sync::Arc};

use engine::{Context, Limits, Message, Plan};
use protocol::{Child, Event, ExecutionId, Fact, Firing, MessageId, NodeError, Payload};

/// The recording contradicts itself; it was not written by this engine, or was damaged.
#[derive(Debug, thiserror::Error)]
#[error("the recording of {execution} does not add up at event {seq}: {complaint}")]
pub struct LedgerError {
    pub execution: ExecutionId,
    pub seq: u64,
    pub complaint: String,
}

pub struct Ledger {
    plan: Arc<Plan>,
    execution_id: ExecutionId,
    seq: u64,
    open: BTreeMap<MessageId, Opened>,
    ended: bool,
}

/// A message under way.
#[derive(Clone, Debug)]
pub struct Opened {
    pub message: Message,
    pub started: bool,
}

impl Ledger {
    /// An execution of which nothing is known yet but its plan.
    pub fn new(execution_id: ExecutionId, plan: Arc<Plan>) -> Self {
        Self { plan, execution_id, seq: 0, open: BTreeMap::new(), ended: false }
    }

    /// Folds a whole recording.
    pub fn replay(events: &[Event]) -> Result<Self, LedgerError> {
        let mut ledger = Self::begin(events)?;
        for event in events {
            ledger.apply(event)?;
        }
        Ok(ledger)
    }

    /// The ledger in front of the first event, which holds the definition.
    pub fn begin(events: &[Event]) -> Result<Self, LedgerError> {
        let refuse = |execution: ExecutionId, complaint: String| LedgerError { execution, seq: 1, complaint };
        let Some(first) = events.first() else {
            return Err(refuse("an unknown execution".into(), "it is empty".to_owned()));
        };
        let Fact::ExecutionStarted(started) = &first.fact else {
            return Err(refuse(first.execution_id.clone(), "it does not begin with a start".to_owned()));
        };
        let loaded = engine::load(started.definition.text().as_bytes(), &Limits::default());
        let plan = loaded.plan.ok_or_else(|| {
            let complaint =
                loaded.diagnostics.first().map_or_else(String::new, |first| first.message.clone());
            refuse(first.execution_id.clone(), format!("its definition cannot be used: {complaint}"))
        })?;
        Ok(Self::new(first.execution_id.clone(), plan))
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub fn is_ended(&self) -> bool {
        self.ended
    }

    pub fn position(&self) -> u64 {
        self.seq
    }

    pub fn get(&self, message: &MessageId) -> Option<&Opened> {
        self.open.get(message)
    }

    pub fn open(&self) -> impl Iterator<Item = &Opened> {
        self.open.values()
    }

    pub fn is_quiet(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes in the next fact. The new messages it puts under way are returned.
    pub fn apply(&mut self, event: &Event) -> Result<Vec<Message>, LedgerError> {
        if event.seq != self.seq + 1 {
            return Err(self.refuse(event, format!("expected event {}", self.seq + 1)));
        }
        self.seq = event.seq;
        match &event.fact {
            Fact::ExecutionStarted(started) => {
                let context = Context::start(started.input.clone());
                self.open_all(event, &started.messages, &context)
            }
            Fact::NodeStarted(started) => {
                let firing = &started.firing;
                let Some(opened) = self.open.get_mut(&firing.message_id) else {
                    return Err(self.refuse(event, format!("{} starts without a message", firing.node_id)));
                };
                opened.started = true;
                opened.message.attempt = firing.attempt;
                Ok(Vec::new())
            }
            Fact::NodeSucceeded(done) => self.close(event, &done.firing, Ok(&done.output), &done.children),
            Fact::NodeFailed(done) => self.close(event, &done.firing, Err(&done.error), &done.children),
            Fact::ExecutionEnded(_) => {
                self.ended = true;
                self.open.clear();
                Ok(Vec::new())
            }
        }
    }

    fn close(
        &mut self,
        event: &Event,
        firing: &Firing,
        outcome: Result<&Payload, &NodeError>,
        children: &[Child],
    ) -> Result<Vec<Message>, LedgerError> {
        let Some(opened) = self.open.remove(&firing.message_id) else {
            return Err(self.refuse(event, format!("{} ends twice or without a message", firing.node_id)));
        };
        let node = &self.plan.nodes[opened.message.node];
        let context = opened.message.context.after(node, outcome);
        self.open_all(event, children, &context)
    }

    fn open_all(
        &mut self,
        event: &Event,
        children: &[Child],
        context: &Context,
    ) -> Result<Vec<Message>, LedgerError> {
        let mut messages = Vec::with_capacity(children.len());
        for child in children {
            let Some(node) = self.plan.node(&child.node_id) else {
                return Err(self.refuse(event, format!("there is no node {}", child.node_id)));
            };
            let message = Message {
                execution_id: self.execution_id.clone(),
                id: child.message_id.clone(),
                node,
                lineage: child.lineage.as_slice().into(),
                context: context.clone(),
                attempt: 1,
            };
            self.open.insert(message.id.clone(), Opened { message: message.clone(), started: false });
            messages.push(message);
        }
        Ok(messages)
    }

    fn refuse(&self, event: &Event, complaint: String) -> LedgerError {
        LedgerError { execution: self.execution_id.clone(), seq: event.seq, complaint }
    }
}
