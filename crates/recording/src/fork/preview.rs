//! What a fork would ask of the world outside, found out by running it without asking anybody.

use std::sync::Arc;

use engine::{Message, Output, Plan, Work, call::Call, conclude, prepare};
use protocol::{
    Echo, ExecutionStarted, Fact, Firing, ForkPreview, Intervened, NodeError, NodeParked, NodeStarted,
    SideEffect,
};

use super::Past;
use crate::{LedgerError, replay::Dream};

/// Side effects that are listed; all of them are counted.
const LISTED: usize = 500;

/// As far as it can be told: what comes behind a question that nobody has answered yet is not known.
pub fn preview(plan: &Arc<Plan>, start: ExecutionStarted, past: &Past) -> Result<ForkPreview, LedgerError> {
    let mut dream = Dream::new("fork".into(), Arc::clone(plan), 0);
    dream.append(Fact::ExecutionStarted(Box::new(start)))?;
    let mut found = ForkPreview::default();
    while !dream.ledger.is_ended() {
        match dream.ledger.next_ready() {
            Some(message) => fire(&mut dream, past, message, &mut found)?,
            // A join may still hear from a question that is open; it does not give up.
            None if found.effects_total > 0 => break,
            None if dream.wake(true)? => {}
            None => break,
        }
    }
    Ok(found)
}

fn fire(
    dream: &mut Dream,
    past: &Past,
    mut message: Message,
    found: &mut ForkPreview,
) -> Result<(), LedgerError> {
    let plan = Arc::clone(&dream.plan);
    let firing = dream.firing(&message);
    if let Some(change) = past.change(&plan, &message) {
        let (firing, echo) = (firing.clone(), Echo::default());
        dream.append(Fact::Intervened(Intervened { firing, change, echo }))?;
        message = dream.ledger.get(&message.id).map_or(message, |opened| opened.message.clone());
    }
    let prepared = prepare(&plan, &message, dream.now);
    if message.resumed.is_none() {
        let (firing, parameters) = (firing.clone(), prepared.parameters);
        dream.append(Fact::NodeStarted(NodeStarted { firing, parameters, input: None }))?;
    }
    let recorded = past.answer(&plan, &message, &prepared.work);
    if let (Work::Call(call), Some(_)) = (&prepared.work, &recorded) {
        found.pinned += 1;
        note(&mut found.pins, &firing, call);
    }
    let answer: Result<Output, NodeError> = match (recorded, prepared.work) {
        (Some(answer), _) => answer,
        (None, Work::Done(output)) => Ok(output),
        (None, Work::Failed(error)) => Err(error),
        (None, Work::Sleep { then, .. }) => *then,
        (None, Work::Wait { due }) => return dream.append(Fact::NodeParked(NodeParked { firing, due })),
        (None, Work::Call(call)) => {
            found.effects_total += 1;
            note(&mut found.effects, &firing, &call);
            return Ok(());
        }
    };
    let effects = conclude(&plan, &message, answer);
    dream.commit(firing, 0, effects)
}

fn note(list: &mut Vec<SideEffect>, firing: &Firing, call: &Call) {
    if list.len() < LISTED {
        let (node_id, key) = (firing.node_id.clone(), firing.lineage.key());
        list.push(SideEffect { node_id, key, asks: call.summary() });
    }
}
