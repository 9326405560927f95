//! `for_each`: the items of a list, each on its own. `lines`: the lines of a text, as pieces of it.

use protocol::{NodeError, Payload};
use serde_json::{Value, json};

use super::{Firing, Kind, Output, Parameter, Pick, Resolve, Work, parameter};
use crate::{
    correlation::{Descriptor, Handle},
    expr::as_text,
};

pub struct ForEach;

impl Kind for ForEach {
    fn names(&self) -> &'static [&'static str] {
        &["for_each"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("input_list", Resolve::Value), parameter("limit", Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        const INPUTS: [Handle; 2] = [Handle::required("input_list"), Handle::optional("limit")];
        Descriptor::iterates("items", &["output", "index"]).taking(&INPUTS)
    }

    fn pick(&self, output: &str) -> Pick {
        if output == "index" { Pick::Index } else { Pick::Whole }
    }

    /// What is no list is one item. A negative limit is none.
    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let mut items = match firing.parameters.get("input_list") {
            Some(Value::Array(items)) => items.clone(),
            Some(other) => vec![other.clone()],
            None => Vec::new(),
        };
        match firing.parameter("limit").map(Value::as_i64) {
            None => {}
            Some(Some(limit)) => items.truncate(usize::try_from(limit).unwrap_or(usize::MAX)),
            Some(None) => return Err(firing.invalid("limit", "must be a whole number")),
        }
        Ok(spread(items))
    }
}

pub struct Lines;

impl Kind for Lines {
    fn names(&self) -> &'static [&'static str] {
        &["lines"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 1] = [parameter("text", Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::streams(&["line", "index"]).taking(&[Handle::required("text")])
    }

    fn pick(&self, output: &str) -> Pick {
        if output == "index" { Pick::Index } else { Pick::Whole }
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let text = firing.parameter("text").map(as_text).unwrap_or_default();
        Ok(spread(text.lines().map(Value::from).collect()))
    }
}

/// The items, and for whoever looks how many they are.
pub fn spread(items: Vec<Value>) -> Work {
    let payload = json!({"count": items.len()}).into();
    Work::Done(Output { payload, items: Some(Payload::new(Value::Array(items))) })
}
