//! What goes wrong on the way to a cluster, in words that say what to do next.

use std::io;

use lapin::ErrorKind;
use protocol::{Problem, ProblemCode};

use crate::ObserverError;

const ACCESS_REFUSED: u16 = 403;
const NOT_FOUND: u16 = 404;
const LOCKED: u16 = 405;
const PRECONDITION_FAILED: u16 = 406;
const NOT_ALLOWED: u16 = 530;

pub fn problem(error: &ObserverError) -> Problem {
    match error {
        ObserverError::Broker(error) => from_broker(error),
        ObserverError::Redis(error) => from_redis(error),
        ObserverError::Silent(who) => unreachable(
            format!("{who} does not answer in time"),
            "check host, port and firewall; a server of another kind, or TLS on one side only, is silent too",
        ),
        ObserverError::Odd(why) => Problem::new(
            ProblemCode::Infrastructure,
            format!("Redis holds something unexpected: {why}"),
            "somebody else may use the same keys; check --queue-prefix and the number of the database",
        ),
    }
}

/// What goes wrong once somebody was let in: that is told by who is gone, what is not seen meanwhile, and that nobody has
/// to do anything to go on.
pub fn while_attached(error: &ObserverError) -> Problem {
    let cut = |who: &str| {
        let hint = "see whether the server runs and the network is up";
        awaited(error, unreachable(format!("the connection to {who} is gone"), hint))
    };
    match error {
        ObserverError::Broker(why) if is_cut(why.kind()) => cut("RabbitMQ"),
        // Where nobody listens, that says more.
        ObserverError::Redis(why) if why.is_connection_dropped() && !why.is_connection_refusal() => {
            cut("Redis")
        }
        ObserverError::Broker(_)
        | ObserverError::Redis(_)
        | ObserverError::Silent(_)
        | ObserverError::Odd(_) => not_yet(error),
    }
}

/// The same of a server that was never there.
pub fn not_yet(error: &ObserverError) -> Problem {
    awaited(error, problem(error))
}

fn awaited(error: &ObserverError, problem: Problem) -> Problem {
    let unseen = match error {
        _ if problem.code != ProblemCode::Unreachable => "",
        ObserverError::Broker(_) | ObserverError::Silent(crate::broker::NAME) => {
            "queues, and what is said through them, are not seen meanwhile; "
        }
        ObserverError::Redis(_) | ObserverError::Silent(_) | ObserverError::Odd(_) => {
            "what workers keep there (logs, joins, timers) is not seen meanwhile; "
        }
    };
    Problem { hint: format!("{unseen}{}; it is tried again by itself", problem.hint), ..problem }
}

/// Nothing was said that tells more.
fn is_cut(kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::IOError(why) => from_io("RabbitMQ", why).is_none(),
        ErrorKind::ParsingError(_)
        | ErrorKind::MissingHeartbeatError
        | ErrorKind::InvalidConnectionState(_)
        | ErrorKind::InvalidChannelState(..) => true,
        _ => false,
    }
}

/// What may come back by itself.
fn unreachable(message: impl Into<String>, hint: &str) -> Problem {
    Problem::new(ProblemCode::Unreachable, message, hint)
}

/// What somebody has to put right.
fn shut(message: impl Into<String>, hint: &str) -> Problem {
    Problem::new(ProblemCode::Refused, message, hint)
}

fn from_broker(error: &lapin::Error) -> Problem {
    match error.kind() {
        ErrorKind::ProtocolError(said) => refused(said.get_id(), said.get_message().as_str()),
        ErrorKind::ParsingError(_) | ErrorKind::InvalidProtocolVersion(_) => not_amqp(),
        ErrorKind::IOError(why) if why.kind() == io::ErrorKind::InvalidData => {
            from_io("RabbitMQ", why).unwrap_or_else(not_amqp)
        }
        // A proxy in front of a server that is gone does the same.
        ErrorKind::IOError(why) => from_io("RabbitMQ", why).unwrap_or_else(|| {
            let hint = "see whether it runs; it listens on 5672, or on 5671 with amqps://";
            unreachable("RabbitMQ ends the connection without a word", hint)
        }),
        ErrorKind::MissingHeartbeatError => unreachable("RabbitMQ has fallen silent", "check the network"),
        ErrorKind::InvalidConnectionState(_) | ErrorKind::InvalidChannelState(..) => {
            unreachable("the connection to RabbitMQ is gone", "see whether the server runs")
        }
        _ => unreachable(format!("RabbitMQ: {error}"), "check the address, and that the server runs"),
    }
}

fn not_amqp() -> Problem {
    shut(
        "what answers there does not speak AMQP",
        "check the port: RabbitMQ listens on 5672, or on 5671 with amqps://",
    )
}

/// What a broker says when it does not want to.
fn refused(code: u16, said: &str) -> Problem {
    match code {
        ACCESS_REFUSED if said.contains("Login was refused") || !said.contains("access to") => {
            shut("RabbitMQ does not let this user in", "check the user and the password")
        }
        ACCESS_REFUSED => shut(
            format!("the user lacks a permission: {}", without_code(said)),
            "an observer needs configure and write on ^amq\\.gen.*$, read on ^(amq\\.gen.*|workflows)$, with the prefix in \
             front of workflows where there is one",
        ),
        NOT_ALLOWED => shut(
            format!("there is no such virtual host, or this user may not enter it: {}", without_code(said)),
            "it is the last part of the address; / is written as %2f",
        ),
        NOT_FOUND => shut(
            format!("nothing of that name is there: {}", without_code(said)),
            "check --queue-prefix and the virtual host; a worker makes the exchange when it starts",
        ),
        LOCKED => shut(
            format!("something is in use by another connection: {}", without_code(said)),
            "detach there, or wait until it is gone",
        ),
        PRECONDITION_FAILED => {
            shut(format!("RabbitMQ refuses: {}", without_code(said)), "tell us the sentence")
        }
        _ => unreachable(
            format!("RabbitMQ has ended the connection: {}", without_code(said)),
            "look into the log of the broker if it happens again",
        ),
    }
}

/// Servers begin their sentences with a word in capitals.
fn without_code(said: &str) -> &str {
    said.split_once(" - ").map_or(said, |(_, sentence)| sentence)
}

/// `None` where a connection came about and then something unexpected was said.
fn from_io(who: &str, error: &io::Error) -> Option<Problem> {
    let text = error.to_string();
    let said = text.to_lowercase();
    if said.contains("notvalidforname") || said.contains("not valid for name") {
        return Some(shut(
            format!("the certificate of {who} is for another name"),
            "write the host as the certificate has it",
        ));
    }
    if said.contains("certificate") || said.contains("unknownissuer") {
        return Some(shut(
            format!("the certificate of {who} is not trusted here: {text}"),
            "add its authority to the certificates of the system",
        ));
    }
    if said.contains("handshake eof") {
        return None;
    }
    if said.contains("tls") || said.contains("corrupt message") || said.contains("invalidcontenttype") {
        return Some(shut(
            format!("{who} does not speak TLS there"),
            "write amqp:// or redis:// without the s, or use the port for TLS",
        ));
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(unreachable(
            format!("nobody listens at the address of {who}"),
            "check host and port, and that the server runs",
        )),
        io::ErrorKind::TimedOut => Some(unreachable(
            format!("{who} does not answer in time"),
            "check host and port, and that a firewall lets you through",
        )),
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::InvalidData => None,
        _ if said.contains("lookup") || said.contains("name or service") || said.contains("resolve") => {
            Some(unreachable(format!("the host of {who} is not known"), "check its name"))
        }
        _ => Some(unreachable(format!("{who}: {text}"), "check the address")),
    }
}

fn from_redis(error: &redis::RedisError) -> Problem {
    let text = error.to_string();
    match error.code() {
        // When a database is chosen it says so without a code.
        code if code == Some("NOAUTH") || text.contains("Authentication required") => {
            return shut("Redis wants a password", "give the user and the password");
        }
        Some("WRONGPASS") => {
            return shut("Redis does not let this user in", "check the user and the password");
        }
        Some("NOPERM") => {
            return shut(
                format!("the Redis user lacks a permission: {}", error.detail().unwrap_or(&text)),
                "give it these: ~* -@all +@connection +@read +info +time -keys",
            );
        }
        _ if text.contains("max number of clients") => {
            return unreachable("Redis has no room for another connection", "see who is connected to it");
        }
        _ if text.contains("switch database") || text.contains("DB index") => {
            return shut(
                "Redis has no database of that number",
                "it is the last part of the address, such as redis://host:6379/0",
            );
        }
        Some("LOADING") => return unreachable("Redis is starting", "it will answer in a while"),
        _ => {}
    }
    match error.kind() {
        redis::ErrorKind::AuthenticationFailed => {
            shut("Redis does not let this user in", "check the user and the password")
        }
        redis::ErrorKind::Parse | redis::ErrorKind::UnexpectedReturnType => shut(
            "what answers there does not speak as Redis does",
            "check host and port: Redis listens on 6379",
        ),
        redis::ErrorKind::Server(redis::ServerErrorKind::ResponseError) => {
            shut(format!("Redis does not do what it is asked: {text}"), "look into its settings and its log")
        }
        redis::ErrorKind::InvalidClientConfig => Problem::new(
            ProblemCode::InvalidRequest,
            format!("this is no address of a Redis: {text}"),
            "write redis://host:6379/0, or rediss:// for TLS",
        ),
        _ if error.is_connection_refusal() => unreachable(
            "nobody listens at the address of Redis",
            "check host and port, and that the server runs",
        ),
        _ if error.is_timeout() => {
            unreachable("Redis does not answer in time", "check host and port; it may be very busy")
        }
        _ => {
            let io = io::Error::other(text.clone());
            let usual = unreachable(format!("Redis: {text}"), "check the address, and that the server runs");
            from_io("Redis", &io).filter(|found| !found.message.starts_with("Redis: ")).unwrap_or(usual)
        }
    }
}
