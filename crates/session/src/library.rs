//! The folder of workflows: what is in it, and what changes.

use std::{
    fs,
    io::Read,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use engine::{Limits, Loaded};
use notify::{RecursiveMode, Watcher};
use protocol::{Diagnostic, DiagnosticCode, Problem, ProblemCode, Workflow, WorkflowEntry};
use tokio::sync::{mpsc, watch};

use crate::{live::Live, problem::from_io, stem};

/// A folder with more files than this is not a workflow folder.
const FILES: usize = 1_000;
/// An editor saves in several steps; the folder is read again when it has been quiet for this long.
const QUIET: Duration = Duration::from_millis(80);

pub struct Library {
    folder: PathBuf,
    entries: watch::Sender<Vec<WorkflowEntry>>,
}

impl Library {
    /// Reads the folder and keeps watching it as long as the session lives.
    pub(crate) fn watch(folder: &Path, live: Arc<Live>) -> Result<Arc<Self>, Problem> {
        let what = format!("open the workflow folder {}", folder.display());
        let folder = folder.canonicalize().map_err(|error| from_io(&what, &error))?;
        if !folder.is_dir() {
            let message = format!("{} is not a folder", folder.display());
            return Err(Problem::new(
                ProblemCode::NotFound,
                message,
                "name the folder that holds the workflows",
            ));
        }
        let library = Arc::new(Self { entries: watch::Sender::new(scan(&folder)), folder });
        let (changed, changes) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading a file is an event too, and our own reading must not wake us.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                // A full channel means that a look at the folder is due already.
                let _ = changed.try_send(());
            }
        })
        .and_then(|mut watcher| watcher.watch(&library.folder, RecursiveMode::NonRecursive).map(|()| watcher))
        .map_err(|error| {
            let hint = "workflows can be opened, but changes are not seen until a restart";
            Problem::new(
                ProblemCode::Infrastructure,
                format!("cannot watch the workflow folder: {error}"),
                hint,
            )
        })?;
        tokio::spawn(read_changes(Arc::downgrade(&library), live, changes, watcher));
        Ok(library)
    }

    /// The folder, for people.
    pub fn shown(&self) -> String {
        self.folder.display().to_string()
    }

    pub fn entries(&self) -> Vec<WorkflowEntry> {
        self.entries.borrow().clone()
    }

    /// The entries, and a word whenever they have changed.
    pub(crate) fn follow(&self) -> watch::Receiver<Vec<WorkflowEntry>> {
        self.entries.subscribe()
    }

    /// The paths of the workflows that are such; one with errors counts, so that whoever wants it hears of them.
    pub(crate) fn paths(&self, are: impl Fn(&Workflow) -> bool) -> Vec<String> {
        let entries = self.entries.borrow();
        let such = entries.iter().filter(|entry| entry.definition.as_ref().is_some_and(&are));
        such.map(|entry| entry.path.clone()).collect()
    }

    /// Reads a file of this folder as it is now.
    pub fn load(&self, path: &str) -> Result<Loaded, Problem> {
        self.file(path).map(|file| read_workflow(&file))
    }

    /// Where a workflow of the folder is.
    pub fn file(&self, path: &str) -> Result<PathBuf, Problem> {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let file = self.folder.join(path);
        if !plain || path.is_empty() || !file.is_file() || leaves(&self.folder, &file) {
            let message = format!("there is no workflow {path:?} in this folder");
            return Err(Problem::new(ProblemCode::NotFound, message, "look at the list of workflows"));
        }
        Ok(file)
    }

    /// Reads the folder again; true if anything is different.
    fn refresh(&self) -> bool {
        let fresh = scan(&self.folder);
        self.entries.send_if_modified(|entries| {
            let changed = *entries != fresh;
            *entries = fresh;
            changed
        })
    }
}

/// Reads one workflow file. Whatever is wrong with it is in the result.
pub fn read_workflow(path: &Path) -> Loaded {
    let limits = Limits::default();
    let refuse = |code, message: String, hint: &str| Loaded::refused(Diagnostic::error(code, message, hint));
    let unreadable = |error: &std::io::Error| {
        let message = format!("{} cannot be read: {error}", path.display());
        refuse(DiagnosticCode::UnreadableFile, message, "check the path and that you may read it")
    };
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) => return unreadable(&error),
    };
    if !meta.is_file() {
        let message = format!("{} is not a file", path.display());
        return refuse(DiagnosticCode::UnreadableFile, message, "name a workflow file");
    }
    let too_large = |bytes: u64| {
        let message = format!("the file has {bytes} bytes, {} are allowed", limits.file_bytes);
        refuse(DiagnosticCode::FileTooLarge, message, "a workflow holds the graph, not the data")
    };
    if meta.len() > limits.file_bytes as u64 {
        return too_large(meta.len());
    }
    let mut bytes = Vec::new();
    let bounded = |file: fs::File| file.take(limits.file_bytes as u64 + 1).read_to_end(&mut bytes);
    match fs::File::open(path).and_then(bounded) {
        Ok(_) => engine::load_once(&bytes),
        Err(error) => unreadable(&error),
    }
}

async fn read_changes(
    library: std::sync::Weak<Library>,
    live: Arc<Live>,
    mut changes: mpsc::Receiver<()>,
    _watcher: impl Watcher,
) {
    while changes.recv().await.is_some() {
        while tokio::time::timeout(QUIET, changes.recv()).await.is_ok_and(|more| more.is_some()) {}
        let Some(library) = library.upgrade() else { return };
        let reader = Arc::clone(&library);
        match tokio::task::spawn_blocking(move || reader.refresh()).await {
            Ok(true) => live.workflows_changed(&library.entries()),
            Ok(false) => {}
            Err(error) => tracing::error!(%error, "the workflow folder could not be read again"),
        }
    }
}

fn scan(folder: &Path) -> Vec<WorkflowEntry> {
    let files = match fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) => {
            tracing::warn!(%error, "the workflow folder cannot be read");
            return Vec::new();
        }
    };
    let is_json = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let mut paths: Vec<PathBuf> =
        files.flatten().map(|file| file.path()).filter(is_json).take(FILES).collect();
    paths.sort();
    paths.iter().filter_map(|path| entry(folder, path)).collect()
}

/// `None` for what is no file at all, such as a folder with a `.json` name.
fn entry(folder: &Path, path: &Path) -> Option<WorkflowEntry> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let loaded = match leaves(folder, path) {
        true => Loaded::refused(Diagnostic::error(
            DiagnosticCode::UnreadableFile,
            "this is a link out of the folder, and such links are not followed",
            "copy the file into the folder",
        )),
        false if path.is_file() => read_workflow(path),
        false => return None,
    };
    let workflow = loaded.workflow.as_deref();
    let title = workflow.and_then(|workflow| workflow.name.clone()).unwrap_or_else(|| stem(path));
    let story = workflow.and_then(|workflow| workflow.description.clone()).unwrap_or_default();
    Some(WorkflowEntry {
        path: name,
        title,
        story,
        definition: workflow.cloned(),
        definition_hash: loaded.hash,
        diagnostics: loaded.diagnostics,
    })
}

/// True for a link that leads out of the folder, or nowhere.
fn leaves(folder: &Path, path: &Path) -> bool {
    !path.canonicalize().is_ok_and(|real| real.starts_with(folder))
}
