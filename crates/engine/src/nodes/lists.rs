//! `filter`, `sort` and `limit`: an array goes in, a part of it comes out as the working payload.

use std::cmp::Ordering;

use protocol::{Diagnostic, NodeError, Payload};
use serde_json::{Value, json};

use super::{Firing, Kind, Parameter, Resolve, Work, check_choice, invalid, parameter, required};
use crate::{
    compare::{Operator, Rank, Sense, compare},
    plan::{Plan, PlannedNode},
};

pub struct Filter;
pub struct Sort;
pub struct Limit;

impl Kind for Filter {
    fn names(&self) -> &'static [&'static str] {
        &["filter"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 3] = [
            parameter("input_array", Resolve::Value),
            required("rules", Resolve::Rules),
            parameter("match_mode", Resolve::Literal),
        ];
        &PARAMETERS
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let hint = "write \"rules\": [{\"field\": \"price\", \"operator\": \">\", \"value\": 10}]";
        let known = |rule: &Value| rule["operator"].as_str().and_then(Operator::parse).is_some();
        let rules = node.source.parameters.get("rules").and_then(Value::as_array);
        let fits = rules.is_some_and(|rules| !rules.is_empty() && rules.iter().all(known));
        let complaint = (!fits).then(|| {
            invalid(
                &node.id,
                "rules must be a list of {field, operator, value} with known operators".to_owned(),
                hint,
            )
        });
        complaint.into_iter().chain(check_choice(node, "match_mode", &["all", "any"])).collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let items = input_array(firing)?;
        let rules = firing.parameters.get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
        let any = firing.parameter("match_mode").and_then(Value::as_str) == Some("any");
        let list = list_name(firing);
        let holds = |item: &Value, rule: &Value| {
            let operator = rule["operator"].as_str().and_then(Operator::parse);
            // A field that is not there matches nothing.
            operator
                .zip(field(item, &rule["field"], list))
                .is_some_and(|(operator, found)| compare(found, operator, &rule["value"]))
        };
        let kept: Vec<&Value> = items
            .iter()
            .filter(|item| match any {
                true => rules.iter().any(|rule| holds(item, rule)),
                false => rules.iter().all(|rule| holds(item, rule)),
            })
            .collect();
        let output = json!({"$json": kept, "count": kept.len(), "original_count": items.len()});
        Ok(Work::done(output.into()))
    }

    fn working_payload(&self, output: &Value) -> Option<Value> {
        output.get("$json").cloned()
    }
}

impl Kind for Sort {
    fn names(&self) -> &'static [&'static str] {
        &["sort"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("input_array", Resolve::Value), required("rules", Resolve::Literal)];
        &PARAMETERS
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let directions = ["asc", "desc", "ascending", "descending"];
        let one_of = |value: &Value, words: &[&str]| match value {
            Value::Null => true,
            value => value.as_str().is_some_and(|word| words.contains(&word)),
        };
        let known = |rule: &Value| {
            one_of(&rule["direction"], &directions)
                && one_of(&rule["type"], &["auto", "text", "number", "date"])
        };
        let rules = node.source.parameters.get("rules").and_then(Value::as_array);
        let fits = rules.is_some_and(|rules| !rules.is_empty() && rules.iter().all(known));
        let hint = "write \"rules\": [{\"field\": \"price\", \"direction\": \"desc\"}]";
        let message = "rules must be a list of {field, direction, type} with known directions and types";
        (!fits).then(|| invalid(&node.id, message.to_owned(), hint)).into_iter().collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let items = input_array(firing)?;
        let rules = firing.parameters.get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
        let list = list_name(firing);
        let rank = |item: &Value, rule: &Value| Rank::of(field(item, &rule["field"], list)?, sense(rule));
        let ranks = |item: &Value| rules.iter().map(|rule| rank(item, rule)).collect::<Vec<_>>();
        let mut ranked: Vec<(Vec<Option<Rank>>, Value)> =
            items.into_iter().map(|item| (ranks(&item), item)).collect();
        ranked.sort_by(|(left, _), (right, _)| {
            let by = |((rule, left), right): ((&Value, &Option<Rank>), &Option<Rank>)| {
                let ordering = missing_last(left.as_ref(), right.as_ref());
                let down = matches!(rule["direction"].as_str(), Some("desc" | "descending"));
                if down { ordering.reverse() } else { ordering }
            };
            let mut orderings = rules.iter().zip(left).zip(right).map(by);
            orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        });
        let items: Vec<Value> = ranked.into_iter().map(|(_, item)| item).collect();
        Ok(Work::done(json!({"count": items.len(), "$json": items}).into()))
    }

    fn working_payload(&self, output: &Value) -> Option<Value> {
        output.get("$json").cloned()
    }
}

impl Kind for Limit {
    fn names(&self) -> &'static [&'static str] {
        &["limit"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("input_array", Resolve::Value), required("count", Resolve::Value)];
        &PARAMETERS
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let items = input_array(firing)?;
        let count = firing.amount("count")?.filter(|count| count.fract() == 0.0);
        let count = count.ok_or_else(|| firing.invalid("count", "must be a whole number of zero or more"))?;
        let kept = &items[..items.len().min(count as usize)];
        let output = json!({"$json": kept, "count": kept.len(), "original_count": items.len()});
        Ok(Work::done(output.into()))
    }

    fn working_payload(&self, output: &Value) -> Option<Value> {
        output.get("$json").cloned()
    }
}

/// The array to work on: the parameter, else the working payload, else the one array that the nodes before have left.
fn input_array(firing: &Firing<'_>) -> Result<Vec<Value>, NodeError> {
    if let Some(value) = firing.parameter("input_array").filter(|value| value.as_str() != Some("")) {
        let refused = || firing.invalid("input_array", &format!("must be an array, but is {value}"));
        return value.as_array().cloned().ok_or_else(refused);
    }
    if let Some(Value::Array(items)) = firing.context.get("$json").map(Payload::value) {
        return Ok(items.clone());
    }
    let mut found = Vec::new();
    firing.context.iter().for_each(|(_, payload)| collect_arrays(payload.value(), &mut found));
    match found.as_slice() {
        [items] => Ok((*items).clone()),
        [] => Err(firing.invalid("input_array", "is missing, and there is no $json to take instead")),
        several => {
            let complaint = format!("is missing, and could be any of {} arrays; name one", several.len());
            Err(firing.invalid("input_array", &complaint))
        }
    }
}

/// Arrays inside arrays are data, not lists of their own; the same array in two places is one.
fn collect_arrays<'v>(value: &'v Value, found: &mut Vec<&'v Vec<Value>>) {
    match value {
        Value::Array(items) if !found.contains(&items) => found.push(items),
        Value::Object(fields) => fields.values().for_each(|field| collect_arrays(field, found)),
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What the author calls the array.
fn list_name<'f>(firing: &'f Firing<'_>) -> &'f str {
    let written = firing.node.source.parameters.get("input_array").and_then(Value::as_str).map(str::trim);
    written.filter(|name| !name.is_empty()).unwrap_or("$json")
}

/// A dotted path into an item.
fn field<'i>(item: &'i Value, path: &Value, list: &str) -> Option<&'i Value> {
    let path = inside_item(path.as_str()?.trim(), list);
    if path.is_empty() {
        return Some(item);
    }
    path.split('.').try_fold(item, |value, part| value.get(part).or_else(|| indexed(value, part)))
}

/// The path behind what stands for the item: `$item`, or the array itself with an index, as it is picked from a sample.
fn inside_item<'p>(path: &'p str, list: &str) -> &'p str {
    if let Some(rest) = path.strip_prefix("$item").filter(|rest| rest.is_empty() || rest.starts_with('.')) {
        return rest.trim_start_matches('.');
    }
    let plain = path.strip_prefix('$').unwrap_or(path);
    let picked = plain.strip_prefix(list.strip_prefix('$').unwrap_or(list));
    match picked.and_then(|rest| rest.strip_prefix('[')?.split_once(']')) {
        Some((_, rest)) => rest.trim_start_matches('.'),
        None => plain,
    }
}

/// `tags[0]`
fn indexed<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    let (name, indexes) = part.strip_suffix(']')?.split_once('[')?;
    let start = if name.is_empty() { value } else { value.get(name)? };
    indexes.split("][").try_fold(start, |value, index| value.get(index.parse::<usize>().ok()?))
}

/// What a rule takes the values for.
fn sense(rule: &Value) -> Sense {
    match rule["type"].as_str() {
        Some("number") => Sense::Number,
        Some("date") => Sense::Date,
        Some("text") => Sense::Text,
        _ => Sense::Auto,
    }
}

/// What is missing or null, or not what the rule takes it for, comes behind everything else.
fn missing_last(left: Option<&Rank>, right: Option<&Rank>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => left.order(right),
        (left, right) => right.is_some().cmp(&left.is_some()),
    }
}
