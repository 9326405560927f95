//! The only way to Redis: commands that read, and no others. What is not in [`Read`] cannot be said.

use std::time::Duration;

use redis::{
    FromRedisValue, ToRedisArgs,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use crate::ObserverError;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Every command that an observer may send. The window lists them as what an attachment can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Read {
    Ping,
    Time,
    Info,
    DbSize,
    Scan,
    Type,
    Exists,
    Ttl,
    MemoryUsage,
    Get,
    StrLen,
    HGet,
    HMGet,
    HLen,
    HKeys,
    HScan,
    SCard,
    SMembers,
    ZCard,
    ZRange,
    ZScore,
    XLen,
    XRange,
}

impl Read {
    pub const ALL: [Self; 23] = [
        Self::Ping,
        Self::Time,
        Self::Info,
        Self::DbSize,
        Self::Scan,
        Self::Type,
        Self::Exists,
        Self::Ttl,
        Self::MemoryUsage,
        Self::Get,
        Self::StrLen,
        Self::HGet,
        Self::HMGet,
        Self::HLen,
        Self::HKeys,
        Self::HScan,
        Self::SCard,
        Self::SMembers,
        Self::ZCard,
        Self::ZRange,
        Self::ZScore,
        Self::XLen,
        Self::XRange,
    ];

    /// As Redis calls it.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Ping => &["PING"],
            Self::Time => &["TIME"],
            Self::Info => &["INFO"],
            Self::DbSize => &["DBSIZE"],
            Self::Scan => &["SCAN"],
            Self::Type => &["TYPE"],
            Self::Exists => &["EXISTS"],
            Self::Ttl => &["PTTL"],
            Self::MemoryUsage => &["MEMORY", "USAGE"],
            Self::Get => &["GET"],
            Self::StrLen => &["STRLEN"],
            Self::HGet => &["HGET"],
            Self::HMGet => &["HMGET"],
            Self::HLen => &["HLEN"],
            Self::HKeys => &["HKEYS"],
            Self::HScan => &["HSCAN"],
            Self::SCard => &["SCARD"],
            Self::SMembers => &["SMEMBERS"],
            Self::ZCard => &["ZCARD"],
            Self::ZRange => &["ZRANGE"],
            Self::ZScore => &["ZSCORE"],
            Self::XLen => &["XLEN"],
            Self::XRange => &["XRANGE"],
        }
    }
}

#[derive(Clone)]
pub struct Reader {
    redis: ConnectionManager,
}

impl Reader {
    pub async fn connect(url: &str) -> Result<Self, ObserverError> {
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(PATIENCE))
            .set_connection_timeout(Some(PATIENCE));
        let redis = redis::Client::open(url)?.get_connection_manager_with_config(config).await?;
        Ok(Self { redis })
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
