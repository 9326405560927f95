//! The firings of a recording, with what set each of them off.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use engine::Plan;
use protocol::{
    Change, ClusterDialect, Echo, EdgeId, Event, ExecutionEnded, Fact, Firing, Lineage, MessageId, Millis,
    NodeError, NodeId, Payload,
};

use crate::{Ledger, LedgerError};

pub struct History<'e> {
    pub plan: Arc<Plan>,
    pub firings: Vec<Fired<'e>>,
    /// What joins have heard, by node and key.
    pub joins: BTreeMap<(NodeId, String), Heard<'e>>,
    /// Nodes that were said never to run, with the firing that decided it.
    pub skips: Vec<(&'e protocol::Skipped, usize)>,
    pub began: Millis,
    pub last: Millis,
    pub ended: Option<&'e ExecutionEnded>,
    /// Something of it went by unheard.
    pub is_patchy: bool,
    by_message: HashMap<&'e MessageId, usize>,
    /// Who has sent a message that has not begun yet, and when.
    sent: HashMap<MessageId, (usize, Millis)>,
}

/// One firing, from its first attempt to its end.
pub struct Fired<'e> {
    pub firing: &'e Firing,
    /// The firing that set it off, where that is known.
    pub cause: Option<usize>,
    /// When it could have begun.
    pub ready: Millis,
    pub began: Millis,
    /// The event with which it began.
    pub position: u64,
    pub state: State<'e>,
    /// Time spent waiting for timers, and when the present rest began.
    pub rested: Millis,
    rests_since: Option<Millis>,
    pub parameters: Option<&'e Payload>,
}

pub enum State<'e> {
    Running,
    Resting {
        due: Millis,
    },
    Retrying {
        due: Millis,
        error: &'e NodeError,
    },
    /// Somebody has taken its message away.
    Dropped,
    Done(Done<'e>),
}

pub struct Done<'e> {
    pub at: Millis,
    pub position: u64,
    pub taken: &'e [EdgeId],
    pub outcome: Result<&'e Payload, &'e NodeError>,
}

/// What a join has heard at a key.
pub struct Heard<'e> {
    pub node: &'e NodeId,
    pub lineage: &'e Lineage,
    pub arrived: u32,
    pub expected: u32,
    /// The firings that brought something.
    pub by: Vec<usize>,
    pub first: Millis,
    pub last: Millis,
}

impl<'e> History<'e> {
    pub fn of(events: &'e [Event]) -> Result<Self, LedgerError> {
        let plan = Arc::clone(Ledger::begin(events)?.plan());
        let began = events.first().map_or(0, |event| event.at);
        let mut history = Self {
            plan,
            firings: Vec::new(),
            joins: BTreeMap::new(),
            skips: Vec::new(),
            began,
            last: events.last().map_or(began, |event| event.at),
            ended: None,
            is_patchy: false,
            by_message: HashMap::new(),
            sent: HashMap::new(),
        };
        events.iter().for_each(|event| history.take_in(event));
        Ok(history)
    }

    fn take_in(&mut self, event: &'e Event) {
        match &event.fact {
            Fact::NodeStarted(started) => {
                let at = self.fired(event, &started.firing);
                let fired = &mut self.firings[at];
                fired.wake(event.at);
                fired.parameters = started.parameters.as_ref();
                fired.state = State::Running;
            }
            Fact::NodeParked(parked) => {
                let at = self.fired(event, &parked.firing);
                self.firings[at].rest(event.at, State::Resting { due: parked.due });
            }
            Fact::AttemptFailed(failed) => {
                let at = self.fired(event, &failed.firing);
                let state = State::Retrying { due: failed.due, error: &failed.error };
                self.firings[at].rest(event.at, state);
            }
            Fact::NodeSucceeded(done) => {
                let items = done.items.as_ref().and_then(|_| done.output.value()["count"].as_u64());
                let count = items.map_or(1, |items| items as u32);
                self.end(event, &done.firing, &done.taken, Ok(&done.output), &done.echo, count);
            }
            Fact::NodeFailed(done) => {
                self.end(event, &done.firing, &done.taken, Err(&done.error), &done.echo, 1);
            }
            Fact::ExecutionEnded(ended) => self.ended = Some(ended),
            Fact::Intervened(done) if done.change == Change::Dropped => {
                let at = self.fired(event, &done.firing);
                self.firings[at].state = State::Dropped;
                self.hear(event.at, Some(at), &done.echo);
            }
            // Who brought it is not said.
            Fact::Gathered(gathered) => self.hear(event.at, None, &gathered.echo),
            Fact::Missed(_) => self.is_patchy = true,
            Fact::ExecutionStarted(started) => {
                // The log of our own workers tells also what was before.
                let observed = started.observed.as_ref();
                self.is_patchy =
                    observed.is_some_and(|seen| seen.joined_late && seen.dialect == ClusterDialect::Rune);
            }
            Fact::TimedOut(_) | Fact::Prolonged(_) | Fact::Intervened(_) | Fact::TimerFired(_) => {}
        }
    }

    fn fired(&mut self, event: &'e Event, firing: &'e Firing) -> usize {
        if let Some(&at) = self.by_message.get(&firing.message_id) {
            return at;
        }
        let heard = self.joins.get(&(firing.node_id.clone(), firing.lineage.key().to_string()));
        let by_join = heard.and_then(|heard| Some((*heard.by.last()?, heard.last)));
        let (cause, ready) = match self.sent.remove(&firing.message_id).or(by_join) {
            Some((cause, ready)) => (Some(cause), ready),
            None => (None, self.began),
        };
        let at = self.firings.len();
        self.firings.push(Fired {
            firing,
            cause,
            ready,
            began: event.at,
            position: event.seq,
            state: State::Running,
            rested: 0,
            rests_since: None,
            parameters: None,
        });
        self.by_message.insert(&firing.message_id, at);
        at
    }

    fn end(
        &mut self,
        event: &'e Event,
        firing: &'e Firing,
        taken: &'e [EdgeId],
        outcome: Result<&'e Payload, &'e NodeError>,
        echo: &'e Echo,
        messages: u32,
    ) {
        let at = self.fired(event, firing);
        let fired = &mut self.firings[at];
        fired.wake(event.at);
        fired.state = State::Done(Done { at: event.at, position: event.seq, taken, outcome });
        for edge in taken {
            for index in 0..messages {
                self.sent.insert(firing.message_id.child(edge, index), (at, event.at));
            }
        }
        self.hear(event.at, Some(at), echo);
    }

    fn hear(&mut self, now: Millis, by: Option<usize>, echo: &'e Echo) {
        for arrival in &echo.arrivals {
            let place = (arrival.node_id.clone(), arrival.lineage.key().to_string());
            let heard = self.joins.entry(place).or_insert_with(|| Heard {
                node: &arrival.node_id,
                lineage: &arrival.lineage,
                arrived: 0,
                expected: 0,
                by: Vec::new(),
                first: now,
                last: now,
            });
            (heard.arrived, heard.expected, heard.last) = (arrival.arrived, arrival.expected, now);
            heard.by.extend(by);
        }
        self.skips.extend(by.iter().flat_map(|at| echo.skipped.iter().map(|skipped| (skipped, *at))));
    }

    pub fn of_node<'h>(&'h self, node: &'h NodeId) -> impl Iterator<Item = (usize, &'h Fired<'e>)> {
        self.firings.iter().enumerate().filter(move |(_, fired)| fired.firing.node_id == *node)
    }
}

impl<'e> Fired<'e> {
    fn rest(&mut self, at: Millis, state: State<'e>) {
        self.rests_since = Some(at);
        self.state = state;
    }

    fn wake(&mut self, at: Millis) {
        if let Some(since) = self.rests_since.take() {
            self.rested += at - since;
        }
    }

    pub fn done(&self) -> Option<&Done<'e>> {
        match &self.state {
            State::Done(done) => Some(done),
            State::Running | State::Resting { .. } | State::Retrying { .. } | State::Dropped => None,
        }
    }
}

/// One of the two is inside the other, or they are the same.
pub fn touches(one: &Lineage, other: &Lineage) -> bool {
    let shorter = one.steps().len().min(other.steps().len());
    one.prefix(shorter) == other.prefix(shorter)
}
