//! What can be worked out again from the events, in a file beside the store: snapshots of views and the words of
//! payloads. It has a writer's lock of its own, so whoever fills it does not make the engine wait; it may be deleted at
//! any time; and where it cannot be written everything works without it, more slowly.

use std::{
    fs::{self, OpenOptions},
    io::ErrorKind,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use protocol::ExecutionId;
use sqlx::{
    Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tokio::sync::{Mutex, MutexGuard};

use super::{file::beside, migrate};

/// Raised with every change of the tables; a file of another version is made anew.
const VERSION: i32 = 1;

pub struct Side {
    path: PathBuf,
    state: Mutex<State>,
}

enum State {
    Closed,
    Open(SqliteConnection),
    /// It could not be opened; that is not tried again.
    Absent,
}

/// The connection, for as long as somebody works with it.
pub struct Opened<'s>(MutexGuard<'s, State>);

impl Opened<'_> {
    pub fn connection(&mut self) -> Option<&mut SqliteConnection> {
        match &mut *self.0 {
            State::Open(connection) => Some(connection),
            State::Closed | State::Absent => None,
        }
    }
}

impl Side {
    pub fn of(store: &Path) -> Self {
        Self { path: beside(store, "index"), state: Mutex::new(State::Closed) }
    }

    /// None at all.
    pub fn none() -> Self {
        Self { path: PathBuf::new(), state: Mutex::new(State::Absent) }
    }

    /// Opens the file when it is first needed. `None` where it cannot be had.
    pub async fn open(&self) -> Option<Opened<'_>> {
        let mut state = self.state.lock().await;
        if matches!(*state, State::Closed) {
            *state = match open(&self.path).await {
                Ok(connection) => State::Open(connection),
                Err(error) => {
                    tracing::info!(%error, path = %self.path.display(), "there is no index beside the store");
                    State::Absent
                }
            };
        }
        matches!(*state, State::Open(_)).then_some(Opened(state))
    }

    /// Forgets these executions, and keeps what it knows of the others.
    pub async fn forget(&self, executions: &[ExecutionId]) {
        if !self.path.exists() {
            return;
        }
        let forgotten = match self.open().await {
            Some(mut side) => match side.connection() {
                Some(connection) => forget(connection, executions).await,
                None => return,
            },
            None => return,
        };
        if let Err(error) = forgotten {
            tracing::info!(%error, "the index is made anew");
            self.clear().await;
        }
    }

    /// Forgets everything; it is worked out again when it is asked for.
    pub async fn clear(&self) {
        let mut state = self.state.lock().await;
        *state = State::Closed;
        remove(&self.path);
    }
}

async fn forget(connection: &mut SqliteConnection, executions: &[ExecutionId]) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    for id in executions {
        for statement in [
            "DELETE FROM words WHERE rowid >= (SELECT id << 32 FROM indexed WHERE execution_id = ?1) \
             AND rowid < (SELECT (id + 1) << 32 FROM indexed WHERE execution_id = ?1)",
            "DELETE FROM indexed WHERE execution_id = ?1",
            "DELETE FROM snapshots WHERE execution_id = ?1",
        ] {
            sqlx::query(statement).bind(id.as_str()).execute(&mut *transaction).await?;
        }
    }
    transaction.commit().await
}

async fn open(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    match connect(path).await {
        Ok(connection) => Ok(connection),
        // Whatever is wrong with it, nothing is lost by making it anew.
        Err(error) => {
            tracing::info!(%error, "the index is made anew");
            remove(path);
            connect(path).await
        }
    }
}

async fn connect(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    // Made here so that nobody else may read it.
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Off)
        .foreign_keys(false);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    match migrate::version(&mut transaction).await? {
        0 => {
            sqlx::raw_sql(include_str!("schema/side.sql")).execute(&mut *transaction).await?;
        }
        VERSION => {}
        other => return Err(sqlx::Error::Protocol(format!("the index has version {other}"))),
    }
    transaction.commit().await?;
    Ok(connection)
}

fn remove(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::info!(%error, "the index cannot be removed");
            }
            _ => {}
        }
    }
}
