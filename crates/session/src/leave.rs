//! Leaving a store, so that it can be opened again.

use std::{sync::Arc, time::Duration};

use protocol::Problem;

use crate::Session;

/// What works for a session hears of its end a moment later; a question that is under way is not waited for.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

impl Session {
    /// Closes it and waits until nobody holds its store any more. What still does so after two seconds, such as a
    /// question to the outside, keeps the store until it is answered.
    pub async fn leave(session: Arc<Self>) -> Result<(), Problem> {
        let store = Arc::downgrade(&session.store);
        session.close().await?;
        drop(session);
        for _ in 0..LOOKS {
            if store.strong_count() == 0 {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }
}
