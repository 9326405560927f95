//! What the window has open: a session, which is replaced when another store is opened, and files that become a part of it.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use protocol::{OpenedFile, Problem, ProblemCode, RecentFile, RecentKind, Recording};
use serde::Deserialize;
use session::{Clock, Keep, Options, Reach, Session, io_problem};
use tauri::async_runtime;

use crate::recent::Recent;

/// A session that could not be opened is a problem that the window shows.
pub type Opened = Result<Arc<Session>, Problem>;

/// Looked for where nothing is named.
const USUAL_FOLDER: &str = "workflows";
/// No document is larger.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// What somebody wants to see when the window opens.
pub struct Wish {
    pub what: Option<PathBuf>,
    pub store: Option<PathBuf>,
    pub reach: Reach,
}

pub struct Desk {
    folder: Option<PathBuf>,
    reach: Reach,
    recent: Recent,
    open: RwLock<Open>,
    /// Somebody has named a file, and the page has not asked for it yet.
    asked: Mutex<Option<PathBuf>>,
    /// One file after the other.
    turn: async_runtime::Mutex<()>,
}

struct Open {
    /// Absent where nothing is kept.
    store: Option<PathBuf>,
    session: Opened,
}

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    Store,
    Case,
    Document,
    Workflow,
}

impl Desk {
    pub async fn start(wish: Wish, recent: Recent) -> Self {
        let Wish { what, mut store, reach } = wish;
        let mut folder = Some(PathBuf::from(USUAL_FOLDER)).filter(|folder| folder.is_dir());
        let mut asked = None;
        let mut problem = None;
        if let Some(path) = what.map(|path| path.canonicalize().unwrap_or(path)) {
            match kind_of(&path) {
                Ok(Kind::Folder) => folder = Some(path),
                Ok(Kind::Store) => store = Some(path),
                Ok(Kind::Case | Kind::Document) => asked = Some(path),
                Ok(Kind::Workflow) => (folder, asked) = (path.parent().map(Path::to_owned), Some(path)),
                Err(refused) => problem = Some(refused),
            }
        }
        let open = match problem {
            Some(problem) => Open { store: None, session: Err(problem) },
            None => first(folder.clone(), store, &reach, asked.is_some()).await,
        };
        if let (Some(store), Ok(_)) = (&open.store, &open.session) {
            recent.add(store, RecentKind::Store);
        }
        let (open, asked, turn) = (RwLock::new(open), Mutex::new(asked), async_runtime::Mutex::new(()));
        Self { folder, reach, recent, open, asked, turn }
    }

    pub fn session(&self) -> Opened {
        self.open.read().unwrap_or_else(PoisonError::into_inner).session.clone()
    }

    /// The file that the window was started with; once.
    pub async fn asked(&self) -> Result<Option<OpenedFile>, Problem> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
        match asked {
            Some(path) => self.show(&path).await.map(Some),
            None => Ok(None),
        }
    }

    pub fn recent(&self) -> Vec<RecentFile> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        self.recent.list(open.store.as_deref())
    }

    /// Something that was open before.
    pub async fn reopen(&self, path: &str) -> Result<OpenedFile, Problem> {
        let Some(path) = self.recent.find(path) else {
            let message = format!("{path} was not open in this window before");
            return Err(Problem::new(
                ProblemCode::NotFound,
                message,
                "open the file, or drop it on the window",
            ));
        };
        self.show(&path).await
    }

    pub fn forget(&self, path: &str) {
        self.recent.forget(path);
    }

    async fn show(&self, path: &Path) -> Result<OpenedFile, Problem> {
        let _turn = self.turn.lock().await;
        let (opened, kind) = match kind_of(path)? {
            Kind::Store => (self.change_store(path).await?, RecentKind::Store),
            Kind::Case => {
                let execution_id = self.session()?.import(path).await?;
                (OpenedFile::Execution { execution_id }, RecentKind::Case)
            }
            Kind::Document => (document(path)?, RecentKind::Recording),
            Kind::Workflow => return Ok(OpenedFile::Workflow { path: name_of(path) }),
            Kind::Folder => return Err(no_such_kind(path)),
        };
        self.recent.add(path, kind);
        Ok(opened)
    }

    /// What is under way in the store before goes on when that one is opened again.
    async fn change_store(&self, path: &Path) -> Result<OpenedFile, Problem> {
        if self.open.read().unwrap_or_else(PoisonError::into_inner).store.as_deref() == Some(path) {
            return Ok(OpenedFile::Store);
        }
        let session = open(self.folder.clone(), Keep::At(path.to_owned()), &self.reach).await?;
        let fresh = Open { store: Some(path.to_owned()), session: Ok(session) };
        let before =
            std::mem::replace(&mut *self.open.write().unwrap_or_else(PoisonError::into_inner), fresh);
        if let Ok(session) = before.session {
            Session::leave(session).await?;
        }
        Ok(OpenedFile::Store)
    }
}

/// A file can be looked at also while another window has the store: then this window keeps nothing.
async fn first(folder: Option<PathBuf>, store: Option<PathBuf>, reach: &Reach, to_look: bool) -> Open {
    let store = match store.map_or_else(Session::usual_store, Ok) {
        Ok(store) => store,
        Err(problem) => return Open { store: None, session: Err(problem) },
    };
    match open(folder.clone(), Keep::At(store.clone()), reach).await {
        Err(problem) if to_look && problem.code == ProblemCode::StoreInUse => {
            Open { store: None, session: open(folder, Keep::Nowhere, reach).await }
        }
        session => Open { store: Some(store.canonicalize().unwrap_or(store)), session },
    }
}

async fn open(folder: Option<PathBuf>, keep: Keep, reach: &Reach) -> Opened {
    let options = Options { keep, folder, clock: Clock::system(), recover: true, reach: reach.clone() };
    Session::open(options).await.map(Arc::new)
}

/// Told by what is in it; only an export and a store look alike, and are told apart by their names.
fn kind_of(path: &Path) -> Result<Kind, Problem> {
    if !path.exists() {
        let message = format!("there is no file {} any more", path.display());
        let hint = "it may have been moved or removed; open it where it is now";
        return Err(Problem::new(ProblemCode::NotFound, message, hint));
    }
    if path.is_dir() {
        return Ok(Kind::Folder);
    }
    let mut begins = Vec::new();
    let file = File::open(path).and_then(|file| file.take(16).read_to_end(&mut begins));
    file.map_err(|error| io_problem(&format!("read {}", path.display()), &error))?;
    let is_called = |ending: &str| path.extension().is_some_and(|known| known.eq_ignore_ascii_case(ending));
    match begins.as_slice() {
        b"SQLite format 3\0" if is_called("runeglass") => Ok(Kind::Case),
        b"SQLite format 3\0" => Ok(Kind::Store),
        _ if is_called("json") => {
            Ok(if is_recording(&text_of(path)?) { Kind::Document } else { Kind::Workflow })
        }
        _ => Err(no_such_kind(path)),
    }
}

fn no_such_kind(path: &Path) -> Problem {
    let message = format!("{} is neither a recording nor a store", path.display());
    Problem::new(
        ProblemCode::InvalidRequest,
        message,
        "`runeglass export` writes files that can be opened here",
    )
}

fn is_recording(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        format: String,
    }
    serde_json::from_str(text).is_ok_and(|Named { format }| format == Recording::FORMAT)
}

fn document(path: &Path) -> Result<OpenedFile, Problem> {
    Ok(OpenedFile::Recording { name: name_of(path), text: text_of(path)? })
}

fn text_of(path: &Path) -> Result<String, Problem> {
    let wrong = |error| io_problem(&format!("read {}", path.display()), &error);
    let mut text = String::new();
    let file = File::open(path).map_err(wrong)?;
    file.take(LARGEST_DOCUMENT).read_to_string(&mut text).map_err(wrong)?;
    Ok(text)
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use protocol::{Request, Response};

    use super::*;

    fn start(what: &Path, folder: &Path) -> Desk {
        let wish = Wish {
            what: Some(what.to_owned()),
            store: Some(folder.join("store.db")),
            reach: Reach::default(),
        };
        async_runtime::block_on(Desk::start(wish, Recent::at(None)))
    }

    #[test]
    fn files_are_told_by_what_is_in_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let check = |name: &str, text: &str, kind: Option<Kind>| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("written");
            assert_eq!(kind_of(&path).ok(), kind, "{name}");
        };
        check("a.runeglass", "SQLite format 3\0 and more", Some(Kind::Case));
        check("a.db", "SQLite format 3\0 and more", Some(Kind::Store));
        check("a.json", r#"{"format": "runeglass-recording"}"#, Some(Kind::Document));
        check("b.json", r#"{"nodes": [], "edges": []}"#, Some(Kind::Workflow));
        check("c.json", "{", Some(Kind::Workflow));
        check("a.txt", "something", None);
        check("b.runeglass", "something", None);
        assert_eq!(kind_of(folder.path()).ok(), Some(Kind::Folder));
        let gone = kind_of(Path::new("/nowhere/at.all")).expect_err("nothing there");
        assert!(gone.message.contains("there is no file"), "{}", gone.message);
    }

    #[test]
    fn another_store_takes_the_place_of_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let desk = start(folder.path(), folder.path());
        let first = Arc::downgrade(&desk.session().expect("a session"));
        let other = start(folder.path(), &folder.path().join("other"));
        let (left, path) = (other.session().expect("a session"), folder.path().join("other/store.db"));
        drop(other);
        async_runtime::block_on(Session::leave(left)).expect("left");
        let unknown = async_runtime::block_on(desk.reopen(&path.display().to_string()));
        assert!(unknown.is_err(), "only what was open here can be named");
        desk.recent.add(&path, RecentKind::Store);
        let opened = async_runtime::block_on(desk.reopen(&path.display().to_string()));
        assert_eq!(opened, Ok(OpenedFile::Store));
        assert_eq!(first.strong_count(), 0, "nobody works on the first one any more");
        let open: Vec<_> = desk.recent().into_iter().filter(|file| file.open).map(|file| file.path).collect();
        assert_eq!(open, [path.display().to_string()]);
        let back = folder.path().join("store.db").display().to_string();
        assert_eq!(
            async_runtime::block_on(desk.reopen(&back)),
            Ok(OpenedFile::Store),
            "there and back again"
        );
        async_runtime::block_on(desk.session().expect("a session").close()).expect("closed");
    }

    #[test]
    fn a_file_that_is_gone_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let desk = start(folder.path(), folder.path());
        desk.recent.add(Path::new("/nowhere/case.runeglass"), RecentKind::Case);
        let refused = async_runtime::block_on(desk.reopen("/nowhere/case.runeglass")).expect_err("gone");
        assert_eq!(refused.code, ProblemCode::NotFound);
        assert!(desk.session().is_ok());
        desk.forget("/nowhere/case.runeglass");
        assert_eq!(desk.recent().len(), 1, "the store that is open");
        async_runtime::block_on(desk.session().expect("a session").close()).expect("closed");
    }

    #[test]
    fn a_document_is_handed_to_the_page_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("told.json");
        fs::write(&path, r#"{"format": "runeglass-recording"}"#).expect("written");
        let desk = start(&path, folder.path());
        let asked = async_runtime::block_on(desk.asked()).expect("a document");
        assert!(matches!(asked, Some(OpenedFile::Recording { name, .. }) if name == "told.json"));
        assert_eq!(async_runtime::block_on(desk.asked()), Ok(None));
        async_runtime::block_on(desk.session().expect("a session").close()).expect("closed");
    }

    #[test]
    fn a_file_beside_a_window_that_has_the_store_is_shown_and_nothing_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("flow.json");
        fs::write(&path, r#"{"nodes": [], "edges": []}"#).expect("written");
        let [first, second] = [folder.path(), path.as_path()].map(|what| start(what, folder.path()));
        let keeps_nothing = |desk: &Desk| {
            let session = desk.session().expect("a session");
            let snapshot = async_runtime::block_on(session.call(Request::Snapshot)).expect("a snapshot");
            let Response::Snapshot(snapshot) = snapshot else { panic!("a snapshot") };
            async_runtime::block_on(session.close()).expect("closed");
            snapshot.keeps_nothing
        };
        assert_eq!([&second, &first].map(keeps_nothing), [true, false]);
    }
}
