//! `runeglass`: the engine and its tools on the command line.

mod attach;
mod bench;
mod cluster;
mod compare;
mod credentials;
mod dead_letters;
mod debug;
mod edit;
mod explain;
mod export;
mod find;
mod fork;
mod import;
mod metrics;
mod outcome;
mod plan;
mod progress;
mod reach;
mod replay;
mod run;
mod serve;
mod source;
mod standstill;
mod store;
mod terminal;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt, filter_fn},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use outcome::CommandError;

/// Events are made on one thread and freed on another, by the hundred thousand; the system's allocator suffers there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "runeglass", version, about = "See inside every workflow execution.", after_help = EXAMPLE)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Examples:
  runeglass run workflows/hello.json
  runeglass serve workflows

Exit codes: 0 completed, 1 failed or halted, 2 invalid workflow or usage, 3 infrastructure.";

#[derive(Subcommand)]
enum Command {
    /// Run a workflow here, in this process, or on a cluster.
    Run(run::RunArguments),
    /// Go on with the executions in a store that a crash or a restart interrupted.
    Resume(run::ResumeArguments),
    /// Hold a workflow at its nodes and step through it.
    Debug(debug::DebugArguments),
    /// Go on from any event of a recorded execution, with something changed, in a new one.
    Fork(fork::ForkArguments),
    /// Run the failed items of a fan-out again, and take the others from the recording.
    Rerun(fork::RerunArguments),
    /// Show where a fork comes from, and what else comes from there.
    Forks(fork::ForksArguments),
    /// Say everything that is wrong with workflow files.
    Validate(validate::ValidateArguments),
    /// Say what is known about a workflow before it runs: scopes, joins, who waits for what.
    Plan(plan::PlanArguments),
    /// Show the user interface in a browser, on this machine only.
    Serve(serve::ServeArguments),
    /// Work for a cluster on RabbitMQ and Redis.
    Worker(cluster::WorkerArguments),
    /// Keep the recordings of a cluster.
    Master(cluster::MasterArguments),
    /// Look into a live cluster, without changing anything there.
    Attach(attach::AttachArguments),
    /// Follow an execution on a cluster, or tell how it has ended.
    Follow(run::FollowArguments),
    /// End an execution on a cluster.
    Cancel(cluster::CancelArguments),
    /// Write one execution as one file that opens anywhere.
    Export(export::ExportArguments),
    /// Take an execution from a file into a store.
    Import(import::ImportArguments),
    /// See a recording at any moment, hold it against the engine, or run another workflow over it.
    Replay(replay::ReplayArguments),
    /// Say what is different between two executions.
    Compare(compare::CompareArguments),
    /// Say why an execution is stuck, went this way, or took so long.
    Explain(explain::ExplainArguments),
    /// List executions, or look for words and values in their payloads.
    Find(find::FindArguments),
    /// List the messages that were given up, with the reason.
    DeadLetters(dead_letters::DeadLettersArguments),
    /// Look after a store: check it, make it smaller, remove old executions.
    Store(store::StoreArguments),
    /// Keep secrets that workflows refer to by name.
    Credentials(credentials::CredentialsArguments),
    /// Measure how fast it is here.
    Bench(bench::BenchArguments),
}

fn main() -> ExitCode {
    start_logging();
    let command = Arguments::parse().command;
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    match &command {
        Command::Worker(arguments) => drop(threads.worker_threads(arguments.threads())),
        // Enough to look on, and the least that is taken from whoever works on the same machine.
        Command::Attach(_) => drop(threads.worker_threads(1)),
        _ => {}
    }
    match threads.enable_all().build() {
        Ok(threads) => threads.block_on(follow(command)),
        Err(error) => CommandError::io("start the threads of this program", &error).report().into(),
    }
}

async fn follow(command: Command) -> ExitCode {
    let outcome = match command {
        Command::Run(arguments) => run::run(arguments).await,
        Command::Resume(arguments) => run::resume(arguments).await,
        Command::Debug(arguments) => debug::debug(arguments).await,
        Command::Fork(arguments) => fork::fork(arguments).await,
        Command::Forks(arguments) => fork::forks(arguments).await,
        Command::Rerun(arguments) => fork::rerun(arguments).await,
        Command::Validate(arguments) => validate::validate(&arguments),
        Command::Plan(arguments) => plan::plan(&arguments),
        Command::Bench(arguments) => bench::bench(arguments).await,
        Command::Serve(arguments) => serve::serve(arguments).await,
        Command::Worker(arguments) => cluster::worker(arguments).await,
        Command::Master(arguments) => cluster::master(arguments).await,
        Command::Attach(arguments) => attach::attach(arguments).await,
        Command::Follow(arguments) => run::follow(arguments).await,
        Command::Cancel(arguments) => cluster::cancel(arguments).await,
        Command::Export(arguments) => export::export(arguments).await,
        Command::Import(arguments) => import::import(arguments).await,
        Command::Replay(arguments) => replay::replay(arguments).await,
        Command::Compare(arguments) => compare::compare(arguments).await,
        Command::Explain(arguments) => explain::explain(arguments).await,
        Command::Find(arguments) => find::find(arguments).await,
        Command::DeadLetters(arguments) => dead_letters::list(arguments).await,
        Command::Store(arguments) => store::store(arguments).await,
        Command::Credentials(arguments) => credentials::credentials(arguments),
    };
    outcome.unwrap_or_else(|error| error.report()).into()
}

/// Crates that may say everything. Others tell what goes through their connections, passwords too.
const OURS: [&str; 9] =
    ["cluster", "embedded", "engine", "observer", "protocol", "recording", "runeglass", "runtime", "session"];

/// Logs go to stderr and are quiet unless `RUNEGLASS_LOG` asks for more.
fn start_logging() {
    let filter = EnvFilter::try_from_env("RUNEGLASS_LOG").unwrap_or_else(|_| EnvFilter::new("off"));
    let is_ours = |target: &str| OURS.contains(&target.split("::").next().unwrap_or_default());
    let tells_no_secret = filter_fn(move |said| *said.level() <= LevelFilter::INFO || is_ours(said.target()));
    let printed = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(printed.with_filter(filter.and(tells_no_secret))).init();
}
