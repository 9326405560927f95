//! What a Rune cluster keeps in Redis: counters and arrivals of its joins, locks, timers and what they resume. Every look
//! asks a bounded number of things, in small pieces; what does not fit in is asked for the next time.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use protocol::Millis;
use redis::{FromRedisValue, ToRedisArgs};
use tokio::time::Instant;

use crate::{ObserverError, Read, Reader};

use super::{
    execution::Execution,
    late::{Late, Strangers},
    timers::Timers,
};

/// Questions of one look, and how long it may take: nothing is heard meanwhile. Where answers take long it asks less.
const QUESTIONS: usize = 240;
const LONGEST: Duration = Duration::from_millis(250);
/// So many questions may take longer: over a slow link a look would come to nothing but its first ones.
const FEW: usize = 12;
const LONGEST_OF_FEW: Duration = Duration::from_millis(1_500);
/// Of these questions, joins that are looked into.
const JOINS: usize = 30;
/// Members of one join that are listed.
const MEMBERS: u64 = 5_000;
/// Joins that are remembered to be there.
const FOUND: usize = 5_000;

/// A join whose state is wanted. An aggregator counts under the name of its split.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wanted {
    Items { execution: String, split: String },
    Branches { execution: String, merge: String },
}

impl Wanted {
    /// Where it is kept, without the last part.
    pub fn prefix(&self) -> String {
        match self {
            Self::Items { execution, split } => format!("exec:{execution}:split:{split}"),
            Self::Branches { execution, merge } => format!("exec:{execution}:node:{merge}"),
        }
    }

    /// A key that is there only while a join waits: others stay when it has opened.
    fn is_unopened(key: &str) -> bool {
        !key.ends_with(":lock") && !key.ends_with(":timeout_active")
    }

    /// A split leaves it for a day, also where nothing gathers its items: it alone tells of no join, and there may be
    /// very many.
    fn is_of_a_split(key: &str) -> bool {
        key.ends_with(":expected")
    }

    pub(super) async fn ask(&self, asking: &mut Asking<'_>) -> Result<Asked, ObserverError> {
        let refusals = asking.refusals;
        let kept = match self {
            Self::Items { .. } => items(asking, &self.prefix()).await?,
            Self::Branches { .. } => branches(asking, &self.prefix()).await?,
        };
        Ok(match kept {
            Some(_) if asking.refusals > refusals => Asked::Refused,
            Some(kept) => Asked::Kept(kept),
            None => Asked::NoRoom,
        })
    }

    /// Told by one of its keys.
    fn of(key: &str) -> Option<Self> {
        const ITEMS: [&str; 3] = [":expected", ":results", ":count"];
        const BRANCHES: [&str; 4] = [":barrier:arrivals", ":barrier:data", ":lock", ":timeout_active"];
        let rest = key.strip_prefix("exec:")?;
        let cut = |ends: &[&str]| ends.iter().find_map(|end| rest.strip_suffix(end));
        if let Some((execution, split)) = cut(&ITEMS).and_then(|rest| rest.split_once(":split:")) {
            return Some(Self::Items { execution: execution.to_owned(), split: split.to_owned() });
        }
        let (execution, merge) = cut(&BRANCHES)?.split_once(":node:")?;
        Some(Self::Branches { execution: execution.to_owned(), merge: merge.to_owned() })
    }

    pub(super) fn execution(&self) -> &str {
        match self {
            Self::Items { execution, .. } | Self::Branches { execution, .. } => execution,
        }
    }
}

/// The state of a join, as Redis has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    pub expected: Option<u32>,
    /// Arrivals, each delivery counted.
    pub count: Option<u32>,
    /// How many indexes have arrived, and which; these are absent where there are too many to list.
    pub members: u32,
    pub results: Option<BTreeSet<u32>>,
    pub arrivals: BTreeSet<String>,
    /// Who was first.
    pub lock: Option<String>,
}

/// What came of asking for a join.
pub(super) enum Asked {
    Kept(Kept),
    /// Redis does not let us, so nothing is known of it.
    Refused,
    NoRoom,
}

impl Kept {
    /// What was counted, where that is more than what is there.
    pub fn counted_twice(&self) -> Option<u32> {
        self.count.filter(|&count| self.members > 0 && count > self.members)
    }
}

/// What Redis has said of a join. It knows nothing of what was heard since.
#[derive(Clone, Copy)]
pub struct Answer<'s> {
    pub kept: &'s Kept,
    pub at: Millis,
}

/// The same, with the moments at which it was asked for last and was another one.
struct Noted {
    kept: Kept,
    changed_at: Millis,
    seen_at: Millis,
}

/// Joins that were found by their keys.
#[derive(Default)]
struct Found {
    all: BTreeSet<Wanted>,
    /// Those that have not opened.
    unopened: BTreeSet<Wanted>,
}

/// What came of a look.
#[derive(Default)]
pub struct Looked {
    /// Executions that nobody has heard of, told by their joins.
    pub late: Vec<Late>,
    /// Joins of which nothing is kept any more.
    pub gone: Vec<Wanted>,
}

/// What is known of executions by those who look: followed, and not to be taken up.
pub struct Known<F, P> {
    pub is_followed: F,
    pub is_passed: P,
    /// So many more may be taken up.
    pub room: usize,
}

#[derive(Default)]
pub struct Seen {
    found: Found,
    found_in_round: Found,
    kept: HashMap<Wanted, Noted>,
    turn: usize,
    pub(super) strangers: Strangers,
    pub(super) timers: Timers,
    /// What the next look begins with: where answers take long it comes to nothing else.
    part: usize,
    /// What Redis does not let us ask.
    pub(super) refused: Option<ObserverError>,
}

/// Asks as long as there is room.
pub(super) struct Asking<'r> {
    reader: &'r Reader,
    left: usize,
    began: Instant,
    /// How many questions Redis did not allow, and what it said.
    refusals: usize,
    refused: Option<ObserverError>,
}

impl<'r> Asking<'r> {
    fn new(reader: &'r Reader) -> Self {
        Self { reader, left: QUESTIONS, began: Instant::now(), refusals: 0, refused: None }
    }

    /// So many questions that belong together may be asked. The first ones always may, so that every look comes to
    /// something.
    pub fn has_room(&self, questions: usize) -> bool {
        let asked = QUESTIONS - self.left;
        let longest = if asked < FEW { LONGEST_OF_FEW } else { LONGEST };
        asked == 0 || (self.left >= questions && self.began.elapsed() < longest)
    }

    /// `None` where there is no answer to be had.
    pub async fn ask<T: FromRedisValue>(
        &mut self,
        read: Read,
        arguments: impl ToRedisArgs,
    ) -> Result<Option<T>, ObserverError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        match self.reader.ask(read, arguments).await {
            Ok(answer) => Ok(Some(answer)),
            // A key of that name that somebody uses for something else is not ours to complain about.
            Err(error) if error.is_about_one_key() => Ok(None),
            // What may not be asked keeps nobody from asking something else.
            Err(error) if error.is_refusal() => {
                self.refusals += 1;
                self.refused = Some(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Seen {
    /// Looks into the joins that are wanted, at the timers, and for executions that nobody has heard of. What was seen
    /// before Redis fell silent is seen.
    pub async fn look(
        &mut self,
        reader: &Reader,
        now: Millis,
        wanted: &BTreeSet<Wanted>,
        known: Known<impl Fn(&str) -> bool, impl Fn(&str) -> bool>,
        looked: &mut Looked,
    ) -> Result<(), ObserverError> {
        let mut asking = Asking::new(reader);
        self.part = self.part.wrapping_add(1);
        for part in 0..3 {
            match (self.part + part) % 3 {
                1 => self.timers.look(&mut asking, now).await?,
                2 => {
                    let found = self.found.all.iter().filter(|found| (known.is_followed)(found.execution()));
                    let wanted: BTreeSet<Wanted> = wanted.iter().chain(found).cloned().collect();
                    self.look_into_joins(&mut asking, now, wanted, &mut looked.gone).await?;
                }
                _ => {
                    let is_strange = |found: &&Wanted| {
                        !(known.is_followed)(found.execution()) && !(known.is_passed)(found.execution())
                    };
                    let strange = self.found.unopened.iter().filter(is_strange);
                    looked.late = self.strangers.look(&mut asking, now, strange, known.room).await?;
                }
            }
        }
        self.refused = asking.refused;
        Ok(())
    }

    pub fn kept(&self, wanted: &Wanted) -> Option<&Kept> {
        self.kept.get(wanted).map(|noted| &noted.kept)
    }

    /// The same, with the moment it is of.
    pub fn answer(&self, wanted: &Wanted) -> Option<Answer<'_>> {
        self.kept.get(wanted).map(|noted| Answer { kept: &noted.kept, at: noted.seen_at })
    }

    /// When the state of a join was another one, and when it was asked for.
    pub fn moments(&self, wanted: &Wanted) -> Option<(Millis, Millis)> {
        self.kept.get(wanted).map(|noted| (noted.changed_at, noted.seen_at))
    }

    /// The joins of an execution that have not opened, as far as they were looked into.
    pub fn unopened_of(&self, execution: &str) -> Late {
        let of_it = self.found.unopened.iter().filter(|found| found.execution() == execution);
        let joins = of_it.filter_map(|found| Some((found.clone(), self.kept(found)?.clone())));
        Late { execution: execution.to_owned(), joins: joins.collect() }
    }

    /// Somebody who walks through Redis has come by these keys.
    pub fn come_by(&mut self, keys: &[String]) {
        for name in keys.iter().filter(|name| !Wanted::is_of_a_split(name)) {
            if let Some(found) = Wanted::of(name).filter(|_| self.found_in_round.all.len() < FOUND) {
                let is_unopened = Wanted::is_unopened(name);
                self.found.note(&found, is_unopened);
                self.found_in_round.note(&found, is_unopened);
            }
        }
    }

    /// And has come by all of them: what was not found is there no more.
    pub fn come_round(&mut self) {
        self.found = std::mem::take(&mut self.found_in_round);
    }

    async fn look_into_joins(
        &mut self,
        asking: &mut Asking<'_>,
        now: Millis,
        wanted: BTreeSet<Wanted>,
        gone: &mut Vec<Wanted>,
    ) -> Result<(), ObserverError> {
        self.kept.retain(|known, _| wanted.contains(known));
        let many = wanted.len();
        let from = if many == 0 { 0 } else { self.turn % many };
        for wanted in wanted.iter().cycle().skip(from).take(many.min(JOINS)) {
            match wanted.ask(asking).await? {
                Asked::Kept(kept) if kept != Kept::default() => self.note(wanted, kept, now),
                Asked::Kept(_) => {
                    self.kept.remove(wanted);
                    gone.push(wanted.clone());
                }
                Asked::Refused => {}
                Asked::NoRoom => break,
            }
            self.turn = self.turn.wrapping_add(1);
        }
        Ok(())
    }

    fn note(&mut self, wanted: &Wanted, kept: Kept, now: Millis) {
        let same = self.kept.get(wanted).filter(|noted| noted.kept == kept);
        let changed_at = same.map_or(now, |noted| noted.changed_at);
        self.kept.insert(wanted.clone(), Noted { kept, changed_at, seen_at: now });
    }
}

impl Found {
    fn note(&mut self, wanted: &Wanted, is_unopened: bool) {
        if is_unopened && !self.unopened.contains(wanted) {
            self.unopened.insert(wanted.clone());
        }
        if !self.all.contains(wanted) {
            self.all.insert(wanted.clone());
        }
    }
}

/// `None` where there is no more room to ask.
async fn items(asking: &mut Asking<'_>, prefix: &str) -> Result<Option<Kept>, ObserverError> {
    if !asking.has_room(5) {
        return Ok(None);
    }
    let expected = asking.ask::<Option<u32>>(Read::Get, format!("{prefix}:expected")).await?.flatten();
    // Before the members: what comes in between makes the count too small, never too large.
    let counter = format!("{prefix}:count");
    let mut count = asking.ask::<Option<u32>>(Read::Get, &counter).await?.flatten();
    let results = format!("{prefix}:results");
    let members = asking.ask::<u64>(Read::HLen, &results).await?.unwrap_or_default();
    if count.is_some_and(|count| u64::from(count) > members) {
        // It may have opened in between, and what is there is of the next time.
        let now = asking.ask::<Option<u32>>(Read::Get, &counter).await?.flatten();
        count = count.filter(|_| now >= count);
    }
    let results = match members {
        0 => None,
        1..=MEMBERS => asking.ask::<Vec<String>>(Read::HKeys, &results).await?,
        _ => None,
    };
    let results = results.map(|indexes| indexes.iter().filter_map(|index| index.parse().ok()).collect());
    let members = u32::try_from(members).unwrap_or(u32::MAX);
    Ok(Some(Kept { expected, count, members, results, ..Kept::default() }))
}

async fn branches(asking: &mut Asking<'_>, prefix: &str) -> Result<Option<Kept>, ObserverError> {
    if !asking.has_room(3) {
        return Ok(None);
    }
    let lock = asking.ask::<Option<String>>(Read::Get, format!("{prefix}:lock")).await?.flatten();
    let arrivals = format!("{prefix}:barrier:arrivals");
    let many = asking.ask::<u64>(Read::SCard, &arrivals).await?.unwrap_or_default();
    let arrivals = match many {
        1..=MEMBERS => asking.ask::<Vec<String>>(Read::SMembers, &arrivals).await?.unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok(Some(Kept { lock, arrivals: arrivals.into_iter().collect(), ..Kept::default() }))
}

impl Execution {
    /// Where Redis keeps what reaches a join.
    pub fn wanted(&self, join: usize) -> Option<Wanted> {
        use super::graph::Role;
        let execution = self.id.to_string();
        match self.graph.nodes[join].role {
            Role::Aggregator => {
                let split = *self.graph.nodes[join].scope.as_ref()?.last()?;
                Some(Wanted::Items { execution, split: self.graph.nodes[split].id.to_string() })
            }
            Role::MergeAll | Role::MergeAny => {
                Some(Wanted::Branches { execution, merge: self.graph.nodes[join].id.to_string() })
            }
            Role::Split | Role::Wait | Role::Conditional(_) | Role::Switch(_) | Role::Plain => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_whose_they_are() {
        let items = |execution: &str, split: &str| {
            Some(Wanted::Items { execution: execution.to_owned(), split: split.to_owned() })
        };
        let branches = |execution: &str, merge: &str| {
            Some(Wanted::Branches { execution: execution.to_owned(), merge: merge.to_owned() })
        };
        for (key, expected) in [
            ("exec:e1:split:s:expected", items("e1", "s")),
            ("exec:e1:split:s:results", items("e1", "s")),
            ("exec:e1:split:odd:name:count", items("e1", "odd:name")),
            ("exec:e1:node:m:barrier:arrivals", branches("e1", "m")),
            ("exec:e1:node:m:lock", branches("e1", "m")),
            ("exec:e1:node:m:timeout_active", branches("e1", "m")),
            ("exec:e1:node:m:barrier", None),
            ("exec:e1", None),
            ("scheduler:timers", None),
        ] {
            assert_eq!(Wanted::of(key), expected, "{key}");
            if let Some(wanted) = expected {
                assert!(key.starts_with(&wanted.prefix()), "{key}");
            }
        }
    }
}
