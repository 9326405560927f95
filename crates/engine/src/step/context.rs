//! What the nodes before have left: `$<node id>`, `$trigger`, `$json` and so on.

use std::{fmt, sync::Arc};

use protocol::Payload;

/// Shared: a child's context is its parent's with one entry more, and costs no more than that entry.
#[derive(Clone)]
pub struct Context(Option<Known>);

type Known = imbl::OrdMap<Arc<str>, Payload>;

impl Default for Context {
    fn default() -> Self {
        Self(Some(Known::new()))
    }
}

impl Context {
    pub fn start(input: Payload) -> Self {
        Self::default().with("$trigger", input)
    }

    /// Of an execution that is only looked at: nobody will ask what its nodes know, so nothing is kept here, nor in what
    /// follows from it.
    pub fn unasked() -> Self {
        Self(None)
    }

    pub fn get(&self, key: &str) -> Option<&Payload> {
        self.0.as_ref()?.get(key)
    }

    /// Takes the context, so that several entries in a row cost one copy of what is shared, not one each.
    pub fn with(mut self, key: &str, payload: Payload) -> Self {
        if let Some(known) = &mut self.0 {
            known.insert(key.into(), payload);
        }
        self
    }

    /// What two branches know together; where both know something, `later` wins.
    pub fn union(&self, later: &Self) -> Self {
        let (Some(earlier), Some(later)) = (&self.0, &later.0) else { return Self::unasked() };
        Self(Some(later.clone().union(earlier.clone())))
    }

    pub fn keys(&self) -> Vec<String> {
        self.iter().map(|(key, _)| key.to_owned()).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Payload)> {
        self.0.iter().flatten().map(|(key, payload)| (&**key, payload))
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
