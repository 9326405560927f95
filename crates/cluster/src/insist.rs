//! Servers come and go. What is worth doing is done when they are back.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use crate::ClusterError;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long is insisted: for ever, until somebody is asked to stop, and then only a while. All copies are one.
#[derive(Clone, Default)]
pub struct Patience(Arc<Asked>);

#[derive(Default)]
struct Asked {
    /// Since when a stop is asked for, and how long is insisted from then on.
    stop: watch::Sender<Option<(Instant, Duration)>>,
    gave_up: AtomicBool,
}

impl Patience {
    /// From now on servers that are gone are waited for no longer than this.
    pub fn stop_after(&self, limit: Duration) {
        let now = Instant::now();
        self.0.stop.send_modify(|stop| *stop = stop.or(Some((now, limit))));
    }

    /// Something was not done, because the servers did not come back in time.
    pub fn has_given_up(&self) -> bool {
        self.0.gave_up.load(Ordering::SeqCst)
    }

    /// Tries until it works, with longer and longer pauses. Only what does not pass by itself is an error, and what has
    /// not passed when there is no more time.
    pub async fn insist<T, F: Future<Output = Result<T, ClusterError>>>(
        &self,
        what: &str,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, ClusterError> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut why = "there was no answer".to_owned();
        loop {
            let tried = tokio::select! {
                biased;
                tried = attempt() => tried,
                limit = self.runs_out(began) => return Err(self.give_up(what, limit, why)),
            };
            let error = match tried {
                Err(error) if error.passes() => error,
                result => return result,
            };
            tracing::warn!(%error, ?pause, "could not {what}; trying again");
            why = error.to_string();
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                limit = self.runs_out(began) => return Err(self.give_up(what, limit, why)),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Returns when there is no more time for what began then. Who begins after a stop was asked for has as much as
    /// who was at it.
    async fn runs_out(&self, began: Instant) -> Duration {
        let mut stop = self.0.stop.subscribe();
        let asked = stop.wait_for(Option::is_some).await.ok().and_then(|asked| *asked);
        // The sender is our own, so there is one.
        let Some((asked, limit)) = asked else { return std::future::pending().await };
        tokio::time::sleep_until(asked.max(began) + limit).await;
        limit
    }

    fn give_up(&self, what: &str, limit: Duration, why: String) -> ClusterError {
        self.0.gave_up.store(true, Ordering::SeqCst);
        ClusterError::GaveUp { what: what.to_owned(), limit, why }
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
            | Self::Refused(_)
            | Self::GaveUp { .. } => false,
        }
    }

    /// Whether it says something of one execution, and nothing of the servers.
    pub fn is_about_one_execution(&self) -> bool {
        match self {
            Self::Damaged(_) | Self::Unwritable(_) | Self::Ledger(_) => true,
            Self::Redis(error) => {
                matches!(error.kind(), redis::ErrorKind::UnexpectedReturnType | redis::ErrorKind::Parse)
                    || error.code() == Some("WRONGTYPE")
            }
            Self::Broker(_)
            | Self::NotConfirmed(_)
            | Self::Clash { .. }
            | Self::Unknown(_)
            | Self::Refused(_)
            | Self::GaveUp { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone() -> ClusterError {
        ClusterError::NotConfirmed("a queue".to_owned())
    }

    /// Servers come back in their own time, which nobody can move; so it is a short one.
    const LIMIT: Duration = Duration::from_millis(300);

    #[tokio::test]
    async fn who_is_asked_to_stop_tries_for_a_while_and_says_so() {
        let patience = Patience::default();
        let trying = patience.insist("send", || async { Err::<(), _>(gone()) });
        tokio::pin!(trying);
        assert!(tokio::time::timeout(2 * LIMIT, &mut trying).await.is_err(), "nobody has asked it to stop");
        let asked = Instant::now();
        patience.stop_after(LIMIT);
        patience.stop_after(100 * LIMIT);
        assert!(!patience.has_given_up());
        let error = trying.await.expect_err("nobody came back");
        assert!(
            (LIMIT..20 * LIMIT).contains(&asked.elapsed()),
            "the first word counts: {:?}",
            asked.elapsed()
        );
        assert!(patience.has_given_up());
        assert_eq!(
            error.to_string(),
            "asked to stop, and could not send for 300ms: the broker did not confirm a message for a queue"
        );
    }

    #[tokio::test]
    async fn what_begins_after_the_stop_has_its_time_too() {
        let patience = Patience::default();
        // A node in hand may take longer than that.
        patience.stop_after(Duration::ZERO);
        let done = patience.insist("write", || async { Ok(7) });
        assert_eq!(done.await.expect("they are there"), 7);
        let patience = Patience::default();
        patience.stop_after(10 * LIMIT);
        let mut tries = 0;
        let done = patience.insist("write", || {
            tries += 1;
            let back = tries > 2;
            async move { if back { Ok(7) } else { Err(gone()) } }
        });
        assert_eq!(done.await.expect("they came back"), 7);
        assert!(!patience.has_given_up());
    }

    #[tokio::test]
    async fn an_answer_that_never_comes_is_not_waited_for() {
        let patience = Patience::default();
        patience.stop_after(LIMIT);
        let hangs = patience.insist("read", std::future::pending::<Result<(), ClusterError>>).await;
        assert!(matches!(hangs, Err(ClusterError::GaveUp { .. })));
        assert!(patience.has_given_up());
    }
}
