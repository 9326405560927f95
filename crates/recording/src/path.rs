//! Path queries: `$.order.id == 42`, `$.items[*].sku contains "A-"`, `$..email`.

use std::cmp::Ordering;

use serde_json::Value;

/// A place in a JSON value, and what is asked of the value there.
#[derive(Clone, Debug, PartialEq)]
pub struct PathQuery {
    steps: Vec<Step>,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Index(usize),
    /// `[*]`: every item or field.
    Every,
    /// `..name`: that field, however deep.
    Anywhere(String),
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// Something is there.
    Exists,
    Compare(Operator, Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Contains,
}

/// Longer ones first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 7] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("contains", Operator::Contains),
];

/// Where a query found something.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'v> {
    /// `$.items[3].sku`
    pub path: String,
    pub value: &'v Value,
}

impl PathQuery {
    /// Reads a query; a complaint is a sentence for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim().strip_prefix('$').ok_or("a path begins with $, as in $.order.id == 42")?;
        let mut steps = Vec::new();
        while let Some((step, length)) = parse_step(rest)? {
            steps.push(step);
            rest = &rest[length..];
        }
        Ok(Self { steps, test: parse_test(rest.trim())? })
    }

    /// The first place where the query holds.
    pub fn find<'v>(&self, root: &'v Value) -> Option<Match<'v>> {
        self.search(&self.steps, root, &mut "$".to_owned())
    }

    /// Text that occurs wherever the query holds, for asking an index first.
    pub fn needed_word(&self) -> Option<String> {
        let Test::Compare(Operator::Equal, value) = &self.test else { return None };
        let word = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
            Value::Number(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                return None;
            }
        };
        word.chars().any(char::is_alphanumeric).then_some(word)
    }

    fn search<'v>(&self, steps: &[Step], value: &'v Value, path: &mut String) -> Option<Match<'v>> {
        let Some((step, rest)) = steps.split_first() else {
            return self.test.holds(value).then(|| Match { path: path.clone(), value });
        };
        match step {
            Step::Field(name) => self.enter(rest, value.get(name)?, &field(name), path),
            Step::Index(index) => self.enter(rest, value.get(index)?, &format!("[{index}]"), path),
            Step::Every => {
                children(value).into_iter().find_map(|(name, child)| self.enter(rest, child, &name, path))
            }
            Step::Anywhere(name) => {
                let here = value.get(name).and_then(|child| self.enter(rest, child, &field(name), path));
                here.or_else(|| {
                    let mut below = children(value).into_iter();
                    below.find_map(|(name, child)| self.enter(steps, child, &name, path))
                })
            }
        }
    }

    fn enter<'v>(
        &self,
        steps: &[Step],
        value: &'v Value,
        name: &str,
        path: &mut String,
    ) -> Option<Match<'v>> {
        let length = path.len();
        path.push_str(name);
        let found = self.search(steps, value, path);
        path.truncate(length);
        found
    }
}

impl Test {
    fn holds(&self, found: &Value) -> bool {
        match self {
            Self::Exists => true,
            Self::Compare(Operator::Equal, wanted) => equal(found, wanted),
            Self::Compare(Operator::Unequal, wanted) => !equal(found, wanted),
            Self::Compare(Operator::Less, wanted) => order(found, wanted) == Some(Ordering::Less),
            Self::Compare(Operator::AtMost, wanted) => order(found, wanted).is_some_and(Ordering::is_le),
            Self::Compare(Operator::Greater, wanted) => order(found, wanted) == Some(Ordering::Greater),
            Self::Compare(Operator::AtLeast, wanted) => order(found, wanted).is_some_and(Ordering::is_ge),
            Self::Compare(Operator::Contains, wanted) => match (found, wanted) {
                (Value::String(text), Value::String(part)) => text.contains(part),
                (Value::Array(items), wanted) => items.iter().any(|item| equal(item, wanted)),
                _ => false,
            },
        }
    }
}

/// As JSON says, but `42` is `42.0`.
fn equal(left: &Value, right: &Value) -> bool {
    left == right || (left.is_number() && order(left, right) == Some(Ordering::Equal))
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (format!("[{index}]"), item)).collect()
        }
        Value::Object(fields) => fields.iter().map(|(name, child)| (field(name), child)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A field as a path writes it.
pub fn field(name: &str) -> String {
    match name.is_empty() || name.len() != name_length(name) {
        true => format!("[{}]", Value::from(name)),
        false => format!(".{name}"),
    }
}

fn name_length(text: &str) -> usize {
    let is_part = |character: &char| character.is_alphanumeric() || matches!(character, '_' | '-' | '$');
    text.chars().take_while(is_part).map(char::len_utf8).sum()
}

/// The next step and its length; nothing where the path is over.
fn parse_step(text: &str) -> Result<Option<(Step, usize)>, String> {
    let named = |skipped: usize, step: fn(String) -> Step| match name_length(&text[skipped..]) {
        0 => Err(format!("a name is missing before {:?}", &text[skipped..])),
        length => Ok(Some((step(text[skipped..skipped + length].to_owned()), skipped + length))),
    };
    if text.starts_with("..") {
        return named(2, Step::Anywhere);
    }
    if text.starts_with('.') {
        return named(1, Step::Field);
    }
    let Some(inside) = text.strip_prefix('[') else { return Ok(None) };
    if inside.starts_with("*]") {
        return Ok(Some((Step::Every, 3)));
    }
    let (step, length) = match inside.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let length = inside[1..].find(quote).ok_or("a quote is not closed")?;
            (Step::Field(inside[1..=length].to_owned()), length + 2)
        }
        _ => {
            let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
            let index = inside[..digits].parse().map_err(|_| "[ ] holds a number, a name in quotes or *")?;
            (Step::Index(index), digits)
        }
    };
    match inside[length..].starts_with(']') {
        true => Ok(Some((step, length + 2))),
        false => Err("a ] is missing".to_owned()),
    }
}

fn parse_test(text: &str) -> Result<Test, String> {
    if text.is_empty() || text == "exists" {
        return Ok(Test::Exists);
    }
    let operator =
        OPERATORS.into_iter().find_map(|(sign, operator)| Some((operator, text.strip_prefix(sign)?)));
    let Some((operator, literal)) = operator else {
        return Err(format!(
            "{text:?} is no comparison; known are ==, !=, <, <=, >, >=, contains and exists"
        ));
    };
    let literal = literal.trim();
    let single = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let value = match single {
        Some(text) => Value::from(text),
        None => serde_json::from_str(literal)
            .map_err(|_| format!("{literal:?} is no JSON value; text stands in quotes"))?,
    };
    Ok(Test::Compare(operator, value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(query: &str, expected: Option<&str>) {
        let root = json!({
            "order": {"id": 42, "total": 19.5, "note": "fragile glass", "a b": null},
            "items": [{"sku": "A-1", "n": 1}, {"sku": "B-2", "n": 7, "deep": {"sku": "C-3"}}],
            "tags": ["red", 5]
        });
        let parsed = PathQuery::parse(query).unwrap_or_else(|complaint| panic!("{query}: {complaint}"));
        assert_eq!(parsed.find(&root).map(|found| found.path).as_deref(), expected, "{query}");
    }

    #[test]
    fn queries() {
        check("$.order.id == 42", Some("$.order.id"));
        check("$.order.id == 42.0", Some("$.order.id"));
        check("$.order.id == \"42\"", None);
        check("$.order.id != 42", None);
        check("$.order.total > 19", Some("$.order.total"));
        check("$.order.total <= 19", None);
        check("$.order.note contains 'glass'", Some("$.order.note"));
        check("$.order['a b'] == null", Some("$.order[\"a b\"]"));
        check("$.order[\"a b\"]", Some("$.order[\"a b\"]"));
        check("$.order.missing", None);
        check("$.items[1].n >= 7", Some("$.items[1].n"));
        check("$.items[*].sku == \"B-2\"", Some("$.items[1].sku"));
        check("$..sku == 'C-3'", Some("$.items[1].deep.sku"));
        check("$..sku exists", Some("$.items[0].sku"));
        check("$.tags contains 5", Some("$.tags"));
        check("$[*].id", Some("$.order.id"));
        check("$", Some("$"));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (query, words) in [
            ("order.id == 1", "begins with $"),
            ("$.", "a name is missing"),
            ("$.a ~ 1", "no comparison"),
            ("$.a == Ada", "text stands in quotes"),
            ("$[x]", "a number, a name in quotes or *"),
            ("$[1", "a ] is missing"),
            ("$['a]", "not closed"),
        ] {
            let complaint = PathQuery::parse(query).unwrap_err();
            assert!(complaint.contains(words), "{query}: {complaint}");
        }
    }

    #[test]
    fn words_that_must_occur() {
        let word = |query: &str| PathQuery::parse(query).unwrap().needed_word();
        assert_eq!(word("$.id == 42").as_deref(), Some("42"));
        assert_eq!(word("$.name == 'Ada L.'").as_deref(), Some("Ada L."));
        assert_eq!(word("$.id > 42"), None);
        assert_eq!(word("$.id == '-'"), None);
        assert_eq!(word("$.id == 1.5"), None);
    }
}
