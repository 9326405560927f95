//! The dialect that an attached cluster speaks, once that is known. A dialect of another kind gets a variant here.

use std::time::Duration;

use protocol::{
    BarrierView, ClusterConnection, ClusterDialect, ExecutionId, Finding, Millis, NodeId, QueueView,
    TimerView, WorkerView,
};

use crate::{Dialect, EVERYTHING, Heard, News, ObserverError, Reader, own::Own};

pub enum Speaker {
    Own(Box<Own>),
    /// Nobody here understands it. Queues and keys are shown all the same.
    Foreign(ClusterDialect),
}

/// Says the same to whichever it is.
macro_rules! pass {
    ($self:ident, $own:ident => $said:expr, $else:expr) => {
        match $self {
            Speaker::Own($own) => $said,
            Speaker::Foreign(_) => $else,
        }
    };
}

impl Speaker {
    pub fn of(dialect: ClusterDialect, connection: &ClusterConnection) -> Self {
        match dialect {
            ClusterDialect::Runeglass => Self::Own(Box::new(Own::new(&connection.prefix))),
            ClusterDialect::Rune => Self::Foreign(dialect),
        }
    }

    pub fn dialect(&self) -> ClusterDialect {
        match self {
            Self::Own(_) => ClusterDialect::Runeglass,
            Self::Foreign(dialect) => *dialect,
        }
    }

    pub fn is_understood(&self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Foreign(_) => false,
        }
    }
}

impl Dialect for Speaker {
    fn hear(&mut self, heard: &Heard) -> News {
        pass!(self, own => own.hear(heard), News::default())
    }

    async fn look(&mut self, reader: &Reader, now: Millis) -> Result<News, ObserverError> {
        pass!(self, own => own.look(reader, now).await, Ok(News::default()))
    }

    fn findings(&self, now: Millis) -> Vec<Finding> {
        pass!(self, own => own.findings(now), Vec::new())
    }

    fn barrier(&self, execution: &ExecutionId, node: &NodeId) -> Option<BarrierView> {
        pass!(self, own => own.barrier(execution, node), None)
    }

    fn timers(&self) -> Vec<TimerView> {
        pass!(self, own => own.timers(), Vec::new())
    }

    fn wants(&self) -> &'static [&'static str] {
        pass!(self, own => own.wants(), EVERYTHING)
    }

    fn pace(&self) -> Duration {
        pass!(self, own => own.pace(), Duration::from_secs(5))
    }

    fn found(&mut self, keys: &[String]) {
        pass!(self, own => own.found(keys), ());
    }

    fn queues(&mut self, queues: &[QueueView]) {
        pass!(self, own => own.queues(queues), ());
    }

    fn workers(&self) -> Vec<WorkerView> {
        pass!(self, own => own.workers(), Vec::new())
    }

    fn passed_over(&self) -> u64 {
        pass!(self, own => own.passed_over(), 0)
    }
}
