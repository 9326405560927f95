//! One execution, read from its log.

use std::collections::HashMap;

use engine::Ledger;
use protocol::{
    ClusterDialect, ErrorCode, Event, ExecutionEnded, ExecutionId, ExecutionStarted, ExecutionStatus, Fact,
    Millis, NodeError, Observed, Payload, WorkflowId, cluster,
};
use redis::{FromRedisValue, Value};
use serde_json::json;

use crate::{ObserverError, Read, Reader};

/// Facts read at once.
const CHUNK: usize = 500;
/// Payloads asked for at once.
const PAYLOADS: usize = 50;

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
    reader: &Reader,
    prefix: &str,
    id: &ExecutionId,
    known: &mut Option<Followed>,
    definition: Option<&Payload>,
    now: Millis,
    events: &mut Vec<Event>,
) -> Result<Taken, ObserverError> {
    let behind = known.as_ref().map_or(0, Followed::position);
    let found = entries(reader, prefix, id, behind).await?;
    if found.is_empty() {
        return at_rest(reader, prefix, id, known.as_ref(), now, events).await;
    }
    let more = if found.len() >= CHUNK { More::Now } else { More::Soon };
    let followed = match known {
        Some(known) => known,
        None => match begin(reader, prefix, id, &found, definition, now, events).await? {
            Ok(begun) => known.insert(begun),
            Err(why) => return Ok(Taken::Unreadable(why)),
        },
    };
    for event in found {
        let ended = matches!(event.fact, Fact::ExecutionEnded(_));
        match take_in(followed, event) {
            Ok(event) => events.push(event),
            Err(why) => return Ok(Taken::Unreadable(why)),
        }
        if ended {
            return Ok(Taken::Ended);
        }
    }
    Ok(Taken::Followed(more))
}

/// In front of the first facts that are left.
async fn begin(
    reader: &Reader,
    prefix: &str,
    id: &ExecutionId,
    found: &[Event],
    definition: Option<&Payload>,
    now: Millis,
    events: &mut Vec<Event>,
) -> Result<Result<Followed, String>, ObserverError> {
    let Some(first) = found.first() else { return Ok(Err("its log is empty".to_owned())) };
    if first.seq == 1 {
        return Ok(Ledger::begin(found)
            .map(|ledger| Followed::Whole(Box::new(ledger)))
            .map_err(|why| why.to_string()));
    }
    let Some(definition) = definition else {
        return Ok(Err("the beginning of its log is gone, and no message has told its workflow".to_owned()));
    };
    let mut start = late_start(id, definition.clone(), now.min(first.at));
    resolve(reader, prefix, std::slice::from_mut(&mut start)).await?;
    events.push(start);
    Ok(Ok(Followed::Tail { position: first.seq - 1, told: 1 }))
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
            // Items of a fan-out are under way once they are handed out.
            while ledger.next_ready().is_some() {}
        }
        Followed::Tail { position, told } => {
            (*position, *told) = (event.seq, *told + 1);
            event.seq = *told;
        }
    }
    Ok(event)
}

/// Nothing new is in the log. Either nothing has happened, or the log is gone: the end is kept longer than the log.
async fn at_rest(
    reader: &Reader,
    prefix: &str,
    id: &ExecutionId,
    known: Option<&Followed>,
    now: Millis,
    events: &mut Vec<Event>,
) -> Result<Taken, ObserverError> {
    let Some(known) = known else { return Ok(Taken::Nothing) };
    let key = cluster::execution_key(prefix, id, "state");
    let (position, status): (Option<u64>, Option<String>) =
        reader.ask(Read::HMGet, &[key.as_str(), "position", "status"][..]).await?;
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
        (Some(_), missed) => {
            format!("the last {missed} events were not seen: they were gone from Redis before they were read")
        }
    };
    let error = Some(NodeError::new(ErrorCode::NotObserved, message));
    let fact = Fact::ExecutionEnded(ExecutionEnded { status, error });
    events.push(Event { execution_id: id.clone(), seq: known.next(), at: now, fact });
    Ok(Taken::Ended)
}

async fn entries(
    reader: &Reader,
    prefix: &str,
    id: &ExecutionId,
    behind: u64,
) -> Result<Vec<Event>, ObserverError> {
    let key = cluster::execution_key(prefix, id, "log");
    let (first, count) = (format!("{}-0", behind + 1), CHUNK.to_string());
    let tail: Value = reader.ask(Read::XRange, &[key.as_str(), &first, "+", "COUNT", &count][..]).await?;
    let entries: Vec<(String, Vec<String>)> = FromRedisValue::from_redis_value(tail)?;
    let decode = |(number, fields): (String, Vec<String>)| cluster::log_entry(id, &number, &fields);
    let mut events =
        entries.into_iter().map(decode).collect::<Result<Vec<_>, _>>().map_err(ObserverError::Odd)?;
    resolve(reader, prefix, &mut events).await?;
    Ok(events)
}

/// Puts large payloads in their place. One that is gone is said to be.
async fn resolve(reader: &Reader, prefix: &str, events: &mut [Event]) -> Result<(), ObserverError> {
    let Some(id) = events.first().map(|event| event.execution_id.clone()) else { return Ok(()) };
    let referred = |event: &Event| -> Vec<String> {
        event.fact.payloads().filter_map(|payload| payload.referred().map(str::to_owned)).collect()
    };
    let mut hashes: Vec<String> = events.iter().flat_map(referred).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let key = cluster::execution_key(prefix, &id, "payloads");
    let mut found: HashMap<&str, Payload> = HashMap::new();
    for some in hashes.chunks(PAYLOADS) {
        let arguments: Vec<&str> =
            std::iter::once(key.as_str()).chain(some.iter().map(String::as_str)).collect();
        let texts: Vec<Option<String>> = reader.ask(Read::HMGet, &arguments[..]).await?;
        for (hash, text) in some.iter().zip(texts) {
            let payload = text.and_then(|text| Payload::from_text(text).ok());
            let gone = || Payload::new(json!({"gone": "this value was not in Redis any more"}));
            found.insert(hash, payload.unwrap_or_else(gone));
        }
    }
    for payload in events.iter_mut().flat_map(|event| event.fact.payloads_mut()) {
        if let Some(meant) = payload.referred().and_then(|hash| found.get(hash)).cloned() {
            *payload = meant;
        }
    }
    Ok(())
}
