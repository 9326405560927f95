//! What can be wrong with a cluster, as rules over plain facts: they know no messages and no keys, so that every dialect
//! can ask them. A rule that is not sure says nothing; each tells one sentence, what it was told by, and what to do.

mod barriers;
mod flow;
mod queues;
mod timers;

use std::collections::BTreeMap;

use protocol::{ExecutionId, Finding, LineageKey, Millis, NodeId, Rule};

pub use barriers::{
    Barrier, Cause, Chance, Counter, Doubt, GRACE, MissingPart, Race, Standing, barrier_cannot_open,
    counted_twice, race_cannot_open, shared_arrivals, shared_counter,
};
pub use flow::{
    Completions, Hanging, Item, OVERTAKEN, PATIENCE, SLOW, Silence, Undelivered, VERY_LONG, discarded,
    early_completion, no_end, several_completions, slow_item, very_long,
};
pub use queues::{Unconsumed, Watched, no_consumer, parked};
pub use timers::{IN_BETWEEN, Resting, lost_resume, overdue_timer, overdue_timers};

/// Where something is wrong.
#[derive(Clone, Debug, Default)]
pub struct At {
    pub execution_id: Option<ExecutionId>,
    pub node_id: Option<NodeId>,
    pub key: Option<LineageKey>,
    /// The node as people call it.
    pub name: String,
}

impl At {
    /// A node of an execution, at a key.
    pub fn node(execution_id: &ExecutionId, node_id: &NodeId, key: LineageKey, name: &str) -> Self {
        Self {
            execution_id: Some(execution_id.clone()),
            node_id: Some(node_id.clone()),
            key: Some(key),
            name: name.to_owned(),
        }
    }

    fn finding(&self, rule: Rule, since: Millis, said: Said) -> Finding {
        Finding {
            rule,
            since,
            execution_id: self.execution_id.clone(),
            node_id: self.node_id.clone(),
            key: self.key.clone().filter(|key| !key.is_root()),
            queue: None,
            sentence: said.sentence,
            evidence: said.evidence,
            advice: said.advice.to_owned(),
        }
    }

    /// Such as " at users=5".
    fn where_inside(&self) -> String {
        match self.key.as_ref().filter(|key| !key.is_root()) {
            Some(key) => format!(" at {key}"),
            None => String::new(),
        }
    }
}

/// The words of a finding.
struct Said {
    sentence: String,
    evidence: Vec<String>,
    advice: &'static str,
}

/// The most urgent first: what is lost, then what hangs, then what is wrong but goes on; the oldest first among equals.
pub fn sort(findings: &mut [Finding]) {
    let urgency = |rule: Rule| match rule {
        Rule::LostResume => 0,
        Rule::Discarded => 1,
        Rule::Parked => 2,
        Rule::BarrierCannotOpen => 3,
        Rule::NoEnd => 4,
        Rule::SharedCounter => 5,
        Rule::CountedTwice => 6,
        Rule::NoConsumer => 7,
        Rule::OverdueTimer => 8,
        Rule::EarlyCompletion => 9,
        Rule::SeveralCompletions => 10,
        Rule::SlowItem => 11,
    };
    findings.sort_by(|left, right| {
        let order = (urgency(left.rule), left.since, &left.execution_id, &left.sentence);
        order.cmp(&(urgency(right.rule), right.since, &right.execution_id, &right.sentence))
    });
}

/// Findings of one rule that are listed: what one cause breaks a thousand times must not hide what is broken once.
const LISTED: usize = 50;

/// Leaves so many of each rule as anybody reads, the first of them; says how many more there were.
pub fn list(findings: &mut Vec<Finding>) -> BTreeMap<Rule, usize> {
    let mut found: BTreeMap<Rule, usize> = BTreeMap::new();
    findings.retain(|finding| {
        let of_rule = found.entry(finding.rule).or_default();
        *of_rule += 1;
        *of_rule <= LISTED
    });
    found.retain(|_, of_rule| *of_rule > LISTED);
    found.values_mut().for_each(|of_rule| *of_rule -= LISTED);
    found
}

/// "1 item", "3 items".
fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

/// A length of time for people.
pub fn lasting(millis: Millis) -> String {
    match millis {
        ..1_000 => format!("{millis} ms"),
        1_000..120_000 => format!("{} s", millis / 1_000),
        120_000..7_200_000 => format!("{} min", millis / 60_000),
        7_200_000..172_800_000 => format!("{} h", millis / 3_600_000),
        _ => format!("{} days", millis / 86_400_000),
    }
}

/// A few of many, for a sentence.
fn few(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests;
