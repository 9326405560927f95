//! Executions that run elsewhere and are looked at. They lie beside our own, marked; those that nobody wants to keep are
//! here only in passing.

use protocol::{Event, ExecutionId, Gap, Millis, Observed};
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use super::{Store, StoreError, upkeep, upkeep::UNNEEDED};

/// The mark of what was seen since somebody began to look: 1 where it is here in passing, 0 where it is to be kept. It
/// stands in the summary, where a list does not read it, and not in memory, because there may be any number.
const PASSING: &str = "$.passing";
/// Executions that are asked for in one question.
const ASKED_TOGETHER: usize = 500;
/// Nobody has written a note to it.
const UNWANTED: &str = "id NOT IN (SELECT execution FROM notes)";

/// What is recorded of an execution.
pub struct Standing {
    /// How far.
    pub last: u64,
    pub started_at: Millis,
    /// Where it was looked at, if it does not run here.
    pub observed: Option<Observed>,
    /// Its end is not one of the cluster's: from some event on it could not be followed.
    pub was_lost: bool,
    /// Whether it is only here in passing; unsaid of what was recorded before somebody began to look.
    passing: Option<bool>,
    /// Somebody has written a note to it, or a fork needs it.
    is_wanted: bool,
}

impl Standing {
    /// Whether something better may stand in its place. What was kept before, or has a note, stays as it is; so does
    /// what is being recorded, unless its beginning was only guessed.
    pub fn may_be_told_anew(&self) -> bool {
        let is_guessed = self.observed.as_ref().is_some_and(|observed| observed.joined_late);
        !self.is_wanted && self.passing.is_some_and(|passing| passing || is_guessed)
    }
}

/// Writes into the summary that something went by unseen, so that a list shows it.
pub(super) async fn note_gap(
    connection: &mut SqliteConnection,
    execution: &ExecutionId,
    gap: &Gap,
) -> Result<(), sqlx::Error> {
    let row = sqlx::query("SELECT summary ->> '$.observed' FROM executions WHERE execution_id = ?")
        .bind(execution.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    let Some(known) = row.as_ref().and_then(|row| row.get::<Option<&str>, _>(0)) else { return Ok(()) };
    let mut observed: Observed =
        serde_json::from_str(known).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    observed.miss(gap);
    write_gaps(connection, execution.as_str(), &observed).await
}

async fn write_gaps(
    connection: &mut SqliteConnection,
    execution: &str,
    observed: &Observed,
) -> Result<(), sqlx::Error> {
    let gaps = serde_json::to_string(&observed.gaps).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    let query = "UPDATE executions SET summary = json_set(summary, '$.observed.gaps', json(?1)) WHERE execution_id = ?2";
    sqlx::query(query).bind(gaps).bind(execution).execute(connection).await?;
    Ok(())
}

impl Store {
    /// Makes of events of executions that run elsewhere what may be shown and written.
    pub fn hide_observed(&self, events: &mut [Event]) {
        self.redaction.for_observed().hide_in(events);
    }

    /// Appends what [`Store::hide_observed`] has gone through: it hides all that is hidden in what is ours, and more.
    pub async fn append_observed(&self, events: &[Event]) -> Result<(), StoreError> {
        self.write(events).await
    }

    /// Those of these executions that something is recorded of.
    pub async fn recorded_among(&self, executions: &[ExecutionId]) -> Result<Vec<ExecutionId>, StoreError> {
        let mut found = Vec::new();
        for some in executions.chunks(ASKED_TOGETHER) {
            let marks = vec!["?"; some.len()].join(", ");
            let query = format!("SELECT execution_id FROM executions WHERE execution_id IN ({marks})");
            let query = sqlx::query(AssertSqlSafe(query)).persistent(false);
            let query = some.iter().fold(query, |query, id| query.bind(id.as_str().to_owned()));
            let rows = query.fetch_all(&self.readers).await;
            let rows = rows.map_err(|error| StoreError::from_sqlx(&self.path, error))?;
            found.extend(rows.iter().map(|row| ExecutionId::from(row.get::<&str, _>(0))));
        }
        Ok(found)
    }

    /// What is recorded of an execution, if anything.
    pub async fn standing(&self, execution: &ExecutionId) -> Result<Option<Standing>, StoreError> {
        let Some(known) = self.known(execution).await? else { return Ok(None) };
        let query = format!(
            "SELECT started_at, summary ->> '$.observed', summary ->> ?1, NOT ({UNWANTED} AND {UNNEEDED}), \
             summary ->> '$.error.code' IS 'NOT_OBSERVED' FROM executions WHERE id = ?2"
        );
        let row = sqlx::query(AssertSqlSafe(query))
            .bind(PASSING)
            .bind(known.row)
            .fetch_one(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let observed = row.get::<Option<&str>, _>(1).map(|text| self.decode(text)).transpose()?;
        let passing = row.get::<Option<i64>, _>(2).map(|mark| mark == 1);
        let (last, started_at, is_wanted, was_lost) = (known.last, row.get(0), row.get(3), row.get(4));
        Ok(Some(Standing { last, started_at, observed, was_lost, passing, is_wanted }))
    }

    /// These were seen; they are kept, or only here in passing.
    pub async fn mark_observed(&self, executions: &[ExecutionId], keep: bool) -> Result<(), StoreError> {
        let query = "UPDATE executions SET summary = json_set(summary, ?1, ?2) WHERE execution_id = ?3";
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let mut transaction = writer.connection.begin().await.map_err(wrap)?;
        for id in executions {
            let mark = sqlx::query(query).bind(PASSING).bind(i64::from(!keep)).bind(id.as_str());
            mark.execute(&mut *transaction).await.map_err(wrap)?;
        }
        transaction.commit().await.map_err(wrap)
    }

    /// Everything that was seen until now is kept.
    pub async fn keep_observed(&self) -> Result<(), StoreError> {
        let query = "UPDATE executions SET summary = json_set(summary, ?1, 0) WHERE summary ->> ?1 = 1";
        self.change_marks(sqlx::query(query).bind(PASSING)).await
    }

    async fn change_marks(
        &self,
        change: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        let changed = change.execute(&mut writer.connection).await;
        changed.map(drop).map_err(|error| StoreError::from_sqlx(&self.path, error))
    }

    /// Nobody looks any more: removes what was here in passing, and says what that was. What somebody has written a note
    /// to, or forked and still needs, is kept from now on.
    pub async fn remove_passing(&self) -> Result<Vec<ExecutionId>, StoreError> {
        let query = format!(
            "SELECT execution_id FROM executions WHERE summary ->> ? = 1 AND {UNWANTED} AND {UNNEEDED}"
        );
        let rows = sqlx::query(AssertSqlSafe(query))
            .bind(PASSING)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let passing: Vec<ExecutionId> =
            rows.iter().map(|row| ExecutionId::from(row.get::<&str, _>(0))).collect();
        self.remove(&passing).await?;
        let query =
            "UPDATE executions SET summary = json_remove(summary, ?1) WHERE summary ->> ?1 IS NOT NULL";
        self.change_marks(sqlx::query(query).bind(PASSING)).await?;
        Ok(passing)
    }

    /// Nobody looks any more: what has not ended may go on unseen since this moment, or since the last that is recorded
    /// of it. This is no event, because logs of workers are gone on with by the numbers of their own events.
    pub async fn leave_observed(&self, at: Option<Millis>) -> Result<(), StoreError> {
        let query = "SELECT execution_id, summary ->> '$.observed', started_at, \
                     (SELECT at FROM events WHERE execution = executions.id ORDER BY seq DESC LIMIT 1) \
                     FROM executions WHERE ended_at IS NULL AND summary ->> '$.observed' IS NOT NULL";
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let rows = sqlx::query(query).fetch_all(&self.readers).await.map_err(wrap)?;
        let mut left = Vec::new();
        for row in &rows {
            let mut observed: Observed = self.decode(row.get(1))?;
            let last = row.get::<Option<Millis>, _>(3).unwrap_or_else(|| row.get(2));
            if observed.leave(at.unwrap_or(last)) {
                left.push((row.get::<&str, _>(0), observed));
            }
        }
        self.write_all_gaps(&left).await
    }

    /// Somebody looks again and reads all that happened meanwhile.
    pub async fn look_again(&self, execution: &ExecutionId) -> Result<(), StoreError> {
        let observed = self.standing(execution).await?.and_then(|standing| standing.observed);
        let Some(mut observed) = observed else { return Ok(()) };
        match observed.look_again() {
            true => self.write_all_gaps(&[(execution.as_str(), observed)]).await,
            false => Ok(()),
        }
    }

    async fn write_all_gaps(&self, of: &[(&str, Observed)]) -> Result<(), StoreError> {
        if of.is_empty() {
            return Ok(());
        }
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let mut transaction = writer.connection.begin().await.map_err(wrap)?;
        for (execution, observed) in of {
            write_gaps(&mut transaction, execution, observed).await.map_err(wrap)?;
        }
        transaction.commit().await.map_err(wrap)
    }

    /// Removes so many of what has ended and is here in passing, the oldest first, and says what that was. These stay,
    /// and so does what somebody has written a note to, or forked and still needs. Nothing is swept: to go through
    /// everything takes a while, and they come often.
    pub async fn remove_oldest_passing(
        &self,
        count: usize,
        except: &[ExecutionId],
    ) -> Result<Vec<ExecutionId>, StoreError> {
        let marks = vec!["?"; except.len()].join(", ");
        let query = format!(
            "SELECT execution_id FROM executions WHERE ended_at IS NOT NULL AND summary ->> ? = 1 \
             AND {UNWANTED} AND execution_id NOT IN ({marks}) AND {UNNEEDED} \
             ORDER BY ended_at, id LIMIT ?"
        );
        let query = sqlx::query(AssertSqlSafe(query)).persistent(false).bind(PASSING);
        let query = except.iter().fold(query, |query, id| query.bind(id.as_str().to_owned()));
        let rows = query.bind(i64::try_from(count).unwrap_or(i64::MAX)).fetch_all(&self.readers).await;
        let rows = rows.map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let oldest: Vec<ExecutionId> =
            rows.iter().map(|row| ExecutionId::from(row.get::<&str, _>(0))).collect();
        if !oldest.is_empty() {
            self.remove_rows(&oldest).await?;
        }
        Ok(oldest)
    }

    /// Removes executions, whether they have ended or not.
    pub async fn remove(&self, executions: &[ExecutionId]) -> Result<(), StoreError> {
        if executions.is_empty() {
            return Ok(());
        }
        self.remove_rows(executions).await?;
        self.sweep().await
    }

    /// The same, and nothing of them stays in the file either: what is told anew may have held secrets that nobody knew.
    pub async fn erase(&self, executions: &[ExecutionId]) -> Result<(), StoreError> {
        if executions.is_empty() {
            return Ok(());
        }
        self.order("PRAGMA secure_delete = ON").await?;
        let removed = self.remove(executions).await;
        self.order("PRAGMA secure_delete = FAST; PRAGMA wal_checkpoint(TRUNCATE)").await?;
        removed
    }

    async fn order(&self, pragmas: &'static str) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let done = sqlx::raw_sql(pragmas).execute(&mut writer.lock().await.connection).await;
        done.map(drop).map_err(|error| StoreError::from_sqlx(&self.path, error))
    }

    /// Removes executions; payloads that only they referred to stay until somebody sweeps.
    async fn remove_rows(&self, executions: &[ExecutionId]) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        writer.rows.retain(|id, _| !executions.contains(id));
        let mut transaction = writer.connection.begin().await.map_err(wrap)?;
        for id in executions {
            let row = sqlx::query("SELECT id FROM executions WHERE execution_id = ?")
                .bind(id.as_str())
                .fetch_optional(&mut *transaction)
                .await
                .map_err(wrap)?;
            if let Some(row) = row {
                upkeep::remove(&mut transaction, row.get(0)).await.map_err(wrap)?;
            }
        }
        transaction.commit().await.map_err(wrap)?;
        drop(writer);
        self.side.forget(executions).await;
        Ok(())
    }
}
