//! What a backend is: it hands out messages and takes back what came of them.

use std::{future::Future, sync::Arc};

use engine::{Again, Effects, Message, Plan};
use protocol::{ExecutionId, MessageId, Millis, Payload};
use tokio::sync::watch;

use crate::Standstills;

pub trait Backend: Send + Sync + 'static {
    type Error: std::error::Error + Send + Sync + 'static;

    /// The next message; `None` once the backend is closed.
    fn receive(&self) -> impl Future<Output = Result<Option<Delivery>, Self::Error>> + Send;

    /// Makes known that a node is about to do its work. False where somebody else does it, or nobody has to any more.
    fn announce(
        &self,
        receipt: &Receipt,
        announcement: Announcement,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// The firing rests until a moment; its message comes back then, resumed.
    fn park(
        &self,
        receipt: Receipt,
        now: Millis,
        due: Millis,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// An attempt came to nothing; the message comes back for the next one.
    fn retry(
        &self,
        receipt: Receipt,
        at: Millis,
        duration: Millis,
        again: Again,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// The moment of the next timer.
    fn next_due(&self) -> Option<Millis>;

    /// Returns when the next timer may be another one; `false` once the backend is closed. The backend has told the
    /// clock that work began; whoever hears this says when it ended.
    fn timers_changed(&self) -> impl Future<Output = bool> + Send;

    /// Wakes everything that is due. Joins whose time is over may be given more of it.
    fn fire_due(
        &self,
        now: Millis,
        standstills: &Standstills,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// One atomic step: the message is done, its children are under way, the facts are appended. An error means that
    /// nothing of it happened and the message comes back.
    fn commit(
        &self,
        receipt: Receipt,
        conclusion: Conclusion,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// A message in hand.
pub struct Delivery {
    pub plan: Arc<Plan>,
    pub message: Message,
    pub receipt: Receipt,
    pub stopped: Stopped,
}

/// The right to commit one message, once: it cannot be cloned, and `commit` takes it.
#[derive(Debug)]
pub struct Receipt {
    pub execution_id: ExecutionId,
    pub message_id: MessageId,
    pub attempt: u32,
}

pub struct Announcement {
    pub at: Millis,
    pub parameters: Option<Payload>,
    /// Something outside is asked next, so the announcement must be durable first.
    pub before_call: bool,
}

pub struct Conclusion {
    /// Where nothing was waited for in between, the announcement comes along.
    pub announcement: Option<Announcement>,
    pub at: Millis,
    pub duration: Millis,
    pub effects: Effects,
}

/// Becomes true when the execution has ended while a message of it is still in hand.
#[derive(Clone)]
pub struct Stopped(pub watch::Receiver<bool>);

impl Stopped {
    /// Waits until the execution has ended; for ever if it goes on.
    pub async fn wait(&mut self) {
        if self.0.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
