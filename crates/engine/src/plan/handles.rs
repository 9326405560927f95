//! From edges to handles: where each edge leaves and arrives, what that means for the levels that are open on it, and
//! what a node with several inputs waits for. The rules are those of [`crate::correlation`]; edges that name no handle
//! are edges from `out` to `in`.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{Diagnostic, DiagnosticCode as Code, Payload};
use serde_json::Value;

use super::{Plan, PlannedNode};
use crate::{
    correlation::{DataEdge, DataNode, Descriptor, Issue, Nest, OutputKind, OutputRule, analyse},
    nodes::{self, Inbox},
};

/// An input of a node that waits for all of its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedInput {
    pub name: Arc<str>,
    /// Where nothing comes, the node does not run.
    pub required: bool,
    /// What counts where nothing comes, if the author says so.
    pub default: Option<Payload>,
    /// Several edges are several elements.
    pub list: bool,
    pub edges: Vec<usize>,
}

/// Looks up the handles of every edge, the levels that are open at every node and edge, and what cannot work.
pub fn resolve(plan: &mut Plan) -> Vec<Diagnostic> {
    let mut found = name_handles(plan);
    let nodes: Vec<DataNode> = (0..plan.nodes.len()).map(|at| data_node(plan, at)).collect();
    let edges: Vec<DataEdge> = (0..plan.edges.len()).map(|at| data_edge(plan, at)).collect();
    let mut analysis = analyse(&nodes, &edges);
    for (at, node) in nodes.iter().enumerate() {
        let closes = node.descriptor.closes() && !node.descriptor.join;
        let flow = &analysis.nodes[&node.id];
        let outputs = flow.outputs.iter().filter(|(name, _)| *name != Descriptor::ERROR);
        let deepest = flow.inputs.values().map(|input| &input.flow.nest).max_by_key(|nest| nest.0.len());
        let fires = match outputs.map(|(_, output)| &output.flow.nest).next() {
            Some(behind) if closes => {
                let own = usize::from(node.descriptor.opens());
                places(plan, behind)[..behind.0.len() - own].to_vec()
            }
            _ => places(plan, &flow.nest),
        };
        let in_turns = flow.nest.0.last().is_some_and(|level| level.pieces) && !closes;
        let scope = deepest.map_or_else(Vec::new, |nest| places(plan, nest));
        let only = only_input(plan, at).filter(|_| in_turns);
        let planned = &mut plan.nodes[at];
        planned.inputs.extend(only);
        let ordered = (node.descriptor.ordered || in_turns) && !planned.inputs.is_empty();
        planned.in_order = (ordered && !fires.is_empty()).then(|| flow.nest.counted_at());
        (planned.scope, planned.fires) = (scope, fires);
    }
    for (at, edge) in edges.iter().enumerate() {
        let scope = places(plan, &analysis.edges[&edge.id].nest);
        plan.edges[at].repeats = analysis.edges[&edge.id].repeats;
        plan.edges[at].scope = scope;
    }
    found.extend(check_control(plan));
    let issues = std::mem::take(&mut analysis.issues);
    found.extend(issues.into_iter().filter(|issue| is_about_handles(plan, issue)).map(diagnostic));
    plan.analysis = analysis;
    found
}

/// The input of a node to which one edge leads that names none. Whoever takes turns waits for it as for any other.
fn only_input(plan: &Plan, at: usize) -> Option<PlannedInput> {
    let node = &plan.nodes[at];
    let edge = plan.edges.iter().position(|edge| edge.to == at)?;
    let is_plain = node.inputs.is_empty() && node.arriving == 1;
    is_plain.then(|| planned_input(node, Descriptor::IN, edge))
}

fn places(plan: &Plan, nest: &Nest) -> Vec<usize> {
    nest.0.iter().filter_map(|level| plan.node(&level.root.node().into())).collect()
}

/// Where each edge leaves and arrives.
fn name_handles(plan: &mut Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let targets: Vec<Option<String>> =
        plan.edges.iter().map(|edge| named(edge.source.target_handle.as_deref())).collect();
    for at in 0..plan.nodes.len() {
        let node = &plan.nodes[at];
        let arriving: Vec<usize> = (0..plan.edges.len()).filter(|edge| plan.edges[*edge].to == at).collect();
        let declares = node.descriptor.inputs.iter().any(|input| input.name != Descriptor::IN);
        let joins_all = matches!(node.kind.inbox(&node.source), Inbox::List | Inbox::Race)
            || node.descriptor.inputs.iter().any(|input| input.name == Descriptor::IN);
        let has_handles = !joins_all && (declares || arriving.iter().any(|edge| targets[*edge].is_some()));
        if !has_handles {
            continue;
        }
        let mut inputs: Vec<PlannedInput> = Vec::new();
        for edge in arriving {
            let name = targets[edge].clone().unwrap_or_else(|| main_input(node).to_owned());
            match inputs.iter_mut().find(|input| *input.name == *name) {
                Some(input) => input.edges.push(edge),
                None => inputs.push(planned_input(node, &name, edge)),
            }
        }
        found.extend(check_inputs(node, &inputs));
        for input in &inputs {
            for &edge in &input.edges {
                plan.edges[edge].input = Some(Arc::clone(&input.name));
            }
        }
        plan.nodes[at].inputs = inputs;
    }
    for at in 0..plan.edges.len() {
        found.extend(name_output(plan, at));
    }
    found
}

/// An empty handle, and the one that every edge arrives at, say nothing.
fn named(handle: Option<&str>) -> Option<String> {
    handle.filter(|handle| !handle.is_empty() && *handle != Descriptor::IN).map(str::to_owned)
}

/// Where an edge arrives that names no input: at the main one, unless its value is written down.
fn main_input(node: &PlannedNode) -> &'static str {
    let main = node.descriptor.inputs.first().map(|input| input.name);
    main.filter(|main| !node.source.parameters.contains_key(*main) && !node.descriptor.join)
        .unwrap_or(Descriptor::IN)
}

/// What the kind says of an input counts, then what the author says (`"inputs": {"name": {"type", "default"}}`). An
/// input that is a parameter and need not be there, or has a value written down, can do without an edge's.
fn planned_input(node: &PlannedNode, name: &str, edge: usize) -> PlannedInput {
    let of_kind = node.descriptor.inputs.iter().find(|input| input.name == name);
    let of_author =
        ["inputs", "dynamic_inputs"].iter().find_map(|key| node.source.other.get(*key)?.get(name));
    let parameter = node.kind.parameters().iter().find(|parameter| parameter.name == name);
    let default = of_author.and_then(|input| input.get("default")).cloned().map(Payload::new);
    let is_written = node.source.parameters.contains_key(name) || default.is_some();
    let required = match (of_kind, parameter, of_author.and_then(|input| input.get("required"))) {
        _ if is_written => false,
        (Some(input), _, _) => input.required,
        (None, Some(parameter), _) => parameter.required,
        (None, None, Some(Value::Bool(required))) => *required,
        (None, None, _) => true,
    };
    let is_list = of_author.and_then(|input| input.get("type")).is_some_and(is_list_type);
    PlannedInput { name: name.into(), required, default, list: is_list, edges: vec![edge] }
}

/// `list[str]`, or `{"type": "list", …}` as others write it.
fn is_list_type(written: &Value) -> bool {
    match written {
        Value::String(text) => text == "list" || text.starts_with("list["),
        other => other.get("type").and_then(Value::as_str) == Some("list"),
    }
}

fn check_inputs(node: &PlannedNode, inputs: &[PlannedInput]) -> Vec<Diagnostic> {
    let known = &node.descriptor.inputs;
    let has = |name: &str| inputs.iter().any(|input| *input.name == *name);
    let mut found = Vec::new();
    let missing = known.iter().filter(|input| {
        input.required && !has(input.name) && !node.source.parameters.contains_key(input.name)
    });
    for input in missing {
        let message = format!("nothing leads to the input {:?}", input.name);
        let hint = format!("lead an edge with \"target_handle\": {:?} here", input.name);
        found.push(Diagnostic::error(Code::UnknownHandle, message, hint).at_node(&node.id));
    }
    let is_parameter = |name: &str| node.kind.parameters().iter().any(|parameter| parameter.name == name);
    // Whoever gathers a level hears of items along every edge: what its parameters are must be known without.
    let gathers = node.closes();
    let is_known = |name: &str| {
        name == Descriptor::IN && !node.descriptor.join
            || known.iter().any(|input| input.name == name)
            || !gathers && is_parameter(name)
    };
    // What its parameters read may be called anything.
    let reads = || node.templates.values().any(|template| template.roots().contains("inputs"));
    if known.is_empty() || !gathers && reads() {
        return found;
    }
    for input in inputs.iter().filter(|input| !is_known(&input.name)) {
        let names: Vec<&str> = known.iter().map(|input| input.name).collect();
        let message = format!("{} has no input {:?}", node.source.kind, &*input.name);
        let hint = match is_parameter(&input.name) {
            true => "it is a parameter: write it there, as a value or as a reference to an earlier node"
                .to_owned(),
            false => format!("its inputs are {}", names.join(", ")),
        };
        found.push(Diagnostic::error(Code::UnknownHandle, message, hint).at_node(&node.id));
    }
    found
}

/// What leaves along an edge. A kind that names its outputs has no others; any other has its fields.
fn name_output(plan: &mut Plan, at: usize) -> Option<Diagnostic> {
    let edge = &plan.edges[at];
    let from = &plan.nodes[edge.from];
    // A way is named by its handle, and carries the whole result.
    if !from.outgoing.contains(&at) || !from.ways.is_empty() {
        return None;
    }
    let names = || from.descriptor.outputs.keys().filter(|name| *name != Descriptor::ERROR);
    let closed = names().any(|name| name != Descriptor::OUT);
    let name = edge.source.source_handle.clone().filter(|handle| !handle.is_empty());
    let unknown = match &name {
        Some(name) => closed && *name != Descriptor::OUT && !from.descriptor.outputs.contains_key(name),
        None => false,
    };
    let ambiguous = from.descriptor.chooses && name.as_deref().is_none_or(|name| name == Descriptor::OUT);
    if unknown || ambiguous {
        let names: Vec<&str> = names().map(String::as_str).collect();
        let close = nodes::nearest_of(name.as_deref().unwrap_or_default(), names.iter().copied());
        let message = match &name {
            Some(name) => format!("{} has no output {name:?}", from.source.kind),
            None => "this edge does not say which output it leaves from".to_owned(),
        };
        let hint = match close.first() {
            Some(close) => format!("did you mean {close:?}?"),
            None => format!("write \"source_handle\" with one of {}", names.join(", ")),
        };
        let diagnostic = Diagnostic::error(Code::UnknownHandle, message, hint);
        return Some(diagnostic.at_edge(&edge.source.id).at_node(&from.id));
    }
    let name = name.unwrap_or_else(|| Descriptor::OUT.to_owned());
    let pick = from.kind.pick(&name);
    let edge = &mut plan.edges[at];
    (edge.output, edge.pick) = (name.into(), pick);
    None
}

fn data_node(plan: &Plan, at: usize) -> DataNode {
    let node = &plan.nodes[at];
    let mut descriptor = node.descriptor.clone();
    // Every other output stands where the first one does.
    let rule = descriptor.outputs.values().flatten().next().cloned();
    for &edge in &node.outgoing {
        descriptor.outputs.entry(plan.edges[edge].output.to_string()).or_insert_with(|| rule.clone());
    }
    // An error leaves where the node fires: outside of what it closes or opens.
    let closing = rule.filter(|rule| rule.collapse.is_some());
    let error = closing.map(|rule| OutputRule { kind: OutputKind::Aggregate, group: None, ..rule });
    descriptor.outputs.insert(Descriptor::ERROR.to_owned(), error);
    match node.inputs.is_empty() {
        true => descriptor.list_handles.push(Descriptor::IN.to_owned()),
        false => {
            let lists = node.inputs.iter().filter(|input| input.list);
            descriptor.list_handles.extend(lists.map(|input| input.name.to_string()));
        }
    }
    DataNode { id: node.id.clone(), descriptor }
}

fn data_edge(plan: &Plan, at: usize) -> DataEdge {
    let edge = &plan.edges[at];
    let from = &plan.nodes[edge.from];
    let is_error = !from.outgoing.contains(&at);
    DataEdge {
        id: edge.source.id.clone(),
        from: from.id.clone(),
        output: if is_error { Descriptor::ERROR.to_owned() } else { edge.output.to_string() },
        to: plan.nodes[edge.to].id.clone(),
        input: edge.input.as_deref().unwrap_or(Descriptor::IN).to_owned(),
    }
}

/// Edges without handles meet at the same level, or at a merge.
fn check_control(plan: &Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, node) in plan.nodes.iter().enumerate() {
        let arriving = || plan.edges.iter().filter(move |edge| edge.to == at);
        let complain = |message: &str, hint: &str| {
            Diagnostic::error(Code::ScopeMismatch, message, hint).at_node(&node.id)
        };
        let gathers_nothing = node.closes() && node.scope.is_empty() && !node.descriptor.join;
        if gathers_nothing && node.descriptor.inputs.iter().any(|input| input.name == Descriptor::IN) {
            found.push(complain("a fan-out is gathered here, but none is open", "place it behind a split"));
        }
        let from_outside = node.kind.inbox(&node.source) == Inbox::List;
        let fits = |scope: &Vec<usize>| match from_outside {
            true => node.scope.starts_with(scope),
            false => *scope == node.scope,
        };
        if node.inputs.is_empty() && !arriving().all(|edge| fits(&edge.scope)) {
            found.push(complain("edges from different fan-outs meet here", "use merge, or aggregate first"));
        }
    }
    found
}

/// What the rules say of edges without handles is said in the words of [`check_control`].
fn is_about_handles(plan: &Plan, issue: &Issue) -> bool {
    let node = issue.node.as_ref().and_then(|id| plan.node(id));
    node.is_none_or(|node| !plan.nodes[node].inputs.is_empty())
}

fn diagnostic(issue: Issue) -> Diagnostic {
    // The remedy is the last sentence.
    let (message, hint) = issue.message.rsplit_once(". ").unwrap_or((&issue.message, ""));
    let hint = hint.trim_end_matches('.');
    let message = match &issue.handle {
        Some(handle) if !message.contains(&format!("\"{handle}\"")) => {
            format!("{message} (handle \"{handle}\")")
        }
        _ => message.to_owned(),
    };
    let diagnostic = Diagnostic::error(Code::ScopeMismatch, message, hint);
    match &issue.node {
        Some(node) => diagnostic.at_node(node),
        None => diagnostic,
    }
}

/// The sides of a node whose outputs exclude each other, by edge.
pub fn choices(plan: &Plan, node: &PlannedNode) -> Vec<(usize, u32)> {
    if !node.descriptor.chooses {
        return Vec::new();
    }
    // What is single leaves by whichever way.
    let forwards =
        |rule: &Option<OutputRule>| rule.as_ref().is_some_and(|rule| rule.kind == OutputKind::Forward);
    let ways = node.descriptor.outputs.iter().filter(|(_, rule)| forwards(rule)).map(|(name, _)| name);
    let sides: BTreeMap<&str, u32> = ways.map(String::as_str).zip(1..).collect();
    let side = |edge: &usize| Some((*edge, *sides.get(&*plan.edges[*edge].output)?));
    node.outgoing.iter().filter_map(side).collect()
}

impl PlannedNode {
    /// A firing opens a level.
    pub fn opens(&self) -> bool {
        self.descriptor.opens()
    }

    /// A firing closes a level of its inputs.
    pub fn closes(&self) -> bool {
        self.descriptor.closes()
    }

    /// What it opens are pieces of one value.
    pub fn is_stream(&self) -> bool {
        self.descriptor.outputs.values().flatten().any(|rule| rule.kind == OutputKind::Chunk)
    }
}
