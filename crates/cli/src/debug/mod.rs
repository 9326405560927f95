//! `runeglass debug`: holds a workflow at its nodes and steps through it, in a terminal or from a script.

mod desk;
mod show;
mod words;

use std::{
    io::{BufRead, IsTerminal, Write},
    path::PathBuf,
};

use clap::Args;
use runtime::Clock;
use session::{AddressPolicy, Keep, Options, Session};

use crate::{
    cluster::NameArguments,
    outcome::{CommandError, Outcome},
    reach::ReachArguments,
    run::read_input,
    validate::print_diagnostics,
};
use desk::Desk;
use words::Word;

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass debug workflows/fan-out.json --store runs.db
  printf 'break work item == 7\\nrun\\ninspect\\nstep\\ncontinue\\n' | runeglass debug flow.json
  runeglass debug flow.json --store runs.db --resume
  runeglass debug flow.json --amqp amqp://… --redis redis://…

Commands are read from stdin, one per line; `help` lists them. Breakpoints are kept in the store, and so is what is
held: after a crash, --resume finds it held. With --amqp and --redis the execution runs on those servers, on queues that
are made for it and go with the debugger; no other worker takes part, and nobody else's work is held.
The exit code is 2 if a command of a script was not understood or could not be followed.")]
pub struct DebugArguments {
    /// The workflow file.
    file: PathBuf,
    /// What becomes $trigger: JSON or @FILE.
    #[arg(long, value_name = "JSON|@FILE")]
    input: Option<String>,
    /// Keep recordings and breakpoints in this file.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    #[command(flatten)]
    reach: ReachArguments,
    /// Let time pass at once, in order, on a simulated clock; it stands still while something is held.
    #[arg(long)]
    virtual_time: bool,
    /// Go on with the newest execution of this workflow that was interrupted, as it was held.
    #[arg(long, requires = "store")]
    resume: bool,
    #[command(flatten)]
    servers: ServerArguments,
}

/// The servers it runs on, if not in this process alone.
#[derive(Args)]
#[group(id = "servers")]
struct ServerArguments {
    /// Run on this RabbitMQ and --redis, with the control role.
    #[arg(long, value_name = "URL", requires = "redis", conflicts_with_all = ["virtual_time", "resume"])]
    amqp: Option<String>,
    #[arg(long, value_name = "URL", requires = "amqp")]
    redis: Option<String>,
    #[command(flatten)]
    names: NameArguments,
}

pub async fn debug(arguments: DebugArguments) -> Result<Outcome, CommandError> {
    let loaded = session::read_workflow(&arguments.file);
    print_diagnostics(&arguments.file, &loaded.diagnostics);
    let Some(plan) = loaded.plan else { return Err(CommandError::Said(Outcome::Invalid)) };
    if arguments.input.as_deref() == Some("-") {
        return Err(CommandError::usage("stdin holds the commands", "give the input as JSON or @FILE"));
    }
    let input = arguments.input.as_deref().map(read_input).transpose()?;
    let clock = Clock::system();
    let clock = if arguments.virtual_time { Clock::simulated(clock.now()) } else { clock };
    let reach = arguments.reach.reach(AddressPolicy::Any);
    let keep = arguments.store.map_or(Keep::Nowhere, Keep::At);
    let ServerArguments { amqp, redis, names } = &arguments.servers;
    let session = match (amqp, redis) {
        (Some(amqp), Some(redis)) => {
            let address = names.at(amqp, redis);
            let open = || Session::with_control_role(&address, keep.clone(), reach.clone());
            names.patiently(open).await?
        }
        _ => Session::open(Options { keep, folder: None, clock, recover: false, reach }).await?,
    };
    let mut desk = Desk::new(&session, plan, &arguments.file, input).await?;
    let begun = if arguments.resume { desk.take_up().await } else { desk.mention_interrupted().await };
    let outcome = match begun {
        Ok(()) => converse(&mut desk).await,
        Err(error) => Err(error),
    };
    let left = desk.leave().await;
    session.close().await?;
    left.and(outcome)
}

/// One command after the other, until there are no more.
async fn converse(desk: &mut Desk<'_>) -> Result<Outcome, CommandError> {
    let is_terminal = std::io::stdin().is_terminal();
    let mut outcome = Outcome::Completed;
    loop {
        if is_terminal {
            eprint!("> ");
            std::io::stderr().flush().map_err(|error| CommandError::io("write the prompt", &error))?;
        }
        let Some(line) = next_line().await? else { return Ok(outcome) };
        let done = match Word::parse(&line) {
            Ok(Some(Word::Quit)) => return Ok(outcome),
            Ok(Some(Word::Leave)) => match desk.leave_held() {
                Ok(()) => return Ok(outcome),
                Err(error) => Err(error),
            },
            Ok(Some(word)) => desk.follow(word).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => {}
            // Whoever reads us has gone.
            Err(CommandError::Said(outcome)) => return Err(CommandError::Said(outcome)),
            Err(error) => {
                error.report();
                if !is_terminal {
                    outcome = Outcome::Invalid;
                }
            }
        }
    }
}

async fn next_line() -> Result<Option<String>, CommandError> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|bytes| (bytes > 0).then_some(line))
    });
    match read.await {
        Ok(line) => line.map_err(|error| CommandError::io("read stdin", &error)),
        Err(error) => Err(CommandError::usage(format!("stdin cannot be read: {error}"), "start again")),
    }
}
