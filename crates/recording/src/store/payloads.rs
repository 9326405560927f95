//! Large payloads are stored once, by the hash of their content; the event holds a marker instead.

use std::collections::HashSet;

use protocol::Payload;
use serde_json::json;
use sqlx::SqliteConnection;

/// Smaller payloads stay in the event: a row of their own would cost more than it saves.
const INLINE_BYTES: usize = 1024;

/// Hashes remembered at most, to skip the question whether they are stored.
const REMEMBERED: usize = 100_000;

const MARKER: &str = "{\"$payload\":";

/// Which payloads are known to be stored already.
#[derive(Default)]
pub struct Interned(HashSet<String>);

impl Interned {
    /// Replaces a large payload by its marker and stores it if it is new. A small payload that happens to look like
    /// a marker is stored too, so that every marker in an event is one of ours.
    pub async fn intern(
        &mut self,
        connection: &mut SqliteConnection,
        payload: &mut Payload,
    ) -> Result<(), sqlx::Error> {
        let text = payload.text();
        if text.len() <= INLINE_BYTES && !text.starts_with(MARKER) {
            return Ok(());
        }
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        if !self.0.contains(&hash) {
            sqlx::query("INSERT OR IGNORE INTO payloads (hash, body) VALUES (?, ?)")
                .bind(&hash)
                .bind(text)
                .execute(connection)
                .await?;
            if self.0.len() >= REMEMBERED {
                self.0.clear();
            }
            self.0.insert(hash.clone());
        }
        *payload = Payload::new(json!({"$payload": hash}));
        Ok(())
    }
}

/// The hash in a marker; `None` for a payload that stands for itself.
pub fn stored_hash(payload: &Payload) -> Option<String> {
    if !payload.text().starts_with(MARKER) {
        return None;
    }
    payload.value()["$payload"].as_str().map(str::to_owned)
}
