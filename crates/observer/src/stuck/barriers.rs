//! Joins that hang, open too early, or share what they count with.

use protocol::{Finding, LineageKey, Millis, Rule, iso8601};

use super::{At, PATIENCE, Said, counted, few, lasting};

/// What was heard of a branch may be a moment behind what a join knows.
pub const GRACE: Millis = 2_000;
/// What was seen to run may run on in silence for so long, where its end may have gone by unseen.
const LONG_SILENCE: Millis = 600_000;

/// How far a join is at one key.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub since: Millis,
    /// Different parts that have arrived.
    pub arrived: u32,
    /// What its counter says, where it has one.
    pub counted: Option<u32>,
    pub expected: u32,
    /// It has fired.
    pub is_open: bool,
}

/// A join at one key, with what it lacks.
#[derive(Clone, Debug, Default)]
pub struct Barrier {
    pub at: At,
    pub stands: Standing,
    pub missing: Vec<MissingPart>,
    /// Where the facts come from, such as a key in Redis.
    pub evidence: Vec<String>,
    /// More than one way of an item leads to its counter.
    pub forks: bool,
    /// Absent where everything was heard.
    pub doubt: Option<Doubt>,
}

/// Not everything of the execution was heard. Then only what is kept, and silence, can tell that nothing comes any more.
#[derive(Clone, Debug)]
pub struct Doubt {
    /// What was not heard, for people.
    pub why: String,
    /// Since then nothing was heard of the execution, nothing lay in a queue, none of its timers was set, and the join
    /// has not changed. Absent while that cannot be said.
    pub quiet_since: Option<Millis>,
}

#[derive(Clone, Debug)]
pub struct MissingPart {
    /// Such as "item 3" or "the branch from Check".
    pub what: String,
    pub chance: Chance,
    /// Where its way ended, for people.
    pub ended: Option<String>,
    pub cause: Cause,
}

/// Why something does not come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Its way leads elsewhere, or nobody knows.
    #[default]
    Lost,
    Failed,
    /// It has reached the join, which says nothing.
    Unanswered,
}

/// Whether something will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// Something is under way that brings it, or that says itself why it does not go on.
    Comes,
    /// It was seen to run, and its end may have gone by unseen.
    Ran,
    /// Nothing is known to be under way.
    Nothing,
}

impl Barrier {
    fn has_lost(&self, part: &MissingPart, now: Millis) -> bool {
        let Some(doubt) = &self.doubt else { return part.chance == Chance::Nothing };
        let silence = doubt.quiet_since.map_or(0, |since| now - since);
        match part.chance {
            Chance::Comes => false,
            Chance::Ran => silence >= LONG_SILENCE,
            Chance::Nothing => silence >= PATIENCE,
        }
    }
}

/// A barrier waits for something that can never come, or, where not everything was heard, that seems to be lost.
pub fn barrier_cannot_open(barrier: &Barrier, now: Millis) -> Option<Finding> {
    let lost: Vec<&MissingPart> = barrier.missing.iter().filter(|part| barrier.has_lost(part, now)).collect();
    let Barrier { at, stands: Standing { since, arrived, expected, is_open, .. }, .. } = barrier;
    if *is_open || lost.is_empty() || now - since < GRACE {
        return None;
    }
    let names: Vec<String> = lost.iter().map(|part| part.what.clone()).collect();
    let ended = lost.iter().find_map(|part| part.ended.as_deref());
    let why = ended.map_or_else(|| "nothing is under way there".to_owned(), str::to_owned);
    let join = format!("{}{} has {arrived} of {expected} and", at.name, at.where_inside());
    if let Some(doubt) = &barrier.doubt {
        return Some(as_far_as_seen(barrier, doubt, &join, &names, now));
    }
    let sentence = format!("{join} can no longer open: {} will never come, {why}.", few(&names));
    let mut evidence = barrier.evidence.clone();
    evidence.extend(lost.iter().take(20).map(|part| match &part.ended {
        Some(ended) => format!("{}: {ended}", part.what),
        None => format!("{}: nothing is under way", part.what),
    }));
    let has = |cause: Cause| lost.iter().any(|part| part.cause == cause);
    let advice = match () {
        () if has(Cause::Failed) => {
            "See what failed there, and start the execution again. To keep it from happening: let the node ignore its \
             errors, or lead its error edge to the join."
        }
        () if has(Cause::Unanswered) => {
            "Look into the log of the broker for a message that was too large: it takes 16 MiB at the most unless told \
             otherwise, and a join sends everything that has reached it at once. Let less reach it, or raise \
             max_message_size, and start the execution again."
        }
        () => {
            "Start the execution again. To keep it from happening: let every way lead to the join, give the join \
             wait_for_any behind a choice, or put the choice behind the join."
        }
    };
    Some(at.finding(Rule::BarrierCannotOpen, *since, Said { sentence, evidence, advice }))
}

/// The same where not everything was heard, which the sentence says.
fn as_far_as_seen(barrier: &Barrier, doubt: &Doubt, join: &str, names: &[String], now: Millis) -> Finding {
    let since = doubt.quiet_since.unwrap_or(now);
    let sentence = format!(
        "{join}, as far as seen, can no longer open: {} did not come, and nothing was heard of it for {}.",
        few(names),
        lasting(now - since)
    );
    let mut evidence = barrier.evidence.clone();
    evidence.push(doubt.why.clone());
    evidence.push(format!(
        "nothing of it can wait in a queue or for a moment, and the join is as it was since {}",
        iso8601(since)
    ));
    let advice = "See whether a worker still has something of it in hand: not everything was seen. Where none has, \
                  start the execution again.";
    barrier.at.finding(Rule::BarrierCannotOpen, barrier.stands.since, Said { sentence, evidence, advice })
}

/// A counter counts deliveries, not items.
pub fn counted_twice(barrier: &Barrier) -> Option<Finding> {
    let Barrier { at, stands: Standing { since, arrived, counted: count, expected, is_open }, .. } = barrier;
    let join = format!("{}{}", at.name, at.where_inside());
    let why = match barrier.forks {
        true => "more than one way leads from an item to its counter, which counts each of them",
        false => "one was delivered again and counted twice",
    };
    let sentence = match (is_open, count) {
        (true, _) if arrived < expected => format!(
            "{join} opened with {arrived} different parts of {expected}: {why}, and what is missing was taken as null."
        ),
        (false, Some(count)) if count > arrived => format!(
            "{join} has counted {count} arrivals of {}: {why}, so it opens too early.",
            counted(*arrived as usize, "different item")
        ),
        _ => return None,
    };
    let mut evidence = barrier.evidence.clone();
    evidence.push(format!("{arrived} different parts of {expected}"));
    evidence.extend(barrier.missing.iter().take(20).map(|part| format!("missing: {}", part.what)));
    let advice = match barrier.forks {
        true => {
            "Do not trust the result of this join. Let one way lead from each item to one aggregator: join what goes \
             several ways before it."
        }
        false => {
            "Do not trust the result of this join. Look at the worker that was restarted or lost its connection at \
             that time, and start the execution again."
        }
    };
    Some(at.finding(Rule::CountedTwice, *since, Said { sentence, evidence, advice }))
}

/// A counter in Redis, and the fan-outs that count with it.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    pub at: At,
    pub since: Millis,
    /// Its name.
    pub counter: String,
    /// The keys at which it is used at the same time, each with what is expected there.
    pub users: Vec<(LineageKey, u32)>,
}

/// Fan-outs inside each other that share one counter.
pub fn shared_counter(counter: &Counter) -> Option<Finding> {
    let Counter { at, users, .. } = counter;
    if users.len() < 2 {
        return None;
    }
    let totals: Vec<String> = users.iter().map(|(_, total)| total.to_string()).collect();
    let sentence = format!(
        "{} fans out {} times at once and all of them share one counter: their items are mixed, and its join opens \
         with the wrong ones.",
        at.name,
        users.len()
    );
    let mut evidence = vec![
        format!("{} has no part that tells the fan-outs apart", counter.counter),
        format!("expected is overwritten: {}", few(&totals)),
    ];
    evidence.extend(users.iter().take(20).map(|(key, total)| format!("{key}: {total} items")));
    let advice = "Do not trust what comes out of this fan-out. Flatten the data so that one split is enough, or \
                  run the inner part as a workflow of its own.";
    Some(at.finding(Rule::SharedCounter, counter.since, Said { sentence, evidence, advice }))
}

/// Items that wait at one merge, which cannot tell their branches apart.
pub fn shared_arrivals(counter: &Counter) -> Option<Finding> {
    let Counter { at, users, .. } = counter;
    if users.len() < 2 {
        return None;
    }
    let sentence = format!(
        "{} joins the branches of {} items at once and keeps one set for all of them: it opens with branches of \
         different items, and some never go on.",
        at.name,
        users.len()
    );
    let mut evidence = vec![format!("{} has no part that tells the items apart", counter.counter)];
    evidence.extend(users.iter().take(20).map(|(key, expected)| format!("{key}: {expected} expected")));
    let advice = "Do not trust what comes out of this join. Put it behind the fan-out, or run what is inside of the \
                  fan-out as a workflow of its own.";
    Some(at.finding(Rule::SharedCounter, counter.since, Said { sentence, evidence, advice }))
}

/// A join that takes the first, and has not opened for anybody.
#[derive(Clone, Debug, Default)]
pub struct Race {
    pub at: At,
    /// When it was heard of last.
    pub since: Millis,
    /// What has come and was told that another was first.
    pub ignored: u32,
    /// Something is on its way there.
    pub is_under_way: bool,
    /// It has opened at another key.
    pub has_other_won: bool,
    pub evidence: Vec<String>,
}

/// Whoever was first has the lock and did not go on: everybody after it is ignored.
pub fn race_cannot_open(race: &Race, now: Millis) -> Option<Finding> {
    let Race { at, since, ignored, .. } = race;
    if *ignored == 0 || race.is_under_way || now - since < PATIENCE {
        return None;
    }
    let why = match race.has_other_won {
        true => "its one lock was taken for another item",
        false => "whoever was first has its lock and did not go on",
    };
    let sentence = format!(
        "{}{} can no longer open: {why}, and {} since.",
        at.name,
        at.where_inside(),
        match ignored {
            1 => "1 arrival was ignored".to_owned(),
            many => format!("{many} arrivals were ignored"),
        }
    );
    let mut evidence = race.evidence.clone();
    evidence.push(format!("it was heard of last at {}", iso8601(*since)));
    let advice = "Start the execution again: the lock stays for a day, and nobody looks whose it is. Look at the \
                  worker that was restarted or lost its connection at that time; inside of a fan-out, put the join \
                  behind it.";
    Some(at.finding(Rule::BarrierCannotOpen, *since, Said { sentence, evidence, advice }))
}
