//! Looking after a store: is it sound, does it hold what nobody needs, is it too large.

use std::collections::HashSet;

use protocol::{ExecutionId, Millis};
use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use super::{Store, StoreError, Writer, pack, payloads};
use crate::Ledger;

/// Complaints that are listed; the others are counted.
const LISTED: usize = 100;
/// Rows that are looked at between two commits.
const BATCH: i64 = 500;

/// Whoever a fork under way comes from has answers that the fork still needs.
pub(super) const UNNEEDED: &str = "execution_id NOT IN (SELECT summary ->> '$.origin.parent' FROM executions \
                        WHERE ended_at IS NULL AND summary ->> '$.origin.parent' IS NOT NULL)";

/// What was looked at, and what is wrong.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Checked {
    pub executions: usize,
    pub events: usize,
    pub payloads: usize,
    /// The first hundred.
    pub complaints: Vec<String>,
    pub complaint_count: usize,
}

/// What a clean-up has done.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Cleaned {
    /// Executions that were removed, oldest first.
    pub removed: Vec<ExecutionId>,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

/// Which executions may go. One that has not ended always stays, and so does the one it is a fork of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prune {
    /// Those that ended before this moment.
    pub ended_before: Option<Millis>,
    /// The oldest, until the store is no larger than this.
    pub most_bytes: Option<u64>,
}

impl Store {
    /// Reads everything there is and says what does not add up.
    pub async fn check(&self) -> Result<Checked, StoreError> {
        let mut checked = Checked::default();
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let rows = sqlx::query("PRAGMA integrity_check(100)").fetch_all(&self.readers).await.map_err(wrap)?;
        let said = rows.iter().map(|row| row.get::<String, _>(0)).filter(|line| line != "ok");
        said.for_each(|line| checked.complain(line));
        self.check_payloads(&mut checked).await?;
        let query = "SELECT execution_id, ended_at IS NOT NULL FROM executions ORDER BY id";
        for row in sqlx::query(query).fetch_all(&self.readers).await.map_err(wrap)? {
            let ended: bool = row.get(1);
            self.check_execution(&ExecutionId::from(row.get::<&str, _>(0)), ended, &mut checked).await;
        }
        Ok(checked)
    }

    /// Removes executions and gives their room back.
    pub async fn prune(&self, prune: Prune) -> Result<Cleaned, StoreError> {
        let mut writer = self.upkeep().await?;
        let result = writer.prune(prune).await;
        self.side.clear().await;
        result.map_err(|error| StoreError::from_sqlx(&self.path, error))
    }

    /// Packs what is not packed, removes payloads that nothing refers to, and gives their room back.
    pub async fn compact(&self) -> Result<Cleaned, StoreError> {
        let mut writer = self.upkeep().await?;
        writer.compact().await.map_err(|error| StoreError::from_sqlx(&self.path, error))
    }

    /// Removes payloads that nothing refers to.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        let mut writer = self.upkeep().await?;
        sweep(&mut writer.connection).await.map_err(|error| StoreError::from_sqlx(&self.path, error))
    }

    /// What is in it takes so much; a file does not shrink when something is removed.
    pub async fn used_bytes(&self) -> Result<u64, StoreError> {
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let mut reader = self.readers.acquire().await.map_err(wrap)?;
        used_bytes(&mut reader).await.map_err(wrap)
    }

    async fn upkeep(&self) -> Result<tokio::sync::MutexGuard<'_, Writer>, StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        // What is known to be stored may be gone afterwards.
        writer.payloads = payloads::Interned::default();
        Ok(writer)
    }

    async fn check_payloads(&self, checked: &mut Checked) -> Result<(), StoreError> {
        let mut after = String::new();
        loop {
            let rows =
                sqlx::query("SELECT hash, body, packed FROM payloads WHERE hash > ? ORDER BY hash LIMIT ?")
                    .bind(&after)
                    .bind(BATCH)
                    .fetch_all(&self.readers)
                    .await
                    .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.get(0);
            for row in &rows {
                checked.payloads += 1;
                let hash: &str = row.get(0);
                match payloads::text_of(row) {
                    Ok(text) if blake3::hash(text.as_bytes()).to_hex().as_str() == hash => {}
                    Ok(_) => checked.complain(format!("payload {hash} is not what its hash says")),
                    Err(error) => checked.complain(format!("payload {hash}: {error}")),
                }
            }
        }
    }

    async fn check_execution(&self, id: &ExecutionId, ended: bool, checked: &mut Checked) {
        checked.executions += 1;
        let events = match self.events(id).await {
            Ok(events) => events,
            Err(error) => return checked.complain(format!("execution {id}: {error}")),
        };
        checked.events += events.len();
        match Ledger::replay(&events) {
            Ok(ledger) if ledger.is_ended() == ended => {}
            Ok(_) => checked.complain(format!("execution {id}: the list and its events disagree on its end")),
            Err(error) => checked.complain(error.to_string()),
        }
    }
}

impl Checked {
    pub fn is_sound(&self) -> bool {
        self.complaint_count == 0
    }

    fn complain(&mut self, complaint: String) {
        self.complaint_count += 1;
        if self.complaints.len() < LISTED {
            self.complaints.push(complaint);
        }
    }
}

impl Writer {
    async fn prune(&mut self, prune: Prune) -> Result<Cleaned, sqlx::Error> {
        let connection = &mut self.connection;
        let bytes_before = file_bytes(connection).await?;
        let mut removed = Vec::new();
        if let Some(moment) = prune.ended_before {
            let query = format!(
                "SELECT id, execution_id FROM executions WHERE ended_at < ? AND {UNNEEDED} ORDER BY ended_at, id"
            );
            let old = sqlx::query(AssertSqlSafe(query)).bind(moment).fetch_all(&mut *connection).await?;
            for row in &old {
                remove(connection, row.get(0)).await?;
                removed.push(ExecutionId::from(row.get::<&str, _>(1)));
            }
            sweep(connection).await?;
        }
        if let Some(most) = prune.most_bytes {
            while used_bytes(connection).await? > most {
                let too_many = used_bytes(connection).await? - most;
                let gone = remove_oldest(connection, too_many).await?;
                if gone.is_empty() {
                    break;
                }
                removed.extend(gone);
                sweep(connection).await?;
            }
        }
        give_back(connection).await?;
        Ok(Cleaned { removed, bytes_before, bytes_after: file_bytes(connection).await? })
    }

    async fn compact(&mut self) -> Result<Cleaned, sqlx::Error> {
        let connection = &mut self.connection;
        let bytes_before = file_bytes(connection).await?;
        sweep(connection).await?;
        pack_all(connection).await?;
        give_back(connection).await?;
        Ok(Cleaned { removed: Vec::new(), bytes_before, bytes_after: file_bytes(connection).await? })
    }
}

/// Removes the oldest executions that have ended, at least one, until their events make up half of what is too many.
async fn remove_oldest(
    connection: &mut SqliteConnection,
    too_many: u64,
) -> Result<Vec<ExecutionId>, sqlx::Error> {
    let mut gone = Vec::new();
    let mut bytes = 0;
    while gone.is_empty() || bytes < too_many / 2 {
        let query = format!(
            "SELECT id, execution_id, \
             (SELECT coalesce(sum(length(body)), 0) FROM events WHERE execution = executions.id) \
             FROM executions WHERE ended_at IS NOT NULL AND {UNNEEDED} ORDER BY ended_at, id LIMIT 1"
        );
        let Some(row) = sqlx::query(AssertSqlSafe(query)).fetch_optional(&mut *connection).await? else {
            break;
        };
        remove(connection, row.get(0)).await?;
        gone.push(ExecutionId::from(row.get::<&str, _>(1)));
        bytes += row.get::<i64, _>(2).unsigned_abs();
    }
    Ok(gone)
}

/// All of an execution, or nothing of it.
pub(super) async fn remove(connection: &mut SqliteConnection, row: i64) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    for statement in [
        "DELETE FROM holds WHERE execution_id = (SELECT execution_id FROM executions WHERE id = ?)",
        "DELETE FROM notes WHERE execution = ?",
        "DELETE FROM events WHERE execution = ?",
        "DELETE FROM executions WHERE id = ?",
    ] {
        sqlx::query(statement).bind(row).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

/// Removes payloads that no event refers to.
pub(super) async fn sweep(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut wanted: HashSet<String> = HashSet::new();
    let mut after = (i64::MIN, i64::MIN);
    loop {
        let query = "SELECT execution, seq, body FROM events WHERE (execution, seq) > (?, ?) \
                     AND body LIKE '%{\"$payload\":%' ORDER BY execution, seq LIMIT ?";
        let rows =
            sqlx::query(query).bind(after.0).bind(after.1).bind(BATCH).fetch_all(&mut *connection).await?;
        let Some(last) = rows.last() else { break };
        after = (last.get(0), last.get(1));
        rows.iter().for_each(|row| wanted.extend(payloads::marked(row.get(2)).map(str::to_owned)));
    }
    let stored = sqlx::query("SELECT hash FROM payloads").fetch_all(&mut *connection).await?;
    let mut transaction = connection.begin().await?;
    for hash in stored.iter().map(|row| row.get::<&str, _>(0)).filter(|hash| !wanted.contains(*hash)) {
        sqlx::query("DELETE FROM payloads WHERE hash = ?").bind(hash).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

/// Packs payloads that an older Runeglass has written.
async fn pack_all(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut after = String::new();
    loop {
        let query = "SELECT hash, body FROM payloads WHERE hash > ? AND packed IS NULL ORDER BY hash LIMIT ?";
        let rows = sqlx::query(query).bind(&after).bind(BATCH).fetch_all(&mut *connection).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.get(0);
        let mut transaction = connection.begin().await?;
        for row in &rows {
            if let Some(packed) = pack::pack(row.get(1)) {
                sqlx::query("UPDATE payloads SET body = '', packed = ? WHERE hash = ?")
                    .bind(packed)
                    .bind(row.get::<&str, _>(0))
                    .execute(&mut *transaction)
                    .await?;
            }
        }
        transaction.commit().await?;
    }
}

async fn give_back(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("VACUUM").execute(&mut *connection).await?;
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(connection).await?;
    Ok(())
}

/// The pages that hold something.
async fn used_bytes(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    let free = pragma(connection, "PRAGMA freelist_count").await?;
    let size = pragma(connection, "PRAGMA page_size").await?;
    Ok(file_bytes(connection).await?.saturating_sub(free * size))
}

async fn file_bytes(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    Ok(pragma(connection, "PRAGMA page_count").await? * pragma(connection, "PRAGMA page_size").await?)
}

async fn pragma(connection: &mut SqliteConnection, name: &'static str) -> Result<u64, sqlx::Error> {
    Ok(sqlx::query(name).fetch_one(connection).await?.try_get::<i64, _>(0)?.unsigned_abs())
}
