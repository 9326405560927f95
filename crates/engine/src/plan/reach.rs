//! What can be reached: nodes that never run, and references to what is not known where they stand.

use protocol::{Diagnostic, DiagnosticCode as Code, NodeId};

use super::{Plan, incoming};
use crate::nodes;

/// Nodes that can never run, and references to nodes that have not run when they are needed.
pub fn check(plan: &Plan, order: &[usize]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let ancestors = Ancestors::of(plan, order);
    for (at, node) in plan.nodes.iter().enumerate() {
        if !plan.starts.contains(&at) && !plan.starts.iter().any(|&start| ancestors.contains(at, start)) {
            let message = "no path leads here from where an execution starts, so this node never runs";
            let hint = "connect it, or remove it";
            found.push(Diagnostic::warning(Code::Unreachable, message, hint).at_node(&node.id));
        }
        for (parameter, template) in &node.templates {
            let complaints =
                template.roots().into_iter().filter_map(|root| check_root(plan, &ancestors, at, &root));
            found.extend(complaints.map(|(code, message, hint)| {
                Diagnostic::error(code, format!("parameter {parameter:?}: {message}"), hint).at_node(&node.id)
            }));
        }
    }
    found
}

fn check_root(plan: &Plan, ancestors: &Ancestors, at: usize, root: &str) -> Option<(Code, String, String)> {
    if matches!(root, "trigger" | "json" | "node") {
        return None;
    }
    if root == "inputs" {
        let hint = "lead an edge with a \"target_handle\" here".to_owned();
        let message = "$inputs holds what the handles of a node bring, and this node has none".to_owned();
        return plan.nodes[at].inputs.is_empty().then_some((Code::UnknownReference, message, hint));
    }
    if let Some(reader) = deeper(plan, at, root) {
        return Some(reader);
    }
    if matches!(root, "item" | "index") {
        let outside = plan.nodes[at].scope.is_empty();
        let hint = "read it behind a split and in front of its aggregator".to_owned();
        return outside
            .then(|| (Code::UnknownReference, format!("${root} exists only inside a split"), hint));
    }
    let named = match plan.node(&NodeId::from(root)) {
        Some(node) => vec![node],
        None => (0..plan.nodes.len()).filter(|&other| plan.nodes[other].source.name == root).collect(),
    };
    match *named.as_slice() {
        [node] => (!ancestors.contains(at, node)).then(|| {
            let message = format!("${root} is not known here: {root:?} never runs before this node");
            let hint = format!("lead a path from {root:?} to this node, or refer to a node in front of it");
            (Code::ReferenceNotUpstream, message, hint)
        }),
        [] => {
            let known = plan.names.known().chain(["trigger", "json"]);
            let close = nodes::nearest_of(root, known);
            let hint = match close.is_empty() {
                true => {
                    "refer to $trigger or to $<id of a node>; a plain dollar sign is written $$".to_owned()
                }
                false => format!("did you mean ${}?", close.join(" or $")),
            };
            Some((Code::UnknownReference, format!("${root} refers to nothing in this workflow"), hint))
        }
        _ => {
            let message = format!("${root} could be any of {} nodes with that name", named.len());
            Some((Code::AmbiguousName, message, "refer to the node by its id".to_owned()))
        }
    }
}

/// A node inside a fan-out has many outputs; outside of it they must be gathered first.
fn deeper(plan: &Plan, at: usize, root: &str) -> Option<(Code, String, String)> {
    let node = plan.names.node(root).and_then(|id| plan.node(id))?;
    let (produced, reads) = (&plan.nodes[node].fires, &plan.nodes[at].fires);
    (!reads.starts_with(produced)).then(|| {
        let message = format!("${root} has one value per item of a fan-out that is closed here");
        (Code::ReferenceNotUpstream, message, "aggregate first, and refer to the aggregator".to_owned())
    })
}

/// Which nodes lie in front of which.
struct Ancestors {
    words: usize,
    bits: Vec<u64>,
}

impl Ancestors {
    fn of(plan: &Plan, order: &[usize]) -> Self {
        let count = plan.nodes.len();
        let words = count.div_ceil(64);
        let mut bits = vec![0u64; words * count];
        let incoming = incoming(plan);
        let mut row = vec![0u64; words];
        for &node in order {
            row.fill(0);
            for &parent in &incoming[node] {
                let of_parent = &bits[parent * words..(parent + 1) * words];
                row.iter_mut().zip(of_parent).for_each(|(word, other)| *word |= other);
                row[parent / 64] |= 1 << (parent % 64);
            }
            bits[node * words..(node + 1) * words].copy_from_slice(&row);
        }
        Self { words, bits }
    }

    fn contains(&self, node: usize, ancestor: usize) -> bool {
        self.bits[node * self.words + ancestor / 64] & (1 << (ancestor % 64)) != 0
    }
}
