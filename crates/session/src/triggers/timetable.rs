//! Which schedule is due when, and which of them still has an execution under way. It knows no clock: it is told.

use std::collections::BTreeMap;

use protocol::{ExecutionId, Millis};

use super::Trigger;

#[derive(Default)]
pub struct Timetable {
    schedules: BTreeMap<Trigger, Schedule>,
    /// Kept when a schedule vanishes, because it may come back while its execution is still under way.
    running: BTreeMap<ExecutionId, Trigger>,
}

struct Schedule {
    every: Millis,
    due: Millis,
    /// Ticks in a row that found the execution before them still under way.
    skipped: u64,
}

/// What a tick asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Tick {
    Start { trigger: Trigger, due: Millis },
    Skip { trigger: Trigger, skipped: u64 },
}

impl Timetable {
    /// Takes in which schedules there are. One whose interval is as before keeps its rhythm.
    pub fn follow(&mut self, found: BTreeMap<Trigger, Millis>, now: Millis) {
        let mut before = std::mem::take(&mut self.schedules);
        let keep = |(trigger, every): (Trigger, Millis)| {
            let known = before.remove(&trigger).filter(|schedule| schedule.every == every);
            let fresh = || Schedule { every, due: now.saturating_add(every), skipped: 0 };
            (trigger, known.unwrap_or_else(fresh))
        };
        self.schedules = found.into_iter().map(keep).collect();
    }

    pub fn len(&self) -> usize {
        self.schedules.len()
    }

    pub fn next_due(&self) -> Option<Millis> {
        self.schedules.values().map(|schedule| schedule.due).min()
    }

    /// The earliest tick that is due. Ticks that were missed altogether, because the machine slept, count as one.
    pub fn take_due(&mut self, now: Millis) -> Option<Tick> {
        let due = self.schedules.iter_mut().filter(|(_, schedule)| schedule.due <= now);
        let (trigger, schedule) = due.min_by_key(|(_, schedule)| schedule.due)?;
        let (trigger, due) = (trigger.clone(), schedule.due);
        let missed = (now - due) / schedule.every;
        schedule.due = due.saturating_add((missed + 1).saturating_mul(schedule.every));
        if self.running.values().any(|running| *running == trigger) {
            schedule.skipped += 1;
            return Some(Tick::Skip { trigger, skipped: schedule.skipped });
        }
        schedule.skipped = 0;
        Some(Tick::Start { trigger, due })
    }

    pub fn started(&mut self, trigger: Trigger, execution: ExecutionId) {
        self.running.insert(execution, trigger);
    }

    /// The schedule whose execution has ended, if it was one of ours.
    pub fn ended(&mut self, execution: &ExecutionId) -> Option<Trigger> {
        self.running.remove(execution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(path: &str) -> Trigger {
        Trigger { path: path.to_owned(), node: "clock".into() }
    }

    fn timetable(schedules: &[(&str, Millis)], now: Millis) -> Timetable {
        let mut timetable = Timetable::default();
        timetable.follow(found(schedules), now);
        timetable
    }

    fn found(schedules: &[(&str, Millis)]) -> BTreeMap<Trigger, Millis> {
        schedules.iter().map(|(path, every)| (trigger(path), *every)).collect()
    }

    fn start(path: &str, due: Millis) -> Option<Tick> {
        Some(Tick::Start { trigger: trigger(path), due })
    }

    fn skip(path: &str, skipped: u64) -> Option<Tick> {
        Some(Tick::Skip { trigger: trigger(path), skipped })
    }

    #[test]
    fn ticks_come_in_order_of_their_time() {
        let mut timetable = timetable(&[("slow", 3_000), ("quick", 2_000)], 100);
        assert_eq!(timetable.next_due(), Some(2_100));
        assert_eq!(timetable.take_due(2_099), None);
        assert_eq!(timetable.take_due(2_100), start("quick", 2_100));
        assert_eq!(timetable.take_due(2_100), None);
        assert_eq!(timetable.take_due(4_200), start("slow", 3_100));
        assert_eq!(timetable.take_due(4_200), start("quick", 4_100));
        assert_eq!(timetable.next_due(), Some(6_100));
    }

    #[test]
    fn a_tick_is_skipped_and_counted_while_the_execution_before_it_goes_on() {
        let mut timetable = timetable(&[("a", 1_000), ("b", 1_000)], 0);
        assert_eq!(timetable.take_due(1_000), start("a", 1_000));
        assert_eq!(timetable.take_due(1_000), start("b", 1_000));
        timetable.started(trigger("a"), "first".into());
        assert_eq!(timetable.take_due(2_000), skip("a", 1));
        assert_eq!(timetable.take_due(2_000), start("b", 2_000));
        assert_eq!(timetable.take_due(3_000), skip("a", 2));
        assert_eq!(timetable.ended(&"somebody".into()), None);
        assert_eq!(timetable.ended(&"first".into()), Some(trigger("a")));
        assert_eq!(timetable.take_due(3_000), start("b", 3_000));
        assert_eq!(timetable.take_due(4_000), start("a", 4_000));
        timetable.started(trigger("a"), "second".into());
        assert_eq!(timetable.take_due(4_000), start("b", 4_000));
        assert_eq!(timetable.take_due(5_000), skip("a", 1));
    }

    #[test]
    fn a_long_sleep_is_one_late_tick() {
        let mut timetable = timetable(&[("a", 1_000)], 0);
        assert_eq!(timetable.take_due(7_500), start("a", 1_000));
        assert_eq!(timetable.take_due(7_500), None);
        assert_eq!(timetable.next_due(), Some(8_000));
    }

    #[test]
    fn schedules_come_change_and_go() {
        let mut timetable = timetable(&[("kept", 1_000), ("changed", 1_000), ("gone", 1_000)], 0);
        timetable.started(trigger("gone"), "long".into());
        timetable.follow(found(&[("kept", 1_000), ("changed", 5_000), ("new", 2_000)]), 400);
        assert_eq!(timetable.len(), 3);
        assert_eq!(timetable.take_due(10_000), start("kept", 1_000));
        assert_eq!(timetable.take_due(10_000), start("new", 2_400));
        assert_eq!(timetable.take_due(10_000), start("changed", 5_400));
        timetable.follow(found(&[("gone", 1_000)]), 10_000);
        assert_eq!(timetable.take_due(11_000), skip("gone", 1), "its execution is still under way");
        timetable.follow(BTreeMap::new(), 12_000);
        assert_eq!((timetable.len(), timetable.next_due()), (0, None));
    }
}
