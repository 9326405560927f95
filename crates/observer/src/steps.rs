//! Trying a connection: every step of attaching, one after the other, and out again. What may come back by itself keeps
//! nobody out; what a person has to put right does.

use protocol::{ClusterConnection, ClusterDialect, ConnectionStep, Problem, ProblemCode, cluster};

use crate::{Address, ObserverError, Read, Reader, broker::Broker, trouble};

/// What came of trying.
pub struct Trial {
    broker: Tries,
    redis: Tries,
}

/// Servers that cannot be reached for now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Away {
    pub broker: Option<Problem>,
    pub redis: Option<Problem>,
}

/// What came of trying one server.
#[derive(Default)]
struct Tries {
    steps: Vec<ConnectionStep>,
    /// The first that went wrong.
    failed: Option<ObserverError>,
}

/// Tries everything that attaching needs. What cannot be tried because something before it failed is left out.
pub async fn test(address: &Address) -> Trial {
    let (broker, redis) = tokio::join!(try_broker(address), try_redis(address));
    Trial { broker, redis }
}

impl Trial {
    /// Every step with its sentence, for people.
    pub fn steps(self) -> Vec<ConnectionStep> {
        self.broker.steps.into_iter().chain(self.redis.steps).collect()
    }

    /// Who of them is away, where the other lets us in.
    pub fn enter(self) -> Result<Away, Problem> {
        match (self.broker.door()?, self.redis.door()?) {
            (Some(broker), Some(redis)) => {
                let problems = [broker, redis].map(|error| trouble::problem(&error));
                Err(both(problems))
            }
            (broker, redis) => {
                let told = |error: Option<ObserverError>| error.as_ref().map(trouble::not_yet);
                Ok(Away { broker: told(broker), redis: told(redis) })
            }
        }
    }
}

/// One sentence each, and what to do once where that is the same.
fn both([one, other]: [Problem; 2]) -> Problem {
    let message = format!("{}; {}", one.message, other.message);
    let hint = match one.hint == other.hint {
        true => one.hint,
        false => format!("{}; {}", one.hint, other.hint),
    };
    Problem { message, hint, ..one }
}

impl Tries {
    fn note<T>(&mut self, what: &str, came: Result<T, ObserverError>) -> Option<T> {
        self.tell(what, came.as_ref().err().map(trouble::problem));
        match came {
            Ok(found) => Some(found),
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
        }
    }

    fn tell(&mut self, what: &str, problem: Option<Problem>) {
        self.steps.push(ConnectionStep { what: what.to_owned(), problem });
    }

    /// Why the server cannot be reached for now, if it cannot; an error where it is shut.
    fn door(self) -> Result<Option<ObserverError>, Problem> {
        let Some(error) = self.failed else { return Ok(None) };
        let problem = trouble::problem(&error);
        if problem.code == ProblemCode::Unreachable { Ok(Some(error)) } else { Err(problem) }
    }
}

async fn try_broker(address: &Address) -> Tries {
    let prefix = &address.connection.prefix;
    let mut tries = Tries::default();
    let connected = Broker::connect(&address.amqp).await;
    let Some(broker) = tries.note("RabbitMQ lets us in", connected) else { return tries };
    let exchange = cluster::exchange(prefix);
    let listening = broker.listen(&exchange, &[format!("{prefix}workflow.#")]).await;
    let what = format!("a queue of our own gets copies from the exchange {exchange}");
    if tries.note(&what, listening).is_some() {
        let queue = cluster::Queue::Execution.name(prefix);
        tries.note(&format!("the depth of {queue} can be asked for"), broker.depth(&queue).await);
    }
    broker.close().await;
    tries
}

async fn try_redis(address: &Address) -> Tries {
    let mut tries = Tries::default();
    let connected = Reader::connect(&address.redis).await;
    let Some(reader) = tries.note("Redis lets us in", connected) else { return tries };
    const WHAT: &str = "Redis answers questions";
    match ask(&reader, &address.connection).await {
        Ok(Some(lacking)) => tries.tell(WHAT, Some(lacking)),
        Ok(None) => tries.tell(WHAT, None),
        Err(error) => {
            tries.note::<()>(WHAT, Err(error));
        }
    }
    tries
}

/// Every question that may be asked there, of a key that is not there. While nobody knows whose workers they are, a
/// refusal of what only some are asked says nothing about whether it is needed; what is needed and refused is told again
/// once they are known.
async fn ask(reader: &Reader, connection: &ClusterConnection) -> Result<Option<Problem>, ObserverError> {
    let key = format!("{}nothing-is-here", connection.prefix);
    let mut lacking = None;
    for read in Read::ALL.into_iter().filter(|read| !read.may_be_refused()) {
        let only = read.only_of();
        if connection.dialect.is_some_and(|told| only.is_some_and(|only| only != told)) {
            continue;
        }
        let asked: Result<redis::Value, _> = reader.ask(read, &read.harmless(&key)[..]).await;
        match (asked, only) {
            (Err(error), Some(only)) if connection.dialect.is_none() && error.is_refusal() => {
                lacking.get_or_insert_with(|| lacks(&error, only));
            }
            (asked, _) => drop(asked?),
        }
    }
    Ok(lacking)
}

fn lacks(error: &ObserverError, only: ClusterDialect) -> Problem {
    let whose = match only {
        ClusterDialect::Runeglass => "workers of Runeglass",
        ClusterDialect::Rune => "workers of the Rune services",
    };
    let problem = trouble::problem(error);
    let hint =
        format!("only {whose} are looked into with it, and only that is not seen without; {}", problem.hint);
    Problem { hint, ..problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(error: Option<ObserverError>) -> Tries {
        Tries { steps: Vec::new(), failed: error }
    }

    fn redis(code: &'static str) -> ObserverError {
        let text = format!("-{code} no\r\n");
        let parsed = redis::parse_redis_value(text.as_bytes()).and_then(|value| value.extract_error());
        ObserverError::Redis(parsed.expect_err("an error"))
    }

    #[test]
    fn what_comes_back_by_itself_keeps_nobody_out() {
        let silent = |who| Some(ObserverError::Silent(who));
        let enter = |broker, redis| Trial { broker: tries(broker), redis: tries(redis) }.enter();
        assert_eq!(enter(None, None), Ok(Away::default()));
        let away = enter(None, silent("Redis")).expect("RabbitMQ is there");
        assert_eq!(away.broker, None);
        let told = away.redis.expect("it is told");
        assert!(told.message.contains("Redis does not answer"), "{told:?}");
        assert!(told.hint.contains("logs, joins, timers") && told.hint.contains("by itself"), "{told:?}");
        let away = enter(silent("RabbitMQ"), None).expect("Redis is there");
        let told = away.broker.expect("it is told");
        assert!(told.hint.contains("queues") && told.hint.contains("by itself"), "{told:?}");
        let away = enter(None, Some(redis("LOADING"))).expect("it is starting");
        assert!(away.redis.is_some());
        let refused = enter(silent("RabbitMQ"), silent("Redis")).expect_err("nobody is there");
        assert_eq!(refused.code, ProblemCode::Unreachable);
        assert!(refused.message.contains("RabbitMQ does") && refused.message.contains("; Redis does"));
        for code in ["WRONGPASS", "NOAUTH", "NOPERM", "ERR"] {
            let refused =
                enter(silent("RabbitMQ"), Some(redis(code))).expect_err("somebody must put it right");
            assert_eq!(refused.code, ProblemCode::Refused, "{code}: {refused:?}");
            assert!(enter(None, Some(redis(code))).is_err(), "{code}");
        }
    }
}
