//! `runeglass compare`: two executions side by side.

use std::path::PathBuf;

use clap::Args;
use recording::{Change, Comparison, Divergence, Tally};

use crate::{
    outcome::{CommandError, Outcome, say, say_json},
    source,
    terminal::{duration, plain, short},
};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass compare 3f2a9c0b1d4e5f60 77aa01c2d3e4f506 --store runs.db
  runeglass compare before.runeglass after.runeglass --json

Ends with 0 where both did the same, with 1 where they did not.")]
pub struct CompareArguments {
    /// An execution's id, or an exported file.
    a: String,
    /// What it is compared with.
    b: String,
    /// The store that holds them; the usual one where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// Print everything as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Differences that people are shown.
const SHOWN: usize = 20;

pub async fn compare(arguments: CompareArguments) -> Result<Outcome, CommandError> {
    let a = source::events(&arguments.a, arguments.store.clone()).await?;
    let b = source::events(&arguments.b, arguments.store).await?;
    let comparison = recording::compare(&a, &b);
    match arguments.json {
        true => say_json(&comparison)?,
        false => print(&comparison)?,
    }
    Ok(if comparison.is_equal() { Outcome::Completed } else { Outcome::FailedOrHalted })
}

pub fn print(comparison: &Comparison) -> Result<(), CommandError> {
    if comparison.definition_changed {
        say("they ran another workflow")?;
    }
    for change in &comparison.input {
        say(&format!("input {}", change_line(change)))?;
    }
    let Tally { equal, changed, only_a, only_b, slower } = comparison.total;
    say(&format!(
        "{equal} equal, {changed} changed, {only_a} only in A, {only_b} only in B, {slower} slower in B"
    ))?;
    if let Some(first) = &comparison.first {
        say(&format!("the first difference is {}", place(first)))?;
    }
    for difference in comparison.differences.iter().take(SHOWN) {
        say(&format!("  {}: {}", place(difference), difference.verdict.replace('_', " ")))?;
        difference
            .changes
            .iter()
            .take(5)
            .try_for_each(|change| say(&format!("    {}", change_line(change))))?;
    }
    let more = comparison.differences.len().saturating_sub(SHOWN) + comparison.more;
    if more > 0 {
        say(&format!("  and {more} more; --json tells the first {}", comparison.differences.len()))?;
    }
    for slower in comparison.slower.iter().take(5) {
        let key = if slower.key.is_root() { String::new() } else { format!(" [{}]", slower.key) };
        let (a, b) = (duration(slower.duration_a), duration(slower.duration_b));
        say(&format!("  {}{key} took {b} instead of {a}", slower.node_id))?;
    }
    Ok(())
}

fn place(difference: &Divergence) -> String {
    let Divergence { node_id, key, firing, attempt, position_a, position_b, .. } = difference;
    let key = if key.is_root() { String::new() } else { format!(" [{key}]") };
    let firing = if *firing > 1 { format!(", firing {firing}") } else { String::new() };
    let attempt = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    let event =
        |position: &Option<u64>| position.map_or_else(|| "-".to_owned(), |position| position.to_string());
    format!("{node_id}{key}{firing}{attempt} (event {} and {})", event(position_a), event(position_b))
}

fn change_line(change: &Change) -> String {
    let side = |value: &Option<serde_json::Value>| {
        value.as_ref().map_or_else(|| "nothing".to_owned(), |value| short(&value.to_string(), 60))
    };
    format!("{}: {} became {}", plain(&change.path), side(&change.a), side(&change.b))
}
