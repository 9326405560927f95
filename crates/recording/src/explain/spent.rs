//! Where the time went: the way that took longest, and what every node has spent.

use std::collections::BTreeMap;

use protocol::{Leg, NodeId, Spent};

use super::history::{Fired, History};

/// Steps of the way that are told.
const TOLD: usize = 500;

/// From the first firing to the last one to end.
pub fn critical_path(history: &History<'_>) -> Vec<Leg> {
    let end =
        |fired: &Fired<'_>| fired.done().map_or((history.last, u64::MAX), |done| (done.at, done.position));
    let mut at = (0..history.firings.len()).max_by_key(|&at| end(&history.firings[at]));
    let mut legs = Vec::new();
    while let Some(here) = at.filter(|_| legs.len() < TOLD) {
        let fired = &history.firings[here];
        legs.push(leg(history, fired));
        at = fired.cause;
    }
    legs.reverse();
    legs
}

/// Every node that ran, the most expensive first.
pub fn spent(history: &History<'_>) -> Vec<Spent> {
    let mut nodes: BTreeMap<&NodeId, Spent> = BTreeMap::new();
    for fired in &history.firings {
        let Leg { queue, run, timer, .. } = leg(history, fired);
        let spent = nodes.entry(&fired.firing.node_id).or_default();
        spent.node_id = Some(fired.firing.node_id.clone());
        spent.firings += 1;
        spent.queue += queue;
        spent.run += run;
        spent.timer += timer;
    }
    for heard in history.joins.values() {
        if let Some(spent) = nodes.get_mut(heard.node) {
            spent.barrier += heard.last - heard.first;
        }
    }
    let mut spent: Vec<Spent> = nodes.into_values().collect();
    spent.sort_by_key(|spent| std::cmp::Reverse(spent.total()));
    spent
}

fn leg(history: &History<'_>, fired: &Fired<'_>) -> Leg {
    let end = fired.done().map_or(history.last, |done| done.at);
    Leg {
        node_id: fired.firing.node_id.clone(),
        key: fired.firing.lineage.key(),
        position: fired.position,
        queue: (fired.began - fired.ready).max(0),
        run: (end - fired.began - fired.rested).max(0),
        timer: fired.rested,
    }
}
