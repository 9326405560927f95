//! The only way to RabbitMQ: a queue of our own that gets copies, and questions that change nothing. What is not in
//! here cannot be said: nothing is published, taken, acknowledged, purged or deleted, and nothing but our own queue is
//! declared or consumed.

use std::{future::Future, time::Duration};

use lapin::{
    Channel, Connection, ConnectionProperties, Consumer, ErrorKind,
    options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable, LongString, ShortString},
};
use tokio::sync::Mutex;

use crate::ObserverError;

/// What people call it.
pub const NAME: &str = "RabbitMQ";

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// Messages that the broker keeps for us; the oldest go first.
pub const KEPT_MESSAGES: u32 = 20_000;
pub const KEPT_BYTES: i64 = 64 * 1024 * 1024;
/// A copy that nobody has taken for so long is not news any more.
pub const KEPT_MILLIS: i64 = 30_000;
/// Should the broker believe that we are there although we are not, the queue is gone after this.
const UNUSED_MILLIS: i64 = 60_000;

/// AMQP's number for "there is none".
const NOT_FOUND: u16 = 404;

pub struct Broker {
    connection: Connection,
    /// A question that is refused costs the channel it was asked on, so it is not the one we listen on.
    questions: Mutex<Option<Channel>>,
}

/// Copies of what goes through the exchange, as long as it is held.
pub struct Copies {
    pub consumer: Consumer,
    /// The broker has named it.
    pub queue: String,
    channel: Channel,
}

impl Copies {
    /// Wants no more; the queue goes.
    pub async fn end(self) -> Result<(), ObserverError> {
        in_time("RabbitMQ", self.channel.close(200, ShortString::from("heard enough"))).await
    }
}

/// How a queue is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    pub messages: u64,
    pub consumers: u32,
}

impl Broker {
    pub async fn connect(url: &str) -> Result<Self, ObserverError> {
        let properties = ConnectionProperties::default().with_connection_name("runeglass observer".into());
        let connection = in_time("RabbitMQ", Connection::connect(url, properties)).await?;
        Ok(Self { connection, questions: Mutex::default() })
    }

    pub fn is_connected(&self) -> bool {
        self.connection.status().connected()
    }

    /// Makes a queue of our own and has it get copies of everything with a routing key that fits. It goes when the
    /// connection goes, whatever happens to us.
    pub async fn listen(&self, exchange: &str, routing_keys: &[String]) -> Result<Copies, ObserverError> {
        let channel = in_time("RabbitMQ", self.connection.create_channel()).await?;
        let ours =
            QueueDeclareOptions { exclusive: true, auto_delete: true, ..QueueDeclareOptions::default() };
        let declared = channel.queue_declare(ShortString::from(""), ours, bounds());
        let queue = in_time("RabbitMQ", declared).await?.name().clone();
        for key in routing_keys {
            let bound = channel.queue_bind(
                queue.clone(),
                ShortString::from(exchange),
                ShortString::from(key.as_str()),
                QueueBindOptions::default(),
                FieldTable::default(),
            );
            in_time("RabbitMQ", bound).await?;
        }
        let options = BasicConsumeOptions { no_ack: true, exclusive: true, ..BasicConsumeOptions::default() };
        let consumed =
            channel.basic_consume(queue.clone(), ShortString::from(""), options, FieldTable::default());
        let consumer = in_time("RabbitMQ", consumed).await?;
        Ok(Copies { consumer, queue: queue.to_string(), channel })
    }

    /// How a queue is doing; `None` where there is none of that name.
    pub async fn depth(&self, queue: &str) -> Result<Option<Depth>, ObserverError> {
        let mut kept = self.questions.lock().await;
        let channel = match kept.take().filter(|channel| channel.status().connected()) {
            Some(channel) => channel,
            None => in_time("RabbitMQ", self.connection.create_channel()).await?,
        };
        let question = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let asked = channel.queue_declare(ShortString::from(queue), question, FieldTable::default());
        match in_time("RabbitMQ", asked).await {
            Ok(found) => {
                let (messages, consumers) = (u64::from(found.message_count()), found.consumer_count());
                *kept = Some(channel);
                Ok(Some(Depth { messages, consumers }))
            }
            Err(ObserverError::Broker(error)) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Says good-bye, so that our queue is gone at once.
    pub async fn close(&self) {
        let closed = self.connection.close(200, ShortString::from("looked enough"));
        if let Err(error) = in_time("RabbitMQ", closed).await {
            tracing::debug!(%error, "the broker did not hear us leave");
        }
    }
}

fn is_not_found(error: &lapin::Error) -> bool {
    matches!(error.kind(), ErrorKind::ProtocolError(said) if said.get_id() == NOT_FOUND)
}

fn bounds() -> FieldTable {
    let mut arguments = FieldTable::default();
    let drop_head = AMQPValue::LongString(LongString::from("drop-head"));
    for (name, value) in [
        ("x-max-length", AMQPValue::LongLongInt(i64::from(KEPT_MESSAGES))),
        ("x-max-length-bytes", AMQPValue::LongLongInt(KEPT_BYTES)),
        ("x-overflow", drop_head),
        ("x-message-ttl", AMQPValue::LongLongInt(KEPT_MILLIS)),
        ("x-expires", AMQPValue::LongLongInt(UNUSED_MILLIS)),
    ] {
        arguments.insert(ShortString::from(name), value);
    }
    arguments
}

async fn in_time<T>(
    who: &'static str,
    asked: impl Future<Output = Result<T, lapin::Error>>,
) -> Result<T, ObserverError> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(ObserverError::Silent(who)),
    }
}
