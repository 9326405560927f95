//! Looks into a live cluster and changes nothing. It is a crate of its own so that a wall stands between it and
//! everything that writes to a cluster: `crates/cluster` is not among its dependencies, and a test asks `cargo tree`.
//!
//! * [`Reader`] is the only way to Redis: it knows reading commands and no others. `broker` is the only way to
//!   RabbitMQ: it knows a queue of its own, and questions.
//! * A [`Dialect`] makes events of what is heard on the exchange and seen in Redis; `own` for our workers, `rune` for
//!   clusters of the public Rune services. What comes out is recorded and shown like any local execution.
//! * [`Observer`] hears, reads and walks until it is told to stop; [`test`] tries every step of that once.

mod backlog;
mod broker;
mod depths;
mod detect;
mod dialect;
mod gaps;
mod observer;
mod own;
mod picture;
mod reader;
pub mod rune;
mod speaker;
mod steps;
pub mod stuck;
mod tap;
mod trouble;
mod walk;

use std::sync::Arc;

use protocol::{ClusterConnection, Millis};

pub use dialect::{Database, Dialect, EVERYTHING, Heard, News};
pub use observer::{Observer, Sighting};
pub use reader::{Read, Reader};
pub use steps::{Away, Trial, test};
pub use trouble::problem;

/// Tells the moment. The session hands over its own clock.
pub type Now = Arc<dyn Fn() -> Millis + Send + Sync>;

/// Where a cluster is, with what opens it.
#[derive(Clone)]
pub struct Address {
    /// For people: without passwords.
    pub connection: ClusterConnection,
    pub amqp: String,
    pub redis: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ObserverError {
    #[error("RabbitMQ: {0}")]
    Broker(#[from] lapin::Error),
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    #[error("{0} does not answer in time")]
    Silent(&'static str),
    #[error("what is stored cannot be read: {0}")]
    Odd(String),
}

impl ObserverError {
    /// We may not ask that.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Redis(error) if error.code() == Some("NOPERM"))
    }

    /// The answer did not come in time.
    pub fn is_slow(&self) -> bool {
        match self {
            Self::Redis(error) => error.is_timeout(),
            Self::Silent(_) => true,
            Self::Broker(_) | Self::Odd(_) => false,
        }
    }

    /// It says something of one key, and nothing of the server: somebody else may use the same name.
    pub fn is_about_one_key(&self) -> bool {
        match self {
            Self::Odd(_) => true,
            Self::Redis(error) => {
                matches!(error.kind(), redis::ErrorKind::UnexpectedReturnType | redis::ErrorKind::Parse)
                    || error.code() == Some("WRONGTYPE")
            }
            Self::Broker(_) | Self::Silent(_) => false,
        }
    }
}

impl From<redis::ParsingError> for ObserverError {
    fn from(error: redis::ParsingError) -> Self {
        Self::Redis(error.into())
    }
}
