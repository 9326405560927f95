//! What can be said of an execution of which not everything was heard. What is kept in Redis says how far its joins are;
//! that nothing more comes only silence can tell, and only while everything that is said is heard.

use protocol::{Millis, iso8601};

use crate::stuck;

use super::{Rune, WORKED, execution::Execution, facts::QUEUE, look::Wanted};

impl Rune {
    /// Absent where everything of the execution was heard.
    pub(super) fn doubt(&self, execution: &Execution, join: Option<&Wanted>) -> Option<stuck::Doubt> {
        let why = match execution.missed_until {
            Some(until) => format!("messages were missed until {}", iso8601(until)),
            None if execution.joined_late => "it had begun before we came".to_owned(),
            None if execution.let_go > 0 => "there was more of it than can be kept".to_owned(),
            None => return None,
        };
        let quiet_since = join.and_then(|join| self.quiet_since(execution, join));
        Some(stuck::Doubt { why, quiet_since })
    }

    /// Since when nothing at all has happened; `None` where something may be under way, or nobody can tell.
    fn quiet_since(&self, execution: &Execution, join: &Wanted) -> Option<Millis> {
        let (changed_at, seen_at) = self.redis.moments(join)?;
        let silent_since = self.listening_since?.max(execution.heard_at);
        let silent_since = silent_since.max(execution.missed_until.unwrap_or(silent_since));
        // What Redis says counts only if it was asked since.
        let is_fresh = seen_at >= silent_since && self.redis.timers.looked_at()? >= silent_since;
        let rests = self.redis.timers.rests(&execution.id)?;
        (is_fresh && !rests && !self.may_wait_in_a_queue(execution)).then_some(silent_since.max(changed_at))
    }

    /// A message of it may wait for a worker. Where something always waits, or the queue may not be asked, others that
    /// were taken up since tell: all that was before it, and more.
    fn may_wait_in_a_queue(&self, execution: &Execution) -> bool {
        let is_passed = self.hands.passed_at(execution.heard_at).is_some();
        WORKED.iter().any(|name| match self.queues.get(name) {
            Some(queue) => queue.messages > 0 && !(*name == QUEUE && is_passed),
            None => *name == QUEUE && !is_passed,
        })
    }
}
