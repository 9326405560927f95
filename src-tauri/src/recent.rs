//! Files that were open in this window before, the last one first. Losing the list is harmless.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use protocol::{RecentFile, RecentKind};
use serde::{Deserialize, Serialize};

/// More of them nobody looks through.
const MOST: usize = 12;

pub struct Recent {
    /// Where the list is kept; nowhere where the user has no data folder.
    file: Option<PathBuf>,
    entries: Mutex<Vec<Entry>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    kind: RecentKind,
}

impl Recent {
    pub fn at(file: Option<PathBuf>) -> Self {
        let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        // What was kept may be anything.
        let mut entries: Vec<Entry> = serde_json::from_str(&text).unwrap_or_default();
        entries.truncate(MOST);
        Self { file, entries: Mutex::new(entries) }
    }

    /// The last one first; `open` is the store that is open now.
    pub fn list(&self, open: Option<&Path>) -> Vec<RecentFile> {
        let shown = |Entry { path, kind }: &Entry| RecentFile {
            path: path.display().to_string(),
            kind: *kind,
            missing: !path.exists(),
            open: *kind == RecentKind::Store && open == Some(path),
        };
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).iter().map(shown).collect()
    }

    /// The page may name what is in the list, and nothing else on this machine.
    pub fn find(&self, shown: &str) -> Option<PathBuf> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().map(|entry| &entry.path).find(|path| path.display().to_string() == shown).cloned()
    }

    /// The same file again moves to the front.
    pub fn add(&self, path: &Path, kind: RecentKind) {
        let entry = Entry { path: path.to_owned(), kind };
        self.change(|entries| {
            entries.retain(|other| other.path != entry.path);
            entries.insert(0, entry);
            entries.truncate(MOST);
        });
    }

    pub fn forget(&self, shown: &str) {
        self.change(|entries| entries.retain(|entry| entry.path.display().to_string() != shown));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut entries);
        let kept = || -> Option<()> {
            let file = self.file.as_ref()?;
            fs::create_dir_all(file.parent()?).ok()?;
            fs::write(file, serde_json::to_string(&*entries).ok()?).ok()
        };
        // The next start then has a shorter list.
        let _ = kept();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(recent: &Recent) -> Vec<String> {
        recent.list(None).into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn the_last_one_is_first_and_the_list_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("deeper/recent.json");
        let recent = Recent::at(Some(file.clone()));
        for name in ["/a.db", "/b.runeglass", "/a.db"] {
            recent.add(Path::new(name), RecentKind::Store);
        }
        assert_eq!(paths(&recent), ["/a.db", "/b.runeglass"]);
        assert_eq!(paths(&Recent::at(Some(file.clone()))), ["/a.db", "/b.runeglass"]);
        recent.forget("/a.db");
        assert_eq!(paths(&Recent::at(Some(file))), ["/b.runeglass"]);
    }

    #[test]
    fn there_are_only_so_many() {
        let recent = Recent::at(None);
        for number in 0..40 {
            recent.add(Path::new(&format!("/{number}.db")), RecentKind::Store);
        }
        assert_eq!((paths(&recent).len(), paths(&recent)[0].as_str()), (MOST, "/39.db"));
    }

    #[test]
    fn what_is_not_in_the_list_cannot_be_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("recent.json");
        fs::write(&file, "no list").expect("written");
        let recent = Recent::at(Some(file));
        assert_eq!(paths(&recent), [] as [&str; 0]);
        let here = folder.path().join("recent.json");
        recent.add(&here, RecentKind::Store);
        recent.add(Path::new("/gone.runeglass"), RecentKind::Case);
        assert_eq!(recent.find("/etc/passwd"), None);
        assert_eq!(recent.find("/gone.runeglass"), Some("/gone.runeglass".into()));
        let told = recent.list(Some(&here)).into_iter().map(|file| (file.missing, file.open));
        assert_eq!(told.collect::<Vec<_>>(), [(true, false), (false, true)]);
    }
}
