//! Events in one SQLite file: append-only, large payloads once by content hash.

mod case;
mod controls;
mod dead_letters;
mod file;
mod holds;
mod list;
mod migrate;
mod notes;
mod observed;
mod pack;
mod payloads;
mod rows;
mod search;
mod seek;
mod side;
mod upkeep;
mod words;

use std::{collections::HashMap, path::Path, sync::LazyLock};

use protocol::{
    Event, ExecutionEnded, ExecutionId, ExecutionStarted, ExecutionSummary, Fact, LineageKey, Payload,
};
use sqlx::{
    AssertSqlSafe, Connection, Row, Sqlite, SqliteConnection, SqlitePool,
    sqlite::{
        SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow,
        SqliteSynchronous,
    },
};
use tokio::sync::Mutex;

pub use case::{Case, read_case, write_case};
pub use file::{Access, StoreError};
pub use observed::Standing;
pub use upkeep::{Checked, Cleaned, Prune};

use crate::{Redaction, view::summary};

/// Reads go on while the one writer appends.
pub struct Store {
    path: String,
    writer: Option<Mutex<Writer>>,
    readers: SqlitePool,
    side: side::Side,
    redaction: Redaction,
    /// Held as long as the store is open for writing: one engine per store.
    _lock: Option<file::Lock>,
}

struct Writer {
    connection: SqliteConnection,
    /// Executions that are under way, by their row.
    rows: HashMap<ExecutionId, i64>,
    payloads: payloads::Interned,
}

/// Rows per statement: enough to make the statement's cost vanish, far below SQLite's limit of variables.
const ROWS_PER_INSERT: usize = 128;

/// Pages in the log beside the file before they are moved into the file, by whoever writes at that moment. What is in
/// the log is as durable; a large run is not kept waiting for it again and again.
const LOG_PAGES: &str = "32768";
/// Bytes of the log that are kept once its pages were moved.
const LOG_BYTES: &str = "33554432";

static FULL_INSERT: LazyLock<String> = LazyLock::new(|| insert_of(ROWS_PER_INSERT));

type Insert = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

fn insert_of(rows: usize) -> String {
    let values = vec!["(?, ?, ?, ?)"; rows];
    format!("INSERT INTO events (execution, seq, at, body) VALUES {}", values.join(", "))
}

impl Store {
    /// Opens a store, making it where there is none. A file that is not ours, or newer than we are, is refused
    /// without being touched.
    pub async fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        let shown = path.display().to_string();
        let found = file::inspect(path)?;
        let lock = match access {
            Access::Write => Some(file::Lock::take(path)?),
            Access::Read => None,
        };
        match (found, access) {
            (file::Found::Ours { format }, Access::Write) => migrate::bring_up(path, format).await?,
            (file::Found::Ours { format }, Access::Read) => {
                migrate::bring_up_for_reader(path, format).await?
            }
            (file::Found::Nothing, Access::Write) => file::create(path).await?,
            (file::Found::Nothing, Access::Read) => return Err(StoreError::Missing { path: shown }),
        }
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(false);
        let wrap = |error| StoreError::from_sqlx(&shown, error);
        let writer = match access {
            Access::Write => {
                let options = options
                    .clone()
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .pragma("wal_autocheckpoint", LOG_PAGES)
                    .pragma("journal_size_limit", LOG_BYTES)
                    // Rows that move to another page leave no copy behind, so that what is erased can be gone.
                    .pragma("secure_delete", "FAST")
                    .foreign_keys(false);
                let connection = SqliteConnection::connect_with(&options).await.map_err(wrap)?;
                Some(Mutex::new(Writer {
                    connection,
                    rows: HashMap::new(),
                    payloads: payloads::Interned::default(),
                }))
            }
            Access::Read => None,
        };
        let readers = SqlitePoolOptions::new().max_connections(2).connect_lazy_with(options.read_only(true));
        let (side, redaction) = (side::Side::of(path), Redaction::default());
        Ok(Self { path: shown, writer, readers, side, redaction, _lock: lock })
    }

    /// Hides more than what is usually hidden.
    pub fn hiding(self, redaction: Redaction) -> Self {
        Self { redaction, ..self }
    }

    /// Appends events in one transaction: all of them are durable afterwards, or none.
    pub async fn append(&self, events: &[Event]) -> Result<(), StoreError> {
        self.write(&self.redaction.hide(events)).await
    }

    /// Writes events as they are.
    async fn write(&self, events: &[Event]) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        let result = writer.append(events).await;
        if result.is_err() {
            // What the failed transaction interned is not in the file.
            writer.payloads = payloads::Interned::default();
        }
        result.map_err(|error| StoreError::from_sqlx(&self.path, error))
    }

    /// Newest first.
    pub async fn executions(&self, limit: u32) -> Result<Vec<ExecutionSummary>, StoreError> {
        let rows = sqlx::query("SELECT summary FROM executions ORDER BY id DESC LIMIT ?")
            .bind(limit)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        rows.iter().map(|row| self.decode(row.get::<&str, _>(0))).collect()
    }

    /// So many executions, newest first, and how many there are in all. What has not ended is not left out for what has.
    pub async fn foremost(&self, limit: u32) -> Result<(Vec<ExecutionSummary>, usize), StoreError> {
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let query = "SELECT summary FROM (SELECT id, summary FROM executions \
                     ORDER BY ended_at IS NOT NULL, id DESC LIMIT ?) ORDER BY id DESC";
        let rows = sqlx::query(query).bind(limit).fetch_all(&self.readers).await.map_err(wrap)?;
        let counted = sqlx::query("SELECT count(*) FROM executions").fetch_one(&self.readers).await;
        let total = counted.map_err(wrap)?.get::<i64, _>(0) as usize;
        let executions: Vec<_> =
            rows.iter().map(|row| self.decode(row.get::<&str, _>(0))).collect::<Result<_, _>>()?;
        let total = total.max(executions.len());
        Ok((executions, total))
    }

    /// Executions of this machine that were started and have not ended, oldest first. Those that run elsewhere are
    /// nobody's to go on with.
    pub async fn unfinished(&self) -> Result<Vec<ExecutionId>, StoreError> {
        let query = "SELECT execution_id FROM executions WHERE ended_at IS NULL \
                     AND summary ->> '$.observed' IS NULL ORDER BY id";
        let rows = sqlx::query(query)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(rows.iter().map(|row| ExecutionId::from(row.get::<&str, _>(0))).collect())
    }

    /// The whole recording of an execution; empty if it is unknown.
    pub async fn events(&self, execution: &ExecutionId) -> Result<Vec<Event>, StoreError> {
        self.events_after(execution, 0).await
    }

    /// What was recorded after this position.
    pub async fn events_after(
        &self,
        execution: &ExecutionId,
        position: u64,
    ) -> Result<Vec<Event>, StoreError> {
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let query = "SELECT e.seq, e.at, e.body FROM events e JOIN executions x ON x.id = e.execution \
                     WHERE x.execution_id = ? AND e.seq > ? ORDER BY e.seq";
        let query = sqlx::query(query).bind(execution.as_str()).bind(position.cast_signed());
        let rows = query.fetch_all(&self.readers).await.map_err(wrap)?;
        let mut events = self.read_rows(execution, &rows)?;
        events.retain(|event| event.seq > position);
        self.make_whole(&mut events).await?;
        Ok(events)
    }

    /// The events in rows of number, moment and text.
    fn read_rows(&self, execution: &ExecutionId, rows: &[SqliteRow]) -> Result<Vec<Event>, StoreError> {
        let mut events = Vec::with_capacity(2 * rows.len());
        for row in rows {
            events.extend(self.read_row(execution, row)?);
        }
        Ok(events)
    }

    /// A file from elsewhere may hold anything, text that is none among it.
    fn read_row(
        &self,
        execution: &ExecutionId,
        row: &SqliteRow,
    ) -> Result<impl Iterator<Item = Event> + use<>, StoreError> {
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let seq = row.try_get::<i64, _>(0).map_err(wrap)?.unsigned_abs();
        let (at, body) = (row.try_get(1).map_err(wrap)?, row.try_get::<&str, _>(2).map_err(wrap)?);
        rows::read(execution, seq, at, body).map_err(|error| self.unreadable(&error))
    }

    /// What has to do with a key: what happened outside of every fan-out, and in the outermost item of it. Others may
    /// be among them.
    pub async fn events_near(
        &self,
        execution: &ExecutionId,
        key: &LineageKey,
    ) -> Result<Vec<Event>, StoreError> {
        let Some((split, index)) = key.as_str().split('/').next().and_then(|level| level.rsplit_once('='))
        else {
            return self.events(execution).await;
        };
        let Some(known) = self.known(execution).await? else { return Ok(Vec::new()) };
        // A firing is written first and says where it stands before it counts its attempts.
        let query = "SELECT seq, at, body FROM events WHERE execution = ?1 AND (\
                     instr(body, ?2) > 0 OR instr(body, '\"lineage\"') = 0 \
                     OR instr(body, '\"lineage\"') > instr(body, '\"attempt\"')) ORDER BY seq";
        let rows = sqlx::query(query)
            .bind(known.row)
            .bind(format!("\"lineage\":[[\"{split}\",{index},"))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let mut events = self.read_rows(execution, &rows)?;
        self.make_whole(&mut events).await?;
        Ok(events)
    }

    async fn payload(
        &self,
        hash: String,
        loaded: &mut HashMap<String, Payload>,
    ) -> Result<Payload, StoreError> {
        if let Some(known) = loaded.get(&hash) {
            return Ok(known.clone());
        }
        let row = sqlx::query("SELECT hash, body, packed FROM payloads WHERE hash = ?")
            .bind(&hash)
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let damaged = |detail: String| StoreError::Damaged { path: self.path.clone(), detail };
        let row = row.ok_or_else(|| damaged(format!("payload {hash} is missing")))?;
        let text = payloads::text_of(&row).map_err(damaged)?;
        let payload = Payload::from_text(text).map_err(|error| damaged(error.to_string()))?;
        loaded.insert(hash, payload.clone());
        Ok(payload)
    }

    fn decode<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &serde_json::Error) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), detail: error.to_string() }
    }
}

impl Writer {
    async fn append(&mut self, events: &[Event]) -> Result<(), sqlx::Error> {
        let Self { connection, rows, payloads } = self;
        let mut transaction = connection.begin().await?;
        for event in events {
            match &event.fact {
                Fact::ExecutionStarted(started) => {
                    let row = insert_execution(&mut transaction, event, started).await?;
                    rows.insert(event.execution_id.clone(), row);
                }
                Fact::ExecutionEnded(ended) => end_execution(&mut transaction, event, ended).await?,
                Fact::NodeStarted(_)
                | Fact::NodeParked(_)
                | Fact::AttemptFailed(_)
                | Fact::NodeSucceeded(_)
                | Fact::NodeFailed(_)
                | Fact::TimedOut(_)
                | Fact::Prolonged(_)
                | Fact::Intervened(_)
                | Fact::TimerFired(_)
                | Fact::Gathered(_) => {}
                Fact::Missed(gap) => observed::note_gap(&mut transaction, &event.execution_id, gap).await?,
            }
        }
        let mut written = rows::rows(events).peekable();
        while written.peek().is_some() {
            let mut encoded = Vec::with_capacity(ROWS_PER_INSERT);
            for written in written.by_ref().take(ROWS_PER_INSERT) {
                let body = payloads.encode(&mut transaction, written).await?;
                let row = execution_row(&mut transaction, rows, &written.event.execution_id).await?;
                encoded.push((row, written.event.seq.cast_signed(), written.event.at, body));
            }
            let insert = match encoded.len() {
                ROWS_PER_INSERT => sqlx::query(FULL_INSERT.as_str()),
                rows => sqlx::query(AssertSqlSafe(insert_of(rows))).persistent(false),
            };
            let bind = |insert: Insert, (execution, seq, at, body): (i64, i64, i64, String)| {
                insert.bind(execution).bind(seq).bind(at).bind(body)
            };
            encoded.into_iter().fold(insert, bind).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        for event in events.iter().filter(|event| matches!(event.fact, Fact::ExecutionEnded(_))) {
            rows.remove(&event.execution_id);
        }
        Ok(())
    }
}

async fn insert_execution(
    connection: &mut SqliteConnection,
    event: &Event,
    started: &ExecutionStarted,
) -> Result<i64, sqlx::Error> {
    let summary = serde_json::to_string(&summary(event, started))
        .map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    let done = sqlx::query("INSERT INTO executions (execution_id, started_at, summary) VALUES (?, ?, ?)")
        .bind(event.execution_id.as_str())
        .bind(event.at)
        .bind(summary)
        .execute(connection)
        .await?;
    Ok(done.last_insert_rowid())
}

async fn end_execution(
    connection: &mut SqliteConnection,
    event: &Event,
    ended: &ExecutionEnded,
) -> Result<(), sqlx::Error> {
    let encode = |error: serde_json::Error| sqlx::Error::Encode(Box::new(error));
    let query = "UPDATE executions SET ended_at = ?1, summary = json_set(summary, '$.ended_at', ?1, '$.phase', \
                 json(?2), '$.error', json(?3)) WHERE execution_id = ?4";
    sqlx::query(query)
        .bind(event.at)
        .bind(serde_json::to_string(&ended.status).map_err(encode)?)
        .bind(serde_json::to_string(&ended.error).map_err(encode)?)
        .bind(event.execution_id.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

/// The row of an execution that was started by an earlier process is looked up once.
async fn execution_row(
    connection: &mut SqliteConnection,
    rows: &mut HashMap<ExecutionId, i64>,
    execution: &ExecutionId,
) -> Result<i64, sqlx::Error> {
    if let Some(row) = rows.get(execution) {
        return Ok(*row);
    }
    let found = sqlx::query("SELECT id FROM executions WHERE execution_id = ?")
        .bind(execution.as_str())
        .fetch_one(connection)
        .await?;
    let row = found.get(0);
    rows.insert(execution.clone(), row);
    Ok(row)
}
