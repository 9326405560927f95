//! Following one execution as the messages of RFC 001.

use std::{collections::VecDeque, sync::Arc};

use protocol::{Event, ExecutionId, ExecutionStatus, Fact, StatusLine};
use recording::StatusFold;
use tokio::sync::mpsc;

pub struct Statuses {
    execution_id: ExecutionId,
    feed: mpsc::Receiver<Arc<Vec<Event>>>,
    fold: StatusFold,
    /// Events up to here were seen already.
    position: u64,
    lines: VecDeque<StatusLine>,
    ended: bool,
}

impl Statuses {
    pub(crate) fn new(execution_id: ExecutionId, feed: mpsc::Receiver<Arc<Vec<Event>>>) -> Self {
        Self {
            execution_id,
            feed,
            fold: StatusFold::default(),
            position: 0,
            lines: VecDeque::new(),
            ended: false,
        }
    }

    /// Takes in the past without repeating it; what the past ended with is still said.
    pub(crate) fn after(
        execution_id: ExecutionId,
        past: &[Event],
        feed: mpsc::Receiver<Arc<Vec<Event>>>,
    ) -> Self {
        let mut statuses = Self::new(execution_id, feed);
        for event in past {
            statuses.position = event.seq;
            let said = statuses.fold.apply(event);
            statuses.lines.extend(said.into_iter().filter(|line| matches!(line, StatusLine::Completion(_))));
        }
        statuses
    }

    /// Waits for the end without making the messages that lead there, which is what a host does that shows the view.
    /// `None` when the engine has stopped before it.
    pub async fn end(mut self) -> Option<ExecutionStatus> {
        let id = self.execution_id;
        let end = |event: &Event| match &event.fact {
            Fact::ExecutionEnded(ended) if event.execution_id == id => Some(ended.status),
            Fact::ExecutionEnded(_)
            | Fact::ExecutionStarted(_)
            | Fact::NodeStarted(_)
            | Fact::NodeParked(_)
            | Fact::AttemptFailed(_)
            | Fact::NodeSucceeded(_)
            | Fact::NodeFailed(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_) => None,
        };
        loop {
            let group = self.feed.recv().await?;
            if let Some(status) = group.iter().find_map(end) {
                return Some(status);
            }
        }
    }

    /// The next message. `None` after the completion, or when the engine has stopped before it.
    pub async fn next(&mut self) -> Option<StatusLine> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                self.ended = matches!(line, StatusLine::Completion(_));
                return Some(line);
            }
            if self.ended {
                return None;
            }
            let group = self.feed.recv().await?;
            let ours = group.iter().filter(|event| event.execution_id == self.execution_id);
            for event in ours.filter(|event| event.seq > self.position) {
                self.lines.extend(self.fold.apply(event));
            }
        }
    }
}
