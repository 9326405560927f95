//! Each rule with a case that fires it and one that nearly does.

use protocol::{Finding, QueueView, Rule};

use super::*;

fn at() -> At {
    At::node(&"e1".into(), &"n1".into(), LineageKey::default(), "Gather")
}

fn fires(rule: Rule, found: Option<Finding>, words: &[&str]) {
    let found = found.unwrap_or_else(|| panic!("{rule:?} does not fire"));
    assert_eq!(found.rule, rule);
    for word in words {
        assert!(found.sentence.contains(word), "{word:?} is not in {:?}", found.sentence);
    }
    assert!(found.sentence.ends_with('.') && !found.evidence.is_empty() && !found.advice.is_empty());
}

fn silent(found: Option<Finding>) {
    assert_eq!(found, None, "a near miss fires");
}

fn missing(what: &str, still_comes: bool) -> MissingPart {
    let ended = (!still_comes).then(|| "its way ended at Check".to_owned());
    let chance = if still_comes { Chance::Comes } else { Chance::Nothing };
    MissingPart { what: what.to_owned(), chance, ended, cause: Cause::Lost }
}

fn barrier(arrived: u32, counted: u32, expected: u32) -> Barrier {
    let stands = Standing { since: 1_000, arrived, counted: Some(counted), expected, is_open: false };
    Barrier { at: at(), stands, ..Barrier::default() }
}

#[test]
fn a_barrier_that_can_no_longer_open() {
    let hangs =
        Barrier { missing: vec![missing("item 2", false), missing("item 3", true)], ..barrier(2, 2, 4) };
    fires(
        Rule::BarrierCannotOpen,
        barrier_cannot_open(&hangs, 9_000),
        &["2 of 4", "item 2", "ended at Check"],
    );
    silent(barrier_cannot_open(&hangs, 1_500));
    let advice = |cause: Cause| {
        let part = MissingPart { cause, ..missing("item 2", false) };
        let hangs = Barrier { missing: vec![part], ..barrier(3, 3, 4) };
        barrier_cannot_open(&hangs, 9_000).expect("it hangs").advice
    };
    assert!(advice(Cause::Failed).contains("ignore its errors"));
    assert!(advice(Cause::Lost).contains("wait_for_any"));
    assert!(advice(Cause::Unanswered).contains("max_message_size"));
    let comes = Barrier { missing: vec![missing("item 2", true)], ..barrier(3, 3, 4) };
    silent(barrier_cannot_open(&comes, 9_000));
    let open = Standing { is_open: true, ..hangs.stands.clone() };
    silent(barrier_cannot_open(&Barrier { stands: open, ..hangs }, 9_000));
}

#[test]
fn a_barrier_of_which_not_everything_was_heard() {
    let part = |chance| MissingPart { what: "item 2".to_owned(), chance, ended: None, cause: Cause::Lost };
    let seems = |chance, quiet_since| {
        let doubt = Some(Doubt { why: "messages were missed".to_owned(), quiet_since });
        Barrier { missing: vec![part(chance)], doubt, ..barrier(2, 2, 3) }
    };
    let lost = seems(Chance::Nothing, Some(10_000));
    fires(
        Rule::BarrierCannotOpen,
        barrier_cannot_open(&lost, 140_000),
        &["2 of 3", "as far as seen", "item 2", "for 2 min"],
    );
    silent(barrier_cannot_open(&lost, 120_000));
    silent(barrier_cannot_open(&seems(Chance::Nothing, None), 900_000));
    let ran = seems(Chance::Ran, Some(10_000));
    silent(barrier_cannot_open(&ran, 600_000));
    fires(Rule::BarrierCannotOpen, barrier_cannot_open(&ran, 610_000), &["as far as seen"]);
    silent(barrier_cannot_open(&seems(Chance::Comes, Some(10_000)), 9_000_000));
}

#[test]
fn an_arrival_that_is_counted_twice() {
    fires(Rule::CountedTwice, counted_twice(&barrier(1, 2, 3)), &["2 arrivals", "1 different item"]);
    let forks = Barrier { forks: true, ..barrier(1, 2, 3) };
    fires(Rule::CountedTwice, counted_twice(&forks), &["2 arrivals", "more than one way leads"]);
    silent(counted_twice(&barrier(2, 2, 3)));
    let opened = |arrived: u32| {
        let stands = Standing { is_open: true, counted: None, ..barrier(arrived, 0, 3).stands };
        Barrier { at: at(), stands, ..Barrier::default() }
    };
    fires(Rule::CountedTwice, counted_twice(&opened(2)), &["opened with 2", "of 3", "null"]);
    silent(counted_twice(&opened(3)));
}

#[test]
fn fan_outs_that_share_a_counter() {
    let users = vec![("outer=0".to_owned(), 2), ("outer=1".to_owned(), 3)];
    let key = |text: &str| {
        let (split, index) = text.split_once('=').unwrap();
        protocol::Lineage::default().push(&split.into(), index.parse().unwrap(), 9).key()
    };
    let users = users.into_iter().map(|(text, total)| (key(&text), total)).collect();
    let shared = Counter { at: at(), since: 5, counter: "exec:e1:split:n1:count".to_owned(), users };
    fires(Rule::SharedCounter, shared_counter(&shared), &["2 times", "one counter"]);
    fires(Rule::SharedCounter, shared_arrivals(&shared), &["2 items", "one set"]);
    let alone = Counter { users: shared.users[..1].to_vec(), ..shared };
    silent(shared_counter(&alone));
    silent(shared_arrivals(&alone));
}

fn completions(said: &[&str]) -> Completions {
    let said: Vec<_> = said.iter().zip(1_000..).map(|(word, at)| ((*word).to_owned(), at)).collect();
    let count = said.len() as u32;
    Completions { at: at(), said, count, ..Completions::default() }
}

#[test]
fn an_end_that_is_announced_again_or_too_early() {
    let several = completions(&["halted", "completed"]);
    fires(Rule::SeveralCompletions, several_completions(&several), &["2 times", "halted", "completed"]);
    silent(several_completions(&completions(&["completed"])));
    silent(several_completions(&completions(&[])));

    let early = Completions { meanwhile: vec!["Mail runs".to_owned()], ..completions(&["completed"]) };
    fires(Rule::EarlyCompletion, early_completion(&early), &["(completed)", "Mail runs"]);
    let after = Completions { begun_after: 3, ..completions(&["completed"]) };
    fires(Rule::EarlyCompletion, early_completion(&after), &["3 nodes began"]);
    let both = Completions { ended_after: 1, ..after };
    fires(
        Rule::EarlyCompletion,
        early_completion(&both),
        &["3 nodes began behind it, 1 node ended behind it."],
    );
    silent(early_completion(&completions(&["completed"])));
}

#[test]
fn an_execution_that_stops_without_an_end() {
    let ends = vec!["Mail failed, which is ignored, and leads nowhere".to_owned()];
    let stopped = Silence { at: at(), since: 1_000, is_under_way: false, is_announced: false, ends };
    fires(Rule::NoEnd, no_end(&stopped, 181_000), &["for 3 min", "no end was announced: Mail failed"]);
    silent(no_end(&stopped, 120_000));
    silent(no_end(&Silence { is_under_way: true, ..stopped.clone() }, 181_000));
    silent(no_end(&Silence { is_announced: true, ..stopped }, 181_000));
}

#[test]
fn a_race_that_nobody_wins() {
    let race = Race { at: at(), since: 1_000, ignored: 2, ..Race::default() };
    let words = ["whoever was first has its lock", "2 arrivals were ignored"];
    fires(Rule::BarrierCannotOpen, race_cannot_open(&race, 181_000), &words);
    let other = Race { has_other_won: true, ignored: 1, ..race.clone() };
    fires(Rule::BarrierCannotOpen, race_cannot_open(&other, 181_000), &["for another item", "1 arrival was"]);
    silent(race_cannot_open(&race, 60_000));
    silent(race_cannot_open(&Race { ignored: 0, ..race.clone() }, 181_000));
    silent(race_cannot_open(&Race { is_under_way: true, ..race }, 181_000));
}

#[test]
fn timers_that_do_not_go_on() {
    let resting =
        Resting { at: at(), timer: "t".to_owned(), due: 10_000, has_timer: true, alone_since: None };
    fires(Rule::OverdueTimer, overdue_timer(&resting, 130_000), &["2 min ago", "nobody has claimed"]);
    silent(overdue_timer(&resting, 11_000));
    silent(overdue_timer(&Resting { has_timer: false, ..resting.clone() }, 130_000));

    let many = |count: usize| vec![resting.clone(); count];
    assert_eq!(overdue_timers(&many(3), 130_000).len(), 3);
    let together = overdue_timers(&many(4), 130_000);
    assert_eq!(together.len(), 1, "one reason is one sentence");
    fires(Rule::OverdueTimer, together.into_iter().next(), &["4 timers", "the first for 2 min"]);
    assert_eq!(overdue_timers(&many(9), 11_000), []);

    let lost = Resting { has_timer: false, alone_since: Some(20_000), ..resting.clone() };
    fires(Rule::LostResume, lost_resume(&lost, 30_000), &["never go on"]);
    silent(lost_resume(&lost, 20_500));
    silent(lost_resume(&resting, 30_000));
}

#[test]
fn queues_and_messages_that_nobody_takes() {
    let queue = QueueView { name: "workflow.execution".to_owned(), messages: 70, consumers: 0, growth: 2.5 };
    let check = |queue: &QueueView, is_work: bool, now: Millis| {
        no_consumer(&Unconsumed { queue, since: 5, grew_at: None, is_work }, now)
    };
    fires(Rule::NoConsumer, check(&queue, false, 6_000), &["workflow.execution", "2.5", "70 messages"]);
    // A worker that starts again finds more than it left.
    silent(check(&queue, true, 4_000));
    silent(check(&QueueView { consumers: 1, ..queue.clone() }, true, 90_000));
    silent(check(&QueueView { messages: 0, ..queue.clone() }, true, 90_000));
    // What does not grow is wrong only where work waits, and not at once.
    let still = QueueView { growth: 0.0, ..queue };
    silent(check(&still, false, 90_000));
    silent(check(&still, true, 1_000));
    fires(Rule::NoConsumer, check(&still, true, 6_000), &["holds 70 messages and nobody takes them."]);
    let mut watched = Watched::default();
    watched.note([still.clone()], 1_000);
    watched.note([still.clone()], 9_000);
    assert_eq!(watched.findings(|_| true, 9_000).len(), 1, "it is alone since the first look");
    watched.note([QueueView { consumers: 1, ..still.clone() }], 10_000);
    watched.note([still], 11_000);
    assert_eq!(watched.findings(|_| true, 12_000), [], "somebody was there in between");
    // What grows in bursts is one finding, not one for each.
    let burst = QueueView { name: "bursts".to_owned(), messages: 3, consumers: 0, growth: 1.5 };
    let mut watched = Watched::default();
    watched.note([burst.clone()], 1_000);
    watched.note([QueueView { growth: 0.0, ..burst.clone() }], 3_000);
    let lull = watched.findings(|_| false, 7_000);
    assert_eq!((lull.len(), lull[0].since, lull[0].queue.as_deref()), (1, 1_000, Some("bursts")));
    assert_eq!(watched.findings(|_| false, 62_000), [], "it does not grow any more");
    watched.note([burst.clone(), QueueView { name: "other".to_owned(), ..burst }], 63_000);
    let both: std::collections::BTreeSet<String> =
        watched.findings(|_| false, 69_000).iter().map(Finding::identity).collect();
    assert_eq!(both.len(), 2, "they are told apart");

    let aside =
        QueueView { name: "workflow.execution.parking".to_owned(), messages: 2, consumers: 0, growth: 0.0 };
    fires(Rule::Parked, parked(&aside, 1), &["2 messages that no worker could deal with are parked"]);
    silent(parked(&QueueView { messages: 0, ..aside }, 1));

    let gone = Undelivered {
        at: at(),
        since: 0,
        left_queue: 0,
        queue: "workflow.execution".to_owned(),
        depth: Some((0, 2)),
        is_passed: false,
        overtaken: 0,
        were_idle: false,
        behind: None,
        longest: 0,
        has_dead_letters: false,
    };
    fires(Rule::Discarded, discarded(&gone, 180_000), &["Gather", "3 min ago", "is gone"]);
    // A worker that has taken ten of them may be busy with the first.
    let held = Undelivered { longest: 30_000, ..gone.clone() };
    silent(discarded(&held, 300_000));
    fires(Rule::Discarded, discarded(&held, 420_000), &["is gone"]);
    fires(Rule::Discarded, discarded(&Undelivered { were_idle: true, ..held }, 180_000), &["is gone"]);
    // Or with one that hangs, and comes to nothing else.
    let behind = Some(Hanging { at: At { name: "Fetch".to_owned(), ..at() }, since: -600_000, others: 2 });
    let behind = Undelivered { behind, ..gone.clone() };
    let words = ["is gone, or it waits behind Fetch, which runs for 13 min, or behind one of 2 others."];
    fires(Rule::Discarded, discarded(&behind, 180_000), &words);
    silent(discarded(&Undelivered { longest: 30_000, ..behind }, 300_000));
    let evidence = discarded(&gone, 180_000).expect("it fires").evidence.join("\n");
    assert!(evidence.contains("a policy may have added one"), "{evidence}");
    silent(discarded(&gone, 60_000));
    let came_back = Undelivered { left_queue: 100_000, were_idle: true, ..gone.clone() };
    silent(discarded(&came_back, 180_000));
    fires(Rule::Discarded, discarded(&came_back, 240_000), &["4 min ago"]);
    let waits = Undelivered { depth: Some((3, 2)), ..gone.clone() };
    silent(discarded(&waits, 180_000));
    let passed = Undelivered { is_passed: true, ..waits };
    fires(Rule::Discarded, discarded(&passed, 180_000), &["is gone"]);
    silent(discarded(&Undelivered { depth: Some((3, 0)), ..passed }, 180_000));
    silent(discarded(&Undelivered { depth: None, ..gone.clone() }, 180_000));
    silent(discarded(&Undelivered { has_dead_letters: true, ..gone.clone() }, 180_000));
    let passed = Undelivered { depth: None, is_passed: true, ..gone };
    fires(Rule::Discarded, discarded(&passed, 180_000), &["is gone"]);
}

#[test]
fn an_item_that_lags_behind() {
    let item = Item { at: at(), since: 0, peers: vec![900, 1_000, 1_100, 1_200, 90_000] };
    fires(Rule::SlowItem, slow_item(&item, 60_000), &["runs for 60 s", "took 1 s"]);
    silent(slow_item(&item, 9_000));
    silent(slow_item(&Item { peers: vec![20_000; 9], ..item.clone() }, 60_000));
    let alone = Item { peers: vec![1_000; 4], ..item };
    silent(slow_item(&alone, 60_000));
    silent(very_long(&alone, 1_700_000));
    fires(Rule::SlowItem, very_long(&alone, 2_400_000), &["runs for 40 min", "nothing was heard of it"]);
}

#[test]
fn what_is_lost_comes_before_what_is_slow() {
    let slow = slow_item(&Item { at: at(), since: 0, peers: vec![1_000; 9] }, 60_000);
    let lost = lost_resume(
        &Resting { at: at(), timer: "t".to_owned(), due: 1, has_timer: false, alone_since: Some(2) },
        60_000,
    );
    let mut found: Vec<Finding> = [slow, lost].into_iter().flatten().collect();
    sort(&mut found);
    assert_eq!(found.iter().map(|found| found.rule).collect::<Vec<_>>(), [Rule::LostResume, Rule::SlowItem]);
}

#[test]
fn what_is_broken_a_thousand_times_does_not_hide_what_is_broken_once() {
    let hangs = |since| {
        at().finding(
            Rule::BarrierCannotOpen,
            since,
            Said { sentence: String::new(), evidence: Vec::new(), advice: "" },
        )
    };
    let alone =
        at().finding(Rule::NoConsumer, 7, Said { sentence: String::new(), evidence: Vec::new(), advice: "" });
    let mut findings: Vec<Finding> = (0..500).rev().map(hangs).chain([alone.clone()]).collect();
    sort(&mut findings);
    let more = list(&mut findings);
    assert_eq!(more, BTreeMap::from([(Rule::BarrierCannotOpen, 450)]));
    assert_eq!(findings.len(), 51);
    assert_eq!((findings[0].since, findings[49].since), (0, 49), "the oldest are listed");
    assert_eq!(findings[50], alone);
    assert_eq!(list(&mut findings), BTreeMap::new());
}
