//! What goes through the broker, in bytes.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures::StreamExt;
use lapin::{
    Connection, ConnectionProperties,
    options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions},
    types::FieldTable,
};
use session::ClusterAddress;

/// Hears a copy of every message that is work.
pub struct Meter {
    connection: Connection,
    bytes: Arc<AtomicU64>,
}

impl Meter {
    pub async fn start(address: &ClusterAddress) -> Result<Self, lapin::Error> {
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
        Ok(Self { connection, bytes })
    }

    pub async fn stop(self) -> u64 {
        // What is under way to us has been sent before the end was known; a moment is enough for it.
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        drop(self.connection);
        self.bytes.load(Ordering::Relaxed)
    }
}
