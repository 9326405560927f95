//! What the nodes before have left: `$<node id>`, `$trigger`, `$json` and so on.

use std::{fmt, sync::Arc};

use protocol::Payload;

/// Shared: a child's context is its parent's with one entry more, and costs no more than that entry.
#[derive(Clone, Default)]
pub struct Context(imbl::OrdMap<Arc<str>, Payload>);

impl Context {
    pub fn start(input: Payload) -> Self {
        Self::default().with("$trigger", input)
    }

    pub fn get(&self, key: &str) -> Option<&Payload> {
        self.0.get(key)
    }

    /// Takes the context, so that several entries in a row cost one copy of what is shared, not one each.
    pub fn with(mut self, key: &str, payload: Payload) -> Self {
        self.0.insert(key.into(), payload);
        self
    }

    /// What two branches know together; where both know something, `later` wins.
    pub fn union(&self, later: &Self) -> Self {
        Self(later.0.clone().union(self.0.clone()))
    }

    pub fn keys(&self) -> Vec<String> {
        self.0.keys().map(|key| key.to_string()).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Payload)> {
        self.0.iter().map(|(key, payload)| (&**key, payload))
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
