//! A connection to RabbitMQ that sends with confirmation and receives with acknowledgement.

use lapin::{
    BasicProperties, Channel, Confirmation, Connection, ConnectionProperties,
    message::BasicGetMessage,
    options::{
        BasicAckOptions, BasicGetOptions, BasicPublishOptions, BasicRejectOptions, ConfirmSelectOptions,
    },
    types::ShortString,
};
use protocol::NodeExecutionMessage;

use crate::{ClusterError, Queue, Topology};

pub struct Broker {
    // Dropping the connection closes its channels.
    _connection: Connection,
    channel: Channel,
    topology: Topology,
}

/// A message in hand; it goes back to the queue unless it is acknowledged or parked.
pub struct Delivered {
    pub message: NodeExecutionMessage,
    receipt: BasicGetMessage,
}

impl Delivered {
    pub async fn acknowledge(self) -> Result<(), ClusterError> {
        self.receipt.ack(BasicAckOptions::default()).await?;
        Ok(())
    }

    /// To the parking queue.
    pub async fn park(self) -> Result<(), ClusterError> {
        self.receipt.reject(BasicRejectOptions { requeue: false }).await?;
        Ok(())
    }
}

impl Broker {
    pub async fn connect(url: &str, topology: Topology) -> Result<Self, ClusterError> {
        let connection = Connection::connect(url, ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        topology.declare(&channel).await?;
        Ok(Self { _connection: connection, channel, topology })
    }

    /// Returns when the broker has the message safe.
    pub async fn send(&self, message: &NodeExecutionMessage) -> Result<(), ClusterError> {
        let queue = self.topology.queue(Queue::Execution);
        let unreadable = |error: serde_json::Error| ClusterError::Unreadable {
            queue: queue.clone(),
            detail: error.to_string(),
        };
        let body = serde_json::to_vec(message).map_err(unreadable)?;
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let properties = BasicProperties::default()
            .with_delivery_mode(2)
            .with_content_type(ShortString::from("application/json"));
        let exchange = ShortString::from(self.topology.exchange());
        let confirmation = self
            .channel
            .basic_publish(exchange, ShortString::from(queue.clone()), options, &body, properties)
            .await?
            .await?;
        // A mandatory message that no queue takes comes back inside the confirmation.
        match confirmation {
            Confirmation::Ack(None) => Ok(()),
            Confirmation::Ack(Some(_)) | Confirmation::Nack(_) | Confirmation::NotRequested => {
                Err(ClusterError::NotConfirmed(queue))
            }
        }
    }

    /// The next message of a queue, if there is one. What cannot be read is parked.
    pub async fn receive(&self, queue: Queue) -> Result<Option<Delivered>, ClusterError> {
        let name = self.topology.queue(queue);
        let found =
            self.channel.basic_get(ShortString::from(name.clone()), BasicGetOptions::default()).await?;
        let Some(receipt) = found else { return Ok(None) };
        match serde_json::from_slice(&receipt.data) {
            Ok(message) => Ok(Some(Delivered { message, receipt })),
            Err(error) => {
                receipt.reject(BasicRejectOptions { requeue: false }).await?;
                Err(ClusterError::Unreadable { queue: name, detail: error.to_string() })
            }
        }
    }
}
