//! What the rules ask about a Rune cluster.

use std::collections::BTreeSet;

use protocol::{Finding, LineageKey, Millis, MissingPart, NodeState};

use crate::stuck::{self, At, Chance};

use super::{
    Rune, barrier,
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
        findings.extend(of_completions(execution));
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
                at: At::node(&timer.execution_id, &timer.node_id, self.key_of(timer), &timer.name),
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
        findings.extend(lost.filter_map(|(resting, seen_at)| stuck::lost_resume(resting, seen_at)).take(200));
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

    fn of_barriers(&self, execution: &Execution, now: Millis) -> Vec<Finding> {
        let joins =
            (0..execution.graph.nodes.len()).filter(|&node| execution.graph.nodes[node].role.is_join());
        let mut findings = Vec::new();
        for node in joins {
            let wanted = execution.wanted(node);
            let answer = wanted.as_ref().and_then(|wanted| self.redis.answer(wanted));
            let suspects = barrier::suspects(execution, node);
            for looked in barrier::places(execution, node, answer, suspects).take(LISTED) {
                let evidence = wanted.as_ref().zip(answer).map(|(wanted, answer)| keys(wanted, answer.kept));
                let facts = stuck::Barrier {
                    doubt: self.doubt(execution, wanted.as_ref()),
                    ..barrier_facts(execution, node, looked, evidence.unwrap_or_default(), now)
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
        let is_old = |queued: &Queued| {
            queued.heard && now - queued.since >= stuck::PATIENCE && !execution.missed_since(queued.since)
        };
        let heard = execution.queued.iter().filter(|(_, queued)| is_old(queued));
        let facts = heard.map(|((node, lineage), queued)| stuck::Undelivered {
            at: at(execution, *node, lineage.key()),
            since: queued.since,
            queue: QUEUE.to_owned(),
            depth,
            overtaken: self.begun.saturating_sub(queued.begun_before),
            were_idle: self.hands.were_idle_since(queued.since),
            longest: self.hands.longest(now),
            has_dead_letters: false,
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
    node: usize,
    looked: barrier::Looked,
    evidence: Vec<String>,
    now: Millis,
) -> stuck::Barrier {
    let is_aggregator = matches!(execution.graph.nodes[node].role, Role::Aggregator);
    // What never comes is named; of what is on its way a few are enough.
    let is_lost = |part: &&MissingPart| chance_of(execution, part) != Chance::Comes;
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
        let ended = ended(execution, &looked, node, part);
        let failed = ended.as_ref().is_some_and(|(_, failed)| *failed);
        let ended = ended.map(|(words, _)| words);
        stuck::MissingPart { what, chance: chance_of(execution, part), ended, failed }
    });
    let missing = missing.collect();
    let join = execution.joins.get(&(node, looked.lineage.clone()));
    // What it has opened with may be told of a moment later.
    let settled = join.filter(|join| now - join.heard_at >= stuck::GRACE);
    let short = settled.and_then(|join| join.short).filter(|_| is_aggregator && !execution.is_patchy());
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
    stuck::Barrier { at: at(execution, node, looked.lineage.key()), stands, missing, evidence, doubt: None }
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

/// Where the way of a missing item ended, and whether it failed there.
fn ended(
    execution: &Execution,
    looked: &barrier::Looked,
    node: usize,
    part: &MissingPart,
) -> Option<(String, bool)> {
    let index = match part {
        _ if part.at().state != NodeState::Idle => return None,
        MissingPart::Branch { .. } => {
            let words = "it has come, and was taken for another item";
            let is_used_up = barrier::is_used_up(execution, node, &looked.lineage);
            return is_used_up.then(|| (words.to_owned(), false));
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
            true => (format!("its way ended at {title}"), false),
            false => (format!("it failed at {title}"), true),
        })
    })
}

fn of_completions(execution: &Execution) -> Vec<Finding> {
    let completions = &execution.completions;
    let facts = stuck::Completions {
        at: At { execution_id: Some(execution.id.clone()), ..At::default() },
        said: completions.said.iter().map(|(end, at)| (end.word().to_owned(), at.millis())).collect(),
        count: completions.count,
        meanwhile: completions.meanwhile.clone(),
        begun_after: completions.begun_after,
    };
    [stuck::several_completions(&facts), stuck::early_completion(&facts)].into_iter().flatten().collect()
}

fn of_items(execution: &Execution, now: Millis) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, places) in &execution.open {
        let Some(peers) = execution.durations.get(node) else { continue };
        for lineage in places.iter().filter(|lineage| !lineage.is_root()) {
            let open = execution.tracks.get(&(*node, lineage.clone())).and_then(|track| track.open);
            let is_slow = |open: &Open| {
                let began = open.began.millis();
                open.due.is_none() && now - began >= stuck::SLOW && !execution.missed_since(began)
            };
            let Some(open) = open.filter(is_slow) else { continue };
            let at = at(execution, *node, lineage.key());
            let facts = stuck::Item { at, since: open.began.millis(), peers: peers.clone() };
            findings.extend(stuck::slow_item(&facts, now));
            if findings.len() >= LISTED {
                return findings;
            }
        }
    }
    findings
}
