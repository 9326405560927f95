//! Comparing values by rules that people write: numbers as numbers, also in quotes; dates as moments; text as text.

use std::cmp::Ordering;

use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;

use crate::{dates, expr::as_text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Contains,
}

impl Operator {
    /// The sign, or the words for it.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.trim().to_lowercase().as_str() {
            "==" | "=" | "equals" | "is equal to" => Self::Equal,
            "!=" | "<>" | "not equals" | "is not equal to" => Self::NotEqual,
            ">" | "greater than" | "is greater than" => Self::Greater,
            "<" | "less than" | "is less than" => Self::Less,
            ">=" | "greater than or equal to" | "is greater than or equal to" => Self::GreaterOrEqual,
            "<=" | "less than or equal to" | "is less than or equal to" => Self::LessOrEqual,
            "contains" => Self::Contains,
            _ => return None,
        })
    }
}

pub fn compare(left: &Value, operator: Operator, right: &Value) -> bool {
    match operator {
        Operator::Equal => equal(left, right),
        Operator::NotEqual => !equal(left, right),
        Operator::Greater => order(left, right) == Some(Ordering::Greater),
        Operator::Less => order(left, right) == Some(Ordering::Less),
        Operator::GreaterOrEqual => matches!(order(left, right), Some(Ordering::Greater | Ordering::Equal)),
        Operator::LessOrEqual => matches!(order(left, right), Some(Ordering::Less | Ordering::Equal)),
        Operator::Contains => match left {
            Value::Array(items) => items.iter().any(|item| equal(item, right)),
            other => as_text(other).contains(&as_text(right)),
        },
    }
}

/// Truth as in JavaScript, on the value and not on its text; the words "false" and "0" are not true.
pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0 && !number.is_nan()),
        Value::String(text) => !matches!(text.as_str(), "" | "false" | "0"),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left == right,
        _ => {
            left == right
                || as_text(left) == as_text(right)
                || is_word_for(left, right)
                || is_word_for(right, left)
        }
    }
}

/// True and false have other words.
fn is_word_for(word: &Value, truth: &Value) -> bool {
    let Value::Bool(truth) = truth else { return false };
    let words = if *truth { ["true", "yes", "1"] } else { ["false", "no", "0"] };
    words.contains(&as_text(word).trim().to_lowercase().as_str())
}

/// Numbers by size, dates by time, everything else as text; `null` compares with nothing.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    if left.is_null() || right.is_null() {
        return None;
    }
    if let (Some(left), Some(right)) = (number(left), number(right)) {
        return left.partial_cmp(&right);
    }
    if let (Some(left), Some(right)) = (moment(left), moment(right)) {
        return Some(left.cmp(&right));
    }
    Some(text(left).cmp(&text(right)))
}

/// A value as it is put in order among many. Two values may be compared as either of several things, but an order of
/// many must hold for all of them: numbers stand before dates, and dates before text.
#[derive(Clone, Debug)]
pub enum Rank {
    Number(f64),
    Date(Timestamp),
    Text(String),
}

/// What values are to be taken for when they are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// For what they look like.
    Auto,
    Number,
    Date,
    Text,
}

impl Rank {
    /// `None` for `null`, and for what cannot be taken for that.
    pub fn of(value: &Value, sense: Sense) -> Option<Self> {
        if value.is_null() {
            return None;
        }
        let as_number = || number(value).map(Self::Number);
        let as_date = || moment(value).map(Self::Date);
        match sense {
            Sense::Auto => as_number().or_else(as_date).or_else(|| Some(Self::Text(text(value)))),
            Sense::Number => as_number(),
            Sense::Date => as_date(),
            Sense::Text => Some(Self::Text(text(value))),
        }
    }

    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.total_cmp(right),
            (Self::Date(left), Self::Date(right)) => left.cmp(right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            _ => self.place().cmp(&other.place()),
        }
    }

    fn place(&self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::Date(_) => 1,
            Self::Text(_) => 2,
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|number| !number.is_nan())
}

fn moment(value: &Value) -> Option<Timestamp> {
    dates::parse(value.as_str()?, &TimeZone::UTC).map(|moment| moment.timestamp())
}

fn text(value: &Value) -> String {
    as_text(value).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_compared_as_people_mean_it() {
        for (left, operator, right, expected) in [
            (json!(2), "==", json!("2"), true),
            (json!("10"), ">", json!(9), true),
            (json!("b"), ">", json!("A"), true),
            (json!(null), ">", json!(1), false),
            (json!(null), "==", json!(null), true),
            (json!([1, 2]), "contains", json!(2), true),
            (json!("hello"), "contains", json!("ell"), true),
            (json!("a"), "is not equal to", json!("b"), true),
            (json!(3), "<=", json!(3), true),
            (json!(true), "==", json!("yes"), true),
            (json!("0"), "==", json!(false), true),
            (json!(true), "!=", json!("true"), false),
            (json!("yes"), "==", json!("true"), false),
            (json!("2024-03-01T00:00:00+02:00"), "<", json!("2024-02-29T23:00:00Z"), true),
            (json!("02 Jan 2024"), ">", json!("2023-12-31"), true),
            (json!("5"), "is less than or equal to", json!(5), true),
            (json!("b"), "Is Greater Than", json!("a"), true),
        ] {
            let operator_kind = Operator::parse(operator).unwrap();
            assert_eq!(compare(&left, operator_kind, &right), expected, "{left} {operator} {right}");
        }
        assert_eq!(Operator::parse("~"), None);
    }
}
