//! The formats of a store, as the steps that lead from each to the next. A new store takes all of them, so that a store
//! that was brought up and one that was made today are the same.

use std::path::Path;

use sqlx::{Connection, Row, SqliteConnection, sqlite::SqliteConnectOptions};

use super::file::{Lock, StoreError};

/// "RGLS": says that a SQLite file is a store of ours.
pub const APPLICATION_ID: i32 = 0x5247_4c53;

/// The step to each format from the one before it. Steps are added at the end and never changed.
const STEPS: [&str; 5] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// The format this Runeglass writes.
pub const SCHEMA_VERSION: i32 = STEPS.len() as i32;

/// Writes the newest format into an empty file.
pub async fn write_new(path: &Path) -> Result<(), sqlx::Error> {
    // Not WAL yet: the header must be in the file itself for `inspect` to see.
    let mut connection = SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path)).await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION_ID}")))
        .execute(&mut connection)
        .await?;
    climb(&mut connection, 0, SCHEMA_VERSION).await?;
    connection.close().await
}

/// Brings a store up to the newest format, in one transaction. Whoever calls this holds the lock of the store.
pub async fn bring_up(path: &Path, format: i32) -> Result<(), StoreError> {
    if format == SCHEMA_VERSION {
        return Ok(());
    }
    let shown = path.display().to_string();
    let wrap = |error| StoreError::from_sqlx(&shown, error);
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(false);
    let mut connection = SqliteConnection::connect_with(&options).await.map_err(wrap)?;
    // The header of the file may lag behind the log beside it; SQLite knows both.
    let found = version(&mut connection).await.map_err(wrap)?;
    if found < SCHEMA_VERSION {
        climb(&mut connection, found, SCHEMA_VERSION).await.map_err(wrap)?;
    }
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.map_err(wrap)?;
    connection.close().await.map_err(wrap)
}

/// A reader needs the newest format too. It changes an older store only while nobody else has it open.
pub async fn bring_up_for_reader(path: &Path, format: i32) -> Result<(), StoreError> {
    if format == SCHEMA_VERSION {
        return Ok(());
    }
    let older = |error: StoreError| StoreError::Older {
        path: path.display().to_string(),
        found: format,
        detail: error.to_string(),
    };
    let lock = Lock::take(path).map_err(older)?;
    bring_up(path, format).await.map_err(older)?;
    drop(lock);
    Ok(())
}

/// What a store of this format holds: type, name, table and statement of everything in its schema.
pub async fn schema_of(format: i32) -> Result<Vec<[String; 4]>, sqlx::Error> {
    let mut connection = SqliteConnection::connect_with(&SqliteConnectOptions::new().in_memory(true)).await?;
    climb(&mut connection, 0, format).await?;
    schema(&mut connection).await
}

pub async fn schema(connection: &mut SqliteConnection) -> Result<Vec<[String; 4]>, sqlx::Error> {
    let query = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";
    let rows = sqlx::query(query).fetch_all(connection).await?;
    rows.iter().map(|row| Ok([row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?])).collect()
}

pub async fn version(connection: &mut SqliteConnection) -> Result<i32, sqlx::Error> {
    sqlx::query("PRAGMA user_version").fetch_one(connection).await?.try_get(0)
}

async fn climb(connection: &mut SqliteConnection, from: i32, to: i32) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let ahead = STEPS.iter().take(to.max(0) as usize).skip(from.max(0) as usize);
    for step in ahead {
        sqlx::raw_sql(*step).execute(&mut *transaction).await?;
    }
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("PRAGMA user_version = {to}")))
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}
