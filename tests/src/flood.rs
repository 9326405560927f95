//! Says very much to an exchange: the messages of whole executions of a Rune cluster, made once and sent again and again
//! under other names. It speaks AMQP itself and only as much as that takes, so that whoever listens has the machine to
//! itself.

use std::{
    io::{Read, Write},
    net::TcpStream,
    ops::Range,
    time::Duration,
};

use serde_json::json;
use tokio::time::Instant;

use crate::rune_cluster::{
    RuneCluster,
    workflows::{fan_out, items},
};

const CHANNEL: u16 = 1;
const METHOD: u8 = 1;
const HEADER: u8 = 2;
const BODY: u8 = 3;
const END: u8 = 0xCE;
/// The smallest that every broker agrees to.
const FRAME: usize = 4_096;
/// Stands in the messages for the number of their execution.
const NUMBER: &str = "0000000";

/// One execution as it goes over the wire, and where its number stands.
pub struct Scene {
    bytes: Vec<u8>,
    numbers: Vec<usize>,
    pub messages: u64,
}

impl Scene {
    /// A fan-out of so many items, from its first message to its end.
    pub fn fan_out(exchange: &str, prefix: &str, count: usize) -> Self {
        let mut cluster = RuneCluster::new();
        cluster.start(&name(0), &fan_out(), Some(items(count)));
        cluster.run();
        Self::of(&cluster, exchange, prefix)
    }

    /// The same, as far as it gets until one of its items hangs.
    pub fn fan_out_that_hangs(exchange: &str, prefix: &str, count: usize) -> Self {
        let mut cluster = RuneCluster::new();
        cluster.answer("http://shop/1", 60_000, Ok(json!("late")));
        cluster.start(&name(0), &fan_out(), Some(items(count)));
        cluster.run_for(1_000);
        Self::of(&cluster, exchange, prefix)
    }

    fn of(cluster: &RuneCluster, exchange: &str, prefix: &str) -> Self {
        let mut bytes = Vec::new();
        for message in cluster.published() {
            let key = format!("{prefix}{}", message.routing_key);
            publish(&mut bytes, exchange, &key, message.body.as_bytes());
        }
        let wanted = NUMBER.as_bytes();
        let is_one = |at: &usize| bytes[*at..].starts_with(wanted) && bytes[..*at].ends_with(b"flood-");
        let numbers = (0..bytes.len()).filter(is_one).collect();
        Self { numbers, messages: cluster.published().len() as u64, bytes }
    }

    fn renumber(&mut self, number: u64) {
        let written = format!("{number:07}");
        for &at in &self.numbers {
            self.bytes[at..at + NUMBER.len()].copy_from_slice(written.as_bytes());
        }
    }
}

/// What an execution of the flood is called.
pub fn name(number: u64) -> String {
    format!("flood-{number:07}")
}

/// What was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub executions: u64,
    pub messages: u64,
    pub per_second: f64,
}

/// Sends for so long, at this rate or as fast as the broker takes it, and returns when the broker has all of it. The
/// first execution has the number that is given.
pub fn pour(port: u16, mut scene: Scene, first: u64, lasts: Duration, per_second: u64) -> Sent {
    let mut stream = open(port);
    let began = Instant::now();
    let (mut executions, mut messages) = (0, 0);
    while began.elapsed() < lasts {
        scene.renumber(first + executions);
        stream.write_all(&scene.bytes).expect("the broker takes it");
        executions += 1;
        messages += scene.messages;
        let due = Duration::from_micros(messages * 1_000_000 / per_second);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let took = began.elapsed().as_secs_f64();
    close(stream);
    Sent { executions, messages, per_second: messages as f64 / took }
}

/// One execution.
pub fn pour_one(port: u16, scene: Scene, number: u64) {
    pour_all(port, scene, number..number + 1);
}

/// Executions of these numbers, as fast as the broker takes them. Says how many messages that were, all of which the
/// broker has then.
pub fn pour_all(port: u16, mut scene: Scene, numbers: Range<u64>) -> u64 {
    let mut stream = open(port);
    let messages = scene.messages * (numbers.end - numbers.start);
    for number in numbers {
        scene.renumber(number);
        stream.write_all(&scene.bytes).expect("the broker takes it");
    }
    close(stream);
    messages
}

fn open(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the broker is there");
    stream.write_all(b"AMQP\0\0\x09\x01").expect("a greeting");
    answer(&mut stream, (10, 10));
    let start_ok = [&[0, 0, 0, 0][..], &short("PLAIN"), &long(b"\0guest\0guest"), &short("en_US")].concat();
    method(&mut stream, 0, (10, 11), &start_ok);
    answer(&mut stream, (10, 30));
    let tune_ok = [&2_047_u16.to_be_bytes()[..], &(FRAME as u32).to_be_bytes(), &[0, 0]].concat();
    method(&mut stream, 0, (10, 31), &tune_ok);
    method(&mut stream, 0, (10, 40), &[&short("/")[..], &[0, 0]].concat());
    answer(&mut stream, (10, 41));
    method(&mut stream, CHANNEL, (20, 10), &[0]);
    answer(&mut stream, (20, 11));
    stream
}

/// The broker says good-bye when it has read everything before.
fn close(mut stream: TcpStream) {
    let said = [&200_u16.to_be_bytes()[..], &short("done"), &[0, 0, 0, 0]].concat();
    method(&mut stream, 0, (10, 50), &said);
    answer(&mut stream, (10, 51));
}

fn publish(bytes: &mut Vec<u8>, exchange: &str, key: &str, body: &[u8]) {
    let what = [&[0, 0][..], &short(exchange), &short(key), &[0]].concat();
    write_method(bytes, CHANNEL, (60, 40), &what);
    let size = (body.len() as u64).to_be_bytes();
    frame(bytes, HEADER, CHANNEL, &[&[0, 60, 0, 0][..], &size, &[0, 0]].concat());
    for piece in body.chunks(FRAME - 8) {
        frame(bytes, BODY, CHANNEL, piece);
    }
}

fn method(stream: &mut TcpStream, channel: u16, which: (u16, u16), arguments: &[u8]) {
    let mut bytes = Vec::new();
    write_method(&mut bytes, channel, which, arguments);
    stream.write_all(&bytes).expect("the broker listens");
}

fn write_method(bytes: &mut Vec<u8>, channel: u16, (class, method): (u16, u16), arguments: &[u8]) {
    frame(bytes, METHOD, channel, &[&class.to_be_bytes()[..], &method.to_be_bytes(), arguments].concat());
}

fn frame(bytes: &mut Vec<u8>, kind: u8, channel: u16, content: &[u8]) {
    bytes.push(kind);
    bytes.extend(channel.to_be_bytes());
    bytes.extend((content.len() as u32).to_be_bytes());
    bytes.extend(content);
    bytes.push(END);
}

fn answer(stream: &mut TcpStream, (class, method): (u16, u16)) {
    let mut head = [0; 7];
    stream.read_exact(&mut head).expect("an answer");
    let size = u32::from_be_bytes([head[3], head[4], head[5], head[6]]) as usize;
    let mut content = vec![0; size + 1];
    stream.read_exact(&mut content).expect("all of the answer");
    let wanted = [class.to_be_bytes(), method.to_be_bytes()].concat();
    assert_eq!(content[..4], wanted[..], "{}", String::from_utf8_lossy(&content));
}

fn short(text: &str) -> Vec<u8> {
    [&[text.len() as u8][..], text.as_bytes()].concat()
}

fn long(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}
