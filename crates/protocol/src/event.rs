//! Facts about an execution, in the order they became true. The recording is a list of these, and in local mode
//! that list is the durable state: everything else is folded from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    EdgeId, ExecutionId, ExecutionStatus, Gap, Lineage, LineageKey, MessageId, Millis, NodeError, NodeId,
    Observed, Origin, Payload, WorkflowId,
};

/// `seq` counts from 1 within the execution, without a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub execution_id: ExecutionId,
    pub seq: u64,
    pub at: Millis,
    pub fact: Fact,
}

/// Written with the variant's name outside (`{"node_started": …}`): payloads inside stay raw text that way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    ExecutionStarted(Box<ExecutionStarted>),
    NodeStarted(NodeStarted),
    NodeParked(NodeParked),
    AttemptFailed(AttemptFailed),
    NodeSucceeded(NodeSucceeded),
    NodeFailed(NodeFailed),
    TimedOut(TimedOut),
    Prolonged(Prolonged),
    Intervened(Intervened),
    TimerFired(TimerFired),
    Gathered(Gathered),
    /// Something of an execution that is only looked at went by unseen, so what is told of that time may not be all.
    Missed(Gap),
    ExecutionEnded(ExecutionEnded),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionStarted {
    pub workflow_id: WorkflowId,
    pub title: String,
    /// The file the definition was read from, relative to the workflow folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub definition_hash: String,
    pub definition: Payload,
    pub input: Payload,
    /// Where it starts.
    pub starts: Vec<NodeId>,
    /// The execution it was forked from, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Only this node runs, and what leads to it. Written at the start, so that an interrupted run goes no further either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<NodeId>,
    /// Where it was looked at, if it does not run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// What we know nothing of in the message that started it; every message of the execution carries it on.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub other: Map<String, Value>,
}

/// Which message at which node and key, and the how many-th try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Firing {
    pub message_id: MessageId,
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Lineage::is_root")]
    pub lineage: Lineage,
    pub attempt: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeStarted {
    pub firing: Firing,
    /// Parameters with every reference resolved; absent when they could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Payload>,
    /// What it saw, where nobody could work that out from the events: in an execution that is only looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Payload>,
}

/// The firing rests until a moment; its message stays under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeParked {
    pub firing: Firing,
    pub due: Millis,
}

/// A try came to nothing and another one follows; the message stays under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptFailed {
    pub firing: Firing,
    pub duration: Millis,
    pub error: NodeError,
    pub fault: Fault,
    /// When it is tried again.
    pub due: Millis,
}

/// Whose policy decides how often something is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The node's own.
    Node,
    /// The house's: the node has no part in it.
    System,
}

/// The commit of a firing: its message is done and what follows is under way, in one step. What follows is told by
/// the plan and the edges taken, so it is not written down again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeSucceeded {
    pub firing: Firing,
    pub duration: Millis,
    pub output: Payload,
    /// The items of a fan-out, as one array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Payload>,
    /// The edges that carry a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<EdgeId>,
    #[serde(default, skip_serializing_if = "Echo::is_empty")]
    pub echo: Echo,
}

/// The commit of a firing that failed for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeFailed {
    pub firing: Firing,
    pub duration: Millis,
    pub error: NodeError,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<EdgeId>,
    #[serde(default, skip_serializing_if = "Consequence::is_usual")]
    pub consequence: Consequence,
    #[serde(default, skip_serializing_if = "Echo::is_empty")]
    pub echo: Echo,
}

/// What a failure means for the execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    /// The author has said how it goes on.
    #[default]
    GoOn,
    /// The error is the result of this item of a fan-out.
    Contained,
    /// The execution ends.
    Halt,
}

impl Consequence {
    fn is_usual(&self) -> bool {
        *self == Self::GoOn
    }
}

/// What a commit meant for other nodes, for people; the engine does not read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    /// What joins have heard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrival>,
    /// Nodes that will never run at a key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// Values that came when nobody wanted them any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Ignored>,
}

impl Echo {
    fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.skipped.is_empty() && self.ignored.is_empty()
    }
}

/// A node that will never run at a key, nor at any key inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Lineage::is_root")]
    pub lineage: Lineage,
}

/// A value that a join did not take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ignored {
    pub edge_id: EdgeId,
    #[serde(default, skip_serializing_if = "Lineage::is_root")]
    pub lineage: Lineage,
    pub why: WhyIgnored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyIgnored {
    /// Another branch was first.
    LostRace,
    /// The join had given up waiting.
    Late,
}

/// A join has heard of `arrived` out of `expected`, at one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Lineage::is_root")]
    pub lineage: Lineage,
    pub arrived: u32,
    pub expected: u32,
}

/// A join was not complete in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedOut {
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Lineage::is_root")]
    pub lineage: Lineage,
    /// Which of the node's groups of edges.
    pub group: usize,
}

impl TimedOut {
    /// As a fact: it gives up, or it waits on until a moment.
    pub fn or_prolonged(self, until: Option<Millis>) -> Fact {
        match until {
            None => Fact::TimedOut(self),
            Some(due) => {
                let Self { node_id, lineage, group } = self;
                Fact::Prolonged(Prolonged { node_id, lineage, group, due })
            }
        }
    }
}

/// The time of a join was over, and was prolonged: somebody held messages of the execution meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prolonged {
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Lineage::is_root")]
    pub lineage: Lineage,
    /// Which of the node's groups of edges.
    pub group: usize,
    /// Until when it waits now.
    pub due: Millis,
}

/// Somebody has changed a message under way, or the answer to it: what follows is not what the workflow alone would
/// have done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervened {
    pub firing: Firing,
    pub change: Change,
    #[serde(default, skip_serializing_if = "Echo::is_empty")]
    pub echo: Echo,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Entries of the context of the message, before its work.
    Context(BTreeMap<String, Payload>),
    /// Its resolved parameters, before its work.
    Parameters(Payload),
    /// The answer was given, not worked out: a pin, a mock, or an edit after the work.
    Output {
        output: Payload,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        items: Option<Payload>,
    },
    Error(NodeError),
    /// The message was taken away; its node does not run at this key.
    Dropped,
    /// The message was delivered twice.
    Duplicated,
}

/// A timer was made to fire before it was due. The event has the moment at which that happened, `due` the moment that
/// the workflow goes on from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerFired {
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Lineage::is_root")]
    pub lineage: Lineage,
    /// The message that rested; absent for a join that gives up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    pub due: Millis,
}

/// A join of a cluster that is looked at has said what has reached it. Our own workers say that with the commit of
/// whoever reaches it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    #[serde(default, skip_serializing_if = "Echo::is_empty")]
    pub echo: Echo,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionEnded {
    pub status: ExecutionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
}

impl Fact {
    /// Writes down what a commit meant for other nodes; other facts say nothing of it.
    pub fn note(&mut self, echo: Echo) {
        match self {
            Self::NodeSucceeded(done) => done.echo = echo,
            Self::NodeFailed(done) => done.echo = echo,
            Self::Intervened(done) => done.echo = echo,
            Self::Gathered(done) => done.echo = echo,
            Self::Missed(_)
            | Self::ExecutionStarted(_)
            | Self::NodeStarted(_)
            | Self::NodeParked(_)
            | Self::AttemptFailed(_)
            | Self::TimedOut(_)
            | Self::Prolonged(_)
            | Self::TimerFired(_)
            | Self::ExecutionEnded(_) => {}
        }
    }

    /// The node that the fact is about, and where; nobody where it is about the execution.
    pub fn place(&self) -> (Option<&NodeId>, LineageKey) {
        let of = |firing: &'_ Firing| firing.lineage.key();
        match self {
            Self::ExecutionStarted(_) | Self::Gathered(_) | Self::Missed(_) | Self::ExecutionEnded(_) => {
                (None, LineageKey::default())
            }
            Self::NodeStarted(it) => (Some(&it.firing.node_id), of(&it.firing)),
            Self::NodeParked(it) => (Some(&it.firing.node_id), of(&it.firing)),
            Self::AttemptFailed(it) => (Some(&it.firing.node_id), of(&it.firing)),
            Self::NodeSucceeded(it) => (Some(&it.firing.node_id), of(&it.firing)),
            Self::NodeFailed(it) => (Some(&it.firing.node_id), of(&it.firing)),
            Self::Intervened(it) => (Some(&it.firing.node_id), of(&it.firing)),
            Self::TimedOut(it) => (Some(&it.node_id), it.lineage.key()),
            Self::Prolonged(it) => (Some(&it.node_id), it.lineage.key()),
            Self::TimerFired(it) => (Some(&it.node_id), it.lineage.key()),
        }
    }

    /// Every payload the fact carries.
    pub fn payloads(&self) -> impl Iterator<Item = &Payload> {
        let (one, more): (Option<&Payload>, Option<&Payload>) = match self {
            Self::ExecutionStarted(started) => (Some(&started.definition), Some(&started.input)),
            Self::NodeStarted(started) => (started.parameters.as_ref(), started.input.as_ref()),
            Self::NodeSucceeded(done) => (Some(&done.output), done.items.as_ref()),
            Self::Intervened(done) => match &done.change {
                Change::Parameters(parameters) => (Some(parameters), None),
                Change::Output { output, items } => (Some(output), items.as_ref()),
                Change::Context(_) | Change::Error(_) | Change::Dropped | Change::Duplicated => (None, None),
            },
            Self::NodeParked(_)
            | Self::AttemptFailed(_)
            | Self::NodeFailed(_)
            | Self::TimedOut(_)
            | Self::Prolonged(_)
            | Self::TimerFired(_)
            | Self::Gathered(_)
            | Self::Missed(_)
            | Self::ExecutionEnded(_) => (None, None),
        };
        one.into_iter().chain(more).chain(self.entries().into_iter().flat_map(BTreeMap::values))
    }

    fn entries(&self) -> Option<&BTreeMap<String, Payload>> {
        let Self::Intervened(Intervened { change: Change::Context(entries), .. }) = self else { return None };
        Some(entries)
    }

    /// Every payload the fact carries, so that a store can keep large ones elsewhere.
    pub fn payloads_mut(&mut self) -> Vec<&mut Payload> {
        match self {
            Self::ExecutionStarted(started) => vec![&mut started.definition, &mut started.input],
            Self::NodeStarted(started) => started.parameters.iter_mut().chain(&mut started.input).collect(),
            Self::NodeSucceeded(done) => std::iter::once(&mut done.output).chain(&mut done.items).collect(),
            Self::Intervened(done) => match &mut done.change {
                Change::Context(entries) => entries.values_mut().collect(),
                Change::Parameters(parameters) => vec![parameters],
                Change::Output { output, items } => std::iter::once(output).chain(items).collect(),
                Change::Error(_) | Change::Dropped | Change::Duplicated => Vec::new(),
            },
            Self::NodeParked(_)
            | Self::AttemptFailed(_)
            | Self::NodeFailed(_)
            | Self::TimedOut(_)
            | Self::Prolonged(_)
            | Self::TimerFired(_)
            | Self::Gathered(_)
            | Self::Missed(_)
            | Self::ExecutionEnded(_) => Vec::new(),
        }
    }
}
