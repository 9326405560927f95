//! Splits, aggregators, merges and waits, each case the smallest workflow that shows it.

use protocol::{ErrorCode, ExecutionStatus, NodeState};
use runeglass_tests::{
    local::{plan, run},
    short::{condition, echo, gather, go, merge, node, split, trigger, workflow},
};
use serde_json::json;

const DAY: i64 = 86_400_000;

#[tokio::test]
async fn splits_of_no_one_and_many_items() {
    let nodes =
        || vec![trigger(), split("s", "$trigger"), echo("e", "$item"), gather("a"), echo("z", "$a.length")];
    for count in [0, 1, 2, 1_000] {
        let items: Vec<usize> = (0..count).collect();
        let ran = go(nodes(), "t>s s>e e>a a>z", json!(items)).await;
        assert_eq!(ran.output("a"), json!(items));
        assert_eq!((ran.output("z"), ran.firings("e"), ran.firings("a")), (json!(count), count, 1));
    }
}

#[tokio::test]
async fn results_are_in_index_order_whatever_finishes_first() {
    let slow = node("e", "simulate", json!({"latency_ms": "{{ 1000 - $item * 100 }}", "output": "$item"}));
    let ran =
        go(vec![trigger(), split("s", "$trigger"), slow, gather("a")], "t>s s>e e>a", json!([0, 1, 2, 3]))
            .await;
    assert_eq!((ran.output("a"), ran.ended_at()), (json!([0, 1, 2, 3]), 1_000));
}

#[tokio::test]
async fn splits_nest_three_deep() {
    let nodes = vec![
        trigger(),
        split("x", "$trigger"),
        split("y", "$item"),
        split("z", "$item"),
        echo("e", "{{ $item * 10 }}"),
        gather("c"),
        gather("b"),
        gather("a"),
    ];
    let input = json!([[[1, 2], []], [], [[3], [4, 5, 6]]]);
    let ran = go(nodes, "t>x x>y y>z z>e e>c c>b b>a", input).await;
    assert_eq!(ran.output("a"), json!([[[10, 20], []], [], [[30], [40, 50, 60]]]));
    assert_eq!((ran.firings("c"), ran.firings("b")), (4, 3));
}

#[tokio::test]
async fn a_merge_inside_a_split_keeps_items_apart() {
    let slow = node("q", "simulate", json!({"latency_ms": "{{ 500 - $item * 100 }}", "output": "q$item"}));
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        echo("p", "p$item"),
        slow,
        node("m", "merge", json!({})),
        gather("a"),
    ];
    let ran = go(nodes, "t>s s>p s>q p>m q>m m>a", json!([0, 1, 2])).await;
    assert_eq!(ran.output("a"), json!([["p0", "q0"], ["p1", "q1"], ["p2", "q2"]]));
}

#[tokio::test]
async fn a_merge_takes_what_an_outer_level_knows() {
    let nodes = vec![
        trigger(),
        echo("rate", "$trigger.rate"),
        split("s", "$trigger.items"),
        echo("e", "$item"),
        node("m", "merge", json!({})),
        gather("a"),
    ];
    let ran = go(nodes, "t>rate t>s s>e e>m rate>m m>a", json!({"rate": 7, "items": [1, 2]})).await;
    assert_eq!(ran.output("a"), json!([[1, 7], [2, 7]]));
}

#[tokio::test]
async fn items_that_leave_the_way_are_null_omitted_or_marked() {
    for (skipped, expected) in [
        (json!(null), json!([1, null, 3])),
        (json!("null"), json!([1, null, 3])),
        (json!("omit"), json!([1, 3])),
        (json!("marker"), json!([1, {"skipped": true}, 3])),
    ] {
        let nodes = vec![
            trigger(),
            split("s", "$trigger"),
            node("c", "conditional", json!({"expression": "$item % 2 == 1"})),
            echo("e", "$item"),
            echo("dropped", "$item"),
            node("a", "aggregator", json!({"skipped": skipped})),
        ];
        let ran = go(nodes, "t>s s>c c>e:true c>dropped:false e>a", json!([1, 2, 3])).await;
        assert_eq!((ran.output("a"), ran.firings("dropped")), (expected, 1));
    }
}

#[tokio::test]
async fn both_sides_of_a_condition_fill_the_same_slot() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        node("c", "conditional", json!({"expression": "$item > 1"})),
        echo("big", "big $item"),
        echo("small", "small $item"),
        gather("a"),
    ];
    let ran = go(nodes, "t>s s>c c>big:true c>small:false big>a small>a", json!([1, 2])).await;
    assert_eq!((ran.output("a"), ran.firings("a")), (json!(["small 1", "big 2"]), 1));
}

#[tokio::test]
async fn two_aggregators_behind_one_split_do_not_share_anything() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        echo("e", "$item"),
        gather("a"),
        echo("f", "-$item"),
        gather("b"),
    ];
    let ran = go(nodes, "t>s s>e s>f e>a f>b", json!([1, 2])).await;
    assert_eq!((ran.output("a"), ran.output("b")), (json!([1, 2]), json!(["-1", "-2"])));
}

#[tokio::test]
async fn a_failing_item_is_an_error_in_its_slot() {
    let fails =
        || node("e", "simulate", json!({"failure_rate": "{{ $item == 2 ? 1 : 0 }}", "output": "$item"}));
    let nodes = |on_error: &str| {
        vec![
            trigger(),
            split("s", "$trigger"),
            fails(),
            node("a", "aggregator", json!({"on_error": on_error})),
        ]
    };
    let ran = go(nodes("include"), "t>s s>e e>a", json!([1, 2, 3])).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Completed);
    let found = ran.output("a");
    assert_eq!((&found[0], &found[2]), (&json!(1), &json!(3)));
    assert_eq!(
        (&found[1]["error"]["code"], &found[1]["error"]["node_id"]),
        (&json!("SIMULATED_FAILURE"), &json!("e"))
    );
    assert_eq!(go(nodes("omit"), "t>s s>e e>a", json!([1, 2, 3])).await.output("a"), json!([1, 3]));
    let ran = go(nodes("fail"), "t>s s>e e>a", json!([1, 2, 3])).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Halted);
}

#[tokio::test]
async fn an_explicit_halt_inside_a_split_halts_everything() {
    let mut fails = node("e", "simulate", json!({"failure_rate": 1}));
    fails["error"] = json!({"type": "halt"});
    let ran =
        go(vec![trigger(), split("s", "$trigger"), fails, gather("a")], "t>s s>e e>a", json!([1, 2])).await;
    assert_eq!((ran.completion.status, ran.firings("a")), (ExecutionStatus::Halted, 0));
}

#[tokio::test]
async fn an_error_edge_leads_back_to_the_aggregator() {
    let fails = node("e", "simulate", json!({"failure_rate": "{{ $item == 2 ? 1 : 0 }}", "output": "$item"}));
    let nodes = vec![trigger(), split("s", "$trigger"), fails, echo("rescue", "rescued $item"), gather("a")];
    let ran = go(nodes, "t>s s>e e>a !e>rescue rescue>a", json!([1, 2])).await;
    assert_eq!(ran.output("a"), json!([1, "rescued 2"]));
}

#[tokio::test]
async fn a_branch_that_was_not_taken_does_not_hold_up_a_merge() {
    let nodes = |strict: bool| {
        vec![
            trigger(),
            node("c", "conditional", json!({"expression": "$trigger"})),
            echo("x", "x"),
            echo("y", "y"),
            node("m", "merge", json!({"strict": strict})),
            echo("z", "$m"),
        ]
    };
    let edges = "t>c c>x:true c>y:false x>m y>m m>z";
    assert_eq!(go(nodes(false), edges, json!(true)).await.output("z"), json!(["x"]));
    assert_eq!(go(nodes(false), edges, json!(false)).await.output("z"), json!(["y"]));
    let ran = go(nodes(true), edges, json!(true)).await;
    assert_eq!(ran.completion.error.expect("an error").code, ErrorCode::IncompleteMerge);
}

#[tokio::test]
async fn a_split_that_never_runs_leaves_nothing_behind() {
    let nodes = vec![
        trigger(),
        node("c", "conditional", json!({"expression": "$trigger.go"})),
        split("s", "$trigger.items"),
        echo("e", "$item"),
        gather("a"),
        echo("other", "other"),
        node("m", "merge", json!({})),
    ];
    let edges = "t>c c>s:true c>other:false s>e e>a a>m other>m";
    let ran = go(nodes, edges, json!({"go": false, "items": [1]})).await;
    assert_eq!((ran.output("m"), ran.firings("a")), (json!(["other"]), 0));
}

#[tokio::test]
async fn the_first_of_a_race_wins_and_the_loser_is_ignored() {
    let nodes = vec![
        trigger(),
        node("slow", "simulate", json!({"latency_ms": 500, "output": "slow"})),
        node("fast", "simulate", json!({"latency_ms": 100, "output": "fast"})),
        node("m", "merge", json!({"wait_mode": "wait_for_any"})),
        echo("z", "$m"),
    ];
    let ran = go(nodes, "t>slow t>fast slow>m fast>m m>z", json!(1)).await;
    assert_eq!((ran.output("z"), ran.firings("m"), ran.ended_at()), (json!("fast"), 1, 500));
}

#[tokio::test]
async fn waits_of_different_length_inside_a_split() {
    let wait = node("w", "wait", json!({"amount": "$item", "unit": "days"}));
    let nodes = vec![trigger(), split("s", "$trigger"), wait, echo("e", "$item"), gather("a")];
    let ran = go(nodes, "t>s s>w w>e e>a", json!([3, 1, 2, 0])).await;
    assert_eq!((ran.output("a"), ran.ended_at()), (json!([3, 1, 2, 0]), 3 * DAY));
}

#[tokio::test]
async fn a_wait_puts_out_when_it_resumed() {
    let ran =
        go(vec![trigger(), node("w", "wait", json!({"amount": 2, "unit": "hours"}))], "t>w", json!(1)).await;
    assert_eq!(ran.output("w")["resume_at"], 2 * 3_600_000);
    assert!(ran.output("w")["timer_id"].is_string());
}

#[tokio::test]
async fn joins_that_wait_too_long_fail() {
    let slow = node("e", "simulate", json!({"latency_ms": "{{ $item * 1000 }}", "output": "$item"}));
    let nodes = vec![trigger(), split("s", "$trigger"), slow, node("a", "aggregator", json!({"timeout": 5}))];
    let ran = go(nodes, "t>s s>e e>a", json!([1, 2, 60])).await;
    let error = ran.completion.error.clone().expect("an error");
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::TimeoutExceeded, "2 of 3 arrived in time"));
    assert_eq!(ran.ended_at(), 6_000, "five seconds after the first arrival");

    let nodes = vec![
        trigger(),
        echo("x", "x"),
        node("y", "wait", json!({"amount": 1, "unit": "days"})),
        node("m", "merge", json!({"timeout": 10})),
    ];
    let ran = go(nodes, "t>x t>y x>m y>m", json!(1)).await;
    assert_eq!(ran.completion.error.expect("an error").code, ErrorCode::TimeoutExceeded);
}

#[tokio::test]
async fn behind_an_aggregator_only_the_outside_is_known() {
    let text = workflow(
        vec![trigger(), split("s", "$trigger"), echo("e", "$item"), gather("a"), echo("z", "$e")],
        "t>s s>e e>a a>z",
    );
    let loaded = engine::load(text.to_string().as_bytes(), &engine::Limits::default());
    let said = &loaded.diagnostics[0];
    assert!(said.is_error() && said.hint.starts_with("aggregate first"), "{said:?}");
    let item =
        workflow(vec![trigger(), split("s", "$trigger"), gather("a"), echo("z", "$item")], "t>s s>a a>z");
    assert!(engine::load(item.to_string().as_bytes(), &engine::Limits::default()).plan.is_none());
}

#[tokio::test]
async fn the_working_payload_fills_the_slot() {
    let edit = node("e", "edit", json!({"assignments": [{"name": "double", "value": "{{ $item * 2 }}"}]}));
    let ran =
        go(vec![trigger(), split("s", "$trigger"), edit, gather("a")], "t>s s>e e>a", json!([1, 2])).await;
    assert_eq!(ran.output("a"), json!([{"double": 2}, {"double": 4}]));
}

#[tokio::test]
async fn null_is_an_item_like_any_other() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        echo("e", "$item"),
        node("a", "aggregator", json!({"skipped": "omit"})),
    ];
    assert_eq!(go(nodes, "t>s s>e e>a", json!([null, 1, null])).await.output("a"), json!([null, 1, null]));
}

/// However an execution ends, nothing is shown as if it still went on.
#[tokio::test]
async fn nothing_is_shown_as_waiting_after_the_end() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        node("w", "wait", json!({"amount": "$item", "unit": "hours"})),
        node("boom", "simulate", json!({"failure_rate": "{{ $item == 1 ? 1 : 0 }}"})),
        gather("a"),
    ];
    let mut text = workflow(nodes, "t>s s>w w>boom boom>a");
    text["nodes"][3]["error"] = json!({"type": "halt"});
    let ran = run(plan(&text), json!([1, 2, 3])).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Halted);
    let fold = recording::ViewFold::replay(&ran.events).expect("a view");
    for (id, node) in &fold.view().nodes {
        let over = matches!(node.state, NodeState::Success | NodeState::Failed | NodeState::Skipped);
        assert!(
            over && node.counts.waiting + node.counts.running + node.counts.queued == 0,
            "{id}: {node:?}"
        );
        assert_eq!(node.due, None, "{id}");
    }
}

/// Only a join has a timer: a node behind one of two sides waits as long as it takes, and fires once.
#[tokio::test]
async fn a_node_where_sides_meet_waits_as_long_as_it_takes() {
    let nodes = vec![
        trigger(),
        condition("c", "$trigger"),
        node("w", "wait", json!({"amount": 1, "unit": "hours"})),
        echo("q", "q"),
        echo("x", "$trigger"),
        echo("y", "y"),
        merge("m"),
    ];
    let ran = go(nodes, "t>c c>w:true w>x c>q:false q>x x>m t>y y>m", json!(true)).await;
    assert_eq!((ran.output("m"), ran.firings("x"), ran.ended_at()), (json!([true, "y"]), 1, 3_600_000));
}

#[tokio::test]
async fn a_split_that_fails_speaks_where_it_stands() {
    let inner = || {
        vec![
            trigger(),
            split("s", "$trigger"),
            split("s2", "$item"),
            echo("x", "$item"),
            gather("a2"),
            gather("a"),
        ]
    };
    let ran = go(inner(), "t>s s>s2 s2>x x>a2 a2>a", json!([[1, 2], 5])).await;
    let found = ran.output("a");
    assert_eq!((&found[0], &found[1]["error"]["node_id"]), (&json!([1, 2]), &json!("s2")));
    let ran = go(inner(), "t>s s>s2 s2>x x>a2 a2>a", json!([5, 6])).await;
    assert_eq!((ran.output("a")[1]["error"]["node_id"].clone(), ran.firings("a2")), (json!("s2"), 0));

    let mut ignoring = split("s", "$trigger");
    ignoring["error"] = json!({"type": "ignore"});
    let ran = go(
        vec![trigger(), ignoring, echo("x", "$item"), gather("a"), echo("z", "$a")],
        "t>s s>x x>a a>z",
        json!("no"),
    )
    .await;
    assert_eq!((ran.output("z"), ran.firings("x")), (json!([]), 0));

    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        echo("x", "$item"),
        gather("a"),
        echo("h", "handled"),
        merge("m"),
    ];
    let ran = go(nodes.clone(), "t>s s>x x>a !s>h h>m a>m", json!("no")).await;
    assert_eq!((ran.output("m"), ran.firings("a")), (json!(["handled"]), 0));
    let ran = go(nodes, "t>s s>x x>a !s>h h>m a>m", json!([1])).await;
    assert_eq!(ran.output("m"), json!([[1]]));
}

#[tokio::test]
async fn a_split_where_sides_meet_is_told_that_neither_comes() {
    let nodes = vec![
        trigger(),
        condition("c0", "$trigger.go"),
        condition("c1", "$trigger.go"),
        echo("l", "l"),
        echo("r", "r"),
        split("s", "$trigger.items"),
        echo("x", "$item"),
        gather("a"),
        echo("y", "y"),
        merge("m"),
    ];
    let edges = "t>c0 c0>c1:true c1>l:true c1>r:false l>s r>s s>x x>a a>m c0>y:false y>m";
    assert_eq!(go(nodes.clone(), edges, json!({"go": false, "items": [1]})).await.output("m"), json!(["y"]));
    assert_eq!(go(nodes, edges, json!({"go": true, "items": [1]})).await.output("m"), json!([[1]]));
}

/// Inside the fan-out the sides exclude each other; behind the aggregators both carry something.
#[tokio::test]
async fn sides_are_forgotten_behind_an_aggregator() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        condition("c", "$item > 1"),
        echo("p", "$item"),
        echo("q", "$item"),
        gather("a1"),
        gather("a2"),
        echo("x", "x"),
        echo("y", "y"),
        merge("m"),
    ];
    let text = workflow(nodes, "t>s s>c c>p:true c>q:false p>a1 q>a2 a1>x a2>x x>m t>y y>m");
    let loaded = engine::load(text.to_string().as_bytes(), &engine::Limits::default());
    assert_eq!(
        loaded.diagnostics[0].code,
        protocol::DiagnosticCode::RepeatedInput,
        "{:?}",
        loaded.diagnostics
    );
}

#[tokio::test]
async fn an_ignored_failure_of_a_choice_takes_its_last_way() {
    let mut choice = condition("c", "$item.missing");
    choice["error"] = json!({"type": "ignore"});
    let nodes = vec![trigger(), split("s", "$trigger"), choice, echo("p", "p"), echo("q", "q"), gather("a")];
    let ran = go(nodes, "t>s s>c c>p:true c>q:false p>a q>a", json!([{}, {}])).await;
    assert_eq!((ran.output("a"), ran.firings("p")), (json!(["q", "q"]), 0));
}

/// The simulated clock never runs past a timer.
#[tokio::test]
async fn timers_and_sleepers_share_one_time() {
    for _ in 0..20 {
        let slow = || node("slow", "simulate", json!({"latency_ms": 10_000, "output": "slow"}));
        let late = vec![trigger(), echo("y", "y"), slow(), node("m", "merge", json!({"timeout": 1}))];
        let ran = go(late, "t>y t>slow y>m slow>m", json!(1)).await;
        assert_eq!((ran.completion.status, ran.ended_at()), (ExecutionStatus::Failed, 1_000));
        let rest = node("w", "wait", json!({"amount": 1}));
        let race = node("m", "merge", json!({"wait_mode": "wait_for_any"}));
        let ran = go(vec![trigger(), rest, slow(), race], "t>w t>slow w>m slow>m", json!(1)).await;
        assert_eq!(ran.output("m")["resume_at"], 1_000);
    }
}

#[tokio::test]
async fn a_join_that_gives_up_still_knows_what_was_known() {
    let mut join = node("m", "merge", json!({"timeout": 1}));
    join["error"] = json!({"type": "ignore"});
    let nodes = vec![
        trigger(),
        condition("c", "$trigger"),
        node("slow", "simulate", json!({"latency_ms": 10_000})),
        echo("f", "f"),
        join,
        echo("z", "$trigger $c.result $m.error.code"),
    ];
    let ran = go(nodes, "t>c c>slow:true slow>m c>f:false f>m m>z", json!(true)).await;
    assert_eq!(ran.output("z"), json!("true true TIMEOUT_EXCEEDED"));
}

#[tokio::test]
async fn what_an_outer_node_brought_into_a_split_is_known_behind_it() {
    let nodes = vec![
        trigger(),
        echo("y", "why"),
        split("s", "$trigger"),
        echo("x", "$item"),
        merge("m"),
        gather("a"),
        echo("z", "$y"),
    ];
    let ran = go(nodes, "t>y t>s s>x x>m y>m m>a a>z", json!([1, 2])).await;
    assert_eq!(ran.output("z"), json!("why"));
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        echo("o", "o"),
        split("s2", "$item"),
        echo("x", "$item"),
        merge("m"),
        echo("i", "$item"),
        gather("a2"),
        gather("a"),
    ];
    let ran = go(nodes, "t>s s>o s>s2 s2>x x>m o>m m>i i>a2 a2>a", json!([[1, 2], [3]])).await;
    assert_eq!(ran.output("a"), json!([[1, 2], [3]]), "an outer level does not hide the item");
}

#[tokio::test]
async fn a_node_that_never_runs_does_not_hold_up_a_merge() {
    let nodes = vec![trigger(), echo("y", "y"), echo("orphan", "o"), merge("m")];
    assert_eq!(go(nodes, "t>y y>m orphan>m", json!(1)).await.output("m"), json!(["y"]));
}

#[tokio::test]
async fn a_failure_wins_a_race_only_when_nothing_else_is_left() {
    let race = |rate: f64| {
        vec![
            trigger(),
            split("s", "$trigger"),
            node("f", "simulate", json!({"failure_rate": 1})),
            node("g", "simulate", json!({"latency_ms": 100, "output": "good", "failure_rate": rate})),
            node("m", "merge", json!({"wait_mode": "wait_for_any"})),
            gather("a"),
        ]
    };
    let edges = "t>s s>f s>g f>m g>m m>a";
    assert_eq!(go(race(0.0), edges, json!([1])).await.output("a"), json!(["good"]));
    assert!(go(race(1.0), edges, json!([1])).await.output("a")[0]["error"].is_object());
}

#[tokio::test]
async fn times_beyond_reason_are_refused() {
    let ran = go(vec![trigger(), node("e", "simulate", json!({"latency_ms": 1e300}))], "t>e", json!(1)).await;
    assert_eq!(ran.completion.error.expect("an error").code, ErrorCode::InvalidParameter);
    let past = node("w", "wait", json!({"resume": "date_time", "date_time": i64::MIN}));
    assert_eq!(
        go(vec![trigger(), past], "t>w", json!(1)).await.completion.status,
        ExecutionStatus::Completed
    );
}

#[tokio::test]
async fn more_keys_than_may_wait_end_it_with_the_name_of_the_input() {
    let mut join = node("join", "simulate", json!({"output": "$inputs"}));
    join["max_pending_keys"] = json!(3);
    let nodes = vec![
        trigger(),
        node("each", "for_each", json!({"input_list": [1, 2, 3, 4, 5]})),
        node("slow", "wait", json!({"amount": 60, "unit": "seconds"})),
        join,
    ];
    let mut flow = workflow(nodes, "t>each each>slow slow>join each>join");
    flow["edges"][2]["target_handle"] = json!("late");
    flow["edges"][3]["target_handle"] = json!("early");
    let ran = run(plan(&flow), json!({})).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Failed);
    let error = ran.completion.error.expect("an error");
    assert_eq!(error.code, ErrorCode::LimitExceeded);
    assert!(error.message.contains("\"join\" exceeded max_pending_keys (3)"), "{}", error.message);
    assert!(error.message.contains("the input \"late\""), "{}", error.message);
}

#[tokio::test]
async fn sides_of_unequal_length_end_it_and_say_which_has_more() {
    let nodes = vec![
        trigger(),
        node("l", "for_each", json!({"input_list": [1, 2, 3]})),
        node("r", "for_each", json!({"input_list": ["x"]})),
        node("z", "zip", json!({})),
        node("all", "collect", json!({})),
    ];
    let mut flow = workflow(nodes, "t>l t>r l>z r>z z>all");
    flow["edges"][2]["target_handle"] = json!("left");
    flow["edges"][3]["target_handle"] = json!("right");
    let ran = run(plan(&flow), json!({})).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Failed);
    let error = ran.completion.error.expect("an error");
    assert_eq!(error.code, ErrorCode::ZipLengthMismatch);
    let said = "zip has 3 items on the left and 1 on the right; nothing pairs with left 1, 2";
    assert_eq!(error.message, said);
}

/// Indexes are counted on from piece to piece, and what gathers the items gathers those of all pieces.
#[tokio::test]
async fn items_of_pieces_are_items_of_the_whole() {
    let nodes = vec![
        trigger(),
        node("lines", "lines", json!({"text": "a b\n\nc d e"})),
        node("word", "for_each", json!({"input_list": "{{ $inputs.line.split(' ').filter(word => word) }}"})),
        node("pair", "simulate", json!({"output": "{{ $inputs.word + $inputs.at }}"})),
        node("all", "collect", json!({})),
        node("places", "collect", json!({})),
    ];
    let mut flow = workflow(nodes, "t>lines lines>word word>pair word>pair pair>all word>places");
    for (edge, source, target) in
        [(1, "line", "line"), (2, "output", "word"), (3, "index", "at"), (5, "index", "input_item")]
    {
        flow["edges"][edge]["id"] = json!(format!("e{edge}"));
        flow["edges"][edge]["source_handle"] = json!(source);
        flow["edges"][edge]["target_handle"] = json!(target);
    }
    let ran = run(plan(&flow), json!({})).await;
    assert_eq!(ran.output("all"), json!(["a0", "b1", "c2", "d3", "e4"]));
    assert_eq!(ran.output("places"), json!([0, 1, 2, 3, 4]));
}

/// The clock of these tests stands still while something can be done; what is ready cannot be where every hand sleeps.
#[tokio::test]
async fn more_items_take_their_time_than_there_are_hands() {
    let nodes =
        vec![trigger(), split("s", "$trigger"), node("n", "simulate", json!({"latency_ms": 2})), gather("a")];
    let items: Vec<u32> = (0..65).collect();
    let ran = go(nodes, "t>s s>n n>a", json!(items)).await;
    assert_eq!((ran.firings("n"), ran.ended_at()), (65, 4));
}
