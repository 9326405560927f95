//! The keyring of the desktop: macOS Keychain, Windows Credential Manager, or the Secret Service.

use keyring::v1::{Entry, Error};
use runtime::credentials::{Keeper, KeeperError, Secret};

/// What our entries are filed under.
const SERVICE: &str = "runeglass";

pub struct Keyring;

impl Keyring {
    pub fn set(name: &str, value: &str) -> Result<(), KeeperError> {
        entry(name)?.set_password(value).map_err(|error| complaint(&error))
    }

    /// What is filed under a name, as it was given.
    pub fn text(name: &str) -> Result<Option<String>, KeeperError> {
        match entry(name)?.get_password() {
            Ok(text) => Ok(Some(text)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(complaint(&error)),
        }
    }

    /// False if there was none.
    pub fn remove(name: &str) -> Result<bool, KeeperError> {
        match entry(name)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(complaint(&error)),
        }
    }
}

impl Keeper for Keyring {
    fn name(&self) -> String {
        "the keyring".to_owned()
    }

    fn find(&self, name: &str) -> Result<Option<Secret>, KeeperError> {
        match entry(name)?.get_password() {
            Ok(text) => Secret::parse(&text).map(Some).map_err(|why| {
                KeeperError::Unusable(format!("the credential {name:?} in the keyring cannot be used: {why}"))
            }),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(complaint(&error)),
        }
    }
}

fn entry(name: &str) -> Result<Entry, KeeperError> {
    Entry::new(SERVICE, name).map_err(|error| complaint(&error))
}

/// The library's own words may quote what is stored, so only some of them are repeated.
fn complaint(error: &Error) -> KeeperError {
    match error {
        Error::NoDefaultStore => {
            KeeperError::Absent("the keyring, which this machine does not have".to_owned())
        }
        Error::PlatformFailure(why) | Error::NoStorageAccess(why) => {
            KeeperError::Silent(format!("the keyring does not answer: {why}"))
        }
        Error::TooLong(what, most) => {
            KeeperError::Unusable(format!("the keyring takes {most} characters at most for the {what}"))
        }
        _ => KeeperError::Unusable("the keyring holds something under this name that is not ours".to_owned()),
    }
}
