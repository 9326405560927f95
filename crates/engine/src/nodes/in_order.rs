//! What goes on depends on the items before it: `take`, `drop`, `take_while`, `drop_while`, `distinct`. Items are taken in
//! the order of their indexes, whenever they arrive, and each parent has a count of its own.

use protocol::{NodeError, Payload};
use serde_json::{Map, Value};

use super::{Firing, Kind, Parameter, Pick, Resolve, Work, choose::given, parameter, required};
use crate::{
    compare::is_true,
    correlation::{Descriptor, Handle},
    step::Tally,
};

const INPUT: &str = "input_item";

const fn amount() -> [Parameter; 2] {
    [parameter(INPUT, Resolve::Value), required("n", Resolve::Value)]
}

const fn condition() -> [Parameter; 2] {
    [parameter(INPUT, Resolve::Value), required("condition", Resolve::Expression)]
}

/// Each item goes on or does not, by its turn.
fn descriptor(other: &'static str) -> Descriptor {
    Descriptor::forwards(INPUT, &["output", "index"]).taking(&[Handle::required(other)]).in_order()
}

fn pick(output: &str) -> Pick {
    Pick::Field(if output == "index" { "index" } else { "output" }.into())
}

pub struct Take;

impl Kind for Take {
    fn names(&self) -> &'static [&'static str] {
        &["take"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] = amount();
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        descriptor("n")
    }

    fn pick(&self, output: &str) -> Pick {
        pick(output)
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let most = firing.amount("n")?.unwrap_or(0.0);
        Ok(decide(firing, (tally(firing).seen as f64) < most, None))
    }
}

pub struct Drop;

impl Kind for Drop {
    fn names(&self) -> &'static [&'static str] {
        &["drop"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] = amount();
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        descriptor("n")
    }

    fn pick(&self, output: &str) -> Pick {
        pick(output)
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let first = firing.amount("n")?.unwrap_or(0.0);
        Ok(decide(firing, tally(firing).seen as f64 >= first, None))
    }
}

pub struct TakeWhile;

impl Kind for TakeWhile {
    fn names(&self) -> &'static [&'static str] {
        &["take_while"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] = condition();
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        descriptor("condition")
    }

    fn pick(&self, output: &str) -> Pick {
        pick(output)
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let Tally { seen, passed, .. } = tally(firing);
        Ok(decide(firing, seen == passed && holds(firing), None))
    }
}

pub struct DropWhile;

impl Kind for DropWhile {
    fn names(&self) -> &'static [&'static str] {
        &["drop_while"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] = condition();
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        descriptor("condition")
    }

    fn pick(&self, output: &str) -> Pick {
        pick(output)
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        Ok(decide(firing, tally(firing).passed > 0 || !holds(firing), None))
    }
}

pub struct Distinct;

impl Kind for Distinct {
    fn names(&self) -> &'static [&'static str] {
        &["distinct"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter(INPUT, Resolve::Value), parameter("key", Resolve::Value)];
        &PARAMETERS
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor::forwards(INPUT, &["output", "index"]).taking(&[Handle::optional("key")]).in_order()
    }

    fn pick(&self, output: &str) -> Pick {
        pick(output)
    }

    /// Items are the same if `key` is; without one, if they are equal as a whole.
    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let item = given(firing, INPUT);
        let key = firing.parameters.get("key").unwrap_or_else(|| item.value()).to_string();
        let is_new = !tally(firing).keys.contains(key.as_str());
        Ok(decide(firing, is_new, Some(key)))
    }
}

fn holds(firing: &Firing<'_>) -> bool {
    is_true(firing.parameters.get("condition").unwrap_or(&Value::Null))
}

fn tally(firing: &Firing<'_>) -> Tally {
    firing.inputs().map(|inputs| inputs.tally.clone()).unwrap_or_default()
}

/// What goes on is in `output`; what does not leaves an empty record.
fn decide(firing: &Firing<'_>, passes: bool, key: Option<String>) -> Work {
    let mut fields = Map::new();
    if passes {
        fields.insert("output".to_owned(), given(firing, INPUT).value().clone());
        let index = firing.context.get("$index").map_or(Value::from(0), |index| index.value().clone());
        fields.insert("index".to_owned(), index);
        fields.extend(key.map(|key| ("key".to_owned(), Value::from(key))));
    }
    Work::done(Payload::new(Value::Object(fields)))
}
