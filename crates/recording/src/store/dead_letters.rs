//! Messages that the house has given up. They are part of the recording of their execution, and found here.

use protocol::{DeadLetter, Event, ExecutionId, Fact, Firing};
use sqlx::Row;

use super::{Store, StoreError};

impl Store {
    /// Newest first.
    pub async fn dead_letters(&self, limit: u32) -> Result<Vec<DeadLetter>, StoreError> {
        // A failure is rare and a dead letter rarer: the log is searched, and needs no index that costs every write.
        let query = "SELECT e.seq, e.at, e.body, x.execution_id FROM events e JOIN executions x ON x.id = e.execution \
                     WHERE e.body LIKE '{\"node_failed\":%' \
                     AND (e.body LIKE '%\"RETRIES_USED_UP\"%' OR e.body LIKE '%\"LINEAGE_MISMATCH\"%') \
                     ORDER BY e.execution DESC, e.seq DESC";
        let rows = sqlx::query(query)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let mut letters = Vec::new();
        for row in &rows {
            let execution_id = ExecutionId::from(row.get::<&str, _>(3));
            let Some(Event { at, fact: Fact::NodeFailed(failed), .. }) =
                self.read_row(&execution_id, row)?.last()
            else {
                continue;
            };
            // The words may stand in somebody's data; the code decides.
            if !failed.error.code.is_dead_letter() {
                continue;
            }
            let Firing { message_id, node_id, lineage, attempt } = failed.firing;
            letters.push(DeadLetter {
                execution_id,
                at,
                message_id,
                node_id,
                key: lineage.key(),
                attempt,
                error: failed.error,
            });
        }
        letters.truncate(limit as usize);
        Ok(letters)
    }
}
