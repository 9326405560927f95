//! Whose workers speak on a cluster, told by what only one of them does.

use protocol::{ClusterDialect, cluster, cluster::Queue};
use serde::Deserialize;

use crate::{Heard, ObserverError, Read, Reader, tap::Hearing};

/// Where the Rune services keep what waits for a moment.
const SCHEDULED: [&str; 2] = ["scheduler:timers", "scheduler:payloads"];

/// Told by the queues that are there: each side has some that the other never makes.
pub fn by_queues(hearing: &Hearing, prefix: &str) -> Option<ClusterDialect> {
    let ours = [Queue::Parking, Queue::Timeout].map(|queue| queue.name(prefix));
    let theirs = ["workflow.resume", "workflow.worker.initiated"].map(|queue| format!("{prefix}{queue}"));
    let ours = ours.iter().any(|name| hearing.queues.contains_key(name));
    let theirs = theirs.iter().any(|name| hearing.queues.contains_key(name));
    one_of(ours, theirs)
}

/// Told by the keys that are always there while something is under way.
pub async fn by_keys(reader: &Reader, prefix: &str) -> Result<Option<ClusterDialect>, ObserverError> {
    let looks = cluster::looks_key(prefix);
    let ours: u32 = reader.ask(Read::Exists, looks.as_str()).await?;
    let theirs: u32 = reader.ask(Read::Exists, &SCHEDULED[..]).await?;
    Ok(one_of(ours > 0, theirs > 0))
}

/// Told by names of keys, as a walk comes by them.
pub fn by_names(keys: &[String], prefix: &str) -> Option<ClusterDialect> {
    let ours = keys.iter().any(|key| cluster::key_of_execution(prefix, key).is_some());
    one_of(ours, keys.iter().any(|key| is_theirs(key)))
}

/// A key that workers of the Rune services keep.
pub fn is_theirs(key: &str) -> bool {
    let rest = key.strip_prefix("exec:").filter(|rest| !rest.starts_with('{'));
    SCHEDULED.contains(&key) || rest.is_some_and(|rest| rest.contains(":split:") || rest.contains(":node:"))
}

/// Told by the shape of a message: ours has an id, theirs a version of its workflow.
pub fn by_message(heard: &Heard) -> Option<ClusterDialect> {
    #[derive(Deserialize)]
    struct Shape {
        #[serde(default)]
        message_id: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        workflow_version: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        is_worker_initiated: Option<serde::de::IgnoredAny>,
    }
    let shape: Shape = serde_json::from_slice(&heard.body).ok()?;
    one_of(
        shape.message_id.is_some(),
        shape.workflow_version.is_some() || shape.is_worker_initiated.is_some(),
    )
}

fn one_of(ours: bool, theirs: bool) -> Option<ClusterDialect> {
    match (ours, theirs) {
        (true, false) => Some(ClusterDialect::Runeglass),
        (false, true) => Some(ClusterDialect::Rune),
        (true, true) | (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::broker::Depth;

    #[test]
    fn each_side_is_told_by_what_only_it_has() {
        let hearing = |names: &[&str]| Hearing {
            queues: names
                .iter()
                .map(|name| ((*name).to_owned(), Depth { messages: 0, consumers: 0 }))
                .collect::<BTreeMap<_, _>>(),
            ..Hearing::default()
        };
        let both = ["p.workflow.execution", "p.workflow.node.status"];
        assert_eq!(by_queues(&hearing(&both), "p."), None);
        assert_eq!(
            by_queues(&hearing(&["p.workflow.execution.parking"]), "p."),
            Some(ClusterDialect::Runeglass)
        );
        assert_eq!(by_queues(&hearing(&["p.workflow.resume"]), "p."), Some(ClusterDialect::Rune));
        let message =
            |body: &str| Heard { at: 0, routing_key: String::new(), body: body.as_bytes().to_vec() };
        assert_eq!(by_message(&message(r#"{"message_id":"m"}"#)), Some(ClusterDialect::Runeglass));
        assert_eq!(by_message(&message(r#"{"workflow_version":0}"#)), Some(ClusterDialect::Rune));
        assert_eq!(by_message(&message("garbage")), None);
        assert_eq!(by_names(&["exec:{a}:log".to_owned()], ""), Some(ClusterDialect::Runeglass));
        assert_eq!(by_names(&["exec:a:split:s:count".to_owned()], ""), Some(ClusterDialect::Rune));
        assert_eq!(by_names(&["else".to_owned()], ""), None);
    }
}
