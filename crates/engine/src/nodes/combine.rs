//! Independent iterations become one: `zip` pairs their items by index, `cross` each with each.

use protocol::{ErrorCode, NodeError, Payload};
use serde_json::{Value, json};

use super::{
    Firing, Gap, Kind, Parameter, Pick, Resolve, Work,
    gather::{flat, value_of},
    iterate::spread,
    parameter, timed_out,
};
use crate::{
    correlation::Descriptor,
    step::{Joined, Slot},
};

/// How many pairs there may be, where the author does not say.
const MOST_PAIRS: f64 = 1_024.0;

pub struct Zip;

impl Kind for Zip {
    fn names(&self) -> &'static [&'static str] {
        &["zip"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 1] = [parameter("max_unmatched_pairs", Resolve::Literal)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::combines(["left", "right"], "zip", &["left", "right", "index"])
    }

    fn pick(&self, output: &str) -> Pick {
        pick(output)
    }

    /// Where one side has dropped an item, so does the pair; where one has failed, so does the pair.
    fn gaps(&self, joined: Option<&Joined>) -> Vec<Gap> {
        let Some((left, right)) = sides(joined) else { return Vec::new() };
        let gap = |index: usize| {
            let pair = [left.get(index), right.get(index)];
            let error = pair.iter().flatten().find_map(|slot| match slot {
                Slot::Failed(error) => Some(error.clone()),
                Slot::Value(_) | Slot::Skipped | Slot::Pieces(_) => None,
            });
            let complete = pair.iter().all(|slot| matches!(slot, Some(Slot::Value(_))));
            (!complete).then_some(Gap { index: index as u32, error })
        };
        (0..left.len().max(right.len())).filter_map(gap).collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let (left, right) = both(firing)?;
        check_most(firing, "max_unmatched_pairs", left.len().max(right.len()))?;
        let common = left.len().min(right.len());
        for (side, longer) in [("left", &left), ("right", &right)] {
            let alone: Vec<usize> =
                (common..longer.len()).filter(|&index| !matches!(longer[index], Slot::Skipped)).collect();
            if !alone.is_empty() {
                return Err(unequal(side, &left, &right, &alone));
            }
        }
        let value =
            |slot: Option<&Slot>| slot.and_then(value_of).map_or(Value::Null, |it| it.value().clone());
        let pair = |index: usize| json!({"left": value(left.get(index)), "right": value(right.get(index))});
        Ok(spread((0..left.len().max(right.len())).map(pair).collect()))
    }
}

fn unequal(side: &str, left: &[Slot], right: &[Slot], alone: &[usize]) -> NodeError {
    let shown: Vec<String> = alone.iter().take(5).map(usize::to_string).collect();
    let more = if alone.len() > shown.len() { ", …" } else { "" };
    let message = format!(
        "zip has {} items on the left and {} on the right; nothing pairs with {side} {}{more}",
        left.len(),
        right.len(),
        shown.join(", ")
    );
    NodeError::new(ErrorCode::ZipLengthMismatch, message)
        .with_details(json!({"left": left.len(), "right": right.len(), "side": side, "alone": alone.len()}))
}

pub struct Cross;

impl Kind for Cross {
    fn names(&self) -> &'static [&'static str] {
        &["cross"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 1] = [parameter("max_output_count", Resolve::Literal)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::combines(["left", "right"], "cross", &["left", "right", "index"])
    }

    fn pick(&self, output: &str) -> Pick {
        pick(output)
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let (left, right) = both(firing)?;
        let there = |slots: &[Slot]| -> Vec<Payload> { slots.iter().filter_map(value_of).cloned().collect() };
        let (left, right) = (there(&left), there(&right));
        check_most(firing, "max_output_count", left.len().saturating_mul(right.len()))?;
        let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
        let pairs = pairs.map(|(left, right)| json!({"left": left.value(), "right": right.value()}));
        Ok(spread(pairs.collect()))
    }
}

fn pick(output: &str) -> Pick {
    match output {
        "index" => Pick::Index,
        Descriptor::OUT => Pick::Whole,
        side => Pick::Field(side.into()),
    }
}

fn sides(joined: Option<&Joined>) -> Option<(Vec<Slot>, Vec<Slot>)> {
    match joined {
        Some(Joined::Sides(sides)) => match sides.as_slice() {
            [left, right] => Some((flat(left), flat(right))),
            _ => None,
        },
        _ => None,
    }
}

fn both(firing: &Firing<'_>) -> Result<(Vec<Slot>, Vec<Slot>), NodeError> {
    match firing.joined {
        Some(Joined::TimedOut { arrived, expected }) => Err(timed_out(*arrived, *expected)),
        joined => sides(joined).ok_or_else(|| {
            let message = "lead one edge to \"left\" and one to \"right\"";
            NodeError::new(ErrorCode::InvalidParameter, message)
        }),
    }
}

fn check_most(firing: &Firing<'_>, parameter: &str, count: usize) -> Result<(), NodeError> {
    let most = firing.amount(parameter)?.unwrap_or(MOST_PAIRS).max(1.0);
    if count as f64 <= most {
        return Ok(());
    }
    let message = format!(
        "{} would make {count} pairs and exceeded {parameter} ({most}); set {parameter} higher if that is meant",
        firing.node.source.kind
    );
    let details = json!({"pairs": count, parameter: most});
    Err(NodeError::new(ErrorCode::LimitExceeded, message).with_details(details))
}
