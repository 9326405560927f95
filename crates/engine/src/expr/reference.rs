//! Plain references: `$fetch.body.users[0]`, `$node["Fetch user"].body`.

use std::{borrow::Cow, fmt};

use protocol::NodeError;
use serde_json::Value;

use super::{failed, scan};

/// Where a value is: a root of the context and a path into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name after the `$`, as written: a node id, a node name, or a word such as `trigger`.
    pub root: String,
    pub path: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Field(String),
    Index(usize),
}

impl Reference {
    /// Reads a reference that starts at the `$` at the beginning of `text`; gives it and its length.
    pub fn parse_prefix(text: &str) -> Option<(Self, usize)> {
        let name = scan::name(text.strip_prefix('$')?)?;
        let mut end = 1 + name.len();
        let mut path = Vec::new();
        while let Some((segment, length)) = parse_segment(&text[end..]) {
            path.push(segment);
            end += length;
        }
        let mut root = name.to_owned();
        if root == "node" && !path.is_empty() {
            root = match path.remove(0) {
                Segment::Field(name) => name,
                Segment::Index(index) => index.to_string(),
            };
        }
        Some((Self { root, path }, end))
    }

    /// Reads `text` if it is one reference and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let (reference, length) = Self::parse_prefix(text)?;
        (length == text.len()).then_some(reference)
    }

    /// Follows the path from the root's value. As in JavaScript, arrays and text have a `length`.
    pub fn follow<'v>(&self, root: &'v Value) -> Result<Cow<'v, Value>, NodeError> {
        self.follow_from(0, root)
    }

    /// Follows the path from what its first segments lead to.
    pub(super) fn follow_from<'v>(&self, begin: usize, from: &'v Value) -> Result<Cow<'v, Value>, NodeError> {
        let mut value = from;
        for (depth, segment) in self.path.iter().enumerate().skip(begin) {
            let found = match segment {
                Segment::Field(name) => value.get(name),
                Segment::Index(index) => value.get(index),
            };
            value = match (found, length(segment, value)) {
                (Some(found), _) => found,
                (None, Some(length)) if depth + 1 == self.path.len() => return Ok(Cow::Owned(length.into())),
                (None, _) => return Err(self.no_such_place(depth, value)),
            };
        }
        Ok(Cow::Borrowed(value))
    }

    fn no_such_place(&self, depth: usize, value: &Value) -> NodeError {
        let reached = Self { root: self.root.clone(), path: self.path[..depth].to_vec() };
        let there = match value {
            Value::Object(fields) => {
                let names: Vec<&str> = fields.keys().take(12).map(String::as_str).collect();
                let more = if fields.len() > names.len() { ", …" } else { "" };
                format!("it is an object with: {}{more}", names.join(", "))
            }
            Value::Array(items) => format!("it is an array of {} items", items.len()),
            other => format!("it is {other}"),
        };
        failed(format!("{self} cannot be resolved: {reached} has no {}; {there}", self.path[depth]))
    }
}

fn length(segment: &Segment, value: &Value) -> Option<usize> {
    match (segment, value) {
        (Segment::Field(name), Value::Array(items)) if name == "length" => Some(items.len()),
        (Segment::Field(name), Value::String(text)) if name == "length" => Some(text.encode_utf16().count()),
        _ => None,
    }
}

fn parse_segment(text: &str) -> Option<(Segment, usize)> {
    if let Some(rest) = text.strip_prefix('.') {
        let field = scan::field(rest)?;
        return Some((Segment::Field(field.to_owned()), 1 + field.len()));
    }
    let inside = text.strip_prefix('[')?;
    if let Some(quote @ ('"' | '\'')) = inside.chars().next() {
        let length = inside[1..].find(quote)?;
        let after = &inside[length + 2..];
        after.starts_with(']').then(|| (Segment::Field(inside[1..=length].to_owned()), length + 4))
    } else {
        let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
        let index = inside[..digits].parse().ok()?;
        inside[digits..].starts_with(']').then_some((Segment::Index(index), digits + 2))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Field(name) if scan::field(name) == Some(name) => write!(f, ".{name}"),
            Segment::Field(name) => write!(f, "[{name:?}]"),
            Segment::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if scan::name(&self.root) == Some(&self.root) {
            write!(f, "${}", self.root)?;
        } else {
            write!(f, "$node[{:?}]", self.root)?;
        }
        self.path.iter().try_for_each(|segment| write!(f, "{segment}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expected: Option<Value>) {
        let root = json!({"body": {"users": [{"name": "Ada"}], "a b": 1, "$json": null}});
        let found = Reference::parse(text).and_then(|reference| {
            assert_eq!(reference.root, "fetch-1", "{text}");
            reference.follow(&root).ok().map(Cow::into_owned)
        });
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn references() {
        check("$fetch-1.body.users[0].name", Some(json!("Ada")));
        check("$fetch-1.body['a b']", Some(json!(1)));
        check("$fetch-1.body.$json", Some(json!(null)));
        check("$node.fetch-1.body.users[0].name", Some(json!("Ada")));
        check("$node[\"fetch-1\"].body.users[0].name", Some(json!("Ada")));
        check("$fetch-1.body.users.length", Some(json!(1)));
        check("$fetch-1.body.users[0].name.length", Some(json!(3)));
        check("$fetch-1.body.length", None);
        check("$fetch-1.body.users[1]", None);
        check("$fetch-1.body.users.name", None);
        check("$fetch-1.", None);
        check("$fetch-1 + 1", None);
        check("fetch-1", None);
    }

    #[test]
    fn an_unresolvable_reference_names_what_is_there() {
        let reference = Reference::parse("$a.b.d").unwrap();
        let error = reference.follow(&json!({"b": {"c": 1}})).unwrap_err();
        assert_eq!(error.message, "$a.b.d cannot be resolved: $a.b has no .d; it is an object with: c");
    }
}
