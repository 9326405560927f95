//! `runeglass attach`: look into a live cluster from a terminal.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::IsTerminal,
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use protocol::{
    ClusterConnection, ClusterDialect, ClusterView, ExecutionId, ExecutionPhase, Finding, Passwords, Problem,
    ProblemCode, Request, Response, Update, ViewPatch,
};
use session::{AddressPolicy, Clock, Keep, Options, Session};

use crate::{
    cluster::asked_to_stop,
    outcome::{CommandError, Outcome, say, say_json},
    reach::ReachArguments,
    terminal::{plain, short},
};

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
    #[command(flatten)]
    reach: ReachArguments,
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
    let record = arguments.record.is_some();
    let session = Session::open(Options {
        keep: arguments.record.map_or(Keep::Nowhere, Keep::At),
        folder: None,
        clock: Clock::system(),
        // Whatever else is in the store is left alone.
        recover: false,
        reach: arguments.reach.reach(AddressPolicy::PublicOnly),
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
    let request = Request::Attach { connection, passwords: Passwords::default(), record };
    let mut updates = session.subscribe();
    let view = match session.call(request).await {
        Ok(Response::Cluster(Some(view))) => view,
        Ok(_) => return Ok(Outcome::Infrastructure),
        Err(problem) if problem.code == ProblemCode::InvalidRequest => {
            return Err(CommandError::Usage(problem));
        }
        Err(problem) => return Err(problem.into()),
    };
    let mut told = Told::new(arguments.json);
    told.begin(&view)?;
    let time_is_up = async {
        match arguments.limit {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(time_is_up);
    loop {
        let news = tokio::select! {
            news = updates.next() => news,
            () = asked_to_stop() => break,
            () = &mut time_is_up => break,
        };
        for update in news {
            told.update(update)?;
        }
    }
    let last = session.cluster().await;
    session.close().await?;
    told.end(last.as_ref())?;
    match (arguments.limit, last) {
        (Some(_), Some(view)) if !view.findings.is_empty() || !view.troubles.is_empty() => {
            Ok(Outcome::FailedOrHalted)
        }
        _ => Ok(Outcome::Completed),
    }
}

/// What was said so far, so that only what is new is said.
struct Told {
    json: bool,
    bar: Option<ProgressBar>,
    running: BTreeMap<ExecutionId, String>,
    ended: usize,
    findings: BTreeSet<String>,
    troubles: BTreeSet<String>,
    dialect: Option<ClusterDialect>,
    gaps: usize,
    passed_over: u64,
}

impl Told {
    fn new(json: bool) -> Self {
        let bar = (!json && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Self {
            json,
            bar,
            running: BTreeMap::new(),
            ended: 0,
            findings: BTreeSet::new(),
            troubles: BTreeSet::new(),
            dialect: None,
            gaps: 0,
            passed_over: 0,
        }
    }

    fn begin(&mut self, view: &ClusterView) -> Result<(), CommandError> {
        if self.json {
            return self.line_of(&Update::Cluster(Some(Box::new(view.clone()))));
        }
        self.line(&format!(
            "LIVE {}: looking, changing nothing; Ctrl-C leaves",
            plain(&view.connection.name)
        ))?;
        self.cluster(view)
    }

    fn update(&mut self, update: Update) -> Result<(), CommandError> {
        if self.json {
            return self.line_of(&update);
        }
        match update {
            Update::Execution(patch) => self.execution(&patch),
            Update::Cluster(Some(view)) => self.cluster(&view),
            Update::Trouble(problem) => self.trouble(&problem),
            Update::Cluster(None) | Update::Workflows(_) | Update::Control => Ok(()),
        }
    }

    fn execution(&mut self, patch: &ViewPatch) -> Result<(), CommandError> {
        let summary = &patch.summary;
        let (id, title) = (&summary.execution_id, short(&summary.title, 40));
        let began = summary.ended_at.is_none() && self.running.insert(id.clone(), title.clone()).is_none();
        if began {
            let late = summary.observed.as_ref().is_some_and(|observed| observed.joined_late);
            let late = if late { "  (joined late: its beginning was not seen)" } else { "" };
            return self.line(&format!("▶ {title}  {id}{late}"));
        }
        if summary.ended_at.is_none() {
            return Ok(());
        }
        if self.running.remove(id).is_none() {
            self.line(&format!("▶ {title}  {id}"))?;
        }
        self.ended += 1;
        let error =
            summary.error.as_ref().map(|error| format!("  {}", plain(&error.message))).unwrap_or_default();
        match summary.phase {
            ExecutionPhase::Completed => self.line(&format!("✓ {title}  {id} completed{error}")),
            ExecutionPhase::Failed => self.line(&format!("✕ {title}  {id} failed{error}")),
            ExecutionPhase::Halted => self.line(&format!("■ {title}  {id} halted{error}")),
            ExecutionPhase::Running => Ok(()),
        }
    }

    fn cluster(&mut self, view: &ClusterView) -> Result<(), CommandError> {
        if view.dialect.is_some() && self.dialect != view.dialect {
            self.dialect = view.dialect;
            self.line(match view.dialect {
                Some(ClusterDialect::Rune) => "· these are workers of the Rune services",
                Some(ClusterDialect::Runeglass) | None => "· these are workers of Runeglass",
            })?;
        }
        let troubles: BTreeSet<String> =
            view.troubles.iter().map(|trouble| trouble.message.clone()).collect();
        for trouble in view.troubles.iter().filter(|trouble| !self.troubles.contains(&trouble.message)) {
            self.line(&format!("! {}: {}", plain(&trouble.message), plain(&trouble.hint)))?;
        }
        for over in self.troubles.difference(&troubles) {
            self.line(&format!("· over: {}", plain(over)))?;
        }
        self.troubles = troubles;
        let key = |finding: &Finding| {
            format!("{:?} {:?} {:?} {:?}", finding.rule, finding.execution_id, finding.node_id, finding.since)
        };
        let findings: BTreeSet<String> = view.findings.iter().map(key).collect();
        for finding in view.findings.iter().filter(|finding| !self.findings.contains(&key(finding))) {
            self.line(&format!("! {}", plain(&finding.sentence)))?;
            self.line(&format!("  → {}", plain(&finding.advice)))?;
        }
        self.findings = findings;
        for gap in view.gaps.iter().skip(self.gaps) {
            self.line(&format!("· gap: {}", plain(&gap.why)))?;
        }
        self.gaps = view.gaps.len();
        if view.passed_over > 0 && self.passed_over == 0 {
            self.line("· there are more executions than can be followed; those that are not are counted, and not listed")?;
        }
        self.passed_over = view.passed_over;
        self.show(view);
        Ok(())
    }

    fn show(&self, view: &ClusterView) {
        if let Some(bar) = &self.bar {
            let waiting: u64 = view.queues.iter().map(|queue| queue.messages).sum();
            let redis = view.redis.as_ref().map_or(0, |redis| redis.used_bytes / (1024 * 1024));
            bar.set_message(format!(
                "LIVE {} · {} running, {} ended · {waiting} messages waiting · Redis {redis} MiB · {} heard, {} dropped",
                plain(&view.connection.name),
                self.running.len(),
                self.ended,
                view.heard,
                view.dropped,
            ));
        }
    }

    fn trouble(&self, problem: &Problem) -> Result<(), CommandError> {
        self.line(&format!("! {}: {}", plain(&problem.message), plain(&problem.hint)))
    }

    fn end(&self, view: Option<&ClusterView>) -> Result<(), CommandError> {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let Some(view) = view.filter(|_| !self.json) else { return Ok(()) };
        let mut line = format!("left: {} messages heard, {} dropped", view.heard, view.dropped);
        line.push_str(&format!(", {} executions ended, {} go on", self.ended, self.running.len()));
        if view.passed_over > 0 {
            line.push_str(&format!(", {} not listed: there were too many", view.passed_over));
        }
        if !view.findings.is_empty() {
            line.push_str(&format!(", {} things wrong", view.findings.len()));
        }
        say(&line)
    }

    fn line(&self, line: &str) -> Result<(), CommandError> {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    fn line_of(&self, update: &Update) -> Result<(), CommandError> {
        say_json(update)
    }
}
