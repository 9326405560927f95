//! A web host of ours in a process of its own, and the way into it.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use serde_json::{Value, json};

use crate::http::{events, get, post};

/// Ended with the test.
pub struct Host {
    child: Child,
    port: u16,
    /// The header that opens the door.
    session: String,
}

impl Host {
    /// Starts a command that prints its link, and spends the link.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut said = BufReader::new(child.stdout.take().expect("it speaks"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says where it is");
        let place = line.trim().split("http://127.0.0.1:").nth(1);
        let place = place.unwrap_or_else(|| panic!("no address in {line:?}"));
        let (port, token) = place.split_once("/?token=").expect("a port and a token");
        let port = port.parse().expect("a port");
        // Whatever it prints later must not block it.
        thread::spawn(move || drop(said.read_to_end(&mut Vec::new())));
        let answer = get(port, &format!("/?token={token}"), "");
        let cookie = answer.header("set-cookie").expect("a cookie").split(';').next().expect("a value");
        let session = format!("Cookie: {cookie}\r\n");
        Self { child, port, session }
    }

    pub fn ask(&self, request: &Value) -> (u16, Value) {
        let answer = post(self.port, "/api/call", &self.session, &request.to_string());
        (answer.status, serde_json::from_str(&answer.body).expect("JSON"))
    }

    pub fn snapshot(&self) -> Value {
        self.ask(&json!({"type": "snapshot"})).1["data"].clone()
    }

    /// Updates as they come, of all that happens from now on.
    pub fn listen(&self) -> mpsc::Receiver<Value> {
        let (sender, receiver) = mpsc::sync_channel(1_000);
        let news = events(self.port, "/api/updates", &self.session);
        thread::spawn(move || {
            for batch in news {
                let batch: Vec<Value> = serde_json::from_str(&batch).expect("JSON");
                if batch.into_iter().any(|update| sender.send(update).is_err()) {
                    return;
                }
            }
        });
        receiver
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
