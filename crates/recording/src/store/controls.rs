//! Breakpoints, pins and mocks of workflows.

use protocol::{Controls, Millis};
use sqlx::Row;

use super::{Store, StoreError};

impl Store {
    /// What is set for a workflow, and when that was changed last.
    pub async fn controls(&self, workflow: &str) -> Result<(Controls, Millis), StoreError> {
        let row = sqlx::query("SELECT body, changed_at FROM controls WHERE workflow = ?")
            .bind(workflow)
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        match row {
            Some(row) => Ok((self.decode(row.get::<&str, _>(0))?, row.get(1))),
            None => Ok((Controls::default(), 0)),
        }
    }

    pub async fn set_controls(
        &self,
        workflow: &str,
        controls: &Controls,
        at: Millis,
    ) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let body = serde_json::to_string(controls).map_err(|error| StoreError::query(error.to_string()))?;
        let query = "INSERT INTO controls (workflow, changed_at, body) VALUES (?1, ?2, ?3) \
                     ON CONFLICT (workflow) DO UPDATE SET changed_at = ?2, body = ?3";
        sqlx::query(query)
            .bind(workflow)
            .bind(at)
            .bind(body)
            .execute(&mut writer.lock().await.connection)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(())
    }
}
