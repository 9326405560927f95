//! A store is brought up, checked, packed and pruned without losing what is wanted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod chain;

use std::path::Path;

use protocol::ExecutionId;
use runeglass_recording::{Access, Prune, Store, StoreError};
use serde_json::json;
use sqlx::{Connection, Row, SqliteConnection, sqlite::SqliteConnectOptions};

use chain::execution;

async fn connect(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn schema(path: &Path) -> Vec<String> {
    let mut connection = connect(path).await;
    let query = "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name";
    let rows = sqlx::query(query).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// A store as the first Runeglass wrote it: no packed payloads, no notes.
async fn first_format(path: &Path, id: &str) {
    let events = execution(id, 20, &json!({"text": "x".repeat(5_000)}));
    let store = Store::open(path, Access::Write).await.unwrap();
    store.append(&events).await.unwrap();
    drop(store);
    let mut connection = connect(path).await;
    for payload in events.iter().flat_map(|event| event.fact.payloads()) {
        sqlx::query("UPDATE payloads SET body = ? WHERE hash = ?")
            .bind(payload.text())
            .bind(blake3::hash(payload.text().as_bytes()).to_hex().to_string())
            .execute(&mut connection)
            .await
            .unwrap();
    }
    for statement in [
        "CREATE TABLE older (hash TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID",
        "INSERT INTO older SELECT hash, body FROM payloads",
        "DROP TABLE payloads",
        "DROP TABLE notes",
        "DROP TABLE controls",
        "DROP TABLE holds",
        "PRAGMA user_version = 1",
        "PRAGMA journal_mode = DELETE",
    ] {
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    }
    let first = include_str!("../src/store/schema/1.sql");
    let payloads = &first[first.find("CREATE TABLE payloads").unwrap()..];
    sqlx::raw_sql(payloads).execute(&mut connection).await.unwrap();
    sqlx::raw_sql("INSERT INTO payloads SELECT hash, body FROM older")
        .execute(&mut connection)
        .await
        .unwrap();
    sqlx::raw_sql("DROP TABLE older").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn an_older_store_is_brought_up_and_reads_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("fresh.db");
    drop(Store::open(&fresh, Access::Write).await.unwrap());
    for (name, access) in [("write.db", Access::Write), ("read.db", Access::Read)] {
        let path = folder.path().join(name);
        first_format(&path, "x").await;
        let store = Store::open(&path, access).await.unwrap();
        let expected = execution("x", 20, &json!({"text": "x".repeat(5_000)}));
        assert_eq!(store.events(&"x".into()).await.unwrap(), expected);
        assert!(store.check().await.unwrap().is_sound());
        drop(store);
        assert_eq!(schema(&path).await, schema(&fresh).await, "brought up and new are the same");
    }
}

#[tokio::test]
async fn an_older_store_that_somebody_has_open_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    first_format(&path, "x").await;
    let lock = std::fs::File::create(folder.path().join("runs.db.lock")).unwrap();
    lock.lock().unwrap();
    let before = std::fs::read(&path).unwrap();
    let refused = Store::open(&path, Access::Read).await.err().unwrap();
    assert!(matches!(refused, StoreError::Older { found: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("in use"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_newer_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(Store::open(&path, Access::Write).await.unwrap());
    let mut connection = connect(&path).await;
    sqlx::raw_sql("PRAGMA journal_mode = DELETE; PRAGMA user_version = 77")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let before = std::fs::read(&path).unwrap();
    for access in [Access::Read, Access::Write] {
        let refused = Store::open(&path, access).await.err().unwrap();
        assert!(matches!(refused, StoreError::Newer { found: 77, .. }), "{refused}");
        assert!(refused.to_string().contains("format 77"), "{refused}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn what_is_damaged_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = Store::open(&path, Access::Write).await.unwrap();
    for id in ["good", "gap", "changed"] {
        store.append(&execution(id, 5, &json!({"who": id, "text": "y".repeat(3_000)}))).await.unwrap();
    }
    let checked = store.check().await.unwrap();
    assert!(checked.is_sound(), "{checked:?}");
    assert_eq!((checked.executions, checked.events, checked.payloads), (3, 36, 3));
    drop(store);
    let mut connection = connect(&path).await;
    let gap = "DELETE FROM events WHERE seq = 4 AND execution = (SELECT id FROM executions WHERE execution_id = 'gap')";
    sqlx::query(gap).execute(&mut connection).await.unwrap();
    let hash = blake3::hash(json!({"who": "changed", "text": "y".repeat(3_000)}).to_string().as_bytes());
    sqlx::query("UPDATE payloads SET body = '{}', packed = NULL WHERE hash = ?")
        .bind(hash.to_hex().to_string())
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let checked = Store::open(&path, Access::Read).await.unwrap().check().await.unwrap();
    assert_eq!(checked.complaint_count, 2, "{checked:?}");
    assert!(checked.complaints[0].contains("is not what its hash says"), "{checked:?}");
    assert!(checked.complaints[1].contains("gap") && checked.complaints[1].contains("expected event 4"));
}

#[tokio::test]
async fn old_executions_go_and_their_payloads_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = Store::open(&path, Access::Write).await.unwrap();
    let shared = json!({"text": "shared ".repeat(500)});
    for (id, later) in [("old", 0), ("young", 1_000_000), ("youngest", 2_000_000)] {
        let mut events = execution(id, 10, &shared);
        events.iter_mut().for_each(|event| event.at += later);
        store.append(&events).await.unwrap();
    }
    let mut unfinished = execution("unfinished", 10, &json!({"own": "unfinished".repeat(500)}));
    unfinished.pop();
    store.append(&unfinished).await.unwrap();
    let cleaned = store.prune(Prune { ended_before: Some(500_000), most_bytes: None }).await.unwrap();
    assert_eq!(cleaned.removed, ["old".into()] as [ExecutionId; 1]);
    assert!(store.events(&"old".into()).await.unwrap().is_empty());
    assert_eq!(store.events(&"young".into()).await.unwrap().len(), 22, "what it shares is still there");
    assert!(store.check().await.unwrap().is_sound());

    let cleaned = store.prune(Prune { ended_before: None, most_bytes: Some(1) }).await.unwrap();
    assert_eq!(cleaned.removed.len(), 2, "what has not ended stays, however large the store is");
    let checked = store.check().await.unwrap();
    assert!(checked.is_sound());
    assert_eq!((checked.executions, checked.payloads), (1, 1));
    // The writer has forgotten what is gone: the same payload is stored again.
    store.append(&execution("again", 10, &shared)).await.unwrap();
    assert!(store.check().await.unwrap().is_sound());
}

#[tokio::test]
async fn the_oldest_go_until_the_size_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = Store::open(&path, Access::Write).await.unwrap();
    for at in 0..40_i64 {
        let mut events = execution(&format!("x{at:02}"), 100, &json!({"n": at, "text": "z".repeat(600)}));
        events.iter_mut().for_each(|event| event.at += at * 1_000);
        store.append(&events).await.unwrap();
    }
    let most = 1_500_000;
    let cleaned = store.prune(Prune { ended_before: None, most_bytes: Some(most) }).await.unwrap();
    assert!(cleaned.bytes_before > 2 * most && cleaned.bytes_after <= most, "{cleaned:?}");
    let left = store.executions(100).await.unwrap();
    assert_eq!(left.len() + cleaned.removed.len(), 40);
    assert!(left.len() > 5, "not more than needed: {} are left", left.len());
    assert_eq!((left[0].execution_id.as_str(), cleaned.removed[0].as_str()), ("x39", "x00"));
    drop(store);
    let on_disk = std::fs::metadata(&path).unwrap().len();
    assert_eq!(on_disk, cleaned.bytes_after, "the room is given back");
}

#[tokio::test]
async fn compacting_packs_what_was_written_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    first_format(&path, "x").await;
    let store = Store::open(&path, Access::Write).await.unwrap();
    store.compact().await.unwrap();
    let expected = execution("x", 20, &json!({"text": "x".repeat(5_000)}));
    assert_eq!(store.events(&"x".into()).await.unwrap(), expected);
    drop(store);
    let mut connection = connect(&path).await;
    let row = sqlx::query("SELECT sum(length(body)), sum(length(packed)), count(*) FROM payloads")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let (text, packed, count) = (row.get::<i64, _>(0), row.get::<i64, _>(1), row.get::<i64, _>(2));
    assert!(text == 0 && packed < 1_500 && count == 2, "{text} bytes of text, {packed} packed, in {count}");
}

#[tokio::test]
async fn what_is_erased_is_in_no_file_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = Store::open(&path, Access::Write).await.unwrap();
    store.append(&execution("told", 20, &json!({"key": "sesame"}))).await.unwrap();
    store.append(&execution("large", 2, &json!({"key": "sesame", "text": "x".repeat(5_000)}))).await.unwrap();
    store.append(&execution("stays", 20, &json!({"key": "hidden"}))).await.unwrap();
    let holds = |word: &str| {
        let files = std::fs::read_dir(folder.path()).unwrap();
        let bytes = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect::<Vec<u8>>();
        bytes.windows(word.len()).any(|part| part == word.as_bytes())
    };
    assert!(holds("sesame"));
    store.erase(&["told".into(), "large".into()]).await.unwrap();
    assert!(!holds("sesame"));
    assert!(holds("hidden"));
    assert_eq!(store.events(&"stays".into()).await.unwrap().len(), execution("stays", 20, &json!(1)).len());
}
