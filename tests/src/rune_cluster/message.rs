//! The messages, field by field in the order of the wire.

use serde_json::{Map, Value, json};

use super::encode::sorted;

#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub split: String,
    pub branch: String,
    pub index: u32,
    pub total: u32,
}

impl Frame {
    pub fn json(&self) -> Value {
        json!({
            "split_node_id": self.split, "branch_id": self.branch,
            "item_index": self.index, "total_items": self.total,
        })
    }
}

/// Somebody is to work on a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub workflow_id: String,
    pub execution_id: String,
    pub current_node: String,
    /// Whole, with its credentials, on every hop.
    pub definition: Value,
    pub context: Value,
    /// Outermost first. It grows and never shrinks.
    pub stack: Vec<Frame>,
    pub from_node: Option<String>,
    pub is_worker_initiated: bool,
}

impl Message {
    pub fn json(&self) -> Value {
        let mut fields = json!({
            "workflow_id": self.workflow_id, "workflow_version": 3, "workflow_version_id": 12,
            "execution_id": self.execution_id, "current_node": self.current_node,
            "workflow_definition": definition(&self.definition), "accumulated_context": sorted(&self.context),
        });
        if !self.stack.is_empty() {
            fields["lineage_stack"] = self.stack.iter().map(Frame::json).collect();
        }
        if let Some(from) = &self.from_node {
            fields["from_node"] = json!(from);
        }
        if self.is_worker_initiated {
            fields["is_worker_initiated"] = json!(true);
        }
        fields
    }

    pub fn node(&self) -> &Value {
        self.node_of(&self.current_node).expect("the node of a message is in its definition")
    }

    pub fn node_of(&self, id: &str) -> Option<&Value> {
        self.definition["nodes"].as_array()?.iter().find(|node| node["id"] == id)
    }

    pub fn name(&self) -> String {
        self.node()["name"].as_str().unwrap_or_default().to_owned()
    }

    pub fn kind(&self) -> String {
        self.node()["type"].as_str().unwrap_or_default().to_owned()
    }

    /// All edges that leave the node, the error edge among them.
    pub fn leaving(&self) -> Vec<(String, String)> {
        let edges = self.definition["edges"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mine = edges.filter(|edge| edge["src"] == self.current_node.as_str());
        mine.map(|edge| (text(&edge["id"]), text(&edge["dst"]))).collect()
    }

    /// How many edges lead to the node.
    pub fn arriving(&self) -> usize {
        let edges = self.definition["edges"].as_array().into_iter().flatten();
        edges.filter(|edge| edge["dst"] == self.current_node.as_str()).count()
    }

    pub fn top(&self) -> Option<&Frame> {
        self.stack.last()
    }

    /// The message to a node behind this one.
    pub fn next(&self, node: &str, context: Value) -> Self {
        let mut definition = self.definition.clone();
        // A worker that has used credentials leaves their type among the values.
        let nodes = definition["nodes"].as_array_mut().into_iter().flatten();
        for node in nodes.filter(|node| node["id"] == self.current_node.as_str()) {
            let Some(credentials) = node.get_mut("credentials") else { continue };
            let kind = credentials["type"].clone();
            if let Some(values) = credentials["values"].as_object_mut() {
                values.insert("type".to_owned(), kind);
            }
        }
        Self {
            current_node: node.to_owned(),
            definition,
            context,
            from_node: Some(self.current_node.clone()),
            is_worker_initiated: true,
            ..self.clone()
        }
    }
}

/// What a worker does not know it does not write: of an edge three fields are left.
fn definition(definition: &Value) -> Value {
    let node = |node: &Value| {
        let mut fields = Map::new();
        for name in ["id", "name"] {
            fields.insert(name.to_owned(), node[name].clone());
        }
        fields.insert("trigger".to_owned(), json!(node["trigger"] == json!(true)));
        fields.insert("type".to_owned(), node["type"].clone());
        for name in ["parameters", "output"] {
            fields.insert(name.to_owned(), sorted(&node[name]));
        }
        for name in ["credentials", "error", "position"] {
            if let Some(value) = node.get(name) {
                fields.insert(name.to_owned(), value.clone());
            }
        }
        Value::Object(fields)
    };
    let edge = |edge: &Value| json!({"id": edge["id"], "src": edge["src"], "dst": edge["dst"]});
    let list = |name: &str| definition[name].as_array().cloned().unwrap_or_default();
    json!({
        "workflow_id": "", "execution_id": "",
        "nodes": list("nodes").iter().map(node).collect::<Vec<_>>(),
        "edges": list("edges").iter().map(edge).collect::<Vec<_>>(),
    })
}
