//! A cluster in lines for a terminal: only what is new, each once.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    ClusterDialect, ClusterView, ExecutionId, ExecutionPhase, Finding, Millis, Problem, Rule, Update,
    ViewPatch,
};

use crate::terminal::{plain, short};

/// What was said so far.
#[derive(Default)]
pub struct Told {
    running: BTreeMap<ExecutionId, String>,
    ended: usize,
    /// By what tells them apart, as they were told.
    findings: BTreeMap<String, String>,
    troubles: BTreeSet<String>,
    dialect: Option<ClusterDialect>,
    /// When the last gap began that was told of.
    gap: Option<Millis>,
    passed_over: bool,
    forgotten: bool,
}

impl Told {
    pub fn begin(&mut self, view: &ClusterView) -> Vec<String> {
        let name = plain(&view.connection.name);
        let mut lines = vec![format!("LIVE {name}: looking, changing nothing; Ctrl-C leaves")];
        lines.extend(self.cluster(view));
        lines
    }

    /// What an update says that is new.
    pub fn update(&mut self, update: &Update) -> Vec<String> {
        match update {
            Update::Execution(patch) => self.execution(patch),
            Update::Cluster(Some(view)) => self.cluster(view),
            Update::Trouble(problem) => vec![trouble(problem)],
            Update::Cluster(None) | Update::Forgotten(_) | Update::Workflows(_) | Update::Control => {
                Vec::new()
            }
        }
    }

    /// One line that is always there.
    pub fn now(&self, view: &ClusterView) -> String {
        let waiting: u64 = view.queues.iter().map(|queue| queue.messages).sum();
        let redis = view.redis.as_ref().and_then(|redis| redis.used_bytes);
        let redis = redis.map(|bytes| format!(" · Redis {} MiB", bytes / (1024 * 1024))).unwrap_or_default();
        format!(
            "LIVE {} · {} running, {} ended · {} waiting{}{redis} · {}",
            plain(&view.connection.name),
            self.running.len(),
            self.ended,
            counted(waiting, "message"),
            astray(view),
            heard(view),
        )
    }

    pub fn end(&self, view: &ClusterView) -> String {
        let mut line = format!("left: {} ended, ", counted(self.ended as u64, "execution"));
        line.push_str(&match self.running.len() {
            1 => "1 goes on".to_owned(),
            more => format!("{more} go on"),
        });
        if view.passed_over > 0 {
            line.push_str(&format!(
                ", {} not listed: there were too many, or they were over too soon",
                view.passed_over
            ));
        }
        if view.unreadable > 0 {
            line.push_str(&format!(", {} not listed: they could not be read", view.unreadable));
        }
        line.push_str(&format!("{}; {}", astray(view), heard(view)));
        if !view.findings.is_empty() {
            line.push_str(&format!("; {} wrong", counted(view.found() as u64, "thing")));
        }
        line
    }

    fn execution(&mut self, patch: &ViewPatch) -> Vec<String> {
        let summary = &patch.summary;
        let (id, title) = (&summary.execution_id, short(&summary.title, 40));
        let mut lines = Vec::new();
        let is_known = self.running.contains_key(id);
        if !is_known {
            let late = summary.observed.as_ref().is_some_and(|observed| observed.joined_late);
            let late = if late { "  (joined late: its beginning was not seen)" } else { "" };
            lines.push(format!("▶ {title}  {id}{late}"));
        }
        if summary.ended_at.is_none() {
            self.running.insert(id.clone(), title);
            return lines;
        }
        self.running.remove(id);
        self.ended += 1;
        let error =
            summary.error.as_ref().map(|error| format!("  {}", plain(&error.message))).unwrap_or_default();
        lines.extend(match summary.phase {
            ExecutionPhase::Completed => Some(format!("✓ {title}  {id} completed{error}")),
            ExecutionPhase::Failed => Some(format!("✕ {title}  {id} failed{error}")),
            ExecutionPhase::Halted => Some(format!("■ {title}  {id} halted{error}")),
            ExecutionPhase::Running => None,
        });
        lines
    }

    fn cluster(&mut self, view: &ClusterView) -> Vec<String> {
        let mut lines = Vec::new();
        if view.dialect.is_some() && self.dialect != view.dialect {
            self.dialect = view.dialect;
            lines.push(match view.dialect {
                Some(ClusterDialect::Rune) => "· these are workers of the Rune services".to_owned(),
                Some(ClusterDialect::Runeglass) | None => "· these are workers of Runeglass".to_owned(),
            });
        }
        // Why it has ended is said at the end.
        if view.ended.is_none() {
            lines.extend(self.troubles(&view.troubles));
        }
        lines.extend(self.findings(&view.findings));
        for gap in view.gaps.iter().filter(|gap| self.gap.is_none_or(|told| gap.from > told)) {
            lines.push(format!("· gap: {}", plain(&gap.why)));
        }
        self.gap = view.gaps.iter().map(|gap| gap.from).max().max(self.gap);
        if view.passed_over > 0 && !self.passed_over {
            self.passed_over = true;
            lines.push(
                "· there are more executions than can be followed; those that are not are counted, and not listed"
                    .to_owned(),
            );
        }
        if view.forgotten > 0 && !self.forgotten {
            self.forgotten = true;
            lines.push(
                "· many executions have ended: the oldest are no longer kept; --record PATH keeps all of them"
                    .to_owned(),
            );
        }
        lines
    }

    fn troubles(&mut self, troubles: &[Problem]) -> Vec<String> {
        let now: BTreeSet<String> = troubles.iter().map(|trouble| trouble.message.clone()).collect();
        let new = troubles.iter().filter(|trouble| !self.troubles.contains(&trouble.message));
        let mut lines: Vec<String> = new.map(trouble).collect();
        // A trouble that gives way to another is not over.
        if lines.is_empty() {
            lines.extend(self.troubles.difference(&now).map(|over| format!("· over: {}", plain(over))));
        }
        self.troubles = now;
        lines
    }

    fn findings(&mut self, findings: &[Finding]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut before = std::mem::take(&mut self.findings);
        for finding in findings {
            let identity = finding.identity();
            let told = before.remove(&identity).unwrap_or_else(|| {
                let line = self.finding(finding);
                lines.push(format!("! {line}"));
                lines.push(format!("  → {}", plain(&finding.advice)));
                if passes(finding.rule) { line } else { String::new() }
            });
            self.findings.insert(identity, told);
        }
        let over = before.into_values().filter(|line| !line.is_empty());
        // Whether it is over only the cluster knows: after a gap less can be told.
        lines.extend(over.map(|line| format!("· no longer seen: {line}")));
        lines
    }

    /// Which execution it is about, and what is wrong.
    fn finding(&self, finding: &Finding) -> String {
        let sentence = plain(&finding.sentence);
        match &finding.execution_id {
            Some(id) if !sentence.contains(id.as_str()) => {
                let title = self.running.get(id).map(|title| format!("{title}  ")).unwrap_or_default();
                format!("{title}{}: {sentence}", plain(id.as_str()))
            }
            Some(_) | None => sentence,
        }
    }
}

/// Something that is wrong now and may be over later; the others have happened, and are only told for a while.
fn passes(rule: Rule) -> bool {
    match rule {
        Rule::BarrierCannotOpen
        | Rule::OverdueTimer
        | Rule::LostResume
        | Rule::NoConsumer
        | Rule::Discarded
        | Rule::Parked
        | Rule::SlowItem
        | Rule::NoEnd => true,
        Rule::CountedTwice | Rule::SharedCounter | Rule::SeveralCompletions | Rule::EarlyCompletion => false,
    }
}

fn trouble(problem: &Problem) -> String {
    format!("! {}: {}", plain(&problem.message), plain(&problem.hint))
}

/// Where it comes from: our own workers keep a log, which is read; of theirs only messages tell.
fn heard(view: &ClusterView) -> String {
    let source = match view.dialect {
        Some(ClusterDialect::Runeglass) => "the log of the workers is read".to_owned(),
        Some(ClusterDialect::Rune) | None => format!("{} heard", counted(view.heard, "message")),
    };
    let counts = [(view.dropped, "not seen"), (view.unread, "could not be read")];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    some.fold(source, |line, (count, what)| format!("{line}, {} {what}", counted(*count, "message")))
}

/// What was done more than once or not at all, where there is any: ", 3 begun again, 1 put aside".
fn astray(view: &ClusterView) -> String {
    let counts = [(view.redelivered, "begun again"), (view.dead_letters.unwrap_or(0), "put aside")];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!(", {count} {what}")).collect()
}

/// "1 message", "3 messages".
fn counted(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ClusterConnection, Gap};

    use super::*;

    fn view() -> ClusterView {
        let connection = ClusterConnection {
            name: "shop".to_owned(),
            colour: String::new(),
            amqp: String::new(),
            redis: String::new(),
            prefix: String::new(),
            dialect: Some(ClusterDialect::Rune),
        };
        ClusterView { heard: 1, ..ClusterView::new(connection, 0) }
    }

    fn finding(rule: Rule, sentence: &str) -> Finding {
        Finding {
            rule,
            since: 1,
            execution_id: None,
            node_id: None,
            key: None,
            queue: None,
            sentence: sentence.to_owned(),
            evidence: Vec::new(),
            advice: "Do something.".to_owned(),
        }
    }

    fn lines(told: &mut Told, view: &ClusterView) -> Vec<String> {
        told.update(&Update::Cluster(Some(Box::new(view.clone()))))
    }

    #[test]
    fn each_finding_is_told_once_with_the_execution_it_is_about() {
        let mut told = Told::default();
        lines(&mut told, &view());
        let alone = |name: &str| Finding {
            queue: Some(name.to_owned()),
            ..finding(Rule::NoConsumer, &format!("{name} holds 3 messages."))
        };
        let slow = |seconds: u32| Finding {
            execution_id: Some("e7".into()),
            ..finding(Rule::SlowItem, &format!("Fetch runs for {seconds} s."))
        };
        let twice = Finding {
            execution_id: Some("e8".into()),
            ..finding(Rule::SeveralCompletions, "The end was announced 2 times.")
        };
        let wrong = ClusterView { findings: vec![alone("a"), alone("b"), slow(60), twice], ..view() };
        let advice = "  → Do something.";
        assert_eq!(
            lines(&mut told, &wrong),
            [
                "! a holds 3 messages.",
                advice,
                "! b holds 3 messages.",
                advice,
                "! e7: Fetch runs for 60 s.",
                advice,
                "! e8: The end was announced 2 times.",
                advice
            ]
        );
        let later = ClusterView { findings: vec![alone("b"), slow(61)], ..view() };
        assert_eq!(
            lines(&mut told, &later),
            ["· no longer seen: a holds 3 messages."],
            "what has happened is only told for a while"
        );
        assert_eq!(
            lines(&mut told, &view()),
            ["· no longer seen: b holds 3 messages.", "· no longer seen: e7: Fetch runs for 60 s."]
        );
    }

    #[test]
    fn a_trouble_is_over_when_no_other_has_come_in_its_place() {
        let trouble = |message: &str| Problem::new(protocol::ProblemCode::Unreachable, message, "look there");
        let with = |messages: &[&str]| ClusterView {
            troubles: messages.iter().copied().map(trouble).collect(),
            ..view()
        };
        let mut told = Told::default();
        lines(&mut told, &view());
        assert_eq!(lines(&mut told, &with(&["it is gone"])), ["! it is gone: look there"]);
        assert_eq!(lines(&mut told, &with(&["nobody listens"])), ["! nobody listens: look there"]);
        assert_eq!(lines(&mut told, &with(&["nobody listens"])), Vec::<String>::new());
        assert_eq!(lines(&mut told, &view()), ["· over: nobody listens"]);
    }

    #[test]
    fn every_gap_is_told_although_the_oldest_leave_the_list() {
        let gap = |from| Gap { from, until: Some(from + 1), dropped: 1, why: format!("reason {from}") };
        let mut told = Told::default();
        lines(&mut told, &ClusterView { gaps: (1..=100).map(gap).collect(), ..view() });
        let more = ClusterView { gaps: (2..=101).map(gap).collect(), ..view() };
        assert_eq!(lines(&mut told, &more), ["· gap: reason 101"]);
        assert_eq!(lines(&mut told, &more), Vec::<String>::new());
    }

    #[test]
    fn the_last_line_counts_in_words() {
        let mut told = Told { ended: 1, ..Told::default() };
        told.running.insert("a".into(), "A".to_owned());
        let one = ClusterView { findings: vec![finding(Rule::SlowItem, "It is slow.")], ..view() };
        assert_eq!(told.end(&one), "left: 1 execution ended, 1 goes on; 1 message heard; 1 thing wrong");
        let ours = ClusterView { dialect: Some(ClusterDialect::Runeglass), dropped: 2, ..view() };
        assert_eq!(
            Told::default().end(&ours),
            "left: 0 executions ended, 0 go on; the log of the workers is read, 2 messages not seen"
        );
    }

    #[test]
    fn what_went_astray_is_counted_where_there_is_any() {
        let told = Told::default();
        let none = ClusterView { dead_letters: Some(0), ..view() };
        assert_eq!(told.end(&none), "left: 0 executions ended, 0 go on; 1 message heard");
        assert!(!told.now(&none).contains("again") && !told.now(&none).contains("aside"));
        let some = ClusterView { redelivered: 3, dead_letters: Some(1), ..view() };
        assert_eq!(
            told.end(&some),
            "left: 0 executions ended, 0 go on, 3 begun again, 1 put aside; 1 message heard"
        );
        assert_eq!(
            told.now(&some),
            "LIVE shop · 0 running, 0 ended · 0 messages waiting, 3 begun again, 1 put aside · 1 message heard"
        );
        let unread = ClusterView { dropped: 2, unread: 1, ..view() };
        assert!(
            told.now(&unread).ends_with("1 message heard, 2 messages not seen, 1 message could not be read")
        );
    }

    #[test]
    fn what_is_no_longer_kept_is_told_once() {
        let mut told = Told::default();
        lines(&mut told, &view());
        let many = ClusterView { forgotten: 500, ..view() };
        assert!(lines(&mut told, &many)[0].contains("no longer kept"));
        assert_eq!(lines(&mut told, &ClusterView { forgotten: 900, ..view() }), Vec::<String>::new());
    }
}
