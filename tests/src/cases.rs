//! The conformance cases of correlation that run: their small operations as nodes of our own kinds, and what their sinks
//! have seen. Where one operation takes several nodes, the helpers are called `<node>__<what>`.

use std::collections::BTreeMap;

use engine::Plan;
use protocol::{Event, ExecutionStatus, Fact};
use serde_json::{Value, json};

/// A node and one of its handles.
type End = (String, Option<String>);

/// A case as a workflow.
#[derive(Default)]
struct Translation {
    nodes: Vec<Value>,
    edges: Vec<Value>,
    /// Where the handles of the case's nodes are now.
    inputs: BTreeMap<(String, String), End>,
    outputs: BTreeMap<(String, String), End>,
    /// Where an input that nobody has named is.
    other_inputs: BTreeMap<String, String>,
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// True if a message fits a pattern of the cases.
pub fn says(message: &str, pattern: &str) -> bool {
    let pattern = regex::bytes::RegexBuilder::new(pattern).unicode(false).build();
    pattern.expect("a pattern").is_match(message.as_bytes())
}

/// `a.out -> b.in`
fn ends(edge: &str) -> [(String, String); 2] {
    let (from, to) = edge.split_once(" -> ").expect("an edge leads somewhere");
    [from, to].map(|end| {
        let (node, handle) = end.rsplit_once('.').expect("node.handle");
        (node.to_owned(), handle.to_owned())
    })
}

/// The workflow of a case; `Err` names an operation that nobody knows.
pub fn workflow(case: &Value) -> Result<Value, String> {
    let mut translation = Translation::default();
    for node in case["nodes"].as_array().expect("nodes") {
        translation.node(node)?;
    }
    for edge in case["edges"].as_array().expect("edges") {
        let [from, to] = ends(&text(edge));
        let output = translation.outputs.get(&from).cloned().unwrap_or((from.0, Some(from.1)));
        let input = translation.inputs.get(&to).cloned().unwrap_or_else(|| {
            let node = translation.other_inputs.get(&to.0).unwrap_or(&to.0).clone();
            (node, Some(to.1))
        });
        translation.edge(output, input);
    }
    Ok(json!({"nodes": translation.nodes, "edges": translation.edges}))
}

impl Translation {
    fn add(&mut self, id: &str, kind: &str, parameters: Value) {
        self.nodes.push(json!({"id": id, "type": kind, "parameters": parameters}));
    }

    fn edge(&mut self, (from, output): End, (to, input): End) {
        let id = format!("e{}", self.edges.len());
        let mut edge = json!({"id": id, "src": from, "dst": to});
        if let Some(output) = output {
            edge["source_handle"] = json!(output);
        }
        if let Some(input) = input {
            edge["target_handle"] = json!(input);
        }
        self.edges.push(edge);
    }

    fn lead(&mut self, from: &str, to: &str, input: &str) {
        self.edge((from.to_owned(), None), (to.to_owned(), Some(input.to_owned())));
    }

    fn input(&mut self, node: &str, handle: &str, to: &str, input: &str) {
        self.inputs.insert((node.to_owned(), handle.to_owned()), (to.to_owned(), Some(input.to_owned())));
    }

    fn output(&mut self, node: &str, handle: &str, from: &str, output: Option<&str>) {
        let end = (from.to_owned(), output.map(str::to_owned));
        self.outputs.insert((node.to_owned(), handle.to_owned()), end);
    }

    /// One of our nodes that answers with an expression over its inputs.
    fn compute(&mut self, id: &str, expression: &str) {
        self.add(id, "simulate", json!({"output": format!("{{{{ {expression} }}}}")}));
        self.output(id, "value", id, None);
    }

    fn node(&mut self, node: &Value) -> Result<(), String> {
        let id = text(&node["id"]);
        let shown = |name: &str| node[name].to_string();
        match text(&node["op"]).as_str() {
            "const" => self.constant(&id, &node["value"]),
            "range" => self.constant(&id, &(0..node["n"].as_u64().unwrap_or(0)).collect()),
            "seed" => self.seed(&id, node),
            "foreach" => {
                let limit = node["limit"].as_i64().unwrap_or(-1);
                self.add(&id, "for_each", json!({"limit": limit}));
            }
            "expand" => self.expand(&id, node),
            "gen" => self.generate(&id, node),
            "pass" | "stream_forward" | "reverse" => self.reroute(&id),
            "sink" => self.reroute(&id),
            "tag" => self.compute(&id, &format!("{} + $inputs.value", shown("prefix"))),
            "concat" => {
                let handles: Vec<String> =
                    node["handles"].as_array().expect("handles").iter().map(text).collect();
                let read: Vec<String> =
                    handles.iter().map(|name| format!("String($inputs[{name:?}])")).collect();
                self.compute(&id, &format!("[{}].join({})", read.join(", "), shown("sep")));
            }
            "list" => {
                let handle = node["handle"].as_str().unwrap_or("items");
                self.compute(&id, &format!("$inputs[{handle:?}]"));
                let declared = self.nodes.last_mut().expect("the node");
                declared["inputs"] = json!({handle: {"type": "list[any]"}});
            }
            "mute_if" => {
                let said = format!("$inputs.value === {} ? {{}} : {{value: $inputs.value}}", shown("equals"));
                self.compute(&id, &said);
                self.output(&id, "value", &id, Some("value"));
            }
            "throw_if" => {
                let fails = format!("{{{{ $inputs.value === {} ? 1 : 0 }}}}", shown("equals"));
                self.compute(&id, "$inputs.value");
                let failing = self.nodes.last_mut().expect("the node");
                failing["parameters"]["failure_rate"] = json!(fails);
                failing["parameters"]["error_message"] = json!("bad");
                failing["error"] = json!({"type": "halt"});
            }
            "if_even" => self.add(&id, "if", json!({"condition": "{{ $inputs.value % 2 === 0 }}"})),
            "filter_even" => self.filter(&id, "{{ $inputs.input_item % 2 === 0 }}"),
            "filter_none" | "filter_none_silent" => self.filter(&id, "{{ false }}"),
            "chunks" => self.chunks(&id, node),
            kind @ ("collect" | "last" | "count" | "zip") => self.add(&id, kind, json!({})),
            "cross" => {
                let limit = node["max"].as_u64().map_or(json!({}), |most| json!({"max_output_count": most}));
                self.add(&id, "cross", limit);
            }
            other => return Err(format!("nobody knows the operation {other}")),
        }
        Ok(())
    }

    fn constant(&mut self, id: &str, value: &Value) {
        self.add(id, "simulate", json!({"output": value}));
        self.output(id, "value", id, None);
    }

    fn reroute(&mut self, id: &str) {
        self.add(id, "reroute", json!({}));
        self.output(id, "value", id, None);
    }

    fn filter(&mut self, id: &str, condition: &str) {
        self.add(id, "filter_items", json!({"condition": condition}));
        self.input(id, "value", id, "input_item");
        self.output(id, "value", id, None);
    }

    /// Items with keys of their own: a list with holes, of which only what is there goes on.
    fn seed(&mut self, id: &str, node: &Value) {
        let mut items: BTreeMap<u64, Value> = BTreeMap::new();
        for item in node["items"].as_array().expect("items") {
            let key = item[1].as_object().and_then(|key| key.values().next()).and_then(Value::as_u64);
            items.insert(key.expect("a key"), item[0].clone());
        }
        let total = items.keys().next_back().map_or(0, |last| last + 1);
        let list: Vec<Value> =
            (0..total).map(|index| items.get(&index).cloned().unwrap_or(Value::Null)).collect();
        let (all, kept) = (format!("{id}__all"), format!("{id}__kept"));
        self.constant(&all, &list.into());
        self.add(id, "for_each", json!({}));
        self.lead(&all, id, "input_list");
        let places: Vec<u64> = items.into_keys().collect();
        self.add(
            &kept,
            "filter_items",
            json!({"condition": format!("{{{{ {places:?}.includes($index) }}}}")}),
        );
        self.lead(id, &kept, "input_item");
        self.output(id, "value", &kept, None);
    }

    fn expand(&mut self, id: &str, node: &Value) {
        let handle = node["handle"].as_str().unwrap_or("input_list");
        let list = format!("{id}__list");
        let (before, suffixes) = (node.get("pre").map_or(json!(""), Value::clone), &node["suffixes"]);
        self.compute(&list, &format!("{suffixes}.map(suffix => {before} + $inputs[{handle:?}] + suffix)"));
        self.add(id, "for_each", json!({}));
        self.lead(&list, id, "input_list");
        self.input(id, handle, &list, handle);
    }

    /// The frames of a generator. Handles of a group come out of one iteration over them; what a frame lacks is dropped.
    fn generate(&mut self, id: &str, node: &Value) {
        let (frames, corr) = (&node["frames"], node["corr"].as_object().cloned().unwrap_or_default());
        let all = format!("{id}__frames");
        self.constant(&all, frames);
        self.add(id, "for_each", json!({}));
        self.lead(&all, id, "input_list");
        for (handle, rule) in corr {
            let helper = format!("{id}__{handle}");
            let there: Vec<&Value> = frames
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|frame| frame.get(&handle).filter(|value| !value.is_null()))
                .collect();
            match rule["kind"].as_str() {
                Some("iteration") if handle == "index" => self.output(id, &handle, id, Some("index")),
                Some("chunk") => {
                    let lines: Vec<String> = there.into_iter().map(text).collect();
                    self.add(&helper, "lines", json!({"text": lines.join("\n")}));
                    self.lead(&all, &helper, "in");
                    self.output(id, &handle, &helper, None);
                }
                Some("iteration") => {
                    self.compute(&helper, &format!("{{value: $inputs.frame[{handle:?}] ?? undefined}}"));
                    self.edge((id.to_owned(), None), (helper.clone(), Some("frame".to_owned())));
                    self.output(id, &handle, &helper, Some("value"));
                }
                _ => {
                    let value = there.last().map_or(json!({}), |value| json!({"value": value}));
                    self.add(&helper, "simulate", json!({"output": value}));
                    self.output(id, &handle, &helper, Some("value"));
                }
            }
        }
    }

    fn chunks(&mut self, id: &str, node: &Value) {
        let joined = format!("{id}__text");
        let before = if node["prefix"] == json!(true) { "$inputs.value + " } else { "" };
        self.compute(&joined, &format!("{}.map(part => {before}part).join('\\n')", node["parts"]));
        self.add(id, "lines", json!({}));
        self.lead(&joined, id, "text");
        self.input(id, "value", &joined, "value");
        self.output(id, "chunk", id, Some("line"));
    }
}

/// What a run came to, as a case says it.
pub struct Seen {
    status: Option<ExecutionStatus>,
    error: String,
    /// Per sink, by place: the key and the value.
    sinks: BTreeMap<String, Vec<(Vec<u32>, Value, Value)>>,
}

/// Reads the log of a run.
pub fn seen(plan: &Plan, events: &[Event]) -> Seen {
    let mut seen = Seen { status: None, error: String::new(), sinks: BTreeMap::new() };
    for event in events {
        match &event.fact {
            Fact::NodeSucceeded(done) => {
                let steps = done.firing.lineage.steps();
                let is_piece = |id| plan.node(id).is_some_and(|node| plan.nodes[node].is_stream());
                let visible = steps.iter().filter(|step| !is_piece(&step.split));
                let key = visible.map(|step| (step.split.to_string(), json!(step.index))).collect();
                let place = steps.iter().map(|step| step.index).collect();
                let sink = seen.sinks.entry(done.firing.node_id.to_string()).or_default();
                sink.push((place, Value::Object(key), done.output.value().clone()));
            }
            Fact::ExecutionEnded(ended) => {
                seen.status = Some(ended.status);
                seen.error = ended.error.as_ref().map_or_else(String::new, |error| error.message.clone());
            }
            _ => {}
        }
    }
    seen.sinks.values_mut().for_each(|sink| sink.sort_by_key(|(place, ..)| place.clone()));
    seen
}

impl Seen {
    /// What differs from what the case expects, in sentences.
    pub fn differences(&self, expect: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let fails = expect["status"] == json!("failed");
        if (self.status == Some(ExecutionStatus::Completed)) == fails {
            found.push(format!("it ended as {:?}: {}", self.status, self.error));
        }
        if let Some(pattern) = expect["error"].as_str().filter(|_| fails)
            && !says(&self.error, pattern)
        {
            found.push(format!("the error {:?} does not say {pattern}", self.error));
        }
        let ignored: Vec<String> = expect["ignore"].as_array().into_iter().flatten().map(text).collect();
        let words = ["status", "error", "ignore", "ordered", "list_unordered"];
        let sinks = expect.as_object().into_iter().flatten();
        for (sink, expected) in
            sinks.filter(|(sink, _)| !words.contains(&sink.as_str()) && !ignored.contains(sink))
        {
            found.extend(self.sink(sink, expected.as_array().expect("values"), expect));
        }
        found
    }

    fn sink(&self, sink: &str, expected: &[Value], expect: &Value) -> Option<String> {
        let loose = expect["list_unordered"] == json!(true);
        let keyed = expected.iter().any(|item| item.get("k").is_some());
        let value = |value: &Value| match value {
            Value::Array(items) if loose => {
                let mut items: Vec<String> = items.iter().map(Value::to_string).collect();
                items.sort();
                json!(items)
            }
            other => other.clone(),
        };
        // A root is named by its node and its group; the node says enough.
        let key = |key: &Value| -> Value {
            let part = |(root, index): (&String, &Value)| {
                (root.split(':').next().unwrap_or_default().to_owned(), index.clone())
            };
            Value::Object(key.as_object().into_iter().flatten().map(part).collect())
        };
        let line = |k: Value, v: &Value| if keyed { json!([k, value(v)]) } else { value(v) };
        let mut wanted: Vec<Value> = expected.iter().map(|item| line(key(&item["k"]), &item["v"])).collect();
        let got = self.sinks.get(sink).map_or(&[][..], Vec::as_slice);
        let mut got: Vec<Value> = got.iter().map(|(_, k, v)| line(key(k), v)).collect();
        if expect["ordered"] != json!(true) {
            wanted.sort_by_key(Value::to_string);
            got.sort_by_key(Value::to_string);
        }
        (got != wanted).then(|| format!("{sink} saw {}, not {}", json!(got), json!(wanted)))
    }
}
