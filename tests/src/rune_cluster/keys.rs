//! What the cluster keeps in Redis, key by key, with what its scripts do to it.

use std::collections::{BTreeMap, BTreeSet};

/// A key, as Redis has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// With the seconds it lives, where it does not live for ever.
    Text(String, Option<u64>),
    Hash(BTreeMap<String, String>),
    Set(BTreeSet<String>),
    Sorted(BTreeMap<String, i64>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys(pub BTreeMap<String, Key>);

const DAY: u64 = 86_400;
pub const TIMERS: &str = "scheduler:timers";
pub const PAYLOADS: &str = "scheduler:payloads";

/// What an aggregate script answers.
pub enum Gathered {
    Waits {
        processed: u32,
    },
    /// The branches, as texts, in the order of their items; `null` for one that is not there.
    Opens(Vec<String>),
    Fails(String),
}

impl Keys {
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key) {
            Some(Key::Text(text, _)) => Some(text),
            _ => None,
        }
    }

    fn hash(&mut self, key: &str) -> &mut BTreeMap<String, String> {
        let entry = self.0.entry(key.to_owned()).or_insert_with(|| Key::Hash(BTreeMap::new()));
        match entry {
            Key::Hash(fields) => fields,
            _ => panic!("{key} is no hash"),
        }
    }

    fn sorted(&mut self) -> &mut BTreeMap<String, i64> {
        let entry = self.0.entry(TIMERS.to_owned()).or_insert_with(|| Key::Sorted(BTreeMap::new()));
        match entry {
            Key::Sorted(members) => members,
            _ => panic!("{TIMERS} is no sorted set"),
        }
    }

    /// A split says how many there are. The key says nothing of where the split stands.
    pub fn expect(&mut self, execution: &str, split: &str, total: usize) {
        let key = format!("exec:{execution}:split:{split}:expected");
        self.0.insert(key, Key::Text(total.to_string(), Some(DAY)));
    }

    /// Counts deliveries, not items.
    pub fn gather(&mut self, execution: &str, split: &str, index: u32, payload: String) -> Gathered {
        let prefix = format!("exec:{execution}:split:{split}");
        self.hash(&format!("{prefix}:results")).insert(index.to_string(), payload);
        let count_key = format!("{prefix}:count");
        let count = self.text(&count_key).and_then(|count| count.parse().ok()).unwrap_or(0) + 1;
        self.0.insert(count_key.clone(), Key::Text(count.to_string(), None));
        let Some(expected) =
            self.text(&format!("{prefix}:expected")).and_then(|text| text.parse::<u32>().ok())
        else {
            let why = "lua script failed: ERR_MISSING_TOTAL: Split did not initialize expected count";
            return Gathered::Fails(why.to_owned());
        };
        if count != expected {
            return Gathered::Waits { processed: count };
        }
        let results = self.hash(&format!("{prefix}:results")).clone();
        let branch =
            |index: u32| results.get(&index.to_string()).cloned().unwrap_or_else(|| "null".to_owned());
        let branches = (0..expected).map(branch).collect();
        for part in ["results", "count", "expected"] {
            self.0.remove(&format!("{prefix}:{part}"));
        }
        Gathered::Opens(branches)
    }

    /// Arrivals are parents; what is expected are edges. `Ok` with the branches once all are there.
    pub fn merge_all(
        &mut self,
        execution: &str,
        merge: &str,
        (parent, payload): (&str, String),
        expected: usize,
    ) -> Result<BTreeMap<String, String>, usize> {
        let prefix = format!("exec:{execution}:node:{merge}:barrier");
        let key = format!("{prefix}:arrivals");
        let entry = self.0.entry(key.clone()).or_insert_with(|| Key::Set(BTreeSet::new()));
        let Key::Set(arrivals) = entry else { panic!("{key} is no set") };
        arrivals.insert(parent.to_owned());
        let arrived = arrivals.len();
        self.hash(&format!("{prefix}:data")).insert(parent.to_owned(), payload);
        if arrived != expected {
            return Err(arrived);
        }
        let branches = self.hash(&format!("{prefix}:data")).clone();
        self.0.remove(&format!("{prefix}:data"));
        self.0.remove(&key);
        Ok(branches)
    }

    /// Nobody reads it.
    pub fn flag_timeout(&mut self, execution: &str, merge: &str, seconds: u64) {
        let key = format!("exec:{execution}:node:{merge}:timeout_active");
        self.0.entry(key).or_insert(Key::Text("1".to_owned(), Some(seconds)));
    }

    /// True for the first.
    pub fn lock(&mut self, execution: &str, merge: &str, parent: &str) -> bool {
        let key = format!("exec:{execution}:node:{merge}:lock");
        if self.0.contains_key(&key) {
            return false;
        }
        self.0.insert(key, Key::Text(parent.to_owned(), Some(DAY)));
        true
    }

    pub fn freeze(&mut self, timer: &str, due: i64, payload: String) {
        self.hash(PAYLOADS).insert(timer.to_owned(), payload);
        self.sorted().insert(timer.to_owned(), due);
    }

    /// Timers that are due are gone from the set; what they resume is still there.
    pub fn claim(&mut self, now: i64) -> Vec<(String, String)> {
        let due: Vec<String> = self
            .sorted()
            .iter()
            .filter(|(_, due)| **due <= now)
            .map(|(id, _)| id.clone())
            .take(100)
            .collect();
        for timer in &due {
            self.sorted().remove(timer);
        }
        let payloads = self.hash(PAYLOADS).clone();
        due.into_iter().filter_map(|timer| Some((timer.clone(), payloads.get(&timer)?.clone()))).collect()
    }

    pub fn thaw(&mut self, timer: &str) {
        self.hash(PAYLOADS).remove(timer);
    }

    pub fn has_timers(&mut self) -> bool {
        !self.sorted().is_empty()
    }
}
