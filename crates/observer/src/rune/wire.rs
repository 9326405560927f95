//! The messages of a Rune cluster as they are written there, read leniently: what is not known is passed over, what is
//! not needed is not taken apart.

use protocol::{Lineage, Millis, NodeId, Payload};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, value::RawValue};

/// A message that is larger is not read: a broker of today refuses 16 MiB and more.
pub const LARGEST: usize = 24 * 1024 * 1024;
/// What is nested deeper nobody can take apart, so nobody could take a secret out of it either.
const DEEPEST: usize = 120;

/// Somebody is to work on a node: the first message of an execution, the next one, or the one behind a wait.
#[derive(Deserialize)]
pub struct Work<'b> {
    #[serde(default)]
    pub workflow_id: String,
    pub execution_id: String,
    pub current_node: String,
    #[serde(borrow, default)]
    pub workflow_definition: Option<&'b RawValue>,
    #[serde(borrow, default)]
    pub accumulated_context: Option<&'b RawValue>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub lineage_stack: Vec<WireFrame>,
    #[serde(default)]
    pub from_node: Option<String>,
    #[serde(default)]
    pub is_worker_initiated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WireFrame {
    pub split_node_id: String,
    pub item_index: u32,
    pub total_items: u32,
}

/// Values stay the text they came as until somebody has to look inside: most of them nobody does.
#[derive(Deserialize)]
pub struct Status {
    #[serde(default)]
    pub workflow_id: String,
    pub execution_id: String,
    pub node_id: String,
    pub status: Word,
    #[serde(default)]
    pub parameters: Option<Payload>,
    #[serde(default)]
    pub output: Option<Payload>,
    #[serde(default)]
    pub error: Option<WireError>,
    #[serde(default)]
    pub executed_at: Option<String>,
    #[serde(default)]
    pub duration_ms: Option<f64>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub lineage_stack: Vec<WireFrame>,
    #[serde(default)]
    pub processed_count: Option<u32>,
    #[serde(default)]
    pub used_inputs: Option<Payload>,
}

impl Status {
    /// One that nobody has heard, of a node at a place.
    pub fn unheard(node_id: &NodeId, status: Word, output: Option<Payload>, frames: &[WireFrame]) -> Self {
        Self {
            workflow_id: String::new(),
            execution_id: String::new(),
            node_id: node_id.to_string(),
            status,
            parameters: None,
            output,
            error: None,
            executed_at: None,
            duration_ms: None,
            lineage_stack: frames.to_vec(),
            processed_count: None,
            used_inputs: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    Running,
    Success,
    Failed,
    Waiting,
    /// Of a version that is not known.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct WireError {
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub details: Option<Value>,
}

#[derive(Deserialize)]
pub struct Completion {
    #[serde(default)]
    pub workflow_id: String,
    pub execution_id: String,
    pub status: End,
    #[serde(default)]
    pub final_context: Option<Payload>,
    #[serde(default)]
    pub completed_at: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Completed,
    Halted,
    Failed,
}

impl End {
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Halted => "halted",
            Self::Failed => "failed",
        }
    }
}

/// What a message is about.
pub enum Said<'b> {
    Work(Work<'b>),
    /// Large next to the others.
    Status(Box<Status>),
    Completion(Completion),
    /// Something of the cluster that says nothing of an execution.
    Nothing,
}

/// Told by the routing key; `Err` for what cannot be read.
pub fn read<'b>(routing_key: &str, body: &'b [u8]) -> Result<Said<'b>, Unreadable> {
    if body.len() > LARGEST || is_too_deep(body) {
        return Err(Unreadable);
    }
    let read = match routing_key {
        "workflow.execution" | "workflow.resume" | "workflow.worker.initiated" => {
            serde_json::from_slice(body).map(Said::Work)
        }
        "workflow.node.status" => serde_json::from_slice(body).map(Said::Status),
        "workflow.completion" => serde_json::from_slice(body).map(Said::Completion),
        _ => return Ok(Said::Nothing),
    };
    match read {
        Ok(Said::Work(work)) if work.execution_id.is_empty() || work.current_node.is_empty() => {
            Err(Unreadable)
        }
        Ok(Said::Status(status)) if status.execution_id.is_empty() => Err(Unreadable),
        Ok(Said::Completion(completion)) if completion.execution_id.is_empty() => Err(Unreadable),
        Ok(said) => Ok(said),
        Err(_) => Err(Unreadable),
    }
}

#[derive(Debug)]
pub struct Unreadable;

/// Told by its brackets. Those inside of texts count too, so only what has many is looked at closely.
fn is_too_deep(body: &[u8]) -> bool {
    if body.iter().filter(|&&byte| byte == b'{' || byte == b'[').nth(DEEPEST).is_none() {
        return false;
    }
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for &byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// A moment on the wire, finer than ours: two statuses of one millisecond are still told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(i128);

impl Nanos {
    pub fn read(text: Option<&str>, heard: Millis) -> Self {
        let written = text.and_then(|text| text.parse::<jiff::Timestamp>().ok());
        Self(written.map_or(i128::from(heard) * 1_000_000, jiff::Timestamp::as_nanosecond))
    }

    /// The same moment on a clock that goes before by so much.
    pub fn shifted(self, millis: Millis) -> Self {
        Self(self.0 + i128::from(millis) * 1_000_000)
    }

    pub fn millis(self) -> Millis {
        (self.0 / 1_000_000) as Millis
    }
}

/// A moment that somebody has written as a number, within what can be told.
pub fn sane(millis: Millis) -> Millis {
    const LAST: Millis = 253_402_300_799_000;
    millis.clamp(0, LAST)
}

/// The frames as a lineage, the levels that are given, outermost first.
pub fn lineage_of(frames: &[WireFrame], splits: impl IntoIterator<Item = protocol::NodeId>) -> Lineage {
    splits.into_iter().fold(Lineage::default(), |lineage, split| {
        // A split that was run again has pushed again: the later frame counts.
        let frame = frames.iter().rev().find(|frame| frame.split_node_id == split.as_str());
        match frame {
            Some(frame) => lineage.push(&split, frame.item_index, frame.total_items),
            None => lineage,
        }
    })
}

pub fn object(payload: Option<&Payload>) -> Option<&Map<String, Value>> {
    payload.and_then(|payload| payload.value().as_object())
}

/// Go writes what is empty as `null`.
fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_told_by_brackets_outside_of_texts() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!is_too_deep(nested(DEEPEST).as_bytes()));
        assert!(is_too_deep(nested(DEEPEST + 1).as_bytes()));
        let text = format!(r#"["{}\"{}", {}]"#, "[".repeat(500), "{".repeat(500), nested(5));
        assert!(!is_too_deep(text.as_bytes()), "brackets in a text are letters");
        assert!(!is_too_deep("[],".repeat(500).as_bytes()));
    }

    #[test]
    fn what_nobody_looks_into_is_left_as_it_came() {
        let body = br#"{"execution_id":"x","node_id":"n","status":"success","output":{"b":1,  "a":[1e2]}}"#;
        let Ok(Said::Status(status)) = read("workflow.node.status", body) else { panic!("a status") };
        assert_eq!(status.output.expect("an output").text(), r#"{"b":1,  "a":[1e2]}"#);
        assert!(status.parameters.is_none());
    }
}
