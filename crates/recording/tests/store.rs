//! What goes into a store comes out of it, once and in order.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod chain;

use std::os::unix::fs::PermissionsExt;

use protocol::{ClusterDialect, Event, ExecutionPhase, ExecutionSummary, Fact, Gap, Note, Observed, Search};
use runeglass_recording::{Access, Ledger, Store, StoreError, node_detail};
use serde_json::json;

use chain::execution;

#[tokio::test]
async fn events_come_back_as_they_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/store.db");
    let large = json!({"text": "x".repeat(5_000)});
    let looks_like_a_marker = json!({"$payload": "0000"});
    let outputs =
        [json!(null), json!("ä\u{0}\n"), looks_like_a_marker, large, json!(9_007_199_254_740_993_i64)];
    let store = Store::open(&path, Access::Write).await.unwrap();
    for (at, output) in outputs.iter().enumerate() {
        let events = execution(&format!("x{at}"), 200, output);
        for group in events.chunks(37) {
            store.append(group).await.unwrap();
        }
        assert_eq!(store.events(&format!("x{at}").into()).await.unwrap(), events, "{output}");
    }
    assert!(store.unfinished().await.unwrap().is_empty());
    let listed = store.executions(10).await.unwrap();
    assert_eq!(listed.len(), outputs.len());
    assert_eq!((listed[0].execution_id.as_str(), listed[0].phase), ("x4", ExecutionPhase::Completed));
    assert!(store.events(&"nobody".into()).await.unwrap().is_empty());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "recordings are for their owner");
}

#[tokio::test]
async fn what_has_not_ended_is_not_left_out_for_what_has() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Access::Write).await.unwrap();
    for at in 0..6 {
        let events = execution(&format!("x{at}"), 2, &json!(1));
        // The second one hangs.
        let until = if at == 1 { events.len() - 1 } else { events.len() };
        store.append(&events[..until]).await.unwrap();
    }
    let (listed, total) = store.foremost(3).await.unwrap();
    let ids: Vec<&str> = listed.iter().map(|summary| summary.execution_id.as_str()).collect();
    assert_eq!((ids, total), (vec!["x5", "x4", "x1"], 6));
    assert_eq!(store.foremost(10).await.unwrap().0.len(), 6);
}

#[tokio::test]
async fn a_large_payload_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let large = json!({"text": "x".repeat(100_000)});
    let store = Store::open(&path, Access::Write).await.unwrap();
    store.append(&execution("x", 100, &large)).await.unwrap();
    let bytes: u64 = ["", "-wal"]
        .iter()
        .filter_map(|ending| std::fs::metadata(format!("{}{ending}", path.display())).ok())
        .map(|meta| meta.len())
        .sum();
    assert!(bytes < 600_000, "100 times 100 kB take {bytes} bytes");
}

#[tokio::test]
async fn what_was_seen_is_kept_or_goes_without_being_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = Store::open(&path, Access::Write).await.unwrap();
    for id in ["ours", "a", "b", "c"] {
        store.append(&execution(id, 2, &json!(1))).await.unwrap();
    }
    let ids = async |store: &Store| -> Vec<String> {
        let listed = store.executions(10).await.unwrap();
        listed.iter().rev().map(|summary| summary.execution_id.to_string()).collect()
    };
    store.mark_observed(&["a".into()], false).await.unwrap();
    store.mark_observed(&["b".into()], true).await.unwrap();
    assert_eq!(store.remove_passing().await.unwrap(), ["a".into()]);
    assert_eq!(ids(&store).await, ["ours", "b", "c"], "what was to be kept stays");
    // What was kept before is none of those who look now.
    store.mark_observed(&["c".into()], false).await.unwrap();
    store.keep_observed().await.unwrap();
    assert!(store.remove_passing().await.unwrap().is_empty(), "whoever begins to record keeps all of it");
    store.mark_observed(&["c".into()], false).await.unwrap();
    assert_eq!(store.remove_passing().await.unwrap(), ["c".into()]);
    assert_eq!(ids(&store).await, ["ours", "b"]);
}

#[tokio::test]
async fn what_nobody_looks_at_any_more_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Access::Write).await.unwrap();
    let seen = |id: &str| {
        let mut events = execution(id, 2, &json!(1));
        if let Fact::ExecutionStarted(started) = &mut events[0].fact {
            started.observed = Some(Observed::new("shop", ClusterDialect::Runeglass, false));
        }
        events
    };
    let under_way = seen("runs");
    let under_way = &under_way[..under_way.len() - 1];
    store.append(&execution("ours", 2, &json!(1))[..2]).await.unwrap();
    store.append(&seen("ended")).await.unwrap();
    store.append(under_way).await.unwrap();
    let gaps = async || -> Vec<(String, Vec<Gap>)> {
        let listed = store.executions(10).await.unwrap();
        let of = |summary: &ExecutionSummary| summary.observed.clone().map(|observed| observed.gaps);
        let told = listed.iter().map(|summary| (summary.execution_id.to_string(), of(summary)));
        told.filter_map(|(id, gaps)| Some((id, gaps.filter(|gaps| !gaps.is_empty())?))).collect()
    };
    store.leave_observed(Some(70_000)).await.unwrap();
    let left = gaps().await;
    assert_eq!((left.len(), left[0].0.as_str()), (1, "runs"), "{left:?}");
    assert_eq!((left[0].1[0].from, left[0].1[0].until), (70_000, None));
    store.leave_observed(Some(90_000)).await.unwrap();
    assert_eq!(gaps().await, left, "it is left once");
    // Who goes on with the log finds it as it was.
    let standing = store.standing(&"runs".into()).await.unwrap().unwrap();
    assert_eq!(standing.last, under_way.len() as u64);
    store.look_again(&"runs".into()).await.unwrap();
    assert_eq!(gaps().await, []);
    // Where nobody could say when, it was with the last that is recorded.
    store.leave_observed(None).await.unwrap();
    assert_eq!(gaps().await[0].1[0].from, under_way.last().unwrap().at);
}

#[tokio::test]
async fn what_somebody_wrote_a_note_to_does_not_go_with_those_who_look() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Access::Write).await.unwrap();
    for id in ["before", "noted", "marked", "bare"] {
        store.append(&execution(id, 2, &json!(1))).await.unwrap();
    }
    let note = |id: &str, text: &str| Note {
        execution_id: id.into(),
        position: 1,
        node_id: None,
        at: 5,
        text: text.to_owned(),
    };
    store.mark_observed(&["noted".into(), "marked".into(), "bare".into()], false).await.unwrap();
    store.add_note(&note("noted", "look here")).await.unwrap();
    store.add_note(&note("marked", "")).await.unwrap();
    for (id, may) in [("before", false), ("noted", false), ("marked", false), ("bare", true)] {
        let standing = store.standing(&id.into()).await.unwrap().unwrap();
        assert_eq!(standing.may_be_told_anew(), may, "{id}");
    }
    assert_eq!(store.remove_passing().await.unwrap(), ["bare".into()]);
    assert_eq!(store.notes(&"noted".into()).await.unwrap().len(), 1);
    // From now on it is a recording like any other.
    assert!(store.remove_passing().await.unwrap().is_empty());
    assert_eq!(store.executions(10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn what_goes_takes_its_words_along_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Access::Write).await.unwrap();
    for (id, word) in [("a", "apple"), ("b", "banana")] {
        store.append(&execution(id, 2, &json!({ "text": word }))).await.unwrap();
    }
    let found = async |word: &str, budget: u64| {
        let search = Search { words: Some(word.to_owned()), ..Search::default() };
        let found = store.search(&search, budget).await.unwrap();
        (found.hits.len(), found.unindexed.events)
    };
    assert!(found("apple", 1_000).await.0 > 0 && found("banana", 0).await.0 > 0);
    store.remove(&["a".into()]).await.unwrap();
    assert_eq!(found("apple", 0).await, (0, 0));
    let (hits, unindexed) = found("banana", 0).await;
    assert!(hits > 0, "what is left is found");
    assert_eq!(unindexed, 0, "and is not gathered again");
}

#[tokio::test]
async fn a_failed_group_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Access::Write).await.unwrap();
    let events = execution("x", 3, &json!({"text": "y".repeat(5_000)}));
    store.append(&events[..2]).await.unwrap();
    let mut twice = events[2..4].to_vec();
    twice.push(events[1].clone());
    assert!(store.append(&twice).await.is_err(), "the same seq cannot be written twice");
    assert_eq!(store.events(&"x".into()).await.unwrap(), events[..2]);
    store.append(&events[2..]).await.unwrap();
    assert_eq!(store.events(&"x".into()).await.unwrap(), events);
}

#[tokio::test]
async fn one_writer_many_readers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    assert!(matches!(Store::open(&path, Access::Read).await, Err(StoreError::Missing { .. })));
    let writer = Store::open(&path, Access::Write).await.unwrap();
    assert!(matches!(Store::open(&path, Access::Write).await, Err(StoreError::InUse { .. })));
    let reader = Store::open(&path, Access::Read).await.unwrap();
    let events = execution("x", 2, &json!(1));
    writer.append(&events).await.unwrap();
    assert_eq!(reader.events(&"x".into()).await.unwrap(), events, "a reader sees what was committed");
    assert!(matches!(reader.append(&events).await, Err(StoreError::ReadOnly { .. })));
    drop(writer);
    Store::open(&path, Access::Write).await.unwrap();
}

#[test]
fn a_log_that_does_not_add_up_is_refused() {
    let events = execution("x", 2, &json!(1));
    assert!(Ledger::replay(&events).unwrap().is_quiet());
    assert!(Ledger::replay(&[]).is_err());
    assert!(Ledger::replay(&events[1..]).is_err(), "no beginning");
    let without = |missing: usize| -> Vec<Event> {
        events.iter().enumerate().filter(|(at, _)| *at != missing).map(|(_, event)| event.clone()).collect()
    };
    assert!(Ledger::replay(&without(2)).is_err(), "a gap");
    let mut twice = events.clone();
    twice.insert(3, Event { seq: 4, ..events[2].clone() });
    assert!(Ledger::replay(&twice[..4]).is_err(), "a node that ends twice");
}

#[test]
fn the_inspector_sees_what_the_node_saw() {
    let events = execution("x", 3, &json!({"n": 7}));
    let detail = node_detail(&events, &"n2".into()).unwrap();
    assert_eq!(detail.total, 1);
    let input = serde_json::to_value(&detail.firings[0].input).unwrap();
    assert_eq!(input["data"]["json"], json!({"$n0": {"n": 7}, "$n1": {"n": 7}, "$trigger": {"x": 1}}));
    assert_eq!(detail.firings[0].duration_ms, Some(3));
    assert_eq!(node_detail(&events, &"nobody".into()).unwrap().total, 0);
}
