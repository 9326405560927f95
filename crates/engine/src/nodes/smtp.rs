//! `smtp`: sends a mail. The server and its password come from the node's credentials.

use protocol::{Diagnostic, ErrorCode, NodeError, Payload};
use serde_json::{Value, json};

use super::{Firing, Kind, Parameter, Resolve, Work, invalid, parameter, required, retry};
use crate::{
    call::{Call, Mail, Request},
    expr::as_text,
    plan::{Plan, PlannedNode},
    step::Output,
};

pub struct Smtp;

impl Kind for Smtp {
    fn names(&self) -> &'static [&'static str] {
        &["smtp"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 8] = [
            required("from", Resolve::Value),
            required("to", Resolve::Value),
            parameter("cc", Resolve::Value),
            parameter("bcc", Resolve::Value),
            parameter("subject", Resolve::Value),
            parameter("body", Resolve::Value),
            parameter("retry", Resolve::Value),
            parameter("retry_delay", Resolve::Value),
        ];
        &PARAMETERS
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let hint = "name them, for example \"credentials\": {\"ref\": \"mail\"}";
        let missing = node.source.credentials.is_none();
        missing.then(|| invalid(&node.id, "smtp needs credentials".to_owned(), hint)).into_iter().collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let text = |name: &str| firing.parameter(name).map(as_text).unwrap_or_default();
        let mail = Mail {
            from: text("from"),
            to: addresses(firing, "to")?,
            cc: addresses(firing, "cc")?,
            bcc: addresses(firing, "bcc")?,
            subject: text("subject"),
            body: text("body"),
        };
        if mail.from.trim().is_empty() {
            return Err(firing.invalid("from", "is empty"));
        }
        if recipients(&mail) == 0 {
            return Err(firing.invalid("to", "names nobody"));
        }
        Ok(Work::Call(Box::new(Call {
            request: Request::Mail(mail),
            credentials: firing.node.source.credentials.clone(),
            retry: retry(firing)?,
            idempotency_key: firing.timer_id.clone(),
        })))
    }
}

/// What a mail that was taken means to the node.
pub fn sent(mail: &Mail, duration: i64) -> Output {
    Payload::new(json!({
        "success": true,
        "message": "Email sent successfully",
        "from": mail.from,
        "to": mail.to,
        "cc": mail.cc,
        "bcc": mail.bcc,
        "subject": mail.subject,
        "duration_ms": duration,
        "recipients": recipients(mail),
    }))
    .into()
}

fn recipients(mail: &Mail) -> usize {
    mail.to.len() + mail.cc.len() + mail.bcc.len()
}

/// One address, several with commas, or a list.
fn addresses(firing: &Firing<'_>, name: &str) -> Result<Vec<String>, NodeError> {
    let split = |text: &str| -> Vec<String> {
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    match firing.parameter(name) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(split(text)),
        Some(Value::Array(values)) if values.iter().all(Value::is_string) => {
            Ok(values.iter().filter_map(Value::as_str).flat_map(split).collect())
        }
        Some(other) => {
            let message = format!("parameter {name:?} must be an address or a list of them, but is {other}");
            Err(NodeError::new(ErrorCode::InvalidParameter, message))
        }
    }
}
