//! Asks servers over HTTP, within bounds: time, size, redirects, addresses.

use std::{
    error::Error,
    sync::{Arc, OnceLock},
    time::Duration,
};

use engine::{
    Failure, Output,
    call::{HttpAnswer, HttpRequest},
    nodes,
};
use protocol::{ErrorCode, NodeError};
use reqwest::{
    Client, Method, Response, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::{Attempt, Policy},
};
use serde_json::json;

use super::address::{AddressPolicy, CheckedNames, Forbidden};
use crate::{Clock, credentials::Secret};

/// A larger answer is refused: it would be part of every message that follows.
const MOST_BYTES: usize = 10 * 1024 * 1024;
const MOST_REDIRECTS: usize = 5;
const CONNECT: Duration = Duration::from_secs(10);

/// Clients are made when they are first needed: most workflows never ask anybody.
pub struct Http {
    policy: AddressPolicy,
    /// By whether certificates are checked, and whether another server may be told what this one is.
    clients: [[OnceLock<Client>; 2]; 2],
}

impl Http {
    pub fn new(policy: AddressPolicy) -> Self {
        Self { policy, clients: Default::default() }
    }

    pub async fn ask(
        &self,
        request: &HttpRequest,
        secret: &Secret,
        idempotency_key: &str,
        clock: &Clock,
    ) -> Result<Output, Failure> {
        let began = clock.now();
        let url = url_of(request)?;
        let where_to = Asked { host: host_of(&url), secret };
        self.policy.check(&url).map_err(|forbidden| Failure::Final(forbidden_error(&forbidden)))?;
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| refused(format!("{:?} is not a method", request.method)))?;
        let signed = secret.headers().map_err(Failure::Final)?;
        let headers = headers_of(request, &signed, idempotency_key)?;
        // A header of our own making is not known to be secret when a server leads us elsewhere.
        let may_leave = signed.iter().all(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let client = self.client(request.verify_certificates, may_leave)?;
        let timeout = Duration::from_millis(request.timeout.unsigned_abs());
        let mut asked = client.request(method, url).headers(headers).timeout(timeout);
        if let Some(body) = &request.body {
            asked = asked.body(body.clone());
        }
        let response = asked.send().await.map_err(|error| where_to.failure(error, request))?;
        let answer = read(response, &where_to, request).await?;
        let answer = HttpAnswer { duration: clock.now() - began, ..answer };
        nodes::http::answer(request, &answer)
    }

    fn client(&self, verified: bool, may_leave: bool) -> Result<&Client, Failure> {
        let slot = &self.clients[usize::from(verified)][usize::from(may_leave)];
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let made = build(self.policy, verified, may_leave).map_err(|error| {
            let message = format!("no connection can be made here: {}", innermost(&error.without_url()));
            Failure::System(NodeError::new(ErrorCode::ConnectionFailed, message))
        })?;
        Ok(slot.get_or_init(|| made))
    }
}

fn build(policy: AddressPolicy, verified: bool, may_leave: bool) -> reqwest::Result<Client> {
    // Whoever comes first decides; a second call finds the same provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("runeglass/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        // The address we come from may hold a token.
        .referer(false)
        .connect_timeout(CONNECT)
        .danger_accept_invalid_certs(!verified)
        .dns_resolver(Arc::new(CheckedNames(policy)))
        .redirect(Policy::custom(move |attempt| lead_on(attempt, policy, may_leave)))
        .build()
}

fn lead_on(attempt: Attempt<'_>, policy: AddressPolicy, may_leave: bool) -> reqwest::redirect::Action {
    let leaves = attempt.previous().last().is_some_and(|from| from.origin() != attempt.url().origin());
    if leaves && !may_leave {
        return attempt.stop();
    }
    if attempt.previous().len() > MOST_REDIRECTS {
        return attempt.error(TooManyRedirects);
    }
    match policy.check(attempt.url()) {
        Ok(()) => attempt.follow(),
        Err(forbidden) => attempt.error(forbidden),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the server leads on and on, more than {MOST_REDIRECTS} times")]
struct TooManyRedirects;

/// Who was asked, for the words of a failure.
struct Asked<'a> {
    host: String,
    secret: &'a Secret,
}

impl Asked<'_> {
    fn failure(&self, error: reqwest::Error, request: &HttpRequest) -> Failure {
        let error = error.without_url();
        if let Some(forbidden) = cause::<Forbidden>(&error) {
            return Failure::Final(forbidden_error(forbidden));
        }
        let host = &self.host;
        let (code, message) = match () {
            () if cause::<TooManyRedirects>(&error).is_some() => (
                ErrorCode::HttpTooManyRedirects,
                format!("{host} leads on, more than {MOST_REDIRECTS} times"),
            ),
            () if error.is_timeout() => {
                let seconds = request.timeout as f64 / 1_000.0;
                (ErrorCode::HttpTimeout, format!("no answer from {host} within {seconds} s"))
            }
            () if error.is_connect() => {
                (ErrorCode::ConnectionFailed, format!("{host} cannot be reached: {}", innermost(&error)))
            }
            () => (
                ErrorCode::ConnectionFailed,
                format!("the exchange with {host} broke off: {}", innermost(&error)),
            ),
        };
        let details = json!({"url": request.url, "method": request.method});
        let error = NodeError::new(code, self.secret.veil().hide(&message)).with_details(details);
        match code {
            ErrorCode::HttpTooManyRedirects => Failure::Final(error),
            _ => Failure::Passing(error),
        }
    }
}

async fn read(
    mut response: Response,
    asked: &Asked<'_>,
    request: &HttpRequest,
) -> Result<HttpAnswer, Failure> {
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let text = |value: &HeaderValue| asked.secret.veil().hide(&String::from_utf8_lossy(value.as_bytes()));
    let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| asked.failure(error, request))? {
        if body.len() + chunk.len() > MOST_BYTES {
            let message = format!("{} answers with more than {} MiB", asked.host, MOST_BYTES / 1024 / 1024);
            let details = json!({"url": request.url, "read_bytes": body.len()});
            let error = NodeError::new(ErrorCode::HttpBodyTooLarge, message).with_details(details);
            return Err(Failure::Final(error));
        }
        body.extend_from_slice(&chunk);
    }
    let status_text = format!("{} {reason}", status.as_u16()).trim_end().to_owned();
    let body = asked.secret.veil().hide_bytes(body);
    Ok(HttpAnswer { status: status.as_u16(), status_text, headers, body, duration: 0 })
}

fn url_of(request: &HttpRequest) -> Result<Url, Failure> {
    let mut url = Url::parse(&request.url)
        .map_err(|error| refused(format!("parameter \"url\" {:?} is not a URL: {error}", request.url)))?;
    if !request.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&request.query);
    }
    Ok(url)
}

fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The author's headers win over those of the credentials.
fn headers_of(
    request: &HttpRequest,
    signed: &[(String, secrecy::SecretString)],
    idempotency_key: &str,
) -> Result<HeaderMap, Failure> {
    use secrecy::ExposeSecret;
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        headers.insert(header_name(name)?, header_value(name, value)?);
    }
    for (name, value) in signed {
        let mut hidden = header_value(name, value.expose_secret())?;
        hidden.set_sensitive(true);
        headers.entry(header_name(name)?).or_insert(hidden);
    }
    let key = header_value("Idempotency-Key", idempotency_key)?;
    headers.entry(HeaderName::from_static("idempotency-key")).or_insert(key);
    Ok(headers)
}

fn header_name(name: &str) -> Result<HeaderName, Failure> {
    name.parse().map_err(|_| refused(format!("{name:?} cannot be the name of a header")))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, Failure> {
    value.parse().map_err(|_| refused(format!("the header {name:?} has a value that cannot be sent")))
}

fn refused(message: String) -> Failure {
    Failure::Final(NodeError::new(ErrorCode::InvalidParameter, message))
}

fn forbidden_error(forbidden: &Forbidden) -> NodeError {
    let message = format!("{forbidden}; workflows reach only public addresses here (--private-addresses)");
    NodeError::new(ErrorCode::AddressForbidden, message)
}

/// The innermost cause is what people can act on.
fn innermost(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

fn cause<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
