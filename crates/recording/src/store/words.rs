//! The words of payloads, in the index beside the store. They are gathered when somebody looks for something, in small
//! steps, and never while an event is being written.

use std::collections::{HashMap, HashSet};

use protocol::{Change, Event, ExecutionId, Fact, Part, Payload, Unindexed};
use serde_json::Value;
use sqlx::{Connection, Row, SqliteConnection};

use super::{Store, StoreError, seek::Known};

/// Events whose words are gathered in one transaction.
const STEP: u64 = 1_000;

/// The payloads of an event by what they are to it.
pub fn parts(fact: &Fact) -> Vec<(Part, Payload)> {
    let error = |error: &protocol::NodeError| {
        vec![(Part::Error, Payload::new(serde_json::to_value(error).unwrap_or_default()))]
    };
    match fact {
        Fact::ExecutionStarted(started) => vec![(Part::Input, started.input.clone())],
        Fact::NodeStarted(started) => {
            let parameters =
                started.parameters.iter().map(|parameters| (Part::Parameters, parameters.clone()));
            parameters.chain(started.input.iter().map(|input| (Part::Input, input.clone()))).collect()
        }
        Fact::NodeSucceeded(done) => {
            let items = done.items.iter().map(|items| (Part::Items, items.clone()));
            std::iter::once((Part::Output, done.output.clone())).chain(items).collect()
        }
        Fact::AttemptFailed(failed) => error(&failed.error),
        Fact::NodeFailed(failed) => error(&failed.error),
        Fact::ExecutionEnded(ended) => ended.error.iter().flat_map(error).collect(),
        Fact::Intervened(done) => match &done.change {
            Change::Context(entries) => entries.values().map(|value| (Part::Input, value.clone())).collect(),
            Change::Parameters(parameters) => vec![(Part::Parameters, parameters.clone())],
            // What follows says the same.
            Change::Output { .. } | Change::Error(_) | Change::Dropped | Change::Duplicated => Vec::new(),
        },
        Fact::NodeParked(_)
        | Fact::TimedOut(_)
        | Fact::Prolonged(_)
        | Fact::TimerFired(_)
        | Fact::Gathered(_)
        | Fact::Missed(_) => Vec::new(),
    }
}

/// Executions that are held against the index in one question.
const PROVEN_AT_ONCE: usize = 1_000;

/// What the index knows of an execution.
struct Indexed {
    id: i64,
    position: u64,
    proof: String,
}

impl Store {
    /// Gathers the words of at most `budget` events, newest executions first, and says what is left to do.
    pub async fn index(&self, budget: u64) -> Result<Unindexed, StoreError> {
        let mut left = budget;
        let mut unindexed = Unindexed::default();
        let all = self.all_known().await?;
        let complete = self.complete(&all).await?;
        for (execution, known) in all {
            if complete.contains(&known.row) {
                continue;
            }
            let mut indexed = self.indexed(&execution, known).await?;
            while indexed.as_ref().is_some_and(|indexed| indexed.position < known.last) && left > 0 {
                let Some(before) = indexed.take() else { break };
                let upto = known.last.min(before.position + STEP.min(left));
                left -= upto - before.position;
                indexed = self.gather(&execution, known, before, upto).await?;
            }
            let missing = known.last - indexed.map_or(0, |indexed| indexed.position.min(known.last));
            unindexed.executions += usize::from(missing > 0);
            unindexed.events += missing;
        }
        Ok(unindexed)
    }

    /// Every execution with its row and its number of events, newest first.
    async fn all_known(&self) -> Result<Vec<(ExecutionId, Known)>, StoreError> {
        let query = "SELECT x.execution_id, x.id, \
                     (SELECT coalesce(max(seq), 0) FROM events WHERE execution = x.id) \
                     FROM executions x ORDER BY x.id DESC";
        let rows = sqlx::query(query)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let known = |row: &sqlx::sqlite::SqliteRow| {
            let last = row.get::<i64, _>(2).unsigned_abs();
            (ExecutionId::from(row.get::<&str, _>(0)), Known { row: row.get(1), last })
        };
        Ok(rows.iter().map(known).collect())
    }

    /// The rows of executions whose every word is in the index. Nearly all of them are, nearly always, so this is asked of
    /// all at once.
    async fn complete(&self, all: &[(ExecutionId, Known)]) -> Result<HashSet<i64>, StoreError> {
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let found = match self.side.open().await {
            Some(mut side) => match side.connection() {
                Some(connection) => entries(connection).await.map_err(wrap)?,
                None => return Ok(HashSet::new()),
            },
            None => return Ok(HashSet::new()),
        };
        let whole = all.iter().filter_map(|(execution, known)| {
            let (position, proof) = found.get(execution)?;
            (*position == known.last).then_some((known, proof))
        });
        let whole: Vec<(&Known, &String)> = whole.collect();
        let mut complete = HashSet::with_capacity(whole.len());
        for some in whole.chunks(PROVEN_AT_ONCE) {
            let places: Vec<[i64; 2]> =
                some.iter().map(|(known, _)| [known.row, known.last.cast_signed()]).collect();
            let proofs = self.proofs(&places).await?;
            complete.extend(
                some.iter()
                    .filter(|(known, proof)| proofs.get(&known.row) == Some(proof))
                    .map(|(known, _)| known.row),
            );
        }
        Ok(complete)
    }

    /// What is known of an execution, with a row made for it; what was known of another past is forgotten. `None`
    /// where there is no index.
    async fn indexed(&self, execution: &ExecutionId, known: Known) -> Result<Option<Indexed>, StoreError> {
        let found = match self.side.open().await {
            Some(mut side) => match side.connection() {
                Some(connection) => entry(connection, execution, known.row).await,
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        let found = found.map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let proof = match found.position {
            0 => Some(String::new()),
            position => self.proof(known.row, position).await?,
        };
        if proof.as_ref() == Some(&found.proof) {
            return Ok(Some(found));
        }
        let Some(mut side) = self.side.open().await else { return Ok(None) };
        let Some(connection) = side.connection() else { return Ok(None) };
        let forgotten = forget(connection, found.id).await;
        forgotten.map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(Some(Indexed { position: 0, proof: String::new(), ..found }))
    }

    async fn gather(
        &self,
        execution: &ExecutionId,
        known: Known,
        before: Indexed,
        upto: u64,
    ) -> Result<Option<Indexed>, StoreError> {
        let mut events = self.outlines(execution, known.row, before.position, upto).await?;
        let texts = self.texts(&mut events).await?;
        let proof = self.proof(known.row, upto).await?.unwrap_or_default();
        let indexed = Indexed { id: before.id, position: upto, proof };
        let Some(mut side) = self.side.open().await else { return Ok(None) };
        let Some(connection) = side.connection() else { return Ok(None) };
        let written = write(connection, &indexed, &texts).await;
        written.map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(Some(indexed))
    }

    /// What each event says. A large payload is said once per step, however often it occurs.
    async fn texts(&self, events: &mut [Event]) -> Result<Vec<(u64, String)>, StoreError> {
        let mut said: HashSet<String> = HashSet::new();
        for payload in events.iter_mut().flat_map(|event| event.fact.payloads_mut()) {
            if let Some(hash) = payload.referred().map(str::to_owned)
                && !said.insert(hash)
            {
                *payload = Payload::null();
            }
        }
        self.make_whole(events).await?;
        let text = |event: &Event| {
            let mut text = String::new();
            parts(&event.fact).iter().for_each(|(_, payload)| words(payload.value(), &mut text));
            (event.seq, text)
        };
        Ok(events.iter().map(text).filter(|(_, text)| !text.is_empty()).collect())
    }
}

/// The row of the first word of an execution in the index.
pub fn first_row(id: i64) -> i64 {
    id << 32
}

/// A new execution has the number of its row in the store, so that the newest words have the highest rows.
async fn entry(
    connection: &mut SqliteConnection,
    execution: &ExecutionId,
    row: i64,
) -> Result<Indexed, sqlx::Error> {
    let found = sqlx::query("SELECT id, position, proof FROM indexed WHERE execution_id = ?")
        .bind(execution.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(found) = found {
        let position = found.get::<i64, _>(1).unsigned_abs();
        return Ok(Indexed { id: found.get(0), position, proof: found.get(2) });
    }
    forget(connection, row).await?;
    sqlx::query("INSERT OR REPLACE INTO indexed (id, execution_id, position, proof) VALUES (?, ?, 0, '')")
        .bind(row)
        .bind(execution.as_str())
        .execute(connection)
        .await?;
    Ok(Indexed { id: row, position: 0, proof: String::new() })
}

/// How far the words of each execution are known, with the proof of it.
async fn entries(
    connection: &mut SqliteConnection,
) -> Result<HashMap<ExecutionId, (u64, String)>, sqlx::Error> {
    let rows = sqlx::query("SELECT execution_id, position, proof FROM indexed").fetch_all(connection).await?;
    let entry = |row: &sqlx::sqlite::SqliteRow| {
        (ExecutionId::from(row.get::<&str, _>(0)), (row.get::<i64, _>(1).unsigned_abs(), row.get(2)))
    };
    Ok(rows.iter().map(entry).collect())
}

async fn forget(connection: &mut SqliteConnection, id: i64) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query("DELETE FROM words WHERE rowid >= ? AND rowid < ?")
        .bind(first_row(id))
        .bind(first_row(id + 1))
        .execute(&mut *transaction)
        .await?;
    sqlx::query("UPDATE indexed SET position = 0, proof = '' WHERE id = ?")
        .bind(id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}

async fn write(
    connection: &mut SqliteConnection,
    indexed: &Indexed,
    texts: &[(u64, String)],
) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    for (seq, text) in texts {
        // Another process may have done the same in between.
        sqlx::query("INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)")
            .bind(first_row(indexed.id) + seq.cast_signed())
            .bind(text)
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::query("UPDATE indexed SET position = ?, proof = ? WHERE id = ?")
        .bind(indexed.position.cast_signed())
        .bind(&indexed.proof)
        .bind(indexed.id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}

/// Every text and number in a value; names of fields are asked for by path.
fn words(value: &Value, text: &mut String) {
    match value {
        Value::String(word) => {
            text.push_str(word);
            text.push('\n');
        }
        Value::Number(number) => {
            text.push_str(&number.to_string());
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, text)),
        Value::Object(fields) => fields.values().for_each(|field| words(field, text)),
        Value::Null | Value::Bool(_) => {}
    }
}
