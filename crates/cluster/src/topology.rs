//! The exchange and the queues of RFC 001 section 8, under a prefix that keeps us away from a cluster which uses the
//! same names with other arguments.

use lapin::{
    Channel, ExchangeKind,
    options::{
        ExchangeDeclareOptions, ExchangeDeleteOptions, QueueBindOptions, QueueDeclareOptions,
        QueueDeleteOptions,
    },
    types::{AMQPValue, FieldTable, LongString, ShortString},
};

use protocol::cluster;
pub use protocol::cluster::{Delay, Queue};

use crate::ClusterError;

const SECOND_MILLIS: i64 = 1_000;
const HOUR_MILLIS: i64 = 3_600 * SECOND_MILLIS;
const PRIORITIES: i32 = 10;
/// How long queues that are made for one run outlive the process that made them.
pub const PASSING_MILLIS: i64 = 600 * SECOND_MILLIS;

/// How long a message may wait; the parking queue keeps what it has.
fn time_to_live_millis(queue: Queue) -> Option<i64> {
    match queue {
        Queue::Execution | Queue::Timeout => Some(24 * HOUR_MILLIS),
        Queue::Status => Some(HOUR_MILLIS),
        Queue::Completion => Some(7 * 24 * HOUR_MILLIS),
        Queue::Later(delay) => Some(delay.seconds() * SECOND_MILLIS),
        Queue::Parking => None,
    }
}

/// How the broker keeps the queues that hold work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Classic,
    /// Kept on several brokers, without priorities.
    Quorum,
}

#[derive(Clone, Debug)]
pub struct Topology {
    prefix: String,
    kind: Kind,
    /// It is there for one run and goes with it.
    passing: bool,
}

impl Topology {
    pub fn new(prefix: &str) -> Self {
        Self::of_kind(prefix, Kind::default())
    }

    pub fn of_kind(prefix: &str, kind: Kind) -> Self {
        Self { prefix: prefix.to_owned(), kind, passing: false }
    }

    /// For one run alone: should whoever made it die, the broker takes it away. It has to be declared again and again
    /// meanwhile, since nobody listens to some of its queues.
    pub fn passing(prefix: &str, kind: Kind) -> Self {
        Self { passing: true, ..Self::of_kind(prefix, kind) }
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn exchange(&self) -> String {
        cluster::exchange(&self.prefix)
    }

    pub fn queue(&self, queue: Queue) -> String {
        queue.name(&self.prefix)
    }

    fn dead_letters(&self) -> String {
        format!("{}workflow.execution.dlx", self.prefix)
    }

    /// Makes what is missing. Declaring again what is there changes nothing; other arguments are an error.
    pub async fn declare(&self, channel: &Channel) -> Result<(), ClusterError> {
        let durable = ExchangeDeclareOptions {
            durable: true,
            // With the last of its queues.
            auto_delete: self.passing,
            ..ExchangeDeclareOptions::default()
        };
        for (name, kind) in
            [(self.exchange(), ExchangeKind::Topic), (self.dead_letters(), ExchangeKind::Fanout)]
        {
            let declared = channel.exchange_declare(
                ShortString::from(name.clone()),
                kind,
                durable,
                FieldTable::default(),
            );
            declared.await.map_err(|error| self.refused(name, error))?;
        }
        for queue in Queue::ALL {
            self.declare_queue(channel, queue)
                .await
                .map_err(|error| self.refused(self.queue(queue), error))?;
        }
        Ok(())
    }

    /// Takes away the queues and exchanges, with what is in them.
    pub async fn remove(&self, channel: &Channel) -> Result<(), ClusterError> {
        for queue in Queue::ALL {
            let name = ShortString::from(self.queue(queue));
            channel.queue_delete(name, QueueDeleteOptions::default()).await?;
        }
        for name in [self.exchange(), self.dead_letters()] {
            channel.exchange_delete(ShortString::from(name), ExchangeDeleteOptions::default()).await?;
        }
        Ok(())
    }

    async fn declare_queue(&self, channel: &Channel, queue: Queue) -> Result<(), lapin::Error> {
        let name = ShortString::from(self.queue(queue));
        let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        channel.queue_declare(name.clone(), durable, self.arguments(queue)).await?;
        let (exchange, key) = match queue {
            Queue::Parking => (self.dead_letters(), ShortString::from("")),
            Queue::Execution | Queue::Status | Queue::Completion | Queue::Timeout | Queue::Later(_) => {
                (self.exchange(), name.clone())
            }
        };
        let exchange = ShortString::from(exchange);
        channel.queue_bind(name, exchange, key, QueueBindOptions::default(), FieldTable::default()).await
    }

    fn refused(&self, what: String, error: lapin::Error) -> ClusterError {
        let clashes = matches!(error.kind(), lapin::ErrorKind::ProtocolError(said) if said.get_id() == CLASH);
        if clashes { ClusterError::Clash { what, detail: error.to_string() } } else { error.into() }
    }

    fn arguments(&self, queue: Queue) -> FieldTable {
        let mut arguments = FieldTable::default();
        if let Some(millis) = time_to_live_millis(queue) {
            arguments.insert("x-message-ttl".into(), AMQPValue::LongLongInt(millis));
        }
        if self.passing {
            arguments.insert("x-expires".into(), AMQPValue::LongLongInt(PASSING_MILLIS));
        }
        let text = |text: String| AMQPValue::LongString(LongString::from(text));
        match (queue, self.kind) {
            (Queue::Execution, Kind::Classic) => {
                arguments.insert("x-max-priority".into(), AMQPValue::LongInt(PRIORITIES));
            }
            (Queue::Execution | Queue::Timeout | Queue::Parking, Kind::Quorum) => {
                arguments.insert("x-queue-type".into(), text("quorum".to_owned()));
            }
            (
                Queue::Timeout | Queue::Parking | Queue::Status | Queue::Completion | Queue::Later(_),
                Kind::Classic | Kind::Quorum,
            ) => {}
        }
        match queue {
            // What expires or is refused is parked, never lost in silence.
            Queue::Execution | Queue::Timeout => {
                arguments.insert("x-dead-letter-exchange".into(), text(self.dead_letters()));
            }
            // What has waited goes on.
            Queue::Later(_) => {
                arguments.insert("x-dead-letter-exchange".into(), text(self.exchange()));
                arguments.insert("x-dead-letter-routing-key".into(), text(self.queue(Queue::Execution)));
            }
            Queue::Status | Queue::Completion | Queue::Parking => {}
        }
        arguments
    }
}

/// What AMQP says when something is there already, but otherwise: PRECONDITION_FAILED.
const CLASH: u16 = 406;
