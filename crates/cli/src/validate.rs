//! `runeglass validate`: every finding, not the first.

use std::path::{Path, PathBuf};

use clap::Args;
use protocol::Diagnostic;
use serde_json::json;

use crate::{
    outcome::{CommandError, Outcome, say},
    terminal::plain,
};

#[derive(Args)]
#[command(after_help = "Example:\n  runeglass validate workflows/*.json")]
pub struct ValidateArguments {
    /// Workflow files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print the findings as JSON on stdout.
    #[arg(long)]
    json: bool,
}

pub fn validate(arguments: &ValidateArguments) -> Result<Outcome, CommandError> {
    let mut all_valid = true;
    let mut report = Vec::new();
    for file in &arguments.files {
        let loaded = session::read_workflow(file);
        let valid = loaded.plan.is_some();
        all_valid &= valid;
        if arguments.json {
            report.push(json!({"file": file.display().to_string(), "valid": valid, "diagnostics": loaded.diagnostics}));
            continue;
        }
        print_diagnostics(file, &loaded.diagnostics);
        if let Some(plan) = &loaded.plan {
            say(&format!(
                "{}: valid, {} nodes and {} edges",
                file.display(),
                plan.nodes.len(),
                plan.edges.len()
            ))?;
        }
    }
    if arguments.json {
        say(&format!("{}", json!(report)))?;
    }
    Ok(if all_valid { Outcome::Completed } else { Outcome::Invalid })
}

/// On stderr: place, severity, code, node, sentence, hint.
pub fn print_diagnostics(file: &Path, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let place =
            diagnostic.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
        let node = diagnostic.node_id.as_ref().map(|node| format!(" node {}:", plain(node.as_str())));
        let edge = diagnostic.edge_id.as_ref().map(|edge| format!(" edge {}:", plain(edge.as_str())));
        eprintln!(
            "{}{place}: {} {}:{} {}",
            plain(&file.display().to_string()),
            diagnostic.severity,
            diagnostic.code,
            node.or(edge).unwrap_or_default(),
            plain(&diagnostic.message),
        );
        if !diagnostic.hint.is_empty() {
            eprintln!("  hint: {}", plain(&diagnostic.hint));
        }
    }
}
