//! The only way to Redis: commands that read, and no others. What is not in [`Read`] cannot be said.

use std::time::Duration;

use protocol::ClusterDialect;
use redis::{
    FromRedisValue, IntoConnectionInfo, ToRedisArgs,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use crate::ObserverError;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections that are tried before the caller hears of it; whoever asks comes again.
const TRIES: usize = 1;

/// Every command that an observer may send. The window lists them as what an attachment can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Read {
    Time,
    Info,
    Scan,
    Exists,
    Ttl,
    MemoryUsage,
    Get,
    HGet,
    HMGet,
    HLen,
    HStrLen,
    HKeys,
    HScan,
    SCard,
    SMembers,
    ZCard,
    ZRange,
    ZScore,
    XRange,
}

impl Read {
    pub const ALL: [Self; 19] = [
        Self::Time,
        Self::Info,
        Self::Scan,
        Self::Exists,
        Self::Ttl,
        Self::MemoryUsage,
        Self::Get,
        Self::HGet,
        Self::HMGet,
        Self::HLen,
        Self::HStrLen,
        Self::HKeys,
        Self::HScan,
        Self::SCard,
        Self::SMembers,
        Self::ZCard,
        Self::ZRange,
        Self::ZScore,
        Self::XRange,
    ];

    /// As Redis calls it.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Time => &["TIME"],
            Self::Info => &["INFO"],
            Self::Scan => &["SCAN"],
            Self::Exists => &["EXISTS"],
            Self::Ttl => &["PTTL"],
            Self::MemoryUsage => &["MEMORY", "USAGE"],
            Self::Get => &["GET"],
            Self::HGet => &["HGET"],
            Self::HMGet => &["HMGET"],
            Self::HLen => &["HLEN"],
            Self::HStrLen => &["HSTRLEN"],
            Self::HKeys => &["HKEYS"],
            Self::HScan => &["HSCAN"],
            Self::SCard => &["SCARD"],
            Self::SMembers => &["SMEMBERS"],
            Self::ZCard => &["ZCARD"],
            Self::ZRange => &["ZRANGE"],
            Self::ZScore => &["ZSCORE"],
            Self::XRange => &["XRANGE"],
        }
    }
}

impl Read {
    /// A question that any server answers, whatever it holds: nothing is under that key.
    pub fn harmless(self, key: &str) -> Vec<&str> {
        match self {
            Self::Time | Self::Info => vec![],
            Self::Scan => vec!["0", "COUNT", "1"],
            Self::Exists
            | Self::Ttl
            | Self::MemoryUsage
            | Self::Get
            | Self::HLen
            | Self::HKeys
            | Self::SCard
            | Self::SMembers
            | Self::ZCard => vec![key],
            Self::HGet | Self::HMGet | Self::HStrLen | Self::ZScore => vec![key, "none"],
            Self::HScan => vec![key, "0"],
            Self::ZRange => vec![key, "0", "0"],
            Self::XRange => vec![key, "-", "+", "COUNT", "1"],
        }
    }

    /// Whose workers are looked into with it; `None` where it is asked of all of them, or before it is known whose they
    /// are. EXISTS is asked before, too, to find that out; but there are other ways.
    pub fn only_of(self) -> Option<ClusterDialect> {
        match self {
            Self::Time
            | Self::Info
            | Self::Scan
            | Self::Ttl
            | Self::MemoryUsage
            | Self::HStrLen
            | Self::HScan
            | Self::ZCard
            | Self::ZRange => None,
            Self::Exists | Self::HMGet | Self::XRange => Some(ClusterDialect::Runeglass),
            Self::Get
            | Self::HGet
            | Self::HLen
            | Self::HKeys
            | Self::SCard
            | Self::SMembers
            | Self::ZScore => Some(ClusterDialect::Rune),
        }
    }

    /// Without these a little less is shown, and nothing else.
    pub fn may_be_refused(self) -> bool {
        matches!(self, Self::Info | Self::MemoryUsage)
    }
}

/// For questions that need no more words.
pub const NOTHING: &[&str] = &[];

#[derive(Clone)]
pub struct Reader {
    redis: ConnectionManager,
    /// The number of the database that is read.
    pub database: i64,
}

impl Reader {
    pub async fn connect(url: &str) -> Result<Self, ObserverError> {
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(PATIENCE))
            .set_connection_timeout(Some(PATIENCE))
            .set_number_of_retries(TRIES);
        let info = url.into_connection_info()?;
        // Nothing but what is in the list: not even our name.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let database = settings.db();
        let client = redis::Client::open(info.set_redis_settings(settings))?;
        let connected = tokio::time::timeout(2 * PATIENCE, client.get_connection_manager_with_config(config));
        match connected.await {
            Ok(redis) => Ok(Self { redis: redis?, database }),
            Err(_) => Err(ObserverError::Silent("Redis")),
        }
    }

    /// Asks one thing.
    pub async fn ask<T: FromRedisValue>(
        &self,
        read: Read,
        arguments: impl ToRedisArgs,
    ) -> Result<T, ObserverError> {
        let mut command = redis::Cmd::new();
        read.words().iter().for_each(|word| {
            command.arg(*word);
        });
        command.arg(arguments);
        Ok(command.query_async(&mut self.redis.clone()).await?)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// What the files of a dialect ask.
    fn asked_in(folder: &str) -> BTreeSet<String> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
        let texts =
            fs::read_dir(sources).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        let words = |text: String| {
            let named = text.split("Read::").skip(1);
            named
                .map(|rest| rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
                .collect::<Vec<_>>()
        };
        texts.flat_map(words).collect()
    }

    #[test]
    fn each_dialect_asks_what_is_said_of_it() {
        let own = (asked_in("own"), ClusterDialect::Runeglass);
        let rune = (asked_in("rune"), ClusterDialect::Rune);
        assert!(!own.0.is_empty() && !rune.0.is_empty());
        for read in Read::ALL {
            let name = format!("{read:?}");
            let asking: Vec<ClusterDialect> = [&own, &rune]
                .into_iter()
                .filter(|(asked, _)| asked.contains(&name))
                .map(|(_, who)| *who)
                .collect();
            match read.only_of() {
                Some(only) => assert_eq!(asking, [only], "{name}"),
                None => assert_ne!(asking.len(), 1, "{name}"),
            }
        }
    }
}
