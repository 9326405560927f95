//! What is written down when something has come of a message. Every backend asks here, so that the same work leaves
//! the same facts.

use protocol::{
    AttemptFailed, Consequence, Echo, EdgeId, ErrorCode, ExecutionEnded, ExecutionStatus, Fact, Firing,
    MessageId, Millis, NodeError, NodeFailed, NodeParked, NodeStarted, NodeSucceeded, Payload,
};

use super::Ledger;
use crate::{Again, Effects};

impl Ledger {
    /// What a message under way is, for the record; `None` if it is not, or if another attempt is at it by now.
    pub fn firing(&self, message_id: &MessageId, attempt: u32) -> Option<Firing> {
        let message = &self.open.get(message_id)?.message;
        (message.attempt == attempt).then(|| Firing {
            message_id: message_id.clone(),
            node_id: self.plan.nodes[message.node].id.clone(),
            lineage: message.lineage.clone(),
            attempt,
        })
    }

    /// The commit of a firing.
    pub fn concluded(&self, firing: Firing, at: Millis, duration: Millis, effects: Effects) -> Fact {
        // A rest is part of the time a firing takes.
        let opened = self.open.get(&firing.message_id);
        let began = opened.and_then(|opened| opened.message.resumed.or(opened.parked).and(opened.started));
        let duration = began.map_or(duration, |began| at - began);
        let id = |&edge: &usize| -> EdgeId { self.plan.edges[edge].source.id.clone() };
        let taken = effects.taken.iter().map(id).collect();
        let echo = Echo::default();
        match effects.outcome {
            Ok(output) => {
                let (items, output) = (output.items, output.payload);
                Fact::NodeSucceeded(NodeSucceeded { firing, duration, output, items, taken, echo })
            }
            Err(error) => {
                let consequence = effects.consequence;
                Fact::NodeFailed(NodeFailed { firing, duration, error, taken, consequence, echo })
            }
        }
    }

    /// The end, where nothing is under way any more. That is all there was, unless somebody still waits.
    pub fn quiet_end(&self) -> Option<Fact> {
        if self.ended || !self.is_quiet() {
            return None;
        }
        let undecided = self.undecided();
        if undecided.is_empty() {
            return Some(ended(ExecutionStatus::Completed, None));
        }
        let message = format!("nothing is under way, yet {}", undecided.join("; "));
        Some(ended(ExecutionStatus::Failed, Some(NodeError::new(ErrorCode::Stalled, message))))
    }
}

pub fn started(firing: Firing, parameters: Option<Payload>) -> Fact {
    Fact::NodeStarted(NodeStarted { firing, parameters, input: None })
}

pub fn parked(firing: Firing, due: Millis) -> Fact {
    Fact::NodeParked(NodeParked { firing, due })
}

/// An attempt came to nothing; the next one follows after a while.
pub fn tried_in_vain(firing: Firing, at: Millis, duration: Millis, again: Again) -> Fact {
    let Again { error, fault, delay } = again;
    Fact::AttemptFailed(AttemptFailed { firing, duration, error, fault, due: at.saturating_add(delay) })
}

/// The end that a failure brings about at once.
pub fn halted_by(fact: &Fact) -> Option<Fact> {
    let Fact::NodeFailed(NodeFailed { consequence: Consequence::Halt, error, .. }) = fact else {
        return None;
    };
    let status = if error.code.is_breakdown() { ExecutionStatus::Failed } else { ExecutionStatus::Halted };
    Some(ended(status, Some(error.clone())))
}

pub fn cancelled() -> Fact {
    ended(ExecutionStatus::Halted, Some(NodeError::new(ErrorCode::Cancelled, "stopped by the user")))
}

fn ended(status: ExecutionStatus, error: Option<NodeError>) -> Fact {
    Fact::ExecutionEnded(ExecutionEnded { status, error })
}
