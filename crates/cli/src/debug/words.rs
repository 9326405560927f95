//! The commands of the debugger, as they are typed.

use protocol::{BreakPlace, Breakpoint, LineageKey, Mock, MockAnswer, NodeId};
use serde_json::Value;

use crate::{edit::Assignment, outcome::CommandError};

#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    Break(Box<Breakpoint>),
    Breakpoints,
    Delete(usize),
    Run {
        input: Option<Value>,
        until: Option<NodeId>,
    },
    Mock(Box<Mock>),
    Mocks,
    Unmock(usize),
    Stale,
    Forks,
    Step,
    Over,
    Barrier,
    To(NodeId),
    Continue,
    Pause(Option<NodeId>),
    Resume(NodeId),
    Held,
    Select(usize),
    Inspect(Option<(NodeId, Option<String>)>),
    Set(Assignment),
    Drop,
    Duplicate,
    Timers,
    Warp(Option<(NodeId, String)>),
    Wait,
    Events(Option<NodeId>),
    Back(u64),
    Forward(u64),
    Fork {
        edit: Option<Assignment>,
        run: Vec<NodeId>,
    },
    Yes,
    Help,
    /// The debugger ends, and what is held stays so.
    Leave,
    Quit,
}

pub const HELP: &str = "\
break NODE [before|after] [hits N] [item N] [if EXPRESSION | log TEXT]
break edge EDGE | break error [NODE] | break barrier [NODE]     with the same conditions
breakpoints, delete N
run [until NODE] [INPUT]  start, up to the first breakpoint; only that node and what leads to it
pin NODE [KEY] = JSON, mock NODE [KEY] error TEXT, mock NODE [KEY] latency MILLISECONDS
mocks, unmock N       what is answered without doing the work; work again
stale                 nodes whose values are older than a pin or mock that leads to them
step                  the message does its work; what follows from it is held at its next node
over                  the same, but a whole fan-out is one step
barrier               run this item to where its fan-out is gathered
to NODE               run until a message reaches this node
continue              run up to the next breakpoint
pause [NODE], resume NODE
held, select N        what is held, and which of it the next command is about
inspect [NODE [KEY]]  what is held, or what a node has seen and put out
set PATH = JSON       $item.total = 5, parameters.url = \"…\", output.ok = true
drop, duplicate       take the message away; deliver it twice
timers, warp [NODE [KEY]], wait     fire the next timer, or this one, now; wait until something fires
events [NODE]         the recording, with the number of each event
back [N], forward [N] look at the execution as it was
fork [set PATH = JSON] [run NODE…]  go on from where you look, in a new execution
yes                   start the fork although it asks the outside
forks                 where this execution comes from, and what comes from it
leave                 end the debugger; what is held is held again with --resume
help, quit";

impl Word {
    /// `None` for an empty line or a remark.
    pub fn parse(line: &str) -> Result<Option<Self>, CommandError> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let words: Vec<&str> = rest.split_whitespace().collect();
        let node = || words.first().map(|node| NodeId::from(*node));
        Ok(Some(match name {
            "break" | "b" => Self::Break(Box::new(breakpoint(rest)?)),
            "breakpoints" => Self::Breakpoints,
            "delete" => Self::Delete(number(rest)?),
            "run" | "r" => run(rest)?,
            "pin" => Self::Mock(Box::new(pin(rest)?)),
            "mock" => Self::Mock(Box::new(mock(rest)?)),
            "mocks" => Self::Mocks,
            "unmock" | "unpin" => Self::Unmock(number(rest)?),
            "stale" => Self::Stale,
            "forks" => Self::Forks,
            "step" | "s" => Self::Step,
            "over" | "o" => Self::Over,
            "barrier" => Self::Barrier,
            "to" => Self::To(node().ok_or_else(|| missing("to NODE"))?),
            "continue" | "c" => Self::Continue,
            "pause" => Self::Pause(node()),
            "resume" => Self::Resume(node().ok_or_else(|| missing("resume NODE"))?),
            "held" => Self::Held,
            "select" => Self::Select(number(rest)?),
            "inspect" | "i" => {
                Self::Inspect(node().map(|node| (node, words.get(1).map(|key| (*key).to_owned()))))
            }
            "set" => Self::Set(Assignment::parse(rest)?),
            "drop" => Self::Drop,
            "duplicate" => Self::Duplicate,
            "timers" => Self::Timers,
            "warp" => Self::Warp(node().map(|node| (node, words.get(1).copied().unwrap_or("").to_owned()))),
            "wait" => Self::Wait,
            "events" => Self::Events(node()),
            "back" => Self::Back(count(rest)?),
            "forward" => Self::Forward(count(rest)?),
            "fork" => fork(rest)?,
            "yes" => Self::Yes,
            "help" | "h" | "?" => Self::Help,
            "leave" => Self::Leave,
            "quit" | "q" | "exit" => Self::Quit,
            other => return Err(CommandError::usage(format!("there is no command {other:?}"), "try help")),
        }))
    }
}

fn missing(usage: &str) -> CommandError {
    CommandError::usage("something is missing", format!("write {usage}"))
}

fn number(text: &str) -> Result<usize, CommandError> {
    text.parse().map_err(|_| CommandError::usage(format!("{text:?} is no number"), "count from 1"))
}

fn count(text: &str) -> Result<u64, CommandError> {
    if text.is_empty() { Ok(1) } else { number(text).map(|number| number as u64) }
}

fn json(text: &str) -> Result<Value, CommandError> {
    serde_json::from_str(text).map_err(|error| {
        CommandError::usage(format!("{text:?} is not JSON: {error}"), "for example {\"n\": 1}")
    })
}

fn run(text: &str) -> Result<Word, CommandError> {
    let (until, input) = match text.strip_prefix("until ").map(str::trim_start) {
        Some(rest) => {
            let (node, input) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (Some(NodeId::from(node)), input.trim())
        }
        None => (None, text),
    };
    let input = if input.is_empty() { None } else { Some(json(input)?) };
    Ok(Word::Run { input, until })
}

fn pin(text: &str) -> Result<Mock, CommandError> {
    let usage = || missing("pin NODE [KEY] = JSON");
    let (place, value) = text.split_once(" = ").ok_or_else(usage)?;
    let mut words = place.split_whitespace();
    let node_id = NodeId::from(words.next().ok_or_else(usage)?);
    let key = words.next().map(LineageKey::from);
    match words.next() {
        None => Ok(Mock { node_id, key, answer: MockAnswer::Output { value: json(value.trim())? } }),
        Some(_) => Err(usage()),
    }
}

fn mock(text: &str) -> Result<Mock, CommandError> {
    let usage = || missing("mock NODE [KEY] error TEXT, or mock NODE [KEY] latency MILLISECONDS");
    let answer = |place: &str, answer: MockAnswer| {
        let mut words = place.split_whitespace();
        let node_id = NodeId::from(words.next().ok_or_else(usage)?);
        Ok(Mock { node_id, key: words.next().map(LineageKey::from), answer })
    };
    match (text.split_once(" error "), text.split_once(" latency ")) {
        (Some((place, message)), _) => {
            answer(place, MockAnswer::Error { message: message.trim().to_owned() })
        }
        (None, Some((place, millis))) => {
            let millis = millis.trim().parse().map_err(|_| usage())?;
            answer(place, MockAnswer::Latency { millis })
        }
        (None, None) => Err(usage()),
    }
}

fn fork(text: &str) -> Result<Word, CommandError> {
    let (before, run) =
        match text.strip_prefix("run ").map(|run| ("", run)).or_else(|| text.rsplit_once(" run ")) {
            Some((before, run)) => (before.trim(), run.split_whitespace().map(NodeId::from).collect()),
            None => (text, Vec::new()),
        };
    let edit = match before.strip_prefix("set ") {
        Some(assignment) => Some(Assignment::parse(assignment)?),
        None if before.is_empty() => None,
        None => return Err(missing("fork [set PATH = JSON] [run NODE…]")),
    };
    Ok(Word::Fork { edit, run })
}

fn breakpoint(text: &str) -> Result<Breakpoint, CommandError> {
    const USAGE: &str = "break NODE [before|after] [hits N] [item N] [if EXPRESSION | log TEXT]";
    let (text, trailing) = trailing_item(text);
    let (head, condition) = split_at_word(text, "if");
    let (head, log) = split_at_word(head, "log");
    let mut words = head.split_whitespace().peekable();
    let first = words.next().ok_or_else(|| missing(USAGE))?;
    let is_name = |word: &&str| !["item", "hits", "key", "before", "after"].contains(word);
    let place = match first {
        "edge" => {
            BreakPlace::Edge { edge_id: words.next().ok_or_else(|| missing("break edge EDGE"))?.into() }
        }
        "error" => BreakPlace::Error { node_id: words.next_if(is_name).map(NodeId::from) },
        "barrier" => BreakPlace::Barrier { node_id: words.next_if(is_name).map(NodeId::from) },
        node => match words.next_if(|word| matches!(*word, "before" | "after")) {
            Some("after") => BreakPlace::After { node_id: node.into() },
            Some(_) | None => BreakPlace::Before { node_id: node.into() },
        },
    };
    let mut breakpoint = Breakpoint::at(place);
    breakpoint.condition = condition.map(str::to_owned);
    breakpoint.log = log.map(str::to_owned);
    breakpoint.item = trailing;
    while let Some(word) = words.next() {
        let value = words.by_ref().find(|word| *word != "==").ok_or_else(|| missing(USAGE))?;
        match word {
            "item" => breakpoint.item = Some(index(value)?),
            "hits" => breakpoint.hits = Some(index(value)?),
            "key" => breakpoint.key = Some(LineageKey::from(value)),
            other => return Err(CommandError::usage(format!("{other:?} is not understood here"), USAGE)),
        }
    }
    Ok(breakpoint)
}

fn index(text: &str) -> Result<u32, CommandError> {
    text.parse()
        .map_err(|_| CommandError::usage(format!("{text:?} is no number"), "items count from 0, hits from 1"))
}

/// `… item 7` and `… item == 7` may stand behind a condition too.
fn trailing_item(text: &str) -> (&str, Option<u32>) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let index = match words.as_slice() {
        [_, .., "item", "==", index] | [_, .., "item", index] => index.parse().ok(),
        _ => None,
    };
    match index.and_then(|index| Some((text.rfind(" item ")?, index))) {
        Some((end, index)) => (text[..end].trim_end(), Some(index)),
        None => (text, None),
    }
}

fn split_at_word<'t>(text: &'t str, word: &str) -> (&'t str, Option<&'t str>) {
    match text.split_once(&format!(" {word} ")) {
        Some((before, after)) => (before.trim_end(), Some(after.trim())),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Breakpoint {
        match Word::parse(text) {
            Ok(Some(Word::Break(breakpoint))) => *breakpoint,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn breakpoints_are_read_as_they_are_said() {
        let node_id: NodeId = "work".into();
        assert_eq!(read("break work").place, BreakPlace::Before { node_id: node_id.clone() });
        assert_eq!(read("b work after").place, BreakPlace::After { node_id: node_id.clone() });
        assert_eq!(read("break error").place, BreakPlace::Error { node_id: None });
        assert_eq!(read("break barrier work hits 2").hits, Some(2));
        for text in ["break work item 7", "break work before item == 7", "break work if $item.n > 3 item 7"] {
            assert_eq!(read(text).item, Some(7), "{text}");
        }
        assert_eq!(read("break work if $item.n > 3 item 7").condition.as_deref(), Some("$item.n > 3"));
        assert_eq!(
            read("break work item 2 if $item.item == 1").condition.as_deref(),
            Some("$item.item == 1")
        );
        assert_eq!(read("break work log n is $item.n").log.as_deref(), Some("n is $item.n"));
        assert!(Word::parse("break").is_err() && Word::parse("break work sometimes 3").is_err());
        assert!(Word::parse("leap").is_err() && matches!(Word::parse("  # nothing"), Ok(None)));
    }

    #[test]
    fn answers_may_be_given_for_a_node_or_for_an_item() {
        let read = |text: &str| match Word::parse(text) {
            Ok(Some(Word::Mock(mock))) => *mock,
            other => panic!("{text}: {other:?}"),
        };
        let pinned = read("pin fetch each=7 = {\"a = b\": 1}");
        assert_eq!((pinned.node_id.as_str(), pinned.key), ("fetch", Some(LineageKey::from("each=7"))));
        assert_eq!(pinned.answer, MockAnswer::Output { value: serde_json::json!({"a = b": 1}) });
        let failing = read("mock fetch error the server is away");
        assert_eq!(failing.answer, MockAnswer::Error { message: "the server is away".to_owned() });
        assert_eq!(read("mock fetch each=1 latency 250").answer, MockAnswer::Latency { millis: 250 });
        for wrong in ["pin fetch", "pin = 1", "pin a b c = 1", "mock fetch", "mock fetch latency soon"] {
            assert!(Word::parse(wrong).is_err(), "{wrong}");
        }
        let Ok(Some(Word::Run { input, until })) = Word::parse("run until price {\"n\": 1}") else {
            panic!("no run");
        };
        assert_eq!((until, input), (Some("price".into()), Some(serde_json::json!({"n": 1}))));
    }

    #[test]
    fn a_fork_may_change_and_run() {
        let Ok(Some(Word::Fork { edit, run })) = Word::parse("fork set $item.n = 1 run fetch mail") else {
            panic!("no fork");
        };
        assert_eq!((edit.map(|edit| edit.root), run.len()), (Some("$item".to_owned()), 2));
        assert!(matches!(Word::parse("fork"), Ok(Some(Word::Fork { edit: None, .. }))));
        assert!(Word::parse("fork now").is_err());
    }
}
