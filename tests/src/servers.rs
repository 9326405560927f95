//! Private RabbitMQ and Redis servers on free loopback ports, from Debian's packages, ended with the test.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

pub struct Redis {
    server: Ended,
    pub url: String,
    pub port: u16,
    settings: Vec<String>,
    folder: tempfile::TempDir,
}

/// What servers show to prove who they are.
pub struct Identity {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

pub struct RabbitMq {
    // In this order: the broker goes before the port mapper it talks to.
    broker: Broker,
    _port_mapper: Ended,
    pub url: String,
    pub port: u16,
    places: Places,
    folder: tempfile::TempDir,
}

/// The ports of a broker besides the one for clients.
#[derive(Clone, Copy)]
struct Places {
    distribution: u16,
    mapper: u16,
}

/// What is started is a script; the broker itself is the process whose id it writes down.
struct Broker {
    script: Ended,
    pid_file: PathBuf,
}

impl Broker {
    fn end(&mut self) {
        if let Ok(pid) = fs::read_to_string(&self.pid_file) {
            signal("-9", pid.trim());
        }
        drop(self.script.0.wait());
        drop(fs::remove_file(&self.pid_file));
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends a signal to a process that we have started. It may have ended by itself; then there is nothing to do.
pub fn signal(name: &str, process: &str) {
    drop(Command::new("kill").args([name, process]).stderr(Stdio::null()).status());
}

/// A child process that does not outlive its owner.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Tries per server start; each waits a tenth of a second.
const PATIENCE: u32 = 3_000;

impl Redis {
    /// Keeps nothing on disk.
    pub fn start() -> Self {
        Self::with(&["--appendonly", "no"])
    }

    /// Keeps what is written.
    pub fn start_durable() -> Self {
        Self::with(&["--appendonly", "yes"])
    }

    /// Speaks TLS on a port of its own; `url` is the one for that.
    pub fn start_with_tls(identity: &Identity) -> Self {
        let port = free_port();
        let (certificate, key) = (identity.certificate.display(), identity.key.display());
        let redis = Self::with(&[
            "--tls-port",
            &port.to_string(),
            "--tls-cert-file",
            &certificate.to_string(),
            "--tls-key-file",
            &key.to_string(),
            "--tls-auth-clients",
            "no",
        ]);
        Self { url: format!("rediss://127.0.0.1:{port}"), ..redis }
    }

    fn with(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = free_port();
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let server = keep_store(folder.path(), port, &settings);
        Self { server, url: format!("redis://127.0.0.1:{port}"), port, settings, folder }
    }

    pub fn process(&self) -> u32 {
        self.server.0.id()
    }

    /// Ends the server with SIGKILL, and starts it again on what it has kept.
    pub fn crash(&mut self) {
        self.stop();
        self.start_again();
    }

    /// Ends the server with SIGKILL.
    pub fn stop(&mut self) {
        drop(self.server.0.kill());
        drop(self.server.0.wait());
    }

    pub fn start_again(&mut self) {
        self.server = keep_store(self.folder.path(), self.port, &self.settings);
    }
}

/// Redis, or what `RUNEGLASS_REDIS_SERVER` names in its place, such as Valkey.
fn keep_store(folder: &Path, port: u16, settings: &[String]) -> Ended {
    let program = std::env::var_os("RUNEGLASS_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
    let server = Command::new(program)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
        .arg(folder)
        .args(settings)
        .stdout(log(folder))
        .spawn()
        .expect("redis-server starts; `.make/packages test` installs it");
    let server = Ended(server);
    wait("Redis", port, b"PING\r\n", b"+PONG");
    server
}

impl RabbitMq {
    pub fn start() -> Self {
        Self::with("")
    }

    /// Speaks TLS on a port of its own; `url` is the one for that.
    pub fn start_with_tls(identity: &Identity) -> Self {
        let port = free_port();
        let (certificate, key) = (identity.certificate.display(), identity.key.display());
        let rabbit = Self::with(&format!(
            "listeners.ssl.1 = 127.0.0.1:{port}\nssl_options.certfile = {certificate}\nssl_options.keyfile = {key}\n\
             ssl_options.verify = verify_none\nssl_options.fail_if_no_peer_cert = false\n"
        ));
        Self { url: format!("amqps://guest:guest@127.0.0.1:{port}/%2f"), ..rabbit }
    }

    fn with(more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path();
        let (port, places) = (free_port(), Places { distribution: free_port(), mapper: free_port() });
        fs::write(home.join("env"), "").expect("written");
        fs::write(home.join("plugins"), "[].").expect("written");
        let settings = format!(
            "listeners.tcp.1 = 127.0.0.1:{port}\nvm_memory_high_watermark.absolute = 512MB\ndisk_free_limit.absolute = 50MB\n{more}"
        );
        fs::write(home.join("rabbitmq.conf"), settings).expect("written");
        let port_mapper = Command::new("epmd")
            .args(["-port", &places.mapper.to_string(), "-address", "127.0.0.1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("epmd starts; `.make/packages test` installs it");
        let port_mapper = Ended(port_mapper);
        // Before the broker looks for it, or the broker would start one that outlives us.
        wait("epmd", places.mapper, b"", b"");
        Self {
            broker: Broker { script: launch(home, port, places), pid_file: home.join("pid") },
            _port_mapper: port_mapper,
            url: format!("amqp://guest:guest@127.0.0.1:{port}/%2f"),
            port,
            places,
            folder,
        }
    }

    /// What an administrator's tool says.
    pub fn control(&self, arguments: &[&str]) -> String {
        let home = self.folder.path();
        let said = Command::new("/usr/lib/rabbitmq/bin/rabbitmqctl")
            .current_dir(home)
            .env("HOME", home)
            .env("RABBITMQ_NODENAME", format!("t{}@localhost", self.port))
            .env("ERL_EPMD_PORT", self.places.mapper.to_string())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_CONF_ENV_FILE", home.join("env"))
            .arg("--quiet")
            .args(arguments.first().filter(|word| word.starts_with("list")).map(|_| "--no-table-headers"))
            .args(arguments)
            .output()
            .expect("rabbitmqctl starts");
        assert!(said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).expect("text")
    }

    /// Ends the broker as a power failure would, and starts it again on what it has kept.
    pub fn crash(&mut self) {
        self.stop();
        self.start_again();
    }

    pub fn stop(&mut self) {
        self.broker.end();
    }

    pub fn start_again(&mut self) {
        self.broker.script = launch(self.folder.path(), self.port, self.places);
    }
}

fn launch(home: &Path, port: u16, places: Places) -> Ended {
    let server = Command::new("/usr/lib/rabbitmq/bin/rabbitmq-server")
        .current_dir(home)
        .env("HOME", home)
        .env("RABBITMQ_NODENAME", format!("t{port}@localhost"))
        .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
        .env("RABBITMQ_NODE_PORT", port.to_string())
        .env("RABBITMQ_DIST_PORT", places.distribution.to_string())
        .env("ERL_EPMD_PORT", places.mapper.to_string())
        .env("ERL_EPMD_ADDRESS", "127.0.0.1")
        .env("RABBITMQ_MNESIA_BASE", home.join("data"))
        .env("RABBITMQ_LOG_BASE", home.join("log"))
        .env("RABBITMQ_PID_FILE", home.join("pid"))
        .env("RABBITMQ_CONF_ENV_FILE", home.join("env"))
        .env("RABBITMQ_CONFIG_FILE", home.join("rabbitmq"))
        .env("RABBITMQ_ENABLED_PLUGINS_FILE", home.join("plugins"))
        .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "+sbwt none")
        .stdout(log(home))
        .stderr(Stdio::null())
        .spawn()
        .expect("rabbitmq-server starts; `.make/packages test` installs it");
    let server = Ended(server);
    wait("RabbitMQ", port, b"AMQP\0\0\x09\x01", b"\x01");
    server
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its number").port()
}

fn log(folder: &Path) -> Stdio {
    fs::File::create(folder.join("server.log")).expect("a log file").into()
}

/// Another process decides when it is ready, so it is asked until it answers.
fn wait(name: &str, port: u16, greeting: &[u8], answer: &[u8]) {
    for _ in 0..PATIENCE {
        if answers(port, greeting, answer) {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("{name} did not answer on port {port}");
}

fn answers(port: u16, greeting: &[u8], answer: &[u8]) -> bool {
    let mut found = vec![0; answer.len()];
    let ask = || -> std::io::Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(greeting)?;
        stream.read_exact(&mut found)
    };
    let mut ask = ask;
    ask().is_ok() && found == answer
}
