//! What waits for a moment in a Rune cluster: a set of timers, and a hash of the messages they resume. There may be any
//! number of them, so every look sees the first in line and a piece of the rest.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use protocol::{ExecutionId, LineageKey, Millis, NodeId, TimerKeeper, TimerPurpose, TimerView};
use serde_json::Value;

use crate::{
    ObserverError, Read,
    stuck::{At, IN_BETWEEN},
};

use super::{
    frozen::{Frozen, Opened, PAYLOAD_HASH, too_large},
    look::Asking,
    wire::{self, Said, WireFrame, Work, lineage_of},
};

/// Timers that are listed, the first in line; twice as many payloads are listed at once.
const TIMERS: usize = 1_000;
/// Payloads that are opened in one look, and asked for their timer.
const PAYLOADS: usize = 20;
const ALONE: usize = 40;
/// Payloads that are no messages and are remembered as such.
const UNREADABLE: usize = 5_000;
/// Somebody has claimed a timer so lately that others will be claimed as well.
const CLAIMING: Millis = 5_000;

const TIMER_SET: &str = "scheduler:timers";

/// A timer, or what is left of one.
#[derive(Clone, Debug)]
pub struct Timer {
    pub execution_id: ExecutionId,
    pub title: String,
    pub node_id: NodeId,
    pub name: String,
    /// The stack of its message, which never shrinks.
    pub frames: Vec<WireFrame>,
    pub due: Millis,
    pub set_at: Millis,
    pub has_timer: bool,
    /// Its payload is too large, so nobody knows whose it is.
    pub is_left_out: bool,
    /// Since when its payload was seen without a timer.
    pub alone_since: Option<Millis>,
    /// When it was seen last.
    pub seen_at: Millis,
}

#[derive(Default)]
pub struct Timers {
    known: BTreeMap<String, Timer>,
    unreadable: HashSet<String>,
    payloads: Frozen,
    /// Payloads that were opened for the first time, until somebody takes them.
    pub frozen: Vec<Vec<u8>>,
    /// The first in line as they were seen last, and how many there were.
    first: HashMap<String, Millis>,
    total: u64,
    knows_all: bool,
    /// The moment of the last look that was answered.
    looked_at: Option<Millis>,
    /// When somebody was seen to have claimed one.
    claimed_at: Option<Millis>,
    /// Who was asked for last: payloads to open, and payloads without a timer.
    opened: String,
    asked: String,
}

impl Timers {
    pub fn all(&self) -> impl Iterator<Item = (&String, &Timer)> {
        self.known.iter()
    }

    pub fn looked_at(&self) -> Option<Millis> {
        self.looked_at
    }

    /// Somebody claims what is due, as fast as they can.
    pub fn are_claimed(&self) -> bool {
        self.looked_at.zip(self.claimed_at).is_some_and(|(looked, claimed)| looked - claimed < CLAIMING)
    }

    /// Something of an execution rests; `None` where not every timer is known.
    pub fn rests(&self, execution: &ExecutionId) -> Option<bool> {
        let rests = self.known.values().any(|timer| timer.execution_id == *execution);
        (rests || self.knows_all).then_some(rests)
    }

    /// Those that rest for sure: nobody had claimed them at this moment, or nobody will go on with them.
    pub fn resting(&self, now: Millis) -> impl Iterator<Item = (&String, &Timer)> {
        let rests = move |timer: &Timer| match timer.alone_since {
            Some(since) => timer.seen_at - since >= IN_BETWEEN,
            None => timer.has_timer && timer.seen_at == now,
        };
        self.known.iter().filter(move |(_, timer)| rests(timer))
    }

    pub(super) async fn look(&mut self, asking: &mut Asking<'_>, now: Millis) -> Result<(), ObserverError> {
        if !asking.has_room(4) {
            return Ok(());
        }
        self.payloads.renew();
        let range = (TIMER_SET, 0, TIMERS - 1, "WITHSCORES");
        let set = asking.ask::<Vec<(String, f64)>>(Read::ZRange, range).await?;
        let total = asking.ask::<u64>(Read::ZCard, TIMER_SET).await?;
        let stored = asking.ask::<u64>(Read::HLen, PAYLOAD_HASH).await?;
        self.knows_all = false;
        let (Some(set), Some(total), Some(stored)) = (set, total, stored) else { return Ok(()) };
        let set: HashMap<String, Millis> =
            set.into_iter().map(|(id, due)| (id, wire::sane(due as Millis))).collect();
        let listed = match stored <= 2 * TIMERS as u64 {
            true => asking.ask::<Vec<String>>(Read::HKeys, PAYLOAD_HASH).await?,
            false => None,
        };
        self.note_claims(&set, total, now);
        match listed {
            Some(payloads) => self.look_at_all(asking, now, &payloads).await?,
            None => self.look_at_some(asking, now).await?,
        }
        for (id, due) in &self.first {
            if let Some(timer) = self.known.get_mut(id) {
                (timer.due, timer.has_timer, timer.alone_since, timer.seen_at) = (*due, true, None, now);
            }
        }
        self.looked_at = Some(now);
        Ok(())
    }

    fn note_claims(&mut self, set: &HashMap<String, Millis>, total: u64, now: Millis) {
        let is_claimed = |(id, due): (&String, &Millis)| *due <= now && !set.contains_key(id);
        if total < self.total || self.first.iter().any(is_claimed) {
            self.claimed_at = Some(now);
        }
        (self.first, self.total) = (set.clone(), total);
    }

    /// Every payload has a name here.
    async fn look_at_all(
        &mut self,
        asking: &mut Asking<'_>,
        now: Millis,
        payloads: &[String],
    ) -> Result<(), ObserverError> {
        let new = self.first.keys().chain(payloads);
        let new: BTreeSet<String> = new.filter(|id| self.is_new(id)).cloned().collect();
        let opened = self.open(asking, now, &new).await?;
        self.knows_all = self.total <= TIMERS as u64 && opened == new.len();
        let there: HashSet<&String> = payloads.iter().chain(self.first.keys()).collect();
        self.known.retain(|id, _| there.contains(id));
        self.knows_all &= !self.known.values().any(|timer| timer.is_left_out);
        // A payload alone: it was set, or claimed, between two of our questions, or it is lost.
        let alone =
            payloads.iter().filter(|id| !self.first.contains_key(*id) && self.known.contains_key(*id));
        let alone: BTreeSet<String> = alone.cloned().collect();
        self.ask_for_timers(asking, now, &alone, true).await
    }

    /// There are too many: those in line, those that have left it, and a piece of the rest, for what is lost.
    async fn look_at_some(&mut self, asking: &mut Asking<'_>, now: Millis) -> Result<(), ObserverError> {
        let new: BTreeSet<String> = self.first.keys().filter(|id| self.is_new(id)).cloned().collect();
        self.open(asking, now, &new).await?;
        let left = self.known.keys().filter(|id| !self.first.contains_key(*id));
        let left: BTreeSet<String> = left.cloned().collect();
        self.ask_for_timers(asking, now, &left, false).await?;
        // What waits further back, and what could not be asked about, is met again on the way through all.
        self.known.retain(|id, timer| !left.contains(id) || timer.alone_since.is_some());
        let mut without = BTreeSet::new();
        for id in self.next_page(asking).await? {
            if !asking.has_room(1) {
                break;
            }
            let score = asking.ask::<Option<f64>>(Read::ZScore, (TIMER_SET, &id)).await?;
            without.extend(matches!(score, Some(None)).then_some(id));
        }
        self.open(asking, now, &without).await?;
        for id in &without {
            if let Some(timer) = self.known.get_mut(id) {
                (timer.has_timer, timer.alone_since) = (false, timer.alone_since.or(Some(now)));
            }
        }
        Ok(())
    }

    /// Names of payloads that are not known, a few in every look.
    async fn next_page(&mut self, asking: &mut Asking<'_>) -> Result<Vec<String>, ObserverError> {
        let page = self.payloads.next_names(asking).await?;
        let names = page.into_iter().filter_map(|id| String::from_utf8(id).ok());
        Ok(names.filter(|id| self.is_new(id) && !self.first.contains_key(id)).take(ALONE).collect())
    }

    fn is_new(&self, id: &str) -> bool {
        !self.known.contains_key(id) && !self.unreadable.contains(id)
    }

    /// Opens payloads, in turn. How many were asked for.
    async fn open(
        &mut self,
        asking: &mut Asking<'_>,
        now: Millis,
        new: &BTreeSet<String>,
    ) -> Result<usize, ObserverError> {
        let mut opened = 0;
        for id in in_turn(new, &self.opened.clone()).take(PAYLOADS) {
            let asked = self.payloads.open(asking, id).await;
            if matches!(asked, Ok(Opened::NoRoom)) {
                break;
            }
            (self.opened, opened) = (id.clone(), opened + 1);
            let timer = match asked? {
                Opened::NoRoom | Opened::Nothing => None,
                Opened::TooLarge(size) => Some(Timer::left_out(id, size, now)),
                Opened::Bytes(payload) => {
                    let timer = Timer::read(&payload, now);
                    if timer.is_some() {
                        self.frozen.push(payload);
                    } else if self.unreadable.len() < UNREADABLE {
                        self.unreadable.insert(id.clone());
                    }
                    timer
                }
            };
            if let Some(timer) = timer {
                self.known.insert(id.clone(), timer);
            }
        }
        Ok(opened)
    }

    /// Asks, in turn, whether these have a timer, and where nobody knows that their payload is there, for it too.
    async fn ask_for_timers(
        &mut self,
        asking: &mut Asking<'_>,
        now: Millis,
        alone: &BTreeSet<String>,
        is_there: bool,
    ) -> Result<(), ObserverError> {
        for id in in_turn(alone, &self.asked.clone()).take(ALONE) {
            if !asking.has_room(2) {
                break;
            }
            self.asked.clone_from(id);
            let Some(score) = asking.ask::<Option<f64>>(Read::ZScore, (TIMER_SET, id)).await? else {
                continue;
            };
            if score.is_none() && !is_there && Frozen::is_there(asking, id).await? != Some(true) {
                self.known.remove(id);
            }
            let Some(timer) = self.known.get_mut(id) else { continue };
            (timer.has_timer, timer.seen_at) = (score.is_some(), now);
            timer.due = score.map_or(timer.due, |due| wire::sane(due as Millis));
            timer.alone_since = if timer.has_timer { None } else { timer.alone_since.or(Some(now)) };
        }
        Ok(())
    }

    /// Those that are due first come first.
    pub fn views(&self, key: impl Fn(&Timer) -> LineageKey) -> Vec<TimerView> {
        let mut timers: Vec<TimerView> = self.known.values().map(|timer| timer.view(key(timer))).collect();
        timers.sort_by(|left, right| {
            (left.due, &left.execution_id, &left.node_id).cmp(&(
                right.due,
                &right.execution_id,
                &right.node_id,
            ))
        });
        timers
    }
}

/// Behind the one that had its turn last, and around.
fn in_turn<'s>(set: &'s BTreeSet<String>, last: &str) -> impl Iterator<Item = &'s String> {
    let (before, behind): (Vec<_>, Vec<_>) = set.iter().partition(|id| id.as_str() <= last);
    behind.into_iter().chain(before)
}

impl Timer {
    /// What a frozen message says about itself; what it carries is not kept.
    fn read(payload: &[u8], now: Millis) -> Option<Self> {
        let Ok(Said::Work(work)) = wire::read("workflow.resume", payload) else { return None };
        let (name, title) = names(&work);
        let context: Option<Value> =
            work.accumulated_context.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let due =
            context.as_ref().and_then(|context| context.get(format!("${name}"))?.get("resume_at")?.as_i64());
        Some(Self {
            execution_id: work.execution_id.as_str().into(),
            title,
            node_id: work.current_node.as_str().into(),
            name,
            frames: work.lineage_stack,
            due: due.map_or(now, wire::sane),
            set_at: now,
            has_timer: true,
            is_left_out: false,
            alone_since: None,
            seen_at: now,
        })
    }

    /// One of which nothing is known but that it is there: lists tell it from others by its own name.
    fn left_out(id: &str, size: u64, now: Millis) -> Self {
        Self {
            execution_id: "".into(),
            title: too_large(size),
            node_id: id.into(),
            name: "A wait".to_owned(),
            frames: Vec::new(),
            due: now,
            set_at: now,
            has_timer: true,
            is_left_out: true,
            alone_since: None,
            seen_at: now,
        }
    }

    /// Where that is, for people, as far as it is known.
    pub fn at(&self, key: LineageKey) -> At {
        match self.is_left_out {
            true => At { name: format!("{} ({})", self.name, self.title), ..At::default() },
            false => At::node(&self.execution_id, &self.node_id, key, &self.name),
        }
    }

    /// Where it stands by its stack alone, where nothing else is known.
    pub fn key(&self) -> LineageKey {
        let splits = self.frames.iter().map(|frame| NodeId::from(frame.split_node_id.as_str()));
        lineage_of(&self.frames, splits).key()
    }

    /// Nobody has sent what it should have resumed, for longer than that takes.
    fn is_lost(&self) -> bool {
        self.alone_since.is_some_and(|since| self.seen_at - since >= IN_BETWEEN)
    }

    fn view(&self, key: LineageKey) -> TimerView {
        TimerView {
            execution_id: self.execution_id.clone(),
            title: self.title.clone(),
            node_id: self.node_id.clone(),
            name: self.name.clone(),
            key,
            due: self.due,
            set_at: self.set_at,
            purpose: TimerPurpose::Rest,
            keeper: if self.is_lost() { TimerKeeper::Nobody } else { TimerKeeper::Cluster },
        }
    }
}

/// The name of the node a message is for, and of its workflow.
fn names(work: &Work<'_>) -> (String, String) {
    let definition: Option<Value> =
        work.workflow_definition.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let definition = definition.unwrap_or_default();
    let nodes = definition["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let node = nodes.iter().find(|node| node["id"].as_str() == Some(&work.current_node));
    let name = node.and_then(|node| node["name"].as_str()).filter(|name| !name.is_empty());
    let title = definition["name"].as_str().map(str::to_owned);
    (
        name.unwrap_or(&work.current_node).to_owned(),
        title.unwrap_or_else(|| format!("Workflow {}", work.workflow_id)),
    )
}
