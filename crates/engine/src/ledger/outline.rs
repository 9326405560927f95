//! What a ledger holds, in sentences: for comparing two ledgers, and for asking whether anything is left behind.

use crate::{Context, Joined};
use protocol::{Lineage, MessageId, Millis};

use super::Ledger;

impl Ledger {
    /// Messages, items and joins that still wait for something. Nothing of this is left when an execution has come to
    /// its end. Two ledgers of the same events say the same here, also when one of them was made after a crash: what
    /// has been woken and not yet committed counts as resting, and attempts do not count.
    pub fn under_way(&self) -> Vec<String> {
        let mut found = self.joins.under_way(&self.plan);
        found.extend(self.turns.under_way(&self.plan));
        for (id, opened) in &self.open {
            let message = &opened.message;
            let rests = opened.parked.or(opened.woken);
            let joined = message.joined.as_deref();
            found.push(self.sentence(id, message.node, &message.lineage, &message.context, rests, joined));
        }
        for item in self.fan_outs.pending(&self.plan) {
            for (edge, id, value) in &item.messages {
                let node = self.plan.edges[*edge].to;
                let joined = self.brought(*edge, value);
                found.push(self.sentence(id, node, &item.lineage, &item.context, None, joined.as_ref()));
            }
        }
        found.sort();
        found
    }

    /// Decisions that are kept so that nothing is decided again.
    pub fn decided(&self) -> Vec<String> {
        self.joins.decided(&self.plan)
    }

    /// How many timers are set.
    pub fn timer_count(&self) -> usize {
        self.timers.len()
    }

    fn sentence(
        &self,
        id: &MessageId,
        node: usize,
        lineage: &Lineage,
        context: &Context,
        rests: Option<Millis>,
        joined: Option<&Joined>,
    ) -> String {
        let (node, at, known) = (&self.plan.nodes[node].id, lineage.key(), context.keys());
        format!("{node} at [{at}] has the message {id}, rests {rests:?}, knows {known:?}, joins {joined:?}")
    }
}
