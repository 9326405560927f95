//! The dialect that an attached cluster speaks, once that is known.

use std::time::Duration;

use protocol::{
    BarrierView, ClusterConnection, ClusterDialect, ExecutionId, Finding, Gap, Millis, NodeId, Problem,
    QueueView, TimerView, WorkerView,
};

use crate::{Database, Dialect, Heard, News, ObserverError, Reader, own::Own, rune::Rune};

pub enum Speaker {
    Own(Box<Own>),
    Rune(Box<Rune>),
}

/// Says the same to whichever it is.
macro_rules! pass {
    ($self:ident, $it:ident => $said:expr) => {
        match $self {
            Speaker::Own($it) => $said,
            Speaker::Rune($it) => $said,
        }
    };
}

impl Speaker {
    pub fn of(dialect: ClusterDialect, connection: &ClusterConnection) -> Self {
        match dialect {
            ClusterDialect::Runeglass => Self::Own(Box::new(Own::new(&connection.prefix))),
            ClusterDialect::Rune => Self::Rune(Box::new(Rune::new(connection.name.as_str()))),
        }
    }

    pub fn dialect(&self) -> ClusterDialect {
        match self {
            Self::Own(_) => ClusterDialect::Runeglass,
            Self::Rune(_) => ClusterDialect::Rune,
        }
    }
}

impl Dialect for Speaker {
    fn hear(&mut self, heard: &Heard) -> News {
        pass!(self, it => it.hear(heard))
    }

    async fn look(&mut self, reader: &Reader, now: Millis) -> Result<News, ObserverError> {
        pass!(self, it => it.look(reader, now).await)
    }

    fn findings(&self, now: Millis) -> Vec<Finding> {
        pass!(self, it => it.findings(now))
    }

    fn trouble(&self, databases: &[Database]) -> Option<Problem> {
        pass!(self, it => it.trouble(databases))
    }

    fn barrier(&self, execution: &ExecutionId, node: &NodeId) -> Option<BarrierView> {
        pass!(self, it => it.barrier(execution, node))
    }

    fn timers(&self) -> Vec<TimerView> {
        pass!(self, it => it.timers())
    }

    fn wants(&self) -> &'static [&'static str] {
        pass!(self, it => it.wants())
    }

    fn asks_for(&self) -> Vec<String> {
        pass!(self, it => it.asks_for())
    }

    fn reads_a_log(&self) -> bool {
        pass!(self, it => it.reads_a_log())
    }

    fn pace(&self) -> Duration {
        pass!(self, it => it.pace())
    }

    fn found(&mut self, keys: &[String]) {
        pass!(self, it => it.found(keys));
    }

    fn found_all(&mut self) {
        pass!(self, it => it.found_all());
    }

    fn queues(&mut self, queues: &[QueueView], now: Millis) {
        pass!(self, it => it.queues(queues, now));
    }

    fn listening(&mut self, since: Option<Millis>) {
        pass!(self, it => it.listening(since));
    }

    fn missed(&mut self, gap: &Gap, now: Millis) -> News {
        pass!(self, it => it.missed(gap, now))
    }

    fn workers(&self) -> Vec<WorkerView> {
        pass!(self, it => it.workers())
    }

    fn passed_over(&self) -> u64 {
        pass!(self, it => it.passed_over())
    }

    fn unreadable(&self) -> u64 {
        pass!(self, it => it.unreadable())
    }

    fn redelivered(&self) -> u64 {
        pass!(self, it => it.redelivered())
    }

    fn dead_letters(&self) -> Option<u64> {
        pass!(self, it => it.dead_letters())
    }

    fn unseen(&self) -> u64 {
        pass!(self, it => it.unseen())
    }

    fn unread(&self) -> u64 {
        pass!(self, it => it.unread())
    }
}
