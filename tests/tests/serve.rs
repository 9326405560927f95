//! The web host lets in the browser that was given the link, and nobody else.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use runeglass_tests::{
    http::{self, Answer, get, post, send, upload},
    repository, run, runeglass,
};
use serde_json::{Value, json};

struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Server {
    fn start(workflows: &Path, store: &Path) -> Self {
        Self::start_with(workflows, store, &[])
    }

    fn start_with(workflows: &Path, store: &Path, options: &[&str]) -> Self {
        let mut child = runeglass()
            .arg("serve")
            .arg(workflows)
            .arg("--store")
            .arg(store)
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it says where it is");
        let url =
            line.split("http://127.0.0.1:").nth(1).unwrap_or_else(|| panic!("no address in {line:?}")).trim();
        let (port, token) = url.split_once("/?token=").expect("port and token");
        let server = Self { child, port: port.parse().expect("a port"), token: token.to_owned() };
        // Whatever it prints later must not block it.
        thread::spawn(move || drop(stdout.read_to_end(&mut Vec::new())));
        server
    }

    /// Spends the link; gives the header that opens the door from then on.
    fn enter(&self) -> String {
        let answer = get(self.port, &format!("/?token={}", self.token), "");
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
        let cookie = answer.header("set-cookie").expect("a cookie");
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        format!("Cookie: {}\r\n", cookie.split(';').next().expect("a value"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }
}

#[test]
fn only_the_holder_of_the_link_gets_in() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&repository().join("workflows"), &folder.path().join("store.db"));
    let port = server.port;
    for (path, headers) in [
        ("/", ""),
        ("/index.html", ""),
        ("/api/updates", ""),
        ("/?token=wrong", ""),
        ("/", "Cookie: runeglass=1\r\n"),
    ] {
        assert_eq!(get(port, path, headers).status, 401, "{path} {headers}");
    }
    assert_eq!(post(port, "/api/call", "", "{\"type\":\"snapshot\"}").status, 401);

    let cookie = server.enter();
    assert_eq!(get(port, &format!("/?token={}", server.token), "").status, 401, "the link works once");
    let page = get(port, "/", &cookie);
    assert_eq!(page.status, 200);
    assert!(
        page.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'"))
    );
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));

    for foreign in ["Origin: https://evil.example\r\n", "Origin: null\r\n"] {
        let headers = format!("{cookie}{foreign}");
        assert_eq!(post(port, "/api/call", &headers, "{\"type\":\"snapshot\"}").status, 403, "{foreign}");
    }
    let rebound = format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n{cookie}\r\n");
    assert_eq!(send(port, &rebound).status, 403);
    let ours = format!("{cookie}Origin: http://127.0.0.1:{port}\r\n");
    assert_eq!(post(port, "/api/call", &ours, "{\"type\":\"snapshot\"}").status, 200);
}

#[test]
fn it_listens_on_the_loopback_address_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&repository().join("workflows"), &folder.path().join("store.db"));
    let listening = fs::read_to_string("/proc/net/tcp").expect("the list of sockets");
    let port = format!(":{:04X}", server.port);
    let ours: Vec<&str> = listening
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|local| local.ends_with(&port))
        .collect();
    assert!(!ours.is_empty() && ours.iter().all(|local| local.starts_with("0100007F")), "{ours:?}");
}

/// Says that more will come than a request may have; it is refused before anything of it is sent.
fn announce(port: u16, path: &str, headers: &str) -> Answer {
    let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close");
    send(
        port,
        &format!("{head}\r\nContent-Type: application/json\r\nContent-Length: 11534336\r\n{headers}\r\n"),
    )
}

#[test]
fn bad_requests_are_answered_with_a_problem() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&repository().join("workflows"), &folder.path().join("store.db"));
    let cookie = server.enter();
    for (body, status) in [
        ("{", 400),
        ("{\"type\":\"dance\"}", 422),
        ("{\"type\":\"run\"}", 422),
        ("{\"type\":\"run\",\"path\":\"../Cargo.toml\"}", 404),
        ("{\"type\":\"run\",\"path\":\"/etc/passwd\"}", 404),
        ("{\"type\":\"run\",\"path\":\"\"}", 404),
        ("{\"type\":\"execution\",\"execution_id\":\"nobody\"}", 404),
        ("{\"type\":\"cancel\",\"execution_id\":\"nobody\"}", 404),
    ] {
        let answer = post(server.port, "/api/call", &cookie, body);
        let problem: Value =
            serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{body}: {}", answer.body));
        assert_eq!(answer.status, status, "{body}: {problem}");
        assert!(problem["message"].is_string() && problem["hint"].is_string(), "{body}: {problem}");
    }
    assert_eq!(announce(server.port, "/api/call", &cookie).status, 413);
}

#[test]
fn a_run_is_heard_live_and_can_be_looked_into() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&repository().join("workflows"), &folder.path().join("store.db"));
    let cookie = server.enter();
    let ask = |request: Value| {
        let answer = post(server.port, "/api/call", &cookie, &request.to_string());
        assert_eq!(answer.status, 200, "{request}: {}", answer.body);
        serde_json::from_str::<Value>(&answer.body).expect("JSON")["data"].clone()
    };
    for _ in 0..10 {
        let id = ask(json!({"type": "run", "path": "hello.json"}))["execution_id"].clone();
        assert_eq!(ask(json!({"type": "execution", "execution_id": id}))["summary"]["title"], "Hello, glass");
    }
    let mut updates = http::events(server.port, "/api/updates", &cookie);
    let id =
        ask(json!({"type": "run", "path": "hello.json", "input": {"name": "Ada"}}))["execution_id"].clone();
    let mut states = Vec::new();
    loop {
        let list: Value = serde_json::from_str(&updates.next().expect("news")).expect("JSON");
        for update in
            list.as_array().expect("a list").iter().filter(|update| update["data"]["execution_id"] == id)
        {
            let patch = &update["data"];
            states.extend(patch["nodes"]["fetch"]["state"].as_str().map(str::to_owned));
        }
        let ended = |update: &Value| {
            update["data"]["execution_id"] == id && update["data"]["summary"]["phase"] == "completed"
        };
        if list.as_array().is_some_and(|list| list.iter().any(ended)) {
            break;
        }
    }
    assert!(
        states.contains(&"running".to_owned()) && states.last().is_some_and(|last| last == "success"),
        "{states:?}"
    );
    let view = ask(json!({"type": "execution", "execution_id": id}));
    assert_eq!(view["nodes"]["say"]["state"], "success");
    let detail = ask(json!({"type": "node_detail", "execution_id": id, "node_id": "say"}));
    let firing = &detail["firings"][0];
    assert_eq!(firing["parameters"]["data"]["json"]["message"], "Good morning, Ada!");
    assert_eq!(firing["input"]["data"]["json"]["$fetch"]["greeting"], "Good morning");
    assert_eq!(firing["output"]["data"]["json"]["level"], "info");
}

#[test]
fn a_saved_file_is_heard_of_and_links_out_are_not_followed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let workflows = folder.path().join("workflows");
    fs::create_dir(&workflows).expect("made");
    fs::copy(repository().join("workflows/hello.json"), workflows.join("hello.json")).expect("copied");
    let outside = folder.path().join("outside.json");
    fs::copy(repository().join("workflows/review.json"), &outside).expect("copied");
    std::os::unix::fs::symlink(&outside, workflows.join("link.json")).expect("linked");
    let server = Server::start(&workflows, &folder.path().join("store.db"));
    let cookie = server.enter();
    let ask = |request: &str| post(server.port, "/api/call", &cookie, request);
    let snapshot: Value = serde_json::from_str(&ask("{\"type\":\"snapshot\"}").body).expect("JSON");
    let entries = snapshot["data"]["workflows"].as_array().expect("a list");
    assert_eq!(entries.len(), 2);
    assert!(
        entries[1]["definition"].is_null() && entries[1].to_string().contains("not followed"),
        "{}",
        entries[1]
    );
    assert_eq!(ask("{\"type\":\"run\",\"path\":\"link.json\"}").status, 404);

    let (heard, hears) = std::sync::mpsc::sync_channel(16);
    let mut updates = http::events(server.port, "/api/updates", &cookie);
    thread::spawn(move || updates.try_for_each(|news| heard.send(news)));
    let broken = fs::read_to_string(workflows.join("hello.json"))
        .expect("text")
        .replace("\"simulate\"", "\"simulte\"");
    fs::write(workflows.join("hello.json"), broken).expect("saved");
    let saved = std::iter::from_fn(|| hears.recv_timeout(Duration::from_secs(120)).ok())
        .find(|news| news.contains("\"type\":\"workflows\""))
        .expect("the change is heard of");
    assert!(saved.contains("UNKNOWN_KIND") && saved.contains("did you mean simulate"), "{saved}");
}

/// A folder of workflows with webhooks, and the host that listens for them.
fn hooked(options: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let workflows = folder.path().join("workflows");
    fs::create_dir(&workflows).expect("made");
    let hook = |path: &str, node: Value| {
        let workflow = json!({
            "nodes": [
                node,
                {"id": "hand", "type": "trigger"},
                {"id": "say", "type": "log", "parameters": {"message": "$trigger"}},
                {"id": "other", "type": "log", "parameters": {"message": "by hand"}}
            ],
            "edges": [{"id": "1", "src": "hook", "dst": "say"}, {"id": "2", "src": "hand", "dst": "other"}]
        });
        fs::write(workflows.join(path), workflow.to_string()).expect("written");
    };
    hook("guid.json", json!({"id": "hook", "type": "webhook", "webhook_guid": "7d0e-11"}));
    let path = json!({"path": "/orders/new order"});
    hook("path.json", json!({"id": "hook", "type": "webhookTrigger", "parameters": path}));
    for file in ["twin-a.json", "twin-b.json"] {
        hook(file, json!({"id": "hook", "type": "webhook", "webhook_guid": "twin"}));
    }
    let marked = json!({"id": "hook", "type": "webhook", "webhook_guid": "broken", "error": {"type": "branch", "error_edge": "9"}});
    hook("broken.json", marked);
    let server = Server::start_with(&workflows, &folder.path().join("store.db"), options);
    (folder, server)
}

#[test]
fn a_program_starts_a_workflow_by_its_webhook() {
    let (_folder, server) = hooked(&["--triggers"]);
    let cookie = server.enter();
    let mut updates = http::events(server.port, "/api/updates", &cookie);
    for (path, body, said) in [
        ("/hooks/7d0e-11", "{\"name\": \"Ada\"}", "{\"name\":\"Ada\"}"),
        ("/hooks/7d0e-11", "[1, 2]", "[1,2]"),
        ("/hooks/orders/new%20order", "", "{}"),
    ] {
        let answer = post(server.port, path, "", body);
        assert_eq!(answer.status, 202, "{path}: {}", answer.body);
        let id = serde_json::from_str::<Value>(&answer.body).expect("JSON")["execution_id"].clone();
        let completed = |news: &String| {
            let list: Value = serde_json::from_str(news).expect("JSON");
            list.as_array().expect("a list").iter().any(|update| {
                update["data"]["execution_id"] == id && update["data"]["summary"]["phase"] == "completed"
            })
        };
        assert!(updates.any(|news| completed(&news)), "{path} completes");
        let request = json!({"type": "execution", "execution_id": id}).to_string();
        let view: Value =
            serde_json::from_str(&post(server.port, "/api/call", &cookie, &request).body).expect("JSON");
        let nodes = &view["data"]["nodes"];
        assert_eq!(nodes["say"]["state"], "success", "{view}");
        for node in ["hand", "other"] {
            assert_eq!(nodes[node]["state"], "skipped", "only the webhook starts: {view}");
        }
        let request = json!({"type": "node_detail", "execution_id": id, "node_id": "say"}).to_string();
        let detail: Value =
            serde_json::from_str(&post(server.port, "/api/call", &cookie, &request).body).expect("JSON");
        assert_eq!(detail["data"]["firings"][0]["output"]["data"]["json"]["message"], said, "{detail}");
    }
}

#[test]
fn a_call_that_cannot_be_served_is_told_why_and_a_web_page_cannot_call() {
    let (_folder, server) = hooked(&["--triggers"]);
    let port = server.port;
    for (path, body, status, words) in [
        ("/hooks/7d0e-11", "{\"name\":", 400, vec!["not JSON"]),
        ("/hooks/nobody", "", 404, vec!["no such webhook"]),
        ("/hooks/twin", "", 409, vec!["twin-a.json", "twin-b.json"]),
        ("/hooks/broken", "", 422, vec!["broken.json cannot run", "error_edge"]),
    ] {
        let answer = post(port, path, "", body);
        let problem: Value =
            serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{path}: {}", answer.body));
        assert_eq!(answer.status, status, "{path}: {problem}");
        assert!(words.iter().all(|word| answer.body.contains(word)), "{path}: {problem}");
        assert!(
            ["code", "message", "hint"].iter().all(|field| problem[field].is_string()),
            "{path}: {problem}"
        );
        if status == 404 {
            assert!(!answer.body.contains(".json") && !answer.body.contains("twin"), "{problem}");
        }
    }
    for foreign in ["Origin: https://evil.example\r\n", "Origin: null\r\n"] {
        assert_eq!(post(port, "/hooks/7d0e-11", foreign, "{}").status, 403, "{foreign}");
    }
    let rebound = "POST /hooks/7d0e-11 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(send(port, rebound).status, 403);
    let ours = format!("Origin: http://127.0.0.1:{port}\r\n");
    assert_eq!(post(port, "/hooks/7d0e-11", &ours, "{}").status, 202);
    assert_eq!(announce(port, "/hooks/7d0e-11", "").status, 413);
    assert_eq!(get(port, "/hooks/7d0e-11", "").status, 401);
    assert_eq!(
        post(port, "/api/call", "", "{\"type\":\"snapshot\"}").status,
        401,
        "the other doors stay shut"
    );
}

#[test]
fn nothing_starts_by_a_trigger_unless_asked_for() {
    let (_folder, server) = hooked(&[]);
    assert_eq!(post(server.port, "/hooks/7d0e-11", "", "{}").status, 401);
    assert_ne!(post(server.port, "/hooks/7d0e-11", &server.enter(), "{}").status, 202);
}

#[test]
fn a_dropped_recording_is_taken_in_and_can_be_asked_about() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (runs, case) = (path("runs.db"), path("case.runeglass"));
    let sample = repository().join("workflows/review.json").display().to_string();
    let ran = run(runeglass().args(["run", &sample, "--json", "--virtual-time", "--store", &runs]));
    let id = ran.last_json()["execution_id"].as_str().expect("an id").to_owned();
    assert_eq!(run(runeglass().args(["export", &id, "--store", &runs, "-o", &case])).code, Some(0));
    let bytes = fs::read(&case).expect("the case");

    let server = Server::start(&repository().join("workflows"), &folder.path().join("store.db"));
    assert_eq!(upload(server.port, "/api/import", "", &bytes).status, 401, "not without a session");
    let cookie = server.enter();
    let foreign = format!("{cookie}Origin: https://evil.example\r\n");
    assert_eq!(upload(server.port, "/api/import", &foreign, &bytes).status, 403, "not for another page");
    assert_eq!(upload(server.port, "/api/import", &cookie, b"no recording").status, 409);
    let taken = upload(server.port, "/api/import", &cookie, &bytes);
    assert_eq!(taken.status, 200, "{}", taken.body);
    let started: Value = serde_json::from_str(&taken.body).expect("JSON");
    assert_eq!(started["data"]["execution_id"], json!(id));
    let again = upload(server.port, "/api/import", &cookie, &bytes);
    assert_eq!((again.status, again.body), (200, taken.body), "it is there, and shown");

    let ask = |request: Value| {
        let answer = post(server.port, "/api/call", &cookie, &request.to_string());
        assert_eq!(answer.status, 200, "{request}: {}", answer.body);
        serde_json::from_str::<Value>(&answer.body).expect("JSON")["data"].clone()
    };
    let whole = ask(json!({"type": "explain", "execution_id": id}));
    assert!(whole["critical_path"].as_array().is_some_and(|path| !path.is_empty()), "{whole}");
    assert!(whole["spent"][0]["node_id"].is_string() && whole["node"].is_null(), "{whole}");
    let early = ask(json!({"type": "explain", "execution_id": id, "at": 1}));
    assert_eq!(early["critical_path"], json!([]), "nothing had run after the first event");

    let start = ask(json!({"type": "fork_point", "execution_id": id, "position": 1}));
    assert_eq!((&start["place"]["type"], &start["node_id"]), (&json!("input"), &Value::Null));
    let leg = &whole["critical_path"][0];
    let begun = ask(json!({"type": "fork_point", "execution_id": id, "position": leg["position"]}));
    assert_eq!((&begun["place"]["type"], &begun["node_id"]), (&json!("context"), &leg["node_id"]));
    assert!(begun["place"]["data"]["data"]["json"]["$trigger"].is_object(), "{begun}");
    let detail = ask(json!({"type": "node_detail", "execution_id": id, "node_id": leg["node_id"]}));
    let firing = &detail["firings"][0];
    assert_eq!(firing["start_position"], leg["position"]);
    let ended = ask(json!({"type": "fork_point", "execution_id": id, "position": firing["end_position"]}));
    assert_eq!(ended["place"]["type"], "output");
    let nowhere = json!({"type": "fork_point", "execution_id": id, "position": 9_999});
    assert_eq!(post(server.port, "/api/call", &cookie, &nowhere.to_string()).status, 404);
}
