//! The exchange and the queues of RFC 001 section 8, under a prefix that keeps us away from a cluster which uses the
//! same names with other arguments.

use lapin::{
    Channel, ExchangeKind,
    options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable, LongString, ShortString},
};

use crate::ClusterError;

const HOUR_MILLIS: i64 = 3_600_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    Execution,
    Status,
    Completion,
    /// Messages that no worker will take any more, kept with the reason.
    Parking,
}

impl Queue {
    pub const ALL: [Self; 4] = [Self::Execution, Self::Status, Self::Completion, Self::Parking];

    fn suffix(self) -> &'static str {
        match self {
            Self::Execution => "workflow.execution",
            Self::Status => "workflow.node.status",
            Self::Completion => "workflow.completion",
            Self::Parking => "workflow.execution.parking",
        }
    }

    /// How long a message may wait; the parking queue keeps what it has.
    fn time_to_live_millis(self) -> Option<i64> {
        match self {
            Self::Execution => Some(24 * HOUR_MILLIS),
            Self::Status => Some(HOUR_MILLIS),
            Self::Completion => Some(7 * 24 * HOUR_MILLIS),
            Self::Parking => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Topology {
    prefix: String,
}

impl Topology {
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    pub fn exchange(&self) -> String {
        format!("{}workflows", self.prefix)
    }

    pub fn queue(&self, queue: Queue) -> String {
        format!("{}{}", self.prefix, queue.suffix())
    }

    fn dead_letters(&self) -> String {
        format!("{}workflow.execution.dlx", self.prefix)
    }

    /// Makes what is missing. Declaring again what is there changes nothing; other arguments are an error.
    pub async fn declare(&self, channel: &Channel) -> Result<(), ClusterError> {
        let durable = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        for (name, kind) in
            [(self.exchange(), ExchangeKind::Topic), (self.dead_letters(), ExchangeKind::Fanout)]
        {
            channel.exchange_declare(ShortString::from(name), kind, durable, FieldTable::default()).await?;
        }
        for queue in Queue::ALL {
            let name = ShortString::from(self.queue(queue));
            let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
            channel.queue_declare(name.clone(), durable, self.arguments(queue)).await?;
            let (exchange, key) = match queue {
                Queue::Parking => (self.dead_letters(), ShortString::from("")),
                Queue::Execution | Queue::Status | Queue::Completion => (self.exchange(), name.clone()),
            };
            let exchange = ShortString::from(exchange);
            channel
                .queue_bind(name, exchange, key, QueueBindOptions::default(), FieldTable::default())
                .await?;
        }
        Ok(())
    }

    fn arguments(&self, queue: Queue) -> FieldTable {
        let mut arguments = FieldTable::default();
        if let Some(millis) = queue.time_to_live_millis() {
            arguments.insert("x-message-ttl".into(), AMQPValue::LongLongInt(millis));
            arguments.insert("x-max-priority".into(), AMQPValue::LongInt(10));
        }
        if queue == Queue::Execution {
            // What expires or is refused is parked, never lost in silence.
            let exchange = AMQPValue::LongString(LongString::from(self.dead_letters()));
            arguments.insert("x-dead-letter-exchange".into(), exchange);
        }
        arguments
    }
}
