//! What a fork takes from the execution it comes from.
//!
//! What the parent had done up to the fork is taken as it is, whatever kind of node it was. Behind the fork, nodes that
//! need nothing from outside work again, so that a change shows; what asks the outside, and what rests, is answered
//! from the recording unless it was chosen to run.
//!
//! A fork may run another workflow. Nodes that are new or were edited do their work, whatever they ask; what comes
//! behind them is treated as behind any other change.

mod edited;
mod preview;

use std::collections::{BTreeSet, HashMap};

use engine::{Message, Output, Plan, Work};
use protocol::{
    Again, Change, Event, Fact, Firing, ForkEdit, Lineage, LineageKey, NodeError, NodeId, Origin, Payload,
};
use serde_json::{Value, json};

use edited::Edited;
pub use preview::preview;

/// The answers of the parent.
pub struct Past {
    recorded: HashMap<Place, Recorded>,
    position: u64,
    run: Vec<NodeId>,
    again: Option<Behind>,
    edit: Option<(Place, ForkEdit)>,
    edited: Edited,
}

type Place = (NodeId, LineageKey);

struct Recorded {
    outcome: Result<Output, NodeError>,
    /// The event that said so.
    position: u64,
    /// It fired more than once here, so nobody can say which answer is whose.
    is_ambiguous: bool,
}

/// What works again, and where.
struct Behind {
    first: usize,
    /// As places of the plan, the first among them.
    nodes: BTreeSet<usize>,
    /// The items that are run again; everything where absent.
    items: Option<Vec<Lineage>>,
}

/// Why there is no such fork.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    #[error("the execution has {last} events, so there is no event {position}")]
    NoEvent { position: u64, last: u64 },
    #[error("event {position} is not the start of a node, so there is nothing that it sees")]
    NoStart { position: u64 },
    #[error("event {position} is not the end of a node, so there is no output")]
    NoEnd { position: u64 },
    #[error("event {position} is not the start of the execution, so there is no input")]
    NoInput { position: u64 },
    #[error("there is no node {0} in the workflow")]
    NoNode(NodeId),
    #[error("no item of {0} has failed")]
    NoFailure(NodeId),
    #[error("no item {0} has been under way in the execution")]
    NoItem(LineageKey),
    #[error("the item {key} has not been at {node_id}")]
    NotThere { key: LineageKey, node_id: NodeId },
}

impl Past {
    pub fn new(plan: &Plan, parent: &[Event], origin: &Origin) -> Result<Self, ForkError> {
        let last = parent.last().map_or(0, |event| event.seq);
        let at = parent.iter().find(|event| event.seq == origin.position);
        let at = at.ok_or(ForkError::NoEvent { position: origin.position, last })?;
        if let Some(unknown) = origin.run.iter().find(|id| plan.node(id).is_none()) {
            return Err(ForkError::NoNode(unknown.clone()));
        }
        let edit = origin.edit.clone().map(|edit| edited_place(at, edit)).transpose()?.flatten();
        let edited = match &origin.again {
            // All other items stay as they were, also where a node was edited.
            Some(Again::Failed { .. } | Again::Item { .. }) => Edited::default(),
            Some(Again::From { .. }) | None => edited::edited(plan, parent),
        };
        Ok(Self {
            recorded: recorded(parent),
            position: origin.position,
            run: origin.run.clone(),
            again: origin.again.as_ref().map(|again| behind(plan, parent, again)).transpose()?,
            edit,
            edited,
        })
    }

    /// What is changed in a message before its work.
    pub fn change(&self, plan: &Plan, message: &Message) -> Option<Change> {
        match &self.edit {
            Some((place, ForkEdit::Context { entries })) if *place == place_of(plan, message) => {
                let entry = |(key, value): (&String, &Value)| (key.clone(), Payload::new(value.clone()));
                Some(Change::Context(entries.iter().map(entry).collect()))
            }
            Some((_, ForkEdit::Context { .. } | ForkEdit::Output { .. } | ForkEdit::Input { .. })) | None => {
                None
            }
        }
    }

    /// It is taken as it was, whatever it is.
    pub fn is_past(&self, plan: &Plan, message: &Message) -> bool {
        let place = place_of(plan, message);
        let is_edited = self.edit.as_ref().is_some_and(|(edited, _)| *edited == place);
        let recorded = self.recorded.get(&place).filter(|recorded| !recorded.is_ambiguous);
        !is_edited
            && recorded.is_some_and(|recorded| recorded.position <= self.position)
            && matches!(self.works_again(message), Standing::Apart)
    }

    /// The answer to a message, in place of its work. `None` also where its work gives that answer anyway.
    pub fn answer(&self, plan: &Plan, message: &Message, work: &Work) -> Option<Result<Output, NodeError>> {
        let place = place_of(plan, message);
        if let Some((edited, ForkEdit::Output { value })) = &self.edit
            && *edited == place
        {
            return Some(Ok(spread(plan, message.node, value)));
        }
        let recorded = self.recorded.get(&place).filter(|recorded| !recorded.is_ambiguous)?;
        let is_past = recorded.position <= self.position;
        let works = match self.works_again(message) {
            Standing::Again => true,
            Standing::Follows => !asks(work) || self.run.contains(&place.0),
            Standing::Apart if is_past => false,
            Standing::Apart => !asks(work) || self.run.contains(&place.0),
        };
        let is_same =
            matches!((work, &recorded.outcome), (Work::Done(output), Ok(known)) if same(output, known));
        (!works && !is_same).then(|| recorded.outcome.clone())
    }

    fn works_again(&self, message: &Message) -> Standing {
        if self.edited.nodes.contains(&message.node) {
            return Standing::Again;
        }
        let apart = match self.edited.behind.contains(&message.node) {
            true => Standing::Follows,
            false => Standing::Apart,
        };
        let Some(behind) = self.again.as_ref().filter(|behind| behind.nodes.contains(&message.node)) else {
            return apart;
        };
        let Some(items) = &behind.items else { return Standing::Again };
        let inside = |item: &Lineage| message.lineage.prefix(item.steps().len()) == *item;
        let around = |item: &Lineage| item.prefix(message.lineage.steps().len()) == message.lineage;
        match () {
            () if items.iter().any(inside) => Standing::Again,
            // What gathers the items works with the new ones.
            () if message.node != behind.first && items.iter().any(around) => Standing::Follows,
            () => apart,
        }
    }
}

/// How a firing has to do with what is run again.
enum Standing {
    Again,
    /// It comes behind, and sees something new.
    Follows,
    Apart,
}

/// What is answered from a recording although nothing of it is past.
fn asks(work: &Work) -> bool {
    match work {
        Work::Call(_) | Work::Wait { .. } => true,
        Work::Done(_) | Work::Failed(_) | Work::Sleep { .. } => false,
    }
}

fn same(one: &Output, other: &Output) -> bool {
    one.payload == other.payload && one.items == other.items
}

/// A value as the output of a node; a split spreads the items of an array.
fn spread(plan: &Plan, node: usize, value: &Value) -> Output {
    match value.as_array().filter(|_| plan.nodes[node].opens()) {
        Some(items) => Output {
            payload: Payload::new(json!({"count": items.len()})),
            items: Some(Payload::new(value.clone())),
        },
        None => Payload::new(value.clone()).into(),
    }
}

fn place_of(plan: &Plan, message: &Message) -> Place {
    (plan.nodes[message.node].id.clone(), message.lineage.key())
}

/// Where a fork is edited. The input is not edited at a place.
fn edited_place(at: &Event, edit: ForkEdit) -> Result<Option<(Place, ForkEdit)>, ForkError> {
    let position = at.seq;
    let place = |firing: &Firing| (firing.node_id.clone(), firing.lineage.key());
    match (&edit, &at.fact) {
        (ForkEdit::Context { .. }, Fact::NodeStarted(started)) => Ok(Some((place(&started.firing), edit))),
        (ForkEdit::Output { .. }, Fact::NodeSucceeded(done)) => Ok(Some((place(&done.firing), edit))),
        (ForkEdit::Output { .. }, Fact::NodeFailed(done)) => Ok(Some((place(&done.firing), edit))),
        (ForkEdit::Input { .. }, Fact::ExecutionStarted(_)) => Ok(None),
        (ForkEdit::Context { .. }, _) => Err(ForkError::NoStart { position }),
        (ForkEdit::Output { .. }, _) => Err(ForkError::NoEnd { position }),
        (ForkEdit::Input { .. }, _) => Err(ForkError::NoInput { position }),
    }
}

fn behind(plan: &Plan, parent: &[Event], again: &Again) -> Result<Behind, ForkError> {
    let place = |id: &NodeId| plan.node(id).ok_or_else(|| ForkError::NoNode(id.clone()));
    let (first, items) = match again {
        Again::From { node_id } => (place(node_id)?, None),
        Again::Failed { node_id } => (place(node_id)?, Some(failed_at(parent, node_id)?)),
        Again::Item { key, node_id } => {
            let item = item_at(parent, key)?;
            let first = match node_id {
                Some(node_id) if has_been(parent, &item, node_id) => place(node_id)?,
                Some(node_id) => {
                    place(node_id)?;
                    return Err(ForkError::NotThere { key: key.clone(), node_id: node_id.clone() });
                }
                // The split itself is around the item, so it stays as it was.
                None => item.steps().last().map_or(Ok(0), |step| place(&step.split))?,
            };
            (first, Some(vec![item]))
        }
    };
    Ok(Behind { first, nodes: plan.downstream(first), items })
}

fn failed_at(parent: &[Event], node_id: &NodeId) -> Result<Vec<Lineage>, ForkError> {
    let of_node = |event: &Event| match &event.fact {
        Fact::NodeFailed(done) if done.firing.node_id == *node_id => Some(done.firing.lineage.clone()),
        _ => None,
    };
    let failed: Vec<Lineage> = parent.iter().filter_map(of_node).collect();
    if failed.is_empty() { Err(ForkError::NoFailure(node_id.clone())) } else { Ok(failed) }
}

/// The item of that key, as it stands in the recording.
fn item_at(parent: &[Event], key: &LineageKey) -> Result<Lineage, ForkError> {
    let named = |firing: &Firing| {
        let levels = 1..=firing.lineage.steps().len();
        levels.map(|level| firing.lineage.prefix(level)).find(|item| item.key() == *key)
    };
    let mut started = parent.iter().filter_map(started_firing);
    started.find_map(named).ok_or_else(|| ForkError::NoItem(key.clone()))
}

fn has_been(parent: &[Event], item: &Lineage, node_id: &NodeId) -> bool {
    let inside = |firing: &Firing| firing.lineage.prefix(item.steps().len()) == *item;
    parent.iter().filter_map(started_firing).any(|firing| firing.node_id == *node_id && inside(firing))
}

fn started_firing(event: &Event) -> Option<&Firing> {
    match &event.fact {
        Fact::NodeStarted(started) => Some(&started.firing),
        _ => None,
    }
}

fn recorded(parent: &[Event]) -> HashMap<Place, Recorded> {
    let mut answers: HashMap<Place, Recorded> = HashMap::new();
    for event in parent {
        let (firing, outcome) = match &event.fact {
            Fact::NodeSucceeded(done) => {
                (&done.firing, Ok(Output { payload: done.output.clone(), items: done.items.clone() }))
            }
            Fact::NodeFailed(done) => (&done.firing, Err(done.error.clone())),
            Fact::ExecutionStarted(_)
            | Fact::NodeStarted(_)
            | Fact::NodeParked(_)
            | Fact::AttemptFailed(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_)
            | Fact::ExecutionEnded(_) => continue,
        };
        let place = (firing.node_id.clone(), firing.lineage.key());
        let is_ambiguous = answers.contains_key(&place);
        answers.insert(place, Recorded { outcome, position: event.seq, is_ambiguous });
    }
    answers
}
