//! Looking into a live cluster: how to reach it, what is seen of it as a whole, and what is wrong there. Everything in
//! here is read; nothing in here can be done to a cluster.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, LineageKey, Millis, NodeId, Problem};

/// Whose workers speak on the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum ClusterDialect {
    /// Our own.
    Runeglass,
    /// The public Rune services.
    Rune,
}

/// A cluster by name. The password is not part of it: it is in the keyring, or was typed for this once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub struct ClusterConnection {
    pub name: String,
    /// One of the colours of the page, chosen so that production looks like production.
    pub colour: String,
    /// Without a password.
    pub amqp: String,
    /// Without a password.
    pub redis: String,
    #[serde(default)]
    pub prefix: String,
    /// Found out where absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub dialect: Option<ClusterDialect>,
}

/// What opens a cluster. Where one is absent the keyring is asked.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(default, deny_unknown_fields)]
#[ts(export_to = "protocol.ts", optional_fields = nullable)]
pub struct Passwords {
    pub amqp: Option<String>,
    pub redis: Option<String>,
}

/// Says which are there, never what they are.
impl std::fmt::Debug for Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = |password: &Option<String>| password.as_ref().map(|_| "███");
        f.debug_struct("Passwords")
            .field("amqp", &said(&self.amqp))
            .field("redis", &said(&self.redis))
            .finish()
    }
}

/// One step of trying a connection, in the order in which they were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ConnectionStep {
    /// Such as "RabbitMQ answers" or "may bind to the exchange".
    pub what: String,
    /// Absent where it went well.
    pub problem: Option<Problem>,
}

/// The attached cluster as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ClusterView {
    pub connection: ClusterConnection,
    /// Absent until something was seen that tells.
    pub dialect: Option<ClusterDialect>,
    pub since: Millis,
    /// Since when nobody looks any more, although nobody has asked for that: the first trouble says why, and everything
    /// else is as it was then. Absent while somebody looks.
    pub ended: Option<Millis>,
    /// How far the clock of the cluster is ahead of ours, to be added to our time where that is held against moments of
    /// the cluster. What is too little to be seen is not told.
    pub ahead: Millis,
    /// What is unreachable at the moment; the observer keeps trying.
    pub troubles: Vec<Problem>,
    pub queues: Vec<QueueView>,
    /// When RabbitMQ was heard last, where it cannot be heard at the moment.
    pub queues_as_of: Option<Millis>,
    pub redis: Option<RedisView>,
    /// When Redis was read last, where it cannot be read at the moment.
    pub redis_as_of: Option<Millis>,
    pub workers: Vec<WorkerView>,
    /// The most urgent first.
    pub findings: Vec<Finding>,
    /// Of a rule that finds very much: how many more it has found than are listed.
    #[serde(default)]
    #[ts(type = "{ [key in Rule]?: number }")]
    pub unlisted: BTreeMap<Rule, usize>,
    /// Copies of messages that were seen, and those that were dropped because this machine was too slow.
    #[ts(type = "number")]
    pub heard: u64,
    #[ts(type = "number")]
    pub dropped: u64,
    /// Messages that have come and could not be read.
    #[ts(type = "number")]
    pub unread: u64,
    /// Starts of what had begun before: its message, or one that led to it, was delivered again.
    #[ts(type = "number")]
    pub redelivered: u64,
    /// Messages that were put aside; absent where nobody puts any aside, so that what is refused is gone.
    #[ts(type = "number | null")]
    pub dead_letters: Option<u64>,
    /// When something went by unseen, the latest last.
    pub gaps: Vec<Gap>,
    /// Executions that are not followed: there are too many, or they were over too soon.
    #[ts(type = "number")]
    pub passed_over: u64,
    /// Executions that are there and cannot be read.
    #[ts(type = "number")]
    pub unreadable: u64,
    /// Executions that have ended and are no longer kept here: there were many, and nobody records them.
    #[ts(type = "number")]
    pub forgotten: u64,
    pub recording: bool,
    /// Everything that this attachment is able to say to the cluster.
    pub capabilities: Vec<String>,
}

impl ClusterView {
    /// Of a cluster of which nothing is known yet.
    pub fn new(connection: ClusterConnection, since: Millis) -> Self {
        Self {
            dialect: connection.dialect,
            connection,
            since,
            ended: None,
            ahead: 0,
            troubles: Vec::new(),
            queues: Vec::new(),
            queues_as_of: None,
            redis: None,
            redis_as_of: None,
            workers: Vec::new(),
            findings: Vec::new(),
            unlisted: BTreeMap::new(),
            heard: 0,
            dropped: 0,
            unread: 0,
            redelivered: 0,
            dead_letters: None,
            gaps: Vec::new(),
            passed_over: 0,
            unreadable: 0,
            forgotten: 0,
            recording: false,
            capabilities: Vec::new(),
        }
    }

    /// How much was found wrong, listed or not.
    pub fn found(&self) -> usize {
        self.findings.len() + self.unlisted.values().sum::<usize>()
    }
}

/// A time in which something went by unseen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Gap {
    pub from: Millis,
    /// Absent while it goes on.
    pub until: Option<Millis>,
    /// Messages that are known to be missing; those that were sent while nobody was connected are not known.
    #[ts(type = "number")]
    pub dropped: u64,
    /// One sentence.
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct QueueView {
    pub name: String,
    #[ts(type = "number")]
    pub messages: u64,
    pub consumers: u32,
    /// Messages a second since the last looks; below zero while it empties.
    pub growth: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct RedisView {
    /// Absent until it was told.
    pub version: Option<String>,
    #[ts(type = "number | null")]
    pub used_bytes: Option<u64>,
    /// Questions that this user may not ask, such as `INFO`.
    pub refused: Vec<String>,
    pub families: Vec<KeyFamily>,
}

/// Keys of one kind, such as `exec:*:split:*:results`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct KeyFamily {
    pub pattern: String,
    #[ts(type = "number")]
    pub keys: u64,
    /// Measured on some of them and told for all; absent where none was.
    #[ts(type = "number | null")]
    pub bytes: Option<u64>,
    /// Keys that would never go away by themselves; absent where none was asked for it.
    #[ts(type = "number | null")]
    pub without_end: Option<u64>,
}

/// A worker as far as it can be told from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct WorkerView {
    pub name: String,
    pub holds: usize,
    pub last_seen: Millis,
}

/// What can be wrong with a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum Rule {
    /// A barrier that can no longer open: a branch ended before it.
    BarrierCannotOpen,
    /// More arrivals than distinct items: one was delivered again and counted twice.
    CountedTwice,
    /// Fan-outs inside each other that share one counter.
    SharedCounter,
    SeveralCompletions,
    /// An end was announced while other branches went on.
    EarlyCompletion,
    /// A timer is overdue and nobody has claimed it.
    OverdueTimer,
    /// What was to be resumed is there, and the timer is not.
    LostResume,
    /// A queue grows and nobody consumes it.
    NoConsumer,
    /// Refused messages are gone: the queue has no dead-letter exchange.
    Discarded,
    /// Workers have given messages up and put them aside.
    Parked,
    /// An item takes much longer than the others.
    SlowItem,
    /// Nothing is under way any more, and nobody has said that it is over.
    NoEnd,
}

/// Something that is wrong, where, and what can be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Finding {
    pub rule: Rule,
    pub since: Millis,
    #[ts(optional = nullable)]
    pub execution_id: Option<ExecutionId>,
    #[ts(optional = nullable)]
    pub node_id: Option<NodeId>,
    #[ts(optional = nullable)]
    pub key: Option<LineageKey>,
    #[ts(optional = nullable)]
    pub queue: Option<String>,
    /// One sentence.
    pub sentence: String,
    /// What it was told by: keys, counts, messages.
    pub evidence: Vec<String>,
    /// What to do about it.
    pub advice: String,
}

impl Finding {
    /// Tells findings apart: their sentences change with time.
    pub fn identity(&self) -> String {
        let Self { rule, execution_id, node_id, key, queue, .. } = self;
        format!("{rule:?} {execution_id:?} {node_id:?} {key:?} {queue:?}")
    }
}

/// Where an execution was looked at, if it is not one of ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Observed {
    pub cluster: String,
    pub dialect: ClusterDialect,
    /// It had begun before we came: what was before is put together from what is left of it.
    pub joined_late: bool,
    /// When something of it may have gone by unseen, the latest last.
    #[serde(default)]
    pub gaps: Vec<Gap>,
}

/// Why nothing more is known of an execution that nobody follows any longer.
const LEFT: &str = "nobody looked any more";

/// Gaps of one execution that are told apart; more are taken together with the last.
const MOST_GAPS: usize = 20;
/// Gaps of the same kind that follow each other so closely are one.
const ONE_GAP: Millis = 3_000;

impl Observed {
    pub fn new(cluster: impl Into<String>, dialect: ClusterDialect, joined_late: bool) -> Self {
        Self { cluster: cluster.into(), dialect, joined_late, gaps: Vec::new() }
    }

    /// Something went by unseen.
    pub fn miss(&mut self, gap: &Gap) {
        let is_full = self.gaps.len() >= MOST_GAPS;
        match self.gaps.last_mut() {
            Some(last) if is_full || last.goes_on_with(gap) => last.extend(gap),
            Some(_) | None => self.gaps.push(gap.clone()),
        }
    }

    /// Nobody looks any more. Says whether that was not known before.
    pub fn leave(&mut self, at: Millis) -> bool {
        let is_new = !self.is_left();
        if is_new {
            self.miss(&Gap { from: at, until: None, dropped: 0, why: LEFT.to_owned() });
        }
        is_new
    }

    /// Somebody looks again, and reads what happened meanwhile. Says whether nobody did.
    pub fn look_again(&mut self) -> bool {
        self.gaps.pop_if(|last| last.until.is_none() && last.why == LEFT).is_some()
    }

    /// What happens to it now is not seen.
    pub fn is_left(&self) -> bool {
        self.gaps.last().is_some_and(|last| last.until.is_none())
    }
}

impl Gap {
    /// The same trouble, with hardly a moment between.
    pub fn goes_on_with(&self, next: &Gap) -> bool {
        self.why == next.why && self.until.is_some_and(|until| next.from - until < ONE_GAP)
    }

    pub fn extend(&mut self, next: &Gap) {
        self.until = next.until;
        self.dropped += next.dropped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(from: Millis, until: Millis, dropped: u64) -> Gap {
        Gap { from, until: Some(until), dropped, why: "too much".to_owned() }
    }

    #[test]
    fn gaps_that_follow_each_other_are_one_and_there_are_never_many() {
        let mut observed = Observed::new("shop", ClusterDialect::Rune, false);
        observed.miss(&gap(0, 5_000, 3));
        observed.miss(&gap(6_000, 10_000, 4));
        assert_eq!(observed.gaps, [Gap { from: 0, ..gap(0, 10_000, 7) }]);
        observed.miss(&Gap { why: "no connection".to_owned(), ..gap(10_500, 11_000, 0) });
        assert_eq!(observed.gaps.len(), 2, "another reason is another gap");
        for number in 1..100 {
            observed.miss(&gap(number * 100_000, number * 100_000 + 1, 1));
        }
        assert_eq!(observed.gaps.len(), MOST_GAPS);
        assert_eq!(observed.gaps.iter().map(|gap| gap.dropped).sum::<u64>(), 7 + 99, "none is lost count of");
    }

    #[test]
    fn who_leaves_says_so_once_and_may_come_back() {
        let mut observed = Observed::new("shop", ClusterDialect::Runeglass, false);
        assert!(!observed.look_again(), "nobody has left");
        assert!(observed.leave(1_000) && !observed.leave(2_000));
        assert_eq!((observed.gaps[0].from, observed.gaps[0].until), (1_000, None));
        assert!(observed.look_again() && observed.gaps.is_empty() && !observed.is_left());
        observed.miss(&gap(0, 5_000, 3));
        assert!(!observed.look_again(), "what was missed stays missed");
    }
}
