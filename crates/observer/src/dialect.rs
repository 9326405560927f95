//! What the words of a cluster mean. A dialect hears copies of messages and looks into Redis; it answers with events
//! of our own vocabulary, so that everything behind it (store, views, inspector, timeline) needs to know nothing.

use std::{fmt, time::Duration};

use protocol::{
    BarrierView, Event, ExecutionId, Finding, Gap, Millis, NodeId, Problem, QueueView, TimerView, WorkerView,
};

use crate::{ObserverError, Reader};

/// A copy of a message that went through the exchange.
pub struct Heard {
    pub at: Millis,
    pub routing_key: String,
    pub body: Vec<u8>,
}

/// How many keys a database of a Redis has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Database {
    pub number: i64,
    pub keys: u64,
}

impl fmt::Display for Database {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, keys } = self;
        let plural = if *keys == 1 { "" } else { "s" };
        write!(to, "database {number} has {keys} key{plural}")
    }
}

/// What an observation adds. The events of an execution are numbered from 1 without a gap.
#[derive(Default)]
pub struct News {
    pub events: Vec<Event>,
}

/// Everything that workers say.
pub const EVERYTHING: &[&str] = &["workflow.#"];

/// Futures are awaited by one task, in turn: a dialect keeps its state without locks.
pub trait Dialect: Send {
    /// Pure: the same messages in the same order give the same events.
    fn hear(&mut self, heard: &Heard) -> News;

    /// Looks into Redis: what is stuck there, and what began before we came. Called every now and then.
    fn look(
        &mut self,
        reader: &Reader,
        now: Millis,
    ) -> impl Future<Output = Result<News, ObserverError>> + Send;

    /// What is wrong, by the rules, as far as this dialect can tell.
    fn findings(&self, now: Millis) -> Vec<Finding>;

    /// Why less is seen than there is, although everybody answers.
    fn trouble(&self, _databases: &[Database]) -> Option<Problem> {
        None
    }

    /// What a join waits for, where the cluster's own state says more than the events.
    fn barrier(&self, execution: &ExecutionId, node: &NodeId) -> Option<BarrierView>;

    /// Everything that waits for a moment.
    fn timers(&self) -> Vec<TimerView>;

    /// What the broker says about its queues, told whenever it was asked: some rules need it.
    fn queues(&mut self, _queues: &[QueueView], _now: Millis) {}

    /// Since when everything that is said comes here; `None` while there is no connection.
    fn listening(&mut self, _since: Option<Millis>) {}

    /// Something went by unseen, in a time that is over.
    fn missed(&mut self, _gap: &Gap, _now: Millis) -> News {
        News::default()
    }

    /// What happens is read from a log, so that nothing is lost with a message.
    fn reads_a_log(&self) -> bool {
        false
    }

    /// Which messages are worth a copy: every copy is work for the broker.
    fn wants(&self) -> &'static [&'static str] {
        EVERYTHING
    }

    /// Queues that such a cluster has, without the prefix.
    fn asks_for(&self) -> Vec<String>;

    /// How long until the next look is worth it.
    fn pace(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Keys that a slow walk through Redis has come by.
    fn found(&mut self, _keys: &[String]) {}

    /// The walk has come by all keys, and begins anew.
    fn found_all(&mut self) {}

    /// Workers as far as they can be told from outside.
    fn workers(&self) -> Vec<WorkerView> {
        Vec::new()
    }

    /// Executions that are not followed, because there are too many, or that were over before they could be.
    fn passed_over(&self) -> u64 {
        0
    }

    /// Executions that are there and cannot be read.
    fn unreadable(&self) -> u64 {
        0
    }

    /// Starts of what had begun before: its message, or one that led to it, was delivered again.
    fn redelivered(&self) -> u64;

    /// Messages that were put aside; `None` where the cluster puts none aside.
    fn dead_letters(&self) -> Option<u64>;

    /// Messages that have come and were let go, because there was no room for them.
    fn unseen(&self) -> u64 {
        0
    }

    /// Messages that have come and could not be read.
    fn unread(&self) -> u64 {
        0
    }
}
