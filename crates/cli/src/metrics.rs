//! What a worker has counted, on a port of this machine.

use std::net::{Ipv4Addr, SocketAddr};

use axum::{Router, routing::get};

use crate::outcome::CommandError;

/// Answers `/health` and `/metrics` until the process ends.
pub async fn serve(
    port: u16,
    text: impl Fn() -> String + Clone + Send + Sync + 'static,
) -> Result<(), CommandError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let what = format!("listen on {address}");
    let listener =
        tokio::net::TcpListener::bind(address).await.map_err(|error| CommandError::io(&what, &error))?;
    let bound = listener.local_addr().map_err(|error| CommandError::io(&what, &error))?;
    eprintln!("health and metrics at http://{bound}/health and /metrics");
    let router =
        Router::new().route("/health", get(async || "ok\n")).route("/metrics", get(async move || text()));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            eprintln!("health and metrics have stopped: {error}");
        }
    });
    Ok(())
}
