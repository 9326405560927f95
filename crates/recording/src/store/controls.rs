//! Breakpoints, pins and mocks of workflows.

use std::collections::BTreeMap;

use protocol::{Controls, Millis, Mock, NodeId};
use sqlx::Row;

use super::{Store, StoreError};

impl Store {
    /// What is set for a workflow.
    pub async fn controls(&self, workflow: &str) -> Result<Controls, StoreError> {
        let row = sqlx::query("SELECT body FROM controls WHERE workflow = ?")
            .bind(workflow)
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        row.map_or_else(|| Ok(Controls::default()), |row| self.decode(row.get::<&str, _>(0)))
    }

    /// When the pins and mocks of each node were set, changed or removed last.
    pub async fn mocks_changed(&self, workflow: &str) -> Result<BTreeMap<NodeId, Millis>, StoreError> {
        let row = sqlx::query("SELECT mocks_changed FROM controls WHERE workflow = ?")
            .bind(workflow)
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        row.map_or_else(|| Ok(BTreeMap::new()), |row| self.decode(row.get::<&str, _>(0)))
    }

    pub async fn set_controls(
        &self,
        workflow: &str,
        controls: &Controls,
        at: Millis,
    ) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let encode = |error: serde_json::Error| StoreError::query(error.to_string());
        let body = serde_json::to_string(controls).map_err(encode)?;
        // Nobody else changes it meanwhile.
        let mut writer = writer.lock().await;
        let before = self.controls(workflow).await?.mocks;
        let mut changed = self.mocks_changed(workflow).await?;
        changed.extend(differing(&before, &controls.mocks).map(|node| (node.clone(), at)));
        let query = "INSERT INTO controls (workflow, changed_at, body, mocks_changed) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (workflow) DO UPDATE SET changed_at = ?2, body = ?3, mocks_changed = ?4";
        sqlx::query(query)
            .bind(workflow)
            .bind(at)
            .bind(body)
            .bind(serde_json::to_string(&changed).map_err(encode)?)
            .execute(&mut writer.connection)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(())
    }
}

/// Nodes whose pins and mocks are not the same.
fn differing<'m>(before: &'m [Mock], now: &'m [Mock]) -> impl Iterator<Item = &'m NodeId> {
    let gone = before.iter().filter(|mock| !now.contains(mock));
    let new = now.iter().filter(|mock| !before.contains(mock));
    gone.chain(new).map(|mock| &mock.node_id)
}
