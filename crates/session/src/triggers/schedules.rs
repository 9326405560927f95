//! Keeps the schedules of the workflow folder: starts what is due, follows what changes.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use engine::nodes::{Occasion, occasion};
use protocol::{
    Event, ExecutionId, Fact, Millis, Node, Payload, Problem, ProblemCode, Workflow, WorkflowEntry,
};
use serde_json::json;
use tokio::sync::{mpsc, watch};

use super::{
    Trigger, nodes,
    timetable::{Tick, Timetable},
};
use crate::Session;

/// What has come to pass, for the log of a host.
#[derive(Debug)]
pub enum Turn {
    /// The workflows were looked at, for the first time or because they have changed.
    Following {
        schedules: usize,
    },
    Started {
        trigger: Trigger,
        execution_id: ExecutionId,
    },
    /// The execution before this tick is still under way; so many ticks in a row were skipped for it.
    Skipped {
        trigger: Trigger,
        skipped: u64,
    },
    /// This tick has started nothing; the next one tries again.
    Failed {
        trigger: Trigger,
        problem: Problem,
    },
    Ended {
        trigger: Trigger,
        execution_id: ExecutionId,
    },
}

/// Works as long as somebody asks for the next turn. Whoever stops asking must drop it, because the engine waits
/// for readers that fall far behind.
pub struct Schedules<'s> {
    session: &'s Session,
    workflows: watch::Receiver<Vec<WorkflowEntry>>,
    feed: mpsc::Receiver<Arc<Vec<Event>>>,
    timetable: Timetable,
    turns: VecDeque<Turn>,
    /// The clock has woken us and stands still, if it is a simulated one, until we look for the next tick.
    busy: bool,
}

/// What ends the rest between two turns.
enum News {
    Rang,
    Changed,
    /// `None` once the engine has stopped.
    Recorded(Option<Arc<Vec<Event>>>),
}

impl Session {
    /// The schedules of the workflow folder, from now on.
    pub fn schedules(&self) -> Result<Schedules<'_>, Problem> {
        let mut schedules = Schedules {
            session: self,
            workflows: self.library()?.follow(),
            feed: self.engine.feed(),
            timetable: Timetable::default(),
            turns: VecDeque::new(),
            busy: false,
        };
        schedules.look();
        Ok(schedules)
    }
}

impl Schedules<'_> {
    /// The next turn; `None` once the engine has stopped.
    pub async fn next(&mut self) -> Option<Turn> {
        loop {
            // Ends that were heard of come first: they decide whether a tick is skipped.
            while let Ok(group) = self.feed.try_recv() {
                self.take_in(&group);
            }
            if let Some(turn) = self.turns.pop_front() {
                return Some(turn);
            }
            if let Some(tick) = self.timetable.take_due(self.session.clock.now()) {
                return Some(self.serve(tick).await);
            }
            match self.rest().await {
                News::Rang => self.busy = true,
                News::Changed => self.look(),
                News::Recorded(Some(group)) => self.take_in(&group),
                News::Recorded(None) => return None,
            }
        }
    }

    async fn rest(&mut self) -> News {
        let clock = &self.session.clock;
        let (due, busy) = (self.timetable.next_due(), std::mem::take(&mut self.busy));
        let alarm = async {
            match due {
                Some(due) => clock.alarm(due, busy).await,
                None => {
                    clock.keeper_rests(busy);
                    std::future::pending().await
                }
            }
        };
        tokio::select! {
            // The alarm is set before anything else is looked at, so that a simulated clock is always let go.
            biased;
            () = alarm => News::Rang,
            group = self.feed.recv() => News::Recorded(group),
            Ok(()) = self.workflows.changed() => News::Changed,
        }
    }

    fn look(&mut self) {
        let found = schedules_of(&self.workflows.borrow_and_update());
        self.timetable.follow(found, self.session.clock.now());
        self.turns.push_back(Turn::Following { schedules: self.timetable.len() });
    }

    fn take_in(&mut self, group: &[Event]) {
        let ended = group.iter().filter(|event| matches!(event.fact, Fact::ExecutionEnded(_)));
        for Event { execution_id, .. } in ended {
            if let Some(trigger) = self.timetable.ended(execution_id) {
                self.turns.push_back(Turn::Ended { trigger, execution_id: execution_id.clone() });
            }
        }
    }

    async fn serve(&mut self, tick: Tick) -> Turn {
        let (trigger, due) = match tick {
            Tick::Start { trigger, due } => (trigger, due),
            Tick::Skip { trigger, skipped } => return Turn::Skipped { trigger, skipped },
        };
        let input = Payload::new(json!({"scheduled_at": protocol::iso8601(due)}));
        let scheduled = |node: &Node| node.id == trigger.node && interval(node).is_some();
        let at = |workflow: &Workflow| nodes(workflow, scheduled);
        match self.session.start_at(&trigger.path, at, input).await {
            Ok(Some(execution_id)) => {
                self.timetable.started(trigger.clone(), execution_id.clone());
                Turn::Started { trigger, execution_id }
            }
            Ok(None) => {
                let hint = "the file has changed a moment ago; the change is about to be followed";
                let problem = Problem::new(ProblemCode::NotFound, "there is no such schedule any more", hint);
                Turn::Failed { trigger, problem }
            }
            Err(problem) => Turn::Failed { trigger, problem },
        }
    }
}

fn schedules_of(entries: &[WorkflowEntry]) -> BTreeMap<Trigger, Millis> {
    let nodes = entries.iter().flat_map(|entry| {
        let nodes = entry.definition.iter().flat_map(|workflow| &workflow.nodes);
        nodes.map(|node| (&entry.path, node))
    });
    let schedule = |(path, node): (&String, &Node)| {
        Some((Trigger { path: path.clone(), node: node.id.clone() }, interval(node)?))
    };
    nodes.filter_map(schedule).collect()
}

fn interval(node: &Node) -> Option<Millis> {
    match occasion(node) {
        Ok(Occasion::Schedule { every }) => Some(every),
        // A schedule that makes no sense is a complaint about its workflow, which says so itself.
        Ok(Occasion::Manual | Occasion::Webhook { .. }) | Err(_) => None,
    }
}
