//! Comparing values by rules that people write: numbers as numbers, also in quotes; text as text.

use std::cmp::Ordering;

use serde_json::Value;

use crate::expr::as_text;

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
            ">=" | "is greater than or equal to" => Self::GreaterOrEqual,
            "<=" | "is less than or equal to" => Self::LessOrEqual,
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

fn equal(left: &Value, right: &Value) -> bool {
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left == right,
        _ => left == right || as_text(left) == as_text(right),
    }
}

/// Numbers by size, everything else as text; `null` compares with nothing.
pub fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left.partial_cmp(&right),
        _ if left.is_null() || right.is_null() => None,
        _ => Some(as_text(left).to_lowercase().cmp(&as_text(right).to_lowercase())),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
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
        ] {
            let operator_kind = Operator::parse(operator).unwrap();
            assert_eq!(compare(&left, operator_kind, &right), expected, "{left} {operator} {right}");
        }
        assert_eq!(Operator::parse("~"), None);
    }
}
