//! Everything that can be known to be wrong before a workflow runs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use petgraph::{algo, graph::DiGraph};
use protocol::{Diagnostic, DiagnosticCode as Code, ErrorPolicy, Node, NodeId, Payload, Workflow};
use serde_json::Value;

use super::{
    Plan, PlannedEdge, PlannedNode,
    flow::{ERROR_SIDE, Flow, Input, Shape, Waits, flow},
    handles, incoming, is_error_edge, kind_of, names, reach, secrets,
};
use crate::{
    correlation::{Analysis, Descriptor},
    expr::{Names, Template},
    nodes::{self, Inbox, Kind, Pick, Resolve},
};

pub fn hash_of(workflow: &Workflow) -> String {
    let text = serde_json::to_vec(workflow).unwrap_or_default();
    blake3::hash(&text).to_hex()[..32].to_owned()
}

/// The plan as far as it goes, and all complaints. Without a plan the graph itself does not hold together.
pub fn compile(workflow: &Arc<Workflow>) -> (Option<Plan>, Vec<Diagnostic>) {
    let mut found = check_ids(workflow);
    let by_id: HashMap<NodeId, usize> =
        workflow.nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
    found.extend(check_edges(workflow, &by_id));
    found.extend(workflow.nodes.iter().filter(|node| kind_of(node).is_none()).map(unknown_kind));
    if found.iter().any(Diagnostic::is_error) {
        return (None, found);
    }

    let graph = graph_of(workflow, &by_id);
    let order = match algo::toposort(&graph, None) {
        Ok(order) => order.into_iter().map(|node| node.index()).collect::<Vec<_>>(),
        Err(_) => {
            found.extend(cycles(workflow, &graph));
            return (None, found);
        }
    };
    let names = names(&workflow.nodes);
    let edges = planned_edges(workflow, &by_id);
    let (nodes, complaints) = planned_nodes(workflow, &edges, &names);
    found.extend(complaints);
    let starts = starts(&nodes, &edges);
    let mut plan = Plan {
        workflow: Arc::clone(workflow),
        hash: hash_of(workflow),
        nodes,
        edges,
        starts,
        names,
        by_id,
        flow: Flow::default(),
        analysis: Analysis::default(),
    };
    for at in 0..plan.nodes.len() {
        plan.nodes[at].on_error = error_edge(&plan, at);
        plan.nodes[at].ways = plan.nodes[at].kind.ways(&plan, &plan.nodes[at]);
        plan.nodes[at].timeout = nodes::timeout(&plan.nodes[at]);
    }
    found.extend(handles::resolve(&mut plan));
    found.extend(check_triggers(&plan));
    plan.flow = flow_of(&plan, &order);
    // An edge to an input that does not exist would be taken for a branch.
    if !found.iter().any(|complaint| complaint.code == Code::UnknownHandle) {
        found.extend(check_flow(&plan));
    }
    found.extend(reach::check(&plan, &order));
    for at in 0..plan.nodes.len() {
        let node = &plan.nodes[at];
        found.extend(check_parameters(node));
        found.extend(check_error_policy(node));
        found.extend(check_ways(&plan, node));
        found.extend(secrets::check(node));
        found.extend(node.kind.check(&plan, node));
    }
    (Some(plan), found)
}

fn check_ids(workflow: &Workflow) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for node in &workflow.nodes {
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let id = node.id.as_str();
        if id.is_empty() || id.len() > 128 || !id.bytes().all(valid) {
            let shown: String = id.chars().take(40).collect();
            let message = format!("the node id {shown:?} cannot be referred to");
            let hint = "use 1 to 128 letters, digits, _ or -; the name may hold anything";
            found.push(Diagnostic::error(Code::InvalidId, message, hint).at_node(&node.id));
        }
        let is_trigger = kind_of(node).is_some_and(Kind::is_trigger);
        if Names::WORDS.contains(&id) && !(id == "trigger" && is_trigger) {
            let message = format!("${id} has a meaning of its own, so no node may be called {id:?}");
            found.push(Diagnostic::error(Code::ReservedId, message, "choose another id").at_node(&node.id));
        }
    }
    let twice = duplicates(workflow.nodes.iter().map(|node| &node.id));
    found.extend(twice.into_iter().map(|id| {
        let message = format!("more than one node has the id {:?}", id.as_str());
        Diagnostic::error(Code::DuplicateId, message, "give every node an id of its own").at_node(id)
    }));
    let twice = duplicates(workflow.edges.iter().map(|edge| &edge.id));
    found.extend(twice.into_iter().map(|id| {
        let message = format!("more than one edge has the id {:?}", id.as_str());
        Diagnostic::error(Code::DuplicateId, message, "give every edge an id of its own").at_edge(id)
    }));
    found
}

/// Each value that occurs more than once, in order of its second occurrence.
fn duplicates<T: Eq + Hash + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    let mut twice = Vec::new();
    for value in values {
        if !seen.insert(value) && !twice.contains(&value) {
            twice.push(value);
        }
    }
    twice
}

fn check_edges(workflow: &Workflow, by_id: &HashMap<NodeId, usize>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for edge in &workflow.edges {
        for (leads, id) in [("comes from", &edge.src), ("leads to", &edge.dst)] {
            if by_id.contains_key(id) {
                continue;
            }
            let close = nodes::nearest_of(id.as_str(), by_id.keys().map(NodeId::as_str));
            let hint = match close.is_empty() {
                true => "name a node of this workflow, or remove the edge".to_owned(),
                false => format!("did you mean {}?", close.join(" or ")),
            };
            let message = format!(
                "edge {:?} {leads} the node {:?}, which does not exist",
                edge.id.as_str(),
                id.as_str()
            );
            found.push(Diagnostic::error(Code::UnknownNode, message, hint).at_edge(&edge.id));
        }
        if edge.src == edge.dst {
            let message = format!("edge {:?} leads from {:?} to itself", edge.id.as_str(), edge.src.as_str());
            let hint = "a node cannot wait for itself; remove the edge";
            found.push(Diagnostic::error(Code::SelfLoop, message, hint).at_edge(&edge.id).at_node(&edge.src));
        }
    }
    found
}

fn unknown_kind(node: &Node) -> Diagnostic {
    let close = nodes::nearest(&node.kind);
    let known: Vec<&str> = nodes::kinds().collect();
    let hint = match close.is_empty() {
        _ if is_of_rune(&node.kind) => {
            "Rune has this type, but Runeglass does not run it; a simulate node can stand in for it"
                .to_owned()
        }
        true => format!("known types are {}", known.join(", ")),
        false => format!("did you mean {}?", close.join(" or ")),
    };
    Diagnostic::error(Code::UnknownKind, format!("the type {:?} is not known", node.kind), hint)
        .at_node(&node.id)
}

/// Kinds that talk to the services of others; a Rune cluster has them.
fn is_of_rune(kind: &str) -> bool {
    kind == "agent" || kind.starts_with("integration.")
}

fn graph_of(workflow: &Workflow, by_id: &HashMap<NodeId, usize>) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(workflow.nodes.len(), workflow.edges.len());
    let places: Vec<_> = workflow.nodes.iter().map(|_| graph.add_node(())).collect();
    for edge in &workflow.edges {
        graph.add_edge(places[by_id[&edge.src]], places[by_id[&edge.dst]], ());
    }
    graph
}

fn cycles(workflow: &Workflow, graph: &DiGraph<(), ()>) -> Vec<Diagnostic> {
    let rings = algo::tarjan_scc(graph).into_iter().filter(|ring| ring.len() > 1);
    rings
        .map(|ring| {
            let mut places: Vec<usize> = ring.into_iter().map(|node| node.index()).collect();
            places.sort_unstable();
            let names: Vec<&str> = places.iter().take(12).map(|&at| workflow.nodes[at].id.as_str()).collect();
            let more = if places.len() > names.len() { ", …" } else { "" };
            let message = format!("these nodes wait for each other in a circle: {}{more}", names.join(", "));
            let hint = "remove one of the edges between them";
            Diagnostic::error(Code::Cycle, message, hint).at_node(&workflow.nodes[places[0]].id)
        })
        .collect()
}

fn planned_edges(workflow: &Workflow, by_id: &HashMap<NodeId, usize>) -> Vec<PlannedEdge> {
    let planned = |edge: &protocol::Edge| PlannedEdge {
        from: by_id[&edge.src],
        to: by_id[&edge.dst],
        source: edge.clone(),
        output: Descriptor::OUT.into(),
        pick: Pick::Whole,
        input: None,
        scope: Vec::new(),
        repeats: false,
    };
    workflow.edges.iter().map(planned).collect()
}

fn planned_nodes(
    workflow: &Workflow,
    edges: &[PlannedEdge],
    names: &Names,
) -> (Vec<PlannedNode>, Vec<Diagnostic>) {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); workflow.nodes.len()];
    let mut leaving = outgoing.clone();
    let mut arriving = vec![0; workflow.nodes.len()];
    for (at, edge) in edges.iter().enumerate() {
        leaving[edge.from].push(at);
        arriving[edge.to] += 1;
        if !is_error_edge(&edge.source, &workflow.nodes[edge.from]) {
            outgoing[edge.from].push(at);
        }
    }
    let mut found = Vec::new();
    let mut planned = Vec::with_capacity(workflow.nodes.len());
    for (((node, outgoing), leaving), arriving) in
        workflow.nodes.iter().zip(outgoing).zip(leaving).zip(arriving)
    {
        let Some(kind) = kind_of(node) else { continue };
        let templates = templates(node, kind, names, &mut found);
        planned.push(PlannedNode {
            id: node.id.clone(),
            kind,
            descriptor: kind.descriptor(),
            constant_parameters: constant_parameters(node, kind, &templates),
            templates,
            source: node.clone(),
            outgoing,
            leaving,
            arriving,
            on_error: None,
            ways: Vec::new(),
            scope: Vec::new(),
            fires: Vec::new(),
            inputs: Vec::new(),
            in_order: None,
            most_pending: most_pending(node),
            context_key: format!("${}", node.id),
            window: kind.window(node),
            timeout: None,
        });
    }
    (planned, found)
}

fn templates(
    node: &Node,
    kind: &dyn Kind,
    names: &Names,
    found: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Template> {
    let mut templates = BTreeMap::new();
    for parameter in kind.parameters() {
        let Some(value) = node.parameters.get(parameter.name) else { continue };
        let compiled = match (parameter.how, value.as_str()) {
            (Resolve::Literal, _) => continue,
            (Resolve::Expression, Some(text)) => Template::compile_expression(text, names),
            (Resolve::Rules, _) => Template::compile(&as_rules(value), names),
            (Resolve::Path, Some(text)) => Template::compile(&as_reference(text), names),
            (Resolve::Expression | Resolve::Path, None) | (Resolve::Value | Resolve::Later, _) => {
                Template::compile(value, names)
            }
        };
        match compiled {
            Ok(template) => {
                templates.insert(parameter.name.to_owned(), template);
            }
            Err(complaint) => {
                let message = format!("parameter {:?}: {complaint}", parameter.name);
                let hint = "an expression is JavaScript over references such as $trigger or $<node id>";
                found.push(Diagnostic::error(Code::InvalidExpression, message, hint).at_node(&node.id));
            }
        }
    }
    templates
}

/// At how many keys a node may wait at once, where its author does not say.
const MOST_PENDING: u64 = 100_000;

fn most_pending(node: &Node) -> usize {
    let written = node.other.get("max_pending_keys").and_then(Value::as_u64);
    usize::try_from(written.unwrap_or(MOST_PENDING)).unwrap_or(usize::MAX).max(1)
}

/// The parameters as they stand, if that is what every firing gets.
fn constant_parameters(
    node: &Node,
    kind: &dyn Kind,
    templates: &BTreeMap<String, Template>,
) -> Option<Payload> {
    let known = |name: &str| kind.parameters().iter().find(|known| known.name == name);
    let is_constant = |name: &String| match known(name).map(|known| known.how) {
        None | Some(Resolve::Later | Resolve::Literal) => true,
        Some(Resolve::Value | Resolve::Rules | Resolve::Path | Resolve::Expression) => {
            !templates.contains_key(name)
        }
    };
    let complete =
        kind.parameters().iter().all(|known| !known.required || node.parameters.contains_key(known.name));
    (complete && node.parameters.keys().all(is_constant))
        .then(|| Payload::new(Value::Object(node.parameters.clone())))
}

/// Rules with every `field` written so that it reads as text, and operands without the quotes around them.
fn as_rules(rules: &Value) -> Value {
    let mut rules = rules.clone();
    for rule in rules.as_array_mut().into_iter().flatten() {
        if let Some(Value::String(field)) = rule.get_mut("field") {
            *field = field.replace('$', "$$");
        }
        for operand in ["value", "compare"] {
            if let Some(Value::String(text)) = rule.get_mut(operand) {
                *text = unquoted(text).to_owned();
            }
        }
    }
    rules
}

/// A text may be written in quotes, as in an expression.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside =
        |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|text| !text.contains(quote));
    inside('\'').or_else(|| inside('"')).unwrap_or(text)
}

fn as_reference(text: &str) -> Value {
    let text = text.trim();
    match text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        true => Value::from(format!("${text}")),
        false => Value::from(text),
    }
}

/// All triggers; without any, all nodes that nothing leads to.
fn starts(nodes: &[PlannedNode], edges: &[PlannedEdge]) -> Vec<usize> {
    let is_trigger = |at: &usize| nodes[*at].source.trigger || nodes[*at].kind.is_trigger();
    let triggers: Vec<usize> = (0..nodes.len()).filter(is_trigger).collect();
    if !triggers.is_empty() {
        return triggers;
    }
    let targets: HashSet<usize> = edges.iter().map(|edge| edge.to).collect();
    (0..nodes.len()).filter(|at| !targets.contains(at)).collect()
}

/// An execution starts at a trigger; nothing can lead there as well.
fn check_triggers(plan: &Plan) -> Vec<Diagnostic> {
    let incoming = incoming(plan);
    let triggers =
        plan.nodes.iter().zip(&incoming).filter(|(node, incoming)| {
            (node.source.trigger || node.kind.is_trigger()) && !incoming.is_empty()
        });
    let complain = |(node, _): (&PlannedNode, &Vec<usize>)| {
        let message = "an execution starts here, and yet an edge leads here";
        let hint = "remove the edge, or do not mark the node as a trigger";
        Diagnostic::error(Code::TriggerWithInput, message, hint).at_node(&node.id)
    };
    triggers.map(complain).collect()
}

fn error_edge(plan: &Plan, at: usize) -> Option<usize> {
    match &plan.nodes[at].source.error {
        Some(ErrorPolicy::Branch { error_edge }) => plan.edge_of(at, error_edge),
        Some(ErrorPolicy::Halt | ErrorPolicy::Ignore) | None => None,
    }
}

/// The edges of a node that chooses one of several sides, by side; error edges are a side of their own.
fn sides(plan: &Plan, node: &PlannedNode) -> BTreeMap<usize, u32> {
    let mut sides: BTreeMap<usize, u32> = node.ways.iter().flatten().copied().zip(1..).collect();
    sides.extend(handles::choices(plan, node));
    if let Some(error) = node.on_error {
        for edge in &node.outgoing {
            sides.entry(*edge).or_insert(0);
        }
        sides.insert(error, ERROR_SIDE);
    }
    // An edge that is marked as an error edge without a policy that follows it is never taken at all.
    let unused =
        node.leaving.iter().filter(|edge| !node.outgoing.contains(edge) && Some(**edge) != node.on_error);
    sides.extend(unused.map(|edge| (*edge, ERROR_SIDE)));
    sides
}

fn flow_of(plan: &Plan, order: &[usize]) -> Flow {
    let edges: Vec<_> = plan.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let levels: Vec<_> = plan.edges.iter().map(|edge| edge.scope.clone()).collect();
    let opens: Vec<_> = plan.nodes.iter().map(PlannedNode::opens).collect();
    let fires: Vec<_> = plan.nodes.iter().map(|node| node.fires.clone()).collect();
    let waits = |node: &PlannedNode| match node.kind.inbox(&node.source) {
        // Who can do without a value waits to hear that none comes.
        Inbox::None
            if node.in_order.is_some()
                || node.inputs.iter().any(|input| !input.required)
                || node.inputs.iter().map(|input| input.edges.len()).sum::<usize>() > 1 =>
        {
            Waits::Join
        }
        inbox => Waits::Inbox(inbox),
    };
    let waits: Vec<_> = plan.nodes.iter().map(waits).collect();
    let of_node = |at: usize| Some((at, sides(plan, &plan.nodes[at]))).filter(|(_, sides)| !sides.is_empty());
    let sides: BTreeMap<_, _> = (0..plan.nodes.len()).filter_map(of_node).collect();
    flow(&Shape {
        order,
        edges: &edges,
        levels: &levels,
        opens: &opens,
        waits: &waits,
        sides: &sides,
        fires: &fires,
    })
}

/// A join counts one value per edge and key, so what comes several times must be merged before.
fn check_flow(plan: &Plan) -> Vec<Diagnostic> {
    let joins = |at: &usize| !matches!(plan.flow.inputs[*at], Input::Each | Input::Exclusive { .. });
    let repeated = |at: usize| {
        plan.edges
            .iter()
            .enumerate()
            .any(|(edge, planned)| planned.to == at && plan.flow.repeating.contains(&edge))
    };
    let complain = |at: usize| {
        let message =
            "several branches meet in front of this join, so it would hear the same key more than once";
        let hint = "put a merge where the branches meet";
        Diagnostic::error(Code::RepeatedInput, message, hint).at_node(&plan.nodes[at].id)
    };
    (0..plan.nodes.len()).filter(joins).filter(|at| repeated(*at)).map(complain).collect()
}

fn check_error_policy(node: &PlannedNode) -> Option<Diagnostic> {
    match &node.source.error {
        Some(ErrorPolicy::Branch { error_edge }) if node.on_error.is_none() => {
            let message = format!("error_edge {:?} is no edge of this node", error_edge.as_str());
            let hint = "name an edge whose src is this node";
            Some(Diagnostic::error(Code::MissingErrorEdge, message, hint).at_node(&node.id))
        }
        _ => None,
    }
}

/// A way has one edge. A second one with the same handle would look as if it were followed too.
fn check_ways(plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
    let followed = |edge: &usize| node.ways.is_empty() || node.ways.contains(&Some(*edge));
    let named = node.outgoing.iter().filter(|edge| plan.edges[**edge].source.source_handle.is_some());
    let complain = |edge: &usize| {
        let id = &plan.edges[*edge].source.id;
        let message = format!("edge {:?} is never followed: its way has another edge", id.as_str());
        let hint = "lead the way to one node, and from there to the others";
        Diagnostic::warning(Code::NeverFollowed, message, hint).at_edge(id).at_node(&node.id)
    };
    named.filter(|edge| !followed(edge)).map(complain).collect()
}

fn check_parameters(node: &PlannedNode) -> Vec<Diagnostic> {
    let known = node.kind.parameters();
    let mut found = Vec::new();
    for parameter in known.iter().filter(|parameter| parameter.required) {
        let brought = node.inputs.iter().any(|input| *input.name == *parameter.name);
        if !brought && !node.source.parameters.contains_key(parameter.name) {
            let message = format!("parameter {:?} is missing", parameter.name);
            let hint = format!("add {:?} to the parameters of this node", parameter.name);
            found.push(Diagnostic::error(Code::InvalidParameter, message, hint).at_node(&node.id));
        }
    }
    for name in node.source.parameters.keys() {
        if known.iter().any(|parameter| parameter.name == name) {
            continue;
        }
        let close = nodes::nearest_of(name, known.iter().map(|parameter| parameter.name));
        let all: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
        let hint = match close.first() {
            Some(close) => format!("did you mean {close:?}?"),
            None => format!("{} knows {}", node.source.kind, all.join(", ")),
        };
        let message = format!("parameter {name:?} is not known and has no effect");
        found.push(Diagnostic::warning(Code::UnknownParameter, message, hint).at_node(&node.id));
    }
    found
}
