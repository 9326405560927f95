//! Secrets in a file that only its owner may read: one JSON object, a credential under each name.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{Keeper, KeeperError, Secret};

#[derive(Clone, Debug)]
pub struct CredentialFile(PathBuf);

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{path} can be read by others, so it is not used; `chmod 600 {path}` makes it yours alone")]
    Open { path: String },
    #[error("{path} is not a file of credentials: {why}")]
    Damaged { path: String, why: String },
    #[error("{path} cannot be used: {why}")]
    Unusable { path: String, why: String },
}

type Kept = BTreeMap<String, Value>;

impl CredentialFile {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Names only: values are for calls.
    pub fn names(&self) -> Result<Vec<String>, FileError> {
        Ok(self.read()?.into_keys().collect())
    }

    pub fn set(&self, name: &str, value: Value) -> Result<(), FileError> {
        let _lock = self.lock()?;
        let mut kept = self.read()?;
        kept.insert(name.to_owned(), value);
        self.write(&kept)
    }

    /// False if there was none.
    pub fn remove(&self, name: &str) -> Result<bool, FileError> {
        let _lock = self.lock()?;
        let mut kept = self.read()?;
        let found = kept.remove(name).is_some();
        if found {
            self.write(&kept)?;
        }
        Ok(found)
    }

    fn read(&self) -> Result<Kept, FileError> {
        let path = self.0.display().to_string();
        let unusable =
            |error: std::io::Error| FileError::Unusable { path: path.clone(), why: error.to_string() };
        let mut file = match File::open(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Kept::new()),
            Err(error) => return Err(unusable(error)),
        };
        if file.metadata().map_err(unusable)?.mode() & 0o077 != 0 {
            return Err(FileError::Open { path });
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(unusable)?;
        // The parser's complaint quotes what it found, which may be a secret: only the place is said.
        serde_json::from_str(&text).map_err(|error| FileError::Damaged {
            path: path.clone(),
            why: format!("line {}, column {}", error.line(), error.column()),
        })
    }

    /// Written beside its place and moved there, so that there is never half a file; the new one belongs to its owner
    /// alone from the beginning.
    fn write(&self, kept: &Kept) -> Result<(), FileError> {
        let text = serde_json::to_vec_pretty(kept).map_err(|error| self.unusable(error.into()))?;
        let mut fresh =
            tempfile::NamedTempFile::new_in(self.folder()).map_err(|error| self.unusable(error))?;
        let written = fresh.write_all(&text).and_then(|()| fresh.as_file().sync_all());
        written.map_err(|error| self.unusable(error))?;
        fresh.persist(&self.0).map(drop).map_err(|error| self.unusable(error.error))
    }

    /// Held while the file is read, changed and written: two changes at once would lose one.
    fn lock(&self) -> Result<File, FileError> {
        fs::create_dir_all(self.folder()).map_err(|error| self.unusable(error))?;
        let mut name = self.0.as_os_str().to_owned();
        name.push(".lock");
        let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(name);
        let lock = opened.map_err(|error| self.unusable(error))?;
        lock.lock().map_err(|error| self.unusable(error))?;
        Ok(lock)
    }

    fn folder(&self) -> &Path {
        self.0.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn unusable(&self, error: std::io::Error) -> FileError {
        FileError::Unusable { path: self.0.display().to_string(), why: error.to_string() }
    }
}

impl Keeper for CredentialFile {
    fn name(&self) -> String {
        format!("the file {}", self.0.display())
    }

    fn find(&self, name: &str) -> Result<Option<Secret>, KeeperError> {
        let kept = self.read().map_err(|error| KeeperError::Unusable(error.to_string()))?;
        let Some(value) = kept.get(name) else { return Ok(None) };
        let secret = Secret::parse(&value.to_string());
        let complain = |why| KeeperError::Unusable(format!("{} {name:?} cannot be used: {why}", self.name()));
        secret.map(Some).map_err(complain)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_kept_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = CredentialFile::at(folder.path().join("deep/credentials.json"));
        assert_eq!(file.names().unwrap(), Vec::<String>::new());
        file.set("mail", json!({"host": "h", "password": "p"})).unwrap();
        file.set("token", json!("t")).unwrap();
        assert_eq!(fs::metadata(file.path()).unwrap().mode() & 0o777, 0o600);
        assert_eq!(file.names().unwrap(), ["mail", "token"]);
        assert_eq!(file.find("mail").unwrap().unwrap().text("host"), Some("h"));
        assert!(file.find("nobody").unwrap().is_none());
        assert!(file.remove("mail").unwrap() && !file.remove("mail").unwrap());

        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        let complaint = file.find("token").map(|_| ()).unwrap_err().to_string();
        assert!(complaint.contains("chmod 600"), "{complaint}");
    }

    #[test]
    fn many_changes_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = CredentialFile::at(folder.path().join("c.json"));
        fs::write(folder.path().join("c.new"), "somebody else's").unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = &file;
                scope.spawn(move || file.set(&format!("n{number}"), json!("t")).unwrap());
            }
        });
        assert_eq!(file.names().unwrap().len(), 8);
        assert_eq!(fs::metadata(file.path()).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_file_is_not_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let file = CredentialFile::at(folder.path().join("c.json"));
        file.set("a", json!("x")).unwrap();
        fs::write(file.path(), "{\"a\": hunter2}").unwrap();
        let complaint = file.names().unwrap_err().to_string();
        assert!(complaint.contains("line 1") && !complaint.contains("hunter2"), "{complaint}");
    }
}
