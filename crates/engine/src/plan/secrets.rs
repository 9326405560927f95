//! Secrets that stand in a workflow itself. They would be in every message, recording and log, so the workflow does
//! not run until they are kept elsewhere. What is found is never quoted.

use protocol::{Diagnostic, DiagnosticCode as Code};
use serde_json::{Map, Value};

use super::PlannedNode;

/// Headers that carry nothing but secrets.
const HEADERS: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-access-token",
];
/// Fields that usually hold a secret.
const FIELDS: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "client_secret",
    "api_key",
    "apikey",
    "access_token",
    "private_key",
    "values",
];
const HINT: &str = "keep it with `runeglass credentials set NAME` and write \"credentials\": {\"ref\": \"NAME\"} at the node";

pub fn check(node: &PlannedNode) -> Vec<Diagnostic> {
    let parameters = &node.source.parameters;
    let mut found = Vec::new();
    if let Some(credentials) = &node.source.credentials {
        let inline = FIELDS.iter().find(|field| holds_something(credentials.other.get(**field)));
        found.extend(inline.map(|field| format!("credentials.{field} holds the secret itself")));
        if credentials.label().is_none() && inline.is_none() {
            let message = "credentials name nothing that could be looked up";
            let hint = "write \"credentials\": {\"ref\": \"NAME\"}";
            return vec![Diagnostic::error(Code::InvalidParameter, message, hint).at_node(&node.id)];
        }
    }
    let headers = parameters.get("headers").and_then(Value::as_object);
    let secret_header = |(name, value): &(&String, &Value)| {
        HEADERS.contains(&name.to_lowercase().as_str()) && is_written_out(value)
    };
    let header = headers.and_then(|headers| headers.iter().find(secret_header));
    found.extend(header.map(|(name, _)| format!("the header {name:?} holds a secret")));
    if parameters.get("url").is_some_and(|url| is_written_out(url) && has_password(url)) {
        found.push("the url holds a password".to_owned());
    }
    let complain = |message| Diagnostic::error(Code::InlineSecret, message, HINT).at_node(&node.id);
    let mut found: Vec<Diagnostic> = found.into_iter().map(complain).collect();
    for part in ["query", "body"] {
        let field = parameters.get(part).and_then(Value::as_object).and_then(secret_field);
        found.extend(field.map(|field| {
            let message = format!("{part}.{field} looks like a secret; it will be in every recording");
            Diagnostic::warning(Code::InlineSecret, message, HINT).at_node(&node.id)
        }));
    }
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

/// Not a reference or an expression.
fn is_written_out(value: &Value) -> bool {
    value.as_str().is_none_or(|text| !text.is_empty() && !text.contains('$') && !text.contains("{{"))
}

/// `https://user:password@host`
fn has_password(url: &Value) -> bool {
    let authority = url.as_str().and_then(|url| url.split_once("://")).map(|(_, rest)| rest);
    let authority = authority.and_then(|rest| rest.split(['/', '?', '#']).next());
    authority.and_then(|authority| authority.rsplit_once('@')).is_some_and(|(user, _)| user.contains(':'))
}
