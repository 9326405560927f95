//! What is open while somebody debugs: one execution at a time, the message that commands are about, and the place in
//! the recording that is looked at.

use std::{path::Path, sync::Arc};

use engine::Plan;
use protocol::{
    Breakpoint, Command, ControlView, Controls, Edit, Event, ExecutionId, ForkWish, HeldMessage, LineageKey,
    MessageId, Mock, NodeId, Payload, PayloadView, Request, Response, RunOptions, When,
};
use serde_json::Value;
use session::{Rest, Session};

use super::{
    show,
    words::{HELP, Word},
};
use crate::{
    edit::Assignment,
    fork::{self, fork_edit},
    outcome::{CommandError, say},
};

pub struct Desk<'s> {
    session: &'s Session,
    plan: Arc<Plan>,
    name: String,
    /// The file, as breakpoints are kept under.
    key: String,
    input: Option<Payload>,
    controls: Controls,
    execution: Option<ExecutionId>,
    selected: Option<MessageId>,
    /// The event that is looked at; the last one where absent.
    position: Option<u64>,
    /// Lines of logpoints that were shown.
    logged: usize,
    /// A fork that waits for a yes.
    wish: Option<ForkWish>,
    /// What is not brought to its end stays as it is.
    stays: bool,
}

impl<'s> Desk<'s> {
    pub async fn new(
        session: &'s Session,
        plan: Arc<Plan>,
        file: &Path,
        input: Option<Payload>,
    ) -> Result<Self, CommandError> {
        let key = session::controls_key(file);
        let controls = session.controls(&key).await?;
        if !controls.breakpoints.is_empty() {
            say(&format!("{} breakpoint(s) from last time", controls.breakpoints.len()))?;
        }
        if !controls.mocks.is_empty() {
            say(&format!("{} pin(s) and mock(s) from last time", controls.mocks.len()))?;
        }
        Ok(Self {
            session,
            plan,
            name: session::stem(file),
            key,
            input,
            controls,
            execution: None,
            selected: None,
            position: None,
            logged: 0,
            wish: None,
            stays: false,
        })
    }

    /// What was not brought to its end is ended.
    pub async fn leave(&self) -> Result<(), CommandError> {
        if let Some(id) = &self.execution
            && self.session.is_running(id)
            && !self.stays
        {
            self.session.cancel(id).await?;
        }
        Ok(())
    }

    /// What is held is to be held again by the next debugger.
    pub fn leave_held(&mut self) -> Result<(), CommandError> {
        let id = self.id()?;
        if !self.session.keeps_holds() {
            let message = format!("{id} cannot be left: nothing of it outlives this debugger");
            return Err(CommandError::usage(message, "start with --store, and without --amqp; quit ends it"));
        }
        self.stays = true;
        Ok(())
    }

    /// Goes on with the newest execution of the workflow that was interrupted.
    pub async fn take_up(&mut self) -> Result<(), CommandError> {
        let Some(id) = self.session.interrupted(&self.key).await?.into_iter().next() else {
            let message = format!("no execution of {} was interrupted", self.key);
            return Err(CommandError::usage(message, "leave out --resume, and start it with run"));
        };
        self.session.take_up(&id).await?;
        self.open(id).await
    }

    pub async fn mention_interrupted(&self) -> Result<(), CommandError> {
        match self.session.interrupted(&self.key).await?.len() {
            0 => Ok(()),
            count => say(&format!(
                "{count} execution(s) of this workflow were interrupted; debug with --resume goes on"
            )),
        }
    }

    pub async fn follow(&mut self, word: Word) -> Result<(), CommandError> {
        match word {
            Word::Break(breakpoint) => self.add(*breakpoint).await,
            Word::Breakpoints => show::breakpoints(&self.controls.breakpoints),
            Word::Delete(number) => self.delete(number).await,
            Word::Run { input, until } => self.run(input, until).await,
            Word::Mock(mock) => self.mock(*mock).await,
            Word::Mocks => show::mocks(&self.controls.mocks),
            Word::Unmock(number) => self.unmock(number).await,
            Word::Stale => show::stale(&self.view().await?.stale),
            Word::Forks => fork::say_tree(&self.session.forks(self.id()?).await?, self.id()?),
            Word::Step => self.command_held(|message_id| Command::Step { message_id }).await,
            Word::Over => self.command_held(|message_id| Command::StepOver { message_id }).await,
            Word::Barrier => self.command_held(|message_id| Command::ToBarrier { message_id }).await,
            Word::To(node_id) => self.command(Command::RunTo { node_id }).await,
            Word::Continue => self.command(Command::Continue).await,
            Word::Pause(None) => self.command(Command::Pause).await,
            Word::Pause(Some(node_id)) => self.command(Command::PauseNode { node_id }).await,
            Word::Resume(node_id) => self.command(Command::ResumeNode { node_id }).await,
            Word::Held => show::held(&self.view().await?, self.selected.as_ref()),
            Word::Select(number) => self.select(number).await,
            Word::Inspect(None) => show::message(&self.current().await?),
            Word::Inspect(Some((node, key))) => self.inspect(node, key).await,
            Word::Set(assignment) => self.set(assignment).await,
            Word::Drop => self.command_held(|message_id| Command::Drop { message_id }).await,
            Word::Duplicate => self.command_held(|message_id| Command::Duplicate { message_id }).await,
            Word::Timers => self.timers().await,
            Word::Warp(None) => self.command(Command::NextTimer).await,
            Word::Warp(Some((node_id, key))) => {
                self.command(Command::FireTimer { node_id, key: LineageKey::from(key.as_str()) }).await
            }
            Word::Wait => self.wait().await,
            Word::Events(node) => show::events(&self.events().await?, node.as_ref()),
            Word::Back(events) => self.look(|at, _| at.saturating_sub(events).max(1)).await,
            Word::Forward(events) => self.look(|at, last| (at + events).min(last)).await,
            Word::Fork { edit, run } => self.fork(edit, run).await,
            Word::Yes => self.yes().await,
            Word::Help => say(HELP),
            Word::Leave | Word::Quit => Ok(()),
        }
    }

    async fn add(&mut self, breakpoint: Breakpoint) -> Result<(), CommandError> {
        let mut controls = self.controls.clone();
        controls.breakpoints.push(breakpoint);
        session::check_controls(&self.plan, &controls)?;
        self.keep(controls).await?;
        let number = self.controls.breakpoints.len();
        say(&format!("breakpoint {number}: {}", show::breakpoint(&self.controls.breakpoints[number - 1])))
    }

    async fn delete(&mut self, number: usize) -> Result<(), CommandError> {
        let mut controls = self.controls.clone();
        if !(1..=controls.breakpoints.len()).contains(&number) {
            return Err(CommandError::usage(format!("there is no breakpoint {number}"), "see breakpoints"));
        }
        controls.breakpoints.remove(number - 1);
        self.keep(controls).await
    }

    /// What was said before of the same node and key counts no more.
    async fn mock(&mut self, mock: Mock) -> Result<(), CommandError> {
        let mut controls = self.controls.clone();
        controls.mocks.retain(|known| (&known.node_id, &known.key) != (&mock.node_id, &mock.key));
        controls.mocks.push(mock);
        session::check_controls(&self.plan, &controls)?;
        self.keep(controls).await?;
        show::mocks(&self.controls.mocks)
    }

    async fn unmock(&mut self, number: usize) -> Result<(), CommandError> {
        let mut controls = self.controls.clone();
        if !(1..=controls.mocks.len()).contains(&number) {
            return Err(CommandError::usage(format!("there is no mock {number}"), "see mocks"));
        }
        controls.mocks.remove(number - 1);
        self.keep(controls).await
    }

    async fn keep(&mut self, controls: Controls) -> Result<(), CommandError> {
        self.session.set_controls(&self.key, controls.clone()).await?;
        self.controls = controls;
        Ok(())
    }

    async fn run(&mut self, input: Option<Value>, until: Option<NodeId>) -> Result<(), CommandError> {
        if let Some(id) = self.execution.as_ref().filter(|id| self.session.is_running(id)) {
            let message = format!("{id} is under way");
            return Err(CommandError::usage(message, "continue it, or quit and start again"));
        }
        let input = input.map(Payload::new).or_else(|| self.input.clone());
        let (plan, path) = (Arc::clone(&self.plan), Some(self.key.clone()));
        let options = RunOptions { until, ..RunOptions::default() };
        let started = self.session.start_as(plan, &self.name, path, input, options).await?;
        self.open(started.execution_id).await
    }

    async fn open(&mut self, id: ExecutionId) -> Result<(), CommandError> {
        say(&format!("execution {id}"))?;
        (self.execution, self.position, self.selected, self.logged) = (Some(id), None, None, 0);
        self.rest().await
    }

    fn id(&self) -> Result<&ExecutionId, CommandError> {
        self.execution.as_ref().ok_or_else(|| CommandError::usage("nothing runs yet", "start it with run"))
    }

    async fn view(&self) -> Result<ControlView, CommandError> {
        Ok(self.session.held(self.id()?).await?)
    }

    /// The message that commands are about: the selected one, else the first that is held.
    async fn current(&self) -> Result<HeldMessage, CommandError> {
        let held = self.view().await?.held;
        let selected = held.iter().find(|held| Some(&held.message_id) == self.selected.as_ref());
        let found = selected.or(held.first()).cloned();
        found.ok_or_else(|| CommandError::usage("nothing is held", "set a breakpoint, or run"))
    }

    async fn select(&mut self, number: usize) -> Result<(), CommandError> {
        let view = self.view().await?;
        let Some(held) = number.checked_sub(1).and_then(|at| view.held.get(at)) else {
            return Err(CommandError::usage(format!("no message {number} is held"), "see held"));
        };
        self.selected = Some(held.message_id.clone());
        show::held(&view, self.selected.as_ref())
    }

    async fn command(&mut self, command: Command) -> Result<(), CommandError> {
        self.session.control(self.id()?, &command).await?;
        self.rest().await
    }

    async fn command_held(&mut self, command: impl FnOnce(MessageId) -> Command) -> Result<(), CommandError> {
        let before = self.view().await?.held;
        let command = command(self.current().await?.message_id);
        self.session.control(self.id()?, &command).await?;
        self.session.until_rest(self.id()?).await?;
        // What has come to be held is what the next command is about.
        let now = self.view().await?.held;
        let is_new = |held: &&HeldMessage| !before.iter().any(|known| known.message_id == held.message_id);
        self.selected = now.iter().find(is_new).map(|held| held.message_id.clone());
        self.rest().await
    }

    /// Waits until nothing moves and says where that is.
    async fn rest(&mut self) -> Result<(), CommandError> {
        self.position = None;
        let rest = self.session.until_rest(self.id()?).await?;
        let view = self.view().await?;
        if let missed @ 1.. = view.log_dropped.saturating_sub(self.logged) {
            say(&format!("{missed} lines of logpoints were not kept"))?;
        }
        for logged in view.log.iter().skip(self.logged.saturating_sub(view.log_dropped)) {
            show::logged(logged)?;
        }
        self.logged = view.log_dropped + view.log.len();
        match rest {
            Rest::Ended => show::ended(&self.events().await?),
            Rest::Still { held: 0, next_due: Some(due) } => show::resting(due),
            Rest::Still { .. } => show::held(&view, self.selected.as_ref()),
        }
    }

    async fn set(&mut self, assignment: Assignment) -> Result<(), CommandError> {
        let held = self.current().await?;
        let edit = match assignment.root.as_str() {
            "parameters" => Edit::Parameters { value: assignment.apply(whole(held.parameters.as_ref())?)? },
            "output" => Edit::Output { value: assignment.apply(whole(held.output.as_ref())?)? },
            root => {
                let seen = whole(Some(&held.context))?;
                let before = seen.get(root).cloned().unwrap_or(Value::Null);
                let root = root.to_owned();
                Edit::Context { entries: [(root, assignment.apply(before)?)].into() }
            }
        };
        let message_id = held.message_id;
        self.selected = Some(message_id.clone());
        self.session.control(self.id()?, &Command::Edit { message_id, edit }).await?;
        show::message(&self.current().await?)
    }

    async fn inspect(&self, node_id: NodeId, key: Option<String>) -> Result<(), CommandError> {
        if self.plan.node(&node_id).is_none() {
            return Err(CommandError::usage(format!("there is no node {node_id}"), "name a node by its id"));
        }
        let (execution_id, key) = (self.id()?.clone(), key.as_deref().map(LineageKey::from));
        let request = Request::NodeDetail { execution_id, node_id, key, at: self.position };
        match self.session.call(request).await? {
            Response::NodeDetail(detail) => show::detail(&detail),
            _ => Ok(()),
        }
    }

    async fn timers(&self) -> Result<(), CommandError> {
        let id = self.id()?;
        match self.session.call(Request::Waits).await? {
            Response::Waits(board) => {
                show::timers(board.timers.iter().filter(|timer| timer.execution_id == *id))
            }
            _ => Ok(()),
        }
    }

    /// Waits until something is held, or the end, however long timers take.
    async fn wait(&mut self) -> Result<(), CommandError> {
        let mut feed = self.session.subscribe();
        while let Rest::Still { held: 0, next_due: Some(_) } = self.session.until_rest(self.id()?).await? {
            feed.next().await;
        }
        self.rest().await
    }

    async fn events(&self) -> Result<Vec<Event>, CommandError> {
        Ok(self.session.recorded(self.id()?).await?)
    }

    async fn look(&mut self, place: impl FnOnce(u64, u64) -> u64) -> Result<(), CommandError> {
        let events = self.events().await?;
        let last = events.len() as u64;
        let at = place(self.position.unwrap_or(last), last);
        self.position = Some(at).filter(|at| *at < last);
        let (execution_id, when) = (self.id()?.clone(), When::Position(at));
        match self.session.call(Request::ViewAt { execution_id, when }).await? {
            Response::Past(past) => show::past(&past, &events),
            _ => Ok(()),
        }
    }

    async fn fork(&mut self, edit: Option<Assignment>, run: Vec<NodeId>) -> Result<(), CommandError> {
        let events = self.events().await?;
        let position = self.position.unwrap_or(events.len() as u64);
        let edit = match edit {
            Some(edit) => Some(fork_edit(self.session, &events, position, vec![edit]).await?),
            None => None,
        };
        let wish = ForkWish::At { position, edit, run };
        let preview = self.session.preview_fork(self.id()?, &wish).await?;
        fork::say_preview(&preview)?;
        self.wish = Some(wish);
        match preview.effects_total {
            0 => self.yes().await,
            _ => say("nothing was started; yes goes on"),
        }
    }

    async fn yes(&mut self) -> Result<(), CommandError> {
        let Some(wish) = self.wish.take() else {
            return Err(CommandError::usage("nothing was asked", "fork first"));
        };
        let parent = self.id()?.clone();
        self.leave().await?;
        let started = self.session.fork(&parent, &wish).await?;
        self.open(started.execution_id).await
    }
}

fn whole(view: Option<&PayloadView>) -> Result<Value, CommandError> {
    match view {
        Some(PayloadView::Whole { json, .. }) => Ok(json.clone()),
        Some(PayloadView::Cut { bytes, .. }) => {
            let message = format!("{bytes} bytes are too many to change here");
            Err(CommandError::usage(message, "change what leads to it"))
        }
        None => Ok(Value::Null),
    }
}
