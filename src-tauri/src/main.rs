//! `runeglass-desktop`: a window in front of the session. It forwards, and nothing else.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod desk;
mod editor;
mod graphics;
mod place;
mod recent;

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use clap::Parser;
use desk::{Desk, Wish};
use place::{Place, Watch};
use protocol::{OpenedFile, Problem, ProblemCode, RecentFile, Request, Response, Update};
use recent::Recent;
use session::Reach;
use tauri::{
    App, Manager, RunEvent, State, WebviewUrl, WebviewWindowBuilder, WindowEvent,
    async_runtime::{self, JoinHandle},
    ipc::{self, Channel},
};

#[derive(Parser)]
#[command(name = "runeglass-desktop", version, about = "See inside every workflow execution, in a window.")]
struct Arguments {
    /// A folder of workflows to watch, or something to look at: a recording (.runeglass or .json), a workflow, a store.
    /// The folder `workflows` where absent.
    what: Option<PathBuf>,
    /// Where recordings are kept; the user's data folder where absent.
    #[arg(long, value_name = "PATH")]
    store: Option<PathBuf>,
    /// A file of credentials that only you may read; the one in the user's data folder where absent.
    #[arg(long, value_name = "PATH")]
    credentials: Option<PathBuf>,
}

/// The one listener of the window; a reloaded page replaces it.
#[derive(Default)]
struct Listener(Mutex<Option<JoinHandle<()>>>);

#[tauri::command]
async fn call(desk: State<'_, Desk>, request: Request) -> Result<Response, Problem> {
    desk.session()?.call(request).await
}

#[tauri::command]
async fn subscribe(
    desk: State<'_, Desk>,
    listener: State<'_, Listener>,
    channel: Channel<Vec<Update>>,
) -> Result<(), Problem> {
    let mut subscription = desk.session()?.subscribe();
    let task = async_runtime::spawn(async move { while channel.send(subscription.next().await).is_ok() {} });
    let earlier = listener.0.lock().unwrap_or_else(PoisonError::into_inner).replace(task);
    if let Some(earlier) = earlier {
        earlier.abort();
    }
    Ok(())
}

/// A dropped `.runeglass` file: the page hands over what is in it and never names a path.
#[tauri::command]
async fn import(desk: State<'_, Desk>, request: ipc::Request<'_>) -> Result<Response, Problem> {
    let ipc::InvokeBody::Raw(bytes) = request.body() else {
        let hint = "drop the file on the window";
        return Err(Problem::new(ProblemCode::InvalidRequest, "there are no bytes of a file", hint));
    };
    let execution_id = desk.session()?.import_bytes(bytes.clone()).await?;
    Ok(Response::Started { execution_id })
}

/// A workflow of the folder, in the program that the system has for it.
#[tauri::command]
async fn edit(desk: State<'_, Desk>, path: String) -> Result<(), Problem> {
    editor::open(&desk.session()?.workflow_file(&path)?)
}

/// The file that the window was started with, by a double click or in a terminal.
#[tauri::command]
async fn asked(desk: State<'_, Desk>) -> Result<Option<OpenedFile>, Problem> {
    desk.asked().await
}

/// What was open in this window before.
#[tauri::command]
async fn recent(desk: State<'_, Desk>) -> Result<Vec<RecentFile>, Problem> {
    Ok(desk.recent())
}

/// One of those, again.
#[tauri::command]
async fn reopen(desk: State<'_, Desk>, path: String) -> Result<OpenedFile, Problem> {
    desk.reopen(&path).await
}

#[tauri::command]
async fn forget(desk: State<'_, Desk>, path: String) -> Result<(), Problem> {
    desk.forget(&path);
    Ok(())
}

fn lay_out(app: &App, arguments: Arguments) -> Desk {
    let Arguments { what, store, credentials } = arguments;
    let recent = Recent::at(app.path().app_data_dir().ok().map(|folder| folder.join("recent.json")));
    let reach = Reach { credentials, ..Reach::default() };
    let desk = async_runtime::block_on(Desk::start(Wish { what, store, reach }, recent));
    if let Err(problem) = desk.session() {
        eprintln!("error: {}\n  hint: {}", problem.message, problem.hint);
    }
    desk
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    graphics::suit_the_machine()?;
    let watch = Watch::default();
    let app = tauri::Builder::default()
        .manage(Listener::default())
        .invoke_handler(tauri::generate_handler![
            call, subscribe, import, edit, asked, recent, reopen, forget
        ])
        .setup(|app| {
            app.manage(lay_out(app, arguments));
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
        .on_window_event(move |window, event| match event {
            WindowEvent::Resized(_) | WindowEvent::Moved(_) => watch.changed(window),
            WindowEvent::CloseRequested { .. } => {
                if let Ok(place) = Place::of(window) {
                    place.remember(window);
                }
            }
            _ => {}
        })
        .build(tauri::generate_context!())?;
    app.run(|app, event| {
        if let RunEvent::Exit = event
            && let Ok(session) = app.state::<Desk>().session()
            && let Err(problem) = async_runtime::block_on(session.close())
        {
            eprintln!("error: {}", problem.message);
        }
    });
    Ok(())
}
