//! Counters and sets of a Rune cluster that several items use at once: their keys say nothing of items.

use protocol::{Finding, Lineage, LineageKey, Millis};

use crate::stuck::{self, At, Counter};

use super::{
    barrier,
    execution::{Execution, FanOut, Spot},
    facts::at,
    graph::Role,
    joins::Join,
};

/// Fan-outs of one split that are under way at the same time count with the same keys.
pub fn of_splits(execution: &Execution) -> Vec<Finding> {
    let nodes = &execution.graph.nodes;
    let mut findings = Vec::new();
    for (split, place) in nodes.iter().enumerate() {
        if !matches!(place.role, Role::Split) || execution.graph.depth(split) == 0 {
            continue;
        }
        if place.gatherers.is_empty() {
            continue;
        }
        let (since, users) = users(execution, split);
        let counter = format!("exec:{}:split:{}:count", execution.id, place.id);
        let at = At { key: None, ..at(execution, split, LineageKey::default()) };
        findings.extend(stuck::shared_counter(&Counter { at, since, counter, users }));
    }
    findings
}

/// Each fan-out of a split that began before the one before it had been gathered, in the order they were heard. One
/// without items counts nothing.
fn users(execution: &Execution, split: usize) -> (Millis, Vec<(LineageKey, u32)>) {
    let of_split = execution.fan_outs.iter().filter(|((at, _), fan_out)| *at == split && fan_out.total > 0);
    let mut of_split: Vec<(&Lineage, &FanOut)> =
        of_split.map(|((_, lineage), fan_out)| (lineage, fan_out)).collect();
    of_split.sort_by_key(|(_, fan_out)| fan_out.told_as);
    let gathered = |lineage: &Lineage| {
        let gatherers = execution.graph.nodes[split].gatherers.iter();
        let joins = gatherers.filter_map(|&gathers| execution.joins.get(&(gathers, lineage.clone())));
        joins.filter(|join| join.released.is_some()).map(|join| join.released_as).max()
    };
    let (mut since, mut users) = (0, Vec::new());
    for pair in of_split.windows(2) {
        let [(before, first), (lineage, fan_out)] = pair else { continue };
        // Where something was missed since, it may have been gathered unheard.
        let is_shared = match gathered(before) {
            Some(released) => released > fan_out.told_as,
            None => !execution.missed_since(first.at.millis()),
        };
        if is_shared {
            if users.is_empty() {
                users.push((before.key(), first.total));
                since = fan_out.at.millis();
            }
            users.push((lineage.key(), fan_out.total));
        }
    }
    (since, users)
}

/// Items that wait at one merge at the same time, or that it has opened for with what was sent to another.
pub fn of_merges(execution: &Execution, now: Millis) -> Vec<Finding> {
    let graph = &execution.graph;
    let is_deep = |node: &usize| matches!(graph.nodes[*node].role, Role::MergeAll) && graph.depth(*node) > 0;
    if execution.is_patchy() {
        return Vec::new();
    }
    let of_merge = |node: usize| {
        let joins = execution.joins.iter().filter(|((merge, _), _)| *merge == node);
        // One that has opened with what is not its own, or has lost what is, has shared with others.
        let is_sure = |((_, lineage), join): (&Spot, &Join)| {
            join.is_mixed || barrier::is_used_up(execution, node, lineage)
        };
        let is_sure = joins.clone().any(is_sure);
        let waits = |join: &Join| join.waits && now - join.heard_at >= stuck::GRACE;
        let used = joins.filter(|(_, join)| waits(join) || (is_sure && join.expected > 0));
        let mut users: Vec<(LineageKey, u32)> =
            used.clone().map(|((_, lineage), join)| (lineage.key(), join.expected)).collect();
        users.sort();
        let since = used.map(|(_, join)| join.since.max(join.heard_at)).min();
        let counter = format!("exec:{}:node:{}:barrier:arrivals", execution.id, graph.nodes[node].id);
        let at = At { key: None, ..at(execution, node, LineageKey::default()) };
        stuck::shared_arrivals(&Counter { at, since: since.unwrap_or(now), counter, users })
    };
    (0..graph.nodes.len()).filter(is_deep).filter_map(of_merge).collect()
}
