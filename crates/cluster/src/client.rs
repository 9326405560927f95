//! Starting an execution on the cluster, following it and stopping it.

use std::time::Duration;

use protocol::{Event, ExecutionId, StatusLine};
use redis::{AsyncConnectionConfig, aio::MultiplexedConnection};
use runtime::{Clock, Start};

use crate::{
    ClusterError, Log, Looks, Post, Topology, desk::Desk, execution::Wish, log::Standing, replica::Replica,
};

/// How long one question for more facts waits for them, in milliseconds.
const WAIT_MILLIS: usize = 1_000;

pub struct Client {
    desk: Desk,
    redis: String,
}

impl Client {
    pub async fn connect(
        amqp: &str,
        redis: &str,
        topology: Topology,
        name: &str,
        clock: Clock,
    ) -> Result<Self, ClusterError> {
        let log = Log::connect(redis, topology.prefix(), 600_000).await?;
        clock.set(log.now().await?);
        let post = Post::open(amqp, topology).await?;
        let looks = Looks::new(&log);
        let desk = Desk { log, looks, post, clock, name: name.to_owned(), silence: 30_000 };
        Ok(Self { desk, redis: redis.to_owned() })
    }

    /// Returns when the start is written down and its first messages are with the broker.
    pub async fn start(&self, start: Start) -> Result<(), ClusterError> {
        self.desk.start(start).await
    }

    /// Ends an execution as halted. False if it has ended already.
    pub async fn cancel(&self, id: &ExecutionId) -> Result<bool, ClusterError> {
        if self.desk.log.standing(id).await?.is_none() {
            return Err(ClusterError::Unknown(id.clone()));
        }
        let Some(execution) = self.desk.open(id).await? else { return Ok(false) };
        let now = self.desk.clock.now();
        match execution.write(Wish::Cancel { now }).await? {
            Some(written) => self.desk.publish(&execution, &written).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Follows an execution from its beginning.
    pub async fn follow(&self, id: &ExecutionId) -> Result<Follower, ClusterError> {
        Follower::open(&self.redis, self.desk.log.clone(), id).await
    }
}

/// The facts of an execution, as they are written.
pub struct Follower {
    connection: MultiplexedConnection,
    log: Log,
    id: ExecutionId,
    replica: Option<Replica>,
    /// Nothing more is to come.
    over: bool,
}

impl Follower {
    pub async fn open(redis: &str, log: Log, id: &ExecutionId) -> Result<Self, ClusterError> {
        // Questions wait on this connection, so it has no other use.
        let patience = Duration::from_millis(WAIT_MILLIS as u64 * 5);
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(patience));
        let client = redis::Client::open(redis)?;
        let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(Self { connection, log, id: id.clone(), replica: None, over: false })
    }

    /// What has been written since, and the messages that announce it. `None` after the end. Where the end came and the
    /// facts are gone already, such as into the store of a master, only the completion is left to be told.
    pub async fn next(&mut self) -> Result<Option<(Vec<Event>, Vec<StatusLine>)>, ClusterError> {
        while !self.over {
            let behind = self.replica.as_ref().map_or(0, |replica| replica.ledger.position());
            // In this order: what was written before the end can be read, unless it is gone.
            let standing = self.log.standing(&self.id).await?;
            let found = self.log.read(&self.id, behind).await?;
            if !found.is_empty() {
                return self.take_in(found).map(Some);
            }
            match standing {
                Some(Standing { ended: true, .. }) => {
                    self.over = true;
                    let completion = self.log.result(&self.id).await?;
                    return Ok(completion.map(|it| (Vec::new(), vec![StatusLine::Completion(Box::new(it))])));
                }
                None if behind == 0 => return Err(ClusterError::Unknown(self.id.clone())),
                None | Some(_) => {}
            }
            let _: redis::Value = redis::cmd("XREAD")
                .arg("COUNT")
                .arg(1)
                .arg("BLOCK")
                .arg(WAIT_MILLIS)
                .arg("STREAMS")
                .arg(self.log.key(&self.id, "log"))
                .arg(format!("{behind}-0"))
                .query_async(&mut self.connection)
                .await?;
        }
        Ok(None)
    }

    fn take_in(&mut self, found: Vec<Event>) -> Result<(Vec<Event>, Vec<StatusLine>), ClusterError> {
        let mut replica = match self.replica.take() {
            Some(replica) => replica,
            None => Replica::before(&found)?,
        };
        let (mut events, mut statuses) = (Vec::with_capacity(found.len()), Vec::new());
        for event in found {
            let made = replica.apply(event)?;
            events.push(made.event);
            statuses.extend(made.statuses);
        }
        self.over = replica.ledger.is_ended();
        self.replica = Some(replica);
        Ok((events, statuses))
    }
}
