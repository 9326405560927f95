//! One execution as one file (`.runeglass`): a store that holds nothing else. Whoever opens one may have it from a
//! stranger, so it is looked at before anything in it is believed, and nothing in it is ever executed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::{Event, ExecutionId, Note};
use sqlx::{
    Row, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use super::{
    Access, Store, StoreError,
    file::{self, Found, beside},
    migrate, side,
};
use crate::{Ledger, Redaction};

/// A file that is larger is not opened.
const LARGEST_FILE: u64 = 4 << 30;
/// More events than this are not read.
const MOST_EVENTS: i64 = 5_000_000;
/// No event and no payload is larger.
const LARGEST_ROW: i64 = 256 << 20;
/// All payloads together, unpacked, are not larger.
const MOST_UNPACKED: u64 = 4 << 30;
/// SQLite may take so many turns of ten thousand instructions; a file that asks for more is up to something.
const MOST_TURNS: u64 = 2_000_000;
/// The first format of exported files.
const OLDEST_FORMAT: i32 = 2;
/// Events that are written at once.
const GROUP: usize = 2_000;

/// What a file holds.
#[derive(Debug)]
pub struct Case {
    pub events: Vec<Event>,
    pub notes: Vec<Note>,
}

impl Case {
    pub fn execution_id(&self) -> ExecutionId {
        self.events.first().map_or_else(|| ExecutionId::from(""), |event| event.execution_id.clone())
    }
}

/// Writes a file that [`read_case`] reads. There is never half a file.
pub async fn write_case(path: &Path, case: &Case) -> Result<(), StoreError> {
    let part = beside(path, "part");
    remove(&part);
    let written = write(&part, case).await;
    let moved =
        written.and_then(|()| fs::rename(&part, path).map_err(|error| StoreError::from_io(path, &error)));
    remove(&part);
    moved
}

/// Reads a file without trusting it.
pub async fn read_case(path: &Path) -> Result<Case, StoreError> {
    let shown = path.display().to_string();
    let refused = |detail: String| StoreError::Refused { path: shown.clone(), detail };
    let found = file::inspect(path).map_err(|error| match error {
        StoreError::NotOurs { path, detail } => StoreError::Refused { path, detail },
        other => other,
    })?;
    let Found::Ours { format } = found else { return Err(StoreError::Missing { path: shown.clone() }) };
    if !(OLDEST_FORMAT..=migrate::SCHEMA_VERSION).contains(&format) {
        return Err(refused(format!("it has format {format}, which no exported file has")));
    }
    let bytes = fs::metadata(path).map_err(|error| StoreError::from_io(path, &error))?.len();
    if bytes > LARGEST_FILE {
        return Err(refused(format!("it has {bytes} bytes")));
    }
    let store = Store {
        path: shown.clone(),
        writer: None,
        readers: guarded(path),
        side: side::Side::none(),
        redaction: Redaction::default(),
        _lock: None,
    };
    // Whatever SQLite has to say about such a file, it is not shown.
    let case = store.read_case().await.map_err(|error| match error {
        StoreError::Refused { .. } | StoreError::Missing { .. } => error,
        other => refused(other.to_string()),
    })?;
    let replayed = Ledger::replay(&case.events);
    replayed.map_err(|error| refused(error.to_string()))?;
    Ok(case)
}

impl Store {
    /// An execution with everything that belongs to it; `None` if it is unknown.
    pub async fn case(&self, execution: &ExecutionId) -> Result<Option<Case>, StoreError> {
        let events = self.events(execution).await?;
        let notes = self.notes(execution).await?;
        Ok((!events.is_empty()).then_some(Case { events, notes }))
    }

    /// Takes in an execution from a file. One that is here already is refused, and so is one that has not ended: it
    /// would go on here.
    pub async fn import(&self, case: &Case) -> Result<(), StoreError> {
        let id = case.execution_id();
        if self.known(&id).await?.is_some() {
            let detail = format!("the execution {id} is in this store already");
            return Err(StoreError::NotImported { detail });
        }
        if !Ledger::replay(&case.events).is_ok_and(|ledger| ledger.is_ended()) {
            let detail = format!("the execution {id} has not ended, and would go on here");
            return Err(StoreError::NotImported { detail });
        }
        self.append(&case.events).await?;
        for note in &case.notes {
            self.add_note(note).await?;
        }
        Ok(())
    }

    async fn read_case(&self) -> Result<Case, StoreError> {
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let refused = |detail: String| StoreError::Refused { path: self.path.clone(), detail };
        let mut connection = self.readers.acquire().await.map_err(wrap)?;
        let format = migrate::version(&mut connection).await.map_err(wrap)?;
        let expected = migrate::schema_of(format).await.map_err(wrap)?;
        let found = migrate::schema(&mut connection).await.map_err(wrap)?;
        if let Some(odd) = found.iter().find(|entry| !expected.contains(entry)) {
            return Err(refused(format!("it holds a {} {:?} that no exported file has", odd[0], odd[1])));
        }
        if found.len() != expected.len() {
            return Err(refused("it lacks a table".to_owned()));
        }
        let check = sqlx::query("PRAGMA quick_check(1)").fetch_one(&mut *connection).await.map_err(wrap)?;
        let said: String = check.try_get(0).map_err(wrap)?;
        if said != "ok" {
            return Err(refused(said));
        }
        let query = "SELECT (SELECT count(*) FROM executions), (SELECT count(*) FROM events), \
                     (SELECT coalesce(max(length(body)), 0) FROM events), \
                     (SELECT coalesce(max(max(length(body), coalesce(length(packed), 0))), 0) FROM payloads), \
                     (SELECT count(*) FROM notes)";
        let row = sqlx::query(query).fetch_one(&mut *connection).await.map_err(wrap)?;
        let number = |at: usize| row.try_get::<i64, _>(at).map_err(wrap);
        let (executions, events, notes) = (number(0)?, number(1)?, number(4)?);
        let largest = number(2)?.max(number(3)?);
        if executions != 1 || events > MOST_EVENTS || notes > 100_000 {
            return Err(refused(format!("it holds {executions} executions, {events} events, {notes} notes")));
        }
        if largest > LARGEST_ROW {
            return Err(refused(format!("one row has {largest} bytes")));
        }
        let unpacked = unpacked_bytes(&mut connection).await.map_err(wrap)?;
        if unpacked > MOST_UNPACKED {
            return Err(refused(format!("its payloads claim to be {unpacked} bytes")));
        }
        let row = sqlx::query("SELECT execution_id FROM executions").fetch_one(&mut *connection).await;
        let id: String = row.map_err(wrap)?.try_get(0).map_err(wrap)?;
        drop(connection);
        let id = ExecutionId::from(id);
        if !is_plain(id.as_str()) {
            return Err(refused("its id is not one of ours".to_owned()));
        }
        let case = self.case(&id).await?;
        case.ok_or_else(|| refused("it holds no events".to_owned()))
    }
}

/// What packed payloads say they become, before any of them is unpacked.
async fn unpacked_bytes(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    let query = "SELECT substr(packed, 1, 4) FROM payloads WHERE packed IS NOT NULL";
    let mut bytes = 0;
    for row in sqlx::query(query).fetch_all(connection).await? {
        let said: Vec<u8> = row.try_get(0)?;
        // One that is cut off is refused when it is unpacked.
        bytes += said.first_chunk::<4>().map_or(0, |said| u64::from(u32::from_le_bytes(*said)));
    }
    Ok(bytes)
}

/// An id is shown, compared and put into addresses.
fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=128).contains(&id.len()) && id.bytes().all(plain)
}

async fn write(part: &Path, case: &Case) -> Result<(), StoreError> {
    let store = Store::open(part, Access::Write).await?;
    for group in case.events.chunks(GROUP) {
        store.append(group).await?;
    }
    for note in &case.notes {
        store.add_note(note).await?;
    }
    store.close_as_one_file().await
}

/// Connections that read this one file and can do nothing else.
fn guarded(path: &Path) -> SqlitePool {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .read_only(true)
        // Neither a log nor a journal beside the file counts.
        .immutable(true)
        .foreign_keys(false)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        .pragma("mmap_size", "0")
        .pragma("query_only", "ON");
    let turns = Arc::new(AtomicU64::new(0));
    SqlitePoolOptions::new()
        .max_connections(1)
        .after_connect(move |connection, _| {
            let turns = Arc::clone(&turns);
            Box::pin(async move {
                let mut handle = connection.lock_handle().await?;
                handle
                    .set_progress_handler(10_000, move || turns.fetch_add(1, Ordering::Relaxed) < MOST_TURNS);
                Ok(())
            })
        })
        .connect_lazy_with(options)
}

impl Store {
    /// Everything in the one file, nothing beside it.
    async fn close_as_one_file(self) -> Result<(), StoreError> {
        let Self { path, writer, readers, .. } = self;
        readers.close().await;
        let Some(writer) = writer else { return Ok(()) };
        let mut connection = writer.into_inner().connection;
        let wrap = |error| StoreError::from_sqlx(&path, error);
        let steps = "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; VACUUM";
        sqlx::raw_sql(steps).execute(&mut connection).await.map_err(wrap)?;
        sqlx::Connection::close(connection).await.map_err(wrap)
    }
}

fn remove(part: &Path) {
    let beside = |ending: &str| -> PathBuf {
        let mut name = part.as_os_str().to_owned();
        name.push(ending);
        name.into()
    };
    for file in ["", "-wal", "-shm", ".lock", ".index"].map(beside) {
        // What is not there need not be removed; what cannot be is found out when it is made anew.
        let _ = fs::remove_file(file);
    }
}
