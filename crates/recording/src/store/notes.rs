//! What people write beside a recording.

use protocol::{ExecutionId, NodeId, Note};
use sqlx::Row;

use super::{Store, StoreError};

/// A longer note belongs into a document.
const LONGEST: usize = 64 * 1024;

impl Store {
    pub async fn add_note(&self, note: &Note) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        if note.text.len() > LONGEST {
            return Err(StoreError::query(format!("a note has at most {LONGEST} bytes")));
        }
        let Some(known) = self.known(&note.execution_id).await? else {
            return Err(StoreError::query(format!("there is no execution {}", note.execution_id)));
        };
        sqlx::query("INSERT INTO notes (execution, position, node_id, at, text) VALUES (?, ?, ?, ?, ?)")
            .bind(known.row)
            .bind(note.position.cast_signed())
            .bind(note.node_id.as_ref().map(NodeId::as_str))
            .bind(note.at)
            .bind(&note.text)
            .execute(&mut writer.lock().await.connection)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(())
    }

    /// In the order of what they are about.
    pub async fn notes(&self, execution: &ExecutionId) -> Result<Vec<Note>, StoreError> {
        let query = "SELECT n.position, n.node_id, n.at, n.text FROM notes n \
                     JOIN executions x ON x.id = n.execution WHERE x.execution_id = ? ORDER BY n.position, n.id";
        let rows = sqlx::query(query)
            .bind(execution.as_str())
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let note = |row: &sqlx::sqlite::SqliteRow| {
            Ok(Note {
                execution_id: execution.clone(),
                position: row.try_get::<i64, _>(0)?.unsigned_abs(),
                node_id: row.try_get::<Option<&str>, _>(1)?.map(NodeId::from),
                at: row.try_get(2)?,
                text: row.try_get(3)?,
            })
        };
        let notes: Result<Vec<Note>, sqlx::Error> = rows.iter().map(note).collect();
        notes.map_err(|error| StoreError::from_sqlx(&self.path, error))
    }
}
