//! What starts without a browser, where `--triggers` asks for it: webhooks, and the log of the schedules.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State, rejection::BytesRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use protocol::{Payload, Problem, ProblemCode};
use serde_json::{Value, json};
use session::{Session, Turn};

use super::api::{refuse, status};

/// What stands in front of the name of a webhook.
pub const PREFIX: &str = "/hooks/";

pub async fn call(
    State(session): State<Arc<Session>>,
    Path(name): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => {
            let hint = "send less; a body may have ten megabytes";
            let problem = Problem::new(ProblemCode::InvalidRequest, rejection.body_text(), hint);
            return refuse(rejection.status(), &problem);
        }
    };
    let started = match input(&body) {
        Ok(input) => session.call_hook(&name, input).await,
        Err(problem) => Err(problem),
    };
    match started {
        Ok(execution_id) => {
            (StatusCode::ACCEPTED, Json(json!({"execution_id": execution_id}))).into_response()
        }
        Err(problem) => refuse(status(problem.code), &problem),
    }
}

/// What becomes `$trigger`. The content type is not asked for: callers are simple programs.
fn input(body: &[u8]) -> Result<Payload, Problem> {
    if body.is_empty() {
        return Ok(Payload::new(json!({})));
    }
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        let hint = "send JSON, such as {\"name\": \"Ada\"}, or nothing at all";
        Problem::new(ProblemCode::InvalidRequest, format!("the body is not JSON: {error}"), hint)
    })?;
    Ok(Payload::new(value))
}

/// Lets the schedules start what is due, and logs it. Comes back only if there is no folder to look into.
pub async fn keep_schedules(session: &Session) -> Result<(), Problem> {
    let mut schedules = session.schedules()?;
    while let Some(turn) = schedules.next().await {
        match turn {
            Turn::Following { schedules } => tracing::info!(schedules, "following the schedules"),
            Turn::Started { trigger, execution_id } => {
                tracing::info!(path = trigger.path, node = %trigger.node, %execution_id, "a schedule has started");
            }
            Turn::Skipped { trigger, skipped } => tracing::warn!(
                path = trigger.path, node = %trigger.node, skipped,
                "the execution before this tick is still under way; the tick is skipped"
            ),
            Turn::Failed { trigger, problem } => tracing::error!(
                path = trigger.path, node = %trigger.node, hint = problem.hint,
                "a schedule could not start: {}", problem.message
            ),
            Turn::Ended { trigger, execution_id } => {
                tracing::info!(path = trigger.path, node = %trigger.node, %execution_id, "a scheduled execution has ended");
            }
        }
    }
    // The engine has stopped; every window is told why, and the host stays to show it.
    drop(schedules);
    std::future::pending().await
}
