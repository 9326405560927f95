//! Does the core still say what was recorded? Parameters, answers of nodes that need nothing from outside, the ways
//! that were taken, what joins heard and how it ended; the first difference is told with both sides.

use std::collections::HashMap;

use engine::{Effects, Message, Output, Prepared, Work, conclude, prepare};
use protocol::{
    Consequence, Echo, EdgeId, ErrorCode, Event, ExecutionEnded, ExecutionStatus, Fact, Firing, LineageKey,
    MessageId, NodeError, NodeId, Payload,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Ledger, LedgerError, redact};

/// What was checked, and the first thing that is not as it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verified {
    /// Events that agree.
    pub events: u64,
    /// Firings whose parameters and outcome were worked out again.
    pub firings: u64,
    /// Answers from outside that were taken from the recording.
    pub recorded_answers: u64,
    pub difference: Option<Difference>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub position: u64,
    pub node_id: Option<NodeId>,
    pub key: LineageKey,
    /// `parameters`, `output`, `items`, `error`, `edges`, `consequence`, `echo`, `due`, `end`, or `log`.
    pub what: &'static str,
    pub recorded: Value,
    pub replayed: Value,
}

/// An empty recording, or one whose workflow cannot be read, is refused; everything else is an answer.
pub fn verify(events: &[Event]) -> Result<Verified, LedgerError> {
    let mut replay = Replay {
        ledger: Ledger::begin(events)?,
        prepared: HashMap::new(),
        halted: None,
        verified: Verified::default(),
    };
    for event in events {
        if let Err(difference) = replay.take_in(event) {
            replay.verified.difference = Some(*difference);
            break;
        }
        replay.verified.events += 1;
    }
    Ok(replay.verified)
}

struct Replay {
    ledger: Ledger,
    /// What each firing under way was about to do.
    prepared: HashMap<MessageId, Work>,
    /// The failure that ends the execution.
    halted: Option<NodeError>,
    verified: Verified,
}

type Agreed = Result<(), Box<Difference>>;

impl Replay {
    fn take_in(&mut self, event: &Event) -> Agreed {
        match &event.fact {
            Fact::NodeStarted(started) => {
                self.apply(event, &Echo::default())?;
                let Some(message) = self.message(&started.firing) else { return Ok(()) };
                let Prepared { parameters, work } = prepare(self.ledger.plan(), &message, event.at);
                self.prepared.insert(started.firing.message_id.clone(), work);
                let at = At { event, firing: Some(&started.firing) };
                at.agree("parameters", &optional(started.parameters.as_ref()), &optional(parameters.as_ref()))
            }
            Fact::NodeParked(parked) => {
                let at = At { event, firing: Some(&parked.firing) };
                let due = match self.prepared.get(&parked.firing.message_id) {
                    Some(Work::Wait { due }) => json!(due),
                    Some(Work::Done(_) | Work::Failed(_) | Work::Sleep { .. } | Work::Call(_)) | None => {
                        json!("it does not rest")
                    }
                };
                at.agree("due", &json!(parked.due), &due)?;
                self.apply(event, &Echo::default())
            }
            Fact::AttemptFailed(failed) => {
                self.prepared.remove(&failed.firing.message_id);
                self.apply(event, &Echo::default())
            }
            Fact::NodeSucceeded(done) => {
                let output = Output { payload: done.output.clone(), items: done.items.clone() };
                self.conclude(event, &done.firing, &Ok(output), &done.taken, Consequence::GoOn)?;
                self.apply(event, &done.echo)
            }
            Fact::NodeFailed(done) => {
                self.conclude(event, &done.firing, &Err(done.error.clone()), &done.taken, done.consequence)?;
                self.halted = (done.consequence == Consequence::Halt).then(|| done.error.clone());
                self.apply(event, &done.echo)
            }
            Fact::ExecutionEnded(ended) => {
                self.end(event, ended)?;
                self.apply(event, &Echo::default())
            }
            Fact::Intervened(done) => self.apply(event, &done.echo),
            Fact::ExecutionStarted(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_) => self.apply(event, &Echo::default()),
        }
    }

    /// What the core makes of a firing, against what was written down.
    fn conclude(
        &mut self,
        event: &Event,
        firing: &Firing,
        recorded: &Result<Output, NodeError>,
        taken: &[EdgeId],
        consequence: Consequence,
    ) -> Agreed {
        // A firing that the log does not know is refused when the event is taken in.
        let Some(mut message) = self.message(firing) else { return Ok(()) };
        let plan = self.ledger.plan().clone();
        let mut work = self.prepared.remove(&firing.message_id);
        if let Some(Work::Wait { due }) = work {
            message.resumed = Some(due);
            work = Some(prepare(&plan, &message, event.at).work);
        }
        let at = At { event, firing: Some(firing) };
        let given = self.ledger.get(&firing.message_id).and_then(|opened| opened.given.clone());
        let answer = match work {
            // Whoever has given the answer is not part of the workflow; what follows from it is.
            Some(_) if let Some(given) = given => given,
            Some(Work::Done(output)) => Ok(output),
            Some(Work::Failed(error)) => Err(error),
            Some(Work::Sleep { then, .. }) => *then,
            Some(Work::Call(_)) => {
                self.verified.recorded_answers += 1;
                recorded.clone()
            }
            Some(Work::Wait { .. }) | None => {
                return at.agree("log", &json!("it ends"), &json!("it has not begun"));
            }
        };
        let Effects { outcome, taken: edges, consequence: follows } = conclude(&plan, &message, answer);
        self.verified.firings += 1;
        match (recorded, &outcome) {
            (Ok(recorded), Ok(replayed)) => {
                at.agree_payloads("output", Some(&recorded.payload), Some(&replayed.payload))?;
                at.agree_payloads("items", recorded.items.as_ref(), replayed.items.as_ref())?;
            }
            (recorded, replayed) => at.agree("error", &described(recorded), &described(replayed))?,
        }
        let edges: Vec<&EdgeId> = edges.iter().map(|&edge| &plan.edges[edge].source.id).collect();
        at.agree("edges", &json!(taken), &json!(edges))?;
        at.agree("consequence", &json!(consequence), &json!(follows))
    }

    fn end(&self, event: &Event, ended: &ExecutionEnded) -> Agreed {
        let at = At { event, firing: None };
        // Whoever stops an execution is not part of it.
        if ended.error.as_ref().is_some_and(|error| error.code == ErrorCode::Cancelled) {
            return Ok(());
        }
        let undecided = self.ledger.undecided();
        let expected = match &self.halted {
            Some(error) if error.code.is_breakdown() => ExecutionStatus::Failed,
            Some(_) => ExecutionStatus::Halted,
            None if !self.ledger.is_quiet() => {
                return at.agree("end", &json!(ended), &json!("something is under way"));
            }
            None if undecided.is_empty() => ExecutionStatus::Completed,
            None => ExecutionStatus::Failed,
        };
        at.agree("end", &json!(ended.status), &json!(expected))
    }

    fn apply(&mut self, event: &Event, recorded: &Echo) -> Agreed {
        let at = At { event, firing: None };
        match self.ledger.apply(event) {
            Ok(_) if !says_echo(&event.fact) => Ok(()),
            Ok(heard) if heard == *recorded || in_any_order(&heard) == in_any_order(recorded) => Ok(()),
            Ok(heard) => at.agree("echo", &json!(recorded), &json!(heard)),
            Err(error) => at.agree("log", &json!("an event"), &json!(error.complaint)),
        }
    }

    fn message(&self, firing: &Firing) -> Option<Message> {
        self.ledger.get(&firing.message_id).map(|opened| opened.message.clone())
    }
}

/// Where a difference is.
struct At<'e> {
    event: &'e Event,
    firing: Option<&'e Firing>,
}

impl At<'_> {
    fn agree(&self, what: &'static str, recorded: &Value, replayed: &Value) -> Agreed {
        if redact::agrees(recorded, replayed) {
            return Ok(());
        }
        Err(Box::new(Difference {
            position: self.event.seq,
            node_id: self.firing.map(|firing| firing.node_id.clone()),
            key: self.firing.map_or_else(LineageKey::default, |firing| firing.lineage.key()),
            what,
            recorded: recorded.clone(),
            replayed: replayed.clone(),
        }))
    }

    fn agree_payloads(
        &self,
        what: &'static str,
        recorded: Option<&Payload>,
        replayed: Option<&Payload>,
    ) -> Agreed {
        match (recorded, replayed) {
            (Some(recorded), Some(replayed)) if recorded.text() == replayed.text() => Ok(()),
            _ => self.agree(what, &optional(recorded), &optional(replayed)),
        }
    }
}

fn optional(payload: Option<&Payload>) -> Value {
    payload.map_or(Value::Null, |payload| payload.value().clone())
}

fn described(outcome: &Result<Output, NodeError>) -> Value {
    match outcome {
        Ok(output) => json!({"output": output.payload.value()}),
        Err(error) => json!({"error": error}),
    }
}

/// One commit may mean something for several joins; in which order that is said means nothing.
fn in_any_order(echo: &Echo) -> Vec<String> {
    let arrivals = echo.arrivals.iter().map(|arrival| json!(arrival).to_string());
    let skipped = echo.skipped.iter().map(|skipped| json!(skipped).to_string());
    let ignored = echo.ignored.iter().map(|ignored| json!(ignored).to_string());
    let mut said: Vec<String> = arrivals.chain(skipped).chain(ignored).collect();
    said.sort();
    said
}

/// Only a commit says what it meant for others.
fn says_echo(fact: &Fact) -> bool {
    matches!(fact, Fact::NodeSucceeded(_) | Fact::NodeFailed(_) | Fact::Intervened(_))
}
