//! The engine on RabbitMQ and Redis. Today it has the two halves every worker stands on: the topology through which
//! messages travel, and the facts that are written once. The worker itself is not built yet.

mod broker;
mod facts;
mod topology;

pub use broker::{Broker, Delivered};
pub use facts::{Decision, Facts};
pub use topology::{Queue, Topology};

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("RabbitMQ: {0}")]
    Broker(#[from] lapin::Error),
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    #[error("the broker did not confirm the message for {0}")]
    NotConfirmed(String),
    #[error("a message in {queue} cannot be read: {detail}")]
    Unreadable { queue: String, detail: String },
    #[error("a stored decision cannot be read: {0}")]
    Damaged(String),
}
