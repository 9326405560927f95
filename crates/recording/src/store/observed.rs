//! Executions that run elsewhere and are looked at. They lie beside our own, marked; those that nobody wants to keep are
//! here only in passing.

use protocol::{Event, ExecutionId, Observed};
use sqlx::Row;

use super::{Store, StoreError, payloads, upkeep};

/// The mark of what is here in passing. It stands in the summary, where a list does not read it.
const PASSING: &str = "$.passing";

impl Store {
    /// Events of executions that run elsewhere, as they may be shown and written.
    pub fn hide_observed(&self, events: &[Event]) -> Vec<Event> {
        self.redaction.for_observed().hide(events).into_owned()
    }

    /// How far an execution is recorded, and where it was looked at if it does not run here.
    pub async fn standing(
        &self,
        execution: &ExecutionId,
    ) -> Result<Option<(u64, Option<Observed>)>, StoreError> {
        let Some(known) = self.known(execution).await? else { return Ok(None) };
        let row = sqlx::query("SELECT summary ->> '$.observed' FROM executions WHERE id = ?")
            .bind(known.row)
            .fetch_one(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let observed = row.get::<Option<&str>, _>(0).map(|text| self.decode(text)).transpose()?;
        Ok(Some((known.last, observed)))
    }

    /// From now on these are kept, or only here in passing.
    pub async fn keep_observed(&self, executions: &[ExecutionId], keep: bool) -> Result<(), StoreError> {
        let query = match keep {
            true => "UPDATE executions SET summary = json_remove(summary, ?1) WHERE execution_id = ?2",
            false => "UPDATE executions SET summary = json_set(summary, ?1, 1) WHERE execution_id = ?2",
        };
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        for id in executions {
            sqlx::query(query)
                .bind(PASSING)
                .bind(id.as_str())
                .execute(&mut writer.connection)
                .await
                .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        }
        Ok(())
    }

    /// Removes what was here in passing; says what that was.
    pub async fn remove_passing(&self) -> Result<Vec<ExecutionId>, StoreError> {
        let rows = sqlx::query("SELECT execution_id FROM executions WHERE summary ->> ? = 1")
            .bind(PASSING)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let passing: Vec<ExecutionId> =
            rows.iter().map(|row| ExecutionId::from(row.get::<&str, _>(0))).collect();
        self.remove(&passing).await?;
        Ok(passing)
    }

    /// Removes executions, whether they have ended or not.
    pub async fn remove(&self, executions: &[ExecutionId]) -> Result<(), StoreError> {
        if executions.is_empty() {
            return Ok(());
        }
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let mut writer = writer.lock().await;
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        // What is known to be stored may be gone afterwards.
        writer.payloads = payloads::Interned::default();
        for id in executions {
            writer.rows.remove(id);
            let row = sqlx::query("SELECT id FROM executions WHERE execution_id = ?")
                .bind(id.as_str())
                .fetch_optional(&mut writer.connection)
                .await
                .map_err(wrap)?;
            if let Some(row) = row {
                upkeep::remove(&mut writer.connection, row.get(0)).await.map_err(wrap)?;
            }
        }
        upkeep::sweep(&mut writer.connection).await.map_err(wrap)?;
        drop(writer);
        self.side.clear().await;
        Ok(())
    }
}
