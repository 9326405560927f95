//! A planted secret is looked for in everything that a run leaves behind: stores, logs, messages, exports, errors. The
//! server repeats it in every form it can.

use std::{fs, process::Command};

use runeglass_tests::{
    Ran,
    clustered::Servers,
    keyring::with_keyring,
    outside::{MailServer, Web},
    run, runeglass,
};
use serde_json::{Value, json};

const SECRET: &str = "pl4nted/s3cret+w0rd";
/// Plain, as in a URL, as base64, and as base64 behind the user's name.
const FORMS: [&str; 4] = [
    "pl4nted/s3cret+w0rd",
    "pl4nted%2Fs3cret%2Bw0rd",
    "cGw0bnRlZC9zM2NyZXQrdzByZA",
    "YWRhOnBsNG50ZWQvczNjcmV0K3cwcmQ",
];

/// One run with everything switched on that could tell.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(workflow: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("workflow.json"), workflow.to_string()).expect("written");
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, command: &mut Command) -> Ran {
        let arguments = ["run", &self.path("workflow.json"), "--virtual-time", "--json"].map(str::to_owned);
        let kept =
            ["--store", &self.path("store.db"), "--events", &self.path("events.jsonl")].map(str::to_owned);
        let ran = run(command
            .args(arguments)
            .args(kept)
            .env("RUNEGLASS_LOG", "trace")
            .current_dir(self.folder.path()));
        fs::write(self.path("said.txt"), format!("{}{}", ran.stdout, ran.stderr)).expect("written");
        if let Some(id) = ran.stdout.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok())
        {
            let id = id["execution_id"].as_str().expect("an id").to_owned();
            let store = self.path("store.db");
            run(runeglass().args(["export", &id, "--store", &store, "-o", &self.path("case.json")]));
            let letters = run(runeglass().args(["dead-letters", "--store", &store, "--json"]));
            fs::write(self.path("letters.txt"), letters.stdout).expect("written");
        }
        ran
    }

    /// Reads every file that was left, but for those that hold the secret on purpose.
    fn search(&self, but: &[&str]) -> usize {
        let mut bytes = 0;
        for entry in fs::read_dir(self.folder.path()).expect("the folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !but.contains(&name.as_str()) && entry.path().is_file() {
                let content = fs::read(entry.path()).expect("readable");
                bytes += content.len();
                check(&name, &content);
            }
        }
        bytes
    }
}

fn check(name: &str, content: &[u8]) {
    for form in FORMS {
        let found = content.windows(form.len()).any(|window| window == form.as_bytes());
        assert!(!found, "{name} holds the secret as {form}: {}", String::from_utf8_lossy(content));
    }
}

fn asks(web: &Web, credentials: &Value) -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "heard", "type": "http", "credentials": credentials,
             "parameters": {"url": web.url("/echo"), "method": "POST", "body": {"a": 1}}},
            {"id": "repeat", "type": "log", "parameters": {"message": "$heard.body"}},
            {"id": "fails", "type": "http", "credentials": credentials, "error": {"type": "ignore"},
             "parameters": {"url": web.url("/echo"), "raise_on_status": "2xx", "retry": 2}}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "heard"}, {"id": "2", "src": "heard", "dst": "repeat"},
            {"id": "3", "src": "repeat", "dst": "fails"}
        ]
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_from_the_environment_leaves_no_trace() {
    let web = Web::start().await;
    for value in [
        json!({"type": "token", "token": SECRET}),
        json!({"username": "ada", "password": SECRET}),
        json!({"type": "header", "field": "X-Key", "value": SECRET}),
    ] {
        let place = Place::new(&asks(&web, &json!({"ref": "planted"})));
        let ran = place.run(runeglass().env("RUNEGLASS_CREDENTIAL_PLANTED", value.to_string()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let asked = web.requests().last().expect("the server was asked")["headers"].to_string();
        assert!(FORMS.iter().any(|form| asked.contains(form)), "the server heard the secret: {asked}");
        assert!(ran.last_json()["final_context"]["$heard"]["body"].to_string().contains("███"));
        assert!(place.search(&[]) > 10_000, "there was something to search");
    }
    assert_eq!(web.requests().len(), 3 * 4, "each run asks once, and tries three times in vain");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_from_a_file_leaves_no_trace() {
    let web = Web::start().await;
    let mail = MailServer::start("550 s3cret? pl4nted/s3cret+w0rd is not welcome");
    let mut workflow = asks(&web, &json!({"id": 7, "name": "planted", "type": "token"}));
    workflow["nodes"].as_array_mut().expect("nodes").push(json!({
        "id": "mail", "type": "smtp", "credentials": {"ref": "mail"}, "error": {"type": "ignore"},
        "parameters": {"from": "a@example.org", "to": "b@example.org", "subject": "s", "body": "b"}
    }));
    workflow["edges"].as_array_mut().expect("edges").push(json!({"id": "4", "src": "start", "dst": "mail"}));
    let place = Place::new(&workflow);
    let file = place.path("kept.json");
    let set = |name: &str, value: &str| {
        fs::write(place.path("in.txt"), value).expect("written");
        let stdin = fs::File::open(place.path("in.txt")).expect("readable");
        let said = run(runeglass().args(["credentials", "set", name, "--file", &file]).stdin(stdin));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        check("what `set` says", format!("{}{}", said.stdout, said.stderr).as_bytes());
    };
    set("planted", SECRET);
    set(
        "mail",
        &json!({"host": "127.0.0.1", "port": mail.port, "username": "ada", "password": SECRET}).to_string(),
    );
    let listed = run(runeglass().args(["credentials", "list", "--file", &file]));
    assert_eq!(listed.stdout, "mail\nplanted\n");

    let ran = place.run(runeglass().env("RUNEGLASS_CREDENTIALS", &file));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let context = &ran.last_json()["final_context"];
    assert_eq!(context["$mail"]["error"]["code"], "MAIL_REFUSED");
    assert!(
        context["$mail"]["error"]["message"].as_str().is_some_and(|said| said.contains("███")),
        "{context}"
    );
    assert!(place.search(&["kept.json", "in.txt"]) > 10_000, "there was something to search");
    let kept = fs::read_to_string(&file).expect("readable");
    assert!(kept.contains(SECRET), "the search would have found it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_from_the_keyring_signs_a_request() {
    let web = Web::start().await;
    let place = Place::new(&asks(&web, &json!({"ref": "planted"})));
    let script = format!(
        "echo '{SECRET}' | $RUNEGLASS credentials set planted --keyring\n\
         $RUNEGLASS run workflow.json --virtual-time --json --store store.db\n\
         $RUNEGLASS credentials remove planted --keyring > /dev/null\n\
         $RUNEGLASS run workflow.json --virtual-time --json || true"
    );
    let ran = with_keyring(place.folder.path(), &script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(web.requests()[0]["headers"]["authorization"], format!("Bearer {SECRET}"));
    assert_eq!(web.requests().len(), 4, "nothing is asked once the secret is gone");
    let last = ran.last_json();
    assert_eq!(last["error"]["code"], "CREDENTIAL_NOT_FOUND", "{last}");
    check("what it says", ran.stdout.as_bytes());
    place.search(&[]);
}

#[test]
fn a_machine_without_a_keyring_says_so_and_makes_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("in.txt"), SECRET).expect("written");
    let stdin = fs::File::open(folder.path().join("in.txt")).expect("readable");
    let mut command = runeglass();
    command
        .args(["credentials", "set", "planted", "--keyring"])
        .stdin(stdin)
        .env_remove("DBUS_SESSION_BUS_ADDRESS");
    for variable in ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
        command.env(variable, folder.path());
    }
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("no keyring that answers"), "{}", ran.stderr);
    check("the complaint", ran.stderr.as_bytes());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing but the input is there");
}

/// Libraries tell what goes through their connections, byte by byte; that is nothing for a log.
#[test]
fn a_log_of_everything_holds_no_password_of_a_connection() {
    let servers = Servers::shared();
    let password = "pl4nted-s3cret-w0rd";
    let amqp = format!("amqp://nobody:{password}@127.0.0.1:{}/%2f", servers.rabbit.port);
    let redis = format!("redis://nobody:{password}@127.0.0.1:{}", servers.redis.port);
    let mut attach = runeglass();
    attach.args(["attach", "--amqp", &amqp, "--redis", &redis]).env("RUNEGLASS_LOG", "trace,lapin=trace");
    let ran = run(&mut attach);
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    let bytes: Vec<String> = password.bytes().map(|byte| byte.to_string()).collect();
    for form in [password.to_owned(), bytes.join(", ")] {
        assert!(!ran.stderr.contains(&form) && !ran.stdout.contains(&form), "{}", ran.stderr);
    }
}
