//! Breakpoints, pins and mocks of workflows.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{Controls, Millis, Mock, NodeId};
use serde::{Deserialize, Serialize};
use sqlx::Row;

use super::{Store, StoreError};

/// Changes that are remembered of one node.
const MOST_TURNS: usize = 32;

/// One change of the pins and mocks of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Turn {
    at: Millis,
    /// What was set until then, by its hash: a pinned value may be large. Absent where that is forgotten.
    before: Option<String>,
}

/// The changes of a node, the oldest first. Stores of an earlier time know the moment of the last one only.
#[derive(Deserialize)]
#[serde(untagged)]
enum Turns {
    Last(Millis),
    Told(Vec<Turn>),
}

impl From<Turns> for Vec<Turn> {
    fn from(turns: Turns) -> Self {
        match turns {
            Turns::Last(at) => vec![Turn { at, before: None }],
            Turns::Told(turns) => turns,
        }
    }
}

impl Store {
    /// What is set for a workflow.
    pub async fn controls(&self, workflow: &str) -> Result<Controls, StoreError> {
        let row = sqlx::query("SELECT body FROM controls WHERE workflow = ?")
            .bind(workflow)
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        row.map_or_else(|| Ok(Controls::default()), |row| self.decode(row.get::<&str, _>(0)))
    }

    /// Nodes whose pins and mocks are not those that an execution of this time has worked with.
    pub async fn mocks_differing(
        &self,
        workflow: &str,
        started: Millis,
        ended: Option<Millis>,
    ) -> Result<BTreeSet<NodeId>, StoreError> {
        let mut turns = self.mock_turns(workflow).await?;
        turns.retain(|_, turns| turns.last().is_some_and(|last| last.at > started));
        if turns.is_empty() {
            return Ok(BTreeSet::new());
        }
        let now = self.controls(workflow).await?.mocks;
        let differs = |node: &NodeId, turns: &[Turn]| {
            let Some(first) = turns.iter().find(|turn| turn.at > started) else { return false };
            // What is under way heeds a change at once, so it has worked with both.
            ended.is_none_or(|ended| first.at < ended) || first.before != hash_of(node, &now)
        };
        Ok(turns.into_iter().filter(|(node, turns)| differs(node, turns)).map(|(node, _)| node).collect())
    }

    async fn mock_turns(&self, workflow: &str) -> Result<BTreeMap<NodeId, Vec<Turn>>, StoreError> {
        let row = sqlx::query("SELECT mocks_changed FROM controls WHERE workflow = ?")
            .bind(workflow)
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let Some(row) = row else { return Ok(BTreeMap::new()) };
        let known: BTreeMap<NodeId, Turns> = self.decode(row.get::<&str, _>(0))?;
        Ok(known.into_iter().map(|(node, turns)| (node, turns.into())).collect())
    }

    pub async fn set_controls(
        &self,
        workflow: &str,
        controls: &Controls,
        at: Millis,
    ) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })?;
        let encode = |error: serde_json::Error| StoreError::query(error.to_string());
        let body = serde_json::to_string(controls).map_err(encode)?;
        // Nobody else changes it meanwhile.
        let mut writer = writer.lock().await;
        let before = self.controls(workflow).await?.mocks;
        let mut changed = self.mock_turns(workflow).await?;
        for node in differing(&before, &controls.mocks) {
            let turns = changed.entry(node.clone()).or_default();
            turns.push(Turn { at, before: hash_of(node, &before) });
            forget_oldest(turns);
        }
        let query = "INSERT INTO controls (workflow, changed_at, body, mocks_changed) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (workflow) DO UPDATE SET changed_at = ?2, body = ?3, mocks_changed = ?4";
        sqlx::query(query)
            .bind(workflow)
            .bind(at)
            .bind(body)
            .bind(serde_json::to_string(&changed).map_err(encode)?)
            .execute(&mut writer.connection)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        Ok(())
    }
}

/// Nodes whose pins and mocks are not the same.
fn differing<'m>(before: &'m [Mock], now: &'m [Mock]) -> BTreeSet<&'m NodeId> {
    let gone = before.iter().filter(|mock| !now.contains(mock));
    let new = now.iter().filter(|mock| !before.contains(mock));
    gone.chain(new).map(|mock| &mock.node_id).collect()
}

/// What is set for a node, whatever its order; nothing has a hash too.
fn hash_of(node: &NodeId, mocks: &[Mock]) -> Option<String> {
    let its = mocks.iter().filter(|mock| mock.node_id == *node);
    let mut texts = its.map(serde_json::to_string).collect::<Result<Vec<_>, _>>().ok()?;
    texts.sort_unstable();
    Some(blake3::hash(texts.join("\n").as_bytes()).to_hex().to_string())
}

/// Before the first one that is left, anything may have been set.
fn forget_oldest(turns: &mut Vec<Turn>) {
    if turns.len() <= MOST_TURNS {
        return;
    }
    turns.drain(..turns.len() - MOST_TURNS);
    if let Some(first) = turns.first_mut() {
        first.before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_changes_are_forgotten_and_said_to_be() {
        let mut turns = Vec::new();
        for at in 0..MOST_TURNS as Millis + 3 {
            turns.push(Turn { at, before: Some(at.to_string()) });
            forget_oldest(&mut turns);
        }
        assert_eq!(turns.len(), MOST_TURNS);
        assert_eq!(turns[0], Turn { at: 3, before: None });
        assert_eq!(turns[1].before.as_deref(), Some("4"));
    }

    #[test]
    fn changes_of_an_earlier_time_are_read() {
        let read = |text: &str| Vec::from(serde_json::from_str::<Turns>(text).expect("changes"));
        assert_eq!(read("7"), [Turn { at: 7, before: None }]);
        assert_eq!(read(r#"[{"at": 7, "before": "h"}]"#), [Turn { at: 7, before: Some("h".to_owned()) }]);
    }
}
