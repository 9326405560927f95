//! From the fields of a canvas node to parameters.

use serde_json::{Map, Value, json};

/// What a field is called on a canvas and what the parameter is called: kind, field, parameter. Older canvases have
/// other names for some fields of `http`.
const RENAMED: [(&str, &str, &str); 3] = [
    ("split", "array_field", "input_array"),
    ("http", "retries", "retry"),
    ("http", "ignoreSSL", "ignore_ssl"),
];

/// A form on a canvas leaves what was not chosen out: kind, list, field of its entries, what it then means.
const DEFAULTS: [(&str, &str, &str, &str); 3] = [
    ("edit", "assignments", "type", "string"),
    ("filter", "rules", "operator", "=="),
    ("switch", "rules", "operator", "=="),
];

/// Every field is a parameter, apart from those that were left blank.
pub fn parameters(kind: &str, fields: Map<String, Value>) -> Map<String, Value> {
    let mut parameters: Map<String, Value> =
        fields.into_iter().filter(|(_, value)| !is_blank(value)).collect();
    for (_, field, parameter) in RENAMED.into_iter().filter(|renamed| renamed.0 == kind) {
        if let Some(value) = parameters.shift_remove(field) {
            parameters.entry(parameter).or_insert(value);
        }
    }
    for (_, list, field, default) in DEFAULTS.into_iter().filter(|default| default.0 == kind) {
        for entry in parameters.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            fill(entry, field, default);
        }
    }
    if kind == "smtp" {
        let lists = parameters.iter_mut().filter(|(field, _)| matches!(field.as_str(), "to" | "cc" | "bcc"));
        lists.for_each(|(_, addresses)| split_addresses(addresses));
    }
    parameters
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn fill(entry: &mut Value, field: &str, default: &str) {
    if let Value::Object(entry) = entry
        && entry.get(field).is_none_or(is_blank)
    {
        entry.insert(field.to_owned(), json!(default));
    }
}

/// Several addresses are written into one field, with commas.
fn split_addresses(value: &mut Value) {
    let addresses: Vec<&str> = value.as_str().unwrap_or_default().split(',').map(str::trim).collect();
    if addresses.len() > 1 {
        *value = addresses.into_iter().filter(|address| !address.is_empty()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_parameters() {
        for (kind, fields, expected) in [
            ("log", json!({"message": "hi", "level": "", "more": null}), json!({"message": "hi"})),
            ("split", json!({"array_field": "$A.list"}), json!({"input_array": "$A.list"})),
            ("split", json!({"array_field": "$A", "input_array": "$B"}), json!({"input_array": "$B"})),
            (
                "merge",
                json!({"wait_mode": "wait_for_any", "timeout": "60"}),
                json!({"wait_mode": "wait_for_any", "timeout": "60"}),
            ),
            (
                "http",
                json!({"url": "x", "retries": 2, "ignoreSSL": true, "timeout": "30"}),
                json!({"url": "x", "timeout": "30", "retry": 2, "ignore_ssl": true}),
            ),
            (
                "edit",
                json!({"assignments": [{"name": "a", "value": "1"}, {"name": "b", "type": "number"}]}),
                json!({"assignments": [{"name": "a", "value": "1", "type": "string"}, {"name": "b", "type": "number"}]}),
            ),
            (
                "filter",
                json!({"rules": [{"field": "a", "operator": ""}]}),
                json!({"rules": [{"field": "a", "operator": "=="}]}),
            ),
            (
                "smtp",
                json!({"to": "a@x, b@x", "cc": "c@x", "subject": "a, b"}),
                json!({"to": ["a@x", "b@x"], "cc": "c@x", "subject": "a, b"}),
            ),
        ] {
            let fields = fields.as_object().cloned().unwrap();
            assert_eq!(Value::Object(parameters(kind, fields)), expected, "{kind}");
        }
    }
}
