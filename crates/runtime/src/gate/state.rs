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
    plan: Option<Arc<Plan>>,
    paused: bool,
    paused_nodes: BTreeSet<NodeId>,
    rules: Vec<Rule>,
    /// Nodes to run to, until a message has brought the plan.
    run_to: Option<NodeId>,
    held: HeldMessages,
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

    pub fn view(&self) -> ControlView {
        ControlView {
            paused: self.paused,
            paused_nodes: self.paused_nodes.iter().cloned().collect(),
            held: self.held.iter().take(LISTED).map(|(_, held)| held.view()).collect(),
            held_total: self.held.len(),
            held_at: self.held_at(),
            hits: self.armed.iter().flatten().map(|armed| armed.hits).collect(),
            log: self.log.iter().cloned().collect(),
            log_dropped: self.log_dropped,
            stale: Vec::new(),
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
        let why = self.breaks(standing, now).or_else(|| self.stops(standing))?;
        let (release, waits) = oneshot::channel();
        let held = Held { standing: standing.clone(), why, since: now, edited: false, release };
        self.held.push((standing.message.id.clone(), held));
        Some(waits)
    }

    fn meet(&mut self, plan: &Arc<Plan>) {
        if self.plan.is_none() {
            self.plan = Some(Arc::clone(plan));
            let breakpoints = self.settings.breakpoints.iter();
            self.armed = Some(breakpoints.map(|breakpoint| Armed::new(breakpoint, &plan.names)).collect());
            let node = self.run_to.take().and_then(|node| plan.node(&node));
            self.rules.extend(node.map(Rule::to_node));
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
        let newest = self.rules.iter().rev().find(|rule| rule.knows(&standing.message));
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
        match command {
            Command::Pause => {
                self.paused = true;
                self.rules.clear();
            }
            Command::PauseNode { node_id } => {
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
        self.release_all();
    }

    fn run_to(&mut self, node_id: &NodeId) -> Result<(), ControlError> {
        match &self.plan {
            Some(plan) => {
                let node = plan.node(node_id).ok_or_else(|| {
                    ControlError::missing(format!("there is no node {node_id}"), "name a node by its id")
                })?;
                self.go_on();
                self.rules.push(Rule::to_node(node));
            }
            None => self.run_to = Some(node_id.clone()),
        }
        Ok(())
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
