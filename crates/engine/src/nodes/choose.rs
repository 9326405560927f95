//! What arrives goes on as it is, by one way or none: `if`, `switch_value`, `filter_items`, `reroute`, `fallback`.

use protocol::{NodeError, Payload};
use serde_json::{Value, json};

use super::{Firing, Kind, Parameter, Pick, Resolve, Work, gather::record, parameter, required};
use crate::{
    compare::is_true,
    correlation::{Descriptor, Handle},
};

pub struct If;

impl Kind for If {
    fn names(&self) -> &'static [&'static str] {
        &["if_value"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("value", Resolve::Value), required("condition", Resolve::Expression)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::forwards("value", &["if_true", "if_false"])
            .taking(&[Handle::required("condition")])
            .choosing()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let holds = is_true(firing.parameters.get("condition").unwrap_or(&Value::Null));
        let way = if holds { "if_true" } else { "if_false" };
        Ok(Work::done(record(way, Some(&given(firing, "value")))))
    }
}

pub struct SwitchValue;

impl Kind for SwitchValue {
    fn names(&self) -> &'static [&'static str] {
        &["switch_value"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 3] = [
            parameter("input", Resolve::Value),
            parameter("value", Resolve::Value),
            required("cases", Resolve::Value),
        ];
        &PARAMETERS
    }

    /// `input` goes on; `value` is compared with the cases, or `input` itself where there is none.
    fn descriptor(&self) -> Descriptor {
        const OTHERS: [Handle; 2] = [Handle::optional("value"), Handle::required("cases")];
        Descriptor::forwards("input", &["matched", "default"])
            .taking(&OTHERS)
            .with_single(&["index"])
            .choosing()
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let input = given(firing, "input");
        let value = firing.parameters.get("value").unwrap_or_else(|| input.value());
        let Some(Value::Array(cases)) = firing.parameters.get("cases") else {
            return Err(firing.invalid("cases", "must be a list of values"));
        };
        let place = cases.iter().position(|case| case == value);
        let way = if place.is_some() { "matched" } else { "default" };
        let index = place.map_or(json!(-1), |place| json!(place));
        Ok(Work::done(Payload::new(json!({way: input.value(), "index": index}))))
    }
}

pub struct FilterItems;

impl Kind for FilterItems {
    fn names(&self) -> &'static [&'static str] {
        &["filter_items"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("input_item", Resolve::Value), required("condition", Resolve::Expression)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::forwards("input_item", &["output"]).taking(&[Handle::required("condition")])
    }

    fn pick(&self, _output: &str) -> Pick {
        Pick::Field("output".into())
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let holds = is_true(firing.parameters.get("condition").unwrap_or(&Value::Null));
        let item = given(firing, "input_item");
        Ok(Work::done(record("output", holds.then_some(&item))))
    }
}

pub struct Reroute;

impl Kind for Reroute {
    fn names(&self) -> &'static [&'static str] {
        &["reroute"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 1] = [parameter("value", Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::forwards("value", &["output"])
    }

    fn pick(&self, _output: &str) -> Pick {
        Pick::Whole
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        Ok(Work::done(given(firing, "value")))
    }
}

pub struct Fallback;

impl Kind for Fallback {
    fn names(&self) -> &'static [&'static str] {
        &["fallback"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("value", Resolve::Value), parameter("fallback", Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::forwards("value", &["output"])
            .taking(&[Handle::optional("fallback")])
            .with_single(&["used_fallback"])
    }

    fn pick(&self, output: &str) -> Pick {
        Pick::Field(if output == Descriptor::OUT { "output" } else { output }.into())
    }

    /// `null` is replaced.
    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let value = given(firing, "value");
        let is_null = value.value().is_null();
        let chosen = if is_null { given(firing, "fallback") } else { value };
        Ok(Work::done(Payload::new(json!({"output": chosen.value(), "used_fallback": is_null}))))
    }
}

/// What a handle has brought, or what is written in its place.
pub fn given(firing: &Firing<'_>, name: &str) -> Payload {
    let brought = firing.inputs().and_then(|inputs| inputs.get(name)).cloned();
    brought.unwrap_or_else(|| Payload::new(firing.parameters.get(name).cloned().unwrap_or(Value::Null)))
}
