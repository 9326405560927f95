//! What joins wait for, for people: the engine only asks whether they have heard enough.

use crate::{Input, Plan};
use protocol::{Lineage, Millis};

use super::{Ledger, Opened, joins::JoinKey};

/// A join that has not heard enough at a key.
pub struct OpenJoin {
    pub lineage: Lineage,
    pub arrived: usize,
    pub expected: usize,
    pub missing: Missing,
    /// When it gives up.
    pub due: Option<Millis>,
}

pub enum Missing {
    /// Items of the level that it gathers.
    Items(Vec<u32>),
    /// Edges, as places in the plan.
    Edges(Vec<usize>),
}

impl Ledger {
    /// The keys at which a node has heard of something and waits for the rest.
    pub fn open_joins(&self, node: usize) -> Vec<OpenJoin> {
        let collapses = self.joins.collapses.iter().filter(|(key, _)| key.node == node);
        let mut found: Vec<OpenJoin> = collapses
            .map(|(key, collapse)| {
                let empty = collapse.slots.iter().enumerate().filter(|(_, slot)| slot.is_none());
                OpenJoin {
                    lineage: key.lineage.clone(),
                    arrived: collapse.filled,
                    expected: collapse.slots.len(),
                    missing: Missing::Items(empty.map(|(index, _)| index as u32).collect()),
                    due: collapse.deadline.map(|deadline| deadline.due),
                }
            })
            .collect();
        let edges = joined_edges(&self.plan, node);
        let inboxes = self.joins.inboxes.get(&node).into_iter().flatten();
        for (lineage, inbox) in inboxes.filter(|_| !edges.is_empty()) {
            let is_missing =
                |edge: &usize| !inbox.decided.contains_key(edge) && !self.is_decided_outside(*edge, lineage);
            let missing: Vec<usize> = edges.iter().copied().filter(is_missing).collect();
            let (arrived, expected) = (edges.len() - missing.len(), edges.len());
            let missing = Missing::Edges(missing);
            let due = inbox.deadline.map(|deadline| deadline.due);
            found.push(OpenJoin { lineage: lineage.clone(), arrived, expected, missing, due });
        }
        found
    }

    /// A decision from an outer level holds for every key inside.
    fn is_decided_outside(&self, edge: usize, lineage: &Lineage) -> bool {
        self.joins.outer.contains_key(&(edge, lineage.prefix(self.plan.depth_of(edge))))
    }

    /// The node has fired at a key, or never will.
    pub fn is_closed(&self, node: usize, lineage: &Lineage) -> bool {
        self.joins.closed.contains(&JoinKey { node, group: 0, lineage: lineage.clone() })
    }

    /// Every message under way.
    pub fn messages(&self) -> impl Iterator<Item = &Opened> {
        self.open.values()
    }
}

/// The edges that a list, a race or a meeting of handles waits for; none for whoever gathers items.
pub fn joined_edges(plan: &Plan, node: usize) -> &[usize] {
    match &plan.flow.inputs[node] {
        Input::List { edges } | Input::Race { edges } | Input::Join { edges } => edges,
        Input::Each | Input::Exclusive { .. } | Input::Collapse { .. } | Input::Sides { .. } => &[],
    }
}
