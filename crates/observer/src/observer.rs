//! Looks into one cluster until it is told to stop: hears, reads, walks, and keeps a picture of the whole.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use protocol::{
    BarrierView, ClusterDialect, ClusterView, Event, ExecutionId, Finding, Millis, NodeId, Problem, Rule,
    TimerView, cluster,
};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot, watch},
    task::{JoinHandle, JoinSet},
    time::Instant,
};

use crate::{
    Address, Away, Dialect, EVERYTHING, Now, ObserverError, Read, Reader,
    depths::Depths,
    detect,
    gaps::{Gaps, Lapse},
    picture,
    reader::NOTHING,
    rune,
    speaker::Speaker,
    stuck,
    tap::{self, Arrived, Counters, Hearing, Tap, Wishes},
    trouble,
    walk::Walk,
};

/// Copies that are taken in together.
const TOGETHER: usize = 1_000;
/// Events that are handed over together.
const HANDED: usize = 2_000;
/// Groups of events that wait to be taken.
const WAITING: usize = 8;
/// Copies that are kept until it is known whose they are.
const KEPT_UNTIL_KNOWN: usize = 2_000;

const STEP_EVERY: Duration = Duration::from_millis(50);
const VIEW_EVERY: Duration = Duration::from_millis(250);
const WEIGH_EVERY: Duration = Duration::from_secs(5);
/// How often is looked for what is wrong; less often where that takes long, so that there is time for everything else.
const FIND_EVERY: Duration = Duration::from_millis(500);
const FIND_SHARE: u32 = 20;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Facts that were seen. They keep the room of the messages they were made of until they are let go, so that what waits
/// to be written has the same bound as what waits to be heard.
pub struct Sighting {
    pub dialect: ClusterDialect,
    pub events: Vec<Event>,
    _room: Option<OwnedSemaphorePermit>,
}

/// Whether somebody was asked.
enum Looked {
    Yes,
    NotYet,
}

/// A question to the dialect.
enum Ask {
    Barrier(ExecutionId, NodeId, oneshot::Sender<Option<BarrierView>>),
    Timers(oneshot::Sender<Vec<TimerView>>),
}

pub struct Observer {
    view: watch::Receiver<Arc<ClusterView>>,
    asks: mpsc::Sender<Ask>,
    closed: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Observer {
    /// Begins to look; who is away is dialled until it is there. What is seen comes out of the receiver; nothing comes
    /// any more once it is dropped.
    pub fn attach(address: Address, away: Away, now: Now) -> (Self, mpsc::Receiver<Sighting>) {
        let closed = watch::Sender::new(false);
        let view = watch::Sender::new(Arc::new(picture::first(&address, &away, now())));
        let hearing = watch::Sender::new(Hearing { problem: away.broker, ..Hearing::default() });
        let counters = Arc::new(Counters::default());
        let (inbox, arriving) = tap::inbox();
        let (sightings, seen) = mpsc::channel(WAITING);
        let (asks, asked) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        let told = address.connection.dialect;
        let speaker = told.map(|dialect| Speaker::of(dialect, &address.connection));
        let wanted = watch::Sender::new(wishes(speaker.as_ref(), &address.connection.prefix));
        let tap = Tap {
            url: address.amqp.clone(),
            prefix: address.connection.prefix.clone(),
            now: Arc::clone(&now),
            counters: Arc::clone(&counters),
            hearing: hearing.clone(),
            wanted: wanted.subscribe(),
            closed: closed.subscribe(),
        };
        tasks.spawn(tap.listen(inbox));
        let looker = Looker {
            prefix: address.connection.prefix.clone(),
            redis: address.redis,
            now,
            offset: 0,
            read_at: None,
            reader: None,
            dialling: None,
            redis_problem: away.redis,
            walk_problem: None,
            pause: FIRST_PAUSE,
            speaker,
            wanted,
            unknown: VecDeque::new(),
            walk: Walk::default(),
            hearing: hearing.subscribe(),
            counters,
            depths: Depths::default(),
            gaps: Gaps::default(),
            listening_since: None,
            findings: Vec::new(),
            unlisted: BTreeMap::new(),
            find_next: Instant::now(),
            sightings,
            view: view.clone(),
        };
        tasks.spawn(looker.look(arriving, asked, closed.subscribe()));
        (Self { view: view.subscribe(), asks, closed, tasks }, seen)
    }

    /// The cluster as a whole, as it is seen.
    pub fn view(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.view.clone()
    }

    /// What a join waits for, where the cluster's own state says more than the events.
    pub async fn barrier(&self, execution: &ExecutionId, node: &NodeId) -> Option<BarrierView> {
        let (answer, answered) = oneshot::channel();
        self.asks.send(Ask::Barrier(execution.clone(), node.clone(), answer)).await.ok()?;
        answered.await.ok().flatten()
    }

    /// Everything that waits for a moment, as far as the events do not say so.
    pub async fn timers(&self) -> Vec<TimerView> {
        let (answer, answered) = oneshot::channel();
        match self.asks.send(Ask::Timers(answer)).await {
            Ok(()) => answered.await.unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }

    /// Stops looking. Our queue is gone afterwards.
    pub async fn detach(mut self) {
        self.closed.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

struct Looker {
    prefix: String,
    redis: String,
    now: Now,
    /// How far the clock of Redis, by which workers go, is from ours.
    offset: Millis,
    /// When Redis has answered last.
    read_at: Option<Millis>,
    reader: Option<Reader>,
    /// A connection that is on its way. Nobody waits for it: there is something to hear meanwhile.
    dialling: Option<JoinHandle<Result<Reader, ObserverError>>>,
    redis_problem: Option<Problem>,
    walk_problem: Option<Problem>,
    pause: Duration,
    speaker: Option<Speaker>,
    wanted: watch::Sender<Wishes>,
    unknown: VecDeque<Arrived>,
    walk: Walk,
    hearing: watch::Receiver<Hearing>,
    counters: Arc<Counters>,
    depths: Depths,
    gaps: Gaps,
    /// Since when the broker tells us everything.
    listening_since: Option<Millis>,
    /// What was found wrong last, and when to look again.
    findings: Vec<Finding>,
    unlisted: BTreeMap<Rule, usize>,
    find_next: Instant,
    sightings: mpsc::Sender<Sighting>,
    view: watch::Sender<Arc<ClusterView>>,
}

impl Looker {
    async fn look(
        mut self,
        mut arriving: mpsc::Receiver<Arrived>,
        mut asked: mpsc::Receiver<Ask>,
        mut closed: watch::Receiver<bool>,
    ) {
        let mut next_look = Instant::now();
        let mut next_step = Instant::now();
        let mut next_weigh = Instant::now();
        let mut views = tokio::time::interval(VIEW_EVERY);
        views.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut hearing = self.hearing.clone();
        let mut together = Vec::new();
        loop {
            // Whoever is ready has the same chance: neither a flood nor a Redis that is far away keeps the others waiting.
            tokio::select! {
                () = tap::is_closed(&mut closed) => return self.leave(arriving).await,
                Some(ask) = asked.recv() => self.answer(ask),
                () = tokio::time::sleep_until(next_look) => {
                    let looked = self.look_once().await;
                    next_look = Instant::now() + self.after(looked);
                }
                () = tokio::time::sleep_until(next_weigh) => {
                    self.weigh().await;
                    next_weigh = Instant::now() + WEIGH_EVERY;
                }
                () = tokio::time::sleep_until(next_step) => {
                    let began = Instant::now();
                    let rest = self.step().await;
                    // At least as long as the step has taken: there is more to do than to walk.
                    next_step = Instant::now() + rest.max(began.elapsed());
                }
                _ = views.tick() => {
                    self.tell_gaps().await;
                    self.show();
                }
                Ok(()) = hearing.changed() => {
                    let heard = hearing.borrow_and_update().clone();
                    self.hear_of_queues(&heard).await;
                }
                count = arriving.recv_many(&mut together, TOGETHER), if !arriving.is_closed() => {
                    if count > 0 && self.hear(together.drain(..)).await.is_err() {
                        return;
                    }
                }
            }
            if self.sightings.is_closed() {
                return;
            }
        }
    }

    /// How long until the next look.
    fn after(&mut self, looked: Result<Looked, ObserverError>) -> Duration {
        match looked {
            Ok(Looked::Yes) => {
                (self.redis_problem, self.pause) = (None, FIRST_PAUSE);
                self.speaker.as_ref().map_or(VIEW_EVERY, Dialect::pace)
            }
            Ok(Looked::NotYet) => FIRST_PAUSE,
            Err(error) => {
                self.doubt_connection(&error);
                self.redis_problem = Some(trouble::while_attached(&error));
                let pause = self.pause;
                self.pause = (pause * 2).min(LONGEST_PAUSE);
                pause
            }
        }
    }

    /// What is silent may be gone without a word, as behind a network that has changed. A new connection tells.
    fn doubt_connection(&mut self, error: &ObserverError) {
        if !error.is_refusal() && !error.is_about_one_key() {
            self.reader = None;
        }
    }

    async fn look_once(&mut self) -> Result<Looked, ObserverError> {
        let Some(reader) = self.connected().await? else { return Ok(Looked::NotYet) };
        let asked = (self.now)();
        let (seconds, micros): (Millis, Millis) = reader.ask(Read::Time, NOTHING).await?;
        let answered = (self.now)();
        self.offset = picture::ahead(self.offset, seconds * 1_000 + micros / 1_000, asked, answered);
        self.read_at = Some(answered);
        if self.speaker.is_none() {
            let told = detect::by_keys(&reader, &self.prefix).await?;
            self.recognise(told).await;
        }
        let now = self.moment();
        let Some(speaker) = &mut self.speaker else { return Ok(Looked::Yes) };
        let news = speaker.look(&reader, now).await?;
        self.hand_over(news.events, None).await;
        Ok(Looked::Yes)
    }

    /// `None` while a connection is on its way.
    async fn connected(&mut self) -> Result<Option<Reader>, ObserverError> {
        if let Some(reader) = &self.reader {
            return Ok(Some(reader.clone()));
        }
        let url = self.redis.clone();
        let dialling =
            self.dialling.get_or_insert_with(|| tokio::spawn(async move { Reader::connect(&url).await }));
        if !dialling.is_finished() {
            return Ok(None);
        }
        let dialled = dialling.await;
        self.dialling = None;
        let reader = dialled.map_err(|_| ObserverError::Silent("Redis"))??;
        Ok(Some(self.reader.insert(reader).clone()))
    }

    /// The moment, as the workers of the cluster see it.
    fn moment(&self) -> Millis {
        (self.now)() + self.offset
    }

    async fn hear(&mut self, together: impl Iterator<Item = Arrived>) -> Result<(), ()> {
        let mut events = Vec::new();
        let mut taken: Option<OwnedSemaphorePermit> = None;
        for mut arrived in together {
            arrived.heard.at += self.offset;
            if self.speaker.is_none() {
                let told = detect::by_message(&arrived.heard);
                self.recognise(told).await;
            }
            let Some(speaker) = &mut self.speaker else {
                self.keep_unknown(arrived);
                continue;
            };
            events.extend(speaker.hear(&arrived.heard).events);
            match &mut taken {
                Some(taken) => taken.merge(arrived.room),
                None => taken = Some(arrived.room),
            }
        }
        self.hand_over(events, taken).await;
        if self.sightings.is_closed() { Err(()) } else { Ok(()) }
    }

    /// It keeps its room, so that there is a bound to what waits to be understood.
    fn keep_unknown(&mut self, arrived: Arrived) {
        self.unknown.push_back(arrived);
        if self.unknown.len() > KEPT_UNTIL_KNOWN {
            self.unknown.pop_front();
            self.counters.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// From now on it is known whose workers they are; what was heard before is understood now.
    async fn recognise(&mut self, told: Option<ClusterDialect>) {
        let Some(dialect) = told else { return };
        let mut speaker = Speaker::of(dialect, &self.view.borrow().connection);
        let events: Vec<Event> =
            self.unknown.drain(..).flat_map(|arrived| speaker.hear(&arrived.heard).events).collect();
        self.wanted.send_replace(wishes(Some(&speaker), &self.prefix));
        self.speaker = Some(speaker);
        self.hand_over(events, None).await;
    }

    /// Waits until there is room; what comes meanwhile waits in the inbox, and what has no room there is counted.
    async fn hand_over(&mut self, mut events: Vec<Event>, mut room: Option<OwnedSemaphorePermit>) {
        let Some(dialect) = self.speaker.as_ref().map(Speaker::dialect) else { return };
        while !events.is_empty() {
            let some = match events.len() <= HANDED {
                true => std::mem::take(&mut events),
                false => events.drain(..HANDED).collect(),
            };
            let _room = if events.is_empty() { room.take() } else { None };
            if self.sightings.send(Sighting { dialect, events: some, _room }).await.is_err() {
                return;
            }
        }
    }

    /// Those who are followed by what is heard of them learn what was not.
    async fn tell_gaps(&mut self) {
        let now = self.moment();
        let is_logged = self.speaker.as_ref().is_some_and(Dialect::reads_a_log);
        for lapse in self.counters.take_lapses() {
            self.gaps.lapsed(lapse, is_logged, self.offset);
            self.listening_since = match lapse {
                Lapse::Lost { .. } => None,
                Lapse::Back { at } => Some(at + self.offset),
                Lapse::Overflowed { .. } | Lapse::StoodStill { .. } => self.listening_since,
            };
        }
        self.gaps.dropped(self.counters.dropped.load(Ordering::Relaxed), now);
        self.gaps.large(self.counters.large.load(Ordering::Relaxed), now);
        let Some(speaker) = &mut self.speaker else { return };
        speaker.listening(self.listening_since);
        let over = self.gaps.take_over(now);
        let events = over.iter().flat_map(|gap| speaker.missed(gap, now).events).collect();
        self.hand_over(events, None).await;
    }

    /// The last that is said: what goes by unseen from now on is not ours to tell, what went by until now is.
    async fn leave(mut self, mut arriving: mpsc::Receiver<Arrived>) {
        arriving.close();
        let mut together = Vec::new();
        while arriving.recv_many(&mut together, TOGETHER).await > 0 {
            if self.hear(together.drain(..)).await.is_err() {
                return;
            }
        }
        self.tell_gaps().await;
        let now = self.moment();
        let over = self.gaps.take_all(now);
        let Some(speaker) = &mut self.speaker else { return };
        let events = over.iter().flat_map(|gap| speaker.missed(gap, now).events).collect();
        self.hand_over(events, None).await;
    }

    fn find(&mut self, now: Millis) {
        let began = Instant::now();
        if began < self.find_next {
            return;
        }
        self.findings = self.speaker.as_ref().map(|speaker| speaker.findings(now)).unwrap_or_default();
        self.unlisted = stuck::list(&mut self.findings);
        self.find_next = began + FIND_EVERY.max(began.elapsed() * FIND_SHARE);
    }

    async fn weigh(&mut self) {
        let Some(reader) = self.reader.clone() else { return };
        if let Err(error) = self.walk.weigh(&reader).await {
            self.doubt_connection(&error);
            tracing::debug!(%error, "Redis does not say how it is doing");
        }
    }

    /// One step of the walk; says when the next one is.
    async fn step(&mut self) -> Duration {
        let Some(reader) = self.reader.clone() else { return FIRST_PAUSE };
        match self.walk.step(&reader, &self.prefix).await {
            Ok((keys, rest)) => {
                self.walk_problem = None;
                if self.speaker.is_none() {
                    self.recognise(detect::by_names(&keys, &self.prefix)).await;
                }
                if let Some(speaker) = &mut self.speaker {
                    speaker.found(&keys);
                    if rest.is_some() {
                        speaker.found_all();
                    }
                }
                rest.unwrap_or(STEP_EVERY)
            }
            Err(error) => {
                self.doubt_connection(&error);
                self.walk_problem = Some(trouble::while_attached(&error));
                LONGEST_PAUSE
            }
        }
    }

    fn answer(&mut self, ask: Ask) {
        // Who has asked may be gone by now.
        match ask {
            Ask::Barrier(execution, node, answer) => {
                let found = self.speaker.as_ref().and_then(|speaker| speaker.barrier(&execution, &node));
                drop(answer.send(found));
            }
            Ask::Timers(answer) => {
                drop(answer.send(self.speaker.as_ref().map(Dialect::timers).unwrap_or_default()));
            }
        }
    }

    async fn hear_of_queues(&mut self, hearing: &Hearing) {
        let now = self.moment();
        if self.speaker.is_none() {
            self.recognise(detect::by_queues(hearing, &self.prefix)).await;
        }
        self.depths.note(hearing);
        let queues = self.depths.views();
        if let Some(speaker) = &mut self.speaker {
            speaker.queues(&queues, now);
        }
    }

    /// Draws the picture anew, and shows it where it is another one.
    fn show(&mut self) {
        self.find(self.moment());
        let dropped = self.counters.dropped.load(Ordering::Relaxed);
        let large = self.counters.large.load(Ordering::Relaxed);
        let hearing = self.hearing.borrow().clone();
        // Where Redis is gone it is gone for the walk, too.
        let of_redis = self.redis_problem.clone().or_else(|| self.walk_problem.clone());
        let speaker = self.speaker.as_ref();
        let before = Arc::clone(&self.view.borrow());
        let heard_at = if hearing.asked_at > 0 { hearing.asked_at } else { before.since };
        let queues_as_of = hearing.problem.as_ref().map(|_| heard_at);
        let redis_as_of = self.redis_problem.as_ref().map(|_| self.read_at.unwrap_or(before.since));
        let unseen = speaker.and_then(|speaker| speaker.trouble(self.walk.databases()));
        let troubles: Vec<Problem> = hearing.problem.into_iter().chain(of_redis).chain(unseen).collect();
        let view = ClusterView {
            connection: before.connection.clone(),
            since: before.since,
            ended: before.ended,
            ahead: picture::told_ahead(before.ahead, self.offset),
            capabilities: before.capabilities.clone(),
            // Whoever keeps what is seen says so.
            recording: before.recording,
            forgotten: before.forgotten,
            dialect: speaker.map(Speaker::dialect),
            troubles,
            queues: self.depths.views(),
            queues_as_of,
            redis: self.walk.view(),
            redis_as_of,
            workers: speaker.map(Dialect::workers).unwrap_or_default(),
            findings: self.findings.clone(),
            unlisted: self.unlisted.clone(),
            heard: self.counters.heard.load(Ordering::Relaxed),
            dropped: dropped + large + speaker.map_or(0, Dialect::unseen),
            unread: speaker.map_or(0, Dialect::unread),
            redelivered: speaker.map_or(0, Dialect::redelivered),
            dead_letters: speaker.and_then(Dialect::dead_letters),
            gaps: self.gaps.listed(),
            passed_over: speaker.map_or(0, Dialect::passed_over),
            unreadable: speaker.map_or(0, Dialect::unreadable),
        };
        self.view.send_if_modified(|shown| {
            let changed = **shown != view;
            if changed {
                *shown = Arc::new(view);
            }
            changed
        });
    }
}

/// What is wanted of a broker; of one that may be anybody's, everything.
fn wishes(speaker: Option<&Speaker>, prefix: &str) -> Wishes {
    let (copies, names) = match speaker {
        Some(speaker) => (speaker.wants(), speaker.asks_for()),
        None => {
            let ours = cluster::Queue::ALL.map(|queue| queue.name(""));
            let theirs = rune::QUEUES.map(str::to_owned);
            let theirs = theirs.into_iter().filter(|name| !ours.contains(name));
            (EVERYTHING, ours.iter().cloned().chain(theirs).collect())
        }
    };
    Wishes { copies, queues: names.iter().map(|name| format!("{prefix}{name}")).collect() }
}
