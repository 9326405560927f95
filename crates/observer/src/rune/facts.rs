//! What the rules ask about a Rune cluster.

use std::collections::BTreeSet;

use protocol::{Finding, LineageKey, Millis, MissingPart, NodeState};

use crate::stuck::{self, At, Cause, Chance};

use super::{
    Rune,
    barrier::{self, is_unanswered},
    execution::Execution,
    graph::Role,
    look::{Kept, Wanted},
    sent::Queued,
    shared,
    timers::Timer,
    track::Open,
};

/// The queue that all work goes through.
pub(super) const QUEUE: &str = "workflow.execution";
/// How long something that nobody has heard of may run.
const UNSEEN: Millis = 600_000;
/// Lost parts of one join that are named.
const NAMED: usize = 200;
/// Findings of one execution and rule.
const LISTED: usize = 20;

impl Rune {
    /// Joins that wait, so that Redis can be asked about them.
    pub(super) fn waiting_joins(&self) -> BTreeSet<Wanted> {
        let of = |execution: &Execution| {
            let nodes: BTreeSet<usize> = execution.waiting.iter().map(|(node, _)| *node).collect();
            nodes.into_iter().filter_map(|node| execution.wanted(node)).collect::<Vec<Wanted>>()
        };
        self.executions.values().flat_map(of).collect()
    }

    pub(super) fn findings_of(&self, execution: &Execution, now: Millis) -> Vec<Finding> {
        let mut findings = self.of_barriers(execution, now);
        findings.extend(shared::of_splits(execution));
        findings.extend(shared::of_merges(execution, now));
        findings.extend(of_completions(execution, now));
        findings.extend(self.of_silence(execution, now));
        findings.extend(self.of_messages(execution, now));
        findings.extend(of_items(execution, now));
        findings
    }

    /// Told as it was when the timers were looked at: what came of them since is not known.
    pub(super) fn findings_of_timers(&self) -> Vec<Finding> {
        let Some(looked_at) = self.redis.timers.looked_at() else { return Vec::new() };
        let resting = self.redis.timers.all().map(|(id, timer)| {
            let facts = stuck::Resting {
                at: timer.at(self.key_of(timer)),
                timer: id.clone(),
                due: timer.due + self.skew,
                has_timer: timer.has_timer,
                alone_since: timer.alone_since,
            };
            (facts, timer.seen_at)
        });
        let (resting, seen_at): (Vec<stuck::Resting>, Vec<Millis>) = resting.unzip();
        let mut findings = match self.redis.timers.are_claimed() {
            true => Vec::new(),
            false => stuck::overdue_timers(&resting, looked_at),
        };
        let lost = resting.iter().zip(seen_at);
        findings.extend(lost.filter_map(|(resting, seen_at)| stuck::lost_resume(resting, seen_at)));
        findings
    }

    /// Where a wait stands. The stack alone does not tell: what an aggregator has gathered stays on it.
    pub(super) fn key_of(&self, timer: &Timer) -> LineageKey {
        let execution = self.executions.get(&timer.execution_id);
        let known = execution.and_then(|execution| {
            let node = execution.graph.node(timer.node_id.as_str())?;
            Some(execution.graph.lineage(node, &timer.frames).key())
        });
        known.unwrap_or_else(|| timer.key())
    }

    /// What has reached a join before, and of which it has said nothing, it never says anything of. Whoever comes back
    /// takes up again what was in hand.
    pub(super) fn silent_before(&self, now: Millis) -> Option<Millis> {
        let before = now - stuck::PATIENCE;
        self.hands.alone_at().is_none_or(|alone| alone <= before).then_some(before)
    }

    fn of_barriers(&self, execution: &Execution, now: Millis) -> Vec<Finding> {
        let joins =
            (0..execution.graph.nodes.len()).filter(|&node| execution.graph.nodes[node].role.is_join());
        let silent_before = self.silent_before(now);
        let mut findings = Vec::new();
        for node in joins {
            let wanted = execution.wanted(node);
            let answer = wanted.as_ref().and_then(|wanted| self.redis.answer(wanted));
            let suspects = barrier::suspects(execution, node, silent_before);
            for looked in barrier::places(execution, node, answer, suspects).take(LISTED) {
                let evidence = wanted.as_ref().zip(answer).map(|(wanted, answer)| keys(wanted, answer.kept));
                let facts = stuck::Barrier {
                    doubt: self.doubt(execution, wanted.as_ref()),
                    ..barrier_facts(
                        execution,
                        (node, looked),
                        evidence.unwrap_or_default(),
                        silent_before,
                        now,
                    )
                };
                findings.extend(stuck::barrier_cannot_open(&facts, now));
                findings.extend(stuck::counted_twice(&facts));
            }
        }
        findings
    }

    fn of_messages(&self, execution: &Execution, now: Millis) -> Vec<Finding> {
        // What began before we came may run unseen, and may be what a worker does first.
        if self.listening_since.is_some_and(|since| now - since < UNSEEN) {
            return Vec::new();
        }
        let depth = self.queues.get(QUEUE).map(|queue| (queue.messages, queue.consumers));
        // Where something was missed since, somebody may have taken it up unheard.
        let is_old = |node: usize, queued: &Queued| {
            !execution.graph.nodes[node].is_mute()
                && queued.heard
                && now - queued.since >= stuck::PATIENCE
                && !execution.missed_since(queued.since)
        };
        let heard = execution.queued.iter().filter(|((node, _), queued)| is_old(*node, queued));
        let facts = heard.map(|((node, lineage), queued)| {
            let held = self.hands.held(queued.since);
            stuck::Undelivered {
                at: at(execution, *node, lineage.key()),
                since: queued.since,
                left_queue: held.since,
                queue: QUEUE.to_owned(),
                depth,
                is_passed: held.is_passed,
                overtaken: self.begun.saturating_sub(queued.begun_before),
                were_idle: held.were_idle,
                behind: held.behind,
                longest: self.hands.longest(now),
                has_dead_letters: false,
            }
        });
        facts.filter_map(|facts| stuck::discarded(&facts, now)).take(LISTED).collect()
    }
}

pub(super) fn at(execution: &Execution, node: usize, key: LineageKey) -> At {
    At::node(&execution.id, &execution.graph.nodes[node].id, key, execution.title_of(node))
}

/// What Redis says, key by key.
pub(super) fn keys(wanted: &Wanted, kept: &Kept) -> Vec<String> {
    let prefix = wanted.prefix();
    let mut said = Vec::new();
    said.extend(kept.expected.map(|expected| format!("{prefix}:expected is {expected}")));
    said.extend(kept.count.map(|count| format!("{prefix}:count is {count}")));
    if kept.members > 0 {
        let first: Vec<String> = kept.results.iter().flatten().take(20).map(u32::to_string).collect();
        let first = if first.is_empty() { String::new() } else { format!(" ({})", first.join(", ")) };
        said.push(format!("{prefix}:results has {}{first}", kept.members));
    }
    if !kept.arrivals.is_empty() {
        let names: Vec<&str> = kept.arrivals.iter().map(String::as_str).collect();
        said.push(format!("{prefix}:barrier:arrivals has {}", names.join(", ")));
    }
    said.extend(kept.lock.as_ref().map(|lock| format!("{prefix}:lock is {lock}")));
    said
}

fn barrier_facts(
    execution: &Execution,
    (node, looked): (usize, barrier::Looked),
    evidence: Vec<String>,
    silent_before: Option<Millis>,
    now: Millis,
) -> stuck::Barrier {
    let is_aggregator = matches!(execution.graph.nodes[node].role, Role::Aggregator);
    // What never comes is named; of what is on its way a few are enough.
    let chance = |part: &MissingPart| match is_unanswered(execution, node, part, silent_before) {
        true => Chance::Nothing,
        false => chance_of(execution, part),
    };
    let is_lost = |part: &&MissingPart| chance(part) != Chance::Comes;
    let (lost, comes): (Vec<_>, Vec<_>) = looked.missing.iter().partition(is_lost);
    let named = lost.into_iter().take(NAMED).chain(comes.into_iter().take(LISTED));
    let missing = named.map(|part| {
        let what = match part {
            MissingPart::Item { index, .. } => format!("item {index}"),
            MissingPart::Branch { parent, .. } => {
                let parent = execution.graph.node(parent.as_str());
                format!("the branch from {}", parent.map_or("somewhere", |parent| execution.title_of(parent)))
            }
        };
        let ended = match is_unanswered(execution, node, part, silent_before) {
            true => {
                let words =
                    "it has reached the join, which has said nothing since; its result may be too large";
                Some((words.to_owned(), Cause::Unanswered))
            }
            false => ended(execution, &looked, node, part),
        };
        let cause = ended.as_ref().map(|(_, cause)| *cause).unwrap_or_default();
        stuck::MissingPart { what, chance: chance(part), ended: ended.map(|(words, _)| words), cause }
    });
    let missing = missing.collect();
    let join = execution.joins.get(&(node, looked.lineage.clone()));
    // What it has opened with may be told of a moment later.
    let settled = join.filter(|join| now - join.heard_at >= stuck::GRACE);
    let short = settled.and_then(|join| join.short).filter(|_| is_aggregator);
    let stands = stuck::Standing {
        arrived: short.map_or(looked.stands.arrived, |(arrived, _)| arrived),
        counted: looked.stands.counted.filter(|_| is_aggregator),
        // A join that has opened, and was not short of anything, has what it needs.
        expected: match looked.stands.is_open {
            true => short.map_or(0, |(_, expected)| expected),
            false => looked.stands.expected,
        },
        ..looked.stands
    };
    // Asked for only where it matters: the whole graph is gone through.
    let forks = (short.is_some() || stands.counted.is_some()) && execution.graph.forks_before(node);
    let at = at(execution, node, looked.lineage.key());
    stuck::Barrier { at, stands, missing, evidence, forks, doubt: None }
}

/// Whether what is missing will come. Where not everything was heard, what is known to be under way may be over, and
/// what is not known may be under way.
fn chance_of(execution: &Execution, part: &MissingPart) -> Chance {
    match part.at().state {
        NodeState::Idle => Chance::Nothing,
        _ if !execution.is_patchy() => Chance::Comes,
        NodeState::Running => Chance::Ran,
        // A join on its way says itself what it lacks.
        NodeState::WaitingBarrier => Chance::Comes,
        NodeState::Queued
        | NodeState::WaitingTimer
        | NodeState::Success
        | NodeState::Failed
        | NodeState::Skipped => Chance::Nothing,
    }
}

/// Where the way of a missing item ended, and why.
fn ended(
    execution: &Execution,
    looked: &barrier::Looked,
    node: usize,
    part: &MissingPart,
) -> Option<(String, Cause)> {
    let index = match part {
        _ if part.at().state != NodeState::Idle => return None,
        MissingPart::Branch { edge_id, .. } => {
            if barrier::is_used_up(execution, node, &looked.lineage) {
                return Some(("it has come, and was taken for another item".to_owned(), Cause::Lost));
            }
            let join = execution.joins.get(&(node, looked.lineage.clone()))?;
            let is_it = |edge: &u32| execution.graph.edges[*edge as usize].id == *edge_id;
            let failed = join.failed > 0 && join.sent.iter().any(is_it);
            return failed.then(|| (format!("it failed at {}", execution.title_of(node)), Cause::Failed));
        }
        MissingPart::Item { index, .. } => index,
    };
    let split = *execution.graph.nodes[node].scope.as_ref()?.last()?;
    let item = looked.lineage.push(&execution.graph.nodes[split].id, *index, looked.stands.expected);
    // Nearest to the join first: the last node that it has seen.
    execution.graph.upstream(node).into_iter().skip(1).find_map(|node| {
        let went_well = execution.tracks.get(&(node, item.clone()))?.went_well?;
        let title = execution.title_of(node);
        Some(match went_well {
            true => (format!("its way ended at {title}"), Cause::Lost),
            false => (format!("it failed at {title}"), Cause::Failed),
        })
    })
}

fn of_completions(execution: &Execution, now: Millis) -> Vec<Finding> {
    let completions = &execution.completions;
    let facts = stuck::Completions {
        at: At { execution_id: Some(execution.id.clone()), ..At::default() },
        said: completions.said.iter().map(|(end, at)| (end.word().to_owned(), at.millis())).collect(),
        count: completions.count,
        meanwhile: completions.meanwhile(),
        begun_after: completions.begun_after,
        ended_after: completions.ended_after,
    };
    let early = completions.are_settled(now).then(|| stuck::early_completion(&facts)).flatten();
    stuck::several_completions(&facts).into_iter().chain(early).collect()
}

/// What runs longer than others, or very long. A join that is silent is told of by what it waits for; a race is not.
fn of_items(execution: &Execution, now: Millis) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, places) in &execution.open {
        if matches!(execution.graph.nodes[*node].role, Role::Aggregator | Role::MergeAll) {
            continue;
        }
        let peers = execution.durations.get(node);
        for lineage in places {
            let peers = peers.filter(|_| !lineage.is_root());
            let open = execution.tracks.get(&(*node, lineage.clone())).and_then(|track| track.open);
            let long = if peers.is_some() { stuck::SLOW } else { stuck::VERY_LONG };
            let is_long = |open: &Open| {
                let began = open.began.millis();
                open.due.is_none() && now - began >= long && !execution.missed_since(began)
            };
            let Some(open) = open.filter(is_long) else { continue };
            let (at, peers) = (at(execution, *node, lineage.key()), peers.cloned().unwrap_or_default());
            let facts = stuck::Item { at, since: open.began.millis(), peers };
            findings.extend(stuck::slow_item(&facts, now).or_else(|| stuck::very_long(&facts, now)));
            if findings.len() >= LISTED {
                return findings;
            }
        }
    }
    findings
}
