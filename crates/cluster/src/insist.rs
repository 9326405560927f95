//! Servers come and go. What is worth doing is done when they are back.

use std::{future::Future, time::Duration};

use crate::ClusterError;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Tries until it works, with longer and longer pauses. Only what does not pass by itself is an error.
pub async fn insist<T, F: Future<Output = Result<T, ClusterError>>>(
    what: &str,
    mut attempt: impl FnMut() -> F,
) -> Result<T, ClusterError> {
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt().await {
            Err(error) if error.passes() => {
                tracing::warn!(%error, ?pause, "could not {what}; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            result => return result,
        }
    }
}

impl ClusterError {
    /// Whether the same may work a little later.
    pub fn passes(&self) -> bool {
        match self {
            Self::Broker(error) => !error.is_amqp_error() || error.is_amqp_hard_error(),
            Self::Redis(error) => {
                error.is_io_error()
                    || error.is_timeout()
                    || error.is_connection_dropped()
                    || error.is_connection_refusal()
                    || matches!(
                        error.kind(),
                        redis::ErrorKind::Server(
                            redis::ServerErrorKind::BusyLoading
                                | redis::ServerErrorKind::TryAgain
                                | redis::ServerErrorKind::MasterDown
                                | redis::ServerErrorKind::ClusterDown
                        )
                    )
            }
            Self::NotConfirmed(_) => true,
            Self::Clash { .. }
            | Self::Damaged(_)
            | Self::Unwritable(_)
            | Self::Ledger(_)
            | Self::Unknown(_)
            | Self::Refused(_) => false,
        }
    }
}
