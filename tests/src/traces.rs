//! What an observer leaves behind on the servers of a cluster: nothing, which is told by what there is before and after,
//! and by everything that it has asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    process::{Child, ChildStdout, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::{
    clustered::Servers,
    proxy::Proxy,
    runeglass,
    watched::{broker_state, keys, named_by_the_broker},
};

pub type Keys = BTreeMap<String, (Vec<u8>, i64)>;

/// A process that looks, through proxies of its own, so that it is known what it says.
pub struct Onlooker {
    process: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    redis: Proxy,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Onlooker {
    pub async fn start(servers: &Servers) -> Self {
        let asked = monitor(servers.redis.port);
        let redis = Proxy::before(servers.redis.port).await;
        let address = format!("redis://127.0.0.1:{}", redis.port);
        let mut process = runeglass();
        process.args(["attach", "--json", "--amqp", &servers.rabbit.url, "--redis", &address]);
        let mut process = process.stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        Self { process, lines, redis, asked }
    }

    pub fn saw(&mut self, what: &str) {
        let found = self.lines.by_ref().map_while(Result::ok).any(|line| line.contains(what));
        assert!(found, "{what} was not seen");
    }

    /// Ends it without a word, and waits until the broker has noticed.
    pub async fn kill(&mut self, servers: &Servers) {
        self.process.kill().expect("killed");
        self.process.wait().expect("ended");
        for _ in 0..600 {
            if named_by_the_broker(servers).is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("its queue is still there: {:?}", named_by_the_broker(servers));
    }

    /// Waits until it has asked all of these.
    pub async fn has_asked(&self, expected: &[&str]) {
        let is_unasked = |sent: &[String]| expected.iter().any(|word| !sent.iter().any(|sent| sent == word));
        for _ in 0..600 {
            if !is_unasked(&self.sent()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("not all of {expected:?} was asked: {:?}", self.sent().iter().collect::<BTreeSet<_>>());
    }

    /// Asserts that it has sent nothing but reading commands.
    pub fn assert_only_read(&self) {
        let (ways, sent) = (self.redis.ways(), self.sent());
        assert!(ways.len() >= 2, "one to try, one to stay: {ways:?}");
        println!("an observer asked {} times", sent.len());
        let allowed: Vec<String> = observer::Read::ALL.iter().map(|read| read.words().join(" ")).collect();
        for command in sent {
            // A database is chosen by a word of the connection, which changes nothing.
            assert!(allowed.contains(&command) || command == "SELECT", "{command} is not allowed");
        }
    }

    /// Every command that it has sent to Redis, over all of its connections.
    fn sent(&self) -> Vec<String> {
        let ways = self.redis.ways();
        let from = |line: &str| {
            line.split(['[', ']']).nth(1).and_then(|who| who.split(' ').nth(1)).map(str::to_owned)
        };
        let lines = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let own = lines.iter().filter(|line| from(line).is_some_and(|from| ways.contains(&from)));
        own.map(|line| words(line)).collect()
    }
}

/// The words of a command; those of two have both.
fn words(line: &str) -> String {
    let mut words = line.split('"').skip(1).step_by(2).map(str::to_uppercase);
    let first = words.next().unwrap_or_default();
    match first.as_str() {
        "MEMORY" | "CLIENT" | "CONFIG" | "SCRIPT" | "OBJECT" => {
            format!("{first} {}", words.next().unwrap_or_default())
        }
        _ => first,
    }
}

/// Reads what Redis is asked, by whom, until the connection ends.
pub fn monitor(port: u16) -> Arc<Mutex<Vec<String>>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connects");
    stream.write_all(b"MONITOR\r\n").expect("asked");
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&lines);
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).expect("answered");
    assert_eq!(first.trim(), "+OK");
    std::thread::spawn(move || {
        for line in reader.lines() {
            let Ok(line) = line else { return };
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
    lines
}

/// Both servers as they are.
pub struct Traces {
    broker: Vec<String>,
    redis: Keys,
}

impl Traces {
    pub async fn of(servers: &Servers) -> Self {
        Self { broker: broker_state(servers), redis: keys(&servers.redis).await }
    }

    /// Once the workers have written all that they had to.
    pub async fn at_rest(servers: &Servers) -> Self {
        let mut before = Self::of(servers).await;
        for _ in 0..240 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = Self::of(servers).await;
            if now.broker == before.broker && now.redis == before.redis {
                return now;
            }
            before = now;
        }
        panic!("the servers do not come to rest");
    }

    pub fn has_queue(&self, name: &str) -> bool {
        self.broker.iter().any(|line| line.starts_with(name))
    }

    /// What workers write down at any time by themselves is not compared: that the observer writes nothing at all is told
    /// by what it asks.
    pub async fn assert_same(&self, servers: &Servers, but: &str) {
        let now = Self::of(servers).await;
        assert_eq!(now.broker, self.broker, "queues, bindings, exchanges and consumers are as they were");
        let changed = changed(servers, &self.redis, &now.redis).await;
        let changed: Vec<&String> =
            changed.iter().filter(|line| !line.starts_with(&format!("{but} "))).collect();
        assert_eq!(changed, Vec::<&String>::new());
    }
}

/// Keys that are not as they were: other content, another moment to go, gone before that moment, or new.
async fn changed(servers: &Servers, before: &Keys, after: &Keys) -> Vec<String> {
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connects");
    let (seconds, _): (i64, i64) = redis::cmd("TIME").query_async(&mut connection).await.expect("a moment");
    let was_due = |until: i64| until >= 0 && until <= seconds * 1_000 + 1_000;
    let lost = before.iter().filter_map(|(name, (content, until))| match after.get(name) {
        None if was_due(*until) => None,
        None => Some(format!("{name} is gone; it was to go at {until}")),
        Some((_, now)) if now != until => Some(format!("{name} goes at {now} in place of {until}")),
        Some((now, _)) if now != content => Some(format!("{name} holds something else")),
        Some(_) => None,
    });
    let new = after.keys().filter(|name| !before.contains_key(*name)).map(|name| format!("{name} is new"));
    lost.chain(new).collect()
}

/// The queue of the observer itself, as the broker describes it.
pub fn own_queue(servers: &Servers) -> String {
    let question = ["list_queues", "name", "durable", "auto_delete", "exclusive", "arguments"];
    let said = servers.rabbit.control(&question);
    let mut own = said.lines().filter(|line| line.starts_with("amq.gen-"));
    let found = own.next().expect("one queue of its own").to_owned();
    assert_eq!(own.next(), None, "and no other");
    found
}
