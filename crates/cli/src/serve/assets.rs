//! The built user interface, carried inside the binary.

use axum::{
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use protocol::{Problem, ProblemCode};
use rust_embed::Embed;

use super::api::refuse;

#[derive(Embed)]
#[folder = "../../ui/dist"]
struct Assets;

pub async fn serve(uri: Uri) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    match Assets::get(path) {
        Some(file) => {
            let kind = file.metadata.mimetype().to_owned();
            ([(header::CONTENT_TYPE, kind)], file.data.into_owned()).into_response()
        }
        None => {
            let problem =
                Problem::new(ProblemCode::NotFound, format!("there is nothing at {path}"), "go to /");
            refuse(StatusCode::NOT_FOUND, &problem)
        }
    }
}
