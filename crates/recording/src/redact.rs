//! Hides values before they are written: by the name of their field or header, or by what they look like. What is
//! hidden is shown as `███ string(24)`, and nobody can bring it back.
//!
//! Parameters and errors are for people, so the usual rules hide there without asking. Inputs, outputs and items are
//! what an execution goes on with after a crash; they are hidden only where somebody says so
//! (`"everywhere": true`), and an execution that lost values that way is not taken up again.

use std::{borrow::Cow, collections::BTreeSet};

use protocol::{Change, Event, Fact, NodeError, Payload};
use serde::Deserialize;
use serde_json::{Map, Value};

const HIDDEN: &str = "███ ";

/// Fields and headers that hold secrets, without `-` and `_`.
const USUAL_NAMES: [&str; 18] = [
    "authorization",
    "proxyauthorization",
    "cookie",
    "setcookie",
    "xapikey",
    "xauthtoken",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "clientsecret",
    "token",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "apikey",
    "privatekey",
    "sessionid",
];

/// Where a message of other workers carries secrets: `{"credentials": {"type": …, "values": …}}`.
const CREDENTIALS: &str = "credentials";

/// JSON in texts inside of each other that is taken apart.
const TEXT_IN_TEXT: usize = 8;

/// What secrets look like, wherever they stand.
const USUAL_PATTERNS: [&str; 4] = ["Bearer *", "Basic *", "eyJ*.*.*", "*-----BEGIN *PRIVATE KEY-----*"];

#[derive(Clone, Debug, PartialEq)]
pub struct Redaction {
    names: BTreeSet<String>,
    /// The letters that names begin with: most of what is written is told from a name by its first letter.
    initials: BTreeSet<char>,
    patterns: Vec<Pattern>,
    /// Also in what an execution goes on with.
    everywhere: bool,
    /// Also in definitions: those of a cluster that we look into may hold anything.
    in_definitions: bool,
}

/// What a text looks like, with `*` for any number of letters.
#[derive(Clone, Debug, PartialEq)]
struct Pattern {
    text: String,
    /// Its longest part without a `*`.
    fixed: String,
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        let fixed = text.split('*').max_by_key(|part| part.len()).unwrap_or_default();
        Self { text: text.to_owned(), fixed: fixed.to_owned() }
    }
}

/// Rules as people write them, in addition to the usual ones.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Rules {
    /// Names of fields and headers; capitals, `-` and `_` do not matter.
    names: Vec<String>,
    /// Whole texts, with `*` for any number of letters.
    patterns: Vec<String>,
    /// Hide in inputs, outputs and items too.
    everywhere: bool,
}

impl Default for Redaction {
    fn default() -> Self {
        Self::of(&USUAL_NAMES, &USUAL_PATTERNS, false)
    }
}

impl Redaction {
    /// The usual rules and those in a JSON text: `{"names": ["iban"], "patterns": ["sk-*"], "everywhere": true}`.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let Rules { names, patterns, everywhere } = serde_json::from_str(text)?;
        let names: Vec<&str> = USUAL_NAMES.into_iter().chain(names.iter().map(String::as_str)).collect();
        let patterns: Vec<&str> =
            USUAL_PATTERNS.into_iter().chain(patterns.iter().map(String::as_str)).collect();
        Ok(Self::of(&names, &patterns, everywhere))
    }

    fn of(names: &[&str], patterns: &[&str], everywhere: bool) -> Self {
        let names: BTreeSet<String> = names.iter().map(|name| plain_name(name)).collect();
        let initials = names.iter().filter_map(|name| name.chars().next()).collect();
        let patterns = patterns.iter().map(|text| Pattern::from(*text)).collect();
        Self { names, initials, patterns, everywhere, in_definitions: false }
    }

    /// For what runs elsewhere and is only looked at: nothing goes on with it here, so everything is hidden, also in its
    /// definition, and credentials that a message carries.
    pub fn for_observed(&self) -> Self {
        Self { everywhere: true, in_definitions: true, ..self.clone() }
    }

    /// The events as they may be written.
    pub fn hide<'e>(&self, events: &'e [Event]) -> Cow<'e, [Event]> {
        let Some(first) = events.iter().position(|event| self.hidden_in(&event.fact).is_some()) else {
            return Cow::Borrowed(events);
        };
        let mut hidden = events.to_vec();
        for event in &mut hidden[first..] {
            if let Some(fact) = self.hidden_in(&event.fact) {
                event.fact = fact;
            }
        }
        Cow::Owned(hidden)
    }

    /// The same where nobody needs them as they were.
    pub fn hide_in(&self, events: &mut [Event]) {
        for event in events {
            if let Some(fact) = self.hidden_in(&event.fact) {
                event.fact = fact;
            }
        }
    }

    /// The fact without what has to be hidden; `None` where there is nothing.
    fn hidden_in(&self, fact: &Fact) -> Option<Fact> {
        let reaches = match fact {
            Fact::NodeStarted(_) => true,
            Fact::ExecutionStarted(_) | Fact::NodeSucceeded(_) => self.everywhere,
            Fact::NodeFailed(failed) => return self.hidden_error(&failed.error, fact),
            Fact::AttemptFailed(failed) => return self.hidden_error(&failed.error, fact),
            Fact::Intervened(done) => match &done.change {
                Change::Parameters(_) => true,
                Change::Context(_) | Change::Output { .. } => self.everywhere,
                Change::Error(_) | Change::Dropped | Change::Duplicated => false,
            },
            Fact::ExecutionEnded(ended) if self.everywhere => {
                return ended.error.as_ref().and_then(|error| self.hidden_error(error, fact));
            }
            Fact::NodeParked(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_)
            | Fact::ExecutionEnded(_) => false,
        };
        if !reaches || !fact.payloads().any(|payload| self.may_hold_secrets(payload.text())) {
            return None;
        }
        let mut fact = fact.clone();
        let mut changed = false;
        // A definition of ours holds no secrets: one that does is refused before it runs.
        let skipped = usize::from(matches!(fact, Fact::ExecutionStarted(_)) && !self.in_definitions);
        for payload in fact.payloads_mut().into_iter().skip(skipped) {
            if let Some(hidden) = self.hidden(payload) {
                *payload = hidden;
                changed = true;
            }
        }
        changed.then_some(fact)
    }

    /// A failure is data too: where it is what the execution goes on with, it is hidden only where all is.
    fn hidden_error(&self, error: &NodeError, fact: &Fact) -> Option<Fact> {
        let details =
            error.details.as_deref().filter(|details| self.may_hold_secrets(&details.to_string()))?;
        let mut changed = false;
        let shown = self.walk(details, TEXT_IN_TEXT, &mut changed);
        let mut fact = fact.clone();
        match &mut fact {
            Fact::NodeFailed(failed) if self.everywhere => failed.error.details = Some(Box::new(shown)),
            Fact::AttemptFailed(failed) => failed.error.details = Some(Box::new(shown)),
            Fact::ExecutionEnded(ended) if self.everywhere => {
                if let Some(error) = &mut ended.error {
                    error.details = Some(Box::new(shown));
                }
            }
            Fact::NodeFailed(_)
            | Fact::ExecutionStarted(_)
            | Fact::NodeStarted(_)
            | Fact::NodeParked(_)
            | Fact::NodeSucceeded(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_)
            | Fact::ExecutionEnded(_) => return None,
        }
        changed.then_some(fact)
    }

    fn hidden(&self, payload: &Payload) -> Option<Payload> {
        if !self.may_hold_secrets(payload.text()) {
            return None;
        }
        let mut changed = false;
        let shown = self.walk(payload.value(), TEXT_IN_TEXT, &mut changed);
        changed.then(|| Payload::new(shown))
    }

    /// A quick look at the text, so that what holds no secret is not taken apart.
    fn may_hold_secrets(&self, text: &str) -> bool {
        let looks_like = |pattern: &Pattern| text.contains(&pattern.fixed);
        let tells = |name: &str| self.hides_name(name) || (self.in_definitions && name == CREDENTIALS);
        in_quotes(text).any(tells) || self.patterns.iter().any(looks_like)
    }

    fn hides_name(&self, name: &str) -> bool {
        let first = name.trim_start_matches(['-', '_', ' ']).chars().next();
        let initial = first.map(|first| first.to_ascii_lowercase());
        // No name of ours is that long.
        initial.is_some_and(|initial| self.initials.contains(&initial))
            && name.len() <= 64
            && self.names.contains(&plain_name(name))
    }

    /// `levels` is how many texts inside of each other may still be taken apart.
    fn walk(&self, value: &Value, levels: usize, changed: &mut bool) -> Value {
        match value {
            Value::Object(fields) => {
                // Rune writes headers as a list of names and values.
                let named = fields.get("name").or_else(|| fields.get("key")).and_then(Value::as_str);
                let is_pair = named.is_some_and(|name| self.hides_name(name));
                let mut shown = Map::new();
                for (name, field) in fields {
                    let carried = self.in_definitions && name == "values" && fields.contains_key("type");
                    let hides = self.hides_name(name) || (is_pair && name == "value") || carried;
                    let field = if hides { hide(field, changed) } else { self.walk(field, levels, changed) };
                    shown.insert(name.clone(), field);
                }
                Value::Object(shown)
            }
            Value::Array(items) => items.iter().map(|item| self.walk(item, levels, changed)).collect(),
            Value::String(text) if self.patterns.iter().any(|pattern| matches(&pattern.text, text)) => {
                hide(value, changed)
            }
            Value::String(text) => self.walk_text(text, levels, changed).unwrap_or_else(|| value.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A text that is JSON itself, without what has to be hidden there; `None` where there is nothing.
    fn walk_text(&self, text: &str, levels: usize, changed: &mut bool) -> Option<Value> {
        if !is_json(text) || !self.may_hold_secrets(text) {
            return None;
        }
        if levels == 0 {
            return Some(hide(&Value::from(text), changed));
        }
        let inside: Value = serde_json::from_str(text).ok()?;
        let mut changed_inside = false;
        let shown = self.walk(&inside, levels - 1, &mut changed_inside);
        *changed |= changed_inside;
        changed_inside.then(|| Value::from(shown.to_string()))
    }
}

/// A text that may be JSON with names in it.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && text.contains('"')
}

/// What a text says, where it is JSON in which something is hidden.
fn hidden_inside(text: &str) -> Option<Value> {
    let is_it = text.contains(HIDDEN) && is_json(text);
    is_it.then(|| serde_json::from_str(text).ok()).flatten()
}

/// True if values that an execution goes on with were hidden, so that it cannot.
pub fn lost_values(events: &[Event]) -> bool {
    let carries = |event: &&Event| matches!(event.fact, Fact::ExecutionStarted(_) | Fact::NodeSucceeded(_));
    let payloads = events.iter().filter(carries).flat_map(|event| event.fact.payloads());
    payloads.filter(|payload| payload.text().contains(HIDDEN)).any(|payload| holds_hidden(payload.value()))
}

/// A recorded value agrees with what it stands for: where it is hidden, with anything.
pub fn agrees(recorded: &Value, other: &Value) -> bool {
    match (recorded, other) {
        (Value::String(text), _) if is_hidden(text) => true,
        (Value::String(left), Value::String(right)) if left != right => {
            let right = || serde_json::from_str::<Value>(right).ok();
            hidden_inside(left).is_some_and(|left| right().is_some_and(|right| agrees(&left, &right)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| agrees(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| agrees(left, right)))
        }
        _ => recorded == other,
    }
}

fn holds_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => is_hidden(text) || hidden_inside(text).is_some_and(|it| holds_hidden(&it)),
        Value::Array(items) => items.iter().any(holds_hidden),
        Value::Object(fields) => fields.values().any(holds_hidden),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_hidden(text: &str) -> bool {
    let kind = text.strip_prefix(HIDDEN).map(|rest| rest.split('(').next().unwrap_or(rest));
    kind.is_some_and(|kind| ["string", "number", "bool", "array", "object"].contains(&kind))
}

/// What a value is, and how large; `null` hides nothing.
fn hide(value: &Value, changed: &mut bool) -> Value {
    let said = match value {
        Value::Null => return Value::Null,
        Value::String(text) if is_hidden(text) => return value.clone(),
        Value::String(text) => format!("string({})", text.chars().count()),
        Value::Number(_) => "number".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Array(items) => format!("array({})", items.len()),
        Value::Object(fields) => format!("object({})", fields.len()),
    };
    *changed = true;
    Value::String(format!("{HIDDEN}{said}"))
}

fn plain_name(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// What stands in quotes in a JSON text: names of fields, and texts that may be names in a list of pairs. An escape
/// makes a piece of it look like another, which at worst costs a closer look. In a text inside of a text the quotes
/// themselves are escaped.
fn in_quotes(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').map(|piece| piece.trim_end_matches('\\'))
}

/// `*` is any number of letters; letters stand for themselves.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(middle) = last.replace(part) {
            let Some(at) = rest.find(middle) else { return false };
            rest = &rest[at + middle.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(redaction: &Redaction, value: Value, expected: Value) {
        let shown = redaction.hidden(&Payload::new(value.clone()));
        let shown = shown.map_or(value, |shown| shown.value().clone());
        assert_eq!(shown, expected);
    }

    #[test]
    fn names_and_looks_give_secrets_away() {
        let usual = Redaction::default();
        check(
            &usual,
            json!({"headers": {"Authorization": "Bearer abcdefghijklmnopq", "Accept": "*/*"}, "url": "u"}),
            json!({"headers": {"Authorization": "███ string(24)", "Accept": "*/*"}, "url": "u"}),
        );
        check(
            &usual,
            json!({"headers": [{"name": "X-Api-Key", "value": "k"}, {"name": "Accept", "value": "k"}]}),
            json!({"headers": [{"name": "X-Api-Key", "value": "███ string(1)"}, {"name": "Accept", "value": "k"}]}),
        );
        check(
            &usual,
            json!([{"client_secret": 5}, {"password": null}, {"token": ["a", "b"]}, "Bearer x", "a bearer"]),
            json!([{"client_secret": "███ number"}, {"password": null}, {"token": "███ array(2)"}, "███ string(8)", "a bearer"]),
        );
        check(
            &usual,
            json!({"jwt": "eyJhbGciOi.eyJzdWIi.sig", "e": "eyJ"}),
            json!({"jwt": "███ string(23)", "e": "eyJ"}),
        );
        check(
            &usual,
            json!({"tokens": 5, "note": "the password is secret", "_token": 1}),
            json!({"tokens": 5, "note": "the password is secret", "_token": "███ number"}),
        );
        let own = Redaction::parse(r#"{"names": ["IBAN"], "patterns": ["sk-*"]}"#).unwrap();
        check(
            &own,
            json!({"iban": "DE1", "key": "sk-1", "x": "ask-1"}),
            json!({"iban": "███ string(3)", "key": "███ string(4)", "x": "ask-1"}),
        );
        assert!(Redaction::parse(r#"{"name": []}"#).is_err());
    }

    #[test]
    fn what_is_observed_is_hidden_in_definitions_too() {
        let observed = Redaction::default().for_observed();
        check(
            &observed,
            json!({"nodes": [{"id": "a", "credentials": {"id": "7", "type": "basic_auth", "values": {"user": "u", "pass": "p"}},
                "parameters": {"token": "t", "url": "u"}}]}),
            json!({"nodes": [{"id": "a", "credentials": {"id": "7", "type": "basic_auth", "values": "███ object(2)"},
                "parameters": {"token": "███ string(1)", "url": "u"}}]}),
        );
    }

    #[test]
    fn secrets_in_texts_that_are_json_are_hidden_there() {
        let observed = Redaction::default().for_observed();
        let branch = |token: &str| json!({"$Login": {"body": {"access_token": token, "n": 1}}}).to_string();
        let twice = |token: &str| json!({"aggregated": [branch(token), "[1, \"x\"]", "{\"cut"]}).to_string();
        check(
            &observed,
            json!({"$A": {"aggregated": [branch("abc"), twice("abc"), "null", "token"]}}),
            json!({"$A": {"aggregated": [branch("███ string(3)"), twice("███ string(3)"), "null", "token"]}}),
        );
        let carried = |values: Value| json!({"credentials": {"type": "basic", "values": values}}).to_string();
        check(&observed, json!([carried(json!({"pass": "p"}))]), json!([carried(json!("███ object(1)"))]));
        let mut deep = branch("abc");
        for _ in 0..TEXT_IN_TEXT + 2 {
            deep = json!([deep]).to_string();
        }
        let shown = observed.hidden(&Payload::new(json!(deep))).expect("it is hidden");
        assert!(!shown.text().contains("abc"), "what is nested deeper is hidden whole");
        let recorded = json!({"said": branch("███ string(3)")});
        assert!(holds_hidden(&recorded) && agrees(&recorded, &json!({"said": branch("abc")})));
        assert!(!agrees(&recorded, &json!({"said": twice("abc")})));
    }

    #[test]
    fn stars_stand_for_letters() {
        for (pattern, text, expected) in [
            ("Bearer *", "Bearer x", true),
            ("Bearer *", "the Bearer x", false),
            ("*KEY*", "a KEY b", true),
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "a--c--b", false),
            ("same", "same", true),
            ("same", "same!", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_hidden_agrees_with_anything() {
        let recorded = json!({"a": "███ string(5)", "b": [1, "███ number"]});
        assert!(agrees(&recorded, &json!({"a": "12345", "b": [1, 2]})));
        assert!(!agrees(&recorded, &json!({"a": "12345", "b": [2, 2]})));
        assert!(!agrees(&json!({"a": "███"}), &json!({"a": "x"})), "three blocks alone are somebody's own");
    }
}
