//! `edit`: writes fields of the working payload `$json`, or of the object or array at `target_path` (which some call
//! `array_path`).

use protocol::{Diagnostic, NodeError, Payload};
use serde_json::{Map, Number, Value, json};

use super::{Firing, Kind, Parameter, Resolve, Work, invalid, parameter, required};
use crate::{
    expr::{Template, as_text},
    plan::{Plan, PlannedNode},
};

pub struct Edit;

impl Kind for Edit {
    fn names(&self) -> &'static [&'static str] {
        &["edit"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 4] = [
            required("assignments", Resolve::Later),
            parameter("mode", Resolve::Literal),
            parameter("target_path", Resolve::Path),
            parameter("array_path", Resolve::Path),
        ];
        &PARAMETERS
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let Some(mode) = node.source.parameters.get("mode")
            && !matches!(mode.as_str(), Some("assignments" | "keep_only"))
        {
            let hint = "use \"assignments\" to keep the other fields or \"keep_only\" to drop them";
            found.push(invalid(&node.id, format!("mode {mode} is not known"), hint));
        }
        let assignments = node.source.parameters.get("assignments").and_then(Value::as_array);
        let named = |assignment: &Value| assignment.get("name").is_some_and(|name| name.as_str() != Some(""));
        if !assignments.is_some_and(|list| list.iter().all(named)) {
            let hint = "write \"assignments\": [{\"name\": \"total\", \"value\": \"{{ $json.a + 1 }}\"}]";
            found.push(invalid(&node.id, "assignments must be a list of {name, value}".to_owned(), hint));
        }
        found
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        // What is written as `null` is left out; what turns out to be `null` is nothing that has fields.
        let is_left_out = |name: &str| firing.node.source.parameters.get(name).is_some_and(Value::is_null);
        let paths = ["target_path", "array_path"].into_iter().filter(|name| !is_left_out(name));
        let mut named = paths.filter_map(|name| firing.parameters.get(name));
        let source = match named.find(|source| source.as_str() != Some("")) {
            Some(source) => source.clone(),
            None => firing.context.get("$json").map_or_else(|| json!({}), |payload| payload.value().clone()),
        };
        let assignments = &firing.node.templates["assignments"];
        let edited = match source {
            Value::Object(fields) => edit_one(firing, assignments, fields)?,
            Value::Array(items) => {
                let edit_item = |item| match item {
                    Value::Object(fields) => edit_one(firing, assignments, fields),
                    other => {
                        Err(firing.invalid("target_path", &format!("holds {other}, which has no fields")))
                    }
                };
                Value::Array(items.into_iter().map(edit_item).collect::<Result<_, _>>()?)
            }
            other => return Err(firing.invalid("target_path", &format!("is {other}, which has no fields"))),
        };
        Ok(Work::done(json!({"$json": edited}).into()))
    }

    fn working_payload(&self, output: &Value) -> Option<Value> {
        output.get("$json").cloned()
    }
}

/// Every assignment sees the fields that the ones before it wrote.
fn edit_one(
    firing: &Firing<'_>,
    assignments: &Template,
    fields: Map<String, Value>,
) -> Result<Value, NodeError> {
    let keep_only = firing.parameter("mode").and_then(Value::as_str) == Some("keep_only");
    let mut seen = Value::Object(fields);
    let mut kept = keep_only.then(|| json!({}));
    let count = firing.node.source.parameters["assignments"].as_array().map_or(0, Vec::len);
    for index in 0..count {
        let working = Payload::new(seen.clone());
        let assignment = assignments.item(index);
        let part = |name| match assignment.field(name) {
            Some(template) => firing.resolve(&template, &[("$json", &working)]),
            None => Ok(Value::Null),
        };
        let (name, value, wanted) = (part("name")?, part("value")?, part("type")?);
        let (name, value) = (as_text(&name), cast(firing, &wanted, value)?);
        if let Some(kept) = &mut kept {
            write(kept, &name, value.clone());
        }
        write(&mut seen, &name, value);
    }
    Ok(kept.unwrap_or(seen))
}

/// `type` asks for a type; without it the value keeps its own.
fn cast(firing: &Firing<'_>, wanted: &Value, value: Value) -> Result<Value, NodeError> {
    let refuse = |wanted: &str| firing.invalid("assignments", &format!("wants {value} as a {wanted}"));
    match wanted.as_str() {
        None | Some("") => Ok(value),
        Some("string") => Ok(Value::String(as_text(&value))),
        Some("number") => match &value {
            Value::Number(_) => Ok(value),
            other => {
                let text = as_text(other);
                let exact = serde_json::from_str(text.trim()).ok().filter(Value::is_number);
                // Such as `+7` and `.5`, which are no numbers in JSON.
                let loose = || Some(Value::Number(Number::from_f64(text.trim().parse().ok()?)?));
                exact.or_else(loose).ok_or_else(|| refuse("number"))
            }
        },
        Some("boolean") => match as_text(&value).trim().to_lowercase().as_str() {
            "true" | "yes" | "1" => Ok(Value::Bool(true)),
            "false" | "no" | "0" => Ok(Value::Bool(false)),
            _ => Err(refuse("boolean")),
        },
        Some("json") => match &value {
            Value::String(text) => serde_json::from_str(text).map_err(|_| refuse("JSON text")),
            _ => Ok(value),
        },
        Some(other) => Err(firing.invalid("assignments", &format!("names an unknown type {other:?}"))),
    }
}

/// Writes at a dotted path; objects on the way are made where they are missing.
fn write(target: &mut Value, path: &str, value: Value) {
    let mut place = target;
    for part in path.split('.') {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[part];
    }
    *place = value;
}
