//! Facts that are written once (semantics.md 1), in Redis: the first one to say something has said it.

use protocol::{EdgeId, ExecutionId, LineageKey};
use redis::{AsyncCommands, aio::ConnectionManager};

use crate::ClusterError;

/// What an edge carries at a key: a value, by reference, or nothing ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Value(String),
    Done,
}

impl Decision {
    fn encode(&self) -> String {
        match self {
            Self::Value(reference) => format!("value:{reference}"),
            Self::Done => "done".to_owned(),
        }
    }

    fn decode(text: &str) -> Result<Self, ClusterError> {
        match text.split_once(':') {
            Some(("value", reference)) => Ok(Self::Value(reference.to_owned())),
            None if text == "done" => Ok(Self::Done),
            _ => Err(ClusterError::Damaged(text.to_owned())),
        }
    }
}

pub struct Facts {
    redis: ConnectionManager,
}

impl Facts {
    pub async fn connect(url: &str) -> Result<Self, ClusterError> {
        Ok(Self { redis: redis::Client::open(url)?.get_connection_manager().await? })
    }

    /// Writes the decision unless there is one, and gives the one that holds.
    pub async fn decide(
        &self,
        execution: &ExecutionId,
        edge: &EdgeId,
        key: &LineageKey,
        decision: &Decision,
    ) -> Result<Decision, ClusterError> {
        // All keys of an execution share a hash tag, so that they lie on one node of a Redis Cluster.
        let place = format!("exec:{{{execution}}}:decisions");
        let field = format!("{edge}@{key}");
        let mut redis = self.redis.clone();
        if redis.hset_nx(&place, &field, decision.encode()).await? {
            return Ok(decision.clone());
        }
        let holds: String = redis.hget(&place, &field).await?;
        Decision::decode(&holds)
    }
}
