//! The gate in the worker line: in front of the work, and between the work and its commit, a message may be held,
//! looked at, changed, taken away, or answered without asking anybody.
//!
//! Control is local. A gate needs a [`LocalEngine`], which only an engine in this process is, or a worker of this process
//! that has queues of its own; a line without one has [`Gate::open`], which holds nothing and cannot be made to. While
//! nobody is attached, passing costs one relaxed load.

mod breakpoint;
mod held;
mod holds;
mod mocks;
mod rules;
mod standstill;
mod state;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use engine::{Effects, Message, Output, Plan, Prepared, Work};
use protocol::{
    Breakpoint, Change, Command, ControlError, ControlView, ExecutionId, GatePlace, MessageId, Millis,
    NodeError, NodeId,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

pub use breakpoint::check as check_breakpoint;
use held::{Held, Released, Way};
pub(crate) use held::{Stage, Standing};
pub use holds::Holds;
pub use mocks::Mocks;
pub use standstill::Standstills;
use state::Controlled;

use crate::{Clock, Stopped};

/// What whoever is in this process can do and others cannot: write down what people did to a message under way.
pub trait LocalEngine: Send + Sync {
    /// An error says why nothing was written; the message may be gone.
    fn mark(&self, message: &Message, at: Millis, change: Change) -> Result<(), ControlError>;

    /// A message was done with by somebody who does not go on to the next one: an idle worker looks for it.
    fn look_again(&self);
}

/// Answers that were known before, such as those of another execution.
pub trait Answers: Send + Sync {
    /// What is changed in a message before its work.
    fn change(&self, plan: &Plan, message: &Message) -> Option<Change>;

    /// It has happened before, as it was; nobody is held there again.
    fn is_past(&self, plan: &Plan, message: &Message) -> bool;

    /// The answer to a message, in place of its work.
    fn answer(&self, plan: &Plan, message: &Message, work: &Work) -> Option<Result<Output, NodeError>>;
}

/// What a node answers without doing its work, or how it does it.
#[derive(Clone, Debug)]
pub enum Answer {
    Given(Result<Output, NodeError>),
    /// It works, and takes this much longer.
    Late(Millis),
}

/// How a message goes on behind the gate.
#[derive(Debug, Default)]
pub(crate) enum Passage {
    #[default]
    Work,
    Answer(Answer),
    /// The work is done twice and counts once.
    Twice,
    /// It is gone.
    Dropped,
    /// It stays where it is; nobody works here any more.
    Left,
}

impl Passage {
    /// Nothing is left to do with the message here.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Dropped | Self::Left)
    }
}

/// What is set for one execution.
#[derive(Clone, Default)]
pub struct Settings {
    pub breakpoints: Vec<Breakpoint>,
    /// What another execution has answered; it is asked first.
    pub past: Option<Arc<dyn Answers>>,
    pub mocks: Arc<Mocks>,
    /// Where some are named, no other node runs.
    pub only: Option<Vec<NodeId>>,
}

/// Messages that walk through an attached gate at once; more of them wait to be received.
const MOST_WALKING: usize = 10_000;

#[derive(Clone)]
pub struct Gate(Option<Arc<Inner>>);

struct Inner {
    attached: AtomicBool,
    state: Mutex<State>,
    /// Weak, so that the gate does not keep an engine alive that everybody else has left.
    engine: Weak<dyn LocalEngine>,
    clock: Clock,
    /// Rings whenever something is held or let go.
    changed: watch::Sender<u64>,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct State {
    executions: HashMap<ExecutionId, Controlled>,
    /// Those that have ended, the oldest first.
    finished: VecDeque<ExecutionId>,
}

/// Executions that have ended and can still be asked about.
const KEPT: usize = 16;

impl Gate {
    /// A gate that is always open.
    pub fn open() -> Self {
        Self(None)
    }

    pub fn local(engine: &Arc<dyn LocalEngine>, clock: Clock) -> Self {
        Self(Some(Arc::new(Inner {
            attached: AtomicBool::new(false),
            state: Mutex::default(),
            engine: Arc::downgrade(engine),
            clock,
            changed: watch::Sender::new(0),
            room: Arc::new(Semaphore::new(MOST_WALKING)),
        })))
    }

    /// True while some execution is under control.
    pub(crate) fn is_attached(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.attached.load(Ordering::Relaxed))
    }

    /// Waits for room to walk one more message beside the workers.
    pub(crate) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        let room = Arc::clone(&self.0.as_ref()?.room);
        room.acquire_owned().await.ok()
    }

    /// For whoever has walked a message beside the workers.
    pub(crate) fn walked(&self) {
        if let Some(engine) = self.0.as_ref().and_then(|inner| inner.engine.upgrade()) {
            engine.look_again();
        }
    }

    /// The engine goes home: nobody lets go any more what is held. It is under way again when the store is opened again.
    pub fn close(&self) {
        if let Some(inner) = &self.0 {
            inner.lock().executions.clear();
        }
    }

    /// Takes an execution under control, or changes what is set for it.
    pub fn attach(&self, id: &ExecutionId, change: impl FnOnce(&mut Settings)) {
        let Some(inner) = &self.0 else { return };
        inner.lock().executions.entry(id.clone()).or_default().set(change);
        inner.attached.store(true, Ordering::Relaxed);
    }

    /// The execution has ended: what is held of it goes on. What was hit and said is kept for a while.
    pub fn finish(&self, id: &ExecutionId) {
        let Some(inner) = &self.0 else { return };
        let mut state = inner.lock();
        let Some(controlled) = state.executions.get_mut(id) else { return };
        controlled.release_all();
        (controlled.finished, controlled.changed) = (true, true);
        state.finished.push_back(id.clone());
        if state.finished.len() > KEPT
            && let Some(oldest) = state.finished.pop_front()
        {
            state.executions.remove(&oldest);
        }
        let attached = state.executions.values().any(|controlled| !controlled.finished);
        inner.attached.store(attached, Ordering::Relaxed);
        drop(state);
        inner.ring();
    }

    /// Takes an execution under control as it was held by a process that is gone.
    pub fn restore(&self, id: &ExecutionId, holds: Holds) {
        let Some(inner) = &self.0 else { return };
        let now = inner.clock.now();
        let mut state = inner.lock();
        let controlled = state.executions.entry(id.clone()).or_default();
        controlled.restore(holds);
        controlled.note(now);
        drop(state);
        inner.attached.store(true, Ordering::Relaxed);
    }

    /// How executions are held, as far as that has changed since the last time this was asked; `None` where there is
    /// nothing to be remembered any more.
    pub fn changed_holds(&self) -> Vec<(ExecutionId, Option<Holds>)> {
        let Some(inner) = &self.0 else { return Vec::new() };
        let mut state = inner.lock();
        let changed = state.executions.iter_mut().filter(|(_, controlled)| controlled.changed);
        let kept = changed.map(|(id, controlled)| {
            controlled.changed = false;
            (id.clone(), controlled.holds())
        });
        kept.collect()
    }

    pub fn is_controlled(&self, id: &ExecutionId) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.lock().executions.contains_key(id))
    }

    /// Changes with everything that is held or let go.
    pub fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.0.as_ref().map(|inner| inner.changed.subscribe())
    }

    /// What is held of an execution. One that is not under control holds nothing.
    pub fn view(&self, id: &ExecutionId) -> ControlView {
        let view = self.0.as_ref().and_then(|inner| inner.lock().executions.get(id).map(Controlled::view));
        view.unwrap_or_default()
    }

    pub fn held_count(&self, id: &ExecutionId) -> usize {
        let count =
            self.0.as_ref().and_then(|inner| inner.lock().executions.get(id).map(Controlled::held_count));
        count.unwrap_or(0)
    }

    /// When executions stood still because something of them was held. Who has it need not ask the gate, which may be
    /// in the middle of asking the engine.
    pub(crate) fn standstills(&self) -> Standstills {
        let Some(inner) = self.0.as_ref().filter(|_| self.is_attached()) else {
            return Standstills::default();
        };
        let state = inner.lock();
        Standstills::of(state.executions.iter().map(|(id, controlled)| (id, &controlled.standstill)))
    }

    /// The time of its joins stands still.
    pub fn stands(&self, id: &ExecutionId) -> bool {
        let stands = |inner: &Arc<Inner>| Some(inner.lock().executions.get(id)?.standstill.is_on());
        self.0.as_ref().and_then(stands).unwrap_or(false)
    }

    /// So much is held, of all executions together, that nothing more can come to the gate.
    pub fn is_full(&self) -> bool {
        let held = |inner: &Arc<Inner>| -> usize {
            inner.lock().executions.values().map(Controlled::held_count).sum()
        };
        self.0.as_ref().is_some_and(|inner| held(inner) >= MOST_WALKING)
    }

    /// Follows a command. Timers are not a matter of the gate.
    pub fn command(&self, id: &ExecutionId, command: &Command) -> Result<(), ControlError> {
        let engine = self.0.as_ref().and_then(|inner| Some((inner, inner.engine.upgrade()?)));
        let Some((inner, engine)) = engine else {
            let hint = "control is for executions of this machine's own engine";
            return Err(ControlError::invalid("this engine cannot be controlled", hint));
        };
        let mut state = inner.lock();
        let now = inner.clock.now();
        let controlled = state.executions.entry(id.clone()).or_default();
        controlled.follow(command, &*engine, now)?;
        controlled.note(now);
        inner.attached.store(true, Ordering::Relaxed);
        drop(state);
        inner.ring();
        Ok(())
    }

    /// In front of the work.
    pub(crate) async fn before(
        &self,
        plan: &Arc<Plan>,
        message: &mut Message,
        prepared: &mut Prepared,
        stopped: &mut Stopped,
    ) -> Passage {
        let Some(inner) = self.0.as_ref().filter(|_| self.is_controlled(&message.execution_id)) else {
            return Passage::Work;
        };
        let stage = Stage::Before(prepared.clone());
        let mut standing = Standing { plan: Arc::clone(plan), message: message.clone(), stage };
        let way = match inner.enter(&mut standing) {
            Entered::Free => Way::On,
            Entered::Held(waits) => inner.wait(&mut standing, waits, stopped).await,
            Entered::Dropped => Way::Dropped,
        };
        let answer = inner.answer(&standing);
        *message = standing.message;
        if let Stage::Before(changed) = standing.stage {
            *prepared = changed;
        }
        match (way, answer) {
            (Way::Dropped, _) => Passage::Dropped,
            (Way::Left, _) => Passage::Left,
            (Way::Twice, None) => Passage::Twice,
            (Way::On | Way::Twice, Some(answer)) => Passage::Answer(answer),
            (Way::On, None) => Passage::Work,
        }
    }

    /// Between the work and its commit.
    pub(crate) async fn after(
        &self,
        plan: &Arc<Plan>,
        message: &Message,
        effects: &mut Effects,
        stopped: &mut Stopped,
    ) -> Passage {
        let Some(inner) = self.0.as_ref().filter(|_| self.is_controlled(&message.execution_id)) else {
            return Passage::Work;
        };
        let stage = Stage::After(effects.clone());
        let mut standing = Standing { plan: Arc::clone(plan), message: message.clone(), stage };
        let Some(waits) = inner.hold(&standing) else { return Passage::Work };
        let way = inner.wait(&mut standing, waits, stopped).await;
        if let Stage::After(changed) = standing.stage {
            *effects = changed;
        }
        match way {
            Way::On | Way::Twice => Passage::Work,
            Way::Dropped => Passage::Dropped,
            Way::Left => Passage::Left,
        }
    }

    /// Writes down that an answer was given.
    pub(crate) fn mark_answer(&self, message: &Message, answer: &Result<Output, NodeError>) {
        let Some(inner) = &self.0 else { return };
        let change = match answer {
            Ok(output) => Change::Output { output: output.payload.clone(), items: output.items.clone() },
            Err(error) => Change::Error(error.clone()),
        };
        inner.mark(message, change);
    }
}

enum Entered {
    Free,
    Held(oneshot::Receiver<Released>),
    Dropped,
}

impl Inner {
    fn enter(&self, standing: &mut Standing) -> Entered {
        let settings = match self.lock().executions.get(&standing.message.execution_id) {
            Some(controlled) => controlled.settings.clone(),
            None => return Entered::Free,
        };
        let node = &standing.plan.nodes[standing.message.node].id;
        let is_left_out = settings.only.as_ref().is_some_and(|only| !only.contains(node));
        if is_left_out && self.mark(&standing.message, Change::Dropped) {
            return Entered::Dropped;
        }
        let change = settings.past.and_then(|past| past.change(&standing.plan, &standing.message));
        if let Some(change) = change
            && self.mark(&standing.message, change.clone())
        {
            standing.take(&change, self.clock.now());
        }
        self.hold(standing).map_or(Entered::Free, Entered::Held)
    }

    fn hold(&self, standing: &Standing) -> Option<oneshot::Receiver<Released>> {
        let now = self.clock.now();
        let mut state = self.lock();
        let controlled = state.executions.get_mut(&standing.message.execution_id)?;
        let past = controlled.settings.past.as_ref();
        if past.is_some_and(|past| past.is_past(&standing.plan, &standing.message)) {
            return None;
        }
        let waits = controlled.hold(standing, now);
        controlled.note(now);
        drop(state);
        let waits = waits?;
        self.ring();
        Some(waits)
    }

    /// Waits until somebody lets the message go, and takes over what was changed meanwhile.
    async fn wait(
        &self,
        standing: &mut Standing,
        waits: oneshot::Receiver<Released>,
        stopped: &mut Stopped,
    ) -> Way {
        let released = tokio::select! {
            released = waits => Some(released),
            () = stopped.wait() => None,
        };
        match released {
            Some(Ok(released)) => {
                *standing = released.standing;
                released.way
            }
            Some(Err(_)) => Way::Left,
            // The execution has ended; nothing that is done now counts.
            None => {
                if let Some(controlled) = self.lock().executions.get_mut(&standing.message.execution_id) {
                    controlled.forget(&standing.message.id);
                    controlled.note(self.clock.now());
                }
                self.ring();
                Way::On
            }
        }
    }

    fn answer(&self, standing: &Standing) -> Option<Answer> {
        let settings = self.lock().executions.get(&standing.message.execution_id)?.settings.clone();
        let Stage::Before(Prepared { work, .. }) = &standing.stage else { return None };
        let Standing { plan, message, .. } = standing;
        let recorded = settings.past.and_then(|past| past.answer(plan, message, work));
        recorded.map(Answer::Given).or_else(|| settings.mocks.answer(plan, message))
    }

    /// False if nothing was written: the execution may have ended.
    fn mark(&self, message: &Message, change: Change) -> bool {
        let Some(engine) = self.engine.upgrade() else { return false };
        let marked = engine.mark(message, self.clock.now(), change);
        if let Err(error) = &marked {
            tracing::warn!(%error, message = %message.id, "what was done to a message could not be written down");
        }
        marked.is_ok()
    }

    fn ring(&self) {
        self.changed.send_modify(|changes| *changes += 1);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which gate a message stands at, for the eye.
impl Stage {
    pub(crate) fn place(&self) -> GatePlace {
        match self {
            Self::Before(_) => GatePlace::Before,
            Self::After(_) => GatePlace::After,
        }
    }

    pub(crate) fn effects(&self) -> Option<&Effects> {
        match self {
            Self::Before(_) => None,
            Self::After(effects) => Some(effects),
        }
    }
}

/// By message, in the order in which they were held.
type HeldMessages = Vec<(MessageId, Held)>;
