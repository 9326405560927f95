//! What goes through the broker: how executions end, and how many bytes it takes.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures::StreamExt;
use lapin::{
    Channel, Connection, ConnectionProperties, Consumer,
    options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions, QueuePurgeOptions},
    types::FieldTable,
};
use protocol::{CompletionMessage, ExecutionId};
use redis::aio::MultiplexedConnection;
use session::ClusterAddress;

/// Hears how executions end, from the queue of RFC 001: whoever waits for a result listens there.
pub struct Ear {
    channel: Channel,
    completions: Consumer,
    _connection: Connection,
}

impl Ear {
    pub async fn open(address: &ClusterAddress) -> Result<Self, lapin::Error> {
        let connection = Connection::connect(&address.amqp, ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        let listen = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
        let queue = "workflow.completion".into();
        let completions = channel.basic_consume(queue, "".into(), listen, FieldTable::default()).await?;
        Ok(Self { channel, completions, _connection: connection })
    }

    /// Nobody listens to statuses here; those of one run are not to burden the next.
    pub async fn forget_statuses(&self) -> Result<(), lapin::Error> {
        let queue = "workflow.node.status".into();
        self.channel.queue_purge(queue, QueuePurgeOptions::default()).await.map(|_| ())
    }

    /// The end of an execution.
    pub async fn end_of(&mut self, id: &ExecutionId) -> Result<CompletionMessage, anyhow::Error> {
        while let Some(heard) = self.completions.next().await {
            let completion: CompletionMessage = serde_json::from_slice(&heard?.data)?;
            if completion.execution_id == *id {
                return Ok(completion);
            }
        }
        Err(anyhow::anyhow!("no more completions come"))
    }
}

/// Bytes that an execution has moved.
pub struct Moved {
    /// As work, through the broker.
    pub broker: f64,
    /// Into Redis and out of it.
    pub redis: f64,
}

/// Hears a copy of every message that is work, and asks Redis what it has seen.
pub struct Meter {
    connection: Connection,
    bytes: Arc<AtomicU64>,
    redis: MultiplexedConnection,
    before: u64,
}

impl Meter {
    pub async fn start(address: &ClusterAddress) -> Result<Self, anyhow::Error> {
        let connection = Connection::connect(&address.amqp, ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        let own =
            QueueDeclareOptions { exclusive: true, auto_delete: true, ..QueueDeclareOptions::default() };
        let queue = channel.queue_declare("".into(), own, FieldTable::default()).await?.name().clone();
        let (exchange, key) = ("workflows".into(), "workflow.execution".into());
        let bind = QueueBindOptions::default();
        channel.queue_bind(queue.clone(), exchange, key, bind, FieldTable::default()).await?;
        let listen = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
        let mut heard = channel.basic_consume(queue, "".into(), listen, FieldTable::default()).await?;
        let bytes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&bytes);
        tokio::spawn(async move {
            while let Some(Ok(message)) = heard.next().await {
                counter.fetch_add(message.data.len() as u64, Ordering::Relaxed);
            }
        });
        let client = redis::Client::open(address.redis.as_str())?;
        let mut redis = client.get_multiplexed_async_connection().await?;
        let before = through(&mut redis).await?;
        Ok(Self { connection, bytes, redis, before })
    }

    pub async fn stop(mut self) -> Result<Moved, anyhow::Error> {
        // What is under way to us has been sent before the end was known; a moment is enough for it.
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let after = through(&mut self.redis).await?;
        drop(self.connection);
        let broker = self.bytes.load(Ordering::Relaxed) as f64;
        Ok(Moved { broker, redis: (after - self.before) as f64 })
    }
}

/// What has gone into Redis and out of it since it was started.
async fn through(redis: &mut MultiplexedConnection) -> Result<u64, redis::RedisError> {
    let said: String = redis::cmd("INFO").arg("stats").query_async(redis).await?;
    let figure = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|figure| figure.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    Ok(figure("total_net_input_bytes") + figure("total_net_output_bytes"))
}
