//! What workers and those who start executions have in common: the log, the post, and how a step that was written is
//! made known.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use engine::Message;
use protocol::{ExecutionId, Fact, Millis, NodeId, NodeStatus, NodeStatusMessage, StatusLine};
use runtime::{Clock, Start};

use crate::{
    ClusterError, Letter, Log, Looks, Post, Queue,
    execution::{Execution, Written},
    log::{Appended, Step},
    replica::Replica,
    wire,
};

/// The name under which the first messages of an execution are marked as published.
const START: &str = "start";

pub struct Desk {
    pub log: Log,
    pub looks: Looks,
    pub post: Post,
    pub clock: Clock,
    /// Who writes; unique among all that do.
    pub name: String,
    /// An execution that has been silent for so long is looked at.
    pub silence: Millis,
}

impl Desk {
    /// An execution that goes on, from the log.
    pub async fn open(&self, id: &ExecutionId) -> Result<Option<Arc<Execution>>, ClusterError> {
        let standing = self.log.insist("ask for an execution", || self.log.standing(id)).await?;
        match standing {
            Some(standing) if !standing.ended => self.read(id).await,
            Some(_) | None => Ok(None),
        }
    }

    /// An execution from the log, however it stands; `None` if its facts are not kept any more.
    async fn read(&self, id: &ExecutionId) -> Result<Option<Arc<Execution>>, ClusterError> {
        let events = self.log.insist("read the log", || self.log.read(id, 0)).await?;
        if events.is_empty() {
            return Ok(None);
        }
        let execution =
            Execution::new(id.clone(), self.log.clone(), self.name.clone(), Replica::begin(events)?);
        execution.catch_up(&mut *execution.replica().await).await?;
        Ok(Some(Arc::new(execution)))
    }

    pub async fn start(&self, start: Start) -> Result<(), ClusterError> {
        wire::check_id(&start.execution_id).map_err(|why| ClusterError::Refused(why.message))?;
        self.begin(&start.execution_id, start.fact()).await
    }

    /// Writes the start of an execution and sends its first messages. Starting twice is starting once.
    pub async fn begin(&self, id: &ExecutionId, fact: Fact) -> Result<(), ClusterError> {
        let now = self.clock.now();
        self.log.insist("ask for a look", || self.looks.ask(id, now + self.silence)).await?;
        let step = Step { facts: vec![(now, fact)], units: vec![(START.to_owned(), 1)], ..Step::default() };
        match self.log.insist("write the start", || self.log.append(id, 0, &step)).await? {
            Appended::Yes | Appended::Behind(_) => {}
            Appended::Ended | Appended::Lost => return Ok(()),
        }
        let Some(execution) = self.open(id).await? else { return Ok(()) };
        self.clock.work_began(execution.replica().await.ledger.since(1).count());
        self.publish_again(&execution, START).await
    }

    /// Publishes what a step has brought about, and says that it is published. A simulated clock counts messages once,
    /// however often they travel: when they become ready, and when they are done with or rest.
    pub async fn publish(&self, execution: &Execution, written: &Written) -> Result<(), ClusterError> {
        self.clock.work_began(written.messages.len());
        self.send(execution, written).await?;
        self.clock.work_ended(written.abandoned);
        Ok(())
    }

    async fn send(&self, execution: &Execution, written: &Written) -> Result<(), ClusterError> {
        let letters = self.letters(execution, &written.messages, None).await?;
        self.post.send(&letters).await?;
        self.tell(&written.statuses).await;
        if written.ended {
            self.complete(execution).await?;
        }
        if !written.units.is_empty() {
            self.log
                .insist("mark as published", || self.log.published(&execution.id, &written.units))
                .await?;
        }
        match written.ended {
            true => self.log.insist("retire an execution", || self.log.retire(&execution.id)).await,
            false => Ok(()),
        }
    }

    /// The same, where whoever made the step may not have come to it.
    pub async fn publish_again(&self, execution: &Execution, unit: &str) -> Result<(), ClusterError> {
        let position =
            self.log.insist("ask what is published", || self.log.unpublished(&execution.id, unit)).await?;
        let Some(position) = position else { return Ok(()) };
        let mut written = Written::default();
        written.units.push(unit.to_owned());
        {
            let mut replica = execution.replica().await;
            execution.catch_up(&mut replica).await?;
            written.messages.extend(replica.ledger.since(position).map(|message| (message.clone(), None)));
            written.ended = replica.ledger.is_ended();
        }
        self.send(execution, &written).await
    }

    /// Says how an execution has ended.
    async fn complete(&self, execution: &Execution) -> Result<(), ClusterError> {
        let completion = execution.replica().await.completion.clone();
        let Some(completion) = completion else { return Ok(()) };
        let body = serde_json::to_string(&completion).map_err(ClusterError::unwritable)?;
        self.log.insist("keep the result", || self.log.keep_result(&execution.id, &body)).await?;
        self.post.send(&[Letter::new(Queue::Completion, body.into_bytes())]).await
    }

    /// Says it again, if whoever ended it may not have come to it; nor to let it go.
    pub async fn complete_again(&self, id: &ExecutionId) -> Result<(), ClusterError> {
        if self.log.insist("ask what is published", || self.log.has_unpublished(id)).await? {
            // Where the facts are kept elsewhere by now, it was said.
            let Some(execution) = self.read(id).await? else { return Ok(()) };
            self.complete(&execution).await?;
            self.log.insist("mark as published", || self.log.all_published(id)).await?;
        }
        self.log.insist("retire an execution", || self.log.retire(id)).await
    }

    pub async fn letters(
        &self,
        execution: &Execution,
        messages: &[(Message, Option<NodeId>)],
        resumed: Option<Millis>,
    ) -> Result<Vec<Letter>, ClusterError> {
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        let common = execution.replica().await.common();
        let mut referred = HashMap::new();
        for payload in messages.iter().flat_map(|(message, _)| wire::referred(message)) {
            referred.entry(payload.hash()).or_insert(payload);
        }
        let fresh = execution.not_kept(referred);
        self.log.insist("keep payloads", || self.log.keep(&execution.id, &fresh)).await?;
        let letter = |(message, from): &(Message, Option<NodeId>)| {
            let body = wire::work(&common, message, from.as_ref(), resumed)?;
            Ok(Letter::new(Queue::Execution, body))
        };
        messages.iter().map(letter).collect()
    }

    /// Tells whoever listens how nodes are doing. Nobody depends on it.
    async fn tell(&self, lines: &[StatusLine]) {
        let statuses = newest(lines).into_iter().filter_map(|status| serde_json::to_vec(status).ok());
        let letters: Vec<Letter> = statuses.map(|body| Letter::new(Queue::Status, body)).collect();
        if let Err(error) = self.post.tell(&letters).await {
            tracing::warn!(%error, messages = letters.len(), "statuses were not sent");
        }
    }
}

/// Statuses that say something once all of them are known: of the arrivals at a join that were written together only the
/// last one tells how far it is.
fn newest(lines: &[StatusLine]) -> Vec<&NodeStatusMessage> {
    let mut told = HashSet::new();
    let newest = lines.iter().rev().filter_map(|line| match line {
        StatusLine::Status(status) if is_progress(status) => {
            let items: Vec<usize> = status.lineage_stack.iter().map(|frame| frame.item_index).collect();
            told.insert((&status.node_id, items)).then_some(&**status)
        }
        StatusLine::Status(status) => Some(&**status),
        StatusLine::Completion(_) => None,
    });
    let mut newest: Vec<&NodeStatusMessage> = newest.collect();
    newest.reverse();
    newest
}

/// Whether a join says how much has arrived.
fn is_progress(status: &NodeStatusMessage) -> bool {
    status.status == NodeStatus::Waiting && status.details.is_some() && status.metadata.is_none()
}

#[cfg(test)]
mod tests {
    use protocol::Lineage;
    use serde_json::{Value, json};

    use super::*;

    fn status(node: &str, status: NodeStatus, details: Value) -> StatusLine {
        let details = (!details.is_null()).then_some(details);
        StatusLine::Status(Box::new(NodeStatusMessage {
            workflow_id: "w".into(),
            execution_id: "e".into(),
            node_id: node.into(),
            node_name: node.to_owned(),
            status,
            parameters: None,
            output: None,
            error: None,
            executed_at: String::new(),
            duration_ms: 0,
            lineage_stack: Lineage::default().frames(&"e".into()),
            details,
            metadata: None,
        }))
    }

    #[test]
    fn arrivals_that_were_written_together_are_told_once() {
        use NodeStatus::{Running, Success, Waiting};
        let lines = [
            status("edit", Success, Value::Null),
            status("all", Waiting, json!({"processed": 1, "total": 9})),
            status("both", Waiting, json!({"arrived": 1, "expected": 2})),
            status("edit", Success, Value::Null),
            status("all", Waiting, json!({"processed": 2, "total": 9})),
            status("last", Running, Value::Null),
        ];
        let told: Vec<(&str, Option<&Value>)> = newest(&lines)
            .into_iter()
            .map(|status| (status.node_id.as_str(), status.details.as_ref()))
            .collect();
        let (both, all) = (json!({"arrived": 1, "expected": 2}), json!({"processed": 2, "total": 9}));
        let wanted =
            [("edit", None), ("both", Some(&both)), ("edit", None), ("all", Some(&all)), ("last", None)];
        assert_eq!(told, wanted);
    }
}
