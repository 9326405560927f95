//! Pins and mocks of a workflow.

use engine::{Message, Plan};
use protocol::{ControlError, ErrorCode, Mock, MockAnswer, NodeError};

use super::{Answer, held::answer_of};

#[derive(Debug, Default)]
pub struct Mocks(Vec<Mock>);

impl Mocks {
    pub fn new(mocks: Vec<Mock>) -> Self {
        Self(mocks)
    }

    /// Says what is wrong with a mock for this workflow, if anything.
    pub fn check(plan: &Plan, mock: &Mock) -> Result<(), ControlError> {
        let Some(node) = plan.node(&mock.node_id) else {
            let message = format!("there is no node {}", mock.node_id);
            return Err(ControlError::missing(message, "name a node of the workflow by its id"));
        };
        match &mock.answer {
            MockAnswer::Output { value } => answer_of(plan, node, value).map(|_| ()),
            MockAnswer::Latency { millis } if *millis < 0 => {
                Err(ControlError::invalid("nothing ends before it began", "give 0 or more milliseconds"))
            }
            MockAnswer::Error { .. } | MockAnswer::Latency { .. } => Ok(()),
        }
    }
}

impl Mocks {
    pub(super) fn answer(&self, plan: &Plan, message: &Message) -> Option<Answer> {
        let (node, key) = (&plan.nodes[message.node].id, message.lineage.key());
        // What is said for one key counts before what is said for all.
        let of_node = || self.0.iter().filter(|mock| mock.node_id == *node);
        let here = of_node().find(|mock| mock.key.as_ref() == Some(&key));
        let mock = here.or_else(|| of_node().find(|mock| mock.key.is_none()))?;
        Some(match &mock.answer {
            MockAnswer::Output { value } => Answer::Given(
                answer_of(plan, message.node, value)
                    .map_err(|error| NodeError::new(ErrorCode::InvalidParameter, error.message)),
            ),
            MockAnswer::Error { message } => {
                Answer::Given(Err(NodeError::new(ErrorCode::NodeExecutionFailed, message)))
            }
            MockAnswer::Latency { millis } => Answer::Late(*millis),
        })
    }
}
