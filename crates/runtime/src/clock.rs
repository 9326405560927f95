//! The only place that knows what time it is. Everything else is told, so that time can be moved.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use protocol::Millis;
use tokio::sync::oneshot;

/// The system's clock, or a simulated one on which waiting takes no time. The second part says by how much the
/// system's clock is behind one that others go by.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<Mutex<Simulated>>>, Arc<AtomicI64>);

/// Jumps to the next sleeper as soon as no work is under way, so that sleepers wake in order of their time.
struct Simulated {
    now: Millis,
    /// Messages that are ready or being worked on, sleepers excepted.
    busy: usize,
    slept: u64,
    sleepers: BTreeMap<(Millis, u64), oneshot::Sender<()>>,
}

impl Clock {
    pub fn system() -> Self {
        Self::default()
    }

    pub fn simulated(start: Millis) -> Self {
        let clock = Simulated { now: start, busy: 0, slept: 0, sleepers: BTreeMap::new() };
        Self(Some(Arc::new(Mutex::new(clock))), Arc::default())
    }

    pub fn now(&self) -> Millis {
        match &self.0 {
            Some(simulated) => lock(simulated).now,
            None => system_now() + self.1.load(Ordering::Relaxed),
        }
    }

    /// Goes by a clock that shows `now` at this moment. A simulated clock goes by nobody.
    pub fn set(&self, now: Millis) {
        if self.0.is_none() {
            self.1.store(now - system_now(), Ordering::Relaxed);
        }
    }

    /// Waits. The caller, who has a message in hand, counts as idle meanwhile.
    pub async fn sleep(&self, millis: Millis) {
        let Some(simulated) = &self.0 else {
            tokio::time::sleep(Duration::from_millis(millis.max(0).unsigned_abs())).await;
            return;
        };
        if millis <= 0 {
            return;
        }
        let mut resting = {
            let mut clock = lock(simulated);
            let due = clock.now.saturating_add(millis);
            let woken = clock.register(due);
            clock.busy = clock.busy.saturating_sub(1);
            clock.advance();
            Resting { clock: simulated, woken, in_hand: true }
        };
        // The clock lives as long as its sleepers, so the only answer is that it is time.
        let _ = (&mut resting.woken).await;
        std::mem::forget(resting);
    }

    /// Waits until a moment, with no message in hand. Whoever is woken counts as busy until it says
    /// [`Clock::work_ended`]; who is busy already (`busy`) is not any more once the alarm is set, so that the clock
    /// cannot run past it.
    pub async fn alarm(&self, due: Millis, busy: bool) {
        let Some(simulated) = &self.0 else {
            tokio::time::sleep(Duration::from_millis(due.saturating_sub(self.now()).max(0).unsigned_abs()))
                .await;
            return;
        };
        let mut resting = {
            let mut clock = lock(simulated);
            let woken = clock.register(due);
            clock.busy = clock.busy.saturating_sub(usize::from(busy));
            clock.advance();
            Resting { clock: simulated, woken, in_hand: false }
        };
        let _ = (&mut resting.woken).await;
        std::mem::forget(resting);
    }

    /// A backend says that `count` messages more are ready or in hand; the simulated clock stands still meanwhile.
    pub fn work_began(&self, count: usize) {
        if let Some(simulated) = &self.0 {
            lock(simulated).busy += count;
        }
    }

    /// A backend says that `count` messages are done with.
    pub fn work_ended(&self, count: usize) {
        if let Some(simulated) = &self.0 {
            let mut simulated = lock(simulated);
            simulated.busy = simulated.busy.saturating_sub(count);
            simulated.advance();
        }
    }
}

/// A sleeper that may give up: then the count of the busy ones is put right.
struct Resting<'c> {
    clock: &'c Mutex<Simulated>,
    woken: oneshot::Receiver<()>,
    in_hand: bool,
}

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        let mut clock = lock(self.clock);
        // Waking is done under the same lock, so the answer cannot change here.
        let woken = self.woken.try_recv().is_ok();
        self.woken.close();
        match (self.in_hand, woken) {
            (true, false) => clock.busy += 1,
            (false, true) => {
                clock.busy = clock.busy.saturating_sub(1);
                clock.advance();
            }
            (true, true) | (false, false) => {}
        }
    }
}

impl Simulated {
    fn register(&mut self, due: Millis) -> oneshot::Receiver<()> {
        let (waker, woken) = oneshot::channel();
        self.slept += 1;
        let slept = self.slept;
        self.sleepers.insert((due, slept), waker);
        woken
    }

    fn advance(&mut self) {
        while self.busy == 0 {
            let Some(((due, _), waker)) = self.sleepers.pop_first() else { return };
            self.now = self.now.max(due);
            // A sleeper that gave up (its execution has ended) does not hold the clock.
            if waker.send(()).is_ok() {
                self.busy += 1;
            }
        }
    }
}

fn lock(simulated: &Mutex<Simulated>) -> MutexGuard<'_, Simulated> {
    simulated.lock().unwrap_or_else(PoisonError::into_inner)
}

#[allow(clippy::disallowed_methods, reason = "this is the one place that asks")]
fn system_now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn simulated_sleepers_wake_in_order_and_at_once() {
        let clock = Clock::simulated(1_000);
        clock.work_began(3);
        let order = Arc::new(Mutex::new(Vec::new()));
        let sleep = |millis| {
            let (clock, order) = (clock.clone(), Arc::clone(&order));
            async move {
                clock.sleep(millis).await;
                order.lock().unwrap().push((millis, clock.now()));
                clock.work_ended(1);
            }
        };
        let day = 86_400_000;
        tokio::join!(sleep(3 * day), sleep(5), sleep(day));
        assert_eq!(*order.lock().unwrap(), [(5, 1_005), (day, 1_000 + day), (3 * day, 1_000 + 3 * day)]);
    }

    #[tokio::test]
    async fn a_sleeper_that_gives_up_does_not_stop_the_clock() {
        let clock = Clock::simulated(0);
        clock.work_began(2);
        {
            let gives_up = clock.sleep(10);
            tokio::select! { biased; () = gives_up => panic!("too early"), () = std::future::ready(()) => {} }
        }
        clock.work_ended(1);
        clock.sleep(20).await;
        assert_eq!(clock.now(), 20);
    }
}
