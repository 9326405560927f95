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
use tokio::sync::{oneshot, watch};

/// The system's clock, or a simulated one on which waiting takes no time. The second part says by how much the
/// system's clock is behind one that others go by.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<Mutex<Simulated>>>, Arc<AtomicI64>);

/// Jumps to the next sleeper as soon as no work is under way, so that sleepers wake in order of their time. Work for which
/// no hand is free is not under way: it waits for one of the sleepers.
#[derive(Default)]
struct Simulated {
    now: Millis,
    /// Messages that are ready or being worked on, sleepers excepted, and time keepers who look at their timers.
    busy: usize,
    /// Of the busy ones, the time keepers: they need no hand.
    keepers: usize,
    /// Messages that can be worked on at once, where somebody has said.
    hands: usize,
    /// Of the sleepers, those with a message in hand.
    asleep: usize,
    slept: u64,
    /// Rings when somebody with a message in hand goes to sleep.
    told: watch::Sender<u64>,
    sleepers: BTreeMap<(Millis, u64), Sleeper>,
}

struct Sleeper {
    waker: oneshot::Sender<()>,
    in_hand: bool,
}

/// Hands that work by a clock, as long as this is kept.
pub struct Hands {
    clock: Clock,
    count: usize,
}

impl Drop for Hands {
    fn drop(&mut self) {
        if let Some(simulated) = &self.clock.0 {
            let mut clock = lock(simulated);
            clock.hands = clock.hands.saturating_sub(self.count);
        }
    }
}

impl Clock {
    pub fn system() -> Self {
        Self::default()
    }

    pub fn simulated(start: Millis) -> Self {
        let clock = Simulated { now: start, ..Simulated::default() };
        Self(Some(Arc::new(Mutex::new(clock))), Arc::default())
    }

    /// So many messages can be worked on at once. When all of them sleep, the simulated clock goes on, whatever else is
    /// ready.
    pub fn employ(&self, count: usize) -> Hands {
        if let Some(simulated) = &self.0 {
            lock(simulated).hands += count;
        }
        Hands { clock: self.clone(), count }
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
            let woken = clock.register(due, true);
            clock.busy = clock.busy.saturating_sub(1);
            clock.advance();
            Resting { clock: simulated, woken, in_hand: true }
        };
        // The clock lives as long as its sleepers, so the only answer is that it is time.
        let _ = (&mut resting.woken).await;
        std::mem::forget(resting);
    }

    /// Messages in hand that sleep on a simulated clock. While one message is held that clock stands still, and these do
    /// not wake.
    pub fn asleep(&self) -> usize {
        self.0.as_ref().map_or(0, |simulated| lock(simulated).asleep)
    }

    /// Changes when somebody with a message in hand goes to sleep; `None` on the system's clock.
    pub fn sleepers(&self) -> Option<watch::Receiver<u64>> {
        self.0.as_ref().map(|simulated| lock(simulated).told.subscribe())
    }

    /// Waits until a moment, with no message in hand. Whoever is woken counts as busy until it says
    /// [`Clock::keeper_rests`]; who is busy already (`busy`) is not any more once the alarm is set, so that the clock
    /// cannot run past it.
    pub async fn alarm(&self, due: Millis, busy: bool) {
        let Some(simulated) = &self.0 else {
            tokio::time::sleep(Duration::from_millis(due.saturating_sub(self.now()).max(0).unsigned_abs()))
                .await;
            return;
        };
        let mut resting = {
            let mut clock = lock(simulated);
            let woken = clock.register(due, false);
            clock.keeper_ends(busy);
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

    /// A time keeper is to look at its timers; until it has, the simulated clock stands still.
    pub fn keeper_begins(&self) {
        if let Some(simulated) = &self.0 {
            let mut clock = lock(simulated);
            clock.busy += 1;
            clock.keepers += 1;
        }
    }

    /// A time keeper who was busy, or not, has looked and found no timer.
    pub fn keeper_rests(&self, busy: bool) {
        if let Some(simulated) = &self.0 {
            let mut clock = lock(simulated);
            clock.keeper_ends(busy);
            clock.advance();
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
            (true, false) => {
                clock.asleep = clock.asleep.saturating_sub(1);
                clock.busy += 1;
            }
            (false, true) => {
                clock.keeper_ends(true);
                clock.advance();
            }
            (true, true) | (false, false) => {}
        }
    }
}

impl Simulated {
    fn register(&mut self, due: Millis, in_hand: bool) -> oneshot::Receiver<()> {
        let (waker, woken) = oneshot::channel();
        self.slept += 1;
        if in_hand {
            self.asleep += 1;
            self.told.send_replace(self.slept);
        }
        self.sleepers.insert((due, self.slept), Sleeper { waker, in_hand });
        woken
    }

    fn keeper_ends(&mut self, busy: bool) {
        self.busy = self.busy.saturating_sub(usize::from(busy));
        self.keepers = self.keepers.saturating_sub(usize::from(busy));
    }

    /// Nobody could do anything about what is ready.
    fn is_stuck(&self) -> bool {
        self.hands > 0 && self.asleep >= self.hands && self.keepers == 0
    }

    fn advance(&mut self) {
        while self.busy == 0 || self.is_stuck() {
            let Some(((due, _), Sleeper { waker, in_hand })) = self.sleepers.pop_first() else { return };
            self.now = self.now.max(due);
            // A sleeper that gave up (its execution has ended) does not hold the clock.
            if waker.send(()).is_ok() {
                self.busy += 1;
                match in_hand {
                    true => self.asleep = self.asleep.saturating_sub(1),
                    false => self.keepers += 1,
                }
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
    async fn the_clock_goes_on_when_every_hand_sleeps() {
        let clock = Clock::simulated(0);
        let _hand = clock.employ(1);
        clock.work_began(2);
        for _ in 0..2 {
            tokio::select! {
                biased;
                () = clock.sleep(5) => clock.work_ended(1),
                () = std::future::ready(()) => panic!("what is ready waits for the hand that sleeps"),
            }
        }
        assert_eq!(clock.now(), 10);
    }

    #[tokio::test]
    async fn a_time_keeper_who_looks_holds_the_clock_though_every_hand_sleeps() {
        let clock = Clock::simulated(0);
        let _hand = clock.employ(1);
        clock.work_began(2);
        clock.keeper_begins();
        let sleep = clock.sleep(5);
        tokio::pin!(sleep);
        tokio::select! { biased; () = &mut sleep => panic!("too early"), () = std::future::ready(()) => {} }
        clock.alarm(3, true).await;
        assert_eq!(clock.now(), 3);
        clock.keeper_rests(true);
        sleep.await;
        assert_eq!(clock.now(), 5);
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
