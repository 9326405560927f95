//! What is under way in an execution: messages, fan-outs, joins, timers. Folded from events, so that it is the
//! engine's memory in local mode, the way back after a crash, and the way to find out afterwards what a node saw.
//!
//! Everything that follows from a commit is decided inside [`Ledger::apply`] from the plan and the event alone;
//! replaying the events gives the same ledger.

mod barrier;
mod commit;
mod due;
mod fan_out;
mod gather;
mod hand;
mod joins;
mod outline;
mod skips;
mod timers;
mod turns;

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use crate::{Context, Failures, Input, Joined, Message, Output, Plan, PlannedEdge, Trace, nodes::Pick};
use protocol::{
    AttemptFailed, Consequence, Echo, Event, ExecutionId, Fact, Firing, Lineage, MessageId, Millis,
    NodeError, NodeFailed, NodeId, NodeSucceeded, Payload,
};
use serde_json::json;

pub use barrier::{Missing, OpenJoin, joined_edges};
pub use commit::{cancelled, halted_by, parked, started, tried_in_vain};
pub use due::Due;
use fan_out::FanOuts;
use joins::{Decision, Joins};
use skips::Ways;
pub use timers::Deadline;
use timers::Timer;
use turns::Turns;

/// The recording contradicts itself; it was not written by this engine, or was damaged.
#[derive(Debug, thiserror::Error)]
#[error("the recording of {execution} does not add up at event {seq}: {complaint}")]
pub struct LedgerError {
    pub execution: ExecutionId,
    pub seq: u64,
    pub complaint: String,
}

pub struct Ledger {
    plan: Arc<Plan>,
    execution_id: ExecutionId,
    seq: u64,
    ended: bool,
    /// The event that was applied last, or is being applied, and its moment.
    at: u64,
    now: Millis,
    open: HashMap<MessageId, Opened>,
    ready: VecDeque<MessageId>,
    fan_outs: FanOuts,
    joins: Joins,
    timers: BTreeSet<(Millis, Timer)>,
    /// The context in which each split fired, for the aggregators behind it.
    scopes: HashMap<(usize, Lineage), Context>,
    /// What the event that is being applied means for other nodes.
    echo: Echo,
    ways: Ways,
    turns: Turns,
    looks_on: bool,
}

/// A message under way.
#[derive(Clone, Debug)]
pub struct Opened {
    pub message: Message,
    /// When its present attempt began, if it has.
    pub started: Option<Millis>,
    pub parked: Option<Millis>,
    /// The answer to its present attempt, where somebody has given it.
    pub given: Option<Result<Output, NodeError>>,
    /// The moment it rested until, once it was woken: nothing of that is in the log before it goes on.
    woken: Option<Millis>,
    /// The event it became ready with.
    since: u64,
}

/// What a branch brings to a join.
#[derive(Clone, Debug)]
struct Value {
    context: Context,
    result: Payload,
    /// The node that failed, where the result is the error of an item.
    failed: Option<usize>,
}

/// What is told to whoever waits behind edges that were not taken.
enum Word<'w> {
    /// Nothing will come. What was known when that became clear comes along.
    Done(&'w Context),
    /// An item failed on the way; the error is what comes.
    Failed(&'w Value),
}

impl Word<'_> {
    /// What it decides for an edge.
    fn decision(&self) -> Decision {
        match self {
            Self::Done(context) => Decision::Done((*context).clone()),
            Self::Failed(value) => Decision::Value((*value).clone()),
        }
    }
}

impl Ledger {
    /// An execution of which nothing is known yet but its plan.
    pub fn new(execution_id: ExecutionId, plan: Arc<Plan>) -> Self {
        Self {
            plan,
            execution_id,
            seq: 0,
            ended: false,
            at: 0,
            now: 0,
            open: HashMap::new(),
            ready: VecDeque::new(),
            fan_outs: FanOuts::default(),
            joins: Joins::default(),
            timers: BTreeSet::new(),
            scopes: HashMap::new(),
            echo: Echo::default(),
            ways: Ways::default(),
            turns: Turns::default(),
            looks_on: false,
        }
    }

    /// For whoever only wants to hear what facts mean for other nodes. Nothing is handed out, so items are opened when
    /// something is said of them, and nobody's context is kept.
    pub fn looking_on(self) -> Self {
        Self { looks_on: true, ..self }
    }

    /// Folds a whole recording. What had been started when it broke off is ready for its next attempt.
    pub fn replay(events: &[Event]) -> Result<Self, LedgerError> {
        Self::begin(events)?.catch_up(events)
    }

    /// Folds a recording whose plan is at hand.
    pub fn resume(execution_id: ExecutionId, plan: Arc<Plan>, events: &[Event]) -> Result<Self, LedgerError> {
        Self::new(execution_id, plan).catch_up(events)
    }

    fn catch_up(mut self, events: &[Event]) -> Result<Self, LedgerError> {
        let ledger = &mut self;
        for event in events {
            ledger.apply(event)?;
        }
        ledger.settle();
        Ok(self)
    }

    /// The ledger in front of the first event, which holds the definition.
    pub fn begin(events: &[Event]) -> Result<Self, LedgerError> {
        let refuse = |execution: ExecutionId, complaint: String| LedgerError { execution, seq: 1, complaint };
        let Some(first) = events.first() else {
            return Err(refuse("an unknown execution".into(), "it is empty".to_owned()));
        };
        let Fact::ExecutionStarted(started) = &first.fact else {
            return Err(refuse(first.execution_id.clone(), "it does not begin with a start".to_owned()));
        };
        let loaded = crate::load_once(started.definition.text().as_bytes());
        let plan = loaded.plan.ok_or_else(|| {
            let complaint =
                loaded.diagnostics.first().map_or_else(String::new, |first| first.message.clone());
            refuse(first.execution_id.clone(), format!("its definition cannot be used: {complaint}"))
        })?;
        Ok(Self::new(first.execution_id.clone(), plan))
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    pub fn is_ended(&self) -> bool {
        self.ended
    }

    pub fn position(&self) -> u64 {
        self.seq
    }

    /// The moment of the last event.
    pub fn now(&self) -> Millis {
        self.now
    }

    pub fn get(&self, message: &MessageId) -> Option<&Opened> {
        self.open.get(message)
    }

    /// Nothing is under way: the execution has ended, or is stuck.
    pub fn is_quiet(&self) -> bool {
        self.open.is_empty() && self.fan_outs.is_empty()
    }

    /// Joins that have heard of something and wait for the rest, with the edges they miss.
    pub fn undecided(&self) -> Vec<String> {
        let mut sentences = self.joins.undecided(&self.plan);
        sentences.extend(self.turns.undecided(&self.plan));
        sentences
    }

    /// Messages that can be worked on now.
    pub fn ready_count(&self) -> usize {
        self.ready.len() + self.fan_outs.remaining()
    }

    /// The next message to work on.
    pub fn next_ready(&mut self) -> Option<Message> {
        loop {
            while let Some(id) = self.ready.pop_front() {
                if let Some(opened) = self.open.get(&id) {
                    return Some(opened.message.clone());
                }
            }
            let plan = Arc::clone(&self.plan);
            let item = self.fan_outs.next(&plan)?;
            self.open_item(item);
        }
    }

    /// Takes in the next fact. What it means for other nodes is returned.
    pub fn apply(&mut self, event: &Event) -> Result<Echo, LedgerError> {
        if event.seq != self.seq + 1 {
            return Err(self.refuse(event, format!("expected event {}", self.seq + 1)));
        }
        (self.at, self.now) = (event.seq, event.at);
        self.take_in(event)?;
        // An event that is refused is not counted, so that what comes in its place is.
        self.seq = event.seq;
        if self.looks_on {
            self.ready.clear();
        }
        Ok(std::mem::take(&mut self.echo))
    }

    fn take_in(&mut self, event: &Event) -> Result<(), LedgerError> {
        match &event.fact {
            Fact::ExecutionStarted(started) => {
                let context = match self.looks_on {
                    true => Context::unasked(),
                    false => Context::start(started.input.clone()),
                };
                for id in &started.starts {
                    let node = self
                        .plan
                        .node(id)
                        .ok_or_else(|| self.refuse(event, format!("there is no node {id}")))?;
                    let message = MessageId::start(&self.execution_id, id);
                    self.open(message, node, Lineage::default(), context.clone(), None);
                }
                self.rule_out(&started.starts, &context);
            }
            Fact::NodeStarted(started) => {
                let opened = self.opened(event, &started.firing)?;
                opened.started = Some(event.at);
                opened.message.attempt = started.firing.attempt;
                opened.woken = None;
                opened.given = None;
                // While replaying, this is how we hear that the delay before this attempt has passed.
                if let Some(due) = opened.parked.take() {
                    self.timers.remove(&(due, Timer::Message(started.firing.message_id.clone())));
                }
            }
            Fact::NodeParked(parked) => {
                self.opened(event, &parked.firing)?.parked = Some(parked.due);
                self.timers.insert((parked.due, Timer::Message(parked.firing.message_id.clone())));
            }
            Fact::AttemptFailed(failed) => self.try_again(event, failed)?,
            Fact::NodeSucceeded(done) => self.succeed(event, done)?,
            Fact::NodeFailed(done) => self.fail(event, done)?,
            Fact::TimedOut(late) => {
                let found = self.plan.node(&late.node_id);
                let node =
                    found.ok_or_else(|| self.refuse(event, format!("there is no node {}", late.node_id)))?;
                self.time_out(node, late.group, &late.lineage);
            }
            Fact::Prolonged(prolonged) => {
                let node = self.plan.node(&prolonged.node_id);
                let unknown = || self.refuse(event, format!("there is no node {}", prolonged.node_id));
                self.prolong(node.ok_or_else(unknown)?, prolonged);
            }
            Fact::Intervened(done) => self.intervene(event, done)?,
            Fact::TimerFired(fired) => self.cut_short(event, fired)?,
            // Said by a cluster that is only looked at; nothing of it is ours to go on with.
            Fact::Gathered(_) | Fact::Missed(_) => {}
            Fact::ExecutionEnded(_) => {
                self.ended = true;
                self.open.clear();
                self.ready.clear();
                self.timers.clear();
                self.fan_outs = FanOuts::default();
                self.joins = Joins::default();
                self.ways = Ways::default();
                self.turns = Turns::default();
            }
        }
        Ok(())
    }

    fn try_again(&mut self, event: &Event, failed: &AttemptFailed) -> Result<(), LedgerError> {
        let opened = self.opened(event, &failed.firing)?;
        opened.started = None;
        opened.parked = Some(failed.due);
        opened.message.attempt = failed.firing.attempt + 1;
        opened.message.failures.count(failed.fault);
        self.timers.insert((failed.due, Timer::Message(failed.firing.message_id.clone())));
        Ok(())
    }

    fn succeed(&mut self, event: &Event, done: &NodeSucceeded) -> Result<(), LedgerError> {
        let Opened { message, .. } = self.close(event, &done.firing)?;
        let Trace { context, result } = self.left_by(&message, Ok(&done.output));
        let taken = self.taken(event, message.node, &done.taken)?;
        match &done.items {
            Some(items) => self.fan_out(event, &message, context, items, &taken)?,
            None => {
                let value = Value { context, result, failed: None };
                self.follow(&message, &taken, &value);
            }
        }
        self.end_turn(message.node, &message.lineage, Some(&done.output));
        Ok(())
    }

    /// What a firing leaves behind. Whoever looks on needs it only where an edge may find nothing to carry.
    fn left_by(&self, message: &Message, outcome: Result<&Payload, &NodeError>) -> Trace {
        let node = &self.plan.nodes[message.node];
        let may_lack = |edge: &usize| matches!(self.plan.edges[*edge].pick, Pick::Field(_));
        if self.looks_on && !node.leaving.iter().any(may_lack) {
            return Trace { context: message.context.clone(), result: Payload::null() };
        }
        message.context.after(node, outcome)
    }

    fn fail(&mut self, event: &Event, done: &NodeFailed) -> Result<(), LedgerError> {
        let Opened { message, .. } = self.close(event, &done.firing)?;
        let (node, lineage) = (message.node, message.lineage.clone());
        self.follow_failure(event, done, message)?;
        self.end_turn(node, &lineage, None);
        Ok(())
    }

    fn follow_failure(
        &mut self,
        event: &Event,
        done: &NodeFailed,
        message: Message,
    ) -> Result<(), LedgerError> {
        let plan = Arc::clone(&self.plan);
        let node = &plan.nodes[message.node];
        let Trace { context, result } = self.left_by(&message, Err(&done.error));
        let value = Value {
            context,
            result,
            // An error that the author has dealt with is a value like any other.
            failed: (done.consequence == Consequence::Contained).then_some(message.node),
        };
        if done.consequence == Consequence::Contained {
            self.skip_behind(&node.leaving, &message.lineage);
            self.pass_on(message.node, &message.lineage, &Word::Failed(&value));
            return Ok(());
        }
        let taken = self.taken(event, message.node, &done.taken)?;
        if !node.opens() {
            self.follow(&message, &taken, &value);
            return Ok(());
        }
        // A split that failed has spread nothing: an empty fan-out if that is ignored, none at all on its error edge.
        match node.on_error.filter(|edge| taken.contains(edge)) {
            None => self.fan_out(event, &message, value.context, &Payload::new(json!([])), &taken),
            Some(edge) => {
                self.send(edge, &message.lineage, (&message.id, 0), &value);
                self.skip_behind(&node.outgoing, &message.lineage);
                self.block(message.node, &message.lineage, &Word::Done(&value.context));
                Ok(())
            }
        }
    }

    /// Nodes that nothing leads to and nothing starts will never say anything.
    fn rule_out(&mut self, starts: &[NodeId], context: &Context) {
        let plan = Arc::clone(&self.plan);
        let mut led_to = vec![false; plan.nodes.len()];
        plan.edges.iter().for_each(|edge| led_to[edge.to] = true);
        let silent = |node: &usize| !led_to[*node] && !starts.contains(&plan.nodes[*node].id);
        for node in (0..plan.nodes.len()).filter(silent) {
            self.pass_on(node, &Lineage::default(), &Word::Done(context));
        }
    }

    /// The taken edges carry the value; whoever waits behind the others is told.
    fn follow(&mut self, message: &Message, taken: &[usize], value: &Value) {
        let plan = Arc::clone(&self.plan);
        let mut sent = Vec::with_capacity(taken.len());
        for &edge in taken {
            // What is not there does not travel, also if somebody has ignored that.
            let Some(result) = plan.edges[edge].pick.of(&value.result, None) else { continue };
            self.send(edge, &message.lineage, (&message.id, 0), &Value { result, ..value.clone() });
            sent.push(edge);
        }
        let untaken: Vec<usize> =
            plan.nodes[message.node].leaving.iter().copied().filter(|edge| !sent.contains(edge)).collect();
        self.skip_behind(&untaken, &message.lineage);
        for edge in untaken {
            self.tell(&plan.flow.frontiers[edge], &message.lineage, &Word::Done(&value.context));
        }
    }

    /// A value travels along an edge: to a node that fires on it, or into an inbox. `sender` is the message it comes of,
    /// and which of its items it is.
    fn send(&mut self, edge: usize, lineage: &Lineage, sender: (&MessageId, u32), value: &Value) {
        let plan = Arc::clone(&self.plan);
        let PlannedEdge { to: node, source, .. } = &plan.edges[edge];
        let (node, (message, index)) = (*node, sender);
        match &plan.flow.inputs[node] {
            Input::Each => {
                self.reach(edge, lineage);
                let joined = self.brought(edge, &value.result);
                let id = message.child(&source.id, index);
                self.open(id, node, lineage.clone(), value.context.clone(), joined);
            }
            Input::Exclusive { .. } => {
                self.joins.note_value(node, lineage);
                let id = message.child(&source.id, index);
                self.open(id, node, lineage.clone(), value.context.clone(), None);
            }
            Input::List { .. }
            | Input::Race { .. }
            | Input::Join { .. }
            | Input::Collapse { .. }
            | Input::Sides { .. } => {
                self.offer(edge, lineage, Decision::Value(value.clone()));
            }
        }
    }

    fn open(
        &mut self,
        id: MessageId,
        node: usize,
        lineage: Lineage,
        context: Context,
        joined: Option<Joined>,
    ) {
        let message = Message {
            execution_id: self.execution_id.clone(),
            id: id.clone(),
            node,
            lineage,
            context,
            attempt: 1,
            failures: Failures::default(),
            joined: joined.map(Arc::new),
            resumed: None,
            parameters: None,
        };
        self.fan_outs.entered(&self.plan, node, &message.lineage);
        self.open.insert(
            id.clone(),
            Opened { message, started: None, parked: None, given: None, woken: None, since: self.at },
        );
        self.ready.push_back(id);
    }

    fn opened(&mut self, event: &Event, firing: &Firing) -> Result<&mut Opened, LedgerError> {
        // While replaying, an item is opened when something is said of it.
        if !self.open.contains_key(&firing.message_id) {
            let plan = Arc::clone(&self.plan);
            for item in self.fan_outs.up_to(&plan, &firing.lineage) {
                self.open_item(item);
            }
        }
        let (execution, seq) = (self.execution_id.clone(), event.seq);
        let complaint = || LedgerError {
            execution,
            seq,
            complaint: format!("{} has no message under way", firing.node_id),
        };
        self.open.get_mut(&firing.message_id).ok_or_else(complaint)
    }

    fn close(&mut self, event: &Event, firing: &Firing) -> Result<Opened, LedgerError> {
        let parked = self.opened(event, firing)?.parked;
        if let Some(due) = parked {
            self.timers.remove(&(due, Timer::Message(firing.message_id.clone())));
        }
        let closed = self.open.remove(&firing.message_id);
        if let Some(Opened { message, .. }) = &closed {
            self.fan_outs.left(&self.plan, message.node, &message.lineage);
        }
        closed.ok_or_else(|| self.refuse(event, format!("{} ends without a message", firing.node_id)))
    }

    fn taken(&self, event: &Event, node: usize, ids: &[protocol::EdgeId]) -> Result<Vec<usize>, LedgerError> {
        let place = |id| {
            let edge = self.plan.edge_of(node, id);
            edge.ok_or_else(|| {
                self.refuse(event, format!("there is no edge {id} at {}", self.plan.nodes[node].id))
            })
        };
        ids.iter().map(place).collect()
    }

    /// After a replay: what was said to be ready may be done with, and what rests is not ready.
    fn settle(&mut self) {
        let ready = self.open.iter().filter(|(_, opened)| opened.parked.is_none()).map(|(id, _)| id.clone());
        let mut ready: Vec<MessageId> = ready.collect();
        // The same order after every restart.
        ready.sort_unstable();
        self.ready = ready.into();
        // Who was woken by hand goes on with the attempt that rested.
        let broken_off = |opened: &&mut Opened| {
            opened.started.is_some() && opened.parked.is_none() && opened.message.resumed.is_none()
        };
        self.open.values_mut().filter(broken_off).for_each(|opened| opened.message.attempt += 1);
    }

    fn refuse(&self, event: &Event, complaint: String) -> LedgerError {
        LedgerError { execution: self.execution_id.clone(), seq: event.seq, complaint }
    }
}
