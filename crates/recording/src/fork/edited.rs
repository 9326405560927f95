//! What is different in the workflow of a fork: which nodes do their work again because of it.

use std::collections::BTreeSet;

use engine::Plan;
use protocol::{Edge, Event, Fact, Node, NodeId, Workflow};

/// Where a node stands and how it looks on a canvas means nothing to its work.
const LOOKS: [&str; 5] = ["position", "width", "height", "selected", "notes"];

/// As places of the plan of the fork.
#[derive(Debug, Default)]
pub struct Edited {
    /// New, or told to do something else: what the parent has answered there is no answer.
    pub nodes: BTreeSet<usize>,
    /// These, and what sees something else because of them.
    pub behind: BTreeSet<usize>,
}

/// Nothing where the fork runs the workflow of its parent.
pub fn edited(plan: &Plan, parent: &[Event]) -> Edited {
    let Some(Fact::ExecutionStarted(started)) = parent.first().map(|event| &event.fact) else {
        return Edited::default();
    };
    if started.definition_hash == plan.hash {
        return Edited::default();
    }
    let before: Workflow = serde_json::from_str(started.definition.text()).unwrap_or_default();
    let now = &plan.workflow;
    let mut edited = Edited::default();
    for (at, node) in plan.nodes.iter().enumerate() {
        let (old, new) = (find(&before, &node.id), find(now, &node.id));
        let works_alike = old.zip(new).is_some_and(|(old, new)| works_alike(old, new));
        if !works_alike {
            edited.nodes.insert(at);
        }
        // A failure that is answered otherwise is the same failure, and leads elsewhere.
        let leads_alike = old.map(|old| &old.error) == new.map(|new| &new.error);
        if !works_alike || !leads_alike || leading_to(&before, &node.id) != leading_to(now, &node.id) {
            edited.behind.extend(plan.downstream(at));
        }
    }
    edited
}

fn find<'w>(workflow: &'w Workflow, id: &NodeId) -> Option<&'w Node> {
    workflow.nodes.iter().find(|node| node.id == *id)
}

fn works_alike(one: &Node, other: &Node) -> bool {
    let more = |node: &Node| {
        let mut more = node.other.clone();
        more.retain(|name, _| !LOOKS.contains(&name.as_str()));
        more
    };
    one.kind == other.kind
        && one.parameters == other.parameters
        && one.output == other.output
        && one.credentials == other.credentials
        && more(one) == more(other)
}

/// What comes from where, in the order of the edges; what they are called means nothing.
fn leading_to<'w>(workflow: &'w Workflow, id: &NodeId) -> Vec<(&'w NodeId, [Option<&'w str>; 3])> {
    let way = |edge: &'w Edge| {
        let handles = [&edge.source_handle, &edge.target_handle, &edge.label];
        (&edge.src, handles.map(Option::as_deref))
    };
    workflow.edges.iter().filter(|edge| edge.dst == *id).map(way).collect()
}
