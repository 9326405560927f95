//! The simulated cluster on real servers: its exchange and queues as it declares them, its keys as it writes them.

use futures::StreamExt;
use lapin::{
    BasicProperties, Channel, Connection, ConnectionProperties, ExchangeKind,
    options::{
        BasicConsumeOptions, BasicPublishOptions, ExchangeDeclareOptions, QueueBindOptions,
        QueueDeclareOptions,
    },
    types::FieldTable,
};

use super::{Key, Keys, Published};

const EXCHANGE: &str = "workflows";
/// Classic, durable, without any arguments; each bound under its own name.
const QUEUES: [&str; 5] = [
    "workflow.execution",
    "workflow.resume",
    "workflow.node.status",
    "workflow.completion",
    "workflow.worker.initiated",
];

/// A connection to both servers.
pub struct Live {
    channel: Channel,
    _connection: Connection,
    redis: redis::aio::MultiplexedConnection,
}

impl Live {
    pub async fn connect(amqp: &str, redis: &str) -> Self {
        let connection =
            Connection::connect(amqp, ConnectionProperties::default()).await.expect("RabbitMQ answers");
        let channel = connection.create_channel().await.expect("a channel");
        let durable = ExchangeDeclareOptions { durable: true, ..Default::default() };
        channel
            .exchange_declare(EXCHANGE.into(), ExchangeKind::Topic, durable, FieldTable::default())
            .await
            .expect("the exchange");
        for queue in QUEUES {
            let durable = QueueDeclareOptions { durable: true, ..Default::default() };
            channel.queue_declare(queue.into(), durable, FieldTable::default()).await.expect("a queue");
            let bound = QueueBindOptions::default();
            channel
                .queue_bind(queue.into(), EXCHANGE.into(), queue.into(), bound, FieldTable::default())
                .await
                .expect("a binding");
        }
        let client = redis::Client::open(redis).expect("an address");
        let redis = client.get_multiplexed_async_connection().await.expect("Redis answers");
        Self { channel, _connection: connection, redis }
    }

    /// What the workers have said. Without confirmation, as they do it.
    pub async fn publish(&self, messages: &[Published]) {
        for message in messages {
            let properties =
                BasicProperties::default().with_content_type("application/json".into()).with_delivery_mode(2);
            let options = BasicPublishOptions { mandatory: true, ..Default::default() };
            self.channel
                .basic_publish(
                    EXCHANGE.into(),
                    message.routing_key.into(),
                    options,
                    message.body.as_bytes(),
                    properties,
                )
                .await
                .expect("it is sent");
        }
    }

    /// Takes everything out of the queues, as the services do, until nothing more can come.
    pub async fn take_everything(&self) {
        let consume = async |queue: &str| {
            let options = BasicConsumeOptions { no_ack: true, ..Default::default() };
            let taken = self.channel.basic_consume(queue.into(), "".into(), options, FieldTable::default());
            taken.await.expect("it is consumed").for_each(|_| async {}).await;
        };
        futures::future::join_all(QUEUES.map(consume)).await;
    }

    /// Makes Redis hold these keys and no others.
    pub async fn write(&mut self, keys: &Keys) {
        Self::write_to(&mut self.redis, keys).await;
    }

    /// Makes Redis hold these keys beside what else is there.
    pub async fn add(&mut self, keys: &Keys) {
        Self::add_to(&mut self.redis, keys).await;
    }

    /// The same as [`Live::write`], where only Redis is wanted.
    pub async fn write_to(redis: &mut redis::aio::MultiplexedConnection, keys: &Keys) {
        redis::cmd("FLUSHDB").exec_async(redis).await.expect("emptied");
        Self::add_to(redis, keys).await;
    }

    async fn add_to(redis: &mut redis::aio::MultiplexedConnection, keys: &Keys) {
        for (name, key) in &keys.0 {
            let mut commands: Vec<redis::Cmd> = Vec::new();
            match key {
                Key::Text(text, lives) => {
                    let mut set = redis::cmd("SET");
                    set.arg(name).arg(text);
                    if let Some(seconds) = lives {
                        set.arg("EX").arg(seconds);
                    }
                    commands.push(set);
                }
                Key::Hash(fields) => {
                    commands.extend(fields.iter().map(|(field, value)| {
                        let mut set = redis::cmd("HSET");
                        set.arg(name).arg(field).arg(value);
                        set
                    }));
                }
                Key::Set(members) => {
                    commands.extend(members.iter().map(|member| {
                        let mut add = redis::cmd("SADD");
                        add.arg(name).arg(member);
                        add
                    }));
                }
                Key::Sorted(members) => {
                    commands.extend(members.iter().map(|(member, score)| {
                        let mut add = redis::cmd("ZADD");
                        add.arg(name).arg(score).arg(member);
                        add
                    }));
                }
            }
            for command in commands {
                command.exec_async(redis).await.expect("written");
            }
        }
    }
}
