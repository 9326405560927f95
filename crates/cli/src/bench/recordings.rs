//! Looking into recordings: any moment of a long one, a store with many, words in all of them, two side by side.

use std::path::Path;

use protocol::{Filter, Payload, Search};
use recording::{Access, Store, StoreError};
use serde_json::{Value, json};

use super::{
    fan_out::{input, open, plan, run, temporary},
    part::{millis_since, percentile, times},
};
use crate::outcome::CommandError;

/// Every node leaves two events behind, and two of them run per item.
const EVENTS_PER_ITEM: usize = 4;
const SEEKS: usize = 400;
/// Executions of the large store, and the items of each: a million messages, two million events.
const EXECUTIONS: usize = 2_000;
const ITEMS_EACH: usize = 250;
const SEARCHES: usize = 100;
const REPEATS: usize = 5;

const NAMES: [&str; 8] = ["Ada", "Grace", "Barbara", "Edsger", "Donald", "Tony", "Leslie", "Margaret"];
const CITIES: [&str; 5] = ["Lisbon", "Oslo", "Quito", "Nairobi", "Osaka"];

/// Random moments of one recording of so many events. The first of them finds no snapshot and folds from the start.
pub async fn measure_seek(events: usize) -> Result<Value, CommandError> {
    let folder = temporary()?;
    let path = folder.path().join("seek.db");
    let session = open(&path).await?;
    let id = run(&session, &plan()?, Some(input(events / EVENTS_PER_ITEM, 0))).await?;
    session.close().await?;
    drop(session);
    let store = reader(&path).await?;
    let last = match store.span(&id, 1).await.map_err(broken)? {
        Some((_, last)) => last,
        None => return Err(CommandError::usage("the benchmark recorded nothing", "run `make test`")),
    };
    let (mut dice, mut millis) = (Dice(7), Vec::with_capacity(SEEKS));
    for _ in 0..SEEKS {
        let position = 1 + dice.roll(last as usize) as u64;
        let began = tokio::time::Instant::now();
        let view = store.view_at(&id, position).await.map_err(broken)?;
        millis.push(millis_since(began));
        if view.is_none_or(|view| view.position != position) {
            return Err(CommandError::usage("a moment was not found", "run `make test`"));
        }
    }
    let first = millis[0];
    millis.sort_by(f64::total_cmp);
    Ok(json!({
        "events": last, "seeks": SEEKS, "first": first, "p50": percentile(&millis, 0.5),
        "p95": percentile(&millis, 0.95), "slowest": percentile(&millis, 1.0)
    }))
}

/// A store of a million messages: opening it and listing what it holds, and finding things in it. Each opening and
/// listing is that of a program that has just been started.
pub async fn measure_store() -> Result<Value, CommandError> {
    let folder = temporary()?;
    let path = folder.path().join("large.db");
    let (messages, bytes) = fill(&path).await?;
    let mut listing = Vec::new();
    for _ in 0..REPEATS {
        let began = tokio::time::Instant::now();
        let store = reader(&path).await?;
        let page = store.list(&Filter::default(), None, 1_000).await.map_err(broken)?;
        listing.push(millis_since(began));
        if page.executions.len() != EXECUTIONS.min(1_000) {
            return Err(CommandError::usage("executions are missing", "run `make test`"));
        }
    }
    let store = reader(&path).await?;
    let began = tokio::time::Instant::now();
    let unindexed = store.index(u64::MAX).await.map_err(broken)?;
    let indexing = millis_since(began);
    let mut dice = Dice(11);
    let (mut millis, mut slowest) = (Vec::with_capacity(SEARCHES), (0.0, String::new()));
    let mut hits = 0;
    for at in 0..SEARCHES {
        let search = searched(at, &mut dice);
        let began = tokio::time::Instant::now();
        let found = store.search(&search, u64::MAX).await.map_err(broken)?;
        let took = millis_since(began);
        hits += found.hits.len();
        if took > slowest.0 {
            slowest = (took, search.words.or(search.path).unwrap_or_default());
        }
        millis.push(took);
        if found.hits.is_empty() && found.next.is_none() {
            return Err(CommandError::usage("something that is there was not found", "run `make test`"));
        }
    }
    millis.sort_by(f64::total_cmp);
    Ok(json!({
        "executions": EXECUTIONS, "messages": messages, "events": 2 * (messages + EXECUTIONS), "bytes": bytes,
        "listing": times(listing), "indexing": indexing, "unindexed": unindexed.events,
        "search": {"p50": percentile(&millis, 0.5), "p95": percentile(&millis, 0.95), "slowest": slowest.0,
                   "slowest_for": slowest.1, "searches": SEARCHES, "hits": hits}
    }))
}

/// Two runs of F(N) over different numbers, read and compared.
pub async fn measure_compare(items: usize) -> Result<Value, CommandError> {
    let folder = temporary()?;
    let path = folder.path().join("pair.db");
    let session = open(&path).await?;
    let a = run(&session, &plan()?, Some(input(items, 0))).await?;
    let changed: Vec<Value> =
        (0..items).map(|n| json!({"n": if n % 100 == 7 { n + 1 } else { n }})).collect();
    let b = run(&session, &plan()?, Some(Payload::new(json!({"items": changed, "ballast": ""})))).await?;
    session.close().await?;
    drop(session);
    let store = reader(&path).await?;
    let mut millis = Vec::new();
    for _ in 0..REPEATS {
        let began = tokio::time::Instant::now();
        let (one, other) = (store.events(&a).await.map_err(broken)?, store.events(&b).await.map_err(broken)?);
        let comparison = recording::compare(&one, &other);
        millis.push(millis_since(began));
        // Trigger, split and aggregator, and two nodes per item.
        let expected = 3 + 2 * items.div_ceil(100);
        if comparison.total.changed != expected {
            let message = format!("{} of {expected} changes were found", comparison.total.changed);
            return Err(CommandError::usage(message, "run `make test`"));
        }
    }
    Ok(json!({"items": items, "millis": times(millis)}))
}

/// The number of messages, and the size of the file with its log.
async fn fill(path: &Path) -> Result<(usize, u64), CommandError> {
    let session = open(path).await?;
    let plan = plan()?;
    let mut dice = Dice(3);
    for at in 0..EXECUTIONS {
        let order = |n: usize| {
            json!({
                "n": n, "order": format!("A{}", at * ITEMS_EACH + n),
                "name": NAMES[dice.roll(NAMES.len())], "city": CITIES[dice.roll(CITIES.len())]
            })
        };
        let orders: Vec<Value> = (0..ITEMS_EACH).map(order).collect();
        run(&session, &plan, Some(Payload::new(json!({"items": orders})))).await?;
    }
    session.close().await?;
    drop(session);
    let sizes = [path.to_owned(), path.with_extension("db-wal")];
    let bytes = sizes.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|meta| meta.len()).sum();
    Ok((EXECUTIONS * (2 * ITEMS_EACH + 3), bytes))
}

/// What people look for: one thing, something common, two things at once, the beginning of a word, a value at a path.
fn searched(at: usize, dice: &mut Dice) -> Search {
    let order = format!("A{}", dice.roll(EXECUTIONS * ITEMS_EACH));
    let (name, city) = (NAMES[dice.roll(NAMES.len())], CITIES[dice.roll(CITIES.len())]);
    let words = |words: String| Search { words: Some(words), ..Search::default() };
    match at % 5 {
        0 => words(order),
        1 => words(city.to_owned()),
        2 => words(format!("{name} {city}")),
        3 => words(format!("{}*", &order[..order.len().min(5)])),
        _ => Search { path: Some(format!("$..order == '{order}'")), ..Search::default() },
    }
}

async fn reader(path: &Path) -> Result<Store, CommandError> {
    Store::open(path, Access::Read).await.map_err(broken)
}

fn broken(error: StoreError) -> CommandError {
    session::store_problem(&error).into()
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}
