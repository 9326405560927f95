//! A row of the log and the events in it. Most firings end in the very step they began in: then one row holds both,
//! the fact that ended it and, behind that, what it began with. Its number is that of the end, the later of the two.
//! So a row with a number of at least `seq`, the first of them, is where the event `seq` is.

use protocol::{Event, ExecutionId, Fact, Firing, Millis, NodeStarted, Payload};
use serde::{Deserialize, Serialize};

/// Events that are written as one row.
#[derive(Clone, Copy)]
pub struct Row<'e> {
    pub event: &'e Event,
    pub began: Option<&'e NodeStarted>,
}

impl<'e> Row<'e> {
    pub fn payloads(self) -> impl Iterator<Item = &'e Payload> {
        let began = self.began.into_iter().flat_map(|began| began.parameters.iter().chain(&began.input));
        self.event.fact.payloads().chain(began)
    }
}

/// What is not known of a beginning from its end: firing and moment are the same.
#[derive(Serialize, Deserialize)]
struct Beginning {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<Payload>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Payload>,
}

/// Events in their order as the rows they are written in.
pub fn rows(events: &[Event]) -> impl Iterator<Item = Row<'_>> {
    let mut rest = events;
    std::iter::from_fn(move || {
        let (first, behind) = rest.split_first()?;
        rest = behind;
        if let Some((second, behind)) = behind.split_first()
            && let Some(began) = beginning_of(first, second)
        {
            rest = behind;
            return Some(Row { event: second, began: Some(began) });
        }
        Some(Row { event: first, began: None })
    })
}

/// How the second of two events began, where the first is its beginning and both are one step.
fn beginning_of<'e>(first: &'e Event, second: &Event) -> Option<&'e NodeStarted> {
    let Fact::NodeStarted(began) = &first.fact else { return None };
    let together = (first.at, first.seq + 1) == (second.at, second.seq)
        && first.execution_id == second.execution_id
        && ended(&second.fact) == Some(&began.firing);
    together.then_some(began)
}

fn ended(fact: &Fact) -> Option<&Firing> {
    match fact {
        Fact::NodeSucceeded(done) => Some(&done.firing),
        Fact::NodeFailed(done) => Some(&done.firing),
        Fact::ExecutionStarted(_)
        | Fact::NodeStarted(_)
        | Fact::NodeParked(_)
        | Fact::AttemptFailed(_)
        | Fact::TimedOut(_)
        | Fact::Prolonged(_)
        | Fact::Intervened(_)
        | Fact::TimerFired(_)
        | Fact::Gathered(_)
        | Fact::Missed(_)
        | Fact::ExecutionEnded(_) => None,
    }
}

/// Room for the text of most rows.
const USUAL_BYTES: usize = 512;

/// The text of a row.
pub fn written(fact: &Fact, began: Option<&NodeStarted>) -> Result<String, serde_json::Error> {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, fact)?;
    if let Some(NodeStarted { parameters, input, .. }) = began {
        text.push(b'\n');
        serde_json::to_writer(
            &mut text,
            &Beginning { parameters: parameters.clone(), input: input.clone() },
        )?;
    }
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// The events in a row, in their order.
pub fn read(
    execution: &ExecutionId,
    seq: u64,
    at: Millis,
    body: &str,
) -> Result<impl Iterator<Item = Event> + use<>, serde_json::Error> {
    let mut text = serde_json::Deserializer::from_str(body);
    let fact = Fact::deserialize(&mut text)?;
    let mut began = None;
    if let Some(firing) = ended(&fact)
        && text.end().is_err()
    {
        let Beginning { parameters, input } = Beginning::deserialize(&mut text)?;
        let started = Fact::NodeStarted(NodeStarted { firing: firing.clone(), parameters, input });
        let seq = seq.saturating_sub(1);
        began = Some(Event { execution_id: execution.clone(), seq, at, fact: started });
    }
    text.end()?;
    let last = Event { execution_id: execution.clone(), seq, at, fact };
    Ok(began.into_iter().chain(std::iter::once(last)))
}

#[cfg(test)]
mod tests {
    use protocol::{ErrorCode, NodeError, NodeFailed, NodeSucceeded};

    use super::*;

    fn firing(message: &str) -> Firing {
        Firing { message_id: message.into(), node_id: "n".into(), lineage: Default::default(), attempt: 1 }
    }

    fn event(seq: u64, at: Millis, fact: Fact) -> Event {
        Event { execution_id: "e".into(), seq, at, fact }
    }

    fn began(message: &str, parameters: Option<&str>) -> Fact {
        let parameters = parameters.map(|text| Payload::from_text(text.to_owned()).unwrap());
        Fact::NodeStarted(NodeStarted { firing: firing(message), parameters, input: None })
    }

    fn succeeded(message: &str) -> Fact {
        Fact::NodeSucceeded(NodeSucceeded {
            firing: firing(message),
            duration: 0,
            output: Payload::from_text("{\n \"text\": \"}\\n{\"\n}".to_owned()).unwrap(),
            items: None,
            taken: vec!["1".into()],
            echo: Default::default(),
        })
    }

    fn failed(message: &str) -> Fact {
        Fact::NodeFailed(NodeFailed {
            firing: firing(message),
            duration: 0,
            error: NodeError::new(ErrorCode::SimulatedFailure, "no"),
            taken: Vec::new(),
            consequence: Default::default(),
            echo: Default::default(),
        })
    }

    /// The numbers of the rows that events become, and the events that come back.
    fn check(events: Vec<Event>, numbers: &[u64]) {
        let rows: Vec<Row<'_>> = rows(&events).collect();
        assert_eq!(rows.iter().map(|row| row.event.seq).collect::<Vec<_>>(), numbers);
        let back = rows.iter().flat_map(|row| {
            let body = written(&row.event.fact, row.began).unwrap();
            read(&row.event.execution_id, row.event.seq, row.event.at, &body).unwrap().collect::<Vec<_>>()
        });
        assert_eq!(back.collect::<Vec<_>>(), events);
    }

    #[test]
    fn what_begins_and_ends_in_one_step_is_one_row() {
        let parameters = Some("{ \"a\": [1,\n2] }");
        check(vec![event(1, 5, began("a", parameters)), event(2, 5, succeeded("a"))], &[2]);
        check(vec![event(1, 5, began("a", None)), event(2, 5, failed("a"))], &[2]);
    }

    #[test]
    fn everything_else_has_a_row_of_its_own() {
        // Later, of another message, in another order, or with something in between.
        check(vec![event(1, 5, began("a", None)), event(2, 6, succeeded("a"))], &[1, 2]);
        check(vec![event(1, 5, began("a", None)), event(2, 5, succeeded("b"))], &[1, 2]);
        check(vec![event(1, 5, succeeded("a")), event(2, 5, began("a", None))], &[1, 2]);
        check(
            vec![
                event(1, 5, began("a", None)),
                event(2, 5, began("b", None)),
                event(3, 5, succeeded("b")),
                event(4, 5, succeeded("a")),
            ],
            &[1, 3, 4],
        );
        check(vec![event(1, 5, began("a", None)), event(3, 5, succeeded("a"))], &[1, 3]);
    }

    #[test]
    fn what_is_no_row_is_refused() {
        let id = ExecutionId::from("e");
        let body = written(&succeeded("a"), None).unwrap();
        for behind in [" x", "\n{}{}", "\n7", "\n{\"parameters\":"] {
            assert!(read(&id, 2, 0, &format!("{body}{behind}")).is_err(), "{behind}");
        }
        let start = written(&began("a", None), None).unwrap();
        assert!(read(&id, 2, 0, &format!("{start}\n{{}}")).is_err(), "only an end has a beginning");
    }
}
