//! What a node asks of the world outside, as data. Whoever performs it knows sockets; this page does not.

use std::collections::BTreeMap;

use protocol::{Credentials, MessageId, Millis};

use crate::step::Retry;

/// One question to the outside.
#[derive(Clone, Debug)]
pub struct Call {
    pub request: Request,
    /// Referred to; resolved by whoever performs the call, and never part of a message.
    pub credentials: Option<Credentials>,
    pub retry: Retry,
    /// The same on every attempt, so that the other side can tell a repetition.
    pub idempotency_key: MessageId,
}

#[derive(Clone, Debug)]
pub enum Request {
    Http(HttpRequest),
    Mail(Mail),
}

impl Call {
    /// In a few words, without a body and without secrets.
    pub fn summary(&self) -> String {
        match &self.request {
            Request::Http(request) => format!("{} {}", request.method, request.url),
            Request::Mail(mail) => format!("mail to {}", mail.to.join(", ")),
        }
    }
}

#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub method: String,
    pub url: String,
    pub query: Vec<(String, String)>,
    pub headers: BTreeMap<String, String>,
    pub body: Option<String>,
    pub timeout: Millis,
    /// Answers with these statuses are failures.
    pub raise_on: Vec<StatusPattern>,
    pub verify_certificates: bool,
}

/// `404`, or `4xx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPattern {
    Exact(u16),
    /// The hundreds.
    Class(u16),
}

impl StatusPattern {
    pub fn matches(self, status: u16) -> bool {
        match self {
            Self::Exact(wanted) => status == wanted,
            Self::Class(hundreds) => status / 100 == hundreds,
        }
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    pub status: u16,
    /// `200 OK`
    pub status_text: String,
    /// Names and values as text, in the order of the answer.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub duration: Millis,
}

#[derive(Clone, Debug)]
pub struct Mail {
    pub from: String,
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    pub subject: String,
    pub body: String,
}
