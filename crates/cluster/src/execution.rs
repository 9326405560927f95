//! One execution in the hands of one worker: its copy of the ledger, and the step by which it changes. Steps that wait
//! at the same time are written together.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
};

use engine::{Again, Message};
use protocol::{
    Change, Echo, Event, ExecutionId, Fact, Intervened, LineageKey, MessageId, Millis, NodeId, Payload,
    StatusLine, TimedOut,
};
use runtime::Conclusion;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, OnceCell, oneshot, watch};

use crate::{
    ClusterError,
    log::{Appended, CHUNK, Log, Step},
    replica::Replica,
};

/// Wishes written at once.
const MOST: usize = 200;

pub struct Execution {
    pub id: ExecutionId,
    log: Log,
    /// Who writes, for leases.
    holder: String,
    replica: AsyncMutex<Replica>,
    waiting: Mutex<Vec<Waiting>>,
    stopped: watch::Sender<bool>,
    /// Payloads that the log is known to keep.
    kept: Mutex<HashSet<String>>,
    /// How far the log was at the last look.
    seen: AtomicU64,
    /// The next look we have asked for.
    asked: AtomicI64,
    /// An answer of the log was lost, so what others seem to have written may be ours.
    uncertain: AtomicBool,
}

/// What a worker wants to have written down.
pub enum Wish {
    Announce {
        message: MessageId,
        attempt: u32,
        at: Millis,
        parameters: Option<Payload>,
        lease: Millis,
    },
    Park {
        message: MessageId,
        attempt: u32,
        at: Millis,
        due: Millis,
    },
    Retry {
        message: MessageId,
        attempt: u32,
        at: Millis,
        duration: Millis,
        again: Again,
    },
    Commit {
        message: MessageId,
        attempt: u32,
        conclusion: Box<Conclusion>,
    },
    TimeOut {
        late: TimedOut,
        now: Millis,
    },
    /// A join whose time is over waits on.
    Prolong {
        late: TimedOut,
        due: Millis,
        now: Millis,
    },
    /// Somebody with the control role has changed a message by hand.
    Intervene {
        message: MessageId,
        attempt: u32,
        at: Millis,
        change: Change,
    },
    /// A timer fires before it is due: that of a node at a key, or the first of all.
    FireTimer {
        wanted: Option<(NodeId, LineageKey)>,
        now: Millis,
    },
    Cancel {
        now: Millis,
    },
    /// The end, where nothing is under way and nobody has said so.
    End {
        now: Millis,
    },
}

/// What came of a wish: nothing, where it was done before or somebody else does it.
pub type Answer = Result<Option<Arc<Written>>, String>;
type Waiting = (Wish, oneshot::Sender<Answer>);

/// What wishes that were written together have brought about. Whoever comes first makes all of it known, the others
/// wait for that.
#[derive(Default)]
pub struct Written {
    /// Steps whose children are to be published, by the names under which they are marked as published.
    pub units: Vec<String>,
    /// Messages that became ready, and the node that has made them so.
    pub messages: Vec<(Message, Option<NodeId>)>,
    pub statuses: Vec<StatusLine>,
    pub ended: bool,
    /// Messages that were under way when it ended, and are nobody's any more.
    pub abandoned: usize,
    /// The next moment at which the execution has to be looked at.
    pub next_due: Option<Millis>,
    known: OnceCell<()>,
}

impl Written {
    /// Makes it known, once.
    pub async fn once<F: Future<Output = Result<(), ClusterError>>>(
        &self,
        make_known: impl FnOnce() -> F,
    ) -> Result<(), ClusterError> {
        self.known.get_or_try_init(make_known).await.copied()
    }
}

/// A wish in the form of facts.
struct Draft {
    facts: Vec<(Millis, Fact)>,
    unit: Option<String>,
    from: Option<NodeId>,
    lease: Option<(MessageId, Millis)>,
    released: Option<MessageId>,
}

impl Execution {
    pub fn new(id: ExecutionId, log: Log, holder: String, replica: Replica) -> Self {
        let stopped = watch::Sender::new(replica.ledger.is_ended());
        Self {
            id,
            log,
            holder,
            replica: AsyncMutex::new(replica),
            waiting: Mutex::default(),
            stopped,
            kept: Mutex::default(),
            seen: AtomicU64::new(0),
            asked: AtomicI64::new(Millis::MAX),
            uncertain: AtomicBool::new(false),
        }
    }

    pub fn is_uncertain(&self) -> bool {
        self.uncertain.load(Ordering::SeqCst)
    }

    /// Appends a step, however long that takes.
    async fn append(&self, what: &str, position: u64, step: &Step) -> Result<Appended, ClusterError> {
        self.log
            .insist(what, || async {
                let appended = self.log.append(&self.id, position, step).await;
                self.uncertain.fetch_or(appended.is_err(), Ordering::SeqCst);
                appended
            })
            .await
    }

    /// Notes how far the log is; true if it was there at the last look already.
    pub fn seen(&self, position: u64) -> bool {
        self.seen.swap(position, Ordering::SeqCst) == position
    }

    /// Those that are not known to be kept; from now on they are.
    pub fn not_kept(&self, payloads: HashMap<&str, &Payload>) -> Vec<Payload> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = payloads.into_iter().filter(|(hash, _)| kept.insert((*hash).to_owned()));
        fresh.map(|(_, payload)| payload.clone()).collect()
    }

    /// Whether a look has to be asked for, so that there is one not later than `due`.
    pub fn needs_look(&self, due: Millis, now: Millis) -> bool {
        let asked = self.asked.load(Ordering::SeqCst);
        // What is due already was asked for once; whoever looks sees to the rest.
        let needs = due != asked && (due < asked || asked <= now);
        if needs {
            self.asked.store(due, Ordering::SeqCst);
        }
        needs
    }

    pub fn stopped(&self) -> watch::Receiver<bool> {
        self.stopped.subscribe()
    }

    pub fn is_over(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Tells whoever works for this execution that it has ended.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    pub async fn replica(&self) -> MutexGuard<'_, Replica> {
        self.replica.lock().await
    }

    /// Reads what others have written since.
    pub async fn catch_up(&self, replica: &mut Replica) -> Result<(), ClusterError> {
        loop {
            let behind = replica.ledger.position();
            let events = self.log.insist("read the log", || self.log.read(&self.id, behind)).await?;
            let (complete, nothing) = (events.len() < CHUNK, events.is_empty());
            replica.follow(events)?;
            if nothing {
                // Nothing new, or it is over and its facts are not kept any more.
                let standing =
                    self.log.insist("ask for an execution", || self.log.standing(&self.id)).await?;
                if standing.is_none_or(|standing| standing.ended) {
                    self.stop();
                }
            }
            if complete {
                break;
            }
        }
        if replica.ledger.is_ended() {
            self.stop();
        }
        Ok(())
    }

    /// Has a wish written down, together with those that wait beside it. `None` where there was nothing to write.
    pub async fn write(&self, wish: Wish) -> Result<Option<Arc<Written>>, ClusterError> {
        self.answered(self.wish(wish)).await
    }

    /// Says what is to be written. Wishes about one message are written in the order in which they were said.
    pub fn wish(&self, wish: Wish) -> oneshot::Receiver<Answer> {
        let (sender, answer) = oneshot::channel();
        self.waiting().push((wish, sender));
        answer
    }

    /// Has everything written that waits, until this wish is among it.
    pub async fn answered(
        &self,
        mut answer: oneshot::Receiver<Answer>,
    ) -> Result<Option<Arc<Written>>, ClusterError> {
        let mut replica = self.replica.lock().await;
        loop {
            // Who held the ledger before us may have written ours too.
            match answer.try_recv() {
                Ok(answer) => return answer.map_err(ClusterError::Damaged),
                Err(oneshot::error::TryRecvError::Empty) => {}
                Err(oneshot::error::TryRecvError::Closed) => {
                    return Err(ClusterError::Damaged("a step was given up half-way".to_owned()));
                }
            }
            let batch: Vec<Waiting> = {
                let mut waiting = self.waiting();
                let most = waiting.len().min(MOST);
                waiting.drain(..most).collect()
            };
            self.write_all(&mut replica, batch).await?;
        }
    }

    async fn write_all(&self, replica: &mut Replica, batch: Vec<Waiting>) -> Result<(), ClusterError> {
        let (mut written, mut done) = (Written::default(), Vec::with_capacity(batch.len()));
        let mut open = batch;
        while !open.is_empty() {
            open = self.write_some(replica, open, &mut written, &mut done).await?;
        }
        if !done.is_empty() {
            self.end_if_quiet(replica, &mut written).await?;
        }
        written.next_due = replica.ledger.next_due();
        if replica.ledger.is_ended() {
            self.stop();
        }
        let written = Arc::new(written);
        for sender in done {
            // Whoever has gone away meanwhile finds out from the log.
            let _ = sender.send(Ok(Some(Arc::clone(&written))));
        }
        Ok(())
    }

    /// Writes what can be written in one step. What has to be looked at again comes back.
    async fn write_some(
        &self,
        replica: &mut Replica,
        open: Vec<Waiting>,
        written: &mut Written,
        done: &mut Vec<oneshot::Sender<Answer>>,
    ) -> Result<Vec<Waiting>, ClusterError> {
        let position = replica.ledger.position();
        let mut step = Step { holder: self.holder.clone(), ..Step::default() };
        let (mut drafts, mut named, mut rest) = (Vec::new(), HashSet::new(), Vec::new());
        let mut ends = false;
        for (wish, sender) in open {
            // Behind an end nothing is written, and a message is spoken of once in a step.
            if ends || !named.insert(wish.about()) {
                rest.push((wish, sender));
                continue;
            }
            let Some(draft) = wish.draft(replica) else {
                let _ = sender.send(Ok(None));
                continue;
            };
            ends = draft.facts.iter().any(|(_, fact)| matches!(fact, Fact::ExecutionEnded(_)));
            let length = step.facts.len() as u64;
            let makes = |(_, fact): &(Millis, Fact)| !matches!(fact, Fact::NodeStarted(_));
            let maker = draft.facts.iter().position(makes).unwrap_or_default() as u64;
            step.units.extend(draft.unit.iter().map(|unit| (unit.clone(), position + length + maker + 1)));
            step.leases.extend(draft.lease.clone());
            step.released.extend(draft.released.clone());
            step.facts.extend(draft.facts.iter().cloned());
            drafts.push((wish, sender, draft));
        }
        let Some((last, _)) = step.facts.last() else { return Ok(rest) };
        step.waits = replica.ledger.last_due().map_or(0, |due| (due - last).max(0));
        match self.append("write to the log", position, &step).await? {
            Appended::Yes => {
                for (_, sender, draft) in drafts {
                    written.units.extend(draft.unit);
                    for (at, fact) in draft.facts {
                        self.take_in(replica, at, fact, draft.from.as_ref(), written)?;
                    }
                    done.push(sender);
                }
            }
            Appended::Behind(events) => {
                let complete = events.len() < CHUNK;
                replica.follow(events)?;
                if !complete {
                    self.catch_up(replica).await?;
                }
                let mut again: Vec<Waiting> =
                    drafts.into_iter().map(|(wish, sender, _)| (wish, sender)).collect();
                again.append(&mut rest);
                return Ok(again);
            }
            Appended::Ended | Appended::Lost => {
                self.catch_up(replica).await?;
                self.stop();
                for sender in drafts
                    .into_iter()
                    .map(|(_, sender, _)| sender)
                    .chain(rest.drain(..).map(|(_, sender)| sender))
                {
                    let _ = sender.send(Ok(None));
                }
            }
        }
        Ok(rest)
    }

    /// Nothing is under way any more: whoever sees it first says so.
    async fn end_if_quiet(&self, replica: &mut Replica, written: &mut Written) -> Result<(), ClusterError> {
        while let Some(end) = replica.ledger.quiet_end() {
            let position = replica.ledger.position();
            let at = replica.ledger.now();
            let units = written.units.last().map(|unit| (unit.clone(), position + 1)).into_iter().collect();
            let step = Step { facts: vec![(at, end.clone())], units, ..Step::default() };
            match self.append("write the end", position, &step).await? {
                Appended::Yes => self.take_in(replica, at, end, None, written)?,
                Appended::Behind(events) => replica.follow(events)?,
                Appended::Ended | Appended::Lost => return self.catch_up(replica).await,
            }
        }
        Ok(())
    }

    fn take_in(
        &self,
        replica: &mut Replica,
        at: Millis,
        fact: Fact,
        from: Option<&NodeId>,
        written: &mut Written,
    ) -> Result<(), ClusterError> {
        let seq = replica.ledger.position() + 1;
        if matches!(fact, Fact::ExecutionEnded(_)) {
            written.abandoned = replica.ledger.busy().count();
        }
        let made = replica.apply(Event { execution_id: self.id.clone(), seq, at, fact })?;
        written.messages.extend(made.messages.into_iter().map(|message| (message, from.cloned())));
        written.statuses.extend(made.statuses);
        written.ended |= replica.ledger.is_ended();
        Ok(())
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wish {
    /// What it speaks of.
    fn about(&self) -> String {
        match self {
            Self::Announce { message, .. }
            | Self::Park { message, .. }
            | Self::Retry { message, .. }
            | Self::Commit { message, .. }
            | Self::Intervene { message, .. } => message.to_string(),
            Self::FireTimer { .. } => "timer".to_owned(),
            Self::TimeOut { late, .. } | Self::Prolong { late, .. } => unit_of(late),
            Self::Cancel { .. } | Self::End { .. } => String::new(),
        }
    }

    /// The facts, as the ledger stands; `None` where they are none any more.
    fn draft(&self, replica: &Replica) -> Option<Draft> {
        let ledger = &replica.ledger;
        if ledger.is_ended() {
            return None;
        }
        let plain = |facts| Draft { facts, unit: None, from: None, lease: None, released: None };
        match self {
            Self::Announce { message, attempt, at, parameters, lease } => {
                let opened = ledger.get(message)?;
                // Either it has not begun, or whoever began is gone and this is the next attempt.
                let follows = opened.message.attempt + u32::from(opened.started.is_some());
                if *attempt != follows {
                    return None;
                }
                let mut firing = ledger.firing(message, opened.message.attempt)?;
                firing.attempt = *attempt;
                let facts = vec![(*at, engine::started(firing, parameters.clone()))];
                Some(Draft { lease: Some((message.clone(), *lease)), ..plain(facts) })
            }
            Self::Park { message, attempt, at, due } => {
                let facts = vec![(*at, engine::parked(ledger.firing(message, *attempt)?, *due))];
                Some(Draft { released: Some(message.clone()), ..plain(facts) })
            }
            Self::Retry { message, attempt, at, duration, again } => {
                let firing = ledger.firing(message, *attempt)?;
                let facts = vec![(*at, engine::tried_in_vain(firing, *at, *duration, again.clone()))];
                Some(Draft { released: Some(message.clone()), ..plain(facts) })
            }
            Self::Commit { message, attempt, conclusion } => {
                let firing = ledger.firing(message, *attempt)?;
                let (from, at) = (firing.node_id.clone(), conclusion.at);
                let mut facts = Vec::with_capacity(3);
                if let Some(announcement) = &conclusion.announcement {
                    let started = engine::started(firing.clone(), announcement.parameters.clone());
                    facts.push((announcement.at, started));
                }
                let fact = ledger.concluded(firing, at, conclusion.duration, conclusion.effects.clone());
                let halted = engine::halted_by(&fact);
                facts.push((at, fact));
                facts.extend(halted.map(|end| (at, end)));
                // Only what was announced before is held by anybody.
                let held = ledger.get(message).is_some_and(|opened| opened.started.is_some());
                let (unit, released) = (Some(message.to_string()), held.then(|| message.clone()));
                Some(Draft { unit, from: Some(from), released, ..plain(facts) })
            }
            Self::TimeOut { late, now } => {
                let facts = vec![(*now, Fact::TimedOut(late.clone()))];
                ledger.is_late(late, *now).then(|| Draft { unit: Some(unit_of(late)), ..plain(facts) })
            }
            Self::Prolong { late, due, now } => {
                let facts = vec![(*now, late.clone().or_prolonged(Some(*due)))];
                ledger.is_late(late, *now).then(|| plain(facts))
            }
            Self::Intervene { message, attempt, at, change } => {
                let firing = ledger.firing(message, *attempt)?;
                let (gone, from) = (*change == Change::Dropped, firing.node_id.clone());
                let fact =
                    Fact::Intervened(Intervened { firing, change: change.clone(), echo: Echo::default() });
                // Who is taken away has followers, and is held by nobody any more.
                let (unit, released) = (gone.then(|| message.to_string()), gone.then(|| message.clone()));
                Some(Draft { unit, from: Some(from), released, ..plain(vec![(*at, fact)]) })
            }
            Self::FireTimer { wanted, now } => {
                let wanted = wanted.as_ref().map(|(node, key)| (node, key));
                let facts = ledger.fire_by_hand(wanted)?;
                let unit = facts.iter().find_map(|fact| match fact {
                    Fact::TimerFired(fired) => {
                        Some(format!("{} {} fired {}", fired.node_id, fired.lineage.key(), fired.due))
                    }
                    _ => None,
                });
                Some(Draft { unit, ..plain(facts.into_iter().map(|fact| (*now, fact)).collect()) })
            }
            Self::Cancel { now } => {
                let unit = Some("cancelled".to_owned());
                Some(Draft { unit, ..plain(vec![(*now, engine::cancelled())]) })
            }
            Self::End { now } => {
                let end = ledger.quiet_end()?;
                Some(Draft { unit: Some("end".to_owned()), ..plain(vec![(*now, end)]) })
            }
        }
    }
}

/// The name under which the children of a join that gave up are marked as published.
pub fn unit_of(late: &TimedOut) -> String {
    format!("{} {} {}", late.node_id, late.group, late.lineage.key())
}
