//! Looks into a live cluster and changes nothing. It is a crate of its own so that a wall stands between it and
//! everything that writes to a cluster: `crates/cluster` is not among its dependencies, and a test asks `cargo tree`.
//!
//! * [`Reader`] is the only way to Redis: it knows reading commands and no others.
//! * A [`Dialect`] makes events of what is heard on the exchange and seen in Redis; `own` for our workers, `rune` for
//!   clusters of the public Rune services. What comes out is recorded and shown like any local execution.

mod dialect;
mod reader;
pub mod rune;
pub mod stuck;

pub use dialect::{Dialect, Heard, News};
pub use reader::{Read, Reader};

#[derive(Debug, thiserror::Error)]
pub enum ObserverError {
    #[error("RabbitMQ: {0}")]
    Broker(#[from] lapin::Error),
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
}

impl From<redis::ParsingError> for ObserverError {
    fn from(error: redis::ParsingError) -> Self {
        Self::Redis(error.into())
    }
}
