//! What comes in: work, duplicates, joins that gave up, and nonsense.

use std::sync::Arc;

use engine::{Message, Plan};
use lapin::message::Delivery as Incoming;
use protocol::{ExecutionId, ExecutionStarted, Fact, Payload};
use runtime::{Delivery, Receipt, Stopped};

use super::{InHand, Worker, lock};
use crate::{
    ClusterError, Delay, Letter, Queue,
    execution::{Execution, Wish, unit_of},
    post::Arrived,
    slate::Debt,
    wire::{self, Late, Ticket, Unfit, unfit},
};

/// The header that counts how often the house could not deal with a message.
const TRIES: &str = "x-tries";
/// The header that says why a message is parked.
const REASON: &str = "x-reason";

/// What is to be done with a message.
enum Verdict {
    Work {
        message: Box<Message>,
        execution: Arc<Execution>,
        plan: Arc<Plan>,
        resumed: bool,
    },
    /// It is done with.
    Drop,
    Park(Unfit),
}

impl Worker {
    pub(super) async fn admit(&self, arrived: Arrived) -> Result<Option<Delivery>, ClusterError> {
        let Arrived { queue, delivery, debt } = arrived;
        let verdict = match queue {
            Queue::Timeout => {
                let given_up = self.give_up_join(&delivery.data).await;
                self.desk.clock.work_ended(1);
                given_up
            }
            Queue::Execution | Queue::Status | Queue::Completion | Queue::Later(_) | Queue::Parking => {
                self.judge(&delivery.data, delivery.redelivered).await
            }
        };
        match verdict {
            Ok(Verdict::Work { message, execution, plan, resumed }) => {
                let stopped = Stopped(execution.stopped());
                let receipt = Receipt {
                    execution_id: message.execution_id.clone(),
                    message_id: message.id.clone(),
                    attempt: message.attempt,
                };
                let in_hand = InHand { debt, execution, announced: false, resumed };
                let ours = self.take_in_hand(&receipt, in_hand).await;
                Ok(ours.then_some(Delivery { plan, message: *message, receipt, stopped }))
            }
            Ok(Verdict::Drop) => {
                debt.settle().await;
                if queue == Queue::Execution && is_resumed(&delivery.data) {
                    self.desk.clock.work_ended(1);
                }
                Ok(None)
            }
            Ok(Verdict::Park(why)) => {
                self.park_away(delivery, debt, &why).await?;
                Ok(None)
            }
            // Nobody takes it from us: it comes back when we are gone.
            Err(error @ ClusterError::GaveUp { .. }) => Err(error),
            Err(error) => {
                self.try_later(delivery, debt, &error).await?;
                Ok(None)
            }
        }
    }

    /// False for a copy of what is in hand already.
    async fn take_in_hand(&self, receipt: &Receipt, in_hand: InHand) -> bool {
        let key = (receipt.execution_id.clone(), receipt.message_id.clone());
        let twice = {
            let mut held = lock(&self.in_hand);
            match held.contains_key(&key) {
                true => Some(in_hand),
                false => held.insert(key, in_hand),
            }
        };
        // The first one comes back should we fail.
        let Some(copy) = twice else { return true };
        self.desk.clock.work_ended(usize::from(copy.resumed));
        copy.debt.settle().await;
        false
    }

    /// A message that the broker hands out again was in the hands of a worker that is gone; what that one could not do
    /// any more is done here. A mere copy is not needed: whoever has the original sees to it.
    async fn judge(&self, body: &[u8], redelivered: bool) -> Result<Verdict, ClusterError> {
        let ticket: Ticket = match wire::read(body) {
            Ok(ticket) => ticket,
            Err(why) => return Ok(Verdict::Park(why)),
        };
        if let Err(why) = wire::check_id(&ticket.execution_id) {
            return Ok(Verdict::Park(why));
        }
        let Some(message_id) = &ticket.message_id else { return self.judge_start(&ticket, body).await };
        let Some(execution) = self.execution(&ticket.execution_id).await? else {
            let unit = redelivered.then_some(message_id.as_str());
            return self.judge_stranger(&ticket.execution_id, unit).await;
        };
        let mut replica = execution.replica().await;
        // A message may know more than our copy: that it exists, or that it has rested.
        let opened = replica.ledger.get(message_id);
        if opened.is_none_or(|opened| ticket.resumed.is_some() && opened.parked != ticket.resumed) {
            execution.catch_up(&mut replica).await?;
        }
        if execution.is_over() {
            drop(replica);
            self.forget(&execution.id);
            return self.judge_stranger(&execution.id, redelivered.then_some(message_id.as_str())).await;
        }
        let plan = Arc::clone(replica.ledger.plan());
        let Some(opened) = replica.ledger.get(message_id) else {
            if plan.node(&ticket.current_node).is_none() {
                let message = format!("the workflow has no node {:?}", ticket.current_node.as_str());
                return Ok(Verdict::Park(unfit("UNKNOWN_NODE", message)));
            }
            drop(replica);
            if redelivered {
                self.desk.publish_again(&execution, message_id.as_str()).await?;
            }
            return Ok(Verdict::Drop);
        };
        if let Err(why) = wire::check_place(&plan, &opened.message, &ticket) {
            return Ok(Verdict::Park(why));
        }
        let (mut message, resumed) = (Box::new(opened.message.clone()), ticket.resumed.is_some());
        match (opened.parked, opened.started) {
            // It rests. Only the message that its timer has sent may wake it.
            (Some(due), started) => {
                if ticket.resumed != Some(due) {
                    return Ok(Verdict::Drop);
                }
                message.resumed = started.map(|_| due);
            }
            // Its rest was cut short by hand.
            (None, Some(_)) if message.resumed.is_some() => {}
            (None, Some(_)) => {
                drop(replica);
                if self.is_held(&execution.id, &message).await? {
                    return Ok(Verdict::Drop);
                }
                message.attempt += 1;
                return Ok(Verdict::Work { message, execution, plan, resumed });
            }
            (None, None) => {}
        }
        drop(replica);
        Ok(Verdict::Work { message, execution, plan, resumed })
    }

    /// Whether somebody is at it. A copy is not needed then: should that worker die, the silence is noticed.
    async fn is_held(&self, execution: &ExecutionId, message: &Message) -> Result<bool, ClusterError> {
        let lease =
            self.desk.log.insist("ask for a lease", || self.desk.log.lease(execution, &message.id)).await?;
        Ok(lease.is_some_and(|(_, until)| until > self.desk.clock.now()))
    }

    /// A message of an execution that has ended, or of which nothing is known.
    async fn judge_stranger(&self, id: &ExecutionId, unit: Option<&str>) -> Result<Verdict, ClusterError> {
        if self.desk.log.insist("ask for an execution", || self.desk.log.standing(id)).await?.is_none() {
            let message = format!("nothing is known of the execution {id}; its state is lost");
            return Ok(Verdict::Park(unfit("STATE_LOST", message)));
        }
        // It may be the one that ended it and could not say so any more.
        if let Some(unit) = unit
            && self
                .desk
                .log
                .insist("ask what is published", || self.desk.log.unpublished(id, unit))
                .await?
                .is_some()
        {
            self.desk.complete_again(id).await?;
        }
        Ok(Verdict::Drop)
    }

    /// A message by which somebody else starts an execution: the trigger, with the definition.
    async fn judge_start(&self, ticket: &Ticket, body: &[u8]) -> Result<Verdict, ClusterError> {
        let id = &ticket.execution_id;
        let start = match wire::start(body) {
            Ok(start) => start,
            Err(why) => return Ok(Verdict::Park(why)),
        };
        let definition =
            serde_json::to_value(&start.workflow_definition).map_err(ClusterError::unwritable)?;
        let definition = Payload::new(definition);
        let loaded = engine::load_once(definition.text().as_bytes());
        let Some(plan) = loaded.plan else {
            let said: Vec<&str> =
                loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
            return Ok(Verdict::Park(unfit("INVALID_WORKFLOW", said.join("; "))));
        };
        if plan.node(&start.current_node).is_none() {
            let message = format!("the workflow has no node {:?}", start.current_node.as_str());
            return Ok(Verdict::Park(unfit("UNKNOWN_NODE", message)));
        }
        let input = start.accumulated_context.get("$trigger").cloned().unwrap_or_default();
        let fact = Fact::ExecutionStarted(Box::new(ExecutionStarted {
            workflow_id: start.workflow_id.clone(),
            title: plan.workflow.name.clone().unwrap_or_else(|| start.workflow_id.to_string()),
            path: None,
            definition_hash: plan.hash.clone(),
            definition,
            input: Payload::new(input),
            starts: vec![start.current_node.clone()],
            origin: None,
            until: None,
            observed: None,
            other: start.other,
        }));
        self.desk.begin(id, fact).await?;
        Ok(Verdict::Drop)
    }

    async fn give_up_join(&self, body: &[u8]) -> Result<Verdict, ClusterError> {
        let late: Late = match wire::read(body) {
            Ok(late) => late,
            Err(why) => return Ok(Verdict::Park(why)),
        };
        if let Err(why) = wire::check_id(&late.execution_id) {
            return Ok(Verdict::Park(why));
        }
        let unit = unit_of(&late.timed_out);
        let Some(execution) = self.execution(&late.execution_id).await? else {
            return self.judge_stranger(&late.execution_id, Some(&unit)).await;
        };
        execution.catch_up(&mut *execution.replica().await).await?;
        let now = self.desk.clock.now().max(late.due);
        match execution.write(Wish::TimeOut { late: late.timed_out, now }).await? {
            Some(written) => self.publish(&execution, &written).await?,
            None => self.desk.publish_again(&execution, &unit).await?,
        }
        Ok(Verdict::Drop)
    }

    async fn park_away(&self, delivery: Incoming, debt: Debt, why: &Unfit) -> Result<(), ClusterError> {
        tracing::warn!(code = why.code, reason = %why.message, "a message is parked");
        let reason = format!("{}: {}", why.code, why.message);
        let letter = Letter::new(Queue::Parking, delivery.data).with_header(REASON, &reason);
        self.desk.post.send(&[letter]).await?;
        debt.settle().await;
        Ok(())
    }

    /// The house could not deal with it. It comes back later, a few times.
    async fn try_later(
        &self,
        delivery: Incoming,
        debt: Debt,
        error: &ClusterError,
    ) -> Result<(), ClusterError> {
        let headers = delivery.properties.headers().as_ref();
        let tries = headers.and_then(|headers| headers.inner().get(TRIES)).map(|tries| format!("{tries:?}"));
        let digits: String = tries.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        let tries: u32 = digits.parse().unwrap_or(0);
        let Some(delay) = Delay::after(tries) else {
            return self.park_away(delivery, debt, &unfit("RETRIES_USED_UP", error.to_string())).await;
        };
        tracing::warn!(%error, tries, "a message is tried again later");
        let letter =
            Letter::new(Queue::Later(delay), delivery.data).with_header(TRIES, &(tries + 1).to_string());
        self.desk.post.send(&[letter]).await?;
        debt.settle().await;
        Ok(())
    }
}

/// Whether a letter says that a rest is over.
fn is_resumed(body: &[u8]) -> bool {
    wire::read::<Ticket>(body).is_ok_and(|ticket| ticket.resumed.is_some())
}
