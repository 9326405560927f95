//! A world without SQLite, threads or real time, in which messages are delivered in any order and more than once,
//! time passes at any moment, and the engine crashes before or after any event.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use engine::{Effects, Message, Output, Plan, Work, conclude, prepare};
use protocol::{
    AttemptFailed, Consequence, Echo, ErrorCode, Event, ExecutionEnded, ExecutionStarted, ExecutionStatus,
    Fact, Fault, Firing, Lineage, MessageId, Millis, NodeError, NodeFailed, NodeParked, NodeStarted,
    NodeSucceeded, Payload, TimedOut,
};
use recording::Ledger;
use serde_json::Value;

use super::{Dice, Failure, Kind, fail, sabotage::Sabotage, timers::Timers};

/// How unkind the world is: one in so many steps; 0 for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    pub duplicate: usize,
    pub crash: usize,
    /// Time passes while there is work to do, and timers fire late.
    pub delay: usize,
    /// An attempt comes to nothing through no fault of its node, and is repeated later.
    pub retry: usize,
}

/// Which of the messages at hand is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Chance decides, among a few.
    #[default]
    Any,
    /// The oldest.
    Natural,
    /// The youngest.
    Reversed,
}

/// A crash at one commit, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashAt {
    Before(usize),
    After(usize),
}

/// What happened in a run, or in many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub runs: usize,
    pub crashes: usize,
    pub duplicates: usize,
    /// Rests that came to their end.
    pub timers: usize,
    pub races: usize,
    /// Joins that gave up.
    pub timeouts: usize,
    /// Executions that a failure ended.
    pub halts: usize,
    pub retries: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.crashes += other.crashes;
        self.duplicates += other.duplicates;
        self.timers += other.timers;
        self.races += other.races;
        self.timeouts += other.timeouts;
        self.halts += other.halts;
        self.retries += other.retries;
    }
}

/// A message that somebody works on. Once it is announced, the answer is there.
#[derive(Clone)]
struct InHand {
    message: Message,
    answer: Option<Result<Output, NodeError>>,
}

pub struct World {
    plan: Arc<Plan>,
    ledger: Ledger,
    pub events: Vec<Event>,
    hand: Vec<InHand>,
    now: Millis,
    timers: Timers,
    /// How many items each split has spread at each key.
    totals: HashMap<(usize, Lineage), u32>,
    /// Attempts that were announced: who comes again is not announced again.
    announced: BTreeSet<(MessageId, u32)>,
    dice: Dice,
    faults: Faults,
    sabotage: Sabotage,
    pub order: Order,
    /// Every message comes once more when it has been worked on.
    pub twice: bool,
    pub crash_at: Option<CrashAt>,
    pub commits: usize,
    pub tally: Tally,
}

/// More steps than this and it does not end.
const STEPS: usize = 20_000;

/// As many messages are worked on at once.
const HANDS: usize = 4;

type Step = Result<(), Failure>;

impl World {
    pub fn new(plan: &Arc<Plan>, dice: Dice, faults: Faults, sabotage: Sabotage) -> Self {
        Self {
            plan: Arc::clone(plan),
            ledger: Ledger::new("storm".into(), Arc::clone(plan)),
            events: Vec::new(),
            hand: Vec::new(),
            now: 0,
            timers: Timers::new(plan),
            totals: HashMap::new(),
            announced: BTreeSet::new(),
            dice,
            faults,
            sabotage,
            order: Order::default(),
            twice: false,
            crash_at: None,
            commits: 0,
            tally: Tally { runs: 1, ..Tally::default() },
        }
    }

    /// From the start to the end.
    pub fn run(&mut self, input: &Value) -> Step {
        let starts = self.plan.starts.iter().map(|&node| self.plan.nodes[node].id.clone()).collect();
        let definition = serde_json::to_value(&*self.plan.workflow).unwrap_or_default();
        self.append(Fact::ExecutionStarted(Box::new(ExecutionStarted {
            workflow_id: "storm".into(),
            title: "Storm".to_owned(),
            path: None,
            definition_hash: self.plan.hash.clone(),
            definition: Payload::new(definition),
            input: Payload::new(input.clone()),
            starts,
            origin: None,
            until: None,
            observed: None,
            other: Default::default(),
        })))?;
        for _ in 0..STEPS {
            if self.ledger.is_ended() {
                return self.at_the_end();
            }
            self.step()?;
        }
        fail(Kind::Stuck, format!("no end after {STEPS} steps: {:?}", self.ledger.under_way()))
    }

    fn step(&mut self) -> Step {
        if self.happens(self.faults.crash) {
            return self.crash();
        }
        if self.happens(self.faults.delay) {
            self.now += self.dice.roll(1_500) as Millis;
        }
        let is_due = self.ledger.next_due().is_some_and(|due| due <= self.now);
        if is_due && (self.faults.delay == 0 || self.dice.one_in(3)) {
            return self.wake(self.now);
        }
        if self.sabotage == Sabotage::FireEarly
            && let Some(due) = self.ledger.next_due()
        {
            return self.wake(due);
        }
        let hands = if self.order == Order::Any { HANDS } else { usize::MAX };
        while self.hand.len() < hands {
            let Some(message) = self.ledger.next_ready() else { break };
            self.hand.push(InHand { message, answer: None });
        }
        if self.hand.is_empty() {
            return self.wait();
        }
        let chosen = match self.order {
            Order::Any => self.dice.roll(self.hand.len()),
            Order::Natural => 0,
            Order::Reversed => self.hand.len() - 1,
        };
        let in_hand = match self.happens(self.faults.duplicate) {
            true => {
                self.tally.duplicates += 1;
                self.hand[chosen].clone()
            }
            false if self.order == Order::Any => self.hand.swap_remove(chosen),
            false => self.hand.remove(chosen),
        };
        if !self.twice {
            return self.work(in_hand);
        }
        self.tally.duplicates += 1;
        self.work(in_hand.clone())?;
        match self.ledger.is_ended() {
            true => Ok(()),
            false => self.work(in_hand),
        }
    }

    /// There is nothing to do until the next timer.
    fn wait(&mut self) -> Step {
        let Some(due) = self.ledger.next_due() else {
            return fail(Kind::Stuck, format!("nothing can go on, yet {:?}", self.ledger.under_way()));
        };
        let late = if self.happens(self.faults.delay) { self.dice.roll(2_000) as Millis } else { 0 };
        self.now = self.now.max(due) + late;
        self.wake(self.now)
    }

    fn wake(&mut self, now: Millis) -> Step {
        for fact in self.ledger.wake(now) {
            let Fact::TimedOut(late) = &fact else { return fail(Kind::Timer, format!("woken by {fact:?}")) };
            match self.sabotage {
                Sabotage::NeverGiveUp => continue,
                Sabotage::FireAfterGivingUp => {
                    self.timers.give_up(late, self.now)?;
                    self.forge_giving_up(late);
                }
                _ => {
                    self.timers.give_up(late, self.now)?;
                    self.append(fact)?;
                    self.tally.timeouts += 1;
                }
            }
            // The others are found again, because the log knows when they are due.
            if self.happens(self.faults.crash) {
                return self.crash();
            }
        }
        self.timers.nothing_overdue(now)
    }

    /// One more stage of a message: it is announced and may have to rest, or its answer is committed.
    fn work(&mut self, in_hand: InHand) -> Step {
        let InHand { mut message, answer } = in_hand;
        let is_stale = self.is_stale(&message);
        if is_stale && self.sabotage != Sabotage::CommitTwice {
            return self.redelivered();
        }
        self.sabotage.spoil_message(&mut message);
        self.check_lineage(&message)?;
        let firing = Firing {
            message_id: message.id.clone(),
            node_id: self.plan.nodes[message.node].id.clone(),
            lineage: message.lineage.clone(),
            attempt: message.attempt,
        };
        if let Some(answer) = answer {
            if message.resumed.is_none() && message.failures.system < 3 && self.happens(self.faults.retry) {
                return self.try_again(firing);
            }
            self.timers.finish(&message.id, self.now)?;
            let mut effects = conclude(&self.plan, &message, answer);
            self.sabotage.spoil_effects(&self.plan, &message, &mut self.dice, &mut effects);
            return self.commit(&message, firing, effects);
        }
        let prepared = prepare(&self.plan, &message, self.now);
        if message.resumed.is_none() && self.announced.insert((message.id.clone(), message.attempt)) {
            self.timers.attempt(&message.id, self.now)?;
            let parameters = prepared.parameters;
            self.append(Fact::NodeStarted(NodeStarted { firing: firing.clone(), parameters, input: None }))?;
        }
        let answer = match prepared.work {
            Work::Done(output) => Ok(output),
            Work::Failed(error) => Err(error),
            Work::Sleep { then, .. } => *then,
            Work::Call(call) => return fail(Kind::Refused, format!("the model has nobody to ask: {call:?}")),
            Work::Wait { due } => {
                self.append(Fact::NodeParked(NodeParked { firing, due }))?;
                return self.timers.rest(&message.id, due);
            }
        };
        self.hand.push(InHand { message, answer: Some(answer) });
        Ok(())
    }

    fn try_again(&mut self, firing: Firing) -> Step {
        self.tally.retries += 1;
        let error = NodeError::new(ErrorCode::ConnectionFailed, "nobody answers");
        let due = self.now + 1 + self.dice.roll(3_000) as Millis;
        self.timers.retry(&firing.message_id, due);
        self.append(Fact::AttemptFailed(AttemptFailed {
            firing,
            duration: 0,
            error,
            fault: Fault::System,
            due,
        }))
    }

    /// It was committed before, or rests, or is the copy from before its rest or of an earlier attempt.
    fn is_stale(&self, message: &Message) -> bool {
        match self.ledger.get(&message.id) {
            Some(opened) => {
                let now = &opened.message;
                opened.parked.is_some() || (now.resumed, now.attempt) != (message.resumed, message.attempt)
            }
            None => true,
        }
    }

    /// What comes again changes nothing, and the log refuses what it has heard already.
    fn redelivered(&mut self) -> Step {
        if !self.dice.one_in(4) {
            return Ok(());
        }
        let state = |ledger: &Ledger| {
            let numbers = (ledger.position(), ledger.next_due(), ledger.ready_count(), ledger.timer_count());
            (numbers, ledger.under_way(), ledger.decided())
        };
        let before = state(&self.ledger);
        let is_commit = |event: &&Event| matches!(event.fact, Fact::NodeSucceeded(_) | Fact::NodeFailed(_));
        let Some(mut event) = self.events.iter().rfind(is_commit).cloned() else { return Ok(()) };
        let known = self.ledger.apply(&event).is_ok();
        event.seq = self.ledger.position() + 1;
        let again = self.ledger.apply(&event).is_ok();
        match known || again || state(&self.ledger) != before {
            true => fail(Kind::Redelivery, format!("{:?} came again and changed something", event.fact)),
            false => Ok(()),
        }
    }

    /// The levels of a message are the splits its node stands in, with as many items as they have spread.
    fn check_lineage(&self, message: &Message) -> Step {
        let scope = &self.plan.nodes[message.node].fires;
        let steps = message.lineage.steps();
        let fits = |(depth, (step, split)): (usize, (&protocol::Step, &usize))| {
            let total = self.totals.get(&(*split, message.lineage.prefix(depth)));
            self.plan.nodes[*split].id == step.split
                && total == Some(&(step.count() as u32))
                && step.place() < step.count()
        };
        match steps.len() == scope.len() && steps.iter().zip(scope).enumerate().all(fits) {
            true => Ok(()),
            false => fail(
                Kind::Lineage,
                format!("{} stands at {:?}", self.plan.nodes[message.node].id, message.lineage),
            ),
        }
    }

    fn commit(&mut self, message: &Message, firing: Firing, effects: Effects) -> Step {
        let commit = self.commits;
        if self.crash_at == Some(CrashAt::Before(commit)) {
            self.crash_at = None;
            return self.crash();
        }
        self.commits += 1;
        let place = (message.node, message.lineage.clone());
        let taken = effects.taken.iter().map(|&edge| self.plan.edges[edge].source.id.clone()).collect();
        let (duration, echo) = (0, Echo::default());
        let error = effects.outcome.as_ref().err().cloned();
        self.note(message, &effects);
        let result = effects.outcome.as_ref().ok().map(|output| output.payload.clone());
        let fact = match effects.outcome {
            Ok(output) => {
                let (items, output) = (output.items, output.payload);
                if let Some(items) = &items {
                    self.totals.insert(place, items.value().as_array().map_or(0, Vec::len) as u32);
                }
                Fact::NodeSucceeded(NodeSucceeded { firing, duration, output, items, taken, echo })
            }
            Err(error) => {
                let consequence = effects.consequence;
                Fact::NodeFailed(NodeFailed { firing, duration, error, taken, consequence, echo })
            }
        };
        self.append(fact)?;
        if let (Sabotage::TwoWinners, Some(result)) = (self.sabotage, result) {
            self.forge_winner(message, &effects.taken, &result);
        }
        let ends_early = self.sabotage == Sabotage::EndAtFirstLeaf && effects.taken.is_empty();
        if effects.consequence == Consequence::Halt || (ends_early && !self.ledger.is_quiet()) {
            self.tally.halts += 1;
            let late = error.as_ref().is_some_and(|error| error.code.is_breakdown());
            return self.end(if late { ExecutionStatus::Failed } else { ExecutionStatus::Halted }, error);
        }
        if self.ledger.is_quiet() {
            return self.complete();
        }
        match self.crash_at == Some(CrashAt::After(commit)) {
            true => self.crash(),
            false => Ok(()),
        }
    }

    fn note(&mut self, message: &Message, effects: &Effects) {
        let node = &self.plan.nodes[message.node].source;
        let races = node.parameters.get("wait_mode").is_some_and(|mode| mode == "wait_for_any");
        self.tally.races += usize::from(races && effects.outcome.is_ok());
        self.tally.timers += usize::from(message.resumed.is_some());
    }

    /// Nothing is under way any more, so nothing may be left behind.
    fn complete(&mut self) -> Step {
        let left = self.ledger.under_way();
        if !left.is_empty() {
            return fail(Kind::Stuck, format!("nothing is under way, yet {left:#?}"));
        }
        if self.ledger.timer_count() > 0 {
            return fail(Kind::Timer, format!("a timer is left that is due at {:?}", self.ledger.next_due()));
        }
        self.timers.nothing_left()?;
        self.end(ExecutionStatus::Completed, None)
    }

    fn end(&mut self, status: ExecutionStatus, error: Option<NodeError>) -> Step {
        self.append(Fact::ExecutionEnded(ExecutionEnded { status, error }))
    }

    /// After the end there is nothing but tombstones, and messages that come late find nobody.
    fn at_the_end(&mut self) -> Step {
        let ledger = &mut self.ledger;
        let left = ledger.under_way();
        let nothing = ledger.is_quiet() && left.is_empty() && ledger.timer_count() == 0;
        match nothing && ledger.next_ready().is_none() && ledger.undecided().is_empty() {
            true => Ok(()),
            false => fail(Kind::End, format!("left after the end: {left:?}")),
        }
    }

    /// Everything in memory is gone; what is left is the log. Folding it gives what memory held.
    fn crash(&mut self) -> Step {
        self.tally.crashes += 1;
        self.hand.clear();
        if self.sabotage == Sabotage::LoseAnEvent && self.events.len() > 2 {
            let lost = self.dice.roll(self.events.len() - 1) + 1;
            self.events.remove(lost);
            self.events.iter_mut().zip(1..).for_each(|(event, seq)| event.seq = seq);
        }
        let resumed = Ledger::resume("storm".into(), Arc::clone(&self.plan), &self.events);
        let resumed = resumed.map_err(|error| Failure { kind: Kind::Refused, detail: error.to_string() })?;
        let before = (self.ledger.position(), self.ledger.under_way(), self.ledger.decided());
        if before != (resumed.position(), resumed.under_way(), resumed.decided()) {
            let after = (resumed.position(), resumed.under_way(), resumed.decided());
            return fail(Kind::Fold, format!("before the crash {before:#?}\nafter it {after:#?}"));
        }
        self.ledger = resumed;
        self.spoil_memory();
        Ok(())
    }

    fn spoil_memory(&mut self) {
        match self.sabotage {
            Sabotage::LoseAMessage => drop(self.ledger.next_ready()),
            Sabotage::LoseTimers | Sabotage::ForgetRest => {
                drop(self.ledger.wake(Millis::MAX));
                let forget = self.sabotage == Sabotage::ForgetRest;
                while let Some(mut message) = self.ledger.next_ready() {
                    if message.resumed.is_none() || forget {
                        message.resumed = None;
                        self.hand.push(InHand { message, answer: None });
                    }
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, fact: Fact) -> Step {
        let seq = self.ledger.position() + 1;
        let mut event = Event { execution_id: "storm".into(), seq, at: self.now, fact };
        let heard = self.ledger.apply(&event);
        let heard = heard.map_err(|error| Failure { kind: Kind::Refused, detail: error.to_string() })?;
        self.timers.hear(&self.ledger, &heard.arrivals, self.now);
        event.fact.note(heard);
        if self.sabotage.forges() {
            event.seq = self.events.len() as u64 + 1;
        }
        self.events.push(event);
        Ok(())
    }

    /// An event that the ledger never hears of.
    fn forge(&mut self, fact: Fact) {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event { execution_id: "storm".into(), seq, at: self.now, fact });
    }

    fn forge_winner(&mut self, message: &Message, taken: &[usize], result: &Payload) {
        for &edge in taken {
            let race = &self.plan.nodes[self.plan.edges[edge].to];
            let node_id = race.id.clone();
            let won = self.events.iter().any(|event| match &event.fact {
                Fact::NodeSucceeded(done) => {
                    done.firing.node_id == node_id && done.firing.lineage == message.lineage
                }
                _ => false,
            });
            if won && race.source.parameters.get("wait_mode").is_some_and(|mode| mode == "wait_for_any") {
                let message_id = message.id.child(&self.plan.edges[edge].source.id, 0);
                let firing = Firing { message_id, node_id, lineage: message.lineage.clone(), attempt: 1 };
                let (output, items, taken, echo) = (result.clone(), None, Vec::new(), Echo::default());
                let done = NodeSucceeded { firing, duration: 0, output, items, taken, echo };
                self.forge(Fact::NodeSucceeded(done));
            }
        }
    }

    fn forge_giving_up(&mut self, late: &TimedOut) {
        let TimedOut { node_id, lineage, group } = late.clone();
        let message_id = MessageId::fire(&"storm".into(), &node_id, group, "forged");
        let firing = Firing { message_id, node_id, lineage, attempt: 1 };
        let error = NodeError::new(ErrorCode::TimeoutExceeded, "forged");
        let (taken, echo, consequence) = (Vec::new(), Echo::default(), Consequence::GoOn);
        self.forge(Fact::TimedOut(late.clone()));
        self.forge(Fact::NodeFailed(NodeFailed { firing, duration: 0, error, taken, consequence, echo }));
    }

    fn happens(&mut self, one_in: usize) -> bool {
        one_in > 0 && self.dice.one_in(one_in)
    }
}
