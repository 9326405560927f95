//! A slow walk through Redis, a few keys at a time: which families of keys there are, how much memory they take, and
//! whether they would ever go away. A round never ends in a hurry, and the next one begins a while later.

use std::{collections::BTreeMap, time::Duration};

use protocol::{KeyFamily, RedisView};

use crate::{Database, ObserverError, Read, Reader, reader::NOTHING};

/// Keys that Redis looks at in one step.
const STEP: usize = 100;
/// Keys of a step that are asked how long they live and how large they are.
const ASKED: usize = 4;
/// A round of so few steps is soon taken again: what has just begun is seen in time.
const SHORT_ROUND: u32 = 20;
const REST: Duration = Duration::from_secs(60);
const SHORT_REST: Duration = Duration::from_secs(10);
/// Families that are told of; a server that others use too may hold anything.
const MOST_FAMILIES: usize = 40;
/// Others may name their keys with any bytes.
const NOT_TEXT: &str = "(names that are no text)";
/// What Redis says of the life of a key that has none any more, and of one that has no end.
const GONE: i64 = -2;
const FOR_EVER: i64 = -1;

#[derive(Default)]
pub struct Walk {
    cursor: u64,
    /// Steps of this round.
    steps: u32,
    round: BTreeMap<String, Tally>,
    /// What the last whole round has found.
    found: Option<Vec<KeyFamily>>,
    version: Option<String>,
    used_bytes: Option<u64>,
    /// Those that have any keys.
    databases: Vec<Database>,
    /// We may not ask how the server is doing.
    is_info_refused: bool,
    /// We may not ask how large a key is.
    is_refused: bool,
}

#[derive(Default)]
struct Tally {
    keys: u64,
    /// Those that were asked how long they live, and those of them that live for ever.
    asked: u64,
    without_end: u64,
    /// Those that were asked how large they are, and their bytes.
    measured: u64,
    bytes: u64,
}

impl Walk {
    /// One step; returns the keys it came by, and how long to rest where a round is over.
    pub async fn step(
        &mut self,
        reader: &Reader,
        prefix: &str,
    ) -> Result<(Vec<String>, Option<Duration>), ObserverError> {
        let pattern = format!("{}*", escaped(prefix));
        let arguments =
            [self.cursor.to_string(), "MATCH".to_owned(), pattern, "COUNT".to_owned(), STEP.to_string()];
        let (cursor, keys): (String, Vec<Vec<u8>>) = reader.ask(Read::Scan, &arguments[..]).await?;
        let mut asked = 0;
        for key in &keys {
            let name = std::str::from_utf8(key).map_or(NOT_TEXT.to_owned(), |key| family(prefix, key));
            if !self.round.contains_key(&name) && self.round.len() >= MOST_FAMILIES {
                continue;
            }
            let tally = self.round.entry(name).or_default();
            tally.keys += 1;
            // The first of a family, and a few of every step.
            if tally.asked == 0 || asked < ASKED {
                asked += 1;
                tally.ask(reader, key).await?;
                if !self.is_refused {
                    match tally.measure(reader, key).await {
                        Err(error) if error.is_refusal() => self.is_refused = true,
                        done => done?,
                    }
                }
            }
        }
        self.cursor =
            cursor.parse().map_err(|_| ObserverError::Odd("a cursor that is no number".to_owned()))?;
        self.steps += 1;
        let rest = (self.cursor == 0).then(|| {
            self.found = Some(told(&std::mem::take(&mut self.round)));
            let steps = std::mem::take(&mut self.steps);
            if steps <= SHORT_ROUND { SHORT_REST } else { REST }
        });
        let names = keys.into_iter().filter_map(|key| String::from_utf8(key).ok()).collect();
        Ok((names, rest))
    }

    /// What the server says about itself. Where it may not tell, it is not told.
    pub async fn weigh(&mut self, reader: &Reader) -> Result<(), ObserverError> {
        let said: String = match reader.ask(Read::Info, NOTHING).await {
            Ok(said) => said,
            Err(error) if error.is_refusal() => {
                self.is_info_refused = true;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        self.is_info_refused = false;
        self.version = field("redis_version:").map(str::to_owned);
        self.used_bytes = field("used_memory:").and_then(|text| text.parse().ok());
        self.databases = said.lines().filter_map(database).collect();
        Ok(())
    }

    /// What there is on the server, as far as it may tell.
    pub fn databases(&self) -> &[Database] {
        &self.databases
    }

    /// Absent until the server has said something.
    pub fn view(&self) -> Option<RedisView> {
        let families = self.found.clone().unwrap_or_else(|| told(&self.round));
        let is_known = self.found.is_some() || !families.is_empty() || self.version.is_some();
        let refused = [(self.is_info_refused, Read::Info), (self.is_refused, Read::MemoryUsage)];
        let refused = refused.iter().filter(|(is_refused, _)| *is_refused);
        is_known.then(|| RedisView {
            version: self.version.clone(),
            used_bytes: self.used_bytes,
            refused: refused.map(|(_, read)| read.words().join(" ")).collect(),
            families,
        })
    }
}

impl Tally {
    /// Whether it would ever go away. Who may not ask how large a key is may ask this.
    async fn ask(&mut self, reader: &Reader, key: &[u8]) -> Result<(), ObserverError> {
        let life: i64 = reader.ask(Read::Ttl, key).await?;
        if life != GONE {
            self.asked += 1;
            self.without_end += u64::from(life == FOR_EVER);
        }
        Ok(())
    }

    async fn measure(&mut self, reader: &Reader, key: &[u8]) -> Result<(), ObserverError> {
        // Absent where the key has gone since.
        let bytes: Option<u64> = reader.ask(Read::MemoryUsage, key).await?;
        self.measured += u64::from(bytes.is_some());
        self.bytes += bytes.unwrap_or_default();
        Ok(())
    }
}

fn told(round: &BTreeMap<String, Tally>) -> Vec<KeyFamily> {
    let each = |total: u64, of: u64, tally: &Tally| match of {
        0 => None,
        of => Some(total * tally.keys / of),
    };
    let family = |(pattern, tally): (&String, &Tally)| KeyFamily {
        pattern: pattern.clone(),
        keys: tally.keys,
        bytes: each(tally.bytes, tally.measured, tally),
        without_end: each(tally.without_end, tally.asked, tally),
    };
    let mut families: Vec<KeyFamily> = round.iter().map(family).collect();
    families.sort_by(|left, right| right.bytes.cmp(&left.bytes).then(left.pattern.cmp(&right.pattern)));
    families
}

/// What a key is one of many of: ids become stars.
fn family(prefix: &str, key: &str) -> String {
    let rest = key.strip_prefix(prefix).unwrap_or(key);
    let mut named = false;
    let parts = rest.split(':').map(|part| {
        let is_id = std::mem::replace(&mut named, matches!(part, "exec" | "split" | "node"))
            || part.bytes().any(|byte| byte.is_ascii_digit())
            || part.len() > 24;
        match (is_id, part.starts_with('{')) {
            (true, true) => "{*}",
            (true, false) => "*",
            (false, _) => part,
        }
    });
    let parts: Vec<&str> = parts.collect();
    format!("{prefix}{}", parts.join(":"))
}

/// A line such as `db1:keys=42,expires=0,avg_ttl=0`.
fn database(line: &str) -> Option<Database> {
    let (number, rest) = line.strip_prefix("db")?.split_once(":keys=")?;
    let keys = rest.split(',').next()?;
    Some(Database { number: number.parse().ok()?, keys: keys.trim().parse().ok()? })
}

/// Letters that mean something in a pattern.
fn escaped(prefix: &str) -> String {
    prefix
        .chars()
        .flat_map(|letter| "*?[]\\".contains(letter).then_some('\\').into_iter().chain([letter]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_by_their_family() {
        for (key, expected) in [
            ("p.exec:{a-1}:log", "p.exec:{*}:log"),
            ("p.looks", "p.looks"),
            ("p.exec:3f2c:split:s:results", "p.exec:*:split:*:results"),
            ("p.exec:3f2c:node:join:barrier:arrivals", "p.exec:*:node:*:barrier:arrivals"),
            ("p.scheduler:timers", "p.scheduler:timers"),
            ("p.user_id_17", "p.*"),
        ] {
            assert_eq!(family("p.", key), expected);
        }
        assert_eq!(escaped("a*b"), "a\\*b");
    }

    #[test]
    fn databases_are_told_by_their_line() {
        for (line, expected) in [
            ("db0:keys=1,expires=0,avg_ttl=0", Some("database 0 has 1 key")),
            ("db12:keys=42", Some("database 12 has 42 keys")),
            ("dbsize:12", None),
            ("used_memory:12", None),
        ] {
            assert_eq!(database(line).map(|found| found.to_string()).as_deref(), expected, "{line}");
        }
    }
}
