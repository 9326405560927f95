//! References in parameters, as a Rune worker resolves them: before the node sees them, all or nothing.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

static WHOLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\$([A-Za-z0-9_-]+)((?:\.|\[)[A-Za-z0-9_\[\].$-]+)?$").expect("a pattern"));
static INSIDE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$([A-Za-z0-9_-]+)((?:\.|\[)[A-Za-z0-9_\[\].$-]+)?").expect("a pattern"));

/// The parameters, and what of the context they use. If one reference leads nowhere, none is resolved.
pub fn parameters(raw: &Value, context: &Value) -> (Value, Map<String, Value>) {
    let mut used = Map::new();
    match resolve(raw, context, &mut used) {
        Some(resolved) => (resolved, used),
        None => (raw.clone(), Map::new()),
    }
}

fn resolve(value: &Value, context: &Value, used: &mut Map<String, Value>) -> Option<Value> {
    match value {
        Value::String(text) => text_of(text, context, used),
        Value::Array(items) => items.iter().map(|item| resolve(item, context, used)).collect(),
        Value::Object(fields) => {
            let resolved =
                fields.iter().map(|(name, field)| Some((name.clone(), resolve(field, context, used)?)));
            resolved.collect::<Option<Map<String, Value>>>().map(Value::Object)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.clone()),
    }
}

fn text_of(text: &str, context: &Value, used: &mut Map<String, Value>) -> Option<Value> {
    if text.contains("{{") {
        return Some(Value::String(text.to_owned()));
    }
    let path = |found: &regex::Captures<'_>| found.get(2).map_or("", |path| path.as_str()).to_owned();
    if let Some(found) = WHOLE.captures(text) {
        return look_up(&found[1], &path(&found), context, used);
    }
    let replaced = INSIDE.replace_all(text, |found: &regex::Captures<'_>| {
        let value = look_up(&found[1], &path(found), context, used);
        value.map_or_else(|| found[0].to_owned(), |value| rendered(&value))
    });
    Some(Value::String(replaced.into_owned()))
}

fn look_up(name: &str, path: &str, context: &Value, used: &mut Map<String, Value>) -> Option<Value> {
    let key = format!("${name}");
    let root = context.get(&key)?;
    used.insert(key, root.clone());
    let mut value = root;
    for part in path.replace('[', ".[").split('.').filter(|part| !part.is_empty()) {
        value = match part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
            Some(index) => value.get(index.parse::<usize>().ok()?)?,
            None => value.get(part)?,
        };
    }
    Some(value.clone())
}

/// As Go prints a value inside of text, as far as the workflows of the tests need it.
pub fn rendered(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(rendered).collect::<Vec<_>>().join(" "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}:{}", rendered(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Whether the text of a condition holds, once its references are text.
pub fn holds(expression: &str) -> bool {
    for operator in [">=", "<=", "==", "!=", ">", "<"] {
        let Some((left, right)) = expression.split_once(operator) else { continue };
        let (left, right) = (left.trim().trim_matches('\''), right.trim().trim_matches('\''));
        let numbers = left.parse::<f64>().ok().zip(right.parse::<f64>().ok());
        return match (operator, numbers) {
            ("==", Some((left, right))) => left == right,
            ("!=", Some((left, right))) => left != right,
            ("==", None) => left == right,
            ("!=", None) => left != right,
            (">=", Some((left, right))) => left >= right,
            ("<=", Some((left, right))) => left <= right,
            (">", Some((left, right))) => left > right,
            ("<", Some((left, right))) => left < right,
            _ => false,
        };
    }
    !matches!(expression.trim(), "" | "false" | "0")
}
