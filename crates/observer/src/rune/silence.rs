//! Executions of a Rune cluster that simply stop: a failure that is ignored at a leaf, and a race that is over, announce
//! no end. That is said only where everything was heard, and is heard now.

use std::collections::HashSet;

use protocol::{Finding, Millis};

use crate::stuck::{self, At, Race, Silence};

use super::{
    Rune,
    execution::{Execution, Spot},
    facts::{at, keys},
    graph::Role,
    joins::Join,
};

/// Ends of ways that are named.
const NAMED: usize = 20;

impl Rune {
    pub(super) fn of_silence(&self, execution: &Execution, now: Millis) -> Vec<Finding> {
        if self.listening_since.is_none() || execution.is_patchy() {
            return Vec::new();
        }
        let mut findings = self.of_races(execution, now);
        let silence = Silence {
            at: At { execution_id: Some(execution.id.clone()), ..At::default() },
            since: execution.heard_at,
            is_under_way: execution.is_under_way(),
            is_announced: execution.ended || execution.completions.count > 0,
            ends: Vec::new(),
        };
        // A race that never opens says it better.
        if findings.is_empty() && stuck::no_end(&silence, now).is_some() {
            let ends = ends(execution);
            let first = ends.first().map(|(spot, _)| at(execution, spot.0, spot.1.key()));
            let ends = ends.into_iter().map(|(_, words)| words).collect();
            let silence = Silence { at: first.unwrap_or(silence.at), ends, ..silence };
            findings.extend(stuck::no_end(&silence, now));
        }
        findings
    }

    /// Joins that take the first, and have heard of none.
    fn of_races(&self, execution: &Execution, now: Millis) -> Vec<Finding> {
        let is_race = |spot: &Spot| matches!(execution.graph.nodes[spot.0].role, Role::MergeAny);
        let is_lost = |(spot, join): &(&Spot, &Join)| {
            // Of many items one has won: that is told as long as it holds something up.
            let holds_up = spot.1.is_root() || !execution.ended;
            is_race(spot) && join.fired == 0 && join.ended > join.failed && holds_up
        };
        let won = execution.joins.iter().filter(|(spot, join)| is_race(spot) && join.fired > 0);
        let won: HashSet<usize> = won.map(|(spot, _)| spot.0).collect();
        let lost = execution.joins.iter().filter(is_lost).map(|(spot, join)| {
            let wanted = execution.wanted(spot.0);
            let kept = wanted.as_ref().and_then(|wanted| Some(keys(wanted, self.redis.kept(wanted)?)));
            Race {
                at: at(execution, spot.0, spot.1.key()),
                since: join.heard_at,
                ignored: join.ended - join.failed,
                is_under_way: execution.queued.contains_key(spot),
                has_other_won: won.contains(&spot.0),
                evidence: kept.unwrap_or_default(),
            }
        });
        lost.filter_map(|race| stuck::race_cannot_open(&race, now)).take(NAMED).collect()
    }
}

/// Where ways have ended that announce no end.
fn ends(execution: &Execution) -> Vec<(&Spot, String)> {
    let graph = &execution.graph;
    let ignored = execution.tracks.iter().filter(|((node, _), track)| {
        let goes_on = graph.taken_after_failure(*node);
        track.went_well == Some(false) && goes_on.is_some_and(|taken| taken.is_empty())
    });
    let ignored = ignored.map(|(spot, _)| {
        (spot, format!("{} failed, which is ignored, and leads nowhere", execution.title_of(spot.0)))
    });
    let lost = execution.joins.iter().filter(|(spot, join)| {
        matches!(graph.nodes[spot.0].role, Role::MergeAny) && join.fired > 0 && join.ended > 0
    });
    let lost = lost.map(|(spot, _)| {
        (spot, format!("{} has opened before and ignores what comes later", execution.title_of(spot.0)))
    });
    let mut ends: Vec<(&Spot, String)> = ignored.chain(lost).collect();
    ends.sort();
    ends.truncate(NAMED);
    ends
}
