//! Decrypted credentials travel in every message of a Rune cluster. They are taken out here, before anything else sees
//! the message; where a server repeats one of them, it is taken out there as well.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use protocol::{ErrorCode, Fact, NodeError, Payload};
use serde_json::{Map, Value, json};

/// Shorter ones are words that stand anywhere.
const SHORTEST: usize = 6;
/// Secrets of one execution that are looked for, each as it is written in one way, and their bytes.
const KEPT: usize = 10_000;
const KEPT_BYTES: usize = 512 * 1024;
const TAKEN_OUT: &str = "███";
const TOO_MANY: &str =
    "hidden: this workflow has more secrets than can be looked for, and one of them may stand here";
/// Fields of a credential that are no secret: where it is for, and what it is called.
const OPEN: [&str; 11] =
    ["type", "token_type", "host", "port", "field", "key", "username", "user", "email", "from", "url"];
/// Texts inside of each other that are taken apart.
const TEXT_IN_TEXT: usize = 8;
/// What is left of a credential.
const LEFT: [&str; 3] = ["id", "name", "type"];
/// What is in the names of headers that carry secrets.
const IN_HEADERS: [&str; 7] = ["authorization", "cookie", "token", "secret", "api-key", "apikey", "password"];

/// The secrets of one execution. They are kept to be recognised, and written nowhere. Executions of one workflow share
/// them.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Known>);

#[derive(Clone, Default)]
struct Known {
    texts: BTreeSet<String>,
    bytes: usize,
    /// There are more.
    overflows: bool,
    /// Finds all of them in one go; made when it is needed. `None` where it cannot be made.
    finder: OnceLock<Option<AhoCorasick>>,
}

/// Parameters that may hold a secret of their own.
const TOLD_BY: [&str; 3] = ["\"tools\"", "\"mcp_servers\"", "\"headers\""];

impl Secrets {
    /// Those of another definition are taken out as well.
    pub fn has_all(&self, others: &Self) -> bool {
        others.0.texts.is_subset(&self.0.texts) && (self.0.overflows || !others.0.overflows)
    }

    /// Some are not looked for: what the execution makes has to be hidden.
    pub fn are_too_many(&self) -> bool {
        self.0.overflows || self.0.finder.get().is_some_and(Option::is_none)
    }

    fn finder(&self) -> Option<&AhoCorasick> {
        let make = || {
            // The longest counts, so that nothing is left of one that begins like another. Other kinds take more memory.
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
            builder.build(&self.0.texts).ok()
        };
        self.0.finder.get_or_init(make).as_ref()
    }

    /// Takes the credentials out of a definition and remembers what they were.
    pub fn take_from_definition(&mut self, definition: &mut Value) {
        let Some(nodes) = definition.get_mut("nodes").and_then(Value::as_array_mut) else { return };
        for node in nodes.iter_mut() {
            if let Some(credentials) = node.get_mut("credentials") {
                self.reduce(credentials);
            }
            if let Some(parameters) = node.get_mut("parameters") {
                self.reduce_in(parameters);
            }
        }
        // All of them are known now: that of a later node may stand in an earlier one.
        for node in nodes {
            if let Some(parameters) = node.get_mut("parameters") {
                self.take_from_parameters(parameters);
            }
            if let Some(output) = node.get_mut("output") {
                self.take_from(output);
                if self.are_too_many() && !output.is_null() {
                    *output = json!({"hidden": TOO_MANY});
                }
            }
        }
    }

    /// Takes the credentials of tools out of the parameters of a node, and headers that hold a secret themselves.
    pub fn take_from_parameters(&mut self, parameters: &mut Value) {
        self.reduce_in(parameters);
        let headers = parameters.get_mut("headers").and_then(Value::as_object_mut);
        for (_, value) in headers.into_iter().flatten().filter(|(name, _)| is_secret_header(name)) {
            if let Value::String(text) = value
                && !text.contains('$')
                && !text.starts_with('█')
            {
                *text = format!("███ string({})", text.chars().count());
            }
        }
        self.take_from(parameters);
    }

    fn reduce_in(&mut self, parameters: &mut Value) {
        for list in ["tools", "mcp_servers"] {
            let Some(entries) = parameters.get_mut(list).and_then(Value::as_array_mut) else { continue };
            for credentials in entries.iter_mut().filter_map(|entry| entry.get_mut("credentials")) {
                self.reduce(credentials);
            }
        }
    }

    /// The parameters without what has to be taken out. Most have nothing, and stay the text they are.
    pub fn cleaned_parameters(&mut self, parameters: Payload) -> Payload {
        let text = parameters.text();
        if !self.may_be_in(text) && !TOLD_BY.iter().any(|name| text.contains(name)) {
            return parameters;
        }
        let mut value = parameters.value().clone();
        self.take_from_parameters(&mut value);
        Payload::new(value)
    }

    /// The same for what a server, or a node, may have repeated.
    pub fn cleaned(&self, payload: Payload) -> Payload {
        if !self.may_be_in(payload.text()) {
            return payload;
        }
        let mut value = payload.value().clone();
        self.walk(&mut value, TEXT_IN_TEXT);
        Payload::new(value)
    }

    /// A quick look at the text. What is written with escapes may be anything.
    fn may_be_in(&self, text: &str) -> bool {
        !self.0.texts.is_empty() && (text.contains('\\') || self.finder_of(text).is_some())
    }

    /// Absent where none of them is in a text.
    fn finder_of(&self, text: &str) -> Option<&AhoCorasick> {
        let is_any = !self.0.texts.is_empty();
        is_any.then(|| self.finder()).flatten().filter(|finder| finder.is_match(text))
    }

    /// Takes out what a server, or a node, has repeated.
    pub fn take_from(&self, value: &mut Value) {
        if !self.0.texts.is_empty() {
            self.walk(value, TEXT_IN_TEXT);
        }
    }

    /// True where there was one.
    pub fn take_from_text(&self, text: &mut String) -> bool {
        let Some(finder) = self.finder_of(text) else { return false };
        let mut left = String::with_capacity(text.len());
        finder.replace_all_with(text, &mut left, |_, _, left| {
            left.push_str(TAKEN_OUT);
            true
        });
        *text = left;
        true
    }

    /// Leaves of a credential what it is called.
    fn reduce(&mut self, credentials: &mut Value) {
        self.learn(credentials, None);
        let left = match credentials {
            Value::Object(fields) => fields
                .iter()
                .filter(|(name, value)| {
                    LEFT.contains(&name.as_str()) && !value.is_object() && !value.is_array()
                })
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Map<String, Value>>(),
            Value::Null => return,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
        };
        *credentials = Value::Object(left);
    }

    fn learn(&mut self, value: &Value, name: Option<&str>) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter().filter(|(name, _)| !LEFT.contains(&name.as_str())) {
                    self.learn(field, Some(name));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item, name)),
            Value::String(text)
                if text.len() >= SHORTEST && !name.is_some_and(|name| OPEN.contains(&name)) =>
            {
                // Also as it is written inside of a text, by most and by Go.
                let written = Value::from(text.as_str()).to_string();
                let written = written[1..written.len() - 1].to_owned();
                let by_go = written.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
                [text.clone(), written, by_go].into_iter().for_each(|text| self.add(text));
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add(&mut self, text: String) {
        if self.0.overflows || self.0.texts.contains(&text) {
            return;
        }
        let known = Arc::make_mut(&mut self.0);
        if known.texts.len() >= KEPT || known.bytes + text.len() > KEPT_BYTES {
            known.overflows = true;
            return;
        }
        known.bytes += text.len();
        known.texts.insert(text);
        known.finder = OnceLock::new();
    }

    /// True where there was one. Branches travel as JSON in texts, one inside of the other, `levels` deep.
    fn walk(&self, value: &mut Value, levels: usize) -> bool {
        let found = |found: bool, value: &mut Value| self.walk(value, levels) | found;
        match value {
            Value::Object(fields) => fields.values_mut().fold(false, found),
            Value::Array(items) => items.iter_mut().fold(false, found),
            Value::String(text) => {
                let mut inside = inside(text).filter(|_| levels > 0);
                let is_inside = inside.as_mut().is_some_and(|inside| self.walk(inside, levels - 1));
                if let Some(inside) = inside.filter(|_| is_inside) {
                    *text = inside.to_string();
                }
                self.take_from_text(text) || is_inside
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// Leaves of what an execution has made and used how much it was: nobody can say whether a secret is in it.
pub fn hide(fact: &mut Fact) {
    let hidden = || Payload::new(json!({"hidden": TOO_MANY}));
    match fact {
        Fact::ExecutionStarted(started) => started.input = hidden(),
        Fact::NodeStarted(started) => {
            started.parameters.iter_mut().chain(&mut started.input).for_each(|payload| *payload = hidden());
        }
        Fact::NodeSucceeded(done) => match &mut done.items {
            Some(items) => {
                let many = items.value().as_array().map_or(0, Vec::len);
                *items = Payload::new(vec![Value::from(TAKEN_OUT); many].into());
            }
            None => done.output = hidden(),
        },
        Fact::NodeFailed(failed) => hide_words(&mut failed.error),
        Fact::ExecutionEnded(ended) => ended.error.iter_mut().for_each(hide_words),
        // Nothing that was made or used is in these.
        Fact::NodeParked(_)
        | Fact::AttemptFailed(_)
        | Fact::TimedOut(_)
        | Fact::Prolonged(_)
        | Fact::TimerFired(_)
        | Fact::Gathered(_)
        | Fact::Intervened(_)
        | Fact::Missed(_) => {}
    }
}

/// What we say ourselves stays.
fn hide_words(error: &mut NodeError) {
    if error.code != ErrorCode::NotObserved {
        (error.message, error.details) = (TOO_MANY.to_owned(), None);
    }
}

/// What a text says, where it is JSON that has texts of its own.
fn inside(text: &str) -> Option<Value> {
    let is_json = text.trim_start().starts_with(['{', '[']) && text.contains('"');
    is_json.then(|| serde_json::from_str(text).ok()).flatten()
}

fn is_secret_header(name: &str) -> bool {
    let name = name.to_lowercase();
    IN_HEADERS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_keep_their_name_and_lose_their_values() {
        let mut secrets = Secrets::default();
        let mut definition = json!({"nodes": [
            {"id": "a", "credentials": {"id": "7", "name": "Shop", "type": "api_key",
                "values": {"value": "hunter2hunter2", "key": "X-Api-Key", "type": "api_key"}}},
            {"id": "b", "parameters": {
                "tools": [{"name": "t", "credential": {"id": "8"}, "credentials": {"id": "8", "values": {"token": "tool-secret"}}}],
                "mcp_servers": [{"name": "m", "credentials": "plain-secret"}],
                "headers": {"Authorization": "Bearer own", "Accept": "*/*", "X-Token": "$Login.token"}}}
        ]});
        secrets.take_from_definition(&mut definition);
        let left = json!({"id": "7", "name": "Shop", "type": "api_key"});
        assert_eq!(definition["nodes"][0]["credentials"], left);
        let parameters = &definition["nodes"][1]["parameters"];
        assert_eq!(
            parameters["tools"][0],
            json!({"name": "t", "credential": {"id": "8"}, "credentials": {"id": "8"}})
        );
        assert_eq!(parameters["mcp_servers"][0]["credentials"], json!({}));
        let headers = json!({"Authorization": "███ string(10)", "Accept": "*/*", "X-Token": "$Login.token"});
        assert_eq!(parameters["headers"], headers);

        let mut answer =
            json!({"body": {"you sent": ["key=hunter2hunter2", "api_key", "tool-secret", "plain-secret"]}});
        secrets.take_from(&mut answer);
        assert_eq!(answer, json!({"body": {"you sent": ["key=███", "api_key", "███", "███"]}}));
    }

    #[test]
    fn a_secret_is_found_in_a_node_before_its_own_and_in_texts_inside_of_texts() {
        let mut secrets = Secrets::default();
        let mut definition = json!({"nodes": [
            {"id": "a", "parameters": {"url": "http://x?key=a<b&c\"d/e"}},
            {"id": "b", "credentials": {"values": {"value": "a<b&c\"d/e"}}}
        ]});
        secrets.take_from_definition(&mut definition);
        assert_eq!(definition["nodes"][0]["parameters"]["url"], "http://x?key=███");
        let branch = |said: &str| format!(r#"{{"$Login":{{"body":"{said}"}},"n":1}}"#);
        let inner = branch(r#"a\u003cb\u0026c\"d\/e"#);
        let outer = json!({"$A": {"aggregated": [inner, "null"]}}).to_string();
        let mut used = json!({"$B": {"aggregated": [outer, "[1, \"x\"]"]}});
        secrets.take_from(&mut used);
        let clean = json!({"$A": {"aggregated": [branch("███"), "null"]}}).to_string();
        assert_eq!(used, json!({"$B": {"aggregated": [clean, "[1, \"x\"]"]}}), "others stay as they are");
        let mut cut = json!(r#"{"said":"a\u003cb\u0026c\"d/e","#);
        secrets.take_from(&mut cut);
        assert_eq!(cut, json!(r#"{"said":"███","#), "what is cut off cannot be taken apart");
    }

    #[test]
    fn very_many_are_looked_for_and_whoever_has_more_says_so() {
        let with = |many: usize, of: &dyn Fn(usize) -> String| {
            let tokens: Vec<String> = (0..many).map(of).collect();
            let mut definition =
                json!({"nodes": [{"id": "a", "credentials": {"values": {"tokens": tokens}}}]});
            let mut secrets = Secrets::default();
            secrets.take_from_definition(&mut definition);
            secrets
        };
        let number = |number: usize| format!("number-{number:06}");
        let most = with(KEPT, &number);
        assert!(!most.are_too_many());
        let mut said = format!("{} and {}", number(0), number(KEPT - 1));
        assert!(most.take_from_text(&mut said));
        assert_eq!(said, "███ and ███");
        let more = with(KEPT + 1, &number);
        assert!(more.are_too_many() && more.has_all(&most) && !most.has_all(&more));
        assert!(with(2, &|number| number.to_string().repeat(KEPT_BYTES * 2 / 3)).are_too_many());

        let alike = with(2, &|number| format!("begins{}", "-and-goes-on".repeat(number)));
        let mut said = "it begins-and-goes-on or begins".to_owned();
        assert!(alike.take_from_text(&mut said));
        assert_eq!(said, "it ███ or ███", "nothing is left of the longer one");
    }

    #[test]
    fn a_secret_is_found_in_a_text_however_it_is_written() {
        let mut secrets = Secrets::default();
        let mut definition =
            json!({"nodes": [{"id": "a", "credentials": {"values": {"value": "a<b&c\"d/e"}}}]});
        secrets.take_from_definition(&mut definition);
        let cleaned = |text: &str| {
            let payload = Payload::from_text(text.to_owned()).unwrap();
            secrets.cleaned(payload).text().to_owned()
        };
        // As Go writes it, and as it need not be written.
        for text in [r#"{"said":"a\u003cb\u0026c\"d/e"}"#, r#"{"said":"a<b&c\"d\/e"}"#] {
            assert_eq!(cleaned(text), r#"{"said":"███"}"#);
        }
        assert_eq!(cleaned(r#"{"n":1,  "x":"y"}"#), r#"{"n":1,  "x":"y"}"#, "others stay as they are");
        let headers = Payload::from_text(r#"{"headers":{"Authorization":"Bearer own"}}"#.to_owned()).unwrap();
        let headers = Secrets::default().cleaned_parameters(headers);
        assert_eq!(headers.value()["headers"]["Authorization"], "███ string(10)");
    }
}
