//! What would have happened with another workflow: the core runs it from the recorded start, and whatever asks the
//! outside is given the recorded answer. Where there is none, that firing stays open and is named.

use std::{collections::HashMap, sync::Arc};

use engine::{Message, Output, Plan, Prepared, Work, conclude, prepare};
use protocol::{
    Event, ExecutionStarted, Fact, LineageKey, Millis, NodeError, NodeId, NodeParked, NodeStarted, Payload,
};
use serde::Serialize;

use super::Dream;
use crate::{LedgerError, redact};

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
        dream: Dream::new(execution_id.clone(), plan, *at),
        answers: answers(recorded),
        unknown: Vec::new(),
    };
    imagination.start(started)?;
    for _ in 0..MOST_FIRINGS {
        if imagination.dream.ledger.is_ended() || !imagination.step()? {
            let Imagination { dream, unknown, .. } = imagination;
            return Ok(Imagined { events: dream.events, unknown });
        }
    }
    Err(refuse("it does not come to an end"))
}

struct Imagination<'e> {
    dream: Dream,
    answers: Answers<'e>,
    unknown: Vec<UnknownAnswer>,
}

impl Imagination<'_> {
    fn start(&mut self, recorded: &ExecutionStarted) -> Result<(), LedgerError> {
        let plan = Arc::clone(&self.dream.plan);
        let id = |&node: &usize| plan.nodes[node].id.clone();
        let mut starts: Vec<NodeId> = plan.starts.iter().map(id).collect();
        // Where it was started at some of its triggers, those that are still there count.
        let kept: Vec<NodeId> = starts.iter().filter(|id| recorded.starts.contains(id)).cloned().collect();
        if !kept.is_empty() {
            starts = kept;
        }
        let definition = serde_json::to_value(&*plan.workflow).unwrap_or_default();
        self.dream.append(Fact::ExecutionStarted(Box::new(ExecutionStarted {
            definition_hash: plan.hash.clone(),
            definition: Payload::new(definition),
            starts,
            // What is imagined happens here.
            observed: None,
            other: Default::default(),
            ..recorded.clone()
        })))
    }

    /// One firing, or the next timer; `false` when nothing can go on.
    fn step(&mut self) -> Result<bool, LedgerError> {
        match self.dream.ledger.next_ready() {
            Some(message) => self.fire(message).map(|()| true),
            // A join may still hear from a firing whose answer is not known; it does not give up.
            None => self.dream.wake(self.unknown.is_empty()),
        }
    }

    fn fire(&mut self, message: Message) -> Result<(), LedgerError> {
        let plan = Arc::clone(&self.dream.plan);
        let firing = self.dream.firing(&message);
        let known = self.answers.get(&(&firing.node_id, firing.lineage.key()));
        // What asks for the time is told the time of the recording.
        let began = known.map_or(self.dream.now, |answer| answer.began);
        let Prepared { parameters, work } = prepare(&plan, &message, began);
        let (mut duration, mut recorded) = (0, None);
        if let Some(answer) = known {
            let asks_the_same = same(answer.parameters, parameters.as_ref());
            duration = answer.duration;
            recorded = answer.outcome.clone().filter(|_| asks_the_same);
        }
        let asked_before = known.is_some();
        if message.resumed.is_none() {
            self.dream.append(Fact::NodeStarted(NodeStarted {
                firing: firing.clone(),
                parameters,
                input: None,
            }))?;
        }
        let answer = match work {
            Work::Done(output) => Ok(output),
            Work::Failed(error) => Err(error),
            Work::Sleep { then, .. } => *then,
            Work::Wait { due } => return self.dream.append(Fact::NodeParked(NodeParked { firing, due })),
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
        self.dream.commit(firing, duration, effects)
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
            | Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_)
            | Fact::ExecutionEnded(_) => {}
        }
    }
    answers
}
