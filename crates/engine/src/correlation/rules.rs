//! What cannot work, with the handles by name and a way out.

use std::collections::BTreeMap;

use super::{Collapse, DataNode, Flow, InputFlow, InputMode, Issue, OutputKind, OutputRule, Scope, Source};

fn at(node: &DataNode, handle: &str, message: String) -> Issue {
    Issue { message, node: Some(node.id.clone()), handle: Some(handle.to_owned()) }
}

pub fn several_edges(node: &DataNode, handle: &str, flows: &[&Flow]) -> Option<Issue> {
    if !node.descriptor.list_handles.iter().any(|list| list == handle) {
        let message = format!(
            "Handle \"{handle}\" receives {} edges but is not a list type. Lead one edge here, or merge them first.",
            flows.len()
        );
        return Some(at(node, handle, message));
    }
    let pair = pairs(flows).find(|(left, right)| !left.scope.is_comparable_with(&right.scope))?;
    let message = format!(
        "List handle \"{handle}\" has incomparable source-edge scopes ({} vs {}). Add Zip or Cross to declare how they should join.",
        pair.0.scope, pair.1.scope
    );
    Some(at(node, handle, message))
}

/// Two iterations that have nothing to do with each other meet without a word about how.
pub fn independent_inputs(node: &DataNode, inputs: &BTreeMap<String, InputFlow>) -> Vec<Issue> {
    let scoped: Vec<(&String, &Scope)> = inputs
        .iter()
        .map(|(handle, input)| (handle, &input.flow.scope))
        .filter(|(_, scope)| !scope.is_empty())
        .collect();
    let apart = pairs(&scoped).filter(|((_, left), (_, right))| !left.is_comparable_with(right));
    let complain = |((left, of_left), (right, of_right)): (&(&String, &Scope), &(&String, &Scope))| {
        let message = format!(
            "Inputs \"{left}\" and \"{right}\" come from independent iteration sources (scopes {of_left} and {of_right}). \
             Add Zip or Cross to declare how they should join."
        );
        at(node, left, message)
    };
    apart.map(complain).collect()
}

/// Items of two sides can be paired if each side has one iteration of its own.
pub fn sides(node: &DataNode, inputs: &BTreeMap<String, InputFlow>, parent: &Scope) -> Vec<Issue> {
    let complain = |(handle, input): (&String, &InputFlow)| {
        let own = input.flow.scope.len().saturating_sub(parent.len());
        let message = format!(
            "Input \"{handle}\" must have exactly one iteration root after the common parent prefix; got {own}. \
             Lead an iteration of its own here, or aggregate first."
        );
        (own != 1).then(|| at(node, handle, message))
    };
    inputs.iter().filter_map(complain).collect()
}

/// A node that fires once per key can be driven by one stream of pieces, and no more.
pub fn repeating_inputs(
    node: &DataNode,
    inputs: &BTreeMap<String, InputFlow>,
    invocation: &Scope,
) -> Vec<Issue> {
    if node.descriptor.mode == InputMode::Stream {
        return Vec::new();
    }
    const REMEDY: &str = "Put Collect or Last in front, or use a stream node.";
    let mut issues = Vec::new();
    let repeating = || inputs.iter().filter(|(_, input)| input.flow.repeats);
    for (handle, input) in repeating() {
        let scope = &input.flow.scope;
        if !scope.is_empty() && scope.is_strict_prefix_of(invocation) {
            let message = format!(
                "Buffered node may not use repeats_per_key input \"{handle}\" as a strict-prefix sticky value. {REMEDY}"
            );
            issues.push(at(node, handle, message));
        }
    }
    let drivers: Vec<(&String, &InputFlow)> =
        repeating().filter(|(_, input)| input.flow.scope.len() == invocation.len()).collect();
    match drivers.as_slice() {
        [] => {}
        [(handle, input)] if input.has_several_edges() => {
            let message = format!(
                "Repeating input \"{handle}\" is a multi-edge list handle; repeating list handles need stream/aggregate handling. {REMEDY}"
            );
            issues.push(at(node, handle, message));
        }
        [_] => {}
        [(first, _), ..] => {
            let names: Vec<&str> = drivers.iter().map(|(handle, _)| handle.as_str()).collect();
            let message = format!(
                "Buffered node has more than one repeats_per_key input at the execution scope: {}. {REMEDY}",
                names.join(", ")
            );
            issues.push(at(node, first, message));
        }
    }
    issues
}

pub fn output(
    node: &DataNode,
    handle: &str,
    rule: &OutputRule,
    base: &Flow,
    inputs: &BTreeMap<String, InputFlow>,
    invocation: &Scope,
) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut complain = |message: String| issues.push(at(node, handle, message));
    let Some(source) = &rule.source else {
        complain(format!("Output \"{handle}\" omits required \"source\". Name an input, or __execution__."));
        return issues;
    };
    let is_stream = node.descriptor.mode == InputMode::Stream;
    match (rule.kind, source) {
        (OutputKind::Forward, Source::Execution) => {
            complain(format!(
                "Output \"{handle}\": forward outputs may not use source \"__execution__\". Name the input it forwards."
            ));
        }
        (OutputKind::Forward, Source::Handle(from))
            if inputs.get(from).is_some_and(InputFlow::has_several_edges) =>
        {
            complain(format!(
                "Output \"{handle}\": forward outputs may not name a multi-edge list handle (\"{from}\") as source."
            ));
        }
        (OutputKind::Aggregate, _) => {
            if rule.collapse != Some(Collapse::Innermost) {
                complain(format!("Output \"{handle}\": aggregate output requires \"collapse\"."));
            }
            if !is_stream {
                complain(format!(
                    "Output \"{handle}\": aggregate outputs are only valid on input_mode: \"stream\"."
                ));
            }
        }
        (OutputKind::Single | OutputKind::Iteration | OutputKind::Chunk | OutputKind::Forward, _) => {}
    }
    let narrows = base.scope.is_strict_prefix_of(invocation);
    // Of the stream nodes, those that take their items in order fire once per key as well.
    let fires_per_key = !is_stream || node.descriptor.ordered;
    if fires_per_key && rule.kind != OutputKind::Aggregate && narrows {
        complain(format!(
            "Output \"{handle}\" starts from scope {}, which is a strict prefix of the invocation scope {invocation}: \
             every firing would emit it again. Use __execution__ as source, or aggregate first.",
            base.scope
        ));
    }
    issues
}

fn pairs<T>(values: &[T]) -> impl Iterator<Item = (&T, &T)> {
    values.iter().enumerate().flat_map(|(at, left)| values[at + 1..].iter().map(move |right| (left, right)))
}
