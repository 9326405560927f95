//! `split`: one array, one way for each of its items.

use protocol::{NodeError, Payload};
use serde_json::{Value, json};

use super::{Firing, Kind, Output, Parameter, Resolve, ScopeEffect, Work, required};

pub struct Split;

impl Kind for Split {
    fn names(&self) -> &'static [&'static str] {
        &["split"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 1] = [required("input_array", Resolve::Value)];
        &PARAMETERS
    }

    fn scope(&self) -> ScopeEffect {
        ScopeEffect::Push
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        match firing.parameters.get("input_array") {
            Some(Value::Array(items)) => {
                let output = json!({"count": items.len()});
                let items = Some(Payload::new(Value::Array(items.clone())));
                Ok(Work::Done(Output { payload: output.into(), items }))
            }
            other => {
                let found = other.map_or_else(|| "nothing".to_owned(), kind_of);
                Err(firing.invalid("input_array", &format!("must be an array, but is {found}")))
            }
        }
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Object(_) => "an object; name the array inside it".to_owned(),
        other => other.to_string(),
    }
}
