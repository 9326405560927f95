//! Data edges, each case the smallest workflow that shows it.

use runeglass_tests::short::{condition, echo, gather, go, node, split, trigger};
use serde_json::{Value, json};

fn for_each(id: &str) -> Value {
    node(id, "for_each", json!({}))
}

fn collect(id: &str) -> Value {
    node(id, "collect", json!({}))
}

#[tokio::test]
async fn behind_pieces_nothing_runs_where_nothing_comes() {
    let nodes = || {
        let lines = node("l", "lines", json!({"text": "a\nb"}));
        vec![trigger(), lines, condition("c", "$item == b"), echo("n", "$item"), collect("all")]
    };
    let ran = go(nodes(), "t>l l>c c>n:true n>all", json!({})).await;
    assert_eq!((ran.output("all"), ran.firings("n")), (json!(["b"]), 1));
}

#[tokio::test]
async fn an_aggregator_holds_the_pieces_of_every_item() {
    let lines = node("l", "lines", json!({"text": "$item"}));
    let nodes = vec![trigger(), split("s", "$trigger"), lines, gather("a")];
    let ran = go(nodes, "t>s s>l l>a", json!(["a\nb", "", "c"])).await;
    assert_eq!(ran.output("a"), json!(["a", "b", "c"]));
}

#[tokio::test]
async fn a_default_counts_where_the_only_input_brings_nothing() {
    let mut usual = node("n", "simulate", json!({"output": "$inputs.x"}));
    usual["inputs"] = json!({"x": {"default": 7}});
    let choice = node("c", "if", json!({"condition": "$inputs.value.big"}));
    let ran = go(vec![trigger(), choice, usual], "t>c.value c.if_true>n.x", json!({"big": false})).await;
    assert_eq!(ran.output("n"), json!(7));
}

#[tokio::test]
async fn a_default_knows_the_item_it_stands_for() {
    let mut usual = node("n", "simulate", json!({"output": ["$item", "$index", "$inputs.x"]}));
    usual["inputs"] = json!({"x": {"default": 7}});
    let nodes = vec![trigger(), split("s", "$trigger"), usual, gather("a")];
    let ran = go(nodes, "t>s s.x>n.x n>a", json!([{"x": 1}, {"y": 2}])).await;
    assert_eq!(ran.output("a"), json!([[{"x": 1}, 0, 1], [{"y": 2}, 1, 7]]));
}

#[tokio::test]
async fn what_is_behind_the_pieces_of_a_text_is_counted_together() {
    for (kind, parameters, expected) in [
        ("take", json!({"n": 3}), json!(["a", "b", "c"])),
        ("drop", json!({"n": 3}), json!(["a", "d"])),
        ("take_while", json!({"condition": "{{ $inputs.input_item < 'c' }}"}), json!(["a", "b"])),
        ("distinct", json!({}), json!(["a", "b", "c", "d"])),
    ] {
        let lines = node("l", "lines", json!({"text": "$trigger"}));
        let words = node("w", "simulate", json!({"output": "{{ $inputs.line.split(' ').filter(Boolean) }}"}));
        let nodes = vec![trigger(), lines, words, for_each("e"), node("k", kind, parameters), collect("all")];
        let edges = "t>l l.line>w.line w>e.input_list e>k k>all";
        let ran = go(nodes, edges, json!("a b\n\nc a d")).await;
        assert_eq!(ran.output("all"), expected, "{kind}");
    }
}

#[tokio::test]
async fn the_size_of_a_batch_may_come_from_an_earlier_node() {
    let batch = node("b", "batch", json!({"size": "$t.size"}));
    let nodes = vec![trigger(), for_each("e"), batch, collect("all")];
    let input = json!({"size": 2, "items": [1, 2, 3]});
    let ran = go(nodes, "t.items>e.input_list e>b b.output>all", input).await;
    assert_eq!(ran.output("all"), json!([[1, 2], [3]]));
}

#[tokio::test]
async fn the_left_side_of_a_pair_that_never_opens_is_named_first() {
    let fails = |id: &str, latency: u32| {
        node(id, "simulate", json!({"failure_rate": 1, "error_message": id, "latency_ms": latency}))
    };
    for (left, right) in [(10, 0), (0, 10)] {
        let nodes = vec![
            trigger(),
            for_each("i"),
            fails("left", left),
            fails("right", right),
            for_each("l"),
            for_each("r"),
            node("z", "zip", json!({})),
            collect("inner"),
            collect("all"),
        ];
        let edges = "t>i.input_list i>left i>right left>l.input_list right>r.input_list l>z.left r>z.right \
                     z.left>inner inner>all";
        let ran = go(nodes, edges, json!([1])).await;
        assert_eq!(ran.output("all")[0]["error"]["message"], json!("left"));
    }
}
