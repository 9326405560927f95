//! Where secrets come from. A workflow refers to them by name; they are looked up when a call is made, and exist
//! nowhere else.

mod environment;
mod file;
mod secret;
mod veil;

use std::sync::Arc;

use engine::Failure;
use protocol::{Credentials, ErrorCode, NodeError};

pub use environment::Environment;
pub use file::{CredentialFile, FileError};
pub use secret::Secret;
pub use veil::Veil;

/// Somebody who keeps secrets.
pub trait Keeper: Send + Sync + 'static {
    /// What people call it, with its place: "the file …".
    fn name(&self) -> String;

    /// May block: it is asked on a thread of its own.
    fn find(&self, name: &str) -> Result<Option<Secret>, KeeperError>;
}

#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// There is no such keeper on this machine, which is nobody's fault.
    #[error("{0}")]
    Absent(String),
    /// It is there and does not answer; it may later.
    #[error("{0}")]
    Silent(String),
    /// What it keeps cannot be used.
    #[error("{0}")]
    Unusable(String),
}

/// Keepers, asked in order.
#[derive(Default)]
pub struct Keychain(Vec<Arc<dyn Keeper>>);

impl Keychain {
    pub fn new(keepers: Vec<Arc<dyn Keeper>>) -> Self {
        Self(keepers)
    }

    /// The secret a node refers to, by any of the names the reference has.
    pub async fn find(&self, wanted: &Credentials) -> Result<Secret, Failure> {
        let names: Vec<String> = wanted.names().map(str::to_owned).collect();
        let mut looked = Vec::new();
        for keeper in &self.0 {
            for name in &names {
                match ask(Arc::clone(keeper), name.clone()).await {
                    Ok(Some(secret)) => return Ok(secret.of_kind(wanted.kind.as_deref())),
                    Ok(None) => looked.push(keeper.name()),
                    Err(KeeperError::Absent(why)) => looked.push(why),
                    Err(KeeperError::Silent(why)) => {
                        let error = NodeError::new(ErrorCode::CredentialsUnreachable, why);
                        return Err(Failure::System(error));
                    }
                    Err(KeeperError::Unusable(why)) => {
                        return Err(Failure::Final(NodeError::new(ErrorCode::CredentialUnusable, why)));
                    }
                }
            }
        }
        looked.dedup();
        let name = names.first().map_or("without a name", String::as_str);
        let places = if looked.is_empty() { "nobody keeps any here".to_owned() } else { looked.join("; ") };
        let message = format!(
            "there is no credential {name:?} (looked in: {places}); `runeglass credentials set {name}` adds it"
        );
        Err(Failure::Final(NodeError::new(ErrorCode::CredentialNotFound, message)))
    }
}

async fn ask(keeper: Arc<dyn Keeper>, name: String) -> Result<Option<Secret>, KeeperError> {
    let asked = tokio::task::spawn_blocking(move || keeper.find(&name)).await;
    asked.unwrap_or_else(|error| {
        Err(KeeperError::Silent(format!("looking up a credential broke off: {error}")))
    })
}
