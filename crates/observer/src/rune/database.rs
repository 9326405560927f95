//! Whether the database of Redis that is looked into is the one of these workers. Every database of a server has keys of
//! its own, and whoever leaves out the number behind the port looks into 0. Nothing tells that by itself: Redis answers
//! every question, and has nothing.

use std::collections::BTreeSet;

use protocol::{Millis, Problem, ProblemCode};

use crate::{Database, detect};

use super::{Rune, execution::Execution, look::Wanted};

/// Waits and joins that must be there and are not, at least: one alone may have been lost.
const ENOUGH: usize = 3;
/// What was heard so long before all keys were looked through, and is not due so long after that, was there all the time.
const MARGIN: Millis = 5_000;

#[derive(Default)]
pub(super) struct Place {
    /// The number of the database, and when it was looked into last.
    number: i64,
    looked_at: Option<Millis>,
    /// Since when a walk is on its way through all keys.
    walks_since: Option<Millis>,
    /// Something of these workers was found there.
    is_theirs: bool,
    /// So much must be there and is not.
    missing: Option<usize>,
}

impl Place {
    pub(super) fn come_by(&mut self, keys: &[String]) {
        self.is_theirs |= keys.iter().any(|key| detect::is_theirs(key));
    }
}

impl Rune {
    /// Redis was looked into at a moment of its clock.
    pub(super) fn note_look(&mut self, number: i64, wanted: &BTreeSet<Wanted>, now: Millis) {
        let has_timers = self.redis.timers.all().next().is_some();
        let has_joins = wanted.iter().any(|wanted| self.redis.kept(wanted).is_some());
        self.place.is_theirs |= has_timers || has_joins;
        (self.place.number, self.place.looked_at) = (number, Some(now));
    }

    /// A walk has come by all keys.
    pub(super) fn compare_with_walk(&mut self) {
        let walked = self.place.walks_since.zip(self.place.looked_at);
        self.place.walks_since = self.place.looked_at;
        let Some((from, until)) = walked.filter(|_| !self.place.is_theirs) else { return };
        let heard = self.executions.values().map(|execution| execution.kept(from - MARGIN, until + MARGIN));
        let missing: usize = heard.sum();
        if missing >= ENOUGH {
            self.place.missing = Some(missing);
        }
    }

    pub(super) fn trouble_of_place(&self, databases: &[Database]) -> Option<Problem> {
        let missing = self.place.missing.filter(|_| !self.place.is_theirs)?;
        let number = self.place.number;
        let message = format!(
            "database {number} of this Redis holds nothing of these workers: {missing} of their waits and joins were \
             heard of, and none is there; whether they are stuck cannot be told"
        );
        let others = databases.iter().filter(|other| other.number != number && other.keys > 0);
        let others: Vec<String> = others.take(3).map(Database::to_string).collect();
        let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        let hint = format!(
            "check the number behind the port in the address of Redis{others}; workers of the public compose file of \
             Rune use /1, as in redis://host:6379/1; if the number is right, what they kept there is lost"
        );
        Some(Problem::new(ProblemCode::NotFound, message, hint))
    }
}

impl Execution {
    /// How many of its waits and joins Redis has had all the time from one moment to another. Of what was missed since
    /// nobody knows.
    fn kept(&self, from: Millis, until: Millis) -> usize {
        let is_known = |since: Millis| since <= from && !self.missed_since(since);
        let joins = self.waiting.iter().filter_map(|spot| self.joins.get(spot));
        let joins = joins.filter(|join| join.waits && is_known(join.since));
        let open =
            self.open.iter().flat_map(|(node, places)| places.iter().map(|place| (*node, place.clone())));
        let open = open.filter_map(|spot| self.tracks.get(&spot)?.open);
        let rests =
            open.filter(|open| open.due.is_some_and(|due| due > until) && is_known(open.began.millis()));
        if self.ended { 0 } else { joins.count() + rests.count() }
    }
}
