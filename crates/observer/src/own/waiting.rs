//! Executions of which there may be something to read. They wait in three lines that are served in turn, so that neither
//! a few busy ones nor the many that were over before we came keep a new one from being seen.

use protocol::ExecutionId;

use super::turns::Turns;

/// Found ones that wait at once; the walk comes by the others again.
const MOST_FOUND: usize = 200;

#[derive(Clone, Copy)]
enum Line {
    /// Those that are followed.
    Followed,
    /// Those that somebody has told of: they go on, or have just ended.
    Told,
    /// Those whose log the walk has come by; most of them are over.
    Found,
}

#[derive(Default)]
pub struct Waiting {
    lines: [Turns; 3],
    /// The line that is served next.
    next: usize,
}

impl Waiting {
    pub fn follow(&mut self, id: ExecutionId) {
        self.line(Line::Followed).push(id);
    }

    pub fn tell(&mut self, id: ExecutionId) {
        self.line(Line::Told).push(id);
    }

    pub fn find(&mut self, id: ExecutionId) {
        let found = self.line(Line::Found);
        if found.len() < MOST_FOUND {
            found.push(id);
        }
    }

    pub fn is_told(&self, id: &ExecutionId) -> bool {
        self.lines[Line::Told as usize].contains(id)
    }

    /// Those that may have to be followed soon.
    pub fn told(&self) -> usize {
        self.lines[Line::Told as usize].len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(Turns::is_empty)
    }

    pub fn next(&mut self) -> Option<ExecutionId> {
        for _ in 0..self.lines.len() {
            let line = self.next;
            self.next = (line + 1) % self.lines.len();
            if let Some(id) = self.lines[line].next() {
                return Some(id);
            }
        }
        None
    }

    fn line(&mut self, line: Line) -> &mut Turns {
        &mut self.lines[line as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_and_old_ones_leave_room_for_new_ones() {
        let mut waiting = Waiting::default();
        for number in 0..300 {
            waiting.follow(format!("busy-{number}").into());
            waiting.find(format!("old-{number}").into());
        }
        waiting.tell("new".into());
        let first: Vec<ExecutionId> = (0..3).filter_map(|_| waiting.next()).collect();
        assert_eq!(first, ["busy-0".into(), "new".into(), "old-0".into()]);
        let rest = std::iter::from_fn(|| waiting.next()).count();
        assert_eq!(rest, 299 + MOST_FOUND - 1, "of old ones only so many wait");
        assert!(waiting.is_empty());
    }
}
