//! Newtypes for ids. All are short strings, shared so that a clone costs a counter.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS,
        )]
        #[serde(transparent)]
        #[schemars(transparent)]
        #[ts(type = "string", export_to = "protocol.ts")]
        pub struct $name(#[schemars(with = "String")] Arc<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

string_id!(
    /// A node of a workflow.
    NodeId
);
string_id!(
    /// An edge of a workflow.
    EdgeId
);
string_id!(
    /// A workflow definition.
    WorkflowId
);
string_id!(
    /// One run of a workflow.
    ExecutionId
);
string_id!(
    /// One message: one node at one lineage key. Derived, never made up, so that a redelivery has the same id.
    MessageId
);

impl MessageId {
    /// The id of the message that starts `node` when an execution begins.
    pub fn start(execution: &ExecutionId, node: &NodeId) -> Self {
        derive([execution.as_str(), "start", node.as_str()])
    }

    /// The id of the message that fires a join, which no single message sends.
    pub fn fire(execution: &ExecutionId, node: &NodeId, group: usize, key: &str) -> Self {
        derive([execution.as_str(), node.as_str(), &format!("fire {group} {key}")])
    }

    /// The id of the message that travels along `edge`, sent by the message `self`; `index` tells the items of a
    /// fan-out apart.
    pub fn child(&self, edge: &EdgeId, index: u32) -> Self {
        derive([self.as_str(), edge.as_str(), &index.to_string()])
    }
}

fn derive(parts: [&str; 3]) -> MessageId {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hash = hasher.finalize().to_hex();
    MessageId::from(&hash[..32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ids_are_derived_and_distinct() {
        let root = MessageId::start(&"x".into(), &"a".into());
        assert_eq!(root, MessageId::start(&"x".into(), &"a".into()));
        assert_ne!(root, MessageId::start(&"xs".into(), &"a".into()));
        assert_ne!(root.child(&"e".into(), 0), root.child(&"e".into(), 1));
        assert_ne!(root.child(&"e".into(), 0), root.child(&"f".into(), 0));
        assert_eq!(root.as_str().len(), 32);
    }
}
