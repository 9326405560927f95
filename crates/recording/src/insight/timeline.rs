//! When what happened where, folded from events. However many firings there are, a row holds a bounded number of bars:
//! when there are too many, those that lie close together become one.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use engine::{Input, Plan};
use protocol::{
    Bar, BarKind, Change, EdgeId, Event, ExecutionId, Fact, Firing, Lineage, MessageId, Millis, NodeId, Tick,
    Timeline, TimelineRow,
};

/// Bars of one row, at most.
const BARS: usize = 600;
/// Ticks, at most.
const TICKS: usize = 1_200;

pub struct TimelineFold {
    plan: Arc<Plan>,
    started_at: Millis,
    latest_at: Millis,
    position: u64,
    rows: Vec<Row>,
    row_of: HashMap<NodeId, usize>,
    /// What every firing that is not over is doing, and since when.
    now: HashMap<MessageId, (usize, BarKind, Millis)>,
    /// When messages were sent to a node at a key, and when splits sent their items.
    sent: HashMap<(usize, Lineage), Millis>,
    spread: HashMap<(NodeId, Lineage), Millis>,
    ticks: Vec<Tick>,
    /// Moments that are closer than this are one tick.
    tick_gap: Millis,
}

struct Row {
    node_id: NodeId,
    bars: BTreeMap<BarKind, Vec<Bar>>,
    /// Bars that are closer than this are one.
    gap: Millis,
}

impl TimelineFold {
    pub fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            started_at: 0,
            latest_at: 0,
            position: 0,
            rows: Vec::new(),
            row_of: HashMap::new(),
            now: HashMap::new(),
            sent: HashMap::new(),
            spread: HashMap::new(),
            ticks: Vec::new(),
            tick_gap: 0,
        }
    }

    pub fn apply(&mut self, event: &Event) {
        let at = event.at;
        self.position = event.seq;
        self.latest_at = at;
        self.tick(at);
        match &event.fact {
            Fact::ExecutionStarted(_) => self.started_at = at,
            Fact::NodeStarted(started) => self.start(at, &started.firing),
            Fact::NodeParked(parked) => self.turn(at, &parked.firing, BarKind::Wait),
            Fact::AttemptFailed(failed) => self.turn(at, &failed.firing, BarKind::Retry),
            Fact::NodeSucceeded(done) => {
                self.finish(at, &done.firing, false);
                match &done.items {
                    Some(_) => {
                        let key = (done.firing.node_id.clone(), done.firing.lineage.clone());
                        self.spread.insert(key, at);
                    }
                    None => self.send(at, &done.firing, &done.taken),
                }
            }
            Fact::NodeFailed(done) => {
                self.finish(at, &done.firing, true);
                self.send(at, &done.firing, &done.taken);
            }
            Fact::Intervened(done) => {
                if done.change == Change::Dropped {
                    self.finish(at, &done.firing, false);
                }
            }
            Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_) => {}
            Fact::ExecutionEnded(_) => {
                for (_, (row, kind, since)) in std::mem::take(&mut self.now) {
                    self.rows[row].push(bar(kind, since, Some(at), false));
                }
            }
        }
    }

    fn start(&mut self, at: Millis, firing: &Firing) {
        let row = self.row(&firing.node_id);
        match self.now.remove(&firing.message_id) {
            Some((_, kind, since)) => self.rows[row].push(bar(kind, since, Some(at), false)),
            None => {
                let since = self.queued_since(firing).filter(|since| *since < at);
                if let Some(since) = since {
                    self.rows[row].push(bar(BarKind::Queue, since, Some(at), false));
                }
            }
        }
        self.now.insert(firing.message_id.clone(), (row, BarKind::Run, at));
    }

    fn queued_since(&mut self, firing: &Firing) -> Option<Millis> {
        let node = self.plan.node(&firing.node_id)?;
        let sent = self.sent.remove(&(node, firing.lineage.clone()));
        let step = firing.lineage.steps().last();
        sent.or_else(|| self.spread.get(&(step?.split.clone(), firing.lineage.parent())).copied())
    }

    fn turn(&mut self, at: Millis, firing: &Firing, kind: BarKind) {
        let row = self.row(&firing.node_id);
        if let Some((_, before, since)) = self.now.insert(firing.message_id.clone(), (row, kind, at)) {
            self.rows[row].push(bar(before, since, Some(at), kind == BarKind::Retry));
        }
    }

    fn finish(&mut self, at: Millis, firing: &Firing, failed: bool) {
        let row = self.row(&firing.node_id);
        if let Some((_, kind, since)) = self.now.remove(&firing.message_id) {
            self.rows[row].push(bar(kind, since, Some(at), failed));
        }
    }

    fn send(&mut self, at: Millis, firing: &Firing, taken: &[EdgeId]) {
        let Some(node) = self.plan.node(&firing.node_id) else { return };
        for edge in taken.iter().filter_map(|id| self.plan.edge_of(node, id)) {
            let to = self.plan.edges[edge].to;
            if matches!(self.plan.flow.inputs[to], Input::Each | Input::Exclusive { .. }) {
                self.sent.insert((to, firing.lineage.clone()), at);
            }
        }
    }

    fn row(&mut self, node: &NodeId) -> usize {
        if let Some(&row) = self.row_of.get(node) {
            return row;
        }
        self.rows.push(Row { node_id: node.clone(), bars: BTreeMap::new(), gap: 0 });
        self.row_of.insert(node.clone(), self.rows.len() - 1);
        self.rows.len() - 1
    }

    fn tick(&mut self, at: Millis) {
        let tick = Tick { at, position: self.position };
        match self.ticks.last_mut() {
            Some(last) if at - last.at <= self.tick_gap => last.position = self.position,
            _ => self.ticks.push(tick),
        }
        if self.ticks.len() > TICKS {
            self.tick_gap = (self.tick_gap * 2).max((self.latest_at - self.started_at) / TICKS as i64).max(1);
            let gap = self.tick_gap;
            self.ticks.dedup_by(|later, kept| {
                let close = later.at - kept.at <= gap;
                if close {
                    kept.position = later.position;
                }
                close
            });
        }
    }

    pub fn timeline(&self, execution_id: &ExecutionId) -> Timeline {
        let mut going: HashMap<(usize, BarKind), Bar> = HashMap::new();
        for &(row, kind, since) in self.now.values() {
            let known = going.entry((row, kind)).or_insert(Bar { count: 0, ..bar(kind, since, None, false) });
            known.count += 1;
            known.from = known.from.min(since);
        }
        let rows = self.rows.iter().enumerate().map(|(place, row)| {
            let mine = going.iter().filter(|((of, _), _)| *of == place).map(|(_, bar)| *bar);
            let mut bars: Vec<Bar> = row.bars.values().flatten().copied().chain(mine).collect();
            bars.sort_by_key(|bar| (bar.from, bar.kind));
            TimelineRow { node_id: row.node_id.clone(), bars }
        });
        Timeline {
            execution_id: execution_id.clone(),
            position: self.position,
            started_at: self.started_at,
            latest_at: self.latest_at,
            rows: rows.collect(),
            ticks: self.ticks.clone(),
        }
    }
}

impl Row {
    fn push(&mut self, bar: Bar) {
        let gap = self.gap;
        let bars = self.bars.entry(bar.kind).or_default();
        match bars.last_mut() {
            Some(last) if gap > 0 && are_close(last, &bar, gap) => join(last, &bar),
            _ => bars.push(bar),
        }
        if bars.len() > BARS {
            bars.sort_by_key(|bar| bar.from);
            let (from, to) = (bars[0].from, bars.iter().filter_map(|bar| bar.to).max().unwrap_or(0));
            self.gap = (gap * 2).max((to - from) / BARS as i64).max(1);
            let gap = self.gap;
            bars.dedup_by(|later, kept| {
                let close = are_close(kept, later, gap);
                if close {
                    join(kept, later);
                }
                close
            });
        }
    }
}

fn are_close(earlier: &Bar, later: &Bar, gap: Millis) -> bool {
    earlier.to.is_none_or(|to| later.from - to <= gap)
}

fn join(kept: &mut Bar, other: &Bar) {
    kept.from = kept.from.min(other.from);
    kept.to = kept.to.max(other.to);
    kept.count += other.count;
    kept.failed += other.failed;
}

fn bar(kind: BarKind, from: Millis, to: Option<Millis>, failed: bool) -> Bar {
    Bar { kind, from, to, count: 1, failed: u32::from(failed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_firings_a_row_is_bounded_and_counts_all_of_them() {
        let mut row = Row { node_id: "n".into(), bars: BTreeMap::new(), gap: 0 };
        for start in 0..100_000 {
            row.push(bar(BarKind::Run, start * 10, Some(start * 10 + 3), start % 2 == 0));
        }
        let bars = &row.bars[&BarKind::Run];
        assert!(bars.len() <= BARS, "{}", bars.len());
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u32>(), 100_000);
        assert_eq!(bars.iter().map(|bar| bar.failed).sum::<u32>(), 50_000);
        assert_eq!((bars[0].from, bars.iter().filter_map(|bar| bar.to).max()), (0, Some(999_993)));
    }
}
