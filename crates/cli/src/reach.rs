//! What workflows may reach outside, as every command that runs them asks for it.

use std::path::PathBuf;

use clap::Args;
use session::{AddressPolicy, Reach};

#[derive(Args)]
pub struct ReachArguments {
    /// A file of credentials that only you may read; the one in the user's data folder where absent.
    #[arg(long, value_name = "PATH", env = "RUNEGLASS_CREDENTIALS")]
    credentials: Option<PathBuf>,
    /// Let workflows reach this machine and its network: yes for `run`, no for `serve` where absent.
    #[arg(long, value_name = "YES|NO")]
    private_addresses: Option<YesNo>,
    /// Rules for what is hidden before it is recorded: {"names": [...], "patterns": [...], "everywhere": true}.
    #[arg(long, value_name = "FILE")]
    redact: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum YesNo {
    Yes,
    No,
}

impl ReachArguments {
    pub fn reach(self, usual: AddressPolicy) -> Reach {
        let addresses = match self.private_addresses {
            Some(YesNo::Yes) => AddressPolicy::Any,
            Some(YesNo::No) => AddressPolicy::PublicOnly,
            None => usual,
        };
        Reach { addresses, credentials: self.credentials, redaction: self.redact }
    }
}
