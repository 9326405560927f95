//! The engine on RabbitMQ and Redis: many workers, the same ledger.
//!
//! * [`Log`] holds the facts of every execution in Redis. It is the truth; a worker's ledger is a copy of it.
//! * [`Topology`] and the post office carry messages through RabbitMQ. They are hints: what the broker loses is sent
//!   again from the log.
//! * [`Worker`] is the backend of the worker line; [`Client`] starts, follows and stops executions.
//! * [`ControlRole`] is a worker on queues of its own, whose messages may be held and changed.

mod client;
mod desk;
mod execution;
mod insist;
mod log;
mod looks;
mod master;
mod post;
mod replica;
mod slate;
mod topology;
mod wire;
mod worker;

pub use client::{Client, Follower};
pub use insist::Patience;
pub use log::{Appended, Log, Standing, Step};
pub use looks::Looks;
pub use master::{Group, Master};
pub use post::{Letter, Post};
pub use topology::{Delay, Kind, Queue, Topology};
pub use worker::{ControlRole, Left, Worker, WorkerOptions};

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("RabbitMQ: {0}")]
    Broker(#[from] lapin::Error),
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    #[error(
        "{what} is there already with other settings ({detail}); choose another --queue-prefix or virtual host, or remove it"
    )]
    Clash { what: String, detail: String },
    #[error("the broker did not confirm a message for {0}")]
    NotConfirmed(String),
    #[error("what is stored cannot be read: {0}")]
    Damaged(String),
    #[error("a fact cannot be written down: {0}")]
    Unwritable(String),
    #[error("the ledger: {0}")]
    Ledger(#[from] engine::LedgerError),
    #[error("there is no execution {0} in this cluster")]
    Unknown(protocol::ExecutionId),
    #[error("{0}")]
    Refused(String),
    #[error("asked to stop, and could not {what} for {limit:?}: {why}")]
    GaveUp { what: String, limit: std::time::Duration, why: String },
}

impl ClusterError {
    fn unwritable(error: serde_json::Error) -> Self {
        Self::Unwritable(error.to_string())
    }
}

impl From<redis::ParsingError> for ClusterError {
    fn from(error: redis::ParsingError) -> Self {
        Self::Redis(error.into())
    }
}
