//! What an iteration has spread, in the order of the items: all of it (`collect`), its end (`last`), how many (`count`),
//! or some at a time (`batch`).

use protocol::{Diagnostic, ErrorCode, NodeError, Payload};
use serde_json::Value;

use super::{
    Firing, Kind, Parameter, Pick, Resolve, Work, aggregator, check_choice, check_timeout, iterate::spread,
    parameter, timed_out,
};
use crate::{
    correlation::Descriptor,
    plan::{Plan, PlannedNode},
    step::{Joined, Slot},
};

const INPUT: &str = "input_item";

pub struct Collect;

impl Kind for Collect {
    fn names(&self) -> &'static [&'static str] {
        &["collect"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 4] = [
            parameter(INPUT, Resolve::Value),
            parameter("timeout", Resolve::Literal),
            parameter("skipped", Resolve::Literal),
            parameter("on_error", Resolve::Literal),
        ];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::gathers(INPUT, &["output"])
    }

    fn pick(&self, _output: &str) -> Pick {
        Pick::Whole
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let choices = [
            check_choice(node, "skipped", &aggregator::SKIPPED),
            check_choice(node, "on_error", &aggregator::ON_ERROR),
        ];
        choices.into_iter().flatten().chain(check_timeout(node)).collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        aggregator::array(firing, &slots(firing)?, "omit").map(Work::done)
    }
}

pub struct Last;

impl Kind for Last {
    fn names(&self) -> &'static [&'static str] {
        &["last"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 1] = [parameter(INPUT, Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::gathers(INPUT, &["output"])
    }

    fn pick(&self, _output: &str) -> Pick {
        Pick::Field("output".into())
    }

    /// Where there is no item, nothing leaves.
    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let slots = slots(firing)?;
        let last = slots.iter().rev().find_map(|slot| value_of(slot));
        Ok(Work::done(record("output", last)))
    }
}

pub struct Count;

impl Kind for Count {
    fn names(&self) -> &'static [&'static str] {
        &["count"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 1] = [parameter(INPUT, Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::gathers(INPUT, &["output"])
    }

    fn pick(&self, _output: &str) -> Pick {
        Pick::Whole
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let count = slots(firing)?.iter().filter(|slot| value_of(slot).is_some()).count();
        Ok(Work::done(Payload::new(count.into())))
    }
}

pub struct Batch;

impl Kind for Batch {
    fn names(&self) -> &'static [&'static str] {
        &["batch"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter(INPUT, Resolve::Value), parameter("size", Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::regroups(INPUT, "batch", &["output", "index"])
    }

    fn pick(&self, output: &str) -> Pick {
        if output == "index" { Pick::Index } else { Pick::Whole }
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let size = firing.amount("size")?.unwrap_or(10.0);
        if size < 1.0 || size.fract() != 0.0 {
            return Err(firing.invalid("size", "must be a whole number from 1 on"));
        }
        let items: Vec<Value> =
            slots(firing)?.iter().filter_map(value_of).map(|payload| payload.value().clone()).collect();
        Ok(spread(items.chunks(size as usize).map(|batch| Value::Array(batch.to_vec())).collect()))
    }
}

/// What came of every item. Outside of every iteration there is one.
fn slots(firing: &Firing<'_>) -> Result<Vec<Slot>, NodeError> {
    match firing.joined {
        Some(Joined::Collapse(slots)) => Ok(flat(slots)),
        Some(Joined::TimedOut { arrived, expected }) => Err(timed_out(*arrived, *expected)),
        Some(Joined::Inputs(inputs)) => Ok(inputs.get(INPUT).cloned().map(Slot::Value).into_iter().collect()),
        Some(Joined::List { .. } | Joined::Winner(_) | Joined::Sides(_) | Joined::Overflow { .. }) | None => {
            let message = format!("lead an edge with \"target_handle\": {INPUT:?} here");
            Err(NodeError::new(ErrorCode::InvalidParameter, message))
        }
    }
}

/// Pieces stand where the whole would.
pub fn flat(slots: &[Slot]) -> Vec<Slot> {
    let mut all = Vec::with_capacity(slots.len());
    for slot in slots {
        match slot {
            Slot::Pieces(pieces) => all.extend(flat(pieces)),
            Slot::Value(_) | Slot::Failed(_) | Slot::Skipped => all.push(slot.clone()),
        }
    }
    all
}

/// An error counts as what came of its item, as in an aggregator.
pub fn value_of(slot: &Slot) -> Option<&Payload> {
    match slot {
        Slot::Value(value) | Slot::Failed(value) => Some(value),
        Slot::Skipped | Slot::Pieces(_) => None,
    }
}

/// An object with the one field, or none.
pub fn record(name: &str, value: Option<&Payload>) -> Payload {
    let fields = value.map(|value| (name.to_owned(), value.value().clone()));
    Payload::new(Value::Object(fields.into_iter().collect()))
}
