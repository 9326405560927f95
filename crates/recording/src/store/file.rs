//! The file of a store: whose it is, making a new one, and the lock that keeps it to one engine.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::migrate::{self, APPLICATION_ID, SCHEMA_VERSION};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Write,
    Read,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path} is not a Runeglass store ({detail}); it was left as it is")]
    NotOurs { path: String, detail: String },
    #[error(
        "{path} was written by a newer Runeglass (format {found}, this one knows {SCHEMA_VERSION}); it was left as it is"
    )]
    Newer { path: String, found: i32 },
    #[error(
        "{path} was written by an older Runeglass (format {found}, this one writes {SCHEMA_VERSION}) and cannot be \
         brought up now: {detail}"
    )]
    Older { path: String, found: i32, detail: String },
    #[error("{path} is not what an export writes: {detail}")]
    Refused { path: String, detail: String },
    #[error("{path} is in use by another Runeglass")]
    InUse { path: String },
    #[error("there is no store at {path}")]
    Missing { path: String },
    #[error("the disk is full: {path} cannot grow; everything committed so far is safe and readable")]
    Full { path: String },
    #[error("{path} was opened for reading")]
    ReadOnly { path: String },
    #[error("{detail}")]
    Query { detail: String },
    /// An execution from a file has no place in this store.
    #[error("{detail}")]
    NotImported { detail: String },
    #[error("{path} is damaged: {detail}")]
    Damaged { path: String, detail: String },
    #[error("{path} cannot be used: {detail}")]
    Unusable { path: String, detail: String },
}

impl StoreError {
    /// What was asked for makes no sense.
    pub(super) fn query(detail: impl Into<String>) -> Self {
        Self::Query { detail: detail.into() }
    }

    pub(super) fn from_sqlx(path: &str, error: sqlx::Error) -> Self {
        let path = path.to_owned();
        let code = error
            .as_database_error()
            .and_then(|error| error.code())
            .and_then(|code| code.parse::<i32>().ok());
        match code.map(|code| code & 0xff) {
            Some(13) => Self::Full { path },
            Some(11 | 26) => Self::Damaged { path, detail: error.to_string() },
            _ => Self::Unusable { path, detail: error.to_string() },
        }
    }

    pub(super) fn from_io(path: &Path, error: &std::io::Error) -> Self {
        let path = path.display().to_string();
        match error.kind() {
            ErrorKind::StorageFull => Self::Full { path },
            _ => Self::Unusable { path, detail: error.to_string() },
        }
    }
}

pub enum Found {
    Nothing,
    /// A store in the format this Runeglass writes, or an older one.
    Ours {
        format: i32,
    },
}

/// Looks at the first bytes only, without SQLite, so that a foreign file is not touched in any way.
pub fn inspect(path: &Path) -> Result<Found, StoreError> {
    let shown = path.display().to_string();
    let not_ours = |detail: &str| StoreError::NotOurs { path: shown.clone(), detail: detail.to_owned() };
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(StoreError::from_io(path, &error)),
    };
    if !meta.is_file() {
        return Err(not_ours("it is not a file"));
    }
    let mut header = [0u8; 100];
    let mut file = File::open(path).map_err(|error| StoreError::from_io(path, &error))?;
    if file.read_exact(&mut header).is_err() || !header.starts_with(b"SQLite format 3\0") {
        return Err(not_ours("it is not a SQLite file"));
    }
    let number = |at: usize| i32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (version, application) = (number(60), number(68));
    match () {
        () if application != APPLICATION_ID => Err(not_ours("it is the database of another program")),
        () if version > SCHEMA_VERSION => Err(StoreError::Newer { path: shown, found: version }),
        () => Ok(Found::Ours { format: version }),
    }
}

/// Makes a store beside its final place and moves it there, so that there is never half a store.
pub async fn create(path: &Path) -> Result<(), StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| StoreError::from_io(path, &error))?;
    }
    let unfinished = beside(path, "new");
    let made = async {
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::from_io(path, &error));
            }
            _ => {}
        }
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&unfinished)
            .map_err(|error| StoreError::from_io(path, &error))?;
        migrate::write_new(&unfinished)
            .await
            .map_err(|error| StoreError::from_sqlx(&path.display().to_string(), error))?;
        fs::rename(&unfinished, path).map_err(|error| StoreError::from_io(path, &error))
    };
    made.await
}

/// Held by the one process that may write. The system drops it when the process ends, however it ends.
pub struct Lock {
    _file: File,
}

impl Lock {
    pub fn take(store: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = store.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| StoreError::from_io(store, &error))?;
        }
        let path = beside(store, "lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(|error| StoreError::from_io(store, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: store.display().to_string() }),
            Err(TryLockError::Error(error)) => Err(StoreError::from_io(store, &error)),
        }
    }
}

pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}
