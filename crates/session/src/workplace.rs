//! Where the executions of a session run: in the engine of this process, or on a cluster's servers with the control
//! role, where our own worker in this process is the only one that takes their messages.

use std::sync::Arc;

use embedded::{AtRest, Embedded, EmbeddedError};
use protocol::{Event, ExecutionId, LineageKey, NodeId, Problem};
use runtime::Start;
use tokio::sync::mpsc;

use crate::{problem::from_engine, role::Role};

pub(crate) enum Workplace {
    Here(Arc<Embedded>),
    OnServers(Arc<Role>),
}

impl Workplace {
    /// Returns when the start is recorded, so that whoever is told the id can ask for it.
    pub async fn start(&self, start: Start) -> Result<(), Problem> {
        match self {
            Self::Here(engine) => engine.start(start).await.map_err(|error| from_engine(&error)),
            Self::OnServers(role) => role.start(start).await,
        }
    }

    /// Every event once it is recorded, in order.
    pub fn feed(&self) -> mpsc::Receiver<Arc<Vec<Event>>> {
        match self {
            Self::Here(engine) => engine.feed(),
            Self::OnServers(role) => role.feed(),
        }
    }

    pub fn is_running(&self, id: &ExecutionId) -> bool {
        match self {
            Self::Here(engine) => engine.at_rest(id).is_some(),
            Self::OnServers(role) => role.is_running(id),
        }
    }

    /// How far it is; `None` once it has ended.
    pub async fn at_rest(&self, id: &ExecutionId) -> Result<Option<AtRest>, Problem> {
        match self {
            Self::Here(engine) => Ok(engine.at_rest(id)),
            Self::OnServers(role) => role.at_rest(id).await,
        }
    }

    /// Waits until everything that has happened so far in an execution can be read.
    pub async fn flush(&self, id: &ExecutionId) -> Result<(), Problem> {
        match self {
            Self::Here(engine) => engine.flush().await.map_err(|error| from_engine(&error)),
            Self::OnServers(role) => role.flush(id).await,
        }
    }

    /// Makes a timer fire before it is due: that of a node at a key, or the first of all. False if there is none.
    pub async fn fire_timer(
        &self,
        id: &ExecutionId,
        wanted: Option<(&NodeId, &LineageKey)>,
    ) -> Result<bool, Problem> {
        match self {
            Self::Here(engine) => engine.fire_timer(id, wanted).await.map_err(|error| from_engine(&error)),
            Self::OnServers(role) => role.fire_timer(id, wanted).await,
        }
    }

    /// Ends an execution as halted.
    pub async fn cancel(&self, id: &ExecutionId) -> Result<(), Problem> {
        match self {
            Self::Here(engine) => engine.cancel(id).await.map_err(|error| from_engine(&error)),
            Self::OnServers(role) => role.cancel(id).await,
        }
    }

    /// Messages that wait to be worked on. Those in the queues of a broker are not counted here.
    pub fn queue_depth(&self) -> usize {
        match self {
            Self::Here(engine) => engine.queue_depth(),
            Self::OnServers(_) => 0,
        }
    }

    pub async fn close(&self) -> Result<(), Problem> {
        match self {
            Self::Here(engine) => engine.close().await.map_err(|error| from_engine(&error)),
            Self::OnServers(role) => role.close().await,
        }
    }
}

/// What is said of an execution that nobody works for.
pub(crate) fn not_running(id: &ExecutionId) -> Problem {
    from_engine(&EmbeddedError::NotRunning(id.clone()))
}
