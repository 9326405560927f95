//! Who works, as far as leases on messages tell. Every execution has leases of its own, and a worker holds some of many.

use std::collections::{BTreeMap, HashMap};

use protocol::{ExecutionId, Millis, WorkerView};

/// A worker that was not seen for so long is not told of any more.
const MEMORY: Millis = 60_000;

#[derive(Default)]
pub struct Workers {
    /// Messages in hand, by execution and worker.
    holds: HashMap<ExecutionId, BTreeMap<String, usize>>,
    seen: BTreeMap<String, Millis>,
}

impl Workers {
    /// The leases of an execution as they are now: whose, and until when.
    pub fn note<'l>(&mut self, id: &ExecutionId, leases: impl Iterator<Item = &'l str>, now: Millis) {
        let mut holds: BTreeMap<String, usize> = BTreeMap::new();
        for lease in leases {
            let held = lease.rsplit_once(' ').and_then(|(who, until)| Some((who, until.parse().ok()?)));
            let Some((who, until)) = held else { continue };
            let until: Millis = until;
            if until >= now {
                *holds.entry(who.to_owned()).or_default() += 1;
            }
        }
        self.seen.extend(holds.keys().map(|who| (who.clone(), now)));
        match holds.is_empty() {
            true => drop(self.holds.remove(id)),
            false => drop(self.holds.insert(id.clone(), holds)),
        }
    }

    /// It is over, or not followed any more: nobody holds anything of it.
    pub fn leave(&mut self, id: &ExecutionId) {
        self.holds.remove(id);
    }

    pub fn forget_old(&mut self, now: Millis) {
        self.seen.retain(|_, seen| now - *seen < MEMORY);
    }

    pub fn views(&self) -> Vec<WorkerView> {
        let view = |(name, last_seen): (&String, &Millis)| WorkerView {
            name: name.clone(),
            holds: self.holds.values().filter_map(|holds| holds.get(name)).sum(),
            last_seen: *last_seen,
        };
        self.seen.iter().map(view).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_holds_what_it_has_of_all_executions() {
        let mut workers = Workers::default();
        workers.note(&"a".into(), ["one 900", "two 900", "one 900", "one 50"].into_iter(), 100);
        workers.note(&"b".into(), ["one 900", "nonsense"].into_iter(), 100);
        let told = |workers: &Workers| -> Vec<(String, usize, Millis)> {
            workers.views().into_iter().map(|view| (view.name, view.holds, view.last_seen)).collect()
        };
        assert_eq!(told(&workers), [("one".to_owned(), 3, 100), ("two".to_owned(), 1, 100)]);
        workers.note(&"a".into(), ["two 900"].into_iter(), 200);
        workers.leave(&"b".into());
        assert_eq!(told(&workers), [("one".to_owned(), 0, 100), ("two".to_owned(), 1, 200)]);
        workers.forget_old(100 + MEMORY);
        assert_eq!(told(&workers), [("two".to_owned(), 1, 200)]);
    }
}
