//! The two doors of the web host: ask, and listen.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::{
        State,
        rejection::{BytesRejection, JsonRejection},
    },
    http::{StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::Stream;
use protocol::{Problem, ProblemCode, Request};
use session::Session;

pub async fn call(
    State(session): State<Arc<Session>>,
    request: Result<Json<Request>, JsonRejection>,
) -> Response {
    let request = match request {
        Ok(Json(request)) => request,
        Err(rejection) => {
            let hint = "the page and the program may be of different versions; reload the page";
            let problem = Problem::new(ProblemCode::InvalidRequest, rejection.body_text(), hint);
            return refuse(rejection.status(), &problem);
        }
    };
    match session.call(request).await {
        Ok(response) => Json(response).into_response(),
        Err(problem) => refuse(status(problem.code), &problem),
    }
}

/// A `.runeglass` file that was dropped on the page. The page hands over what is in it and never names a path.
pub async fn import(State(session): State<Arc<Session>>, body: Result<Bytes, BytesRejection>) -> Response {
    let bytes = match body {
        Ok(bytes) => bytes,
        Err(rejection) => {
            let hint = "import it on the command line: runeglass import FILE";
            let problem = Problem::new(ProblemCode::InvalidRequest, rejection.body_text(), hint);
            return refuse(rejection.status(), &problem);
        }
    };
    match session.import_bytes(bytes.into()).await {
        Ok(execution_id) => Json(protocol::Response::Started { execution_id }).into_response(),
        Err(problem) => refuse(status(problem.code), &problem),
    }
}

/// Server-sent events, each a list of updates (RFC 001 12.2).
pub async fn updates(
    State(session): State<Arc<Session>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let subscription = session.subscribe();
    let stream = futures::stream::unfold(subscription, |mut subscription| async move {
        let updates = subscription.next().await;
        let event = Event::default().json_data(&updates).unwrap_or_else(|error| {
            tracing::error!(%error, "updates could not be written as JSON");
            Event::default().comment("unwritable")
        });
        Some((Ok(event), subscription))
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

/// What is counted, as Prometheus reads it.
pub async fn metrics(State(session): State<Arc<Session>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], session.metrics()).into_response()
}

pub fn refuse(status: StatusCode, problem: &Problem) -> Response {
    (status, Json(problem)).into_response()
}

pub fn status(code: ProblemCode) -> StatusCode {
    match code {
        ProblemCode::NotFound => StatusCode::NOT_FOUND,
        ProblemCode::InvalidRequest => StatusCode::BAD_REQUEST,
        ProblemCode::InvalidWorkflow => StatusCode::UNPROCESSABLE_ENTITY,
        ProblemCode::ReadOnly => StatusCode::FORBIDDEN,
        ProblemCode::Ambiguous | ProblemCode::StoreInUse | ProblemCode::StoreRefused => StatusCode::CONFLICT,
        ProblemCode::StoreFull => StatusCode::INSUFFICIENT_STORAGE,
        ProblemCode::Unreachable | ProblemCode::Refused => StatusCode::BAD_GATEWAY,
        ProblemCode::Infrastructure => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
