//! What a log says: what came out of every firing, what chance and time have decided, and how it ended. What can be
//! seen to be wrong in the log alone is found here.

use std::collections::{BTreeMap, BTreeSet};

use engine::Plan;
use protocol::{
    Consequence, ErrorCode, Event, ExecutionEnded, ExecutionStatus, Fact, Firing, NodeError, NodeParked,
    Skipped, TimedOut,
};
use serde_json::{Value, json};

use super::{
    Failure, Kind, Place, fail,
    oracle::{Decisions, Expected, Meaning},
};

pub struct Log<'p> {
    plan: &'p Plan,
    pub meaning: Meaning,
    pub decisions: Decisions,
    /// The node that ended the execution by failing.
    halted_by: Option<(Place, ErrorCode)>,
    ended: Option<ExecutionEnded>,
    /// Rests by message, so that none is told twice.
    rests: BTreeMap<String, Place>,
    /// What was said to be skipped.
    skipped: BTreeSet<Place>,
}

/// Reads a log from its first event to its last.
pub fn read<'p>(plan: &'p Plan, events: &[Event]) -> Result<Log<'p>, Failure> {
    let mut log = Log {
        plan,
        meaning: Meaning::new(),
        decisions: Decisions::default(),
        halted_by: None,
        ended: None,
        rests: BTreeMap::new(),
        skipped: BTreeSet::new(),
    };
    let mut finished = BTreeSet::new();
    for (event, seq) in events.iter().zip(1..) {
        log.take_in(event)?;
        if let Fact::NodeSucceeded(protocol::NodeSucceeded { firing, .. })
        | Fact::NodeFailed(protocol::NodeFailed { firing, .. }) = &event.fact
            && !finished.insert(&firing.message_id)
        {
            return fail(Kind::Meaning, format!("{} finished twice", firing.node_id));
        }
        if event.seq != seq {
            return fail(Kind::Fold, format!("event {} stands where {seq} should", event.seq));
        }
    }
    log.meaning.values_mut().for_each(|firings| firings.sort_by_key(Value::to_string));
    Ok(log)
}

impl Log<'_> {
    fn take_in(&mut self, event: &Event) -> Result<(), Failure> {
        if self.ended.is_some() {
            return fail(Kind::End, format!("{:?} after the end", event.fact));
        }
        match &event.fact {
            Fact::ExecutionStarted(_) | Fact::NodeStarted(_) | Fact::AttemptFailed(_) => Ok(()),
            Fact::NodeParked(parked) => self.rest(event, parked),
            Fact::NodeSucceeded(done) => {
                self.skip(&done.firing, &done.echo.skipped)?;
                let items = done.items.as_ref().map(|items| items.value().as_array().map_or(0, Vec::len));
                self.arrive(&done.firing, &done.taken, items.unwrap_or(0));
                self.put_out(&done.firing, short_errors(done.output.value().clone()), None)
            }
            Fact::NodeFailed(done) => {
                self.skip(&done.firing, &done.echo.skipped)?;
                self.arrive(&done.firing, &done.taken, 0);
                let place = self.place(&done.firing);
                if done.consequence == Consequence::Halt {
                    self.halted_by = Some((place, done.error.code));
                }
                self.put_out(&done.firing, short_error(&done.error), Some(&done.error))
            }
            Fact::TimedOut(late) => self.give_up(late),
            Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_) => fail(Kind::End, "nobody intervenes in a storm".to_owned()),
            Fact::ExecutionEnded(ended) => {
                self.ended = Some(ended.clone());
                Ok(())
            }
        }
    }

    fn place(&self, firing: &Firing) -> Place {
        let node = self.plan.node(&firing.node_id).expect("a node of this plan");
        (node, firing.lineage.steps().iter().map(|step| step.index).collect())
    }

    /// What was said to be skipped does not run at that key or inside of it, and is not said to be skipped again.
    fn skip(&mut self, firing: &Firing, skipped: &[Skipped]) -> Result<(), Failure> {
        let (node, key) = self.place(firing);
        if (0..=key.len()).any(|depth| self.skipped.contains(&(node, key[..depth].to_vec()))) {
            return fail(Kind::Skipped, format!("{} ran at {key:?} after all", firing.node_id));
        }
        for Skipped { node_id, lineage } in skipped {
            let node = self.plan.node(node_id).expect("a node of this plan");
            let key = lineage.steps().iter().map(|step| step.index).collect();
            if !self.skipped.insert((node, key)) {
                return fail(Kind::Skipped, format!("{node_id} is skipped twice at {lineage:?}"));
            }
        }
        Ok(())
    }

    fn rest(&mut self, event: &Event, parked: &NodeParked) -> Result<(), Failure> {
        let place = self.place(&parked.firing);
        let id = parked.firing.message_id.to_string();
        if self.rests.insert(id.clone(), place.clone()).is_some() {
            return fail(Kind::Timer, format!("{} rests twice", parked.firing.node_id));
        }
        let parameters = &self.plan.nodes[place.0].source.parameters;
        let due = match (parameters.get("date_time"), parameters.get("amount")) {
            (Some(moment), _) => moment.as_i64(),
            (None, amount) => amount.and_then(Value::as_f64).map(|seconds| event.at + (seconds * 1e3) as i64),
        };
        if due != Some(parked.due) {
            return fail(Kind::Timer, format!("{} rests until {}", parked.firing.node_id, parked.due));
        }
        self.decisions.rests.entry(place).or_default().push((parked.due, id));
        Ok(())
    }

    /// The first value on an edge to a race decides it.
    fn arrive(&mut self, firing: &Firing, taken: &[protocol::EdgeId], items: usize) {
        let (node, key) = self.place(firing);
        for edge in taken.iter().filter_map(|id| self.plan.edge_of(node, id)) {
            let to = self.plan.edges[edge].to;
            let parameters = &self.plan.nodes[to].source.parameters;
            if parameters.get("wait_mode") != Some(&json!("wait_for_any")) {
                continue;
            }
            let of_items = self.plan.nodes[node].source.kind == "split" && items > 0;
            let keys: Vec<Vec<u32>> = match of_items {
                true => (0..items as u32).map(|index| [key.as_slice(), &[index]].concat()).collect(),
                false => vec![key.clone()],
            };
            for key in keys {
                let place = (to, key);
                if !self.decisions.gave_up.contains(&place) {
                    self.decisions.winners.entry(place).or_insert(edge);
                }
            }
        }
    }

    fn give_up(&mut self, late: &TimedOut) -> Result<(), Failure> {
        let node = self.plan.node(&late.node_id).expect("a node of this plan");
        let place: Place = (node, late.lineage.steps().iter().map(|step| step.index).collect());
        if self.meaning.contains_key(&place) || self.decisions.winners.contains_key(&place) {
            return fail(Kind::GaveUp, format!("{} gives up although it has fired", late.node_id));
        }
        match self.decisions.gave_up.insert(place) {
            true => Ok(()),
            false => fail(Kind::GaveUp, format!("{} gives up twice", late.node_id)),
        }
    }

    fn put_out(&mut self, firing: &Firing, output: Value, error: Option<&NodeError>) -> Result<(), Failure> {
        let place = self.place(firing);
        let late = error.is_some_and(|error| error.code == ErrorCode::TimeoutExceeded);
        if late != self.decisions.gave_up.contains(&place) {
            return fail(Kind::GaveUp, format!("{} fires, or gives up, but not both", firing.node_id));
        }
        if let Some(details) = error.filter(|_| late).and_then(|error| error.details.as_ref())
            && details["arrived"].as_u64() >= details["expected"].as_u64()
        {
            return fail(Kind::GaveUp, format!("{} gives up with everything it needs", firing.node_id));
        }
        self.meaning.entry(place).or_default().push(output);
        Ok(())
    }

    /// Holds what came out against what had to.
    pub fn compare(&self, expected: &Expected) -> Result<(), Failure> {
        let Some(ended) = &self.ended else { return fail(Kind::End, "the log has no end") };
        let halted = self.halted_by.as_ref();
        let status = match halted {
            None => ExecutionStatus::Completed,
            Some((_, code)) if code.is_breakdown() => ExecutionStatus::Failed,
            Some(_) => ExecutionStatus::Halted,
        };
        if ended.status != status {
            return fail(Kind::End, format!("it ended as {:?} and not as {status:?}", ended.status));
        }
        let complete = halted.is_none();
        let differences = self.differences(&expected.meaning, complete);
        if !differences.is_empty() {
            return fail(Kind::Meaning, format!("{differences:#?}"));
        }
        match halted {
            Some((place, _)) if !expected.halts.contains(place) => {
                fail(Kind::End, format!("{} halted it", self.plan.nodes[place.0].id))
            }
            None if !expected.halts.is_empty() => {
                fail(Kind::End, format!("{:?} did not halt it", expected.halts))
            }
            _ => Ok(()),
        }
    }

    /// Where two meanings differ: expected and found. Of an execution that halted not everything has to be there.
    fn differences(&self, expected: &Meaning, complete: bool) -> BTreeMap<String, Difference> {
        let mut differences = BTreeMap::new();
        let mut note = |place: &Place, expected: &[Value], found: &[Value]| {
            let shown = format!("{}{:?}", self.plan.nodes[place.0].id, place.1);
            differences.insert(shown, (expected.to_vec(), found.to_vec()));
        };
        for (place, found) in &self.meaning {
            let known = expected.get(place).map_or(&[][..], Vec::as_slice);
            let fits = match complete {
                true => found == known,
                false => is_part_of(found, known),
            };
            if !fits {
                note(place, known, found);
            }
        }
        for (place, known) in
            expected.iter().filter(|(place, _)| complete && !self.meaning.contains_key(*place))
        {
            note(place, known, &[]);
        }
        differences
    }

    /// What came out, without the moments and the names of timers.
    pub fn timeless(&self) -> Meaning {
        let place = |(place, firings): (&Place, &Vec<Value>)| {
            let mut firings: Vec<Value> = firings.iter().cloned().map(without_moments).collect();
            // Until now the moments had a say in their order.
            firings.sort_by_key(Value::to_string);
            (place.clone(), firings)
        };
        self.meaning.iter().map(place).collect()
    }
}

type Difference = (Vec<Value>, Vec<Value>);

fn is_part_of(part: &[Value], whole: &[Value]) -> bool {
    let mut rest = whole.to_vec();
    part.iter().all(|value| rest.iter().position(|other| other == value).map(|at| rest.remove(at)).is_some())
}

fn short_error(error: &NodeError) -> Value {
    short_errors(json!({"error": error}))
}

/// Errors are compared by their code and their node.
fn short_errors(value: Value) -> Value {
    map_objects(value, &|fields| match fields.get("error") {
        Some(error) if fields.len() == 1 && error.get("code").is_some() => {
            let part = |name: &str| error[name].as_str().unwrap_or_default();
            Some(json!({"error": format!("{} {}", part("code"), part("node_id"))}))
        }
        _ => None,
    })
}

fn without_moments(value: Value) -> Value {
    map_objects(value, &|fields| fields.contains_key("timer_id").then(|| json!("rested")))
}

fn map_objects(value: Value, change: &impl Fn(&serde_json::Map<String, Value>) -> Option<Value>) -> Value {
    match value {
        Value::Object(fields) => change(&fields).unwrap_or_else(|| {
            fields.into_iter().map(|(name, field)| (name, map_objects(field, change))).collect()
        }),
        Value::Array(items) => items.into_iter().map(|item| map_objects(item, change)).collect(),
        other => other,
    }
}
