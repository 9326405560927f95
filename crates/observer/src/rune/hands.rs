//! What the workers of a Rune cluster have in hand. Each takes ten messages at once and works on one, so nine wait where
//! no queue shows them: a message that nobody begins with may only wait for its turn.

use std::collections::{BTreeSet, VecDeque};

use protocol::{Millis, QueueView};

use crate::stuck::{Hanging, OVERTAKEN};

use super::{
    Rune,
    execution::{Execution, Spot},
    facts::{QUEUE, at},
    graph::Role,
};

/// Nobody goes from one message to the next that slowly.
const IDLE: Millis = 5_000;
/// How long it is remembered how long nodes took.
const REMEMBERED: Millis = 900_000;
/// Places that are looked through for the one that runs longest.
const LOOKED_THROUGH: usize = 10_000;
/// Times in which work lay in the queue that are remembered.
const BACKLOGS: usize = 16;
/// How often it is written down how far the queue is, and how many of these moments are remembered.
const MARK_EVERY: Millis = 30_000;
const MARKS: usize = 120;
/// What runs for so long may never end: it holds up those whom its worker has in hand, and nobody else.
const HANGS: Millis = 600_000;

#[derive(Default)]
pub struct Hands {
    /// When something was seen to run, or to begin or end, last. What hangs does not count.
    busy_at: Millis,
    /// The last moment before which nothing had run for a while, and the same but for what hangs.
    idle_at: Option<Millis>,
    idle_beside_at: Option<Millis>,
    /// The longest that a node took, lately and before that, and since when that is lately.
    longest: [Millis; 2],
    lately_since: Millis,
    /// When what runs longest began, of what does not hang.
    running_since: Option<Millis>,
    /// What has run longest of what hangs, and when each of these began.
    hanging: Option<Hanging>,
    hanging_since: BTreeSet<Millis>,
    /// When something that hung was seen to hang no more: whoever had it in hand comes to the rest only now.
    back_at: Millis,
    /// When the queue was seen to be empty, with somebody to take what comes.
    served_at: Option<Millis>,
    /// Times in which it was not, for longer than a moment, the last of them.
    backlogs: VecDeque<(Millis, Millis)>,
    /// How far the queue was, every now and then.
    marks: VecDeque<Mark>,
    /// The last moment at which nobody was there to take anything.
    alone_at: Option<Millis>,
}

/// How many nodes had begun at a moment, and how many messages were in the queue, where it may be asked.
struct Mark {
    at: Millis,
    begun: u64,
    messages: u64,
}

/// Where a message is that was sent and that nobody has begun with, as far as it is known.
pub struct Held {
    /// When it had left its queue, or was within reach again.
    pub since: Millis,
    /// Everything that was in the queue with it has begun, and more.
    pub is_passed: bool,
    /// Whoever had it in hand since would have begun with it, unless it hangs.
    pub were_idle: bool,
    /// What it may wait behind for ever.
    pub behind: Option<Hanging>,
}

/// What runs at one moment.
#[derive(Default)]
struct Running {
    since: Option<Millis>,
    hanging: Option<Hanging>,
    hanging_since: BTreeSet<Millis>,
}

impl Hands {
    /// Something has begun, or ended after so long.
    pub fn moved(&mut self, lasted: Millis, at: Millis) {
        self.busy_at = self.busy_at.max(at);
        if at - self.lately_since >= REMEMBERED {
            (self.longest, self.lately_since) = ([0, self.longest[0]], at);
        }
        self.longest[0] = self.longest[0].max(lasted);
    }

    fn note(&mut self, is_busy: bool, running: Running, now: Millis) {
        if !self.hanging_since.is_subset(&running.hanging_since) {
            (self.back_at, self.busy_at) = (now, self.busy_at.max(now));
        }
        if is_busy || running.since.is_some() {
            self.busy_at = self.busy_at.max(now);
        } else if now - self.busy_at >= IDLE {
            let idle_at =
                if running.hanging.is_some() { &mut self.idle_beside_at } else { &mut self.idle_at };
            *idle_at = Some(now);
        }
        self.running_since = running.since;
        (self.hanging, self.hanging_since) = (running.hanging, running.hanging_since);
    }

    /// How the queue was found. While work lies in it, or nobody is there to take it, nobody is idle.
    fn note_queue(&mut self, queue: &QueueView, now: Millis) {
        if queue.consumers == 0 {
            self.alone_at = Some(now);
        }
        let was_served = self.served_at.take_if(|_| queue.messages > 0 || queue.consumers == 0);
        if queue.messages == 0 && queue.consumers > 0 {
            self.served_at = Some(now);
            // What is over in a moment delays nobody.
            self.backlogs.pop_back_if(|(from, until)| *until - *from < IDLE);
            return;
        }
        self.busy_at = self.busy_at.max(now);
        match self.backlogs.back_mut().filter(|_| was_served.is_none()) {
            Some((_, until)) => *until = now,
            // What was before the first look nobody knows.
            None => self.backlogs.push_back((was_served.unwrap_or(0), now)),
        }
        if self.backlogs.len() > BACKLOGS {
            self.backlogs.pop_front();
        }
    }

    /// Where a message may be that was sent then.
    pub fn held(&self, sent: Millis) -> Held {
        let passed_at = self.passed_at(sent);
        let is_passed = passed_at.is_some();
        let since = self.left_queue(sent);
        let since = passed_at.map_or(since, |passed| since.min(passed));
        let is_since = |idle: Option<Millis>, since: Millis| idle.is_some_and(|idle| idle - IDLE >= since);
        if is_since(self.idle_at, since) {
            return Held { since, is_passed, were_idle: true, behind: None };
        }
        let since = since.max(self.back_at).max(self.alone_at.unwrap_or(since));
        let behind = self.hanging.clone();
        let were_idle = behind.is_some() && is_since(self.idle_beside_at, since);
        Held { since, is_passed, were_idle, behind }
    }

    /// When a message that was sent then had left the queue, as far as it is known how long it lay there.
    fn left_queue(&self, sent: Millis) -> Millis {
        let lay = self.backlogs.iter().rev().find(|(from, until)| (*from..=*until).contains(&sent));
        lay.map_or(sent, |(_, until)| *until)
    }

    /// When everything had begun that was in the queue with a message which was sent then, and as much more as workers
    /// may have in hand: also of a queue that is never empty it has had its turn.
    pub fn passed_at(&self, sent: Millis) -> Option<Millis> {
        // What was in hand when nobody was there any more is in the queue again.
        let sent = sent.max(self.alone_at.unwrap_or(sent));
        let with_it = self.marks.get(self.marks.partition_point(|mark| mark.at <= sent))?;
        let all = with_it.begun + with_it.messages + OVERTAKEN;
        self.marks.get(self.marks.partition_point(|mark| mark.begun < all)).map(|mark| mark.at)
    }

    /// The queue was asked for at this moment; where it does not answer it is as it was.
    pub fn mark(&mut self, messages: Option<u64>, begun: u64, now: Millis) {
        let last = self.marks.back();
        if last.is_some_and(|mark| now - mark.at < MARK_EVERY) {
            return;
        }
        let messages = messages.or_else(|| Some(last?.messages)).unwrap_or_default();
        self.marks.push_back(Mark { at: now, begun, messages });
        if self.marks.len() > MARKS {
            self.marks.pop_front();
        }
    }

    /// The last moment at which nobody was there to take anything: what they had in hand comes again.
    pub fn alone_at(&self) -> Option<Millis> {
        self.alone_at
    }

    /// The longest that a node took lately, or takes. What hangs does not count.
    pub fn longest(&self, now: Millis) -> Millis {
        let running = self.running_since.map_or(0, |since| now - since);
        running.max(self.longest[0]).max(self.longest[1])
    }
}

impl Rune {
    /// Sees whether anything runs at this moment, as far as everything is heard.
    pub(super) fn look_at_hands(&mut self, now: Millis) {
        if self.deaf_since.is_some() {
            return;
        }
        if let Some(queue) = self.queues.get(QUEUE) {
            self.hands.note_queue(queue, now);
        }
        let running = self.running(now);
        self.hands.note(!self.strangers.is_empty(), running, now);
    }

    fn running(&self, now: Millis) -> Running {
        let followed = self.executions.values().filter(|execution| !execution.ended);
        let places = followed
            .flat_map(|execution| running(execution).map(move |(began, spot)| (began, execution, spot)));
        let hangs = |(began, ..): &(Millis, &Execution, Spot)| now - began >= HANGS;
        let (hang, work): (Vec<_>, Vec<_>) = places.take(LOOKED_THROUGH).partition(hangs);
        let hanging = hang.iter().min_by_key(|(began, ..)| *began).map(|(since, execution, spot)| Hanging {
            at: at(execution, spot.0, spot.1.key()),
            since: *since,
            others: hang.len() - 1,
        });
        Running {
            since: work.iter().map(|(began, ..)| *began).min(),
            hanging,
            hanging_since: hang.iter().map(|(began, ..)| *began).collect(),
        }
    }
}

/// Everything that runs, and when it began. What rests is in nobody's hands.
fn running(execution: &Execution) -> impl Iterator<Item = (Millis, Spot)> {
    let works = |node: usize| !matches!(execution.graph.nodes[node].role, Role::Wait);
    let open = execution.open.iter().filter(move |(node, _)| works(**node));
    let places = open.flat_map(|(node, places)| places.iter().map(|lineage| (*node, lineage.clone())));
    places.filter_map(|spot| Some((execution.tracks.get(&spot)?.open?.began.millis(), spot)))
}
