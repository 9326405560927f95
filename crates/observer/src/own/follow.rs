//! One execution, read from its log.

use engine::Ledger;
use protocol::{
    ClusterDialect, ErrorCode, Event, ExecutionEnded, ExecutionId, ExecutionStarted, ExecutionStatus, Fact,
    Millis, NodeError, Observed, Payload, WorkflowId, cluster,
};
use redis::{FromRedisValue, Value};
use serde_json::json;

use super::values::{Room, Values};
use crate::{ObserverError, Read, Reader};

/// Facts read at once.
const CHUNK: usize = 500;

/// What is known of an execution.
pub enum Followed {
    /// From its first fact on.
    Whole(Box<Ledger>),
    /// Only a tail was left. Facts are told as they are, with numbers of our own.
    Tail {
        /// The number of the last fact in the log that was read.
        position: u64,
        /// The number we have told last.
        told: u64,
    },
}

/// Where the facts of an execution are.
#[derive(Clone, Copy)]
pub struct Log<'l> {
    pub reader: &'l Reader,
    pub prefix: &'l str,
    pub id: &'l ExecutionId,
}

/// What is to be expected of an execution.
pub enum More {
    /// There is more in its log already.
    Now,
    /// It has just moved.
    Soon,
    Nothing,
}

pub enum Taken {
    Followed(More),
    Ended,
    /// There is no such execution.
    Nothing,
    Unreadable(String),
}

impl Followed {
    fn position(&self) -> u64 {
        match self {
            Self::Whole(ledger) => ledger.position(),
            Self::Tail { position, .. } => *position,
        }
    }

    /// The number of the next event that is told.
    fn next(&self) -> u64 {
        match self {
            Self::Whole(ledger) => ledger.position() + 1,
            Self::Tail { told, .. } => told + 1,
        }
    }
}

impl Followed {
    /// Nobody can follow it any further.
    pub fn left(&self, id: &ExecutionId, now: Millis, why: &str) -> Event {
        let message = format!("it cannot be followed any further: {why}");
        let error = Some(NodeError::new(ErrorCode::NotObserved, message));
        let fact = Fact::ExecutionEnded(ExecutionEnded { status: ExecutionStatus::Halted, error });
        Event { execution_id: id.clone(), seq: self.next(), at: now, fact }
    }
}

/// Reads the next chunk; what it says is added to `events`. After an error everything is as it was.
pub async fn read(
    log: Log<'_>,
    known: &mut Option<Followed>,
    definition: Option<&Payload>,
    now: Millis,
    room: &mut Room<'_>,
    events: &mut Vec<Event>,
) -> Result<Taken, ObserverError> {
    let behind = known.as_ref().map_or(0, Followed::position);
    let Chunk { facts, more } = match log.chunk(behind, room).await {
        Ok(chunk) => chunk,
        // Somebody else uses its name, or newer workers say what we do not understand. Others can be read.
        Err(error) if error.is_about_one_key() => return Ok(Taken::Unreadable(error.to_string())),
        Err(error) => return Err(error),
    };
    if facts.is_empty() {
        return log.at_rest(known.as_ref(), now, events).await;
    }
    let followed = match known {
        Some(known) => known,
        None => match log.begin(&facts, definition, now, room, events).await? {
            Ok(begun) => known.insert(begun),
            Err(why) => return Ok(Taken::Unreadable(why)),
        },
    };
    events.reserve(facts.len());
    for event in facts {
        let ended = matches!(event.fact, Fact::ExecutionEnded(_));
        match take_in(followed, event) {
            Ok(event) => events.push(event),
            Err(why) => return Ok(Taken::Unreadable(why)),
        }
        if ended {
            return Ok(Taken::Ended);
        }
    }
    Ok(Taken::Followed(if more { More::Now } else { More::Soon }))
}

/// The start of an execution of which only the end is left: what its messages tell.
fn late_start(id: &ExecutionId, definition: Payload, at: Millis) -> Event {
    let fact = Fact::ExecutionStarted(Box::new(ExecutionStarted {
        workflow_id: WorkflowId::from(id.as_str()),
        title: id.to_string(),
        path: None,
        definition_hash: String::new(),
        definition,
        input: Payload::new(json!({})),
        starts: Vec::new(),
        origin: None,
        until: None,
        observed: Some(Observed::new("", ClusterDialect::Runeglass, true)),
        other: Default::default(),
    }));
    Event { execution_id: id.clone(), seq: 1, at, fact }
}

/// A fact with what it means for others, where that can be told.
fn take_in(followed: &mut Followed, mut event: Event) -> Result<Event, String> {
    match followed {
        Followed::Whole(ledger) => {
            let heard = ledger.apply(&event).map_err(|error| error.to_string())?;
            event.fact.note(heard);
        }
        Followed::Tail { position, told } => {
            (*position, *told) = (event.seq, *told + 1);
            event.seq = *told;
        }
    }
    Ok(event)
}

/// The next facts of a log.
struct Chunk {
    facts: Vec<Event>,
    /// There are more.
    more: bool,
}

impl Log<'_> {
    /// In front of the first facts that are left.
    async fn begin(
        self,
        facts: &[Event],
        definition: Option<&Payload>,
        now: Millis,
        room: &mut Room<'_>,
        events: &mut Vec<Event>,
    ) -> Result<Result<Followed, String>, ObserverError> {
        let Some(first) = facts.first() else { return Ok(Err("its log is empty".to_owned())) };
        if first.seq == 1 {
            return Ok(Ledger::begin(facts)
                .map(|ledger| Followed::Whole(Box::new(ledger.looking_on())))
                .map_err(|why| why.to_string()));
        }
        let Some(definition) = definition else {
            return Ok(Err(
                "the beginning of its log is gone, and no message has told its workflow".to_owned()
            ));
        };
        let mut start = vec![late_start(self.id, definition.clone(), now.min(first.at))];
        self.resolve(&mut start, room).await?;
        events.extend(start);
        Ok(Ok(Followed::Tail { position: first.seq - 1, told: 1 }))
    }

    /// Nothing new is in the log. Either nothing has happened, or the log is gone: the end is kept longer than the log.
    async fn at_rest(
        self,
        known: Option<&Followed>,
        now: Millis,
        events: &mut Vec<Event>,
    ) -> Result<Taken, ObserverError> {
        let Some(known) = known else { return Ok(Taken::Nothing) };
        let key = cluster::execution_key(self.prefix, self.id, "state");
        let (position, status): (Option<u64>, Option<String>) =
            self.reader.ask(Read::HMGet, &[key.as_str(), "position", "status"][..]).await?;
        let missed = position.unwrap_or_default().saturating_sub(known.position());
        let status = match (position, status.as_deref()) {
            (Some(_), Some("completed")) => ExecutionStatus::Completed,
            (Some(_), Some("failed")) => ExecutionStatus::Failed,
            (Some(_), Some("halted")) | (None, _) => ExecutionStatus::Halted,
            (Some(_), _) => return Ok(Taken::Followed(More::Nothing)),
        };
        let message = match (position, missed) {
            (None, _) => "its log is gone from Redis; what came of it is not known".to_owned(),
            // It ends with this very fact, which comes with the next look.
            (Some(_), 0) => return Ok(Taken::Followed(More::Nothing)),
            // It has ended since we asked for more of its log.
            (Some(_), _) if self.has_log().await? => return Ok(Taken::Followed(More::Soon)),
            (Some(_), missed) => format!(
                "the last {missed} events were not seen: they were gone from Redis before they were read"
            ),
        };
        let error = Some(NodeError::new(ErrorCode::NotObserved, message));
        let fact = Fact::ExecutionEnded(ExecutionEnded { status, error });
        events.push(Event { execution_id: self.id.clone(), seq: known.next(), at: now, fact });
        Ok(Taken::Ended)
    }

    async fn has_log(self) -> Result<bool, ObserverError> {
        let key = cluster::execution_key(self.prefix, self.id, "log");
        self.reader.ask(Read::Exists, key.as_str()).await
    }

    async fn chunk(self, behind: u64, room: &mut Room<'_>) -> Result<Chunk, ObserverError> {
        let key = cluster::execution_key(self.prefix, self.id, "log");
        let (first, count) = (format!("{}-0", behind + 1), CHUNK.to_string());
        let tail: Value =
            self.reader.ask(Read::XRange, &[key.as_str(), &first, "+", "COUNT", &count][..]).await?;
        let entries: Vec<(String, Vec<String>)> = FromRedisValue::from_redis_value(tail)?;
        room.take(entries.iter().flat_map(|(_, fields)| fields).map(String::len).sum());
        let mut facts = Vec::with_capacity(entries.len());
        for (number, fields) in entries {
            facts.push(cluster::log_entry(self.id, &number, &fields).map_err(ObserverError::Odd)?);
        }
        let found = facts.len();
        self.resolve(&mut facts, room).await?;
        let more = found >= CHUNK || facts.len() < found;
        Ok(Chunk { facts, more })
    }

    /// Puts large values in their place.
    async fn resolve(self, events: &mut Vec<Event>, room: &mut Room<'_>) -> Result<(), ObserverError> {
        let key = cluster::execution_key(self.prefix, self.id, "payloads");
        Values { reader: self.reader, key: &key }.resolve(events, room).await
    }
}
