//! What waits for a moment, and does not go on when it comes.

use protocol::{Finding, Millis, Rule, iso8601};

use super::{At, Said, lasting};

/// More than this many overdue timers have one reason, and are told together.
const TOLD_ALONE: usize = 3;

/// Schedulers poll: a timer is not overdue at once.
const GRACE: Millis = 5_000;
/// Between the claim of a timer and the message there is a moment in which the payload stands alone.
pub const IN_BETWEEN: Millis = 3_000;

/// Something that rests.
#[derive(Clone, Debug, Default)]
pub struct Resting {
    pub at: At,
    /// The name of its timer.
    pub timer: String,
    pub due: Millis,
    /// Its timer is there.
    pub has_timer: bool,
    /// Since when it was seen without a timer.
    pub alone_since: Option<Millis>,
}

/// The moment has passed and nobody has claimed the timer.
pub fn overdue_timer(resting: &Resting, now: Millis) -> Option<Finding> {
    let late = now - resting.due;
    if !resting.has_timer || late < GRACE {
        return None;
    }
    let at = &resting.at;
    let sentence = format!(
        "{}{} should have gone on {} ago, and nobody has claimed its timer.",
        at.name,
        at.where_inside(),
        lasting(late)
    );
    let evidence = vec![format!("timer {} was due at {}", resting.timer, iso8601(resting.due))];
    let advice = "See whether a worker runs and reaches this Redis, with the right database: any worker claims \
                  what is due.";
    Some(at.finding(Rule::OverdueTimer, resting.due, Said { sentence, evidence, advice }))
}

/// Every timer that is overdue; very many of them in one sentence.
pub fn overdue_timers(resting: &[Resting], now: Millis) -> Vec<Finding> {
    let found: Vec<Finding> = resting.iter().filter_map(|resting| overdue_timer(resting, now)).collect();
    let first = match found.iter().map(|finding| finding.since).min() {
        Some(first) if found.len() > TOLD_ALONE => first,
        Some(_) | None => return found,
    };
    let sentence = format!(
        "{} timers are overdue, the first for {}, and nobody claims them.",
        found.len(),
        lasting(now - first)
    );
    let evidence = found.iter().take(20).flat_map(|finding| finding.evidence.clone()).collect();
    let advice = "See whether a worker runs and reaches this Redis, with the right database: any worker claims \
                  what is due.";
    vec![At::default().finding(Rule::OverdueTimer, first, Said { sentence, evidence, advice })]
}

/// What was to be resumed is there, and its timer is not: whoever claimed it died before it sent the message.
pub fn lost_resume(resting: &Resting, now: Millis) -> Option<Finding> {
    let since = resting.alone_since.filter(|since| now - since >= IN_BETWEEN)?;
    if resting.has_timer {
        return None;
    }
    let at = &resting.at;
    let sentence = format!(
        "{}{} will never go on: its timer was claimed, and the message that should have resumed it was not sent.",
        at.name,
        at.where_inside()
    );
    let evidence = vec![
        format!("payload {} has no timer since {}", resting.timer, iso8601(since)),
        format!("it was due at {}", iso8601(resting.due)),
    ];
    let advice = "The payload still holds the message: whoever looks after the cluster can publish it to \
                  workflow.resume, or start the execution again.";
    Some(at.finding(Rule::LostResume, since, Said { sentence, evidence, advice }))
}
