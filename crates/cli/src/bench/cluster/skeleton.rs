//! The bare skeleton of a cluster: messages are published with confirmation, every one is consumed, changes something
//! in Redis by one script, and is acknowledged. Every item is a message, and so is its arrival at the end. No engine.

use futures::{StreamExt, future::try_join_all};
use lapin::{
    BasicProperties, Channel, Connection, ConnectionProperties,
    message::Delivery,
    options::{
        BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions,
        QueueDeclareOptions,
    },
    types::{AMQPValue, FieldTable, ShortString},
};
use redis::{Script, aio::MultiplexedConnection};
use session::ClusterAddress;
use tokio::{sync::mpsc, task::JoinSet};

const CONSUMERS: usize = 2;
const PREFETCH: u16 = 128;
const WINDOW: usize = 500;
/// As large as ours are.
const BYTES: usize = 600;

const DAY_MILLIS: i64 = 24 * 3_600 * 1_000;

/// The queue that it goes through.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Through {
    /// As the queue of our work is: with priorities, and messages that do not live for ever.
    OneLikeOurs,
    /// One that is durable, and nothing more.
    APlainOne,
}

/// Messages per second: every item is one, and so is its arrival.
pub async fn measure(address: &ClusterAddress, items: usize, through: Through) -> Result<f64, anyhow::Error> {
    let connection = Connection::connect(&address.amqp, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    channel.confirm_select(ConfirmSelectOptions::default()).await?;
    let queue = QueueDeclareOptions { durable: true, auto_delete: true, ..QueueDeclareOptions::default() };
    let mut arguments = FieldTable::default();
    if through == Through::OneLikeOurs {
        arguments.insert("x-max-priority".into(), AMQPValue::LongInt(10));
        arguments.insert("x-message-ttl".into(), AMQPValue::LongLongInt(DAY_MILLIS));
    }
    // The broker names it: one of the same name may still be on its way out.
    let queue = channel.queue_declare("".into(), queue, arguments).await?.name().clone();
    let redis = redis::Client::open(address.redis.as_str())?.get_multiplexed_async_connection().await?;
    let (done, mut arrived) = mpsc::channel(1_000);
    let mut consumers = JoinSet::new();
    for _ in 0..CONSUMERS {
        let connection = Connection::connect(&address.amqp, ConnectionProperties::default()).await?;
        consumers.spawn(consume(connection, queue.clone(), redis.clone(), done.clone()));
    }
    let began = tokio::time::Instant::now();
    let body = vec![b'i'; BYTES];
    for first in (0..items).step_by(WINDOW) {
        let window = first..items.min(first + WINDOW);
        let handed_over = try_join_all(window.map(|_| publish(&channel, &queue, &body))).await?;
        try_join_all(handed_over).await?;
    }
    for _ in 0..items {
        tokio::select! {
            _ = arrived.recv() => {}
            Some(ended) = consumers.join_next() => {
                ended??;
                anyhow::bail!("a consumer has stopped");
            }
        }
    }
    Ok(2.0 * items as f64 / began.elapsed().as_secs_f64())
}

async fn publish(
    channel: &Channel,
    queue: &ShortString,
    body: &[u8],
) -> Result<lapin::PublisherConfirm, lapin::Error> {
    let properties = BasicProperties::default().with_delivery_mode(2);
    channel.basic_publish("".into(), queue.clone(), BasicPublishOptions::default(), body, properties).await
}

async fn consume(
    connection: Connection,
    queue: ShortString,
    redis: MultiplexedConnection,
    done: mpsc::Sender<()>,
) -> Result<(), anyhow::Error> {
    let channel = connection.create_channel().await?;
    channel.basic_qos(PREFETCH, BasicQosOptions::default()).await?;
    channel.confirm_select(ConfirmSelectOptions::default()).await?;
    let options = BasicConsumeOptions::default();
    let consumer = channel.basic_consume(queue.clone(), "".into(), options, FieldTable::default()).await?;
    let script =
        Script::new("redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) return redis.call('EXPIRE', KEYS[1], 60)");
    let each = async |message: Result<Delivery, lapin::Error>| -> Result<(), anyhow::Error> {
        let message = message?;
        let mut redis = redis.clone();
        let mut call = script.key("bench:skeleton");
        let _: i64 = call.arg(message.delivery_tag).arg(&message.data[..]).invoke_async(&mut redis).await?;
        if message.data.first() == Some(&b'i') {
            publish(&channel, &queue, &[b'a'; BYTES]).await?.await?;
        } else {
            done.send(()).await?;
        }
        message.acker.ack(BasicAckOptions::default()).await?;
        Ok(())
    };
    let mut working = consumer.map(each).buffer_unordered(usize::from(PREFETCH));
    while let Some(worked) = working.next().await {
        worked?;
    }
    Ok(())
}
