//! Plans that were compiled before, by the hash of their definition. Compiling is a pure function, so whoever asks
//! twice may be given the same answer.

use std::{
    collections::{HashMap, VecDeque},
    sync::{LazyLock, Mutex, PoisonError},
};

use super::{Limits, Loaded, load};

/// Definitions that are kept; the oldest makes room.
const KEPT: usize = 128;

#[derive(Default)]
struct Plans {
    by_hash: HashMap<blake3::Hash, Loaded>,
    by_age: VecDeque<blake3::Hash>,
}

/// As [`load`] with the usual limits, but the same bytes are read and compiled once.
pub fn load_once(bytes: &[u8]) -> Loaded {
    static PLANS: LazyLock<Mutex<Plans>> = LazyLock::new(Mutex::default);
    let hash = blake3::hash(bytes);
    let known = || PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = known().by_hash.get(&hash) {
        return loaded.clone();
    }
    let loaded = load(bytes, &Limits::default());
    known().keep(hash, loaded.clone());
    loaded
}

impl Plans {
    fn keep(&mut self, hash: blake3::Hash, loaded: Loaded) {
        if self.by_hash.insert(hash, loaded).is_some() {
            return;
        }
        self.by_age.push_back(hash);
        if self.by_age.len() > KEPT
            && let Some(oldest) = self.by_age.pop_front()
        {
            self.by_hash.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_same_definition_is_compiled_once() {
        let text = r#"{"nodes": [{"id": "only_here", "type": "trigger"}]}"#;
        let (first, again) = (load_once(text.as_bytes()), load_once(text.as_bytes()));
        assert!(Arc::ptr_eq(&first.plan.unwrap(), &again.plan.unwrap()));
        let other = load_once(text.replace("only_here", "elsewhere").as_bytes());
        assert_eq!(other.plan.unwrap().nodes[0].id.as_str(), "elsewhere");
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut plans = Plans::default();
        for number in 0..KEPT + 5 {
            plans.keep(blake3::hash(&number.to_le_bytes()), load(b"{}", &Limits::default()));
        }
        assert_eq!((plans.by_hash.len(), plans.by_age.len()), (KEPT, KEPT));
        assert!(!plans.by_hash.contains_key(&blake3::hash(&0_usize.to_le_bytes())));
    }
}
