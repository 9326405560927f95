//! Values too large for a log lie beside it. They are asked for by their size: a value may be larger than what comes
//! through a slow line while somebody waits, and then the rest is told without it.

use std::collections::{HashMap, HashSet};

use futures::future::join_all;
use protocol::{Event, Payload};
use serde_json::json;

use crate::{ObserverError, Read, Reader};

/// Values that are looked at together, and bytes that are asked for together. One that is larger is asked for alone.
const TOGETHER: usize = 8;
const BYTES_TOGETHER: usize = 256 * 1024;
/// The largest value that is asked for.
const LARGEST: usize = 32 * 1024 * 1024;
/// Slow values that are remembered.
const MOST_SLOW: usize = 10_000;

/// What may still be read.
pub struct Room<'s> {
    pub bytes: usize,
    /// Values that did not come in time. They are not asked for again: everything else would wait.
    pub slow: &'s mut HashSet<String>,
}

impl Room<'_> {
    pub fn is_used_up(&self) -> bool {
        self.bytes == 0
    }

    pub fn take(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    fn give_up(&mut self, hashes: &[&str]) {
        if self.slow.len() < MOST_SLOW {
            self.slow.extend(hashes.iter().map(|hash| (*hash).to_owned()));
        }
    }
}

/// The values of one execution.
#[derive(Clone, Copy)]
pub struct Values<'v> {
    pub reader: &'v Reader,
    pub key: &'v str,
}

impl Values<'_> {
    /// Puts values in their place. Where there is no more room the events behind go: they are read the next time.
    pub async fn resolve(self, events: &mut Vec<Event>, room: &mut Room<'_>) -> Result<(), ObserverError> {
        let mut found: HashMap<String, Payload> = HashMap::new();
        let mut whole = 0;
        while whole < events.len() && (whole == 0 || !room.is_used_up()) {
            let mut wanted: Vec<String> = Vec::new();
            let mut until = whole;
            while until < events.len() && wanted.len() < TOGETHER {
                let referred = events[until].fact.payloads().filter_map(|payload| payload.referred());
                for hash in referred.filter(|hash| !found.contains_key(*hash)) {
                    if !wanted.iter().any(|known| known == hash) {
                        wanted.push(hash.to_owned());
                    }
                }
                until += 1;
            }
            self.fetch(&wanted, room, &mut found).await?;
            for payload in events[whole..until].iter_mut().flat_map(|event| event.fact.payloads_mut()) {
                if let Some(meant) = payload.referred().and_then(|hash| found.get(hash)).cloned() {
                    *payload = meant;
                }
            }
            whole = until;
        }
        events.truncate(whole);
        Ok(())
    }

    async fn fetch(
        self,
        hashes: &[String],
        room: &mut Room<'_>,
        found: &mut HashMap<String, Payload>,
    ) -> Result<(), ObserverError> {
        let sizes = join_all(hashes.iter().map(|hash| self.size(hash))).await;
        let mut group: Vec<&str> = Vec::new();
        let mut bytes = 0;
        for (hash, size) in hashes.iter().zip(sizes) {
            let size = size?;
            if let Some(why) = left_out(size, room.slow.contains(hash)) {
                found.insert(hash.clone(), why);
                continue;
            }
            if bytes + size > BYTES_TOGETHER {
                self.ask(&std::mem::take(&mut group), room, found).await?;
                bytes = 0;
            }
            group.push(hash);
            bytes += size;
        }
        self.ask(&group, room, found).await
    }

    async fn size(self, hash: &str) -> Result<usize, ObserverError> {
        self.reader.ask(Read::HStrLen, &[self.key, hash][..]).await
    }

    async fn ask(
        self,
        hashes: &[&str],
        room: &mut Room<'_>,
        found: &mut HashMap<String, Payload>,
    ) -> Result<(), ObserverError> {
        if hashes.is_empty() {
            return Ok(());
        }
        let arguments: Vec<&str> = std::iter::once(self.key).chain(hashes.iter().copied()).collect();
        let asked = self.reader.ask(Read::HMGet, &arguments[..]).await;
        if asked.as_ref().is_err_and(ObserverError::is_slow) {
            room.give_up(hashes);
        }
        let texts: Vec<Option<String>> = asked?;
        for (hash, text) in hashes.iter().zip(texts) {
            room.take(text.as_ref().map_or(0, String::len));
            let payload = text.and_then(|text| Payload::from_text(text).ok());
            found.insert((*hash).to_owned(), payload.unwrap_or_else(gone));
        }
        Ok(())
    }
}

fn gone() -> Payload {
    Payload::new(json!({"gone": "this value was not in Redis any more"}))
}

/// What stands in the place of a value that is not asked for.
fn left_out(size: usize, is_slow: bool) -> Option<Payload> {
    let megabytes = size as f64 / 1e6;
    let why = match (size, is_slow) {
        (0, _) => return Some(gone()),
        (LARGEST.., _) => format!("this value of {megabytes:.1} MB is too large to be looked at from here"),
        (_, true) => format!("this value of {megabytes:.1} MB did not come through in time"),
        _ => return None,
    };
    Some(Payload::new(json!({"not_read": why})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_for_says_why() {
        let told = |size, is_slow| left_out(size, is_slow).map(|payload| payload.text().to_owned());
        assert_eq!(told(1_000, false), None);
        assert_eq!(told(LARGEST - 1, false), None);
        assert!(told(0, false).is_some_and(|text| text.contains("not in Redis any more")));
        assert!(told(LARGEST, false).is_some_and(|text| text.contains("33.6 MB is too large")));
        assert!(told(9_500_000, true).is_some_and(|text| text.contains("9.5 MB did not come through")));
    }
}
