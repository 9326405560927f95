//! Looking into a cluster from a terminal: what is said, what is kept, and how it ends.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use runeglass_tests::{
    binary,
    clustered::Servers,
    proxy::Proxy,
    run,
    rune_cluster::{Live, RuneCluster, workflows},
    runeglass,
    watched::{Workers, listeners, until_heard},
};
use serde_json::{Value, json};

/// The Rune services have no prefix: who plays them plays alone.
static THEIRS: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A command under way, and what it says.
struct Attached {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    said: Vec<String>,
}

impl Attached {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines, said: Vec::new() }
    }

    /// Reads until a line says so.
    fn until(&mut self, what: &str) {
        for line in self.lines.by_ref().map_while(Result::ok) {
            let found = line.contains(what);
            self.said.push(line);
            if found {
                return;
            }
        }
        panic!("{what} was not said: {:?}", self.said);
    }

    fn interrupt(&self) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
    }

    /// Reads to the end: how it ended, everything it said, and what it complained about.
    fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        self.said.extend(self.lines.by_ref().map_while(Result::ok));
        let mut complaints = String::new();
        let mut stderr = self.child.stderr.take().expect("piped");
        stderr.read_to_string(&mut complaints).expect("text");
        (self.child.wait().expect("it ends").code(), self.said, complaints)
    }
}

fn attach(servers: &Servers, more: &[&str]) -> Command {
    let mut command = runeglass();
    command.args(["attach", "--amqp", &servers.rabbit.url, "--redis", &servers.redis.url]).args(more);
    command
}

fn scene(servers: &Servers, scene: &str, id: &str) -> Child {
    let mut command = Command::new(binary("rune-scene"));
    command.args([&servers.rabbit.url, &servers.redis.url, scene, id]).stdout(Stdio::null());
    command.spawn().expect("it starts")
}

fn short() -> Value {
    json!({
        "workflow_id": "short",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "say", "type": "log", "parameters": {"message": "done"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "say"}]
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_seen_is_kept_and_an_interrupt_leaves_in_peace() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "cli.").await;
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("seen.db");
    let store = store.to_str().expect("text");
    let options = ["--queue-prefix", "cli.", "--name", "shop", "--record", store];
    let mut attached = Attached::start(&mut attach(&servers, &options));
    attached.until("LIVE shop");
    workers.begin("seen", &short(), json!({})).await;
    attached.until("✓ Watched seen  seen completed");
    assert_eq!(listeners(&servers, "cli.workflows").len(), 1);
    attached.interrupt();
    let (code, said, complaints) = attached.end();
    assert_eq!(code, Some(0), "{complaints}");
    assert!(said.iter().any(|line| line == "· these are workers of Runeglass"), "{said:?}");
    let kept = format!("kept in {store}: `runeglass find --store {store}` lists it");
    assert_eq!(said.last(), Some(&kept), "{said:?}");
    assert_eq!(listeners(&servers, "cli.workflows"), Vec::<String>::new(), "its queue went with it");
    let found = run(runeglass().args(["find", "--store", store]));
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert!(found.stdout.contains("seen"), "{}", found.stdout);

    // Nothing is wrong here: it leaves by itself, and says so with its code.
    let calm = run(&mut attach(&servers, &["--queue-prefix", "cli.", "--for", "2"]));
    assert_eq!(calm.code, Some(0), "{}{}", calm.stdout, calm.stderr);
    assert!(calm.stdout.contains("left: ") && !calm.stdout.contains("kept in"), "{}", calm.stdout);
    workers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_interrupts_twice_does_not_wait_for_a_server_that_is_silent() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "twice.").await;
    let proxy = Proxy::before(servers.rabbit.port).await;
    let mut command = runeglass();
    let amqp = format!("amqp://guest:guest@127.0.0.1:{}/%2f", proxy.port);
    command.args(["attach", "--amqp", &amqp, "--redis", &servers.redis.url, "--queue-prefix", "twice."]);
    let mut attached = Attached::start(&mut command);
    attached.until("these are workers of Runeglass");
    // It says good-bye, and waits for the answer.
    proxy.silence();
    while attached.child.try_wait().expect("asked").is_none() {
        attached.interrupt();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (code, said, complaints) = attached.end();
    assert_eq!(code, Some(3), "{said:?} {complaints}");
    assert!(complaints.contains("left before what was seen last was taken in"), "{complaints}");
    workers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_at_the_end_is_told_by_the_code() {
    let servers = Servers::shared();
    let _alone = THEIRS.lock().await;
    let mut services = scene(&servers, "services", "all");
    let mut attached = Attached::start(&mut attach(&servers, &["--dialect", "rune", "--for", "600"]));
    attached.until("· these are workers of the Rune services");
    until_heard(&servers, "workflows").await;
    let mut stuck = scene(&servers, "stuck-merge", "hangs");
    // What is wrong is told as soon as it is; nobody waits until the time is up.
    while !attached.said.last().is_some_and(|line| line.starts_with("! ") && line.contains("hangs")) {
        attached.until("hangs");
    }
    attached.interrupt();
    let (code, said, complaints) = attached.end();
    services.kill().expect("killed");
    services.wait().expect("ended");
    assert!(stuck.wait().expect("it ends").success());
    assert_eq!(code, Some(1), "{said:?} {complaints}");
    assert!(said.last().is_some_and(|line| line.contains("wrong")), "{said:?}");
}

/// The store lies on a file system of one and a half megabytes.
const FULL: &str = r#"
set -eu
mount -t tmpfs -o size=1536k tmpfs "$DISK"
exec "$RUNEGLASS" attach --amqp "$AMQP" --redis "$REDIS" --dialect rune --name shop --record "$DISK/seen.db"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_ends_it_with_the_reason() {
    let servers = Servers::shared();
    let _alone = THEIRS.lock().await;
    let live = Live::connect(&servers.rabbit.url, &servers.redis.url).await;
    let folder = tempfile::tempdir().expect("a folder");
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).expect("made");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "bash", "-c", FULL]);
    command.env("RUNEGLASS", binary("runeglass")).env("DISK", &disk);
    command.env("AMQP", &servers.rabbit.url).env("REDIS", &servers.redis.url);
    let mut attached = Attached::start(&mut command);
    attached.until("LIVE shop");
    let reading = tokio::task::spawn_blocking(move || attached.end());
    for number in 0.. {
        if reading.is_finished() {
            break;
        }
        live.publish(large(number).published()).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (code, said, complaints) = reading.await.expect("it was read");
    assert_eq!(code, Some(3), "{said:?} {complaints}");
    let reason = "error: what is seen of shop can no longer be kept";
    assert!(complaints.contains(reason) && complaints.contains("the disk is full"), "{complaints}");
    assert!(complaints.contains("hint: make room on the disk"), "{complaints}");
    let all = format!("{said:?} {complaints}");
    assert!(!all.contains("kept in ") && !all.contains("by itself"), "{all}");
}

/// An execution with an answer that cannot be packed well.
fn large(number: u64) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    let mut state = number + 1;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (state >> 58) as u8)
    };
    let text: String = (0..100_000).map(|_| letter()).collect();
    cluster.answer("http://shop/0", 5, Ok(json!({ "text": text })));
    cluster.start(&format!("large-{number}"), &workflows::fan_out(), Some(workflows::items(1)));
    cluster.run();
    cluster
}
