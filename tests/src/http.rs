//! Just enough of an HTTP client to say things a browser never would.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Sends a request exactly as given; the answer is read to its end.
pub fn send(port: u16, request: &str) -> Answer {
    send_bytes(port, request.as_bytes())
}

fn send_bytes(port: u16, request: &[u8]) -> Answer {
    let mut stream = connect(port);
    stream.write_all(request).expect("the request is sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("the answer is read");
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let header =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    Answer {
        status: status.expect("a status"),
        headers: lines.filter_map(header).collect(),
        body: body.to_owned(),
    }
}

pub fn get(port: u16, path: &str, headers: &str) -> Answer {
    send(
        port,
        &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}\r\n"),
    )
}

pub fn post(port: u16, path: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let head = "Connection: close\r\nContent-Type: application/json";
    send(
        port,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{head}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ),
    )
}

/// Bytes as they are, such as a file that somebody drops.
pub fn upload(port: u16, path: &str, headers: &str, bytes: &[u8]) -> Answer {
    let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close");
    let kind = "Content-Type: application/octet-stream";
    let head = format!("{head}\r\n{kind}\r\nContent-Length: {}\r\n{headers}\r\n", bytes.len());
    send_bytes(port, &[head.as_bytes(), bytes].concat())
}

/// The data of server-sent events, one by one. Returns once the server has begun to tell: nothing that happens afterwards
/// is missed.
pub fn events(port: u16, path: &str, headers: &str) -> impl Iterator<Item = String> + use<> {
    let mut stream = connect(port);
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).expect("the request is sent");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.by_ref().find(String::is_empty).expect("the server answers");
    lines.filter_map(|line| line.strip_prefix("data: ").map(str::to_owned))
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit can be set");
    stream
}
