//! What is found out about recordings when somebody asks.

use std::path::Path;

use protocol::{
    CompareCounts, ComparisonView, DifferenceView, ExecutionId, ExplanationView, LineageKey, NodeId, Note,
    Problem, SlowerView, ValueChange, VerifiedDifference, VerifiedView,
};
use recording::{Change, Comparison, Difference, Divergence, Explanation, Tally};

use crate::{
    Session,
    problem::{from_io, from_ledger, from_store},
};

impl Session {
    pub(crate) async fn compare(&self, a: &ExecutionId, b: &ExecutionId) -> Result<ComparisonView, Problem> {
        let (a, b) = (self.recorded(a).await?, self.recorded(b).await?);
        Ok(comparison(recording::compare(&a, &b)))
    }

    pub(crate) async fn explain(
        &self,
        id: &ExecutionId,
        node: Option<&NodeId>,
        key: Option<&LineageKey>,
        at: Option<u64>,
    ) -> Result<ExplanationView, Problem> {
        let recorded = crate::until(self.recorded(id).await?, at);
        let explanation = recording::explain(&recorded, node, key.map(LineageKey::as_str));
        let explanation = explanation.map_err(|error| from_ledger(&error))?;
        let Explanation { sentences, waiting, critical_path, spent, node, .. } = explanation;
        Ok(ExplanationView { sentences, waiting, critical_path, spent, node })
    }

    pub(crate) async fn verify(&self, id: &ExecutionId) -> Result<VerifiedView, Problem> {
        let recorded = self.recorded(id).await?;
        let verified = recording::verify(&recorded).map_err(|error| from_ledger(&error))?;
        Ok(VerifiedView {
            events: verified.events,
            firings: verified.firings,
            recorded_answers: verified.recorded_answers,
            difference: verified.difference.map(difference),
        })
    }

    /// Takes an execution from a `.runeglass` file into the store. One that was taken in before is simply there.
    pub async fn import(&self, file: &Path) -> Result<ExecutionId, Problem> {
        let case = recording::read_case(file).await.map_err(|error| from_store(&error))?;
        let id = case.execution_id();
        let known = self.store.span(&id, 1).await.map_err(|error| from_store(&error))?;
        // What has more events or fewer is another story under the same name, and is refused.
        if known.is_none_or(|(_, last)| last != case.events.len() as u64) {
            self.store.import(&case).await.map_err(|error| from_store(&error))?;
        }
        Ok(id)
    }

    /// Takes an execution from the bytes of a `.runeglass` file into the store. The file is read where nobody else
    /// reads or writes, and is gone afterwards.
    pub async fn import_bytes(&self, bytes: Vec<u8>) -> Result<ExecutionId, Problem> {
        let keep = |error: std::io::Error| from_io("keep the file while it is read", &error);
        let folder = tempfile::tempdir().map_err(keep)?;
        let file = folder.path().join("dropped.runeglass");
        tokio::fs::write(&file, bytes).await.map_err(keep)?;
        self.import(&file).await
    }

    pub(crate) async fn notes(&self, id: &ExecutionId) -> Result<Vec<Note>, Problem> {
        self.store.notes(id).await.map_err(|error| from_store(&error))
    }

    pub(crate) async fn add_note(
        &self,
        execution_id: ExecutionId,
        position: u64,
        node_id: Option<NodeId>,
        text: String,
    ) -> Result<(), Problem> {
        let note = Note { execution_id, position, node_id, at: self.clock.now(), text };
        self.store.add_note(&note).await.map_err(|error| from_store(&error))
    }
}

fn comparison(found: Comparison) -> ComparisonView {
    ComparisonView {
        definition_changed: found.definition_changed,
        input: found.input.into_iter().map(change).collect(),
        total: counts(found.total),
        nodes: found.nodes.into_iter().map(|(node, tally)| (node, counts(tally))).collect(),
        differences: found.differences.into_iter().map(divergence).collect(),
        more: found.more,
        slower: found
            .slower
            .into_iter()
            .map(|slow| SlowerView {
                node_id: slow.node_id,
                key: slow.key,
                duration_a: slow.duration_a,
                duration_b: slow.duration_b,
            })
            .collect(),
    }
}

fn counts(tally: Tally) -> CompareCounts {
    let Tally { equal, changed, only_a, only_b, slower } = tally;
    CompareCounts { equal, changed, only_a, only_b, slower }
}

fn divergence(found: Divergence) -> DifferenceView {
    DifferenceView {
        node_id: found.node_id,
        key: found.key,
        verdict: found.verdict.to_owned(),
        position_a: found.position_a,
        position_b: found.position_b,
        changes: found.changes.into_iter().map(change).collect(),
    }
}

fn change(found: Change) -> ValueChange {
    ValueChange { path: found.path, a: found.a, b: found.b }
}

fn difference(found: Difference) -> VerifiedDifference {
    VerifiedDifference {
        position: found.position,
        node_id: found.node_id,
        key: found.key,
        what: found.what.to_owned(),
        recorded: found.recorded,
        replayed: found.replayed,
    }
}
