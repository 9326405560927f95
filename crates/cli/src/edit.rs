//! `PATH = JSON` as people type it: `$item.total = 5`, `parameters.url = "…"`, `output[0].name = "Ada"`.

use serde_json::{Map, Value};

use crate::outcome::CommandError;

/// A place inside a value, and what is put there.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// `$item`, `parameters`, `output` or `input`.
    pub root: String,
    path: Vec<Segment>,
    value: Value,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Field(String),
    Index(usize),
}

const HINT: &str = "for example $item.total = 5, or output = {\"ok\": true}";

impl Assignment {
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let Some((path, value)) = text.split_once('=') else {
            return Err(CommandError::usage(format!("{text:?} has no ="), HINT));
        };
        let value = serde_json::from_str(value.trim()).map_err(|error| {
            CommandError::usage(format!("{:?} is not JSON: {error}", value.trim()), "texts stand in quotes")
        })?;
        let path = path.trim();
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (root, rest) = path.split_at(end);
        if root.is_empty() {
            return Err(CommandError::usage("nothing is named that could be changed", HINT));
        }
        Ok(Self { root: root.to_owned(), path: segments(rest)?, value })
    }

    /// Changes the value of the root.
    pub fn apply(self, whole: Value) -> Result<Value, CommandError> {
        let mut whole = whole;
        let mut at = &mut whole;
        for segment in &self.path {
            at = match segment {
                Segment::Field(name) => {
                    if at.is_null() {
                        *at = Value::Object(Map::new());
                    }
                    let fields = at.as_object_mut().ok_or_else(|| nowhere(&format!(".{name}")))?;
                    fields.entry(name.clone()).or_insert(Value::Null)
                }
                Segment::Index(index) => {
                    let item = at.as_array_mut().and_then(|items| items.get_mut(*index));
                    item.ok_or_else(|| nowhere(&format!("[{index}]")))?
                }
            };
        }
        *at = self.value;
        Ok(whole)
    }
}

fn nowhere(place: &str) -> CommandError {
    CommandError::usage(format!("there is no {place} to change"), "look at the value with inspect")
}

fn segments(text: &str) -> Result<Vec<Segment>, CommandError> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            found.push(Segment::Field(name[..end].to_owned()));
            rest = &name[end..];
            continue;
        }
        let index = rest.strip_prefix('[').and_then(|inner| inner.split_once(']'));
        let parsed = index.and_then(|(index, after)| Some((index.trim().parse().ok()?, after)));
        let Some((index, after)) = parsed else {
            return Err(CommandError::usage(format!("{text:?} is no path"), HINT));
        };
        found.push(Segment::Index(index));
        rest = after;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, whole: Value, expected: Option<Value>) {
        let applied = Assignment::parse(text).and_then(|assignment| assignment.apply(whole));
        assert_eq!(applied.ok(), expected, "{text}");
    }

    #[test]
    fn a_path_leads_to_what_is_changed() {
        check("$item = 3", json!({"n": 1}), Some(json!(3)));
        check("$item.n = 3", json!({"n": 1, "m": 2}), Some(json!({"n": 3, "m": 2})));
        check("$item.a.b=\"x = y\"", json!({}), Some(json!({"a": {"b": "x = y"}})));
        check("output[1].n = null", json!([{}, {"n": 1}]), Some(json!([{}, {"n": null}])));
        check("output[9] = 1", json!([]), None);
        check("$item.n = three", json!({}), None);
        check("$item.n", json!({}), None);
        check(" = 1", json!({}), None);
    }
}
