//! Letters to RabbitMQ, confirmed, and letters from it.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, future::try_join_all};
use lapin::{
    BasicProperties, Channel, Confirmation, Connection, ConnectionProperties, Consumer, PublisherConfirm,
    message::Delivery,
    options::{BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions},
    types::{AMQPValue, FieldTable, LongString, ShortString},
};
use tokio::sync::{Mutex, mpsc, watch};

use crate::{
    ClusterError, Queue, Topology,
    insist::Patience,
    slate::{Debt, Slate},
};

/// Letters under way at once; more are sent in units of so many.
const UNIT: usize = 500;
/// How long a confirmation may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Letter {
    pub queue: Queue,
    pub body: Vec<u8>,
    pub headers: FieldTable,
}

impl Letter {
    pub fn new(queue: Queue, body: Vec<u8>) -> Self {
        Self { queue, body, headers: FieldTable::default() }
    }

    pub fn with_header(mut self, name: &str, text: &str) -> Self {
        self.headers.insert(ShortString::from(name), AMQPValue::LongString(LongString::from(text)));
        self
    }
}

/// Sends. One connection of its own, so that a broker that holds back publishers does not hold back acknowledgements.
pub struct Post {
    url: String,
    topology: Topology,
    channels: Mutex<Option<Arc<Channels>>>,
    patience: Patience,
}

struct Channels {
    connection: Connection,
    confirmed: Channel,
    /// Held while letters are handed over to it.
    turn: Mutex<()>,
    /// For what may be lost without harm.
    loose: Channel,
}

impl Post {
    pub async fn open(url: &str, topology: Topology) -> Result<Self, ClusterError> {
        let post =
            Self { url: url.to_owned(), topology, channels: Mutex::default(), patience: Patience::default() };
        post.channels().await?;
        Ok(post)
    }

    /// The same, insisting as long as this says.
    pub fn with_patience(self, patience: &Patience) -> Self {
        Self { patience: patience.clone(), ..self }
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Makes what is missing, and says that what is there is still wanted.
    pub async fn declare(&self) -> Result<(), ClusterError> {
        self.topology.declare(&self.channels().await?.loose).await
    }

    /// Takes the queues and exchanges away.
    pub async fn remove(&self) -> Result<(), ClusterError> {
        self.topology.remove(&self.channels().await?.loose).await
    }

    /// Returns when the broker has all of them safe, however long that takes.
    pub async fn send(&self, letters: &[Letter]) -> Result<(), ClusterError> {
        for unit in letters.chunks(UNIT) {
            self.patience.insist("send messages", || self.send_unit(unit)).await?;
        }
        Ok(())
    }

    /// Tells whoever listens, without waiting for an answer.
    pub async fn tell(&self, letters: &[Letter]) -> Result<(), ClusterError> {
        if letters.is_empty() {
            return Ok(());
        }
        let channels = self.channels().await?;
        let sent = self.hand_over(&channels.loose, letters, false).await;
        self.mind(&channels, sent).await?;
        Ok(())
    }

    async fn send_unit(&self, letters: &[Letter]) -> Result<(), ClusterError> {
        let channels = self.channels().await?;
        let sent = async {
            let handed_over = {
                // The broker confirms by number, and letters are numbered as they are handed over.
                let _turn = channels.turn.lock().await;
                self.hand_over(&channels.confirmed, letters, true).await?
            };
            try_join_all(handed_over).await
        };
        let sent = tokio::time::timeout(PATIENCE, sent).await;
        let late = |_| ClusterError::NotConfirmed(format!("{} messages in time", letters.len()));
        let answers = match sent.map_err(late) {
            Ok(answers) => self.mind(&channels, answers).await?,
            Err(error) => {
                self.give_up(&channels).await;
                return Err(error);
            }
        };
        for (answer, letter) in answers.iter().zip(letters) {
            // A mandatory message that no queue takes comes back inside the confirmation.
            match answer {
                Confirmation::Ack(None) => {}
                Confirmation::Ack(Some(_)) | Confirmation::Nack(_) | Confirmation::NotRequested => {
                    return Err(ClusterError::NotConfirmed(self.topology.queue(letter.queue)));
                }
            }
        }
        Ok(())
    }

    /// All at once: each of them waits until it is written to the socket, and what waits together is written together.
    async fn hand_over(
        &self,
        channel: &Channel,
        letters: &[Letter],
        mandatory: bool,
    ) -> Result<Vec<PublisherConfirm>, lapin::Error> {
        try_join_all(letters.iter().map(|letter| self.publish(channel, letter, mandatory))).await
    }

    async fn publish(
        &self,
        channel: &Channel,
        letter: &Letter,
        mandatory: bool,
    ) -> Result<PublisherConfirm, lapin::Error> {
        let options = BasicPublishOptions { mandatory, ..BasicPublishOptions::default() };
        let properties = BasicProperties::default()
            .with_delivery_mode(if mandatory { 2 } else { 1 })
            .with_content_type(ShortString::from("application/json"))
            .with_headers(letter.headers.clone());
        let (exchange, key) = match letter.queue {
            // The queue of its own name is bound to nothing but the exchange for what nobody takes.
            Queue::Parking => (String::new(), self.topology.queue(Queue::Parking)),
            queue => (self.topology.exchange(), self.topology.queue(queue)),
        };
        let (exchange, key) = (ShortString::from(exchange), ShortString::from(key));
        channel.basic_publish(exchange, key, options, &letter.body, properties).await
    }

    /// After an error the next one starts with a new connection.
    async fn mind<T>(
        &self,
        used: &Arc<Channels>,
        result: Result<T, lapin::Error>,
    ) -> Result<T, ClusterError> {
        if result.is_err() {
            self.give_up(used).await;
        }
        Ok(result?)
    }

    async fn give_up(&self, used: &Arc<Channels>) {
        let mut channels = self.channels.lock().await;
        if channels.as_ref().is_some_and(|present| Arc::ptr_eq(present, used)) {
            *channels = None;
        }
    }

    async fn channels(&self) -> Result<Arc<Channels>, ClusterError> {
        let mut channels = self.channels.lock().await;
        if let Some(present) = channels.as_ref().filter(|present| present.connection.status().connected()) {
            return Ok(Arc::clone(present));
        }
        let connection = Connection::connect(&self.url, ConnectionProperties::default()).await?;
        let confirmed = connection.create_channel().await?;
        self.topology.declare(&confirmed).await?;
        confirmed.confirm_select(ConfirmSelectOptions::default()).await?;
        let loose = connection.create_channel().await?;
        let opened = Arc::new(Channels { connection, confirmed, turn: Mutex::default(), loose });
        *channels = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

/// A letter that has come, and from which queue.
pub struct Arrived {
    pub queue: Queue,
    pub delivery: Delivery,
    pub debt: Debt,
}

/// Receives from some queues until it is closed, through as many connections as it takes.
pub async fn receive(
    url: String,
    topology: Topology,
    queues: &'static [Queue],
    prefetch: u16,
    inbox: mpsc::Sender<Arrived>,
    mut closed: watch::Receiver<bool>,
) -> Result<(), ClusterError> {
    // It ends when it is closed, so it needs no other limit.
    let patience = Patience::default();
    loop {
        let opened = patience.insist("receive messages", || consume(&url, &topology, queues, prefetch));
        let (connection, consumers) = tokio::select! {
            opened = opened => opened?,
            () = is_closed(&mut closed) => return Ok(()),
        };
        let mut arriving = futures::stream::select_all(consumers.into_iter().map(|(queue, consumer)| {
            let slate = Arc::new(Slate::default());
            consumer.map(move |delivery| (queue, Arc::clone(&slate), delivery))
        }));
        loop {
            let next = tokio::select! {
                next = arriving.next() => next,
                () = is_closed(&mut closed) => {
                    // What is in hand is acknowledged through this connection.
                    inbox.closed().await;
                    drop(connection);
                    return Ok(());
                }
            };
            match next {
                Some((queue, slate, Ok(delivery))) => {
                    let debt = Debt::new(&delivery, &slate);
                    if inbox.send(Arrived { queue, delivery, debt }).await.is_err() {
                        return Ok(());
                    }
                }
                Some((_, _, Err(error))) => {
                    tracing::warn!(%error, "the connection to RabbitMQ broke; trying again");
                    break;
                }
                None => break,
            }
        }
    }
}

/// Returns when the worker takes no more, or is gone.
async fn is_closed(closed: &mut watch::Receiver<bool>) {
    let _ = closed.wait_for(|closed| *closed).await;
}

async fn consume(
    url: &str,
    topology: &Topology,
    queues: &[Queue],
    prefetch: u16,
) -> Result<(Connection, Vec<(Queue, Consumer)>), ClusterError> {
    let connection = Connection::connect(url, ConnectionProperties::default()).await?;
    topology.declare(&connection.create_channel().await?).await?;
    let mut consumers = Vec::with_capacity(queues.len());
    for &queue in queues {
        // A channel each: its letters are then taken in the order of their numbers, and one word for all up to a letter
        // cannot mean one of another queue that nobody has looked at yet.
        let channel = connection.create_channel().await?;
        channel.basic_qos(prefetch, BasicQosOptions::default()).await?;
        let name = ShortString::from(topology.queue(queue));
        let options = BasicConsumeOptions::default();
        let consumer =
            channel.basic_consume(name, ShortString::from(""), options, FieldTable::default()).await?;
        consumers.push((queue, consumer));
    }
    Ok((connection, consumers))
}
