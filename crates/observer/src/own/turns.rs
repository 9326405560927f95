//! Executions that are seen to one after the other: whoever was just seen to goes to the end.

use std::collections::{HashSet, VecDeque};

use protocol::ExecutionId;

#[derive(Default)]
pub struct Turns {
    order: VecDeque<ExecutionId>,
    waiting: HashSet<ExecutionId>,
}

impl Turns {
    /// Behind all others, unless it waits already.
    pub fn push(&mut self, id: ExecutionId) {
        if self.waiting.insert(id.clone()) {
            self.order.push_back(id);
        }
    }

    pub fn next(&mut self) -> Option<ExecutionId> {
        let id = self.order.pop_front()?;
        self.waiting.remove(&id);
        Some(id)
    }

    pub fn contains(&self, id: &ExecutionId) -> bool {
        self.waiting.contains(id)
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_kept_waiting_by_those_who_come_again() {
        let mut turns = Turns::default();
        for id in ["b", "a", "b", "c"] {
            turns.push(id.into());
        }
        assert_eq!(turns.len(), 3);
        let mut seen = String::new();
        for _ in 0..6 {
            let id = turns.next().unwrap();
            seen.push_str(id.as_str());
            turns.push(id);
        }
        assert_eq!(seen, "bacbac");
    }
}
