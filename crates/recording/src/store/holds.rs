//! How executions are held. What that means is a matter of the gate; here it is kept.

use protocol::ExecutionId;
use serde::{Serialize, de::DeserializeOwned};
use sqlx::Row;

use super::{Store, StoreError};

impl Store {
    /// How an execution was held; `None` where it was not.
    pub async fn holds<H: DeserializeOwned>(&self, execution: &ExecutionId) -> Result<Option<H>, StoreError> {
        let row = sqlx::query("SELECT body FROM holds WHERE execution_id = ?")
            .bind(execution.as_str())
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        row.map(|row| self.decode(row.get::<&str, _>(0))).transpose()
    }

    /// Keeps how executions are held, all of them or none; `None` forgets it.
    pub async fn set_holds<H: Serialize>(&self, all: &[(ExecutionId, Option<H>)]) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let encode = |error: serde_json::Error| StoreError::query(error.to_string());
        let wrap = |error| StoreError::from_sqlx(&self.path, error);
        let mut writer = writer.lock().await;
        let mut transaction = sqlx::Connection::begin(&mut writer.connection).await.map_err(wrap)?;
        for (id, holds) in all {
            let query = match holds {
                Some(holds) => {
                    let body = serde_json::to_string(holds).map_err(encode)?;
                    let write = "INSERT INTO holds (execution_id, body) VALUES (?1, ?2) \
                                 ON CONFLICT (execution_id) DO UPDATE SET body = ?2";
                    sqlx::query(write).bind(id.as_str()).bind(body)
                }
                None => sqlx::query("DELETE FROM holds WHERE execution_id = ?").bind(id.as_str()),
            };
            query.execute(&mut *transaction).await.map_err(wrap)?;
        }
        transaction.commit().await.map_err(wrap)
    }
}
