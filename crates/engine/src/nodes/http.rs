//! `http`: asks a server. Without `raise_on_status` every answer is a success, whatever its status.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use protocol::{Diagnostic, ErrorCode, Millis, NodeError, Payload};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    Firing, Kind, Parameter, Resolve, SHORT_SECONDS, Work, invalid, parameter, required, retry, short_time,
};
use crate::{
    call::{Call, HttpAnswer, HttpRequest, Request, StatusPattern},
    expr::as_text,
    plan::{Plan, PlannedNode},
    step::{Failure, Output},
};

pub struct Http;

/// Seconds an answer may take where the author does not say.
const TIMEOUT_SECONDS: f64 = 30.0;

impl Kind for Http {
    fn names(&self) -> &'static [&'static str] {
        &["http"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 10] = [
            parameter("method", Resolve::Value),
            required("url", Resolve::Value),
            parameter("query", Resolve::Value),
            parameter("headers", Resolve::Value),
            parameter("body", Resolve::Value),
            parameter("timeout", Resolve::Value),
            parameter("retry", Resolve::Value),
            parameter("retry_delay", Resolve::Value),
            parameter("raise_on_status", Resolve::Value),
            parameter("ignore_ssl", Resolve::Value),
        ];
        &PARAMETERS
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let text = node.source.parameters.get("raise_on_status").and_then(Value::as_str);
        let complaint = text.filter(|text| !text.contains('$') && !text.contains("{{"));
        let complaint = complaint.and_then(|text| patterns(text).err());
        let hint = "write statuses such as 404, or classes such as 4xx, with commas between them";
        complaint.map(|complaint| invalid(&node.id, complaint, hint)).into_iter().collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let body = body(firing);
        let mut headers = texts(firing, "headers")?;
        if body.is_some() && !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            headers.insert("Content-Type".to_owned(), "application/json".to_owned());
        }
        let request = HttpRequest {
            method: firing.parameter("method").map_or_else(|| "GET".to_owned(), as_text).to_uppercase(),
            url: url(firing)?,
            query: query(firing)?,
            headers,
            body,
            timeout: timeout(firing)?,
            raise_on: raise_on(firing)?,
            verify_certificates: firing.parameter("ignore_ssl").and_then(Value::as_bool) != Some(true),
        };
        Ok(Work::Call(Box::new(Call {
            request: Request::Http(request),
            credentials: firing.node.source.credentials.clone(),
            retry: retry(firing)?,
            idempotency_key: firing.timer_id.clone(),
        })))
    }
}

/// What an answer means to the node: its output, or a failure its author asked for.
pub fn answer(request: &HttpRequest, answer: &HttpAnswer) -> Result<Output, Failure> {
    if request.raise_on.iter().any(|pattern| pattern.matches(answer.status)) {
        let message = format!("the server answered {}", answer.status_text);
        let details = json!({"status": answer.status, "url": request.url, "body": shown(&answer.body)});
        let error = NodeError::new(ErrorCode::HttpStatusRaised, message).with_details(details);
        return Err(Failure::Passing(error));
    }
    let mut headers: BTreeMap<String, &str> = BTreeMap::new();
    for (name, value) in &answer.headers {
        headers.entry(canonical(name)).or_insert(value);
    }
    #[derive(Serialize)]
    struct Shape<'a> {
        status: u16,
        status_text: &'a str,
        body: Box<RawValue>,
        headers: BTreeMap<String, &'a str>,
        duration_ms: i64,
    }
    let shape = Shape {
        status: answer.status,
        status_text: &answer.status_text,
        body: readable(&answer.body).map_err(unreadable)?,
        headers,
        duration_ms: answer.duration,
    };
    let text = serde_json::value::to_raw_value(&shape).map_err(unreadable)?;
    Ok(Payload::from_raw(text).into())
}

fn unreadable(error: serde_json::Error) -> Failure {
    let message = format!("the answer cannot be written as JSON: {error}");
    Failure::Final(NodeError::new(ErrorCode::NodeExecutionFailed, message))
}

/// JSON as it stands, so that no digit is lost; other text as a string; other bytes as base64.
fn readable(body: &[u8]) -> Result<Box<RawValue>, serde_json::Error> {
    let Ok(text) = std::str::from_utf8(body) else {
        return serde_json::value::to_raw_value(
            &json!({"base64": STANDARD.encode(body), "bytes": body.len()}),
        );
    };
    // Read as a value, not merely as syntax: what is nested too deeply for readers stays text.
    match serde_json::from_str::<Value>(text) {
        Ok(_) => RawValue::from_string(text.trim().to_owned()),
        Err(_) => serde_json::value::to_raw_value(text),
    }
}

/// Enough of a body to see what a server complains about.
fn shown(body: &[u8]) -> String {
    const SHOWN: usize = 2_000;
    String::from_utf8_lossy(&body[..body.len().min(SHOWN)]).into_owned()
}

/// `content-type` is `Content-Type` to people and to workflows that look for it.
fn canonical(name: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters.map(|letter| letter.to_ascii_lowercase())).collect::<String>()
    };
    name.split('-').map(capital).collect::<Vec<_>>().join("-")
}

fn url(firing: &Firing<'_>) -> Result<String, NodeError> {
    let url = firing.parameter("url").map(as_text).unwrap_or_default();
    let is_web = |scheme: &str| ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    match url.split_once("://") {
        Some((scheme, rest)) if is_web(scheme) && !rest.is_empty() => Ok(url),
        _ => Err(firing.invalid("url", &format!("must begin with http:// or https://, but is {url:?}"))),
    }
}

/// 0 asks for no limit; a day is one all the same.
fn timeout(firing: &Firing<'_>) -> Result<Millis, NodeError> {
    match short_time(firing, "timeout", TIMEOUT_SECONDS)? {
        0 => Ok((SHORT_SECONDS * 1_000.0) as Millis),
        millis => Ok(millis),
    }
}

fn query(firing: &Firing<'_>) -> Result<Vec<(String, String)>, NodeError> {
    let mut pairs = Vec::new();
    for (name, value) in object(firing, "query")? {
        match value {
            Value::Null => {}
            Value::Array(values) => pairs.extend(values.iter().map(|value| (name.clone(), as_text(value)))),
            value => pairs.push((name.clone(), as_text(value))),
        }
    }
    Ok(pairs)
}

fn texts(firing: &Firing<'_>, name: &str) -> Result<BTreeMap<String, String>, NodeError> {
    let fields = object(firing, name)?.iter().filter(|(_, value)| !value.is_null());
    Ok(fields.map(|(name, value)| (name.clone(), as_text(value))).collect())
}

fn object<'f>(firing: &'f Firing<'_>, name: &str) -> Result<&'f Map<String, Value>, NodeError> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    match firing.parameter(name) {
        None => Ok(&NONE),
        Some(Value::Object(fields)) => Ok(fields),
        Some(Value::String(text)) if text.is_empty() => Ok(&NONE),
        Some(other) => Err(firing.invalid(name, &format!("must be an object, but is {other}"))),
    }
}

/// Text is sent as it stands, everything else as JSON; an empty object counts as no body.
fn body(firing: &Firing<'_>) -> Option<String> {
    match firing.parameter("body")? {
        Value::Object(fields) if fields.is_empty() => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn raise_on(firing: &Firing<'_>) -> Result<Vec<StatusPattern>, NodeError> {
    let text = firing.parameter("raise_on_status").map(as_text).unwrap_or_default();
    patterns(&text).map_err(|complaint| NodeError::new(ErrorCode::InvalidParameter, complaint))
}

/// `4xx, 5xx`; `or` and `and` are commas, because an answer has one status.
fn patterns(text: &str) -> Result<Vec<StatusPattern>, String> {
    let text = text.replace(" or ", ",").replace(" and ", ",");
    let pattern = |part: &str| {
        let class = part.strip_suffix("xx").or_else(|| part.strip_suffix("XX"));
        let class = class.and_then(|class| class.parse().ok()).filter(|class| (1..=5).contains(class));
        let exact = part.parse().ok().filter(|status| (100..=599).contains(status));
        let found = class.map(StatusPattern::Class).or(exact.map(StatusPattern::Exact));
        found.ok_or_else(|| format!("raise_on_status knows no {part:?}"))
    };
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(pattern).collect()
}
