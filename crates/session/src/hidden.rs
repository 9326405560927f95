//! What is hidden before it is written, and executions that cannot go on because of it.

use std::path::Path;

use protocol::{
    ErrorCode, Event, ExecutionEnded, ExecutionStatus, Fact, Millis, NodeError, Problem, ProblemCode,
};
use recording::{Redaction, Store};

use crate::problem::{from_io, from_store};

/// The usual rules, and those in a file.
pub fn rules(file: Option<&Path>) -> Result<Redaction, Problem> {
    let Some(path) = file else { return Ok(Redaction::default()) };
    let what = format!("read {}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| from_io(&what, &error))?;
    Redaction::parse(&text).map_err(|error| {
        let message = format!("{} holds no rules: {error}", path.display());
        let hint = "write {\"names\": [\"iban\"], \"patterns\": [\"sk-*\"], \"everywhere\": true}";
        Problem::new(ProblemCode::InvalidRequest, message, hint)
    })
}

/// Ends an interrupted execution whose values were hidden: it would send the marks of hidden values instead of them.
pub async fn end_what_lost_values(store: &Store, events: &[Event], now: Millis) -> Result<bool, Problem> {
    if !recording::lost_values(events) {
        return Ok(false);
    }
    let message = "it was interrupted and cannot go on: values of it were hidden when they were recorded";
    end(store, events, now, message).await
}

/// Ends an execution that cannot go on, and says why.
pub async fn end(
    store: &Store,
    events: &[Event],
    now: Millis,
    message: impl Into<String>,
) -> Result<bool, Problem> {
    let Some(last) = events.last() else { return Ok(false) };
    let error = Some(NodeError::new(ErrorCode::Cancelled, message));
    let fact = Fact::ExecutionEnded(ExecutionEnded { status: ExecutionStatus::Halted, error });
    let end = Event { execution_id: last.execution_id.clone(), seq: last.seq + 1, at: now, fact };
    store.append(&[end]).await.map_err(|error| from_store(&error))?;
    Ok(true)
}
