//! The bare skeleton: what remains when an engine is taken out of its shell. Messages are routed from node to node,
//! and for every node two rows become durable, as in our store: that it began, and what came of it. No expression, no
//! join, no view, no feed. Whatever an engine adds makes it slower than this.

use std::{collections::HashMap, path::Path};

use serde_json::{Value, json};
use sqlx::{
    Connection, QueryBuilder, Sqlite, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tokio::sync::mpsc;

use super::part::{millis_since, times};

/// Nodes that every item passes.
pub const NODES_PER_ITEM: usize = 3;
const REPEATS: usize = 7;
/// As in our store: rows per statement, and rows that may wait for the disk.
const ROWS_PER_INSERT: usize = 128;
const ROOM: usize = 20_000;

struct Row {
    seq: i64,
    body: String,
}

struct Message {
    node: &'static str,
    item: usize,
    payload: String,
}

pub async fn measure(items: usize) -> Result<Value, sqlx::Error> {
    let nodes = NODES_PER_ITEM * items + 3;
    let mut millis = Vec::new();
    for _ in 0..REPEATS {
        let folder = tempfile::tempdir()?;
        let connection = connect(&folder.path().join("skeleton.db")).await?;
        let began = tokio::time::Instant::now();
        let (rows, waiting) = mpsc::channel(ROOM);
        let writer = tokio::spawn(write_groups(connection, waiting));
        route(items, rows).await;
        let written = writer.await.map_err(|error| sqlx::Error::Io(error.into()))??;
        millis.push(millis_since(began));
        if written != 2 * nodes {
            return Err(sqlx::Error::Protocol(format!("{written} rows were written for {nodes} nodes")));
        }
    }
    Ok(json!({"millis": times(millis), "nodes": nodes}))
}

/// The settings and the table of our store.
async fn connect(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(false);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let table = "CREATE TABLE events (execution INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, \
                 body TEXT NOT NULL, PRIMARY KEY (execution, seq)) STRICT, WITHOUT ROWID";
    sqlx::raw_sql(table).execute(&mut connection).await?;
    Ok(connection)
}

/// Walks every message to its end; the rows follow each other in one order, as in a log.
async fn route(items: usize, rows: mpsc::Sender<Row>) {
    let next: HashMap<&str, &str> =
        [("start", "each"), ("one", "two"), ("two", "three"), ("three", "all")].into();
    let mut seq = 0;
    let mut queue = std::collections::VecDeque::new();
    queue.push_back(Message { node: "start", item: 0, payload: "{}".to_owned() });
    let mut gathered = 0;
    while let Some(Message { node, item, payload }) = queue.pop_front() {
        for row in rows_of(node, item, &payload, &mut seq) {
            if rows.send(row).await.is_err() {
                // The writer has failed; it says why.
                return;
            }
        }
        match next.get(node).copied() {
            Some("all") => {
                gathered += 1;
                if gathered == items {
                    queue.push_back(Message { node: "all", item: 0, payload });
                }
            }
            Some(node) => queue.push_back(Message { node, item, payload }),
            None if node == "each" => {
                let message = |item| Message {
                    node: "one",
                    item,
                    payload: format!("{{\"n\":{item},\"double\":{}}}", 2 * item),
                };
                queue.extend((0..items).map(message));
            }
            None => {}
        }
    }
}

/// About as long as the events of our store.
fn rows_of(node: &str, item: usize, payload: &str, seq: &mut i64) -> [Row; 2] {
    let firing = format!(
        "\"firing\":{{\"message_id\":\"{item:032x}\",\"node_id\":\"{node}\",\"lineage\":[{{\"split\":\"each\",\"index\":{item}}}],\"attempt\":1}}"
    );
    *seq += 2;
    [
        Row {
            seq: *seq - 1,
            body: format!("{{\"type\":\"node_started\",{firing},\"parameters\":{payload}}}"),
        },
        Row {
            seq: *seq,
            body: format!(
                "{{\"type\":\"node_succeeded\",{firing},\"duration\":0,\"output\":{payload},\"taken\":[\"1\"]}}"
            ),
        },
    ]
}

/// While one group is being written the next one gathers.
async fn write_groups(
    mut connection: SqliteConnection,
    mut waiting: mpsc::Receiver<Row>,
) -> Result<usize, sqlx::Error> {
    let (mut group, mut written) = (Vec::with_capacity(ROOM), 0);
    while waiting.recv_many(&mut group, ROOM).await > 0 {
        written += group.len();
        let mut transaction = connection.begin().await?;
        for chunk in group.chunks_mut(ROWS_PER_INSERT) {
            let full = chunk.len() == ROWS_PER_INSERT;
            let mut insert = QueryBuilder::<Sqlite>::new("INSERT INTO events (execution, seq, at, body) ");
            insert.push_values(chunk, |mut values, row| {
                values.push_bind(1).push_bind(row.seq).push_bind(0).push_bind(std::mem::take(&mut row.body));
            });
            insert.build().persistent(full).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        group.clear();
    }
    connection.close().await?;
    Ok(written)
}
