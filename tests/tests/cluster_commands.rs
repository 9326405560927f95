//! The cluster from the command line: workers, executions, a master.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Command, Stdio},
    thread,
    time::Duration,
};

use runeglass_tests::{clustered::Servers, repository, run, runeglass, servers::signal};

/// A command that goes on until it is told to stop.
struct Going(Child);

impl Going {
    fn on(command: &mut Command) -> Self {
        Self(command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts"))
    }

    /// As with Ctrl-C; how it ends.
    fn stop(mut self) -> Option<i32> {
        signal("-INT", &self.0.id().to_string());
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A worker that has begun to work, and what it says on stderr.
struct Heard {
    worker: Going,
    stderr: BufReader<ChildStderr>,
}

impl Heard {
    fn working(servers: &Servers, prefix: &str) -> Self {
        let mut command = on_cluster(servers, "worker", &["--stop-wait", "2", "--queue-prefix", prefix]);
        let spawned = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
        let mut worker = Going(spawned.expect("it starts"));
        let mut stderr = BufReader::new(worker.0.stderr.take().expect("it is heard"));
        let mut line = String::new();
        while !line.starts_with("working") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).expect("text"), 0, "it ended before it worked");
        }
        Self { worker, stderr }
    }

    /// As the system ends a service; how it ends, and what it has said.
    fn terminate(mut self) -> (Option<i32>, String) {
        signal("-TERM", &self.worker.0.id().to_string());
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).expect("text");
        (self.worker.0.wait().expect("it ends").code(), said)
    }
}

fn on_cluster(servers: &Servers, command: &str, rest: &[&str]) -> Command {
    let mut made = runeglass();
    made.current_dir(repository()).arg(command).args(rest);
    made.args(["--amqp", &servers.rabbit.url, "--redis", &servers.redis.url]);
    made
}

/// Whether the master has let go of every log, and it is past the end they were given: their clock is moved,
/// instead of waiting until the last who looks has read them.
fn logs_are_gone(servers: &Servers) -> bool {
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut connection = client.get_connection().expect("connects");
    let logs: Vec<String> = redis::cmd("KEYS").arg("*:log").query(&mut connection).expect("keys");
    let mut ends = |log: &String| -> bool {
        let left: i64 = redis::cmd("PTTL").arg(log).query(&mut connection).expect("an end");
        (1..=30_000).contains(&left)
            && redis::cmd("PEXPIREAT").arg(log).arg(1).query(&mut connection).expect("moved")
    };
    logs.iter().all(&mut ends)
}

/// Another process decides when it has done it, so it is asked until it has.
fn until(what: &str, mut reached: impl FnMut() -> bool) {
    for _ in 0..1_800 {
        if reached() {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("{what} did not happen");
}

#[test]
fn workers_run_what_the_command_line_starts_and_a_master_keeps_it() {
    let servers = Servers::start();
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("kept.db");
    let store_name = store.to_str().expect("a name");
    let workers = [0, 1].map(|_| Going::on(&mut on_cluster(&servers, "worker", &[])));
    let master = Going::on(&mut on_cluster(&servers, "master", &["--store", store_name]));

    let ran = run(&mut on_cluster(&servers, "run", &["workflows/hello.json", "--json"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let completion = ran.last_json();
    assert_eq!(completion["status"], "completed");
    let here = run(runeglass().current_dir(repository()).args(["run", "workflows/hello.json", "--json"]));
    assert_eq!(completion["final_context"]["$compose"], here.last_json()["final_context"]["$compose"]);

    let started = run(&mut on_cluster(&servers, "run", &["workflows/patience.json", "--detach"]));
    assert_eq!(started.code, Some(0), "{}", started.stderr);
    let id = started.stdout.trim().to_owned();
    let cancelled = run(&mut on_cluster(&servers, "cancel", &[&id]));
    assert_eq!((cancelled.code, cancelled.stdout.trim()), (Some(0), format!("{id} is halted").as_str()));
    let again = run(&mut on_cluster(&servers, "cancel", &[&id]));
    assert_eq!(again.stdout.trim(), format!("{id} has ended already"));
    let nobody = run(&mut on_cluster(&servers, "cancel", &["nobody"]));
    assert_eq!(nobody.code, Some(3));
    assert!(nobody.stderr.contains("there is no execution nobody"), "{}", nobody.stderr);

    let hello = completion["execution_id"].as_str().expect("an id").to_owned();
    let shows = |id: &str, status: &str| {
        let shown = run(runeglass().args(["replay", id, "--store", store_name, "--json"]));
        shown.code == Some(0) && shown.stdout.contains(&format!("\"phase\":\"{status}\""))
    };
    until("the recordings were kept", || shows(&hello, "completed") && shows(&id, "halted"));
    let verified = run(runeglass().args(["replay", &hello, "--store", store_name, "--verify"]));
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);

    // Their facts are in the store of the master alone, and how they ended is known all the same.
    until("the facts left the servers", || logs_are_gone(&servers));
    let followed = run(&mut on_cluster(&servers, "follow", &[&hello, "--json"]));
    assert_eq!((followed.code, followed.last_json()), (Some(0), completion), "{}", followed.stderr);
    assert_eq!(run(&mut on_cluster(&servers, "follow", &[&id])).code, Some(1), "it was halted");
    let nobody = run(&mut on_cluster(&servers, "follow", &["nobody"]));
    assert_eq!(nobody.code, Some(3));
    assert!(nobody.stderr.contains("there is no execution nobody"), "{}", nobody.stderr);
    let going = run(&mut on_cluster(&servers, "run", &["workflows/hello.json", "--detach"]));
    let followed = run(&mut on_cluster(&servers, "follow", &[going.stdout.trim()]));
    assert_eq!(followed.code, Some(0), "{}", followed.stderr);

    for worker in workers {
        assert_eq!(worker.stop(), Some(0), "a worker finishes what it holds");
    }
    assert_eq!(master.stop(), Some(0));
}

#[test]
fn absent_servers_are_a_clear_message_and_exit_3() {
    let nowhere = ["--amqp", "amqp://127.0.0.1:1/%2f", "--redis", "redis://127.0.0.1:1", "--wait", "1"];
    let ran = run(runeglass().arg("worker").args(nowhere));
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("Redis: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("trying again in 0.5 s"), "{}", ran.stderr);
    assert!(ran.stderr.contains("check the address"), "{}", ran.stderr);
}

#[test]
fn a_worker_whose_servers_are_gone_stops_in_time_and_says_what_it_leaves() {
    let servers = Servers::start();
    let folder = tempfile::tempdir().expect("a folder");
    let slow = folder.path().join("slow.json");
    let definition = r#"{"nodes": [{"id": "start", "type": "trigger"},
        {"id": "work", "type": "simulate", "parameters": {"latency_ms": 3000}}],
        "edges": [{"id": "1", "src": "start", "dst": "work"}]}"#;
    fs::write(&slow, definition).expect("written");
    // Both work before anything is in hand: what takes a while must not be over before the servers are gone.
    let idle = Heard::working(&servers, "idle.");
    let busy = Heard::working(&servers, "");
    let started = run(&mut on_cluster(&servers, "run", &[slow.to_str().expect("a name"), "--detach"]));
    assert_eq!(started.code, Some(0), "{}", started.stderr);
    let id = started.stdout.trim().to_owned();
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut asking = client.get_connection().expect("connects");
    // The message before it is in hand until the broker has confirmed what it led to.
    until("it alone was in hand", || {
        let mut is_there = |what: &str| -> bool {
            redis::cmd("EXISTS").arg(format!("exec:{{{id}}}:{what}")).query(&mut asking).expect("asked")
        };
        is_there("leases") && !is_there("pending")
    });
    drop(servers);

    let (code, said) = busy.terminate();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("finishing what is in hand"), "{said}");
    assert!(said.contains(&format!("1 message in hand left unfinished, of {id}")), "{said}");
    assert!(said.contains("nothing is lost"), "{said}");
    let (code, said) = idle.terminate();
    assert_eq!(code, Some(0), "nothing was in hand: {said}");
}
