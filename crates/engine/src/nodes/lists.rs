//! `filter`, `sort` and `limit`: an array goes in, a part of it comes out as the working payload.

use std::cmp::Ordering;

use protocol::{Diagnostic, NodeError};
use serde_json::{Value, json};

use super::{Firing, Kind, Parameter, Resolve, Work, check_choice, invalid, parameter, required};
use crate::{
    compare::{Operator, compare, order},
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
        let holds = |item: &Value, rule: &Value| {
            let operator = rule["operator"].as_str().and_then(Operator::parse);
            // A field that is not there matches nothing.
            operator
                .zip(field(item, &rule["field"]))
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
        let known = |rule: &Value| match &rule["direction"] {
            Value::Null => true,
            direction => direction.as_str().is_some_and(|direction| directions.contains(&direction)),
        };
        let rules = node.source.parameters.get("rules").and_then(Value::as_array);
        let fits = rules.is_some_and(|rules| !rules.is_empty() && rules.iter().all(known));
        let hint = "write \"rules\": [{\"field\": \"price\", \"direction\": \"desc\"}]";
        let message = "rules must be a list of {field, direction}";
        (!fits).then(|| invalid(&node.id, message.to_owned(), hint)).into_iter().collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let mut items = input_array(firing)?;
        let rules = firing.parameters.get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
        items.sort_by(|left, right| {
            let by = |rule: &Value| {
                let (left, right) = (field(left, &rule["field"]), field(right, &rule["field"]));
                let ordering = missing_last(left, right);
                let down = matches!(rule["direction"].as_str(), Some("desc" | "descending"));
                if down { ordering.reverse() } else { ordering }
            };
            rules.iter().map(by).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        });
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

/// The array to work on: the parameter, else the working payload.
fn input_array(firing: &Firing<'_>) -> Result<Vec<Value>, NodeError> {
    let value = match firing.parameter("input_array") {
        Some(value) => value.clone(),
        None => firing.context.get("$json").map_or(Value::Null, |payload| payload.value().clone()),
    };
    match value {
        Value::Array(items) => Ok(items),
        Value::Null => {
            Err(firing.invalid("input_array", "is missing, and there is no $json to take instead"))
        }
        other => Err(firing.invalid("input_array", &format!("must be an array, but is {other}"))),
    }
}

/// A dotted path into an item; `$item.` in front of it is allowed.
fn field<'i>(item: &'i Value, path: &Value) -> Option<&'i Value> {
    let path = path.as_str()?.trim();
    let path = path.strip_prefix("$item.").or_else(|| path.strip_prefix('$')).unwrap_or(path);
    if path.is_empty() || path == "item" {
        return Some(item);
    }
    path.split('.').try_fold(item, |value, part| value.get(part))
}

/// What is missing or null comes behind everything else.
fn missing_last(left: Option<&Value>, right: Option<&Value>) -> Ordering {
    let present = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    match (present(left), present(right)) {
        (true, true) => {
            left.zip(right).and_then(|(left, right)| order(left, right)).unwrap_or(Ordering::Equal)
        }
        (left, right) => right.cmp(&left),
    }
}
