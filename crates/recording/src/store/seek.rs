//! The view at any position of a recording: the nearest snapshot, and the events after it.

use std::collections::HashMap;

use protocol::{Event, ExecutionId, ExecutionView, Millis};
use sqlx::{Row, SqliteConnection};

use super::{Store, StoreError, pack};
use crate::{ViewFold, view::ViewState};

/// Events between two snapshots, at least.
const SPACING: u64 = 1_000;
/// A view that holds more entries than this many per event since the last snapshot waits with the next one, so that
/// snapshots never take more room than the events.
const ENTRIES_PER_EVENT: u64 = 4;
/// Events that are read at once.
const CHUNK: u64 = 1_000;

/// A recording in the store: its row, and how many events it has.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub row: i64,
    pub last: u64,
}

impl Store {
    /// The view after the event at `position`, or after the last one where there are fewer. `None` if the execution is
    /// unknown.
    pub async fn view_at(
        &self,
        execution: &ExecutionId,
        position: u64,
    ) -> Result<Option<ExecutionView>, StoreError> {
        let Some(known) = self.known(execution).await? else { return Ok(None) };
        let Some(start) = self.first_event(execution, known.row).await? else { return Ok(None) };
        let position = position.min(known.last);
        let Some((mut fold, mut saved)) = self.nearest(&start, known, position).await? else {
            return Ok(None);
        };
        while fold.view().position < position {
            let after = fold.view().position;
            let upto = position.min(after + CHUNK);
            for event in self.outlines(execution, known.row, after, upto).await? {
                fold.apply(&event);
            }
            if fold.view().position == after {
                let detail = format!("{execution} has no event {}", after + 1);
                return Err(StoreError::Damaged { path: self.path.clone(), detail });
            }
            if is_worth_saving(&fold, saved) {
                saved = fold.view().position;
                self.save(&fold, known.row).await?;
            }
        }
        Ok(Some(fold.view().clone()))
    }

    /// How many events had happened at a moment. `None` if the execution is unknown.
    pub async fn position_at(
        &self,
        execution: &ExecutionId,
        moment: Millis,
    ) -> Result<Option<u64>, StoreError> {
        let Some(known) = self.known(execution).await? else { return Ok(None) };
        let row = sqlx::query("SELECT coalesce(max(seq), 0) FROM events WHERE execution = ? AND at <= ?")
            .bind(known.row)
            .bind(moment)
            .fetch_one(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(Some(row.get::<i64, _>(0).unsigned_abs()))
    }

    /// The moment of an event, and how many events there are. `None` if there is no such event.
    pub async fn span(
        &self,
        execution: &ExecutionId,
        position: u64,
    ) -> Result<Option<(Millis, u64)>, StoreError> {
        let Some(known) = self.known(execution).await? else { return Ok(None) };
        if position == 0 {
            return Ok(None);
        }
        let found =
            sqlx::query("SELECT at FROM events WHERE execution = ? AND seq >= ? ORDER BY seq LIMIT 1")
                .bind(known.row)
                .bind(position.cast_signed())
                .fetch_optional(&self.readers)
                .await
                .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(found.map(|row| (row.get(0), known.last)))
    }

    pub(super) async fn known(&self, execution: &ExecutionId) -> Result<Option<Known>, StoreError> {
        let query = "SELECT x.id, (SELECT coalesce(max(seq), 0) FROM events WHERE execution = x.id) \
                     FROM executions x WHERE x.execution_id = ?";
        let found = sqlx::query(query)
            .bind(execution.as_str())
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(found.map(|row| Known { row: row.get(0), last: row.get::<i64, _>(1).unsigned_abs() }))
    }

    /// Events after one position up to another, with the markers of large payloads in their place: what a view is
    /// folded from is never large.
    pub(super) async fn outlines(
        &self,
        execution: &ExecutionId,
        row: i64,
        after: u64,
        upto: u64,
    ) -> Result<Vec<Event>, StoreError> {
        let query =
            "SELECT seq, at, body FROM events WHERE execution = ? AND seq > ? AND seq <= ? ORDER BY seq";
        let rows = sqlx::query(query)
            .bind(row)
            .bind(after.cast_signed())
            // The last one may be in the row of the one behind it.
            .bind(upto.saturating_add(1).cast_signed())
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let mut events = self.read_rows(execution, &rows)?;
        events.retain(|event| (after + 1..=upto).contains(&event.seq));
        Ok(events)
    }

    /// Puts the payloads in the place of their markers.
    pub(super) async fn make_whole(&self, events: &mut [Event]) -> Result<(), StoreError> {
        let mut loaded = HashMap::new();
        for payload in events.iter_mut().flat_map(|event| event.fact.payloads_mut()) {
            if let Some(hash) = payload.referred().map(str::to_owned) {
                *payload = self.payload(hash, &mut loaded).await?;
            }
        }
        Ok(())
    }

    /// The hash of the row that an event is in, with its moment: had the execution gone otherwise before it, it would
    /// hardly be the same to the millisecond.
    pub(super) async fn proof(&self, row: i64, seq: u64) -> Result<Option<String>, StoreError> {
        let query =
            "SELECT at || ' ' || body FROM events WHERE execution = ? AND seq >= ? ORDER BY seq LIMIT 1";
        let found = sqlx::query(query)
            .bind(row)
            .bind(seq.cast_signed())
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(found.map(|row| blake3::hash(row.get::<&str, _>(0).as_bytes()).to_hex().to_string()))
    }

    /// The same for one event of each of several executions, by their rows.
    pub(super) async fn proofs(&self, places: &[[i64; 2]]) -> Result<HashMap<i64, String>, StoreError> {
        let query = "SELECT e.execution, e.at || ' ' || e.body FROM json_each(?) AS place JOIN events e \
                     ON e.execution = place.value ->> 0 AND e.seq = (SELECT min(seq) FROM events \
                     WHERE execution = place.value ->> 0 AND seq >= place.value ->> 1)";
        let places = serde_json::to_string(places).map_err(|error| StoreError::query(error.to_string()))?;
        let rows = sqlx::query(query)
            .bind(places)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let proof = |row: &sqlx::sqlite::SqliteRow| {
            (row.get(0), blake3::hash(row.get::<&str, _>(1).as_bytes()).to_hex().to_string())
        };
        Ok(rows.iter().map(proof).collect())
    }

    async fn first_event(&self, execution: &ExecutionId, row: i64) -> Result<Option<Event>, StoreError> {
        let mut first = self.outlines(execution, row, 0, 1).await?;
        self.make_whole(&mut first).await?;
        Ok(first.pop())
    }

    /// The fold to go on from, and the position of its snapshot.
    async fn nearest(
        &self,
        start: &Event,
        known: Known,
        position: u64,
    ) -> Result<Option<(ViewFold, u64)>, StoreError> {
        if let Some((at, proof, state)) = self.snapshot(&start.execution_id, position).await
            && self.proof(known.row, at).await?.as_ref() == Some(&proof)
            && let Some(fold) = ViewFold::resume(start, state)
        {
            return Ok(Some((fold, at)));
        }
        Ok(ViewFold::begin(start).map(|fold| (fold, 0)))
    }

    /// The latest snapshot at or before a position. One that cannot be read is as good as none.
    async fn snapshot(&self, execution: &ExecutionId, position: u64) -> Option<(u64, String, ViewState)> {
        let mut side = self.side.open().await?;
        match latest(side.connection()?, execution, position).await {
            Ok(found) => found,
            Err(error) => {
                tracing::info!(%error, "a snapshot cannot be read");
                None
            }
        }
    }

    async fn save(&self, fold: &ViewFold, row: i64) -> Result<(), StoreError> {
        let view = fold.view();
        let (Some(proof), Some(mut side)) = (self.proof(row, view.position).await?, self.side.open().await)
        else {
            return Ok(());
        };
        let Some(connection) = side.connection() else { return Ok(()) };
        let state = fold.state();
        if let Err(error) =
            insert(connection, &view.summary.execution_id, view.position, &proof, &state).await
        {
            // The view is right without it.
            tracing::info!(%error, "a snapshot cannot be kept");
        }
        Ok(())
    }
}

fn is_worth_saving(fold: &ViewFold, saved: u64) -> bool {
    let since = fold.view().position - saved;
    since >= SPACING && fold.weight() as u64 <= since * ENTRIES_PER_EVENT
}

async fn latest(
    connection: &mut SqliteConnection,
    execution: &ExecutionId,
    position: u64,
) -> Result<Option<(u64, String, ViewState)>, sqlx::Error> {
    let query = "SELECT position, proof, state FROM snapshots \
                 WHERE execution_id = ? AND position <= ? ORDER BY position DESC LIMIT 1";
    let found = sqlx::query(query)
        .bind(execution.as_str())
        .bind(position.cast_signed())
        .fetch_optional(connection)
        .await?;
    let Some(row) = found else { return Ok(None) };
    let decode = |error: String| sqlx::Error::Decode(error.into());
    let text = pack::unpack(row.get(2)).map_err(decode)?;
    let state = serde_json::from_str(&text).map_err(|error| decode(error.to_string()))?;
    Ok(Some((row.get::<i64, _>(0).unsigned_abs(), row.get(1), state)))
}

async fn insert(
    connection: &mut SqliteConnection,
    execution: &ExecutionId,
    position: u64,
    proof: &str,
    state: &ViewState,
) -> Result<(), sqlx::Error> {
    let text = serde_json::to_string(state).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    sqlx::query(
        "INSERT OR REPLACE INTO snapshots (execution_id, position, proof, state) VALUES (?, ?, ?, ?)",
    )
    .bind(execution.as_str())
    .bind(position.cast_signed())
    .bind(proof)
    .bind(lz4_flex::compress_prepend_size(text.as_bytes()))
    .execute(connection)
    .await?;
    Ok(())
}
