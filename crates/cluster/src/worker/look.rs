//! Looking at executions whose moment has come: a timer is due, or nothing was heard for too long.

use std::sync::atomic::Ordering;

use engine::{Deadline, Due, Message};
use protocol::{ExecutionId, Millis, TimedOut};
use runtime::Standstills;

use super::Worker;
use crate::{
    ClusterError, Letter, Queue,
    execution::{Execution, Wish, unit_of},
    replica::Replica,
    wire::Late,
};

/// What a look finds.
struct Found {
    /// Messages whose rest is over, by the moment.
    rested: Vec<(Millis, Message)>,
    late: Vec<Late>,
    /// Joins whose time is over and that wait on, with the moment until which they do.
    prolonged: Vec<(TimedOut, Millis)>,
    /// Messages that may be lost, since nothing has happened for long.
    silent: Vec<Message>,
    quiet: bool,
    next: Option<Millis>,
}

impl Found {
    /// The names of the timers, those of messages first.
    fn timers(&self) -> Vec<String> {
        let rested = self.rested.iter().map(|(due, message)| format!("{} {due}", message.id));
        rested.chain(self.late.iter().map(|late| unit_of(&late.timed_out))).collect()
    }
}

impl Worker {
    pub(super) async fn look_at_what_is_due(
        &self,
        now: Millis,
        standstills: &Standstills,
    ) -> Result<(), ClusterError> {
        let lease = now + self.options.lease;
        loop {
            let claimed = self.desk.log.insist("claim looks", || self.desk.looks.claim(now, lease)).await?;
            if claimed.is_empty() {
                break;
            }
            for id in claimed {
                let next = self.look_at(&id, now, standstills).await?;
                self.desk.log.insist("settle a look", || self.desk.looks.settle(&id, lease, next)).await?;
            }
        }
        // In this order: what is asked for meanwhile rings again.
        self.next_look.store(Millis::MAX, Ordering::SeqCst);
        if let Some(next) = self.desk.log.insist("ask for the next look", || self.desk.looks.next()).await? {
            self.look_by(next);
        }
        if self.options.poll.is_some() {
            self.desk.clock.set(self.desk.log.insist("ask what time it is", || self.desk.log.now()).await?);
        }
        Ok(())
    }

    /// Sends what is due, and what may be lost. Says when to look again.
    async fn look_at(
        &self,
        id: &ExecutionId,
        now: Millis,
        standstills: &Standstills,
    ) -> Result<Option<Millis>, ClusterError> {
        let Some(execution) = self.execution(id).await? else {
            self.desk.complete_again(id).await?;
            return Ok(None);
        };
        let found = {
            let mut replica = execution.replica().await;
            let before = replica.ledger.position();
            execution.catch_up(&mut replica).await?;
            if execution.is_over() {
                drop(replica);
                self.forget(id);
                self.desk.complete_again(id).await?;
                return Ok(None);
            }
            let silent = execution.seen(replica.ledger.position()) && before == replica.ledger.position();
            self.find(&replica, now, silent, |deadline| standstills.reprieve(id, deadline, now))
        };
        let found = self.not_fired(&execution.id, found, now).await?;
        let mut letters = Vec::with_capacity(found.rested.len() + found.late.len());
        for (due, message) in &found.rested {
            letters.extend(self.desk.letters(&execution, &[(message.clone(), None)], Some(*due)).await?);
        }
        let late = found.late.iter().map(|late| {
            serde_json::to_vec(late)
                .map(|body| Letter::new(Queue::Timeout, body))
                .map_err(ClusterError::unwritable)
        });
        letters.extend(late.collect::<Result<Vec<_>, _>>()?);
        self.desk.clock.work_began(letters.len());
        self.desk.post.send(&letters).await?;
        self.send_silent(&execution, found.silent).await?;
        for (late, due) in found.prolonged {
            if let Some(written) = execution.write(Wish::Prolong { late, due, now }).await? {
                self.publish(&execution, &written).await?;
            }
        }
        if found.quiet
            && let Some(written) = execution.write(Wish::End { now }).await?
        {
            self.publish(&execution, &written).await?;
        }
        Ok(found.next)
    }

    /// Without what somebody else fires, or has fired a moment ago.
    async fn not_fired(
        &self,
        id: &ExecutionId,
        mut found: Found,
        now: Millis,
    ) -> Result<Found, ClusterError> {
        let timers = found.timers();
        if timers.is_empty() {
            return Ok(found);
        }
        let lease = self.options.lease;
        let word = format!("{} {}", self.desk.name, self.taken.fetch_add(1, Ordering::SeqCst));
        let take = || self.desk.log.take_timers(id, &timers, now, lease, &word);
        let ours = self.desk.log.insist("take timers", take).await?;
        // In the order of `timers`.
        let mut ours = ours.into_iter();
        found.rested.retain(|_| ours.next().unwrap_or(true));
        found.late.retain(|_| ours.next().unwrap_or(true));
        Ok(found)
    }

    fn find(
        &self,
        replica: &Replica,
        now: Millis,
        silent: bool,
        reprieve: impl Fn(Deadline) -> Option<Millis>,
    ) -> Found {
        let ledger = &replica.ledger;
        let (mut rested, mut late, mut prolonged) = (Vec::new(), Vec::new(), Vec::new());
        for (due, what) in ledger.due(now) {
            match what {
                Due::Message(message) => {
                    rested.extend(ledger.get(&message).map(|opened| (due, opened.message.clone())));
                }
                Due::Join(timed_out) => match ledger.deadline(&timed_out).and_then(&reprieve) {
                    Some(until) => prolonged.push((timed_out, until)),
                    None => late.push(replica.late(due, timed_out)),
                },
            }
        }
        let busy = ledger.busy().next().is_some();
        let lost =
            if silent { ledger.busy().map(|opened| opened.message.clone()).collect() } else { Vec::new() };
        // What is due now is sent once more, should nobody have taken it until then.
        let again = busy || !rested.is_empty() || !late.is_empty();
        let moments = prolonged.iter().map(|(_, until)| *until).chain(ledger.due_after(now));
        let next = moments.chain(again.then_some(now + self.desk.silence)).min();
        Found { rested, late, prolonged, silent: lost, quiet: ledger.is_quiet(), next }
    }

    /// Sends again what nobody works on.
    async fn send_silent(&self, execution: &Execution, messages: Vec<Message>) -> Result<(), ClusterError> {
        let mut lost = Vec::new();
        for message in messages {
            let lease = self
                .desk
                .log
                .insist("ask for a lease", || self.desk.log.lease(&execution.id, &message.id))
                .await?;
            if lease.is_none_or(|(_, until)| until <= self.desk.clock.now()) {
                lost.push((message, None));
            }
        }
        if !lost.is_empty() {
            tracing::info!(execution = %execution.id, messages = lost.len(), "nothing was heard for long; sent again");
        }
        let letters = self.desk.letters(execution, &lost, None).await?;
        self.desk.post.send(&letters).await
    }
}
