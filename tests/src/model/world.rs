//! A world without SQLite, threads or clocks, in which messages are delivered in any order and more than once, and
//! the engine crashes before or after any commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine::{Effects, Message, Plan, Work, conclude, prepare};
use protocol::{
    Consequence, Echo, Event, ExecutionEnded, ExecutionStarted, ExecutionStatus, Fact, Firing, MessageId,
    NodeFailed, NodeStarted, NodeSucceeded, Payload,
};
use recording::Ledger;
use serde_json::{Value, json};

use super::{Dice, oracle::Meaning};

/// How unkind the world is: one in so many steps; 0 for never.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub duplicate: usize,
    pub crash_before_commit: usize,
    pub crash_after_commit: usize,
}

/// What is wrong with the engine on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    None,
    /// A message is committed again although it was before.
    CommitTwice,
    /// A crash loses the last event.
    LoseAnEvent,
    /// An item that leaves the way is not told to anyone.
    ForgetUntaken,
    /// A failed item is treated as if it had succeeded with nothing.
    SwallowError,
    /// The edges of a condition are all taken.
    TakeBothSides,
    /// A split spreads one item less.
    DropAnItem,
    /// A split spreads its first item twice.
    RepeatAnItem,
    /// A split spreads its items in another order.
    ReverseItems,
    /// A failed item counts as one that left the way.
    SkipError,
    /// A failed item ends the execution.
    HaltOnError,
    /// The execution ends with the first way that ends.
    EndAtFirstLeaf,
    /// A crash loses a message that was in hand, as if it had been acknowledged before its commit.
    LoseAMessage,
    /// Now and then a commit sends nothing.
    LoseChildren,
    /// An item answers for its neighbour.
    WrongItem,
}

impl Sabotage {
    pub const ALL: [Self; 14] = [
        Self::CommitTwice,
        Self::LoseAnEvent,
        Self::ForgetUntaken,
        Self::SwallowError,
        Self::TakeBothSides,
        Self::DropAnItem,
        Self::RepeatAnItem,
        Self::ReverseItems,
        Self::SkipError,
        Self::HaltOnError,
        Self::EndAtFirstLeaf,
        Self::LoseAMessage,
        Self::LoseChildren,
        Self::WrongItem,
    ];
}

pub struct World<'w> {
    plan: Arc<Plan>,
    ledger: Ledger,
    events: Vec<Event>,
    /// Messages in hand, delivered perhaps more than once.
    hand: Vec<Message>,
    dice: &'w mut Dice,
    faults: Faults,
    sabotage: Sabotage,
    pub crashes: usize,
    pub duplicates: usize,
}

/// What a run came to, or why it is wrong.
pub type Verdict = Result<Meaning, String>;

/// More steps than this and it does not end.
const STEPS: usize = 20_000;

impl<'w> World<'w> {
    pub fn new(plan: &Arc<Plan>, dice: &'w mut Dice, faults: Faults, sabotage: Sabotage) -> Self {
        let ledger = Ledger::new("x".into(), Arc::clone(plan));
        let (plan, events, hand) = (Arc::clone(plan), Vec::new(), Vec::new());
        Self { plan, ledger, events, hand, dice, faults, sabotage, crashes: 0, duplicates: 0 }
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn run(&mut self, input: &Value) -> Verdict {
        let starts = self.plan.starts.iter().map(|&node| self.plan.nodes[node].id.clone()).collect();
        let definition = serde_json::to_value(&*self.plan.workflow).map_err(|error| error.to_string())?;
        self.append(Fact::ExecutionStarted(ExecutionStarted {
            workflow_id: "w".into(),
            title: "W".to_owned(),
            path: None,
            definition_hash: self.plan.hash.clone(),
            definition: Payload::new(definition),
            input: Payload::new(input.clone()),
            starts,
        }))?;
        for _ in 0..STEPS {
            if self.ledger.is_ended() {
                return self.meaning();
            }
            self.step()?;
        }
        Err(format!("no end after {STEPS} steps: {:?}", self.ledger.undecided()))
    }

    fn step(&mut self) -> Result<(), String> {
        if self.happens(self.faults.crash_before_commit) {
            return self.crash();
        }
        while self.hand.len() < 4 {
            let Some(message) = self.ledger.next_ready() else { break };
            self.hand.push(message);
        }
        if self.hand.is_empty() {
            return Err(format!("nothing is under way, yet {:?}", self.ledger.undecided()));
        }
        let chosen = self.dice.roll(self.hand.len());
        let message = match self.happens(self.faults.duplicate) {
            true => {
                self.duplicates += 1;
                self.hand[chosen].clone()
            }
            false => self.hand.swap_remove(chosen),
        };
        self.hop(&message)?;
        if self.happens(self.faults.crash_after_commit) && !self.ledger.is_ended() {
            self.crash()?;
        }
        Ok(())
    }

    fn hop(&mut self, message: &Message) -> Result<(), String> {
        let committed = self.ledger.get(&message.id).is_none();
        if committed && self.sabotage != Sabotage::CommitTwice {
            return Ok(());
        }
        let prepared = prepare(&self.plan, message, 0);
        let mut firing = Firing {
            message_id: message.id.clone(),
            node_id: self.plan.nodes[message.node].id.clone(),
            lineage: message.lineage.clone(),
            attempt: message.attempt,
        };
        if let (Sabotage::WrongItem, Some(step)) = (self.sabotage, message.lineage.steps().last()) {
            firing.lineage =
                message.lineage.parent().push(&step.split, (step.index + 1) % step.total, step.total);
        }
        self.append(Fact::NodeStarted(NodeStarted {
            firing: firing.clone(),
            parameters: prepared.parameters,
        }))?;
        let answer = match prepared.work {
            Work::Done(output) => Ok(output),
            Work::Failed(error) => Err(error),
            Work::Sleep { then, .. } => *then,
            Work::Call(_) => return Err("the model does not call".to_owned()),
            Work::Wait { .. } => return Err("the model does not wait".to_owned()),
        };
        let effects = self.sabotaged(message, conclude(&self.plan, message, answer));
        self.commit(firing, effects)
    }

    fn sabotaged(&mut self, message: &Message, mut effects: Effects) -> Effects {
        let node = &self.plan.nodes[message.node];
        let contained = effects.consequence == Consequence::Contained;
        match self.sabotage {
            Sabotage::TakeBothSides => effects.taken.clone_from(&node.leaving),
            Sabotage::SwallowError if contained => {
                effects.outcome = Ok(Payload::null().into());
                effects.consequence = Consequence::GoOn;
                effects.taken.clone_from(&node.outgoing);
            }
            Sabotage::SkipError if contained => effects.consequence = Consequence::GoOn,
            Sabotage::HaltOnError if contained => effects.consequence = Consequence::Halt,
            Sabotage::DropAnItem => change_items(&mut effects, |items| drop(items.pop())),
            Sabotage::RepeatAnItem => {
                change_items(&mut effects, |items| items.extend(items.first().cloned()))
            }
            Sabotage::ReverseItems => change_items(&mut effects, |items| items.reverse()),
            Sabotage::ForgetUntaken if node.source.kind == "conditional" && !message.lineage.is_root() => {
                effects.taken.clear();
            }
            Sabotage::LoseChildren if self.dice.one_in(10) => effects.taken.clear(),
            _ => {}
        }
        effects
    }

    fn commit(&mut self, firing: Firing, effects: Effects) -> Result<(), String> {
        let taken = effects.taken.iter().map(|&edge| self.plan.edges[edge].source.id.clone()).collect();
        let (duration, echo) = (0, Echo::default());
        self.append(match effects.outcome {
            Ok(output) => {
                let (items, output) = (output.items, output.payload);
                Fact::NodeSucceeded(NodeSucceeded { firing, duration, output, items, taken, echo })
            }
            Err(error) => {
                let consequence = effects.consequence;
                Fact::NodeFailed(NodeFailed { firing, duration, error, taken, consequence, echo })
            }
        })?;
        let ends_early = self.sabotage == Sabotage::EndAtFirstLeaf && effects.taken.is_empty();
        if effects.consequence == Consequence::Halt || (ends_early && !self.ledger.is_quiet()) {
            return self.append(Fact::ExecutionEnded(ExecutionEnded {
                status: ExecutionStatus::Halted,
                error: None,
            }));
        }
        if self.ledger.is_quiet() {
            let undecided = self.ledger.undecided();
            if !undecided.is_empty() {
                return Err(format!("stalled: {undecided:?}"));
            }
            self.append(Fact::ExecutionEnded(ExecutionEnded {
                status: ExecutionStatus::Completed,
                error: None,
            }))?;
        }
        Ok(())
    }

    /// Everything in memory is gone; what is left is the log.
    fn crash(&mut self) -> Result<(), String> {
        self.crashes += 1;
        self.hand.clear();
        if self.sabotage == Sabotage::LoseAnEvent && self.events.len() > 2 {
            let lost = self.dice.roll(self.events.len() - 1) + 1;
            self.events.remove(lost);
            self.events.iter_mut().zip(1..).for_each(|(event, seq)| event.seq = seq);
        }
        let resumed = Ledger::resume("x".into(), Arc::clone(&self.plan), &self.events);
        self.ledger = resumed.map_err(|error| error.to_string())?;
        if self.sabotage == Sabotage::LoseAMessage {
            drop(self.ledger.next_ready());
        }
        Ok(())
    }

    fn append(&mut self, fact: Fact) -> Result<(), String> {
        let event = Event { execution_id: "x".into(), seq: self.ledger.position() + 1, at: 0, fact };
        self.ledger.apply(&event).map_err(|error| error.to_string())?;
        self.events.push(event);
        Ok(())
    }

    fn happens(&mut self, one_in: usize) -> bool {
        one_in > 0 && self.dice.one_in(one_in)
    }

    /// What every node put out at every key; each of them once, each message with the lineage its node has.
    fn meaning(&self) -> Verdict {
        let mut meaning = Meaning::new();
        let mut finished: BTreeSet<&MessageId> = BTreeSet::new();
        let mut completions = 0;
        for event in &self.events {
            let (firing, output) = match &event.fact {
                Fact::NodeSucceeded(done) => (&done.firing, done.output.value().clone()),
                Fact::NodeFailed(done) => (&done.firing, json!({"error": done.error.message})),
                Fact::ExecutionEnded(_) => {
                    completions += 1;
                    continue;
                }
                _ => continue,
            };
            if !finished.insert(&firing.message_id) {
                return Err(format!("{} finished twice", firing.node_id));
            }
            let key = firing.lineage.steps().iter().map(|step| step.index).collect();
            if meaning.insert((firing.node_id.to_string(), key), short_errors(output)).is_some() {
                return Err(format!("{} ran twice at [{}]", firing.node_id, firing.lineage.key()));
            }
        }
        match completions {
            1 => Ok(meaning),
            other => Err(format!("{other} completions")),
        }
    }
}

fn change_items(effects: &mut Effects, change: impl FnOnce(&mut Vec<Value>)) {
    if let Ok(output) = &mut effects.outcome
        && let Some(items) = &output.items
    {
        let mut changed = items.value().as_array().cloned().unwrap_or_default();
        change(&mut changed);
        output.items = Some(Payload::new(Value::Array(changed)));
    }
}

/// Errors are compared by their message.
fn short_errors(value: Value) -> Value {
    match value {
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("error") => {
            let error = &fields["error"];
            json!({"error": error.get("message").unwrap_or(error)})
        }
        Value::Object(fields) => {
            fields.into_iter().map(|(name, field)| (name, short_errors(field))).collect()
        }
        Value::Array(items) => items.into_iter().map(short_errors).collect(),
        other => other,
    }
}

pub type Differences = BTreeMap<String, (Option<Value>, Option<Value>)>;

/// Where two meanings differ: expected and found.
pub fn differences(expected: &Meaning, found: &Meaning) -> Differences {
    let keys: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    let shown = |(node, key): &(String, Vec<u32>)| format!("{node}{key:?}");
    keys.into_iter()
        .filter(|key| expected.get(*key) != found.get(*key))
        .map(|key| (shown(key), (expected.get(key).cloned(), found.get(key).cloned())))
        .collect()
}
