//! `runeglass attach`: look into a live cluster from a terminal.

mod told;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use protocol::{
    ClusterConnection, ClusterDialect, ClusterView, Passwords, Problem, ProblemCode, Request, Response,
    Update,
};
use session::{AddressPolicy, Clock, Keep, Options, Reach, Session, Subscription};

use crate::{
    cluster::asked_to_stop,
    outcome::{CommandError, Outcome, say, say_json},
};
use told::Told;

#[derive(Args)]
#[command(after_help = "\
Example:
  runeglass attach --amqp amqp://reader@host:5672/%2f --redis redis://host:6379

Nothing is changed there: one queue of its own hears copies, and Redis is only read. Ctrl-C leaves.
With --for it leaves by itself, with exit code 1 if something was wrong at the end.")]
pub struct AttachArguments {
    /// RabbitMQ, such as amqp://user:password@host:5672/%2f, or amqps:// for TLS.
    #[arg(long, value_name = "URL", env = "RUNEGLASS_AMQP", hide_env_values = true)]
    amqp: String,
    /// Redis or Valkey, such as redis://host:6379, or rediss:// for TLS.
    #[arg(long, value_name = "URL", env = "RUNEGLASS_REDIS", hide_env_values = true)]
    redis: String,
    /// In front of the names of queues and keys.
    #[arg(long, value_name = "PREFIX", default_value = "")]
    queue_prefix: String,
    /// What the cluster is called here.
    #[arg(long, default_value = "cluster")]
    name: String,
    /// Keep what is seen in this store; forgotten where absent.
    #[arg(long, value_name = "PATH")]
    record: Option<PathBuf>,
    /// Whose workers they are; found out where absent.
    #[arg(long, value_enum, default_value_t = DialectChoice::Auto)]
    dialect: DialectChoice,
    /// One JSON message per line and change.
    #[arg(long)]
    json: bool,
    /// Leave after so many seconds.
    #[arg(long = "for", value_name = "SECONDS")]
    limit: Option<u64>,
    /// Rules for what is hidden before it is shown or kept: {"names": [...], "patterns": [...], "everywhere": true}.
    #[arg(long, value_name = "FILE")]
    redact: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum DialectChoice {
    Auto,
    Runeglass,
    Rune,
}

impl DialectChoice {
    fn dialect(self) -> Option<ClusterDialect> {
        match self {
            Self::Auto => None,
            Self::Runeglass => Some(ClusterDialect::Runeglass),
            Self::Rune => Some(ClusterDialect::Rune),
        }
    }
}

pub async fn attach(arguments: AttachArguments) -> Result<Outcome, CommandError> {
    let record = arguments.record.clone();
    let session = Session::open(Options {
        keep: arguments.record.map_or(Keep::Nowhere, Keep::At),
        folder: None,
        clock: Clock::system(),
        // Whatever else is in the store is left alone.
        recover: false,
        // Nothing runs here.
        reach: Reach { addresses: AddressPolicy::PublicOnly, credentials: None, redaction: arguments.redact },
    })
    .await?;
    let connection = ClusterConnection {
        name: arguments.name,
        colour: String::new(),
        amqp: arguments.amqp,
        redis: arguments.redis,
        prefix: arguments.queue_prefix,
        dialect: arguments.dialect.dialect(),
    };
    let request = Request::Attach { connection, passwords: Passwords::default(), record: record.is_some() };
    let mut updates = session.subscribe();
    let view = match session.call(request).await {
        Ok(Response::Cluster(Some(view))) => view,
        Ok(_) => return Ok(Outcome::Infrastructure),
        Err(problem) if problem.code == ProblemCode::InvalidRequest => {
            return Err(CommandError::Usage(problem));
        }
        Err(problem) => return Err(problem.into()),
    };
    let mut screen = Screen::new(arguments.json);
    screen.begin(&view)?;
    let trouble = follow(&mut screen, &mut updates, arguments.limit).await?;
    let last = session.cluster().await;
    let closed = tokio::select! {
        closed = session.close() => closed,
        // Whoever asks twice does not want to wait.
        () = asked_to_stop() => Err(left_at_once()),
    };
    if let Some(problem) = trouble.or(closed.err()) {
        screen.end(last.as_ref(), None)?;
        return Err(problem.into());
    }
    screen.end(last.as_ref(), record.as_deref())?;
    match (arguments.limit, last) {
        (Some(_), Some(view)) if !view.findings.is_empty() || !view.troubles.is_empty() => {
            Ok(Outcome::FailedOrHalted)
        }
        _ => Ok(Outcome::Completed),
    }
}

/// Shows what is new until somebody has seen enough, or until nothing comes any more; says why.
async fn follow(
    screen: &mut Screen,
    updates: &mut Subscription,
    limit: Option<u64>,
) -> Result<Option<Problem>, CommandError> {
    let time_is_up = async {
        match limit {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    // It listens all the time, also while something is printed.
    let stop = asked_to_stop();
    tokio::pin!(time_is_up, stop);
    loop {
        let news = tokio::select! {
            news = updates.next() => news,
            () = &mut stop => return Ok(None),
            () = &mut time_is_up => return Ok(None),
        };
        for update in news {
            let trouble = match &update {
                Update::Trouble(problem) => Some(problem.clone()),
                _ => None,
            };
            // For people it is said at the end.
            if trouble.is_none() || screen.json {
                screen.update(&update)?;
            }
            if trouble.is_some() {
                return Ok(trouble);
            }
        }
    }
}

fn left_at_once() -> Problem {
    let message = "left before what was seen last was taken in";
    Problem::new(ProblemCode::Infrastructure, message, "ask once, and wait")
}

/// Where lines go: above the one that is always there, if this is a terminal.
struct Screen {
    json: bool,
    told: Told,
    bar: Option<ProgressBar>,
}

impl Screen {
    fn new(json: bool) -> Self {
        let bar = (!json && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Self { json, told: Told::default(), bar }
    }

    fn begin(&mut self, view: &ClusterView) -> Result<(), CommandError> {
        if self.json {
            return say_json(&Update::Cluster(Some(Box::new(view.clone()))));
        }
        let lines = self.told.begin(view);
        if let Some(bar) = &self.bar {
            bar.set_message(self.told.now(view));
        }
        self.lines(&lines)
    }

    fn update(&mut self, update: &Update) -> Result<(), CommandError> {
        if self.json {
            return say_json(update);
        }
        let lines = self.told.update(update);
        if let (Some(bar), Update::Cluster(Some(view))) = (&self.bar, update) {
            bar.set_message(self.told.now(view));
        }
        self.lines(&lines)
    }

    fn end(&self, view: Option<&ClusterView>, record: Option<&Path>) -> Result<(), CommandError> {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        match view.filter(|_| !self.json) {
            Some(view) => say(&self.told.end(view)),
            None => return Ok(()),
        }?;
        match record.map(Path::display) {
            Some(store) => say(&format!("kept in {store}: `runeglass find --store {store}` lists it")),
            None => Ok(()),
        }
    }

    fn lines(&self, lines: &[String]) -> Result<(), CommandError> {
        let print = || lines.iter().try_for_each(|line| say(line));
        match &self.bar {
            Some(bar) if !lines.is_empty() => bar.suspend(print),
            Some(_) | None => print(),
        }
    }
}
