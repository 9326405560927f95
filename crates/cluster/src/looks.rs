//! Executions that somebody has to look at, and when: a timer of theirs is due then, or they have been silent for so
//! long that a message of theirs may be lost. Every execution that has not ended is on the list, once. It is asked
//! for a look before the timer is written down, so that a crash in between costs a look and not a timer.

use protocol::{ExecutionId, Millis};
use redis::{AsyncCommands, Script};

use crate::{ClusterError, log::Log};

/// Executions claimed at once.
const MOST: usize = 100;

#[derive(Clone)]
pub struct Looks {
    log: Log,
    key: String,
    claim: Script,
    settle: Script,
}

impl Looks {
    pub fn new(log: &Log) -> Self {
        Self {
            log: log.clone(),
            key: protocol::cluster::looks_key(log.prefix()),
            claim: Script::new(include_str!("scripts/claim.lua")),
            settle: Script::new(include_str!("scripts/settle.lua")),
        }
    }

    /// Asks for a look, not later than `at`.
    pub async fn ask(&self, execution: &ExecutionId, at: Millis) -> Result<(), ClusterError> {
        let _: () = redis::cmd("ZADD")
            .arg(&self.key)
            .arg("LT")
            .arg(at)
            .arg(execution.as_str())
            .query_async(&mut self.log.redis())
            .await?;
        Ok(())
    }

    /// Takes what is due. Nobody else gets it before the lease is over.
    pub async fn claim(&self, now: Millis, lease: Millis) -> Result<Vec<ExecutionId>, ClusterError> {
        let mut call = self.claim.key(&self.key);
        let claimed: Vec<String> =
            call.arg(now).arg(lease).arg(MOST).invoke_async(&mut self.log.redis()).await?;
        Ok(claimed.into_iter().map(ExecutionId::from).collect())
    }

    /// Says when the next look is due, if ever.
    pub async fn settle(
        &self,
        execution: &ExecutionId,
        lease: Millis,
        next: Option<Millis>,
    ) -> Result<(), ClusterError> {
        let next = next.map_or_else(String::new, |next| next.to_string());
        let mut call = self.settle.key(&self.key);
        let _: i64 =
            call.arg(execution.as_str()).arg(lease).arg(next).invoke_async(&mut self.log.redis()).await?;
        Ok(())
    }

    /// The list goes by itself if nobody says this again in time.
    pub async fn live_for(&self, millis: Millis) -> Result<(), ClusterError> {
        Ok(self.log.redis().pexpire(&self.key, millis).await?)
    }

    /// Takes the list away.
    pub async fn remove(&self) -> Result<(), ClusterError> {
        Ok(self.log.redis().unlink(&self.key).await?)
    }

    /// The moment of the next look.
    pub async fn next(&self) -> Result<Option<Millis>, ClusterError> {
        let first: Vec<(String, f64)> = self.log.redis().zrange_withscores(&self.key, 0, 0).await?;
        // Moments are whole numbers far below what a double can hold.
        Ok(first.first().map(|(_, at)| *at as Millis))
    }
}
