//! A JSON value that stays raw text until somebody looks inside, or a value until somebody writes it down.

use std::{
    fmt,
    sync::{Arc, LazyLock, OnceLock},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, value::RawValue};

/// Shared and immutable: a clone costs a counter; the text is parsed, or the value written, at most once however many
/// readers it has.
#[derive(Clone)]
pub struct Payload(Arc<Inner>);

/// One of the first two is there from the beginning.
struct Inner {
    text: OnceLock<Box<RawValue>>,
    parsed: OnceLock<Value>,
    hash: OnceLock<Box<str>>,
}

impl Inner {
    fn of(text: OnceLock<Box<RawValue>>, parsed: OnceLock<Value>) -> Self {
        Self { text, parsed, hash: OnceLock::new() }
    }
}

/// How a payload begins that is kept elsewhere, by the hash of its content.
pub const REFERENCE: &str = "{\"$payload\":";

impl Payload {
    pub fn new(value: Value) -> Self {
        Self(Arc::new(Inner::of(OnceLock::new(), OnceLock::from(value))))
    }

    pub fn from_text(text: String) -> Result<Self, serde_json::Error> {
        Ok(Self::from_raw(RawValue::from_string(text)?))
    }

    /// There is only one.
    pub fn null() -> Self {
        static NULL: LazyLock<Payload> = LazyLock::new(|| Payload::new(Value::Null));
        NULL.clone()
    }

    pub fn text(&self) -> &str {
        self.raw().get()
    }

    fn raw(&self) -> &RawValue {
        self.0.text.get_or_init(|| match serde_json::value::to_raw_value(&self.0.parsed.get()) {
            Ok(text) => text,
            // A `Value` has string keys and finite numbers only, so it always has a text.
            Err(error) => unreachable!("a JSON value without a text: {error}"),
        })
    }

    /// The parsed value. Text that was checked for syntax only can still be nested deeper than the parser allows;
    /// it then reads as a string that says so.
    pub fn value(&self) -> &Value {
        self.0.parsed.get_or_init(|| {
            serde_json::from_str(self.text())
                .unwrap_or_else(|error| Value::String(format!("unreadable JSON: {error}")))
        })
    }

    pub fn from_raw(text: Box<RawValue>) -> Self {
        Self(Arc::new(Inner::of(OnceLock::from(text), OnceLock::new())))
    }

    /// The hash of the text, under which it is kept elsewhere.
    pub fn hash(&self) -> &str {
        self.0.hash.get_or_init(|| blake3::hash(self.text().as_bytes()).to_hex().as_str().into())
    }

    /// What stands in its place where it is kept elsewhere.
    pub fn reference(&self) -> Self {
        Self::new(serde_json::json!({"$payload": self.hash()}))
    }

    /// The hash of what is meant, where this only stands for it.
    pub fn referred(&self) -> Option<&str> {
        if !self.text().starts_with(REFERENCE) {
            return None;
        }
        self.value()["$payload"].as_str()
    }

    /// A small payload that happens to look like a reference goes elsewhere too, so that every reference is one of ours.
    pub fn stays_inline(&self, most: usize) -> bool {
        let text = self.text();
        text.len() <= most && !text.starts_with(REFERENCE)
    }
}

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Self::new(value)
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.value() == other.value()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A text that nobody asked for would be written twice: here, and where it goes.
        match (self.0.text.get(), self.0.parsed.get()) {
            (None, Some(value)) => value.serialize(serializer),
            _ => self.raw().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_raw(Box::<RawValue>::deserialize(deserializer)?))
    }
}

impl ts_rs::TS for Payload {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;

    fn name(_: &ts_rs::Config) -> String {
        "unknown".to_owned()
    }
    fn inline(_: &ts_rs::Config) -> String {
        "unknown".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_untouched_and_is_parsed_on_demand() {
        let payload = Payload::from_text(r#"{"b": 1, "a": 1e2}"#.to_owned()).unwrap();
        assert_eq!(serde_json::to_string(&payload).unwrap(), r#"{"b": 1, "a": 1e2}"#);
        assert_eq!(payload.value()["b"], 1);
        assert_eq!(payload, Payload::new(serde_json::json!({"a": 100.0, "b": 1})));
        assert!(Payload::from_text("{".to_owned()).is_err());
    }
}
