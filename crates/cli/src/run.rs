//! `runeglass run`, `runeglass follow` and `runeglass resume`.

use std::{
    fs::File,
    io::{BufWriter, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use engine::Plan;
use protocol::{
    CompletionMessage, ExecutionId, NodeId, Payload, Problem, ProblemCode, RunOptions, StatusLine,
};
use runtime::Clock;
use session::{
    AddressPolicy, Cluster, ClusterAddress, Follower, Keep, Options, Session, Statuses, cluster_problem,
};

use crate::{
    cluster::{ClusterArguments, NameArguments},
    outcome::{CommandError, Outcome, say, unwritable},
    progress::Progress,
    reach::ReachArguments,
    standstill::until_held,
    validate::print_diagnostics,
};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass run workflows/hello.json
  runeglass run workflows/hello.json --input '{\"name\": \"Ada\"}' --json
  runeglass run workflows/review.json --events - | head -3

Without --store nothing is kept after the run.")]
pub struct RunArguments {
    /// The workflow file.
    file: PathBuf,
    /// What becomes $trigger: JSON, @FILE, or - for stdin.
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
    /// Keep the recording in this file; an interrupted run can be resumed from it.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    #[command(flatten)]
    reach: ReachArguments,
    /// Run only this node and what leads to it.
    #[arg(long, value_name = "NODE", conflicts_with = "amqp")]
    until: Option<String>,
    /// Let time pass at once, in order, on a simulated clock.
    #[arg(long)]
    virtual_time: bool,
    #[command(flatten)]
    elsewhere: ElsewhereArguments,
}

/// Where it runs, if not in this process.
#[derive(Args)]
#[group(id = "elsewhere")]
struct ElsewhereArguments {
    /// Run on the cluster at this RabbitMQ and --redis.
    #[arg(long, value_name = "URL", requires = "redis", conflicts_with_all = ["store", "virtual_time"])]
    amqp: Option<String>,
    #[arg(long, value_name = "URL", requires = "amqp")]
    redis: Option<String>,
    /// Start it on the cluster, print its id and do not wait.
    #[arg(long, requires = "amqp")]
    detach: bool,
    #[command(flatten)]
    names: NameArguments,
}

#[derive(Args)]
#[command(after_help = "Example:\n  runeglass follow 4f0c2a… --amqp … --redis … --json")]
pub struct FollowArguments {
    /// The execution, as `run --detach` has printed it.
    id: String,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    output: LineArguments,
}

#[derive(Args)]
#[command(after_help = "Example:\n  runeglass resume --store runs.db --json")]
pub struct ResumeArguments {
    /// The store with the interrupted executions.
    #[arg(long, value_name = "PATH")]
    store: PathBuf,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    reach: ReachArguments,
    /// Let go what was held when it was interrupted, and mind no breakpoints.
    #[arg(long)]
    release: bool,
}

/// How it is told what happens.
#[derive(Args)]
struct LineArguments {
    /// Write one JSON message per line as it happens, to a file or to stdout (-).
    #[arg(long, value_name = "PATH|-")]
    events: Option<PathBuf>,
    /// Print the completion as the last line of stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct OutputArguments {
    #[command(flatten)]
    lines: LineArguments,
    /// Write what was counted to a file at the end, as Prometheus reads it.
    #[arg(long, value_name = "PATH")]
    metrics: Option<PathBuf>,
}

impl OutputArguments {
    fn write_metrics(&self, session: &Session) -> Result<(), CommandError> {
        let Some(path) = &self.metrics else { return Ok(()) };
        let what = format!("write {}", path.display());
        std::fs::write(path, session.metrics()).map_err(|error| CommandError::io(&what, &error))
    }
}

pub async fn run(arguments: RunArguments) -> Result<Outcome, CommandError> {
    let loaded = session::read_workflow(&arguments.file);
    print_diagnostics(&arguments.file, &loaded.diagnostics);
    let Some(plan) = loaded.plan else { return Err(CommandError::Said(Outcome::Invalid)) };
    let input = arguments.input.as_deref().map(read_input).transpose()?;
    let mut output = Output::open(&arguments.output.lines)?;
    if let (Some(amqp), Some(redis)) = (&arguments.elsewhere.amqp, &arguments.elsewhere.redis) {
        let address = arguments.elsewhere.names.at(amqp, redis);
        return run_elsewhere(&arguments, &address, plan, input, output).await;
    }

    let clock = Clock::system();
    let clock = if arguments.virtual_time { Clock::simulated(clock.now()) } else { clock };
    let reach = arguments.reach.reach(AddressPolicy::Any);
    let keep = arguments.store.clone().map_or(Keep::Nowhere, Keep::At);
    let session = Session::open(Options { keep, folder: None, clock, recover: false, reach }).await?;
    mention_unfinished(&session, arguments.store.as_deref()).await?;

    let name = session::stem(&arguments.file);
    let title = plan.workflow.name.clone().unwrap_or_else(|| name.clone());
    let mut progress = output.progress(&title, plan.nodes.len());
    let path = arguments.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let options = RunOptions { until: arguments.until.clone().map(NodeId::from), ..RunOptions::default() };
    let started = session.start_as(plan, &name, path, input, options).await?;
    let mut statuses = started.statuses;
    let id = &started.execution_id;
    let completion = tokio::select! {
        completion = follow_here(&session, id, &mut statuses, &mut output, &mut progress) => completion,
        _ = tokio::signal::ctrl_c() => {
            session.cancel(id).await?;
            follow_here(&session, id, &mut statuses, &mut output, &mut progress).await
        }
    };
    // Why it did not come to its end says more than what went wrong afterwards.
    let closed = session.close().await;
    let completion = completion?;
    closed?;
    arguments.output.write_metrics(&session)?;
    output.close(&completion)?;
    Ok(completion.status.into())
}

/// Starts it on a cluster and follows it there.
async fn run_elsewhere(
    arguments: &RunArguments,
    address: &ClusterAddress,
    plan: Arc<Plan>,
    input: Option<Payload>,
    mut output: Output,
) -> Result<Outcome, CommandError> {
    let cluster = arguments.elsewhere.names.patiently(|| Cluster::connect(address)).await?;
    let name = session::stem(&arguments.file);
    let title = plan.workflow.name.clone().unwrap_or_else(|| name.clone());
    let nodes = plan.nodes.len();
    let path = arguments.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let id = cluster.start(plan, &name, path, input).await?;
    if arguments.elsewhere.detach {
        say(id.as_str())?;
        return Ok(Outcome::Completed);
    }
    let mut progress = output.progress(&title, nodes);
    let mut follower = cluster.follow(&id).await?;
    let followed = tokio::select! {
        followed = follow_there(&mut follower, &id, &mut output, &mut progress) => followed,
        _ = tokio::signal::ctrl_c() => {
            cluster.cancel(&id).await?;
            follow_there(&mut follower, &id, &mut output, &mut progress).await
        }
    };
    Ok(followed?.status.into())
}

/// Tells how an execution on a cluster goes on, until its end.
async fn follow_there(
    follower: &mut Follower,
    id: &ExecutionId,
    output: &mut Output,
    progress: &mut Option<Progress>,
) -> Result<CompletionMessage, CommandError> {
    while let Some((_, lines)) = follower.next().await.map_err(|error| cluster_problem(&error))? {
        for line in lines {
            if let Some(completion) = output.pass_on(line, progress)? {
                output.close(&completion)?;
                return Ok(completion);
            }
        }
    }
    Err(CommandError::Problem(Problem::new(
        ProblemCode::Infrastructure,
        format!("the log of {id} ends without an end"),
        "somebody else may write to the same keys; choose another --queue-prefix",
    )))
}

/// Follows an execution that was started before, or tells how it has ended.
pub async fn follow(arguments: FollowArguments) -> Result<Outcome, CommandError> {
    let mut output = Output::open(&arguments.output)?;
    let cluster = arguments.cluster.connect().await?;
    let id = ExecutionId::from(arguments.id);
    let mut follower = cluster.follow(&id).await?;
    let mut progress = output.progress(&format!("following {id}; Ctrl-C looks away, and it goes on"), 0);
    tokio::select! {
        followed = follow_there(&mut follower, &id, &mut output, &mut progress) => Ok(followed?.status.into()),
        _ = tokio::signal::ctrl_c() => {
            eprintln!("{id} goes on without us");
            Ok(Outcome::Completed)
        }
    }
}

pub async fn resume(arguments: ResumeArguments) -> Result<Outcome, CommandError> {
    if !arguments.store.exists() {
        let message = format!("there is no store at {}", arguments.store.display());
        return Err(CommandError::usage(message, "name the file that was given to --store"));
    }
    let mut output = Output::open(&arguments.output.lines)?;
    let keep = Keep::At(arguments.store);
    let reach = arguments.reach.reach(AddressPolicy::Any);
    let options = Options { keep, folder: None, clock: Clock::system(), recover: true, reach };
    let session = Session::open(options).await?;
    if session.recovered().is_empty() {
        eprintln!("nothing to resume: every execution in this store has ended");
    }
    let mut outcome = Outcome::Completed;
    for id in session.recovered() {
        let mut progress = output.progress(&format!("resuming {id}"), 0);
        let mut statuses = session.statuses(id).await?;
        if arguments.release {
            session.let_go(id).await?;
        }
        let completion = match follow_here(&session, id, &mut statuses, &mut output, &mut progress).await {
            // It stays held; the others go on.
            Err(CommandError::Said(Outcome::FailedOrHalted)) => {
                outcome = Outcome::FailedOrHalted;
                continue;
            }
            followed => followed?,
        };
        output.close(&completion)?;
        if outcome == Outcome::Completed {
            outcome = completion.status.into();
        }
    }
    session.close().await?;
    arguments.output.write_metrics(&session)?;
    Ok(outcome)
}

async fn follow_here(
    session: &Session,
    id: &ExecutionId,
    statuses: &mut Statuses,
    output: &mut Output,
    progress: &mut Option<Progress>,
) -> Result<CompletionMessage, CommandError> {
    let (trouble, held) = (session.until_trouble(), until_held(session, id));
    tokio::pin!(trouble, held);
    loop {
        let line = tokio::select! {
            biased;
            line = statuses.next() => line,
            problem = &mut trouble => return Err(problem.into()),
            held = &mut held => return Err(held),
        };
        let Some(line) = line else { break };
        if let Some(completion) = output.pass_on(line, progress)? {
            return Ok(completion);
        }
    }
    // The feed ends early only when the engine has stopped; it has said why, or is about to.
    Err(trouble.await.into())
}

async fn mention_unfinished(session: &Session, store: Option<&Path>) -> Result<(), CommandError> {
    let unfinished = session.unfinished().await?.len();
    if let (Some(store), 1..) = (store, unfinished) {
        let command = format!("runeglass resume --store {}", store.display());
        eprintln!("{unfinished} interrupted execution(s) in this store; `{command}` goes on with them");
    }
    Ok(())
}

pub fn read_input(argument: &str) -> Result<Payload, CommandError> {
    let (text, what) = if argument == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| CommandError::io("read stdin", &error))?;
        (text, "stdin".to_owned())
    } else if let Some(path) = argument.strip_prefix('@') {
        let text = std::fs::read_to_string(path).map_err(|error| {
            CommandError::usage(format!("cannot read {path}: {error}"), "check the path behind @")
        })?;
        (text, path.to_owned())
    } else {
        (argument.to_owned(), "--input".to_owned())
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        CommandError::usage(
            format!("{what} is not JSON: {error}"),
            "for example --input '{\"name\": \"Ada\"}'",
        )
    })?;
    Ok(Payload::new(value))
}

/// Where messages go.
struct Output {
    events: Option<Box<dyn Write + Send>>,
    on_stdout: bool,
    json: bool,
}

impl Output {
    fn open(arguments: &LineArguments) -> Result<Self, CommandError> {
        let on_stdout = arguments.events.as_deref() == Some(Path::new("-"));
        let events: Option<Box<dyn Write + Send>> = match &arguments.events {
            Some(_) if on_stdout => Some(Box::new(std::io::stdout())),
            Some(path) => {
                let what = format!("write {}", path.display());
                let file = File::create(path).map_err(|error| CommandError::io(&what, &error))?;
                Some(Box::new(BufWriter::new(file)))
            }
            None => None,
        };
        Ok(Self { events, on_stdout, json: arguments.json })
    }

    /// People get lines on stderr unless messages are on stdout already.
    fn progress(&self, title: &str, nodes: usize) -> Option<Progress> {
        (!self.on_stdout && !self.json).then(|| Progress::new(title, nodes))
    }

    /// Writes a message and shows it; gives the completion, which is the last one.
    fn pass_on(
        &mut self,
        line: StatusLine,
        progress: &mut Option<Progress>,
    ) -> Result<Option<CompletionMessage>, CommandError> {
        self.write(&line)?;
        match line {
            StatusLine::Status(status) => {
                if let Some(progress) = progress {
                    progress.status(&status);
                }
                Ok(None)
            }
            StatusLine::Completion(completion) => {
                if let Some(progress) = progress {
                    progress.completion(&completion);
                }
                Ok(Some(*completion))
            }
        }
    }

    fn write(&mut self, line: &StatusLine) -> Result<(), CommandError> {
        let Some(events) = &mut self.events else { return Ok(()) };
        let text = serde_json::to_string(line).map_err(|error| CommandError::usage(error.to_string(), ""))?;
        let written =
            writeln!(events, "{text}").and_then(|()| if self.on_stdout { events.flush() } else { Ok(()) });
        written.map_err(|error| unwritable(&error))
    }

    fn close(&mut self, completion: &CompletionMessage) -> Result<(), CommandError> {
        if let Some(events) = &mut self.events {
            events.flush().map_err(|error| unwritable(&error))?;
        }
        // With `--events -` the completion is the last line already.
        if self.json && !self.on_stdout {
            let text = serde_json::to_string(completion)
                .map_err(|error| CommandError::usage(error.to_string(), ""))?;
            say(&text)?;
        }
        Ok(())
    }
}
