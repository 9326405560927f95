//! What a person sees of a running workflow on a terminal.

use std::{
    collections::BTreeMap,
    io::{IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use protocol::{CompletionMessage, ExecutionStatus, NodeId, NodeStatus, NodeStatusMessage};

use crate::terminal::{duration, plain, short};

/// One line per finished node; on a terminal also a live line with what is running.
pub struct Progress {
    bar: Option<ProgressBar>,
    running: BTreeMap<NodeId, String>,
    finished: usize,
    nodes: usize,
}

impl Progress {
    pub fn new(title: &str, nodes: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        let progress = Self { bar, running: BTreeMap::new(), finished: 0, nodes };
        progress.line(&format!("▶ {}", plain(title)));
        progress
    }

    pub fn status(&mut self, status: &NodeStatusMessage) {
        match status.status {
            NodeStatus::Running => {
                self.running.insert(status.node_id.clone(), short(&status.node_name, 24));
            }
            NodeStatus::Success => {
                self.finish(status);
                let line = format!("✓ {}", self.described(status));
                self.line(&line);
                self.logged(status);
            }
            NodeStatus::Failed => {
                self.finish(status);
                let error = status.error.as_ref().map(|error| plain(&error.message)).unwrap_or_default();
                let line = format!("✕ {}  {error}", self.described(status));
                self.line(&line);
            }
            NodeStatus::Waiting | NodeStatus::Skipped => {}
        }
        if let Some(bar) = &self.bar {
            let running: Vec<&str> = self.running.values().take(4).map(String::as_str).collect();
            let more = self.running.len().saturating_sub(running.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            bar.set_message(format!("{} of {} · {}{more}", self.finished, self.nodes, running.join(", ")));
        }
    }

    pub fn completion(&self, completion: &CompletionMessage) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let took = duration(completion.total_duration_ms);
        let line = match completion.status {
            ExecutionStatus::Completed => format!("✓ completed in {took}"),
            ExecutionStatus::Failed => format!("✕ failed after {took}"),
            ExecutionStatus::Halted => format!("✕ halted after {took}"),
        };
        let reason = completion.failure_reason.as_ref().map(|reason| format!(": {}", plain(reason)));
        self.line(&format!("{line}{}", reason.unwrap_or_default()));
        if let Some(error) = &completion.error {
            self.line(&format!("  hint: {}", error.code.hint()));
        }
    }

    fn finish(&mut self, status: &NodeStatusMessage) {
        self.running.remove(&status.node_id);
        self.finished += 1;
    }

    fn described(&self, status: &NodeStatusMessage) -> String {
        let item: Vec<String> =
            status.lineage_stack.iter().map(|frame| frame.item_index.to_string()).collect();
        let item = if item.is_empty() { String::new() } else { format!(" [{}]", item.join(".")) };
        let name = format!("{}{item}", short(&status.node_name, 28));
        format!("{name:<34} {:>9}", duration(status.duration_ms))
    }

    /// What a log node said.
    fn logged(&self, status: &NodeStatusMessage) {
        let output = status.output.as_ref().map(|output| output.value());
        let text = |field: &str| output.and_then(|output| output.get(field)?.as_str());
        if let (Some(level), Some(message), Some(_)) = (text("level"), text("message"), text("logged_at")) {
            self.line(&format!("    {level}: {}", plain(message)));
        }
    }

    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            // A closed stderr is no reason to stop the workflow.
            None => drop(writeln!(std::io::stderr(), "{line}")),
        }
    }
}
