//! Connections by name, in a file of the user; their passwords in the keyring.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use protocol::{ClusterConnection, Passwords, Problem, ProblemCode};
use runtime::credentials::KeeperError;

use super::address;
use crate::{keyring::Keyring, problem::from_io};

pub struct Connections {
    file: PathBuf,
}

impl Connections {
    pub fn at(file: PathBuf) -> Self {
        Self { file }
    }

    /// By name.
    pub fn list(&self) -> Result<Vec<ClusterConnection>, Problem> {
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(from_io(&format!("read {}", self.file.display()), &error)),
        };
        serde_json::from_str(&text).map_err(|error| {
            let message = format!("{} holds no connections: {error}", self.file.display());
            Problem::new(ProblemCode::Infrastructure, message, "mend the file, or move it away")
        })
    }

    /// Keeps a connection; one of the same name is replaced.
    pub fn save(&self, connection: ClusterConnection, given: &Passwords) -> Result<(), Problem> {
        if connection.name.trim().is_empty() {
            let message = "a connection needs a name";
            return Err(Problem::new(ProblemCode::InvalidRequest, message, "for example production"));
        }
        let (connection, written) = address::separate(connection)?;
        let name = connection.name.clone();
        let mut all = self.list()?;
        let before = all.iter().position(|known| known.name == name).map(|at| all.remove(at));
        let is_as_before = |of: fn(&ClusterConnection) -> &str| {
            before.as_ref().is_some_and(|before| address::is_same_door(of(before), of(&connection)))
        };
        let passwords = [
            ("amqp", given.amqp.clone().or(written.amqp), is_as_before(|connection| &connection.amqp)),
            ("redis", given.redis.clone().or(written.redis), is_as_before(|connection| &connection.redis)),
        ];
        all.push(connection);
        all.sort_by(|left, right| left.name.cmp(&right.name));
        self.write(&all)?;
        for (which, password, is_as_before) in passwords {
            let Some(password) = password.filter(|password| !password.is_empty()) else {
                if !is_as_before {
                    // It was for another server.
                    remove_password(&name, which);
                }
                continue;
            };
            Keyring::set(&entry(&name, which), &password).map_err(|error| {
                let why = match error {
                    KeeperError::Absent(_) => "this machine has no keyring".to_owned(),
                    KeeperError::Silent(_) | KeeperError::Unusable(_) => error.to_string(),
                };
                let message = format!("the connection is kept, its password is not: {why}");
                Problem::new(ProblemCode::Infrastructure, message, "give the password when you attach")
            })?;
        }
        Ok(())
    }

    pub fn forget(&self, name: &str) -> Result<(), Problem> {
        let mut all = self.list()?;
        let before = all.len();
        all.retain(|known| known.name != name);
        if all.len() == before {
            let message = format!("there is no connection {name:?}");
            return Err(Problem::new(ProblemCode::NotFound, message, "look at the list of connections"));
        }
        self.write(&all)?;
        ["amqp", "redis"].iter().for_each(|which| remove_password(name, which));
        Ok(())
    }

    /// All of it or nothing: a file that is half written would lose every connection.
    fn write(&self, all: &[ClusterConnection]) -> Result<(), Problem> {
        let what = format!("write {}", self.file.display());
        let wrap = |error: io::Error| from_io(&what, &error);
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(wrap)?;
        }
        let text = serde_json::to_string_pretty(all).unwrap_or_default();
        let fresh = beside(&self.file);
        fs::write(&fresh, text).map_err(wrap)?;
        fs::rename(&fresh, &self.file).map_err(wrap)
    }
}

fn beside(file: &Path) -> PathBuf {
    file.with_extension("json.new")
}

/// The password of a saved connection. A machine without a keyring has none.
pub fn password(name: &str, which: &str) -> Option<String> {
    match Keyring::text(&entry(name, which)) {
        Ok(found) => found,
        Err(error) => {
            tracing::debug!(%error, "the keyring does not give the password");
            None
        }
    }
}

fn remove_password(name: &str, which: &str) {
    // Without a keyring there is nothing in it.
    if let Err(error) = Keyring::remove(&entry(name, which)) {
        tracing::debug!(%error, "a password could not be removed");
    }
}

fn entry(name: &str, which: &str) -> String {
    format!("cluster {name} {which}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_kept_by_name_and_without_passwords() {
        let folder = tempfile::tempdir().unwrap();
        let connections = Connections::at(folder.path().join("deep").join("connections.json"));
        assert_eq!(connections.list().unwrap(), []);
        let mut shop = ClusterConnection {
            name: "shop".to_owned(),
            colour: "red".to_owned(),
            amqp: "amqp://u@h/%2f".to_owned(),
            redis: "redis://h".to_owned(),
            prefix: String::new(),
            dialect: None,
        };
        connections.save(shop.clone(), &Passwords::default()).unwrap();
        shop.colour = "blue".to_owned();
        connections.save(shop.clone(), &Passwords::default()).unwrap();
        assert_eq!(connections.list().unwrap(), [shop.clone()]);
        // Whether or not there is a keyring here, the password is in no file.
        drop(connections.save(
            ClusterConnection { amqp: "amqp://u:hunter2@h/%2f".to_owned(), ..shop.clone() },
            &Passwords::default(),
        ));
        assert!(!fs::read_to_string(&connections.file).unwrap().contains("hunter2"));
        assert!(connections.forget("else").is_err());
        connections.forget("shop").unwrap();
        assert_eq!(connections.list().unwrap(), []);
        let nameless = ClusterConnection { name: " ".to_owned(), ..shop };
        assert!(connections.save(nameless, &Passwords::default()).is_err());
    }
}
