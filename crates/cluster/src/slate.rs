//! What one connection has handed out and not heard of again. What is done with at the same time is said at once: one
//! word is enough for everything up to a letter, where nothing before it is still in hand.

use std::{
    collections::BTreeSet,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::join_all;
use lapin::{Acker, message::Delivery, options::BasicAckOptions};
use tokio::sync::Mutex as AsyncMutex;

#[derive(Default)]
pub struct Slate {
    /// Letters by their number, in the order in which they came.
    open: Mutex<BTreeSet<u64>>,
    done: Mutex<Vec<(u64, Acker)>>,
    /// Held while something is said, so that words go out in the order in which they were found.
    speaking: AsyncMutex<()>,
}

/// The duty to say that a letter is done with.
pub struct Debt {
    number: u64,
    acker: Acker,
    slate: Arc<Slate>,
}

impl Debt {
    pub fn new(delivery: &Delivery, slate: &Arc<Slate>) -> Self {
        lock(&slate.open).insert(delivery.delivery_tag);
        Self { number: delivery.delivery_tag, acker: delivery.acker.clone(), slate: Arc::clone(slate) }
    }

    /// Says so, together with whoever has to say the same now. Where the connection is gone the letter comes again, and
    /// is known then.
    pub async fn settle(self) {
        let Self { number, acker, slate } = self;
        lock(&slate.done).push((number, acker));
        // Those that were written together come here together.
        tokio::task::yield_now().await;
        slate.speak().await;
    }
}

impl Slate {
    async fn speak(&self) {
        let _turn = self.speaking.lock().await;
        let mut done = mem::take(&mut *lock(&self.done));
        if done.is_empty() {
            return;
        }
        done.sort_unstable_by_key(|(number, _)| *number);
        let numbers: Vec<u64> = done.iter().map(|(number, _)| *number).collect();
        let first = all_before(&mut lock(&self.open), &numbers);
        let words = done.iter().enumerate().skip(first.saturating_sub(1)).map(async |(place, (_, acker))| {
            let options = BasicAckOptions { multiple: place + 1 == first };
            if let Err(error) = acker.ack(options).await {
                tracing::debug!(%error, "a message could not be acknowledged");
            }
        });
        // Together, so that they are written to the socket together.
        join_all(words).await;
    }
}

/// Takes letters that are done with off the list; how many of the first of them have no other in front of them.
fn all_before(open: &mut BTreeSet<u64>, done: &[u64]) -> usize {
    let first = open.iter().zip(done).take_while(|(open, done)| open == done).count();
    for number in done {
        open.remove(number);
    }
    first
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_enough_up_to_the_first_that_is_in_hand() {
        let mut open: BTreeSet<u64> = (1..=9).collect();
        assert_eq!(all_before(&mut open, &[2, 3]), 0, "1 is in hand");
        assert_eq!(all_before(&mut open, &[1, 4, 6]), 2, "up to 4; 6 for itself");
        assert_eq!(all_before(&mut open, &[5, 7, 8]), 3, "6 was said before");
        assert_eq!(open, BTreeSet::from([9]));
    }
}
