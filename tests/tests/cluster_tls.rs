//! The cluster behind TLS: who is trusted, and what is said of who is not.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use runeglass_tests::{
    repository, run, runeglass,
    servers::{Identity, RabbitMq, Redis, signal},
};

fn openssl(folder: &Path, arguments: &[&str]) {
    let made = run(Command::new("openssl").current_dir(folder).args(arguments));
    assert_eq!(made.code, Some(0), "openssl {arguments:?}: {}", made.stderr);
}

/// Somebody who signs, in `ca.pem`, and the identity of a server that goes by this name.
fn signed(folder: &Path, name: &str) -> Identity {
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let signer = ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Signer", "-days", "2"];
    openssl(folder, &[&signer[..], &curve[..]].concat());
    let request = ["req", "-keyout", "server.key", "-out", "server.req", "-subj", "/CN=Server"];
    openssl(folder, &[&request[..], &curve[..]].concat());
    fs::write(folder.join("names"), format!("subjectAltName={name}\n")).expect("written");
    openssl(
        folder,
        &[
            "x509",
            "-req",
            "-in",
            "server.req",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            "names",
            "-out",
            "server.pem",
        ],
    );
    Identity { certificate: folder.join("server.pem"), key: folder.join("server.key") }
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn on_cluster(arguments: &[&str], amqp: &str, redis: &str, trusted: Option<&Path>) -> Command {
    let mut made = runeglass();
    made.current_dir(repository()).args(arguments).args(["--amqp", amqp, "--redis", redis]);
    match trusted {
        Some(trusted) => made.env("SSL_CERT_FILE", trusted),
        None => made.env_remove("SSL_CERT_FILE"),
    };
    made
}

#[test]
fn work_is_done_behind_tls() {
    let folder = tempfile::tempdir().expect("a folder");
    let identity = signed(folder.path(), "IP:127.0.0.1");
    let (rabbit, redis) = (RabbitMq::start_with_tls(&identity), Redis::start_with_tls(&identity));
    assert!(rabbit.url.starts_with("amqps://") && redis.url.starts_with("rediss://"));
    let trusted = folder.path().join("ca.pem");
    let mut worker = on_cluster(&["worker"], &rabbit.url, &redis.url, Some(&trusted));
    let worker = Ended(worker.stderr(Stdio::null()).spawn().expect("it starts"));
    let hello = &["run", "workflows/hello.json", "--json"];
    let ran = run(&mut on_cluster(hello, &rabbit.url, &redis.url, Some(&trusted)));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.last_json()["status"], "completed");
    signal("-INT", &worker.0.id().to_string());

    let plain = run(&mut on_cluster(&["worker", "--wait", "0"], &rabbit.url, &redis.url, None));
    refused("a signer that nobody trusts", &plain, "Redis");
}

#[test]
fn a_server_of_another_name_is_refused_with_a_clear_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let identity = signed(folder.path(), "DNS:elsewhere.example");
    let (rabbit, redis) = (RabbitMq::start_with_tls(&identity), Redis::start_with_tls(&identity));
    let plain_redis = format!("redis://127.0.0.1:{}", redis.port);
    let trusted = folder.path().join("ca.pem");
    let worker = &["worker", "--wait", "0"];
    let by_redis = run(&mut on_cluster(worker, &rabbit.url, &redis.url, Some(&trusted)));
    refused("another name", &by_redis, "Redis");
    let by_broker = run(&mut on_cluster(worker, &rabbit.url, &plain_redis, Some(&trusted)));
    refused("another name", &by_broker, "RabbitMQ");
}

/// One sentence that names the server and the certificate, and what can be done.
fn refused(why: &str, ran: &runeglass_tests::Ran, server: &str) {
    assert_eq!(ran.code, Some(3), "{why}: {}", ran.stderr);
    let said = ran.stderr.lines().find(|line| line.contains("certificate")).unwrap_or_default();
    assert!(said.contains(server), "{why}: {}", ran.stderr);
    assert!(ran.stderr.contains("SSL_CERT_FILE"), "{why}: {}", ran.stderr);
}
