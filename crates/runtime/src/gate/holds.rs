//! How an execution is held, in the form in which it outlives the process.

use std::collections::BTreeSet;

use protocol::{MessageId, NodeId, WhyHeld};
use serde::{Deserialize, Serialize};

use super::{rules::Rule, state::Controlled};

/// What is said about an execution that is held. What a pause holds is not listed: the pause holds it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holds {
    paused: bool,
    paused_nodes: BTreeSet<NodeId>,
    /// Steps under way.
    rules: Vec<Rule>,
    /// Held for another reason than a pause, in the order in which they were held.
    held: Vec<(MessageId, WhyHeld)>,
    /// How often each breakpoint was hit.
    hits: Vec<u32>,
}

impl Holds {
    /// Nothing would be held because of it.
    fn is_empty(&self) -> bool {
        !self.paused && self.paused_nodes.is_empty() && self.rules.is_empty() && self.held.is_empty()
    }
}

impl Controlled {
    /// `None` where nothing has to be remembered.
    pub(super) fn holds(&self) -> Option<Holds> {
        let by_pause = |why: &WhyHeld| matches!(why, WhyHeld::Paused | WhyHeld::NodePaused);
        let held = self.held.iter().map(|(id, held)| (id, &held.why)).chain(&self.again);
        let holds = Holds {
            paused: self.paused,
            paused_nodes: self.paused_nodes.clone(),
            rules: self.rules.clone(),
            held: held.filter(|(_, why)| !by_pause(why)).map(|(id, why)| (id.clone(), why.clone())).collect(),
            hits: self.hits(),
        };
        (!self.finished && !holds.is_empty()).then_some(holds)
    }

    /// As it was held by a process that is gone. Whoever stood behind its work stands in front of it now: what that
    /// process had in hand, and had not committed, went with it.
    pub(super) fn restore(&mut self, holds: Holds) {
        let Holds { paused, paused_nodes, rules, held, hits } = holds;
        (self.paused, self.paused_nodes, self.rules) = (paused, paused_nodes, rules);
        self.again = held.into_iter().collect();
        self.hits_before = hits;
    }
}
