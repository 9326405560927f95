//! The log of an execution, in Redis: the truth that all workers share. Whoever appends says how long the log is as
//! far as it knows; who is behind is told what it has missed and nothing is written. So the facts of an execution
//! have one order, and a worker's ledger is only a copy that can be built again.

use std::time::Duration;

use protocol::{CompletionMessage, Event, ExecutionId, ExecutionStatus, Fact, MessageId, Millis, Payload};
use redis::{
    AsyncCommands, FromRedisValue, Script, Value,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use crate::{ClusterError, insist::Patience};

/// Larger payloads are stored once, under the hash of their content.
pub const INLINE_BYTES: usize = 1_024;
/// Facts read at once.
pub const CHUNK: usize = 500;

const DAY: Millis = 24 * 3_600 * 1_000;
/// How long an execution is kept after its last sign of life, or after the last moment it waits for.
const LIFE: Millis = 7 * DAY;
/// How long an end is remembered: longer than any message lives.
const MEMORY: Millis = 9 * DAY;

/// How long a request may take, and how long a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tries of one request, on one connection after another, before the caller hears of it.
const CONNECTIONS: usize = 4;

/// How long the facts of an execution stay once they are kept elsewhere.
pub const LAST_LOOK: Millis = 30_000;

/// What an execution needs while it goes on; first what its end has still to be told for.
const WORKING: [&str; 5] = ["pending", "log", "leases", "payloads", "timers"];

#[derive(Clone)]
pub struct Log {
    redis: ConnectionManager,
    prefix: String,
    append: Script,
    renew: Script,
    fire: Script,
    retire: Script,
    keep: Script,
    /// How long facts and payloads are kept once the execution has ended, for those who follow it.
    afterwards: Millis,
    patience: Patience,
}

/// One step of an execution.
#[derive(Default)]
pub struct Step {
    pub facts: Vec<(Millis, Fact)>,
    /// Messages whose children are to be published, with the position of the fact that made them.
    pub units: Vec<(String, u64)>,
    /// Messages that are about to be worked on for a while, and until when nobody else takes them.
    pub leases: Vec<(MessageId, Millis)>,
    /// Messages that are done with.
    pub released: Vec<MessageId>,
    pub holder: String,
    /// How long from now the execution waits at most.
    pub waits: Millis,
}

#[derive(Debug)]
pub enum Appended {
    Yes,
    /// Others were faster; these facts come first.
    Behind(Vec<Event>),
    Ended,
    /// The store does not know this execution.
    Lost,
}

/// How an execution stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub position: u64,
    pub ended: bool,
}

impl Log {
    pub async fn connect(url: &str, prefix: &str, afterwards: Millis) -> Result<Self, ClusterError> {
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(PATIENCE))
            .set_connection_timeout(Some(PATIENCE))
            .set_number_of_retries(CONNECTIONS);
        let redis = redis::Client::open(url)?.get_connection_manager_with_config(config).await?;
        Ok(Self {
            redis,
            prefix: prefix.to_owned(),
            append: Script::new(include_str!("scripts/append.lua")),
            renew: Script::new(include_str!("scripts/renew.lua")),
            fire: Script::new(include_str!("scripts/fire.lua")),
            retire: Script::new(include_str!("scripts/retire.lua")),
            keep: Script::new(include_str!("scripts/keep.lua")),
            afterwards,
            patience: Patience::default(),
        })
    }

    /// The same, insisting as long as this says.
    pub fn with_patience(self, patience: &Patience) -> Self {
        Self { patience: patience.clone(), ..self }
    }

    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    pub async fn insist<T, F: Future<Output = Result<T, ClusterError>>>(
        &self,
        what: &str,
        attempt: impl FnMut() -> F,
    ) -> Result<T, ClusterError> {
        self.patience.insist(what, attempt).await
    }

    pub fn redis(&self) -> ConnectionManager {
        self.redis.clone()
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn key(&self, execution: &ExecutionId, what: &str) -> String {
        protocol::cluster::execution_key(&self.prefix, execution, what)
    }

    /// The moment, as Redis sees it.
    pub async fn now(&self) -> Result<Millis, ClusterError> {
        let (seconds, micros): (Millis, Millis) = redis::cmd("TIME").query_async(&mut self.redis()).await?;
        Ok(seconds * 1_000 + micros / 1_000)
    }

    /// Whether what is written survives the end of the server; absent where it does not say.
    pub async fn persists(&self) -> Option<bool> {
        let setting = async |name: &str| -> Option<String> {
            let asked: Result<Vec<String>, _> =
                redis::cmd("CONFIG").arg("GET").arg(name).query_async(&mut self.redis()).await;
            asked.ok()?.into_iter().nth(1)
        };
        Some(setting("appendonly").await? == "yes" || !setting("save").await?.is_empty())
    }

    pub async fn standing(&self, execution: &ExecutionId) -> Result<Option<Standing>, ClusterError> {
        let found: (Option<u64>, Option<String>) =
            self.redis().hmget(self.key(execution, "state"), &["position", "status"]).await?;
        let (Some(position), Some(status)) = found else { return Ok(None) };
        Ok(Some(Standing { position, ended: status != "running" }))
    }

    pub async fn append(
        &self,
        execution: &ExecutionId,
        position: u64,
        step: &Step,
    ) -> Result<Appended, ClusterError> {
        let status = match step.facts.last() {
            Some((_, Fact::ExecutionEnded(ended))) => match ended.status {
                ExecutionStatus::Completed => "completed",
                ExecutionStatus::Failed => "failed",
                ExecutionStatus::Halted => "halted",
            },
            _ => "",
        };
        let mut call = self.append.prepare_invoke();
        for what in ["state", "log", "pending", "leases", "payloads", "timers"] {
            call.key(self.key(execution, what));
        }
        let life = if status.is_empty() { LIFE.saturating_add(step.waits) } else { MEMORY };
        call.arg(position).arg(CHUNK).arg(life).arg(status);
        call.arg(step.facts.len());
        for (at, fact) in self.written(execution, &step.facts).await? {
            call.arg(at).arg(fact);
        }
        call.arg(step.units.len());
        for (message, position) in &step.units {
            call.arg(message).arg(*position);
        }
        call.arg(step.leases.len());
        for (message, until) in &step.leases {
            call.arg(message.as_str()).arg(format!("{} {until}", step.holder));
        }
        call.arg(step.released.len());
        for message in &step.released {
            call.arg(message.as_str());
        }
        let mut answer: Vec<Value> = call.invoke_async(&mut self.redis()).await?;
        let rest = (answer.len() > 1).then(|| answer.swap_remove(1));
        let word = answer.into_iter().next().map(String::from_redis_value).transpose()?;
        match (word.as_deref(), rest) {
            (Some("appended"), _) => Ok(Appended::Yes),
            (Some("behind"), Some(tail)) => Ok(Appended::Behind(self.events(execution, tail).await?)),
            (Some("ended"), _) => Ok(Appended::Ended),
            (Some("lost"), _) => Ok(Appended::Lost),
            (word, _) => Err(ClusterError::Damaged(format!("the script answers {word:?}"))),
        }
    }

    /// The facts behind a position, a chunk of them at most.
    pub async fn read(&self, execution: &ExecutionId, behind: u64) -> Result<Vec<Event>, ClusterError> {
        let tail: Value = redis::cmd("XRANGE")
            .arg(self.key(execution, "log"))
            .arg(format!("{}-0", behind + 1))
            .arg("+")
            .arg("COUNT")
            .arg(CHUNK)
            .query_async(&mut self.redis())
            .await?;
        self.events(execution, tail).await
    }

    /// Keeps payloads that messages refer to. Writing one again changes nothing.
    pub async fn keep(&self, execution: &ExecutionId, payloads: &[Payload]) -> Result<(), ClusterError> {
        if payloads.is_empty() {
            return Ok(());
        }
        let mut call = self.keep.key(self.key(execution, "payloads"));
        call.arg(LIFE);
        for payload in payloads {
            call.arg(payload.hash()).arg(payload.text());
        }
        Ok(call.invoke_async(&mut self.redis()).await?)
    }

    /// The position of the fact whose children somebody set out to publish and may not have.
    pub async fn unpublished(
        &self,
        execution: &ExecutionId,
        unit: &str,
    ) -> Result<Option<u64>, ClusterError> {
        Ok(self.redis().hget(self.key(execution, "pending"), unit).await?)
    }

    /// The children of these messages are with the broker.
    pub async fn published(&self, execution: &ExecutionId, units: &[String]) -> Result<(), ClusterError> {
        let _: () = self.redis().hdel(self.key(execution, "pending"), units).await?;
        Ok(())
    }

    /// Whether somebody set out to publish something and may not have.
    pub async fn has_unpublished(&self, execution: &ExecutionId) -> Result<bool, ClusterError> {
        Ok(self.redis().exists(self.key(execution, "pending")).await?)
    }

    pub async fn all_published(&self, execution: &ExecutionId) -> Result<(), ClusterError> {
        let _: () = self.redis().unlink(self.key(execution, "pending")).await?;
        Ok(())
    }

    /// Who holds a message, and until when.
    pub async fn lease(
        &self,
        execution: &ExecutionId,
        message: &MessageId,
    ) -> Result<Option<(String, Millis)>, ClusterError> {
        let found: Option<String> =
            self.redis().hget(self.key(execution, "leases"), message.as_str()).await?;
        let Some(text) = found else { return Ok(None) };
        let parts = text.rsplit_once(' ').and_then(|(holder, until)| Some((holder, until.parse().ok()?)));
        let (holder, until) = parts.ok_or_else(|| ClusterError::Damaged(text.clone()))?;
        Ok(Some((holder.to_owned(), until)))
    }

    /// Goes on holding messages. Says whether the execution goes on.
    pub async fn renew(
        &self,
        execution: &ExecutionId,
        holder: &str,
        until: Millis,
        messages: &[MessageId],
    ) -> Result<bool, ClusterError> {
        let mut call = self.renew.prepare_invoke();
        call.key(self.key(execution, "state")).key(self.key(execution, "leases")).arg(holder).arg(until);
        for message in messages {
            call.arg(message.as_str());
        }
        let status: Option<String> = call.invoke_async(&mut self.redis()).await?;
        Ok(status.as_deref() == Some("running"))
    }

    /// Takes timers that are due, so that nobody else fires them before the lease is over. Says which of them it got;
    /// the same for the same `word`, should an answer be lost.
    pub async fn take_timers(
        &self,
        execution: &ExecutionId,
        timers: &[String],
        now: Millis,
        lease: Millis,
        word: &str,
    ) -> Result<Vec<bool>, ClusterError> {
        let mut call = self.fire.key(self.key(execution, "timers"));
        call.arg(now).arg(lease).arg(word).arg(LIFE);
        for timer in timers {
            call.arg(timer);
        }
        Ok(call.invoke_async(&mut self.redis()).await?)
    }

    /// Keeps the result of an execution as long as its end is remembered.
    pub async fn keep_result(&self, execution: &ExecutionId, result: &str) -> Result<(), ClusterError> {
        let life = u64::try_from(MEMORY).unwrap_or_default();
        Ok(self.redis().pset_ex(self.key(execution, "result"), result, life).await?)
    }

    /// How an execution has ended, as long as that is remembered.
    pub async fn result(&self, execution: &ExecutionId) -> Result<Option<CompletionMessage>, ClusterError> {
        let kept: Option<String> = self.redis().get(self.key(execution, "result")).await?;
        let damaged =
            |error: serde_json::Error| ClusterError::Damaged(format!("the result of {execution}: {error}"));
        kept.map(|text| serde_json::from_str(&text).map_err(damaged)).transpose()
    }

    /// The end is known and told: what is left is kept for a while, for those who follow.
    pub async fn retire(&self, execution: &ExecutionId) -> Result<(), ClusterError> {
        self.let_go(execution, false).await
    }

    /// The facts of an execution that has ended are kept elsewhere now. Whoever looks on has a moment to read them.
    pub async fn release(&self, execution: &ExecutionId) -> Result<(), ClusterError> {
        self.let_go(execution, true).await
    }

    async fn let_go(&self, execution: &ExecutionId, kept: bool) -> Result<(), ClusterError> {
        let mut call = self.retire.key(self.key(execution, "state"));
        for what in WORKING {
            call.key(self.key(execution, what));
        }
        call.arg(u8::from(kept)).arg(self.afterwards.max(1)).arg(LAST_LOOK);
        Ok(call.invoke_async(&mut self.redis()).await?)
    }

    async fn forget(&self, execution: &ExecutionId) -> Result<(), ClusterError> {
        let keys = WORKING.map(|what| self.key(execution, what));
        let _: () = self.redis().unlink(&keys).await?;
        Ok(())
    }

    /// Takes away everything that is known of an execution.
    pub async fn remove(&self, execution: &ExecutionId) -> Result<(), ClusterError> {
        self.forget(execution).await?;
        let keys = ["state", "result"].map(|what| self.key(execution, what));
        let _: () = self.redis().unlink(&keys).await?;
        Ok(())
    }

    /// As text, with large payloads stored elsewhere first.
    async fn written(
        &self,
        execution: &ExecutionId,
        facts: &[(Millis, Fact)],
    ) -> Result<Vec<(Millis, String)>, ClusterError> {
        let mut large = Vec::new();
        let mut written = Vec::with_capacity(facts.len());
        for (at, fact) in facts {
            let mut fact = std::borrow::Cow::Borrowed(fact);
            if !fact.payloads().all(|payload| payload.stays_inline(INLINE_BYTES)) {
                for payload in fact.to_mut().payloads_mut() {
                    if !payload.stays_inline(INLINE_BYTES) {
                        large.push(payload.clone());
                        *payload = payload.reference();
                    }
                }
            }
            written.push((*at, serde_json::to_string(&*fact).map_err(ClusterError::unwritable)?));
        }
        self.keep(execution, &large).await?;
        Ok(written)
    }

    /// Entries of the stream as events.
    async fn events(&self, execution: &ExecutionId, tail: Value) -> Result<Vec<Event>, ClusterError> {
        let entries: Vec<(String, Vec<String>)> = FromRedisValue::from_redis_value(tail)?;
        let mut events = entries
            .into_iter()
            .map(|(id, fields)| protocol::cluster::log_entry(execution, &id, &fields))
            .collect::<Result<Vec<_>, _>>()
            .map_err(ClusterError::Damaged)?;
        self.resolve(execution, &mut events).await?;
        Ok(events)
    }

    async fn resolve(&self, execution: &ExecutionId, events: &mut [Event]) -> Result<(), ClusterError> {
        let referred = |event: &Event| -> Vec<String> {
            event.fact.payloads().filter_map(|payload| payload.referred().map(str::to_owned)).collect()
        };
        let mut hashes: Vec<String> = events.iter().flat_map(referred).collect();
        hashes.sort_unstable();
        hashes.dedup();
        if hashes.is_empty() {
            return Ok(());
        }
        let texts: Vec<Option<String>> = redis::cmd("HMGET")
            .arg(self.key(execution, "payloads"))
            .arg(&hashes)
            .query_async(&mut self.redis())
            .await?;
        let mut found = std::collections::HashMap::new();
        for (hash, text) in hashes.into_iter().zip(texts) {
            let text = text.ok_or_else(|| ClusterError::Damaged(format!("the payload {hash} is gone")))?;
            found.insert(hash, Payload::from_text(text).map_err(ClusterError::unwritable)?);
        }
        for payload in events.iter_mut().flat_map(|event| event.fact.payloads_mut()) {
            if let Some(meant) = payload.referred().and_then(|hash| found.get(hash)).cloned() {
                *payload = meant;
            }
        }
        Ok(())
    }
}
