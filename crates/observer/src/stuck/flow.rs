//! Ends that are none, messages that nobody takes, and items that lag behind.

use protocol::{Finding, Millis, Rule, iso8601};

use super::{At, Said, counted, few, lasting};

/// How long a message may wait in the hands of a worker that does something else.
pub const PATIENCE: Millis = 120_000;
/// A worker takes so many messages at once, and works on one after the other.
const TAKEN_AT_ONCE: Millis = 10;
/// So many nodes have begun since it was sent: its queue has moved on without it.
pub const OVERTAKEN: u64 = 200;
/// An item is slow when it takes so many times as long as its peers, and at least this long.
const SLOWER: i64 = 5;
pub const SLOW: Millis = 10_000;
/// What runs for so long is told of, whatever is usual.
pub const VERY_LONG: Millis = 1_800_000;
/// Peers that it takes to tell what is usual.
const PEERS: usize = 5;

/// What was said about the end of an execution.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    pub at: At,
    /// Each with its moment, in the order they were heard.
    pub said: Vec<(String, Millis)>,
    /// How many, also those that were not kept one by one.
    pub count: u32,
    /// What was under way when the first was heard.
    pub meanwhile: Vec<String>,
    /// Nodes that have begun behind the first, and others that have ended behind it.
    pub begun_after: u32,
    pub ended_after: u32,
}

impl Completions {
    fn evidence(&self) -> Vec<String> {
        self.said.iter().take(10).map(|(word, at)| format!("{word} at {}", iso8601(*at))).collect()
    }
}

pub fn several_completions(completions: &Completions) -> Option<Finding> {
    let Completions { at, said, count, .. } = completions;
    if *count < 2 {
        return None;
    }
    let (first, last) = (said.first()?, said.last()?);
    let last_word = match first.0 == last.0 {
        true => format!("all say {}", first.0),
        false => format!("the first says {}, the last {}, and the last one counts there", first.0, last.0),
    };
    let sentence = format!("The end was announced {count} times: {last_word}.");
    let advice = "Read the state of this execution here, not in the cluster's list: every leaf announces an end \
                  there. One join behind all branches makes it one.";
    let said = Said { sentence, evidence: completions.evidence(), advice };
    Some(at.finding(Rule::SeveralCompletions, first.1, said))
}

pub fn early_completion(completions: &Completions) -> Option<Finding> {
    let Completions { at, said, meanwhile, begun_after, ended_after, .. } = completions;
    let first = said.first()?;
    let after = [(*begun_after, "began", "start of a node"), (*ended_after, "ended", "end of a node")];
    let after = after.into_iter().filter(|(many, ..)| *many > 0);
    let went_on: Vec<String> = match meanwhile.is_empty() {
        true => after
            .clone()
            .map(|(many, did, _)| format!("{} {did} behind it", counted(many as usize, "node")))
            .collect(),
        false => meanwhile.clone(),
    };
    if went_on.is_empty() {
        return None;
    }
    let sentence =
        format!("The end ({}) was announced while other branches went on: {}.", first.0, few(&went_on));
    let mut evidence = vec![format!("{} at {}", first.0, iso8601(first.1))];
    evidence.extend(meanwhile.iter().take(20).cloned());
    evidence.extend(after.map(|(many, _, what)| format!("{} after it", counted(many as usize, what))));
    let advice = "Do not take the announced end for the end: what depends on it may start too early. Wait until \
                  nothing is under way here.";
    Some(at.finding(Rule::EarlyCompletion, first.1, Said { sentence, evidence, advice }))
}

/// An execution of which nothing more is heard, although everything is.
#[derive(Clone, Debug, Default)]
pub struct Silence {
    pub at: At,
    /// When something was heard last.
    pub since: Millis,
    pub is_under_way: bool,
    pub is_announced: bool,
    /// Where its ways have ended, for people.
    pub ends: Vec<String>,
}

/// Nothing is under way and nobody has said that it is over: it will be taken for one that runs, for ever.
pub fn no_end(silence: &Silence, now: Millis) -> Option<Finding> {
    let lasts = now - silence.since;
    if silence.is_under_way || silence.is_announced || lasts < PATIENCE {
        return None;
    }
    let why = match silence.ends.is_empty() {
        true => String::new(),
        false => format!(": {}", few(&silence.ends)),
    };
    let sentence = format!("Nothing is under way for {}, and no end was announced{why}.", lasting(lasts));
    let mut evidence = vec![format!("the last was heard at {}", iso8601(silence.since))];
    evidence.extend(silence.ends.iter().take(20).cloned());
    let advice = "Take it for ended: the cluster will list it as one that runs, for ever. To keep it from happening: \
                  put a node behind one that ignores its errors, give every choice a way out, and lead no circle \
                  through a join that takes the first.";
    Some(silence.at.finding(Rule::NoEnd, silence.since, Said { sentence, evidence, advice }))
}

/// A message that was sent and not taken up.
#[derive(Clone, Debug, Default)]
pub struct Undelivered {
    pub at: At,
    pub since: Millis,
    /// When it was no longer in its queue, at the latest, where it is known how long it lay there, and whoever may have
    /// it could begin with it.
    pub left_queue: Millis,
    pub queue: String,
    /// Messages in its queue and consumers of it, where that is known.
    pub depth: Option<(u64, u32)>,
    /// Everything that was in its queue with it has begun, and more.
    pub is_passed: bool,
    /// Nodes that have begun since, in the whole cluster.
    pub overtaken: u64,
    /// Since it has left its queue no worker had anything else in hand for a while, but what hangs.
    pub were_idle: bool,
    /// What it may wait behind, in the hands of a worker that does not come to it.
    pub behind: Option<Hanging>,
    /// The longest that a node took lately, in the whole cluster, but for what hangs.
    pub longest: Millis,
    pub has_dead_letters: bool,
}

/// A node that runs for so long that it may never end, the first of some.
#[derive(Clone, Debug)]
pub struct Hanging {
    pub at: At,
    pub since: Millis,
    pub others: usize,
}

impl Hanging {
    /// Such as "Fetch, which runs for 40 min".
    fn words(&self, now: Millis) -> String {
        let others = match self.others {
            0 => String::new(),
            others => format!(", or behind one of {}", counted(others, "other")),
        };
        let Self { at, since, .. } = self;
        format!("{}{}, which runs for {}{others}", at.name, at.where_inside(), lasting(now - since))
    }

    fn evidence(&self) -> String {
        let execution = self.at.execution_id.as_ref().map(|id| format!(" of {id}")).unwrap_or_default();
        format!(
            "{}{execution} runs since {}; whoever has it in hand may have taken {} more and comes to none of them",
            self.at.name,
            iso8601(self.since),
            TAKEN_AT_ONCE - 1
        )
    }
}

/// A worker that cannot read a message refuses it, and without a dead-letter exchange it is gone.
pub fn discarded(message: &Undelivered, now: Millis) -> Option<Finding> {
    let (waits, held) = (now - message.since, now - message.left_queue);
    let is_taken = matches!(message.depth, Some((0, 1..)));
    let is_passed = message.is_passed && !matches!(message.depth, Some((_, 0)));
    // Else it may wait for its turn with a worker that has taken it.
    let had_its_turn = message.were_idle || held >= PATIENCE + TAKEN_AT_ONCE * message.longest;
    if message.has_dead_letters || held < PATIENCE || !(is_taken || is_passed) || !had_its_turn {
        return None;
    }
    let at = &message.at;
    let why = match &message.behind {
        None => "it was refused, and is gone unless a policy keeps such messages".to_owned(),
        Some(hanging) => format!("it was refused and is gone, or it waits behind {}", hanging.words(now)),
    };
    let sentence = format!(
        "The message to {}{} was sent {} ago, is no longer in its queue, and nobody has begun with it: {why}.",
        at.name,
        at.where_inside(),
        lasting(waits)
    );
    let mut evidence = vec![format!(
        "Rune declares {} without a dead-letter exchange; a policy may have added one",
        message.queue
    )];
    if let Some((messages, consumers)) = message.depth {
        evidence.push(format!("{messages} messages and {} there", counted(consumers as usize, "consumer")));
    }
    evidence.push(format!("{} since", counted(message.overtaken as usize, "start of a node")));
    if message.is_passed {
        evidence.push("everything that was in its queue with it has begun, and more".to_owned());
    }
    evidence.push(match (message.were_idle, &message.behind) {
        (true, None) => "no node ran for a while since, so no worker has it in hand".to_owned(),
        (true, Some(_)) => "nothing else ran for a while since".to_owned(),
        (false, _) => format!("nodes took {} at the most lately", lasting(message.longest)),
    });
    evidence.extend(message.behind.as_ref().map(Hanging::evidence));
    let advice = match &message.behind {
        None => {
            "Look into the log of the workers for a message that could not be decoded, such as a position that is no \
             list. Give the queue a dead-letter exchange by a policy, and start the execution again."
        }
        Some(_) => {
            "See whether a worker still does what runs for so long, and restart it where it hangs: what it has in hand \
             is delivered again. Where nobody begins with the message then, it is gone: look into the log of the \
             workers for one that could not be decoded, and start the execution again."
        }
    };
    Some(at.finding(Rule::Discarded, message.since, Said { sentence, evidence, advice }))
}

/// Something that is under way at a node, and how long others took there.
#[derive(Clone, Debug, Default)]
pub struct Item {
    pub at: At,
    pub since: Millis,
    pub peers: Vec<Millis>,
}

pub fn slow_item(item: &Item, now: Millis) -> Option<Finding> {
    let mut peers = item.peers.clone();
    peers.sort_unstable();
    let usual = *peers.get(peers.len() / 2).filter(|_| peers.len() >= PEERS)?;
    let takes = now - item.since;
    if takes < SLOW || takes < SLOWER * usual {
        return None;
    }
    let at = &item.at;
    let sentence = format!(
        "{}{} runs for {}, where others took {}.",
        at.name,
        at.where_inside(),
        lasting(takes),
        lasting(usual)
    );
    let evidence = vec![
        format!("{} of the same node, half of them within {}", counted(peers.len(), "item"), lasting(usual)),
        format!("it began at {}", iso8601(item.since)),
    ];
    let advice = "Look at what it asks for and of whom: the same call for another item is fast. A timeout on the \
                  node keeps one item from holding up all others.";
    Some(at.finding(Rule::SlowItem, item.since, Said { sentence, evidence, advice }))
}

/// The same where nobody knows what is usual: nothing was heard of it for very long, although everything is.
pub fn very_long(item: &Item, now: Millis) -> Option<Finding> {
    let Item { at, since, .. } = item;
    let takes = now - since;
    if takes < VERY_LONG {
        return None;
    }
    let sentence = format!(
        "{}{} runs for {}, and nothing was heard of it since it began.",
        at.name,
        at.where_inside(),
        lasting(takes)
    );
    let evidence = vec![format!("it began at {}", iso8601(*since))];
    let advice = "See whether a worker still does it, and restart the one that hangs: its message is delivered again. Where \
                  none does, look into the log of the broker for a message that was too large: it takes 16 MiB at the \
                  most unless told otherwise, and a node whose result is larger is never heard of again.";
    Some(at.finding(Rule::SlowItem, *since, Said { sentence, evidence, advice }))
}
