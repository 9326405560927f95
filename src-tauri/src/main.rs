//! `runeglass-desktop`: a window in front of the session. It forwards, and nothing else.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod editor;
mod graphics;
mod place;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use clap::Parser;
use place::Place;
use protocol::{Problem, ProblemCode, Request, Response, Update};
use session::{Options, Reach, Session};
use tauri::{
    Manager, RunEvent, State, WebviewUrl, WebviewWindowBuilder, WindowEvent,
    async_runtime::{self, JoinHandle},
    ipc::{self, Channel},
};

#[derive(Parser)]
#[command(name = "runeglass-desktop", version, about = "See inside every workflow execution, in a window.")]
struct Arguments {
    /// The folder of workflows to watch.
    #[arg(default_value = "workflows")]
    folder: PathBuf,
    /// Where recordings are kept; the user's data folder where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// A file of credentials that only you may read; the one in the user's data folder where absent.
    #[arg(long, value_name = "PATH")]
    credentials: Option<PathBuf>,
}

/// A session that could not be opened is a problem that the window shows.
type Opened = Result<Arc<Session>, Problem>;

/// The one listener of the window; a reloaded page replaces it.
#[derive(Default)]
struct Listener(Mutex<Option<JoinHandle<()>>>);

#[tauri::command]
async fn call(session: State<'_, Opened>, request: Request) -> Result<Response, Problem> {
    session.inner().as_ref().map_err(Problem::clone)?.call(request).await
}

#[tauri::command]
async fn subscribe(
    session: State<'_, Opened>,
    listener: State<'_, Listener>,
    channel: Channel<Vec<Update>>,
) -> Result<(), Problem> {
    let mut subscription = session.inner().as_ref().map_err(Problem::clone)?.subscribe();
    let task = async_runtime::spawn(async move { while channel.send(subscription.next().await).is_ok() {} });
    let earlier = listener.0.lock().unwrap_or_else(PoisonError::into_inner).replace(task);
    if let Some(earlier) = earlier {
        earlier.abort();
    }
    Ok(())
}

/// A dropped `.runeglass` file: the page hands over what is in it and never names a path.
#[tauri::command]
async fn import(session: State<'_, Opened>, request: ipc::Request<'_>) -> Result<Response, Problem> {
    let session = session.inner().as_ref().map_err(Problem::clone)?;
    let ipc::InvokeBody::Raw(bytes) = request.body() else {
        let hint = "drop the file on the window";
        return Err(Problem::new(ProblemCode::InvalidRequest, "there are no bytes of a file", hint));
    };
    let execution_id = session.import_bytes(bytes.clone()).await?;
    Ok(Response::Started { execution_id })
}

/// A workflow of the folder, in the program that the system has for it.
#[tauri::command]
async fn edit(session: State<'_, Opened>, path: String) -> Result<(), Problem> {
    let session = session.inner().as_ref().map_err(Problem::clone)?;
    editor::open(&session.workflow_file(&path)?)
}

async fn open(arguments: Arguments) -> Opened {
    let reach = Reach { credentials: arguments.credentials, ..Reach::default() };
    let options = Options::for_host(arguments.folder, arguments.store, reach)?;
    Session::open(options).await.map(Arc::new)
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    graphics::suit_the_machine()?;
    let opened = async_runtime::block_on(open(arguments));
    if let Err(problem) = &opened {
        eprintln!("error: {}\n  hint: {}", problem.message, problem.hint);
    }
    let app = tauri::Builder::default()
        .manage(opened)
        .manage(Listener::default())
        .invoke_handler(tauri::generate_handler![call, subscribe, import, edit])
        .setup(|app| {
            let place = Place::remembered(app);
            let (width, height) = place.size();
            let window = WebviewWindowBuilder::new(app, "main", WebviewUrl::default())
                .title("Runeglass")
                .inner_size(width, height)
                .min_inner_size(place::SMALLEST.0, place::SMALLEST.1)
                // A dropped recording is for the page.
                .disable_drag_drop_handler()
                // The window shows our own page and never leaves it.
                .on_navigation(|url| url.scheme() == "tauri" || url.host_str() == Some("tauri.localhost"))
                .build()?;
            place.apply(&window)?;
            Ok(())
        })
        .on_window_event(|window, event| {
            if let WindowEvent::CloseRequested { .. } = event
                && let Ok(place) = Place::of(window)
            {
                place.remember(window);
            }
        })
        .build(tauri::generate_context!())?;
    app.run(|app, event| {
        if let RunEvent::Exit = event
            && let Ok(session) = app.state::<Opened>().inner()
            && let Err(problem) = async_runtime::block_on(session.close())
        {
            eprintln!("error: {}", problem.message);
        }
    });
    Ok(())
}
