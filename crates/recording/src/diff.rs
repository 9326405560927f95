//! What is different between two JSON values.

use serde::Serialize;
use serde_json::Value;

use crate::path::field;

/// One place where two values differ; absent where there is nothing on that side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Value>,
}

/// The first places, at most so many.
pub fn diff(a: &Value, b: &Value, most: usize) -> Vec<Change> {
    let mut found = Vec::new();
    walk(Some(a), Some(b), &mut "$".to_owned(), most, &mut found);
    found
}

fn walk(a: Option<&Value>, b: Option<&Value>, path: &mut String, most: usize, found: &mut Vec<Change>) {
    if found.len() >= most || a == b {
        return;
    }
    match (a, b) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let added = right.keys().filter(|name| !left.contains_key(*name));
            for name in left.keys().chain(added) {
                step(left.get(name), right.get(name), &field(name), path, most, found);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                step(left.get(index), right.get(index), &format!("[{index}]"), path, most, found);
            }
        }
        _ => found.push(Change { path: path.clone(), a: a.cloned(), b: b.cloned() }),
    }
}

fn step(
    a: Option<&Value>,
    b: Option<&Value>,
    name: &str,
    path: &mut String,
    most: usize,
    found: &mut Vec<Change>,
) {
    let length = path.len();
    path.push_str(name);
    walk(a, b, path, most, found);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_difference_has_its_place() {
        let a = json!({"same": [1, {"x": 1}], "list": [1, 2, 3], "gone": null, "name": "Ada"});
        let b = json!({"same": [1, {"x": 1}], "list": [1, 5], "name": {"first": "Ada"}, "new": true});
        let found: Vec<(String, Option<Value>, Option<Value>)> =
            diff(&a, &b, 100).into_iter().map(|change| (change.path, change.a, change.b)).collect();
        let change = |path: &str, a, b| (path.to_owned(), a, b);
        assert_eq!(
            found,
            [
                change("$.list[1]", Some(json!(2)), Some(json!(5))),
                change("$.list[2]", Some(json!(3)), None),
                change("$.gone", Some(json!(null)), None),
                change("$.name", Some(json!("Ada")), Some(json!({"first": "Ada"}))),
                change("$.new", None, Some(json!(true))),
            ]
        );
        assert_eq!(diff(&a, &b, 2).len(), 2);
        assert!(diff(&a, &a, 2).is_empty());
    }
}
