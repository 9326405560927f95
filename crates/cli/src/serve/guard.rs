//! Who may speak to the web host: a browser on this machine that was given the link. Where webhooks are asked for,
//! programs on this machine may call those; a web page may not.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use protocol::{Problem, ProblemCode};

use super::{api::refuse, hooks, most_bytes};

pub struct Guard {
    port: u16,
    /// In the link; gone after its first use.
    token: Mutex<Option<String>>,
    /// In the cookie of the browser that used the link.
    secret: String,
    /// Programs may call webhooks.
    hooks: bool,
}

impl Guard {
    pub fn new(port: u16, hooks: bool) -> Result<Self, Problem> {
        Ok(Self { port, token: Mutex::new(Some(random_word()?)), secret: random_word()?, hooks })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        format!("http://127.0.0.1:{}/?token={}", self.port, token.as_deref().unwrap_or_default())
    }

    /// Another name in `Host` means that another site leads the browser here (DNS rebinding).
    fn is_our_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        self.hosts().iter().any(|ours| ours == host)
    }

    fn is_our_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        self.hosts().iter().any(|ours| origin.as_bytes() == format!("http://{ours}").as_bytes())
    }

    fn hosts(&self) -> [String; 2] {
        [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)]
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let wanted = format!("{}={}", self.cookie_name(), self.secret);
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
        cookies.flat_map(|cookies| cookies.split(';')).any(|cookie| same(cookie.trim(), &wanted))
    }

    /// A call needs no session: who makes it is a program, and it learns no more than that something has started.
    fn is_call(&self, request: &Request) -> bool {
        self.hooks && request.method() == Method::POST && request.uri().path().starts_with(hooks::PREFIX)
    }

    /// True for the first use of the link.
    fn spend(&self, offered: &str) -> bool {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let right = token.as_deref().is_some_and(|token| same(token, offered));
        if right {
            *token = None;
        }
        right
    }

    /// Cookies do not know ports, so two hosts on one machine need two names.
    fn cookie_name(&self) -> String {
        format!("runeglass_{}", self.port)
    }

    fn open_session(&self) -> Response {
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.secret);
        (StatusCode::SEE_OTHER, [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)])
            .into_response()
    }
}

/// Runs in front of everything.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let most = most_bytes(request.uri().path());
    let offered =
        request.uri().query().and_then(|query| query.split('&').find_map(|part| part.strip_prefix("token=")));
    let mut response = if !guard.is_our_host(headers) || !guard.is_our_origin(headers) {
        let hint = "open the address that was printed at the start";
        refuse(
            StatusCode::FORBIDDEN,
            &Problem::new(ProblemCode::InvalidRequest, "this request comes from elsewhere", hint),
        )
    } else if announced_bytes(headers) > most {
        let hint = "send less at once";
        let message = format!("a request may have {} MiB at most", most / 1024 / 1024);
        refuse(StatusCode::PAYLOAD_TOO_LARGE, &Problem::new(ProblemCode::InvalidRequest, message, hint))
    } else if guard.has_session(headers) || guard.is_call(&request) {
        next.run(request).await
    } else if offered.is_some_and(|token| guard.spend(token)) {
        guard.open_session()
    } else {
        let hint = "the link works once; end the program and start it again for a new one";
        let problem = Problem::new(ProblemCode::InvalidRequest, "this browser has no session here", hint);
        refuse(StatusCode::UNAUTHORIZED, &problem)
    };
    harden(response.headers_mut());
    response
}

/// What a request says of its own length; one that says nothing is cut off while it is read.
fn announced_bytes(headers: &HeaderMap) -> usize {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

fn harden(headers: &mut HeaderMap<HeaderValue>) {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                  connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Compares without telling by its duration how much was right.
fn same(left: &str, right: &str) -> bool {
    left.len() == right.len() && left.bytes().zip(right.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

fn random_word() -> Result<String, Problem> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Problem::new(ProblemCode::Infrastructure, format!("no randomness for a token: {error}"), "try again")
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
