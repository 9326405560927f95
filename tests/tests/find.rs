//! Executions and payloads are found again.

use std::path::Path;

use protocol::{Event, ExecutionId, ExecutionPhase, Filter, Part, Search, Unindexed};
use recording::{Access, Store, StoreError};
use runeglass_tests::local;
use serde_json::{Value, json};

/// One item per order; the last of them fails.
fn orders() -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.orders"}},
            {"id": "pack", "type": "edit", "parameters": {"assignments": [{"name": "order", "value": "$item"}]}},
            {"id": "send", "type": "log", "parameters": {"message": "$item.missing"}},
            {"id": "all", "type": "aggregator"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "pack"},
            {"id": "3", "src": "pack", "dst": "send"}, {"id": "4", "src": "send", "dst": "all"}
        ]
    })
}

async fn recorded(id: &str, orders: &Value, workflow: &Value) -> Vec<Event> {
    let mut events = local::run(local::plan(workflow), json!({"orders": orders})).await.events;
    events.iter_mut().for_each(|event| event.execution_id = ExecutionId::from(id));
    events
}

async fn store(path: &Path) -> Store {
    let store = Store::open(path, Access::Write).await.expect("a store");
    for number in 0..5 {
        let large = "long text ".repeat(300);
        let orders = json!([
            {"id": number * 10, "name": "Ada Lovelace", "total": 19.5},
            {"id": number * 10 + 1, "name": "Grüße an Grace", "total": 7, "note": large}
        ]);
        store
            .append(&recorded(&format!("x{number}"), &orders, &orders_of(number)).await)
            .await
            .expect("written");
    }
    store
}

fn orders_of(number: i64) -> Value {
    let mut workflow = orders();
    workflow["name"] = json!(format!("Orders {number}"));
    workflow
}

fn words(words: &str) -> Search {
    Search { words: Some(words.to_owned()), ..Search::default() }
}

fn path(query: &str) -> Search {
    Search { path: Some(query.to_owned()), ..Search::default() }
}

#[tokio::test]
async fn executions_are_listed_by_what_is_known_of_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(&folder.path().join("runs.db")).await;
    let ids = |page: &protocol::ExecutionPage| -> Vec<String> {
        page.executions.iter().map(|execution| execution.execution_id.to_string()).collect()
    };
    let first = store.list(&Filter::default(), None, 2).await.expect("a page");
    assert_eq!(ids(&first), ["x4", "x3"]);
    let second = store.list(&Filter::default(), first.next.as_deref(), 2).await.expect("a page");
    assert_eq!(ids(&second), ["x2", "x1"]);
    let last = store.list(&Filter::default(), second.next.as_deref(), 2).await.expect("a page");
    assert_eq!((ids(&last), last.next), (vec!["x0".to_owned()], None));
    let check = async |filter: Filter, count: usize| {
        let page = store.list(&filter, None, 50).await.expect("a page");
        assert_eq!(page.executions.len(), count, "{filter:?}");
    };
    check(Filter { phase: Some(ExecutionPhase::Completed), ..Filter::default() }, 5).await;
    check(Filter { phase: Some(ExecutionPhase::Failed), ..Filter::default() }, 0).await;
    check(Filter { workflow: Some("LOC".to_owned()), ..Filter::default() }, 5).await;
    check(Filter { workflow: Some("nothing".to_owned()), ..Filter::default() }, 0).await;
    check(Filter { execution_id: Some("x3".into()), ..Filter::default() }, 1).await;
    check(Filter { since: Some(1), ..Filter::default() }, 0).await;
    check(Filter { until: Some(1), ..Filter::default() }, 5).await;
    let lost = store.list(&Filter::default(), Some("somewhere"), 2).await;
    assert!(matches!(lost, Err(StoreError::Query { .. })));
}

#[tokio::test]
async fn words_are_found_in_payloads_and_errors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(&folder.path().join("runs.db")).await;
    let count = async |search: Search| store.search(&search, u64::MAX).await.expect("found").hits.len();
    let found = store.search(&words("lovelace"), u64::MAX).await.expect("found");
    assert_eq!(found.unindexed, Unindexed::default());
    assert_eq!((found.hits[0].execution_id.as_str(), found.hits.len() % 5), ("x4", 0));
    assert!(found.hits.iter().all(|hit| hit.excerpt.contains("Lovelace")));
    assert!(count(words("GRÜSSE grace")).await == 0 && count(words("grüße grace")).await > 0);
    assert!(count(words("love*")).await > 0 && count(words("love")).await == 0);
    assert!(count(words("\"ada lovelace\"")).await > 0 && count(words("\"lovelace ada\"")).await == 0);
    assert_eq!(count(words("nowhere")).await, 0);
    // What means something to the index means nothing here.
    for odd in ["AND OR", "a:b", "NEAR(ada)", "\"", "ada\"", "-ada", "^ada", "'); DROP TABLE words; --"] {
        if let Err(error) = store.search(&words(odd), u64::MAX).await {
            assert!(matches!(error, StoreError::Query { .. }), "{odd}: {error}");
        }
    }
    let of_send = Search { node_id: Some("send".into()), ..words("resolved missing") };
    let errors = store.search(&of_send, u64::MAX).await.expect("found").hits;
    assert_eq!((errors.len(), errors[0].part), (10, Part::Error));
    assert_eq!(
        (errors[0].node_id.as_ref().map(|id| id.as_str()), errors[0].key.as_str()),
        (Some("send"), "each=1")
    );
    let only = Search { node_id: Some("pack".into()), ..words("lovelace") };
    let found = store.search(&only, u64::MAX).await.expect("found").hits;
    assert!(!found.is_empty() && found.iter().all(|hit| hit.node_id == Some("pack".into())));
}

#[tokio::test]
async fn values_are_found_by_their_path() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(&folder.path().join("runs.db")).await;
    let hits = async |search: Search| store.search(&search, u64::MAX).await.expect("found").hits;
    let found = hits(path("$.$json.order.id == 31")).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].execution_id.as_str(), found[0].part, found[0].excerpt.as_str()),
        ("x3", Part::Output, "31")
    );
    assert_eq!(found[0].path.as_deref(), Some("$.$json.order.id"));
    // No index helps here: the log is read.
    assert_eq!(hits(path("$.$json.order.total > 19")).await.len(), 5);
    let within = Filter { execution_id: Some("x2".into()), ..Filter::default() };
    assert_eq!(hits(Search { filter: within, ..path("$.$json.order.total > 5") }).await.len(), 2);
    assert_eq!(
        hits(path("$.orders[*].name contains 'Ada'")).await.len(),
        10,
        "the input, and what the trigger says"
    );
    let wrong = store.search(&path("order == 1"), 0).await;
    assert!(matches!(wrong, Err(StoreError::Query { .. })));
    assert!(store.search(&Search::default(), 0).await.is_err(), "nothing to look for");
}

#[tokio::test]
async fn pages_together_are_everything_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(&folder.path().join("runs.db")).await;
    for search in [words("ada"), path("$..total > 1")] {
        let all = Search { limit: Some(500), ..search.clone() };
        let all = store.search(&all, u64::MAX).await.expect("found").hits;
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = Search { limit: Some(3), after: after.take(), ..search.clone() };
            let page = store.search(&page, 0).await.expect("found");
            paged.extend(page.hits);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert!(all.len() > 6 && paged == all, "{} and {}", all.len(), paged.len());
    }
}

#[tokio::test]
async fn what_is_not_indexed_yet_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("runs.db");
    let writer = store(&path).await;
    let reader = Store::open(&path, Access::Read).await.expect("a store");
    let events = reader.events(&"x0".into()).await.expect("events").len() as u64;
    let found = reader.search(&words("lovelace"), 0).await.expect("found");
    assert_eq!((found.hits.len(), found.unindexed), (0, Unindexed { executions: 5, events: 5 * events }));
    let found = reader.search(&words("lovelace"), events + 3).await.expect("found");
    assert!(!found.hits.is_empty());
    assert_eq!(found.unindexed, Unindexed { executions: 4, events: 4 * events - 3 });
    // A longer log is taken up where it was left.
    assert_eq!(reader.index(u64::MAX).await.expect("indexed"), Unindexed::default());
    let more = recorded("x5", &json!([{"id": 1, "name": "Lovelace again"}]), &orders()).await;
    writer.append(&more[..4]).await.expect("written");
    assert_eq!(reader.index(0).await.expect("counted"), Unindexed { executions: 1, events: 4 });
    writer.append(&more[4..]).await.expect("written");
    let found = reader.search(&words("\"lovelace again\""), u64::MAX).await.expect("found");
    assert_eq!(found.hits[0].execution_id.as_str(), "x5");
}
