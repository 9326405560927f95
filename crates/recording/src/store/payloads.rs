//! Large payloads are stored once, by the hash of their content; the event holds a marker instead.

use std::collections::HashSet;

use protocol::{Fact, NodeStarted, Payload, REFERENCE};
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    pack,
    rows::{Row, written},
};

/// Smaller payloads stay in the event: a row of their own would cost more than it saves.
const INLINE_BYTES: usize = 1024;

/// Hashes remembered at most, to skip the question whether they are stored.
const REMEMBERED: usize = 100_000;

/// Which payloads are known to be stored already.
#[derive(Default)]
pub struct Interned(HashSet<String>);

impl Interned {
    /// A row as text, with its large payloads stored elsewhere.
    pub async fn encode(
        &mut self,
        connection: &mut SqliteConnection,
        row: Row<'_>,
    ) -> Result<String, sqlx::Error> {
        let unwritable = |error| sqlx::Error::Encode(Box::new(error));
        let Row { event, began } = row;
        let body = written(&event.fact, began).map_err(unwritable)?;
        // What is short as a whole has short payloads only.
        let is_plain = body.len() <= INLINE_BYTES && !body.contains(REFERENCE);
        if is_plain || row.payloads().all(|payload| payload.stays_inline(INLINE_BYTES)) {
            return Ok(body);
        }
        let (mut fact, mut began): (Fact, Option<NodeStarted>) = (event.fact.clone(), began.cloned());
        let mut payloads = fact.payloads_mut();
        if let Some(NodeStarted { parameters, input, .. }) = &mut began {
            payloads.extend(parameters.iter_mut().chain(input));
        }
        for payload in payloads {
            if !payload.stays_inline(INLINE_BYTES) {
                self.intern(connection, payload).await?;
            }
        }
        written(&fact, began.as_ref()).map_err(unwritable)
    }

    /// Replaces a payload by its marker and stores it if it is new.
    async fn intern(
        &mut self,
        connection: &mut SqliteConnection,
        payload: &mut Payload,
    ) -> Result<(), sqlx::Error> {
        let (text, hash) = (payload.text(), payload.hash());
        if !self.0.contains(hash) {
            let packed = pack::pack(text);
            sqlx::query("INSERT OR IGNORE INTO payloads (hash, body, packed) VALUES (?, ?, ?)")
                .bind(hash)
                .bind(if packed.is_some() { "" } else { text })
                .bind(packed)
                .execute(connection)
                .await?;
            if self.0.len() >= REMEMBERED {
                self.0.clear();
            }
            self.0.insert(hash.to_owned());
        }
        *payload = payload.reference();
        Ok(())
    }
}

/// The hashes in the markers of an event, as it is stored. Somebody's data may look like a marker; that does no harm
/// to whoever only wants to know what is needed.
pub fn marked(body: &str) -> impl Iterator<Item = &str> {
    let behind = body.split(REFERENCE).skip(1);
    behind.filter_map(|text| text.trim_start().strip_prefix('"')?.split('"').next())
}

/// The text in a row of `hash`, `body` and `packed`.
pub fn text_of(row: &SqliteRow) -> Result<String, String> {
    match row.try_get::<Option<&[u8]>, _>(2).map_err(|error| error.to_string())? {
        Some(packed) => pack::unpack(packed),
        None => row.try_get(1).map_err(|error| error.to_string()),
    }
}
