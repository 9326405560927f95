//! One pass over the graph, from the sources to the leaves.

use std::collections::{BTreeMap, HashMap};

use petgraph::{algo, graph::DiGraph};
use protocol::{EdgeId, NodeId};

use super::{
    Analysis, Collapse, DataEdge, DataNode, Flow, InputFlow, Issue, Nest, NodeFlow, OutputFlow, OutputKind,
    OutputRule, Root, Scope, Source, rules,
};

pub fn analyse(nodes: &[DataNode], edges: &[DataEdge]) -> Analysis {
    let places: HashMap<&NodeId, usize> = nodes.iter().zip(0..).map(|(node, at)| (&node.id, at)).collect();
    // An edge that leads nowhere is somebody else's complaint.
    let edges: Vec<&DataEdge> = edges
        .iter()
        .filter(|edge| places.contains_key(&edge.from) && places.contains_key(&edge.to))
        .collect();
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(nodes.len(), edges.len());
    let indexes: Vec<_> = nodes.iter().map(|_| graph.add_node(())).collect();
    for edge in &edges {
        graph.add_edge(indexes[places[&edge.from]], indexes[places[&edge.to]], ());
    }
    let Ok(order) = algo::toposort(&graph, None) else {
        return Analysis { issues: cycles(nodes, &graph), ..Analysis::default() };
    };
    let mut incoming: Vec<Vec<&DataEdge>> = vec![Vec::new(); nodes.len()];
    for edge in edges {
        incoming[places[&edge.to]].push(edge);
    }
    let mut analysis = Analysis::default();
    for node in order.into_iter().map(|node| node.index()) {
        analysis.visit(&nodes[node], &incoming[node]);
    }
    analysis
}

fn cycles(nodes: &[DataNode], graph: &DiGraph<(), ()>) -> Vec<Issue> {
    let is_ring = |ring: &Vec<_>| ring.len() > 1 || graph.contains_edge(ring[0], ring[0]);
    let rings = algo::tarjan_scc(graph).into_iter().filter(is_ring);
    let complain = |ring: Vec<petgraph::graph::NodeIndex>| {
        let mut places: Vec<usize> = ring.into_iter().map(|node| node.index()).collect();
        places.sort_unstable();
        let names: Vec<&str> = places.iter().map(|&at| nodes[at].id.as_str()).collect();
        let message = format!("Cycle detected among data edges. Involved nodes: {}", names.join(", "));
        Issue { message, node: Some(nodes[places[0]].id.clone()), handle: None }
    };
    rings.map(complain).collect()
}

impl Analysis {
    fn visit(&mut self, node: &DataNode, incoming: &[&DataEdge]) {
        for edge in incoming {
            let flow = self.nodes.get(&edge.from).and_then(|from| from.outputs.get(&edge.output));
            // What nobody has declared is a constant.
            let flow = flow.map_or_else(Flow::default, |output| output.flow.clone());
            self.edges.insert(edge.id.clone(), flow);
        }
        let mut issues = Vec::new();
        let inputs = self.inputs(node, incoming, &mut issues);
        if !node.descriptor.join {
            issues.extend(rules::independent_inputs(node, &inputs));
        }
        let (invocation, nest) = invocation(node, &inputs);
        if node.descriptor.join {
            issues.extend(rules::sides(node, &inputs, &invocation));
        }
        issues.extend(rules::repeating_inputs(node, &inputs, &invocation));
        let mut outputs = BTreeMap::new();
        for (handle, rule) in &node.descriptor.outputs {
            let usual = OutputRule {
                kind: OutputKind::Single,
                source: Some(Source::Execution),
                group: None,
                collapse: None,
            };
            let rule = rule.as_ref().unwrap_or(&usual);
            let base = base(rule.source.as_ref(), &inputs, &invocation, &nest);
            issues.extend(rules::output(node, handle, rule, &base, &inputs, &invocation));
            let flow = emitted(node, handle, rule, base);
            let contributors = self.contributors(rule, &inputs, &flow.scope);
            outputs.insert(handle.clone(), OutputFlow { flow, contributors });
        }
        self.nodes.insert(node.id.clone(), NodeFlow { invocation, nest, inputs, outputs });
        self.issues.extend(issues);
    }

    fn inputs(
        &self,
        node: &DataNode,
        incoming: &[&DataEdge],
        issues: &mut Vec<Issue>,
    ) -> BTreeMap<String, InputFlow> {
        let mut by_handle: BTreeMap<String, Vec<EdgeId>> = BTreeMap::new();
        for edge in incoming {
            by_handle.entry(edge.input.clone()).or_default().push(edge.id.clone());
        }
        let mut inputs = BTreeMap::new();
        for (handle, edges) in by_handle {
            let flows: Vec<&Flow> = edges.iter().map(|edge| &self.edges[edge]).collect();
            if flows.len() > 1 {
                issues.extend(rules::several_edges(node, &handle, &flows));
            }
            let mut flow = Flow { repeats: flows.iter().any(|flow| flow.repeats), ..Flow::default() };
            for one in flows {
                if one.scope.len() > flow.scope.len() {
                    flow.scope = one.scope.clone();
                }
                if one.nest.0.len() > flow.nest.0.len() {
                    flow.nest = one.nest.clone();
                }
                add_roots(&mut flow.child_roots, &one.child_roots);
            }
            inputs.insert(handle, InputFlow { flow, edges });
        }
        inputs
    }

    /// The edges that an output waits for; constants never close anything.
    fn contributors(
        &self,
        rule: &OutputRule,
        inputs: &BTreeMap<String, InputFlow>,
        scope: &Scope,
    ) -> Vec<EdgeId> {
        let counts = |edge: &&EdgeId| {
            let of_edge = &self.edges[*edge].scope;
            !of_edge.is_empty() && of_edge.is_comparable_with(scope)
        };
        let handles: Vec<&InputFlow> = match &rule.source {
            Some(Source::Handle(handle)) => inputs.get(handle).into_iter().collect(),
            Some(Source::Execution) | None => inputs.values().collect(),
        };
        handles.into_iter().flat_map(|input| &input.edges).filter(counts).cloned().collect()
    }
}

/// Where the node fires: at its deepest input, or at what a join's inputs have in common.
fn invocation(node: &DataNode, inputs: &BTreeMap<String, InputFlow>) -> (Scope, Nest) {
    let mut flows = inputs.values().map(|input| &input.flow).filter(|flow| !flow.nest.0.is_empty());
    let Some(first) = flows.next() else { return (Scope::default(), Nest::default()) };
    let first = (first.scope.clone(), first.nest.clone());
    flows.fold(first, |(scope, nest), flow| match node.descriptor.join {
        true => (scope.common_prefix(&flow.scope), nest.common_prefix(&flow.nest)),
        false => {
            let deeper = flow.scope.len() > scope.len();
            let longer = flow.nest.0.len() > nest.0.len();
            (if deeper { flow.scope.clone() } else { scope }, if longer { flow.nest.clone() } else { nest })
        }
    })
}

/// What an output starts from.
fn base(
    source: Option<&Source>,
    inputs: &BTreeMap<String, InputFlow>,
    invocation: &Scope,
    nest: &Nest,
) -> Flow {
    match source {
        Some(Source::Handle(handle)) => {
            inputs.get(handle).map_or_else(Flow::default, |input| input.flow.clone())
        }
        Some(Source::Execution) | None => {
            let mut base = Flow { scope: invocation.clone(), nest: nest.clone(), ..Flow::default() };
            for InputFlow { flow, .. } in inputs.values() {
                base.repeats |= flow.repeats && flow.scope.len() == invocation.len();
                if !flow.scope.is_empty() && flow.scope.is_comparable_with(invocation) {
                    add_roots(&mut base.child_roots, &flow.child_roots);
                }
            }
            base
        }
    }
}

fn emitted(node: &DataNode, handle: &str, rule: &OutputRule, base: Flow) -> Flow {
    let base = match rule.collapse {
        Some(Collapse::Innermost) => collapsed(base),
        None => base,
    };
    // All handles of a group share one index, and all streams of a node one order.
    let root = |group: &str| Root::new(&node.id, rule.group.as_deref().unwrap_or(group));
    match rule.kind {
        OutputKind::Single | OutputKind::Forward | OutputKind::Aggregate => base,
        OutputKind::Chunk => Flow { repeats: true, nest: base.nest.inside(root("pieces"), true), ..base },
        OutputKind::Iteration => {
            let root = root(handle);
            let mut child_roots = base.child_roots;
            add_roots(&mut child_roots, std::slice::from_ref(&root));
            let (scope, nest) = (base.scope.inside(root.clone()), base.nest.inside(root, false));
            Flow { scope, repeats: false, child_roots, nest }
        }
    }
}

fn collapsed(base: Flow) -> Flow {
    let mut scope = base.scope;
    let dropped = scope.0.pop();
    let child_roots = base.child_roots.into_iter().filter(|root| Some(root) != dropped.as_ref()).collect();
    Flow { scope, repeats: false, child_roots, nest: base.nest.collapsed() }
}

fn add_roots(known: &mut Vec<Root>, more: &[Root]) {
    for root in more {
        if !known.contains(root) {
            known.push(root.clone());
        }
    }
}
