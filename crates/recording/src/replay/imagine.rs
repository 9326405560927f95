//! What would have happened with another workflow: the core runs it from the recorded start, and whatever asks the
//! outside is given the recorded answer. Where there is none, that firing stays open and is named.

use std::{collections::HashMap, sync::Arc};

use engine::{Effects, Message, Output, Plan, Prepared, Work, conclude, prepare};
use protocol::{
    Consequence, Echo, EdgeId, ErrorCode, Event, ExecutionEnded, ExecutionId, ExecutionStarted,
    ExecutionStatus, Fact, Firing, LineageKey, Millis, NodeError, NodeFailed, NodeId, NodeParked,
    NodeStarted, NodeSucceeded, Payload,
};
use serde::Serialize;

use crate::{Ledger, LedgerError, redact};

/// More firings than this and it is not worth waiting for.
const MOST_FIRINGS: usize = 2_000_000;

/// An execution that did not happen.
pub struct Imagined {
    pub events: Vec<Event>,
    /// Firings that ask something nobody has recorded an answer to; what comes behind them is not known.
    pub unknown: Vec<UnknownAnswer>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnknownAnswer {
    pub node_id: NodeId,
    pub key: LineageKey,
    /// It asks something else than it did, or did not ask at all.
    pub asked_before: bool,
}

/// What a firing was asked and has answered.
struct Answer<'e> {
    began: Millis,
    parameters: Option<&'e Payload>,
    duration: Millis,
    outcome: Option<Result<Output, NodeError>>,
}

type Answers<'e> = HashMap<(&'e NodeId, LineageKey), Answer<'e>>;

pub fn imagine(recorded: &[Event], plan: Arc<Plan>) -> Result<Imagined, LedgerError> {
    let refuse = |complaint: &str| LedgerError {
        execution: recorded.first().map_or_else(|| "unknown".into(), |event| event.execution_id.clone()),
        seq: 1,
        complaint: complaint.to_owned(),
    };
    let Some(Event { execution_id, at, fact: Fact::ExecutionStarted(started), .. }) = recorded.first() else {
        return Err(refuse("it does not begin with a start"));
    };
    let mut imagination = Imagination {
        id: execution_id.clone(),
        ledger: Ledger::new(execution_id.clone(), Arc::clone(&plan)),
        answers: answers(recorded),
        now: *at,
        events: Vec::new(),
        unknown: Vec::new(),
        plan,
    };
    imagination.start(started)?;
    for _ in 0..MOST_FIRINGS {
        if imagination.ledger.is_ended() || !imagination.step()? {
            let Imagination { events, unknown, .. } = imagination;
            return Ok(Imagined { events, unknown });
        }
    }
    Err(refuse("it does not come to an end"))
}

struct Imagination<'e> {
    id: ExecutionId,
    plan: Arc<Plan>,
    ledger: Ledger,
    answers: Answers<'e>,
    now: Millis,
    events: Vec<Event>,
    unknown: Vec<UnknownAnswer>,
}

impl Imagination<'_> {
    fn start(&mut self, recorded: &ExecutionStarted) -> Result<(), LedgerError> {
        let id = |&node: &usize| self.plan.nodes[node].id.clone();
        let mut starts: Vec<NodeId> = self.plan.starts.iter().map(id).collect();
        // Where it was started at some of its triggers, those that are still there count.
        let kept: Vec<NodeId> = starts.iter().filter(|id| recorded.starts.contains(id)).cloned().collect();
        if !kept.is_empty() {
            starts = kept;
        }
        let definition = serde_json::to_value(&*self.plan.workflow).unwrap_or_default();
        self.append(Fact::ExecutionStarted(ExecutionStarted {
            definition_hash: self.plan.hash.clone(),
            definition: Payload::new(definition),
            starts,
            ..recorded.clone()
        }))
    }

    /// One firing, or the next timer; `false` when nothing can go on.
    fn step(&mut self) -> Result<bool, LedgerError> {
        if let Some(message) = self.ledger.next_ready() {
            self.fire(message)?;
            return Ok(true);
        }
        let Some(due) = self.ledger.next_due() else { return Ok(false) };
        self.now = self.now.max(due);
        for fact in self.ledger.wake(self.now) {
            // A join may still hear from a firing whose answer is not known; it does not give up.
            if self.unknown.is_empty() {
                self.append(fact)?;
            }
        }
        Ok(true)
    }

    fn fire(&mut self, message: Message) -> Result<(), LedgerError> {
        let plan = Arc::clone(&self.plan);
        let firing = Firing {
            message_id: message.id.clone(),
            node_id: plan.nodes[message.node].id.clone(),
            lineage: message.lineage.clone(),
            attempt: message.attempt,
        };
        let known = self.answers.get(&(&firing.node_id, firing.lineage.key()));
        // What asks for the time is told the time of the recording.
        let began = known.map_or(self.now, |answer| answer.began);
        let Prepared { parameters, work } = prepare(&plan, &message, began);
        let (mut duration, mut recorded) = (0, None);
        if let Some(answer) = known {
            let asks_the_same = same(answer.parameters, parameters.as_ref());
            duration = answer.duration;
            recorded = answer.outcome.clone().filter(|_| asks_the_same);
        }
        let asked_before = known.is_some();
        if message.resumed.is_none() {
            self.append(Fact::NodeStarted(NodeStarted { firing: firing.clone(), parameters }))?;
        }
        let answer = match work {
            Work::Done(output) => Ok(output),
            Work::Failed(error) => Err(error),
            Work::Sleep { then, .. } => *then,
            Work::Wait { due } => return self.append(Fact::NodeParked(NodeParked { firing, due })),
            Work::Call(_) => match recorded {
                Some(answer) => answer,
                None => {
                    let (node_id, key) = (firing.node_id, firing.lineage.key());
                    self.unknown.push(UnknownAnswer { node_id, key, asked_before });
                    return Ok(());
                }
            },
        };
        let effects = conclude(&plan, &message, answer);
        self.commit(firing, duration, effects)
    }

    fn commit(&mut self, firing: Firing, duration: Millis, effects: Effects) -> Result<(), LedgerError> {
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

    fn append(&mut self, fact: Fact) -> Result<(), LedgerError> {
        let mut event =
            Event { execution_id: self.id.clone(), seq: self.ledger.position() + 1, at: self.now, fact };
        let heard = self.ledger.apply(&event)?;
        event.fact.note(heard);
        self.events.push(event);
        Ok(())
    }
}

/// A recorded value that was hidden is taken to be what it stands for.
fn same(recorded: Option<&Payload>, now: Option<&Payload>) -> bool {
    match (recorded, now) {
        (Some(recorded), Some(now)) => recorded == now || redact::agrees(recorded.value(), now.value()),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn answers(events: &[Event]) -> Answers<'_> {
    let mut answers = Answers::new();
    for event in events {
        match &event.fact {
            Fact::NodeStarted(started) => {
                let place = (&started.firing.node_id, started.firing.lineage.key());
                let parameters = started.parameters.as_ref();
                let fresh = Answer { began: event.at, parameters, duration: 0, outcome: None };
                answers.insert(place, fresh);
            }
            Fact::NodeSucceeded(done) => {
                if let Some(answer) = answers.get_mut(&(&done.firing.node_id, done.firing.lineage.key())) {
                    answer.duration = done.duration;
                    let output = Output { payload: done.output.clone(), items: done.items.clone() };
                    answer.outcome = Some(Ok(output));
                }
            }
            Fact::NodeFailed(done) => {
                if let Some(answer) = answers.get_mut(&(&done.firing.node_id, done.firing.lineage.key())) {
                    answer.duration = done.duration;
                    answer.outcome = Some(Err(done.error.clone()));
                }
            }
            Fact::ExecutionStarted(_)
            | Fact::NodeParked(_)
            | Fact::AttemptFailed(_)
            | Fact::TimedOut(_)
            | Fact::ExecutionEnded(_) => {}
        }
    }
    answers
}
