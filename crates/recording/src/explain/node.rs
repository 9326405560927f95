//! One node: why it went the way it went, what it used, or why it did not run.

use engine::{Context, expr::Reference};
use protocol::{
    Condition, EdgeId, Event, Fact, FiringStory, LineageKey, NodeId, NodeStory, NotRun, Payload, Used,
};
use serde_json::{Value, json};

use super::history::{Fired, History, touches};
use crate::{Ledger, LedgerError};

/// Places where a node did not run that are told.
const TOLD: usize = 20;

pub fn story(
    events: &[Event],
    history: &History<'_>,
    node: &NodeId,
    key: Option<&str>,
) -> Result<NodeStory, LedgerError> {
    let fired: Vec<&Fired<'_>> = history.of_node(node).map(|(_, fired)| fired).collect();
    let has_failed = |fired: &&&Fired<'_>| fired.done().is_some_and(|done| done.outcome.is_err());
    let chosen = match key {
        Some(key) => fired.iter().find(|fired| fired.firing.lineage.key().as_str() == key),
        None => fired.iter().find(has_failed).or(fired.last()),
    };
    let firing = match chosen {
        Some(fired) => Some(tell(events, history, fired)?),
        None => None,
    };
    Ok(NodeStory {
        node_id: node.clone(),
        firings: fired.len(),
        failed: fired.iter().filter(has_failed).count(),
        not_run: not_run(history, node, key, fired.is_empty()),
        firing,
    })
}

fn tell(events: &[Event], history: &History<'_>, fired: &Fired<'_>) -> Result<FiringStory, LedgerError> {
    let plan = &history.plan;
    let done = fired.done();
    let taken: Vec<EdgeId> = done.map_or_else(Vec::new, |done| done.taken.to_vec());
    let leaving = plan.node(&fired.firing.node_id).map_or(&[][..], |node| &plan.nodes[node].leaving);
    let left = leaving.iter().map(|&edge| plan.edges[edge].source.id.clone());
    let not_taken = left.filter(|edge| done.is_some() && !taken.contains(edge)).collect();
    let context = context_of(events, fired)?;
    Ok(FiringStory {
        key: fired.firing.lineage.key(),
        position: fired.position,
        set_off_by: fired.cause.map(|cause| history.firings[cause].firing.node_id.clone()),
        not_taken,
        conditions: conditions(history, fired),
        used: context.map_or_else(Vec::new, |context| used(history, fired, &context)),
        error: done.and_then(|done| done.outcome.err()).map(|error| error.message.clone()),
        taken,
    })
}

/// What the node saw when it began.
fn context_of(events: &[Event], fired: &Fired<'_>) -> Result<Option<Context>, LedgerError> {
    let mut ledger = Ledger::begin(events)?;
    for event in events.iter().take_while(|event| event.seq <= fired.position) {
        // A firing that begins and ends with one event is gone afterwards.
        if event.seq == fired.position && !matches!(event.fact, Fact::NodeStarted(_)) {
            break;
        }
        ledger.apply(event)?;
    }
    Ok(ledger.get(&fired.firing.message_id).map(|opened| opened.message.context.clone()))
}

fn conditions(history: &History<'_>, fired: &Fired<'_>) -> Vec<Condition> {
    let Some(node) = history.plan.node(&fired.firing.node_id).map(|node| &history.plan.nodes[node]) else {
        return Vec::new();
    };
    let (written, resolved) = (&node.source.parameters, fired.parameters.map(Payload::value));
    let output = fired.done().and_then(|done| done.outcome.ok()).map(Payload::value);
    let resolved_of =
        |name: &str| resolved.and_then(|resolved| resolved.get(name)).cloned().unwrap_or_default();
    match node.kind.names()[0] {
        "conditional" => vec![Condition {
            written: written.get("expression").cloned().unwrap_or_default(),
            resolved: resolved_of("expression"),
            held: output.and_then(|output| output["result"].as_bool()),
        }],
        "switch" | "filter" => {
            let rules = written.get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
            let matched =
                output.and_then(|output| output["output_index"].as_u64()).map(|index| index as usize);
            let condition = |(index, rule): (usize, Value)| Condition {
                written: rule,
                resolved: resolved_of("rules").get(index).cloned().unwrap_or_default(),
                // Of a switch the rules behind the first that holds are not looked at.
                held: matched.filter(|matched| index <= *matched).map(|matched| index == matched),
            };
            rules.into_iter().enumerate().map(condition).collect()
        }
        _ => Vec::new(),
    }
}

/// Every reference in the parameters, with its value.
fn used(history: &History<'_>, fired: &Fired<'_>, context: &Context) -> Vec<Used> {
    let Some(node) = history.plan.node(&fired.firing.node_id) else { return Vec::new() };
    let mut found: Vec<Used> = Vec::new();
    for (parameter, raw) in &history.plan.nodes[node].source.parameters {
        let mut texts = Vec::new();
        strings(raw, &mut texts);
        for reference in texts.into_iter().flat_map(|text| references(history, text)) {
            let shown = reference.to_string();
            if !found.iter().any(|used| used.reference == shown && used.parameter == *parameter) {
                found.push(resolve(history, fired, context, parameter, &reference));
            }
        }
    }
    found
}

fn resolve(
    history: &History<'_>,
    fired: &Fired<'_>,
    context: &Context,
    parameter: &str,
    reference: &Reference,
) -> Used {
    let node_id = history.plan.names.node(&reference.root).cloned();
    let key = node_id.as_ref().map_or_else(|| format!("${}", reference.root), |node| format!("${node}"));
    let root = context.get(&key);
    let value = root.and_then(|root| reference.follow(root.value()).ok().map(std::borrow::Cow::into_owned));
    let source = node_id.as_ref().and_then(|node| {
        let before = history.of_node(node).filter_map(|(_, source)| {
            let done = source.done().filter(|_| touches(&source.firing.lineage, &fired.firing.lineage))?;
            (done.position < fired.position).then_some(done.position)
        });
        before.max()
    });
    // What was there when it began is the input, which the first event holds.
    let position = source.or((reference.root == "trigger").then_some(1));
    Used { parameter: parameter.to_owned(), reference: reference.to_string(), value, node_id, position }
}

fn references(history: &History<'_>, text: &str) -> Vec<Reference> {
    let known =
        |root: &str| history.plan.names.node(root).is_some() || engine::expr::Names::WORDS.contains(&root);
    // What comes behind a dot is a field of the reference before it, as in `$price.$json.total`.
    let begins = |(at, _): &(usize, &str)| !text[..*at].ends_with('.');
    let found =
        text.match_indices('$').filter(begins).filter_map(|(at, _)| Reference::parse_prefix(&text[at..]));
    found.map(|(reference, _)| reference).filter(|reference| known(&reference.root)).collect()
}

fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn not_run(history: &History<'_>, node: &NodeId, key: Option<&str>, never: bool) -> Vec<NotRun> {
    let at_key = |lineage: &protocol::Lineage| key.is_none_or(|key| key.starts_with(lineage.key().as_str()));
    let mut told: Vec<NotRun> = history
        .skips
        .iter()
        .filter(|(skipped, _)| skipped.node_id == *node && at_key(&skipped.lineage))
        .take(TOLD)
        .map(|(skipped, by)| decided(history, node, &skipped.lineage.key(), *by))
        .collect();
    if told.is_empty() && never {
        told.push(NotRun {
            key: LineageKey::default(),
            decided_by: None,
            position: None,
            taken: Vec::new(),
            sentence: not_reached(history, node),
        });
    }
    told
}

fn decided(history: &History<'_>, node: &NodeId, key: &LineageKey, by: usize) -> NotRun {
    let fired = &history.firings[by];
    let by = &fired.firing.node_id;
    let place = if key.is_root() { String::new() } else { format!(" at [{key}]") };
    let done = fired.done();
    let taken: Vec<EdgeId> = done.map_or_else(Vec::new, |done| done.taken.to_vec());
    let why = match (done.map(|done| done.outcome), conditions(history, fired).first()) {
        (Some(Err(error)), _) => format!("{by} failed: {}", error.message),
        (_, Some(Condition { written, held: Some(held), .. })) => {
            format!("{by} found {} to be {held}", json!(written))
        }
        (_, _) => format!("{by} went another way"),
    };
    let names: Vec<&str> = taken.iter().map(EdgeId::as_str).collect();
    let way = if names.is_empty() { "no edge".to_owned() } else { names.join(", ") };
    let sentence = format!("{node} does not run{place}: {why}, and followed {way}");
    NotRun {
        key: key.clone(),
        decided_by: Some(by.clone()),
        position: done.map(|done| done.position),
        taken,
        sentence,
    }
}

fn not_reached(history: &History<'_>, node: &NodeId) -> String {
    match history.ended.map(|ended| ended.error.as_ref()) {
        _ if history.plan.node(node).is_none() => format!("there is no node {node} in this workflow"),
        None => format!("{node} has not run yet: nothing has reached it"),
        Some(Some(error)) => {
            format!("{node} did not run: the execution ended before, because {}", error.message)
        }
        Some(None) => format!("{node} did not run: nothing that was started leads to it"),
    }
}
