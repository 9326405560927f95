//! Servers that workflows can ask, on private ports of this machine: kind ones, flaky ones, hostile ones.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Redirect, Response},
    routing::any,
};
use serde_json::{Value, json};

/// A web server and what it was asked.
pub struct Web {
    pub port: u16,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Value>>,
    failures: Mutex<BTreeMap<String, usize>>,
}

impl Web {
    pub async fn start() -> Self {
        let seen = Arc::new(Seen::default());
        let app = Router::new()
            .route("/echo", any(echo))
            .route("/status/{code}", any(status))
            .route("/flaky/{times}", any(flaky))
            .route("/loop", any(|| async { Redirect::temporary("/loop") }))
            .route("/endless", any(endless))
            .route("/silence", any(std::future::pending::<()>))
            .route("/bytes", any(|| async { [0xff_u8, 0x00, 0xfe] }))
            .route("/deep", any(|| async { "[".repeat(200) + &"]".repeat(200) }))
            .route("/large-number", any(|| async { r#"{"id": 12345678901234567890123}"# }))
            .route("/elsewhere/{port}", any(elsewhere))
            .with_state(Arc::clone(&seen));
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { port, seen }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What the server was asked, in order: method, path, headers and body.
    pub fn requests(&self) -> Vec<Value> {
        lock(&self.seen.requests).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    fn note(&self, method: &Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> Value {
        let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers: BTreeMap<&str, String> =
            headers.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
        let body = String::from_utf8_lossy(body);
        let request =
            json!({"method": method.as_str(), "path": uri.to_string(), "headers": headers, "body": body});
        lock(&self.requests).push(request.clone());
        request
    }
}

type Shared = State<Arc<Seen>>;

/// Says back everything it heard, secrets too.
async fn echo(State(seen): Shared, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let request = seen.note(&method, &uri, &headers, &body);
    let heard = request["headers"]["authorization"].as_str().unwrap_or("nothing").to_owned();
    ([("x-heard", heard)], axum::Json(request)).into_response()
}

async fn status(Path(code): Path<u16>) -> Response {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_REQUEST);
    (status, format!("you asked for {code}")).into_response()
}

/// Fails so many times, then works.
async fn flaky(
    State(seen): Shared,
    Path(times): Path<usize>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    seen.note(&method, &uri, &headers, &body);
    let failed = {
        let mut failures = lock(&seen.failures);
        let failed = failures.entry(uri.to_string()).or_insert(0);
        *failed += 1;
        *failed
    };
    match failed <= times {
        true => (StatusCode::SERVICE_UNAVAILABLE, "not yet").into_response(),
        false => axum::Json(json!({"after": times})).into_response(),
    }
}

async fn endless() -> Body {
    Body::from_stream(futures::stream::repeat(Ok::<_, std::convert::Infallible>(Bytes::from(vec![
        b'x';
        64 * 1024
    ]))))
}

async fn elsewhere(Path(port): Path<u16>) -> Redirect {
    Redirect::temporary(&format!("http://127.0.0.1:{port}/echo"))
}

/// A mail server that takes everything, or refuses everything with one code.
pub struct MailServer {
    pub port: u16,
    mails: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    pub fn start(answer: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let mails = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&mails);
        // The thread ends with the test process; it holds nothing.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Some(mail) = converse(stream, answer) {
                    lock(&kept).push(mail);
                }
            }
        });
        Self { port, mails }
    }

    pub fn mails(&self) -> Vec<String> {
        lock(&self.mails).clone()
    }
}

/// One conversation; the whole of what was said if a mail was taken.
fn converse(stream: TcpStream, answer: &str) -> Option<String> {
    let mut out = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream).lines();
    let mut said = String::new();
    let mut reply = |text: &str| out.write_all(format!("{text}\r\n").as_bytes()).ok();
    reply("220 ready")?;
    while let Some(Ok(line)) = lines.next() {
        said.push_str(&line);
        said.push('\n');
        match line.split(' ').next().unwrap_or_default().to_uppercase().as_str() {
            "EHLO" => reply("250-here\r\n250 AUTH PLAIN")?,
            "AUTH" => reply("235 welcome")?,
            "MAIL" => reply(answer)?,
            "DATA" => {
                reply("354 go on")?;
                for line in lines.by_ref().map_while(Result::ok) {
                    said.push_str(&line);
                    said.push('\n');
                    if line == "." {
                        break;
                    }
                }
                reply("250 taken")?;
                return Some(said);
            }
            "QUIT" => return None,
            _ => reply("250 fine")?,
        }
    }
    None
}
