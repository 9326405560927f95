//! JSON and moments as Go writes them: keys of free objects in order, `<`, `>` and `&` escaped, no zeros at the end of a
//! second.

use serde_json::{Map, Value};

pub fn text(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            let fields: Map<String, Value> =
                names.into_iter().map(|name| (name.clone(), sorted(&fields[name]))).collect();
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Such as `2026-06-25T11:08:02.123456789Z`.
pub fn moment(nanos: i64) -> String {
    let whole = protocol::iso8601(nanos / 1_000_000_000 * 1_000);
    let seconds = whole.split('.').next().unwrap_or_default();
    let fraction = format!("{:09}", nanos % 1_000_000_000);
    match fraction.trim_end_matches('0') {
        "" => format!("{seconds}Z"),
        fraction => format!("{seconds}.{fraction}Z"),
    }
}
