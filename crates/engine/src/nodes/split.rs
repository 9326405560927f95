//! `split`: one array, one way for each of its items, or for each batch of them. With `max_in_flight` no more items than
//! that are begun at once; an item that only waits in a join does not count, and a join right behind the split hears of
//! all items at once.

use protocol::{Diagnostic, Node, NodeError, Payload};
use serde_json::{Value, json};

use super::{Firing, Kind, Output, Parameter, Resolve, Work, invalid, parameter, required};
use crate::{
    correlation::Descriptor,
    plan::{Plan, PlannedNode},
};

pub struct Split;

impl Kind for Split {
    fn names(&self) -> &'static [&'static str] {
        &["split"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 3] = [
            required("input_array", Resolve::Value),
            parameter("batch_size", Resolve::Value),
            // Known before anything runs, so that a restart spreads the items as before.
            parameter("max_in_flight", Resolve::Literal),
        ];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::iterates("items", &[Descriptor::OUT])
    }

    fn window(&self, node: &Node) -> Option<u32> {
        whole(node.parameters.get("max_in_flight")?)
    }

    fn check(&self, _plan: &Plan, node: &PlannedNode) -> Vec<Diagnostic> {
        let value = node.source.parameters.get("max_in_flight").filter(|value| !value.is_null());
        let wrong = value.filter(|value| whole(value).is_none());
        let complain = |value| {
            let hint = "write a whole number from 1 on, or leave it out";
            invalid(&node.id, format!("max_in_flight {value} is no number of items"), hint)
        };
        wrong.map(complain).into_iter().collect()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let items = match firing.parameters.get("input_array") {
            Some(Value::Array(items)) => items,
            other => {
                let found = other.map_or_else(|| "nothing".to_owned(), kind_of);
                return Err(firing.invalid("input_array", &format!("must be an array, but is {found}")));
            }
        };
        let items: Vec<Value> = match firing.parameter("batch_size") {
            None => items.clone(),
            Some(size) => {
                let complaint = || {
                    firing.invalid("batch_size", &format!("must be a whole number from 1 on, but is {size}"))
                };
                let size = whole(size).ok_or_else(complaint)?;
                items.chunks(size as usize).map(|batch| Value::Array(batch.to_vec())).collect()
            }
        };
        let output = json!({"count": items.len()});
        Ok(Work::Done(Output { payload: output.into(), items: Some(Payload::new(Value::Array(items))) }))
    }
}

/// From 1 on; numbers in quotes are numbers.
fn whole(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Object(_) => "an object; name the array inside it".to_owned(),
        other => other.to_string(),
    }
}
