//! Secrets that stand in a workflow itself. They would be in every message, recording and log, so the workflow does
//! not run until they are kept elsewhere. What is found is never quoted.

use protocol::{Diagnostic, DiagnosticCode as Code};
use serde_json::{Map, Value};

use super::PlannedNode;

/// Headers that carry nothing but secrets.
const HEADERS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];
/// What is in the name of other headers that do.
const IN_HEADERS: [&str; 5] = ["token", "secret", "api-key", "apikey", "password"];
/// Fields that usually hold a secret.
const FIELDS: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "client_secret",
    "api_key",
    "apikey",
    "access_token",
    "token",
    "private_key",
];
/// Where Rune puts the decrypted secret.
const VALUES: &str = "values";
const HINT: &str = "keep it with `runeglass credentials set NAME` and write \"credentials\": {\"ref\": \"NAME\"} at the node";

pub fn check(node: &PlannedNode) -> Vec<Diagnostic> {
    let parameters = &node.source.parameters;
    let mut found = Vec::new();
    if let Some(credentials) = &node.source.credentials {
        let mut fields = FIELDS.iter().chain([&VALUES]);
        let inline = fields.find(|field| holds_something(credentials.other.get(**field)));
        found.extend(inline.map(|field| format!("credentials.{field} holds the secret itself")));
        if credentials.label().is_none() && inline.is_none() {
            let message = "credentials name nothing that could be looked up";
            let hint = "write \"credentials\": {\"ref\": \"NAME\"}";
            return vec![Diagnostic::error(Code::InvalidParameter, message, hint).at_node(&node.id)];
        }
    }
    let headers = parameters.get("headers").and_then(Value::as_object);
    let secret_header = |(name, value): &(&String, &Value)| is_secret_header(name) && is_written_out(value);
    let header = headers.and_then(|headers| headers.iter().find(secret_header));
    found.extend(header.map(|(name, _)| format!("the header {name:?} holds a secret")));
    let url =
        parameters.get("url").filter(|url| is_written_out(url)).and_then(Value::as_str).unwrap_or_default();
    if has_user(url) {
        found.push("the url holds a user or a token in front of the host".to_owned());
    }
    let complain = |message| Diagnostic::error(Code::InlineSecret, message, HINT).at_node(&node.id);
    let mut found: Vec<Diagnostic> = found.into_iter().map(complain).collect();
    let in_part = |part: &'static str| {
        let field = parameters.get(part).and_then(Value::as_object).and_then(secret_field)?;
        Some(format!("{part}.{field}"))
    };
    let suspects = [in_part("query"), in_part("body"), secret_in_query(url)];
    found.extend(suspects.into_iter().flatten().map(|place| {
        let message = format!("{place} looks like a secret; it will be in every recording");
        Diagnostic::warning(Code::InlineSecret, message, HINT).at_node(&node.id)
    }));
    found
}

fn secret_field(fields: &Map<String, Value>) -> Option<&String> {
    let found = fields.iter().find(|(name, value)| {
        FIELDS.contains(&name.to_lowercase().as_str()) && value.is_string() && is_written_out(value)
    });
    found.map(|(name, _)| name)
}

fn holds_something(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => true,
    }
}

fn is_secret_header(name: &str) -> bool {
    let name = name.to_lowercase();
    HEADERS.contains(&name.as_str()) || IN_HEADERS.iter().any(|word| name.contains(word))
}

/// Text that is neither a reference nor an expression.
fn is_written_out(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty() && !text.contains('$') && !text.contains("{{"))
}

/// `https://user:password@host`, or a token in place of the user.
fn has_user(url: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    authority.is_some_and(|authority| authority.contains('@'))
}

/// `?access_token=…`
fn secret_in_query(url: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let names =
        query.split('&').filter_map(|pair| pair.split_once('=')).filter(|(_, value)| !value.is_empty());
    let mut secret =
        names.map(|(name, _)| name).filter(|name| FIELDS.contains(&name.to_lowercase().as_str()));
    secret.next().map(|name| format!("{name} in the url"))
}
