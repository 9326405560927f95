//! A view in the middle of its fold, as data: kept beside a recording so that looking at a late moment does not begin
//! at the first event.

use std::collections::BTreeMap;

use protocol::{
    EdgeId, EdgeView, Event, ExecutionSummary, Lineage, MessageId, Millis, NodeId, NodeView, Progress,
};
use serde::{Deserialize, Serialize};

use super::{ViewFold, parked::Parked};

/// Everything a fold knows but the graph, which the first event holds.
#[derive(Debug, Serialize, Deserialize)]
pub struct ViewState {
    summary: ExecutionSummary,
    position: u64,
    /// Nodes and edges of which something is known; the others are as they were at the start.
    nodes: BTreeMap<NodeId, NodeView>,
    edges: BTreeMap<EdgeId, EdgeView>,
    running: Vec<MessageId>,
    parked: Vec<(NodeId, Vec<(Millis, MessageId)>)>,
    retrying: Vec<MessageId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ahead: Vec<(NodeId, usize)>,
    barriers: Vec<(NodeId, Vec<(Lineage, Progress)>)>,
}

impl ViewFold {
    /// What [`ViewFold::resume`] goes on from.
    pub fn state(&self) -> ViewState {
        let nodes = self.view.nodes.iter().filter(|(_, node)| **node != NodeView::default());
        let edges = self.view.edges.iter().filter(|(_, edge)| **edge != EdgeView::default());
        let barriers = self.barriers.iter().map(|(node, keys)| {
            (node.clone(), keys.iter().map(|(lineage, progress)| (lineage.clone(), *progress)).collect())
        });
        ViewState {
            summary: self.view.summary.clone(),
            position: self.view.position,
            nodes: nodes.map(|(id, node)| (id.clone(), node.clone())).collect(),
            edges: edges.map(|(id, edge)| (id.clone(), *edge)).collect(),
            running: self.running.iter().cloned().collect(),
            parked: self.parked.listed(),
            retrying: self.retrying.iter().cloned().collect(),
            ahead: self.ahead.iter().map(|(node, ahead)| (node.clone(), *ahead)).collect(),
            barriers: barriers.collect(),
        }
    }

    /// Goes on where a fold was; `start` is the first event of the same recording.
    pub fn resume(start: &Event, state: ViewState) -> Option<Self> {
        let mut fold = Self::begin(start)?;
        fold.view.summary = state.summary;
        fold.view.position = state.position;
        fold.view.nodes.extend(state.nodes);
        fold.view.edges.extend(state.edges);
        fold.running = state.running.into_iter().collect();
        fold.parked = Parked::of(state.parked);
        fold.retrying = state.retrying.into_iter().collect();
        fold.ahead = state.ahead.into_iter().collect();
        fold.barriers =
            state.barriers.into_iter().map(|(node, keys)| (node, keys.into_iter().collect())).collect();
        Some(fold)
    }

    /// About how many entries [`ViewFold::state`] has.
    pub fn weight(&self) -> usize {
        let barriers: usize = self.barriers.values().map(std::collections::HashMap::len).sum();
        self.view.nodes.len()
            + self.view.edges.len()
            + self.running.len()
            + self.parked.len()
            + self.retrying.len()
            + barriers
    }
}
