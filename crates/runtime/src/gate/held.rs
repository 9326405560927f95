//! A message at the gate: what is known of it, and what can be changed in it.

use std::sync::Arc;

use engine::{Effects, Message, Output, Plan, Prepared, Work, conclude, nodes::Resolve, prepare};
use protocol::{Change, ControlError, Edit, HeldMessage, Millis, NodeError, Payload, PayloadView, WhyHeld};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A message in hand, and how far it is.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub plan: Arc<Plan>,
    pub message: Message,
    pub stage: Stage,
}

#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Before(Prepared),
    After(Effects),
}

pub(super) struct Held {
    pub standing: Standing,
    pub why: WhyHeld,
    pub since: Millis,
    pub edited: bool,
    pub release: oneshot::Sender<Released>,
}

pub(super) struct Released {
    pub standing: Standing,
    pub way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    On,
    Twice,
    Dropped,
    /// Whoever could let it go has gone.
    Left,
}

impl Held {
    pub fn let_go(self, way: Way) {
        // Whoever waited may have gone with the execution.
        let _ = self.release.send(Released { standing: self.standing, way });
    }

    pub fn view(&self) -> HeldMessage {
        let Standing { plan, message, stage } = &self.standing;
        let parameters = match stage {
            Stage::Before(prepared) => prepared.parameters.clone(),
            Stage::After(_) => prepare(plan, message, self.since).parameters,
        };
        let asks = match stage {
            Stage::Before(Prepared { work: Work::Call(call), .. }) => Some(call.summary()),
            Stage::Before(_) | Stage::After(_) => None,
        };
        let outcome = stage.effects().map(|effects| &effects.outcome);
        HeldMessage {
            execution_id: message.execution_id.clone(),
            message_id: message.id.clone(),
            node_id: plan.nodes[message.node].id.clone(),
            key: message.lineage.key(),
            attempt: message.attempt,
            gate: stage.place(),
            why: self.why.clone(),
            since: self.since,
            edited: self.edited,
            parameters: parameters.as_ref().map(PayloadView::of),
            context: PayloadView::of(&message.seen()),
            asks,
            output: outcome.and_then(|it| it.as_ref().ok()).map(|output| PayloadView::of(&output.payload)),
            error: outcome.and_then(|it| it.as_ref().err()).cloned(),
        }
    }
}

impl Standing {
    /// What an edit comes down to, or why it makes no sense here.
    pub fn change(&self, edit: &Edit) -> Result<Change, ControlError> {
        match (edit, &self.stage) {
            (Edit::Context { entries }, Stage::Before(_)) => {
                if let Some(key) = entries.keys().find(|key| !key.starts_with('$')) {
                    let hint = format!("write ${key}, such as $item, $json or $<node>");
                    return Err(ControlError::invalid(
                        format!("{key:?} names nothing that a node sees"),
                        hint,
                    ));
                }
                let entry = |(key, value): (&String, &Value)| (key.clone(), Payload::new(value.clone()));
                Ok(Change::Context(entries.iter().map(entry).collect()))
            }
            (Edit::Parameters { value }, Stage::Before(_)) => self.parameters(value),
            (Edit::Output { value }, Stage::After(_)) => {
                let Output { payload, items } = answer_of(&self.plan, self.message.node, value)?;
                Ok(Change::Output { output: payload, items })
            }
            (Edit::Context { .. } | Edit::Parameters { .. }, Stage::After(_)) => Err(ControlError::invalid(
                "the node has done its work: what it saw cannot be changed any more",
                "change its output, or hold it before its work",
            )),
            (Edit::Output { .. }, Stage::Before(_)) => Err(ControlError::invalid(
                "the node has not done its work yet: it has no output",
                "change what it sees, hold it after its work, or pin its output",
            )),
        }
    }

    fn parameters(&self, value: &Value) -> Result<Change, ControlError> {
        let Some(fields) = value.as_object() else {
            return Err(ControlError::invalid("parameters are an object", "give all of them, resolved"));
        };
        let node = &self.plan.nodes[self.message.node];
        let before = match &self.stage {
            Stage::Before(Prepared { parameters: Some(before), .. }) => before.value().clone(),
            Stage::Before(_) | Stage::After(_) => json!({}),
        };
        let differs = |name: &&String| before.get(name.as_str()) != fields.get(name.as_str());
        if let Some(name) = fields.keys().filter(differs).find(|name| node.how(name) == Resolve::Later) {
            let message = format!("{name:?} is worked out by {} itself, item by item", node.id);
            return Err(ControlError::invalid(message, "change what it sees instead: $json or $item"));
        }
        Ok(Change::Parameters(Payload::new(value.clone())))
    }

    /// Makes a change that was written down.
    pub fn take(&mut self, change: &Change, now: Millis) {
        match change {
            Change::Context(entries) => {
                entries.iter().for_each(|(key, value)| self.message.set(key, value.clone()));
                self.stage = Stage::Before(prepare(&self.plan, &self.message, now));
            }
            Change::Parameters(parameters) => {
                self.message.parameters = Some(parameters.clone());
                self.stage = Stage::Before(prepare(&self.plan, &self.message, now));
            }
            Change::Output { output, items } => {
                self.conclude(Ok(Output { payload: output.clone(), items: items.clone() }));
            }
            Change::Error(error) => self.conclude(Err(error.clone())),
            Change::Dropped | Change::Duplicated => {}
        }
    }

    fn conclude(&mut self, answer: Result<Output, NodeError>) {
        self.stage = Stage::After(conclude(&self.plan, &self.message, answer));
    }
}

/// A value as the output of a node; a split spreads the items of an array.
pub(crate) fn answer_of(plan: &Plan, node: usize, value: &Value) -> Result<Output, ControlError> {
    if !plan.nodes[node].opens() {
        return Ok(Payload::new(value.clone()).into());
    }
    let Some(items) = value.as_array() else {
        let message = format!("{} spreads items: its output is given as an array", plan.nodes[node].id);
        return Err(ControlError::invalid(message, "give the items, such as [1, 2, 3]"));
    };
    let payload = Payload::new(json!({"count": items.len()}));
    Ok(Output { payload, items: Some(Payload::new(value.clone())) })
}
