//! Messages that rest, in the hash that timers resume them from. Each carries everything it has seen, so it may be
//! large, and there may be very many: they are asked for by their size, and only so many bytes are read in one look.

use crate::{ObserverError, Read};

use super::look::Asking;

pub const PAYLOAD_HASH: &str = "scheduler:payloads";

/// A broker of today takes no larger message, so nobody can resume with it either.
const LARGEST: u64 = 16 * 1024 * 1024;
/// What is smaller and did not come in time was held up by something else.
const SMALL: u64 = 64 * 1024;
/// Bytes that are opened in one look. The last one may be larger: the looks behind it make up for that.
const BYTES: i64 = 1024 * 1024;
/// Bytes of the way through all, in one look, and messages of one step.
const PAGE_BYTES: i64 = 128 * 1024;
const PAGE: i64 = 20;
/// Looks that pass before a step that did not come in time is tried again.
const AFTER_A_SLOW_PAGE: i64 = 600;

pub enum Opened {
    Bytes(Vec<u8>),
    /// So large that it is not asked for.
    TooLarge(u64),
    /// It is not there, or may not be asked for.
    Nothing,
    /// Not in this look.
    NoRoom,
}

pub struct Frozen {
    /// What is as large is not asked for: one that was did not come in time.
    largest: u64,
    /// Bytes that may still be read in this look; below nothing where the looks before have read more.
    to_open: i64,
    to_page: i64,
    /// Bytes of messages whose size is known, and how many these were.
    known: (i64, i64),
    /// How far the way through all is.
    cursor: u64,
}

impl Default for Frozen {
    fn default() -> Self {
        Self { largest: LARGEST, to_open: 0, to_page: 0, known: (0, 0), cursor: 0 }
    }
}

impl Frozen {
    /// A look begins.
    pub fn renew(&mut self) {
        self.to_open = (self.to_open + BYTES).min(BYTES);
        self.to_page = (self.to_page + PAGE_BYTES).min(PAGE_BYTES);
    }

    /// Whether it is there, without what it says. `None` where there is no answer to be had.
    pub async fn is_there(asking: &mut Asking<'_>, id: &str) -> Result<Option<bool>, ObserverError> {
        let size = asking.ask::<u64>(Read::HStrLen, (PAYLOAD_HASH, id)).await?;
        Ok(size.map(|size| size > 0))
    }

    pub async fn open(&mut self, asking: &mut Asking<'_>, id: &str) -> Result<Opened, ObserverError> {
        if self.to_open <= 0 || !asking.has_room(2) {
            return Ok(Opened::NoRoom);
        }
        let size = asking.ask::<u64>(Read::HStrLen, (PAYLOAD_HASH, id)).await?.unwrap_or_default();
        if size == 0 {
            return Ok(Opened::Nothing);
        }
        if size >= self.largest {
            return Ok(Opened::TooLarge(size));
        }
        let asked = asking.ask::<Option<Vec<u8>>>(Read::HGet, (PAYLOAD_HASH, id)).await;
        if asked.as_ref().is_err_and(ObserverError::is_slow) && size >= SMALL {
            self.largest = size;
        }
        let payload = asked?.flatten();
        self.to_open -= self.note(payload.as_ref().map_or(0, Vec::len));
        Ok(payload.map_or(Opened::Nothing, Opened::Bytes))
    }

    /// Names of some, a few in every look. Before Redis 7.4 only HKEYS names them without what they say, and it names
    /// all at once, of which there may be any number; HSCAN sends everything along. So a step takes as many as should
    /// fit by the sizes that are known, and where it was more the next one waits until that is made up for.
    pub async fn next_names(&mut self, asking: &mut Asking<'_>) -> Result<Vec<Vec<u8>>, ObserverError> {
        if self.to_page <= 0 || !asking.has_room(1) {
            return Ok(Vec::new());
        }
        let (bytes, many) = self.known;
        let count = (self.to_page * many / bytes.max(1)).clamp(1, PAGE);
        let arguments = (PAYLOAD_HASH, self.cursor, "COUNT", count);
        let page = asking.ask::<(u64, Vec<(Vec<u8>, Vec<u8>)>)>(Read::HScan, arguments).await;
        if page.as_ref().is_err_and(ObserverError::is_slow) {
            self.to_page -= PAGE_BYTES * AFTER_A_SLOW_PAGE;
        }
        let Some((cursor, page)) = page? else { return Ok(Vec::new()) };
        self.cursor = cursor;
        let read: i64 = page.iter().map(|(_, payload)| self.note(payload.len())).sum();
        self.to_page -= read;
        Ok(page.into_iter().map(|(id, _)| id).collect())
    }

    fn note(&mut self, size: usize) -> i64 {
        let size = size as i64;
        // Those of long ago count less and less.
        if self.known.1 >= 1_000 {
            self.known = (self.known.0 / 2, self.known.1 / 2);
        }
        self.known = (self.known.0 + size, self.known.1 + 1);
        size
    }
}

/// What stands in the place of one that is not asked for.
pub fn too_large(size: u64) -> String {
    format!("its payload of {:.1} MB is too large to be looked at from here", size as f64 / 1e6)
}
