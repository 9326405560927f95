//! What is set for one execution, and what is held of it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use engine::{Message, Plan};
use protocol::{
    Change, Command, ControlError, ControlView, Edit, GatePlace, HeldAt, Logged, MessageId, Millis, NodeId,
    WhyHeld,
};
use tokio::sync::oneshot;

use super::{
    Held, HeldMessages, LocalEngine, Released, Settings, Standing, Way,
    breakpoint::{Armed, Hit},
    rules::{Rule, Verdict},
    standstill::Standstill,
};

/// Messages that are listed; all of them are counted.
const LISTED: usize = 200;

/// What logpoints have said is kept up to this many lines.
const LOGGED: usize = 1_000;

#[derive(Default)]
pub(super) struct Controlled {
    pub settings: Settings,
    /// The breakpoints, once a message has brought the plan.
    armed: Option<Vec<Armed>>,
    /// How often they were hit in a process that is gone.
    pub(super) hits_before: Vec<u32>,
    plan: Option<Arc<Plan>>,
    pub(super) paused: bool,
    pub(super) paused_nodes: BTreeSet<NodeId>,
    pub(super) rules: Vec<Rule>,
    pub(super) held: HeldMessages,
    /// Held by a process that is gone, and not here yet.
    pub(super) again: BTreeMap<MessageId, WhyHeld>,
    pub(super) standstill: Standstill,
    /// How it is held is another way than it was when somebody kept it.
    pub(super) changed: bool,
    log: VecDeque<Logged>,
    log_dropped: usize,
    /// The execution has ended; what was hit and said can still be looked at.
    pub finished: bool,
}

impl Controlled {
    /// What has been hit stays hit.
    pub fn set(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        if let (Some(armed), Some(plan)) = (self.armed.take(), &self.plan) {
            let arm = |breakpoint| {
                let mut fresh = Armed::new(breakpoint, &plan.names);
                fresh.hits = armed.iter().find(|known| known.is(breakpoint)).map_or(0, |known| known.hits);
                fresh
            };
            self.armed = Some(self.settings.breakpoints.iter().map(arm).collect());
        }
    }

    pub fn held_count(&self) -> usize {
        self.held.len()
    }

    /// Takes note of whether it stands still. Who was held by a process that is gone is held until it comes here.
    pub fn note(&mut self, now: Millis) {
        let is_held = self.paused || !self.held.is_empty() || !self.again.is_empty();
        self.standstill.note(is_held, now);
    }

    pub fn view(&self) -> ControlView {
        ControlView {
            paused: self.paused,
            paused_nodes: self.paused_nodes.iter().cloned().collect(),
            held: self.held.iter().take(LISTED).map(|(_, held)| held.view()).collect(),
            held_total: self.held.len(),
            held_at: self.held_at(),
            hits: self.hits(),
            log: self.log.iter().cloned().collect(),
            log_dropped: self.log_dropped,
            stale: Vec::new(),
        }
    }

    pub(super) fn hits(&self) -> Vec<u32> {
        match &self.armed {
            Some(armed) => armed.iter().map(|armed| armed.hits).collect(),
            None => self.hits_before.clone(),
        }
    }

    fn held_at(&self) -> Vec<HeldAt> {
        let mut counts = BTreeMap::<(usize, bool), HeldAt>::new();
        for (_, held) in &self.held {
            let Standing { plan, message, stage } = &held.standing;
            let gate = stage.place();
            let fresh = || HeldAt { node_id: plan.nodes[message.node].id.clone(), gate, count: 0 };
            counts.entry((message.node, gate == GatePlace::After)).or_insert_with(fresh).count += 1;
        }
        counts.into_values().collect()
    }

    /// Holds a message if something says so.
    pub fn hold(&mut self, standing: &Standing, now: Millis) -> Option<oneshot::Receiver<Released>> {
        self.meet(&standing.plan);
        let why =
            self.stood(standing).or_else(|| self.breaks(standing, now)).or_else(|| self.stops(standing))?;
        let (release, waits) = oneshot::channel();
        let held = Held { standing: standing.clone(), why, since: now, edited: false, release };
        self.held.push((standing.message.id.clone(), held));
        self.changed = true;
        Some(waits)
    }

    /// Why it was held before the process began. It was asked about breakpoints then, and is not counted again.
    fn stood(&mut self, standing: &Standing) -> Option<WhyHeld> {
        match standing.stage.place() {
            GatePlace::Before => self.again.remove(&standing.message.id),
            GatePlace::After => None,
        }
    }

    fn meet(&mut self, plan: &Arc<Plan>) {
        if self.plan.is_none() {
            self.plan = Some(Arc::clone(plan));
            let breakpoints = self.settings.breakpoints.iter();
            let mut armed: Vec<Armed> =
                breakpoints.map(|breakpoint| Armed::new(breakpoint, &plan.names)).collect();
            // Other breakpoints than it had before begin at nothing.
            if armed.len() == self.hits_before.len() {
                armed.iter_mut().zip(&self.hits_before).for_each(|(armed, hits)| armed.hits = *hits);
            }
            self.armed = Some(armed);
        }
    }

    fn breaks(&mut self, standing: &Standing, now: Millis) -> Option<WhyHeld> {
        let mut why = None;
        for (index, armed) in self.armed.iter_mut().flatten().enumerate() {
            match armed.hit(standing, now) {
                Some(Hit::Hold) => why = why.or(Some(WhyHeld::Breakpoint { index })),
                Some(Hit::Broken(complaint)) => {
                    why = why.or(Some(WhyHeld::BrokenCondition { index, complaint }));
                }
                Some(Hit::Log(text)) => {
                    let node_id = standing.plan.nodes[standing.message.node].id.clone();
                    let key = standing.message.lineage.key();
                    self.log.push_back(Logged { at: now, node_id, key, text });
                    if self.log.len() > LOGGED {
                        self.log.pop_front();
                        self.log_dropped += 1;
                    }
                }
                None => {}
            }
        }
        why
    }

    /// Pauses and steps hold in front of the work only, so that a step is one node.
    fn stops(&self, standing: &Standing) -> Option<WhyHeld> {
        if standing.stage.place() == GatePlace::After {
            return None;
        }
        let newest = self.rules.iter().rev().find(|rule| rule.knows(&standing.plan, &standing.message));
        match newest.map(|rule| rule.verdict) {
            Some(Verdict::Hold) => return Some(WhyHeld::Stepped),
            Some(Verdict::Pass) => return None,
            None => {}
        }
        let node = &standing.plan.nodes[standing.message.node].id;
        match () {
            () if self.paused => Some(WhyHeld::Paused),
            () if self.paused_nodes.contains(node) => Some(WhyHeld::NodePaused),
            () => None,
        }
    }

    pub fn follow(
        &mut self,
        command: &Command,
        engine: &dyn LocalEngine,
        now: Millis,
    ) -> Result<(), ControlError> {
        self.changed = true;
        match command {
            Command::Pause => {
                self.paused = true;
                self.rules.clear();
            }
            Command::PauseNode { node_id } => {
                self.check_node(node_id)?;
                self.paused_nodes.insert(node_id.clone());
            }
            Command::ResumeNode { node_id } => self.resume(node_id),
            Command::Continue => self.go_on(),
            Command::RunTo { node_id } => self.run_to(node_id)?,
            Command::Release { message_id } => self.take(message_id)?.let_go(Way::On),
            Command::Step { message_id } => self.step(message_id, Rule::step)?,
            Command::StepOver { message_id } => self.step(message_id, Rule::over)?,
            Command::ToBarrier { message_id } => {
                if self.find(message_id)?.standing.message.lineage.is_root() {
                    let hint = "step, or run to a node";
                    return Err(ControlError::invalid("the message is not inside of a fan-out", hint));
                }
                self.step(message_id, Rule::to_barrier)?;
            }
            Command::Edit { message_id, edit } => self.edit(message_id, edit, engine, now)?,
            Command::Drop { message_id } => {
                engine.mark(&self.find(message_id)?.standing.message, now, Change::Dropped)?;
                self.take(message_id)?.let_go(Way::Dropped);
            }
            Command::Duplicate { message_id } => {
                let standing = &self.find(message_id)?.standing;
                if standing.stage.place() == GatePlace::After {
                    let hint = "hold it before its work";
                    return Err(ControlError::invalid("the message has done its work already", hint));
                }
                engine.mark(&standing.message, now, Change::Duplicated)?;
                self.take(message_id)?.let_go(Way::Twice);
            }
            Command::FireTimer { .. } | Command::NextTimer => {
                return Err(ControlError::invalid("no timer stands at the gate", "ask the engine"));
            }
        }
        Ok(())
    }

    fn edit(
        &mut self,
        message_id: &MessageId,
        edit: &Edit,
        engine: &dyn LocalEngine,
        now: Millis,
    ) -> Result<(), ControlError> {
        let held = self.find_mut(message_id)?;
        let change = held.standing.change(edit)?;
        engine.mark(&held.standing.message, now, change.clone())?;
        held.standing.take(&change, now);
        held.edited = true;
        Ok(())
    }

    fn step(
        &mut self,
        message_id: &MessageId,
        rules: fn(&Plan, &Message) -> Vec<Rule>,
    ) -> Result<(), ControlError> {
        let held = self.take(message_id)?;
        self.rules.extend(rules(&held.standing.plan, &held.standing.message));
        held.let_go(Way::On);
        Ok(())
    }

    fn go_on(&mut self) {
        self.paused = false;
        self.paused_nodes.clear();
        self.rules.clear();
        self.again.clear();
        self.release_all();
    }

    fn run_to(&mut self, node_id: &NodeId) -> Result<(), ControlError> {
        self.check_node(node_id)?;
        self.go_on();
        self.rules.push(Rule::to_node(node_id));
        Ok(())
    }

    /// Before the first message has brought the plan nobody knows.
    fn check_node(&self, node_id: &NodeId) -> Result<(), ControlError> {
        match self.plan.as_ref().is_some_and(|plan| plan.node(node_id).is_none()) {
            true => Err(ControlError::missing(
                format!("there is no node {node_id} in this workflow"),
                "name a node by its id",
            )),
            false => Ok(()),
        }
    }

    fn resume(&mut self, node_id: &NodeId) {
        self.paused_nodes.remove(node_id);
        let is_its = |held: &Held| {
            let standing = &held.standing;
            held.why == WhyHeld::NodePaused && standing.plan.nodes[standing.message.node].id == *node_id
        };
        let (go, stay): (HeldMessages, HeldMessages) =
            std::mem::take(&mut self.held).into_iter().partition(|(_, held)| is_its(held));
        self.held = stay;
        go.into_iter().for_each(|(_, held)| held.let_go(Way::On));
    }

    pub fn release_all(&mut self) {
        self.held.drain(..).for_each(|(_, held)| held.let_go(Way::On));
    }

    pub fn forget(&mut self, message_id: &MessageId) {
        self.held.retain(|(id, _)| id != message_id);
        self.changed = true;
    }

    fn find(&self, message_id: &MessageId) -> Result<&Held, ControlError> {
        let found = self.held.iter().find(|(id, _)| id == message_id);
        found.map(|(_, held)| held).ok_or_else(|| not_held(message_id))
    }

    fn find_mut(&mut self, message_id: &MessageId) -> Result<&mut Held, ControlError> {
        let found = self.held.iter_mut().find(|(id, _)| id == message_id);
        found.map(|(_, held)| held).ok_or_else(|| not_held(message_id))
    }

    fn take(&mut self, message_id: &MessageId) -> Result<Held, ControlError> {
        let at = self.held.iter().position(|(id, _)| id == message_id);
        let at = at.ok_or_else(|| not_held(message_id))?;
        Ok(self.held.remove(at).1)
    }
}

fn not_held(message_id: &MessageId) -> ControlError {
    ControlError::missing(
        format!("the message {message_id} is not held"),
        "it may have gone on already; look at what is held",
    )
}
