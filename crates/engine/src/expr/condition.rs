//! Conditions in words, as they are written on a canvas of Rune: `$a.n > 1 and not $b.done or $c.tags contains new`.
//!
//! Rune puts the values into the text and then reads it. Here the text is read first and decided on the values, so
//! that no value can change what is asked. `or` binds less than `and`, and there are no brackets. What JavaScript can
//! read is left to JavaScript.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use protocol::NodeError;
use serde_json::{Number, Value};

use super::{Reference, Scope};
use crate::{
    compare::{Operator, compare, is_true},
    dates,
};

#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// One of them.
    Any(Vec<Condition>),
    /// Every one of them.
    All(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Operand, Operator, Operand),
    Holds(Operand),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Reference(Reference),
    Literal(Value),
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'t> {
    Or,
    And,
    Not,
    /// `!`, which JavaScript has too.
    Bang,
    Operator(Operator),
    Reference(Reference),
    Quoted(&'t str),
    Word(&'t str),
}

impl Condition {
    /// `None` for what JavaScript reads, and for what nobody can.
    pub fn parse(source: &str) -> Option<Self> {
        let tokens = tokens(source)?;
        if !tokens.iter().any(Token::is_no_javascript) {
            return None;
        }
        let any =
            tokens.split(|token| *token == Token::Or).map(Self::parse_all).collect::<Option<Vec<_>>>()?;
        Some(alone_or(any, Self::Any))
    }

    fn parse_all(tokens: &[Token<'_>]) -> Option<Self> {
        let all =
            tokens.split(|token| *token == Token::And).map(Self::parse_one).collect::<Option<Vec<_>>>()?;
        Some(alone_or(all, Self::All))
    }

    fn parse_one(tokens: &[Token<'_>]) -> Option<Self> {
        if let [Token::Not | Token::Bang, rest @ ..] = tokens {
            return Some(Self::Not(Box::new(Self::parse_one(rest)?)));
        }
        let is_operator = |token: &Token<'_>| matches!(token, Token::Operator(_));
        let Some(at) = tokens.iter().position(is_operator) else {
            // A word that stands alone asks nothing.
            let asks = !matches!(tokens, [Token::Word(word)] if literal(word).is_none());
            return Operand::parse(tokens).filter(|_| asks && tokens.len() == 1).map(Self::Holds);
        };
        let Token::Operator(operator) = tokens[at] else { return None };
        Some(Self::Compare(Operand::parse(&tokens[..at])?, operator, Operand::parse(&tokens[at + 1..])?))
    }

    pub fn decide(&self, scope: &Scope<'_>) -> Result<bool, NodeError> {
        match self {
            Self::Any(conditions) => {
                for condition in conditions {
                    if condition.decide(scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::All(conditions) => {
                for condition in conditions {
                    if !condition.decide(scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(condition) => Ok(!condition.decide(scope)?),
            Self::Compare(left, operator, right) => {
                Ok(compare(&left.value(scope)?, *operator, &right.value(scope)?))
            }
            Self::Holds(operand) => Ok(is_true(&operand.value(scope)?)),
        }
    }

    pub fn collect_roots(&self, roots: &mut BTreeSet<String>) {
        match self {
            Self::Any(conditions) | Self::All(conditions) => {
                conditions.iter().for_each(|condition| condition.collect_roots(roots));
            }
            Self::Not(condition) => condition.collect_roots(roots),
            Self::Compare(left, _, right) => [left, right].into_iter().for_each(|it| it.collect_roots(roots)),
            Self::Holds(operand) => operand.collect_roots(roots),
        }
    }
}

fn alone_or(mut conditions: Vec<Condition>, together: fn(Vec<Condition>) -> Condition) -> Condition {
    match conditions.len() {
        1 => conditions.remove(0),
        _ => together(conditions),
    }
}

impl Operand {
    fn parse(tokens: &[Token<'_>]) -> Option<Self> {
        match tokens {
            [Token::Reference(reference)] => Some(Self::Reference(reference.clone())),
            [Token::Quoted(text)] => Some(Self::Literal(Value::from(*text))),
            [Token::Word(word)] if literal(word).is_some() => literal(word).map(Self::Literal),
            words => {
                let bare = words.iter().map(Token::bare).collect::<Option<Vec<&str>>>()?;
                (!bare.is_empty()).then(|| Self::Literal(Value::from(bare.join(" "))))
            }
        }
    }

    fn value(&self, scope: &Scope<'_>) -> Result<Value, NodeError> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Reference(reference) => scope.value(reference),
        }
    }

    fn collect_roots(&self, roots: &mut BTreeSet<String>) {
        match self {
            Self::Literal(_) => {}
            Self::Reference(reference) => {
                roots.insert(reference.root.clone());
            }
        }
    }
}

/// Words that are values in JavaScript.
const JAVASCRIPT: [&str; 3] = ["undefined", "NaN", "Infinity"];

impl<'t> Token<'t> {
    /// What only the language of conditions has. To JavaScript a `true` in quotes is never the value `true`, and a
    /// text without quotes is a name that does not exist.
    fn is_no_javascript(&self) -> bool {
        match self {
            Self::Or | Self::And | Self::Not | Self::Operator(Operator::Contains) => true,
            Self::Quoted(text) => matches!(*text, "true" | "false"),
            Self::Word(word) => *word == "nil" || (literal(word).is_none() && self.bare().is_some()),
            Self::Bang | Self::Operator(_) | Self::Reference(_) => false,
        }
    }

    /// A word of a text without quotes.
    fn bare(&self) -> Option<&'t str> {
        let Self::Word(word) = self else { return None };
        let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
        let is_text = word.starts_with(char::is_alphabetic) && word.chars().all(plain);
        let is_date = || dates::parse(word, &TimeZone::UTC).is_some();
        ((is_text && !JAVASCRIPT.contains(word)) || is_date()).then_some(*word)
    }
}

fn literal(word: &str) -> Option<Value> {
    match word {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" | "nil" => Some(Value::Null),
        _ => serde_json::from_str::<Number>(word).ok().map(Value::Number),
    }
}

const SIGNS: [(&str, Operator); 6] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    (">", Operator::Greater),
    ("<", Operator::Less),
];

/// `None` where something stands that no condition has.
fn tokens(source: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '"' | '\'' => {
                let length = rest[1..].find(first)?;
                (Token::Quoted(&rest[1..=length]), length + 2)
            }
            '$' => {
                let (reference, length) = Reference::parse_prefix(rest)?;
                (Token::Reference(reference), length)
            }
            _ => match SIGNS.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
                Some((sign, operator)) => (Token::Operator(operator), sign.len()),
                None if first == '!' => (Token::Bang, 1),
                None => word(rest)?,
            },
        };
        found.push(token);
        rest = rest[length..].trim_start();
    }
    Some(found)
}

fn word(text: &str) -> Option<(Token<'_>, usize)> {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
    let length = text.find(|letter| !part(letter)).unwrap_or(text.len());
    let token = match &text[..length] {
        "" => return None,
        "or" => Token::Or,
        "and" => Token::And,
        "not" => Token::Not,
        "contains" => Token::Operator(Operator::Contains),
        word => Token::Word(word),
    };
    Some((token, length))
}

#[cfg(test)]
mod tests {
    use super::super::Names;
    use super::*;
    use crate::expr::Moment;
    use protocol::Payload;
    use serde_json::json;

    fn decide(source: &str) -> Option<Result<bool, NodeError>> {
        let find = |key: &str| {
            let value = json!({
                "n": 2, "s": "in progress", "t": "x or true", "flag": true, "none": null, "zero": 0, "no": "false",
                "tags": ["new", "red"], "quote": "'", "day": "2024-03-01T00:00:00Z"
            });
            (key == "$a").then(|| Payload::new(value))
        };
        let keys = || vec!["$a".to_owned()];
        let names = Names::default();
        let moment = Moment { now: 0, seed: 0 };
        let condition = Condition::parse(source)?;
        Some(condition.decide(&Scope { names: &names, find: &find, keys: &keys, inputs: None, moment }))
    }

    #[test]
    fn conditions_in_words_are_decided_on_values() {
        for (source, expected) in [
            ("$a.n > 1 and $a.flag", true),
            ("$a.n > 5 or $a.n == 2", true),
            ("$a.n > 5 and $a.n == 2 or $a.flag", true),
            ("not $a.flag", false),
            ("not $a.zero", true),
            ("not $a.no", true),
            ("not $a.none and !$a.zero", true),
            ("$a.none == nil", true),
            ("$a.n != nil", true),
            ("$a.s == in progress", true),
            ("$a.s == done", false),
            ("$a.s contains 'prog'", true),
            ("$a.tags contains new", true),
            ("$a.tags contains blue", false),
            ("$a.flag == 'true'", true),
            ("$a.flag == \"false\"", false),
            ("$a.day > 2024-02-10 and $a.day < '02 Apr 2024'", true),
            ("$a.n >= 2 and 'a or b' contains ' or '", true),
            ("$a.t == 'a' or $a.n == 3", false),
            ("$a.quote == x or $a.n < 0", false),
            ("$a.none == null or $a.missing.deep > 1", true),
        ] {
            assert_eq!(decide(source), Some(Ok(expected)), "{source}");
        }
        let missing = decide("$a.n == 3 or $a.missing").unwrap().unwrap_err();
        assert!(missing.message.contains("$a has no .missing"), "{missing:?}");
    }

    #[test]
    fn what_javascript_reads_is_left_to_it() {
        for source in [
            "$a.n > 1",
            "!$a.flag",
            "$a.s === 'x'",
            "$a.n - 1 > 0",
            "$a.n > 3-1",
            "$a.n > Math.PI",
            "typeof $a",
            "left",
            "$a.s == undefined",
            "$a.list.some(x => x == y)",
            "$a.n > 1 && $a.flag",
            "null",
            "'open",
            "$a.n == 'x'",
            "true",
            "$a in $b",
            "$a.n ? left : right",
            "",
            "$a.flag and (1 or 2)",
            "and",
            "$a.n == 1 == and",
        ] {
            assert_eq!(Condition::parse(source), None, "{source}");
        }
    }
}
