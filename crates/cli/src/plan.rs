//! `runeglass plan`: what is known about a workflow before it runs.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::{
    outcome::{CommandError, Outcome, say},
    terminal::plain,
    validate::print_diagnostics,
};

#[derive(Args)]
#[command(after_help = "Example:\n  runeglass plan workflows/fan-out.json --json")]
pub struct PlanArguments {
    /// The workflow file.
    file: PathBuf,
    /// Print the plan as JSON.
    #[arg(long)]
    json: bool,
}

pub fn plan(arguments: &PlanArguments) -> Result<Outcome, CommandError> {
    let loaded = session::read_workflow(&arguments.file);
    print_diagnostics(&arguments.file, &loaded.diagnostics);
    let Some(plan) = loaded.plan else { return Err(CommandError::Said(Outcome::Invalid)) };
    let described = plan.describe();
    if arguments.json {
        say(&described.to_string())?;
        return Ok(Outcome::Completed);
    }
    say(&format!("starts at {}", words(&described["starts"])))?;
    for node in described["nodes"].as_array().into_iter().flatten() {
        let gathers = node["input"]["policy"] == "collapse";
        let mut levels = node["scope"].as_array().cloned().unwrap_or_default();
        levels.truncate(levels.len() - usize::from(gathers && !levels.is_empty()));
        let scope = words(&Value::Array(levels));
        let inside = if scope.is_empty() { String::new() } else { format!(", once per item of {scope}") };
        let policy = match node["input"]["policy"].as_str() {
            Some("all") => " when all branches are decided",
            Some("any") => " on the first branch",
            Some("collapse") => " when all items are decided",
            Some("exclusive") => " on whichever branch is taken",
            _ => "",
        };
        say(&format!("{} ({}) runs{policy}{inside}", word(&node["id"]), word(&node["type"])))?;
    }
    Ok(Outcome::Completed)
}

fn word(value: &Value) -> String {
    plain(value.as_str().unwrap_or_default())
}

fn words(list: &Value) -> String {
    let words: Vec<String> = list.as_array().into_iter().flatten().map(word).collect();
    words.join(", ")
}
