//! `runeglass serve`: the user interface in a browser, on this machine only.

mod api;
mod assets;
mod guard;
mod hooks;

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc};

use axum::{Router, extract::DefaultBodyLimit, middleware, routing};
use clap::Args;
use session::{AddressPolicy, Options, Session};
use tokio::net::TcpListener;

use crate::{
    outcome::{CommandError, Outcome, say},
    reach::ReachArguments,
};
use guard::Guard;

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass serve workflows --port 7788
  runeglass serve workflows --port 7788 --triggers
  curl -X POST http://127.0.0.1:7788/hooks/NAME -d '{\"name\": \"Ada\"}'

Nothing starts by itself unless --triggers asks for it.")]
pub struct ServeArguments {
    /// The folder of workflows to watch.
    #[arg(default_value = "workflows")]
    folder: PathBuf,
    /// Where recordings are kept; the user's data folder where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// The port on 127.0.0.1; a free one where absent.
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    reach: ReachArguments,
    /// Start workflows by their triggers too: schedules when they are due, webhooks by POST /hooks/NAME, where NAME
    /// is the webhook_guid or the path of the trigger. Programs on this machine need no session for that.
    #[arg(long)]
    triggers: bool,
}

/// A request larger than this is refused.
const BODY_BYTES: usize = 10 * 1024 * 1024;
/// But for a recording that is dropped on the page.
const IMPORT_BYTES: usize = 256 * 1024 * 1024;

/// What a request to this path may hold at most.
fn most_bytes(path: &str) -> usize {
    if path == IMPORT { IMPORT_BYTES } else { BODY_BYTES }
}

const IMPORT: &str = "/api/import";

pub async fn serve(arguments: ServeArguments) -> Result<Outcome, CommandError> {
    let reach = arguments.reach.reach(AddressPolicy::PublicOnly);
    let options = Options::for_host(arguments.folder, arguments.store, reach)?;
    let session = Arc::new(Session::open(options).await?);
    let door = Door::open(arguments.port, arguments.triggers).await?;
    if arguments.triggers {
        say(&format!(
            "Triggers are on: schedules start by themselves, POST http://127.0.0.1:{}{}NAME starts a webhook.",
            door.guard.port(),
            hooks::PREFIX
        ))?;
    }
    tokio::select! {
        served = door.show(&session) => served?,
        () = ended() => {}
        served = hooks::keep_schedules(&session), if arguments.triggers => served?,
    }
    session.close().await?;
    Ok(Outcome::Completed)
}

/// Where browsers of this machine come in.
pub struct Door {
    listener: TcpListener,
    guard: Guard,
    triggers: bool,
}

impl Door {
    /// Opens a port and says where it is.
    pub async fn open(port: u16, triggers: bool) -> Result<Self, CommandError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(|error| CommandError::io(&format!("listen on port {port}"), &error))?;
        let port = listener.local_addr().map_err(|error| CommandError::io("listen", &error))?.port();
        let guard = Guard::new(port, triggers)?;
        say(&format!("Runeglass is at {}", guard.url()))?;
        say("The link works once; it opens a session for that browser. Ctrl+C ends it.")?;
        Ok(Self { listener, guard, triggers })
    }

    /// Shows a session to whoever has the link.
    pub async fn show(self, session: &Arc<Session>) -> Result<(), CommandError> {
        let app = router(self.triggers)
            .layer(DefaultBodyLimit::max(BODY_BYTES))
            .layer(middleware::from_fn_with_state(Arc::new(self.guard), guard::check))
            .with_state(Arc::clone(session));
        axum::serve(self.listener, app).await.map_err(|error| CommandError::io("serve", &error))
    }
}

fn router(triggers: bool) -> Router<Arc<Session>> {
    let app = Router::new()
        .route("/api/call", routing::post(api::call))
        .route(IMPORT, routing::post(api::import).layer(DefaultBodyLimit::max(IMPORT_BYTES)))
        .route("/api/updates", routing::get(api::updates))
        .route("/metrics", routing::get(api::metrics))
        .fallback(assets::serve);
    match triggers {
        true => app.route(&format!("{}{{*name}}", hooks::PREFIX), routing::post(hooks::call)),
        false => app,
    }
}

/// Ctrl+C, or a polite end from outside.
async fn ended() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
