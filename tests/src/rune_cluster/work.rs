//! What a worker does with one message, step by step, and what it forgets.

use serde_json::{Map, Value, json};

use super::{
    Action, MILLI, POLL, RuneCluster, TRANSIT,
    encode::{self, sorted},
    keys::Gathered,
    message::{Frame, Message},
    resolve::{holds, parameters},
};

/// What came of a node.
pub(super) enum Outcome {
    Done(Value),
    Failed(String),
    /// Of a kind that no worker knows.
    Unknown,
}

/// Kinds that the simulated worker knows.
const KINDS: [&str; 10] =
    ["http", "log", "agent", "conditional", "switch", "split", "aggregator", "merge", "wait", "edit"];

impl RuneCluster {
    /// Takes a message up: mirrors the first one, and says that it runs.
    pub(super) fn deliver(&mut self, message: Message) {
        if self.faults.discarded.contains(&message.current_node) {
            return;
        }
        if !message.is_worker_initiated {
            self.publish("workflow.worker.initiated", &message.json());
        }
        let (resolved, used) = resolved(&message);
        let mut status = self.status(&message, "running", 0);
        put_parameters(&mut status, &resolved, &used);
        put_lineage(&mut status, &message);
        self.publish("workflow.node.status", &status);
        let takes = match message.kind().as_str() {
            "http" => self.answers.get(url(&resolved)).map_or(5, |(millis, _)| *millis),
            _ => 1,
        };
        self.later(takes * MILLI, Action::Finish(Box::new(message)));
    }

    pub(super) fn finish(&mut self, message: Message) {
        let (resolved, _) = resolved(&message);
        let outcome = self.perform(&message, &resolved);
        let is_winner = matches!(&outcome, Outcome::Done(output) if output.get("_merge_winner").is_some());
        if is_winner && self.faults.lost_winners.remove(&message.current_node) {
            self.later(TRANSIT, Action::Deliver(Box::new(message)));
            return;
        }
        let item = message.top().map(|frame| frame.index);
        match self.faults.slow_to_say.remove(&(message.current_node.clone(), item)) {
            Some(millis) => self.later(millis * MILLI, Action::Say(Box::new((message, outcome)))),
            None => self.say(message, outcome),
        }
    }

    pub(super) fn say(&mut self, message: Message, outcome: Outcome) {
        let (resolved, used) = resolved(&message);
        let millis = match message.kind().as_str() {
            "http" => self.answers.get(url(&resolved)).map_or(5, |(millis, _)| *millis),
            _ => 1,
        };
        match outcome {
            Outcome::Unknown => {
                let kind = message.kind();
                let mut status = self.status(&message, "failed", 0);
                put_parameters(&mut status, &resolved, &used);
                put_lineage(&mut status, &message);
                let details = json!({"error": format!("unknown node type: {kind}")});
                status["error"] = json!({"message": "failed to create node", "code": "NODE_CREATION_FAILED", "details": details});
                self.publish("workflow.node.status", &status);
                self.complete(&message, "failed", &message.context.clone(), 0);
            }
            Outcome::Failed(why) => self.fail(&message, &resolved, &used, why, millis),
            Outcome::Done(output) if message.kind() == "wait" => {
                let mut status = self.status(&message, "waiting", millis);
                put_parameters(&mut status, &resolved, &used);
                status["output"] = output;
                put_lineage(&mut status, &message);
                self.publish("workflow.node.status", &status);
            }
            Outcome::Done(output) => {
                let output = self.counted(&message, output);
                self.succeed(&message, &resolved, &used, output, millis);
            }
        }
        let item = message.top().map(|frame| frame.index);
        if self.faults.redelivered.remove(&(message.current_node.clone(), item)) {
            self.later(TRANSIT, Action::Deliver(Box::new(message)));
        }
    }

    /// How many an aggregator has is asked for by itself, when others may have come, or opened it.
    fn counted(&self, message: &Message, mut output: Value) -> Value {
        if output.get("_barrier_closed").is_some()
            && let Some(Frame { split, index, .. }) = message.top()
        {
            let count = self.keys.text(&format!("exec:{}:split:{split}:count", message.execution_id));
            let count = count.and_then(|count| count.parse().ok()).unwrap_or(index + 1);
            output["_aggregator_processed_count"] = json!(count);
        }
        output
    }

    fn perform(&mut self, message: &Message, resolved: &Value) -> Outcome {
        if !KINDS.contains(&message.kind().as_str()) {
            return Outcome::Unknown;
        }
        match message.kind().as_str() {
            "http" => match self.answers.get(url(resolved)).cloned() {
                Some((_, Err(why))) => {
                    Outcome::Failed(format!("http request failed after 1 attempts: {why}"))
                }
                Some((millis, Ok(body))) => Outcome::Done(answered(body, millis)),
                None => Outcome::Done(answered(json!({"asked": url(resolved)}), 5)),
            },
            "conditional" => {
                let expression = resolved["expression"].as_str().unwrap_or_default();
                Outcome::Done(json!({"result": holds(expression), "expression": expression}))
            }
            "switch" => Outcome::Done(chosen(resolved)),
            "split" => self.split(message, resolved),
            "aggregator" => self.aggregate(message),
            "merge" => self.merge(message, resolved),
            "wait" => self.wait(message, resolved),
            "edit" => Outcome::Done(json!({"$json": resolved["assignments"]})),
            "agent" => Outcome::Done(json!({"final_response": "done", "tool_calls": [], "model": "gemini"})),
            _ => Outcome::Done(json!({
                "message": resolved["message"], "level": "info", "logged_at": self.moment()
            })),
        }
    }

    fn split(&mut self, message: &Message, resolved: &Value) -> Outcome {
        match resolved["input_array"].as_array() {
            Some(items) => {
                if !items.is_empty() && !message.leaving().is_empty() {
                    self.keys.expect(&message.execution_id, &message.current_node, items.len());
                }
                Outcome::Done(json!({"_split_items": items}))
            }
            None => Outcome::Failed("input_array must be an array/slice, got string".to_owned()),
        }
    }

    fn aggregate(&mut self, message: &Message) -> Outcome {
        let Some(Frame { split, index, .. }) = message.top() else {
            return Outcome::Failed("aggregator node must be executed within a split context".to_owned());
        };
        let payload = encode::text(&sorted(&message.context));
        match self.keys.gather(&message.execution_id, split, *index, payload) {
            Gathered::Waits { processed } => {
                Outcome::Done(json!({"_barrier_closed": true, "_aggregator_processed_count": processed}))
            }
            Gathered::Opens(branches) => Outcome::Done(json!({"aggregated": branches})),
            Gathered::Fails(why) => Outcome::Failed(why),
        }
    }

    fn merge(&mut self, message: &Message, resolved: &Value) -> Outcome {
        let (execution, id) = (&message.execution_id, &message.current_node);
        let mode = resolved["wait_mode"].as_str().unwrap_or("wait_for_all");
        let from = message.from_node.clone().unwrap_or_default();
        if mode == "wait_for_any" {
            return Outcome::Done(match self.keys.lock(execution, id, &from) {
                true => json!({"merged_context": message.context, "_merge_winner": from}),
                false => json!({"_merge_ignored": true}),
            });
        }
        if from.is_empty() {
            return Outcome::Failed("merge node requires from_node when wait_mode=wait_for_all".to_owned());
        }
        self.keys.flag_timeout(execution, id, resolved["timeout"].as_u64().unwrap_or(300));
        let (expected, payload) = (message.arriving(), encode::text(&sorted(&message.context)));
        match self.keys.merge_all(execution, id, (&from, payload), expected) {
            Err(arrived) => Outcome::Done(
                json!({"_merge_waiting": true, "_merge_arrived": arrived, "_merge_expected": expected}),
            ),
            Ok(branches) => {
                let read = |text: &String| serde_json::from_str::<Value>(text).unwrap_or_default();
                let payloads: Vec<Value> = branches.values().map(read).collect();
                let mut merged = Map::new();
                for fields in payloads.iter().filter_map(Value::as_object) {
                    merged.extend(fields.clone());
                }
                Outcome::Done(json!({
                    "merged_context": merged, "_merge_payloads": payloads, "_merge_expected": expected
                }))
            }
        }
    }

    /// A new timer for every delivery.
    fn wait(&mut self, message: &Message, resolved: &Value) -> Outcome {
        let seconds = match resolved["unit"].as_str().unwrap_or("seconds") {
            "minutes" => 60,
            "hours" => 3_600,
            "days" => 86_400,
            _ => 1,
        };
        let due = self.now_millis() + resolved["amount"].as_i64().unwrap_or(1) * seconds * 1_000;
        self.next += 1;
        let timer = format!("00000000-0000-4000-8000-{:012x}", self.next);
        let output = json!({"resume_at": due, "timer_id": timer});
        let mut frozen = Message { is_worker_initiated: true, ..message.clone() };
        frozen.context[format!("${}", message.name())] = output.clone();
        self.keys.freeze(&timer, due, encode::text(&frozen.json()));
        if !self.faults.no_scheduler {
            self.later((due - self.now_millis()) * MILLI + POLL, Action::Poll);
        }
        Outcome::Done(output)
    }

    pub(super) fn poll(&mut self) {
        for (timer, payload) in self.keys.claim(self.now_millis()) {
            if self.faults.lost_resumes {
                continue;
            }
            let json: Value = serde_json::from_str(&payload).unwrap_or_default();
            self.publish("workflow.resume", &json);
            self.keys.thaw(&timer);
            self.later(TRANSIT, Action::Resume(Box::new(thawed(&json))));
        }
    }

    /// Behind a wait nobody is said to have sent the message.
    pub(super) fn resume(&mut self, message: Message) {
        let mut status = self.status(&message, "success", 0);
        status["parameters"] = message.node()["parameters"].clone();
        status["output"] = message.context[format!("${}", message.name())].clone();
        put_lineage(&mut status, &message);
        self.publish("workflow.node.status", &status);
        let leaving = message.leaving();
        if leaving.is_empty() {
            self.complete(&message, "completed", &message.context.clone(), 0);
        }
        for (_, to) in leaving {
            let next = Message { from_node: None, ..message.next(&to, message.context.clone()) };
            self.send(next);
        }
    }

    fn fail(
        &mut self,
        message: &Message,
        resolved: &Value,
        used: &Map<String, Value>,
        why: String,
        millis: i64,
    ) {
        let mut status = self.status(message, "failed", millis);
        put_parameters(&mut status, resolved, used);
        // Without its lineage, whatever the lineage is.
        status["error"] = json!({"message": why, "code": "NODE_EXECUTION_FAILED"});
        self.publish("workflow.node.status", &status);
        let error = &message.node()["error"];
        let next: Vec<String> = match error["type"].as_str() {
            Some("ignore") => next_nodes(message, &Value::Null),
            Some("branch") => {
                let wanted = error["error_edge"].as_str().unwrap_or_default();
                let leaving = message.leaving().into_iter();
                leaving.filter(|(id, _)| id == wanted).map(|(_, to)| to).collect()
            }
            _ => Vec::new(),
        };
        // An ignored failure of a leaf says nothing at all.
        if next.is_empty() && error["type"] != "ignore" {
            self.complete(message, "halted", &message.context.clone(), 0);
        }
        for to in next {
            self.send(message.next(&to, message.context.clone()));
        }
    }

    fn succeed(
        &mut self,
        message: &Message,
        resolved: &Value,
        used: &Map<String, Value>,
        output: Value,
        millis: i64,
    ) {
        let mut status = self.status(message, "success", millis);
        put_parameters(&mut status, resolved, used);
        status["output"] = sorted(&output);
        put_lineage(&mut status, message);
        if message.kind() == "aggregator" {
            let opens = output.get("aggregated").is_some();
            let total = message.top().map_or(0, |frame| frame.total);
            status["processed_count"] =
                if opens { json!(total) } else { output["_aggregator_processed_count"].clone() };
            status["aggregator_state"] = json!(if opens { "released" } else { "waiting" });
        }
        self.publish("workflow.node.status", &status);
        let mut context = message.context.clone();
        context[format!("${}", message.name())] = output.clone();
        if output.get("_barrier_closed").is_some()
            || output.get("_merge_waiting").is_some()
            || output.get("_merge_ignored").is_some()
        {
            return;
        }
        if let Some(merged) = output.get("merged_context") {
            context = merged.clone();
        }
        let next = next_nodes(message, &output);
        if message.kind() == "split" && !next.is_empty() {
            self.spread(message, &context, &output, &next, millis);
            return;
        }
        if next.is_empty() {
            self.complete(message, "completed", &context, millis);
        }
        for to in next {
            self.send(message.next(&to, context.clone()));
        }
    }

    fn spread(&mut self, message: &Message, context: &Value, output: &Value, next: &[String], millis: i64) {
        let items = output["_split_items"].as_array().cloned().unwrap_or_default();
        if items.is_empty() {
            // Whatever stands behind the aggregator never runs.
            self.complete(message, "completed", context, millis);
        }
        for (index, item) in items.iter().enumerate() {
            for to in next {
                let mut context = context.clone();
                context["$item"] = item.clone();
                let mut child = message.next(to, context);
                let (execution, split) = (&message.execution_id, &message.current_node);
                child.stack.push(Frame {
                    split: split.clone(),
                    branch: format!("{execution}_{split}_{index}"),
                    index: index as u32,
                    total: items.len() as u32,
                });
                self.send(child);
            }
        }
    }

    fn complete(&mut self, message: &Message, status: &str, context: &Value, millis: i64) {
        let completed_at = self.next_moment(&message.current_node);
        let body = json!({
            "workflow_id": message.workflow_id, "execution_id": message.execution_id, "status": status,
            "final_context": sorted(context), "completed_at": completed_at, "total_duration_ms": millis,
        });
        self.publish("workflow.completion", &body);
    }

    fn status(&self, message: &Message, status: &str, millis: i64) -> Value {
        json!({
            "workflow_id": message.workflow_id, "execution_id": message.execution_id,
            "node_id": message.current_node, "node_name": message.name(), "status": status,
            "executed_at": self.next_moment(&message.current_node), "duration_ms": millis,
        })
    }
}

fn resolved(message: &Message) -> (Value, Map<String, Value>) {
    parameters(&message.node()["parameters"], &message.context)
}

fn url(parameters: &Value) -> &str {
    parameters["url"].as_str().unwrap_or_default()
}

fn answered(body: Value, millis: i64) -> Value {
    json!({"status": 200, "status_text": "200 OK", "body": body, "headers": {}, "duration_ms": millis})
}

fn chosen(resolved: &Value) -> Value {
    let rules = resolved["rules"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| super::resolve::rendered(value);
    let fits = |rule: &Value| {
        let operator = rule["operator"].as_str().unwrap_or("==");
        holds(&format!("{} {operator} {}", text(&rule["value"]), text(&rule["compare"])))
    };
    match rules.iter().position(fits) {
        Some(index) => json!({"output_index": index, "matched_rule": rules[index]}),
        None => json!({"output_index": rules.len(), "fallback": true}),
    }
}

/// The nodes behind it, by its raw parameters where it chooses.
fn next_nodes(message: &Message, output: &Value) -> Vec<String> {
    let parameters = &message.node()["parameters"];
    let leaving = message.leaving();
    let along =
        |edge: &Value| leaving.iter().filter(|(id, _)| edge == id).map(|(_, to)| to.clone()).collect();
    match message.kind().as_str() {
        "conditional" if output["result"] == json!(true) => along(&parameters["true_edge_id"]),
        "conditional" => along(&parameters["false_edge_id"]),
        "switch" => match output["output_index"].as_u64() {
            Some(index) => along(&parameters["routes"][index as usize]),
            None => Vec::new(),
        },
        _ => leaving.into_iter().map(|(_, to)| to).collect(),
    }
}

fn put_parameters(status: &mut Value, resolved: &Value, used: &Map<String, Value>) {
    if resolved.as_object().is_some_and(|fields| !fields.is_empty()) {
        status["parameters"] = sorted(resolved);
    }
    if !used.is_empty() {
        status["all_used_input_keys"] = used.keys().cloned().collect();
        status["used_inputs"] = sorted(&Value::Object(used.clone()));
    }
}

fn put_lineage(status: &mut Value, message: &Message) {
    let Some(top) = message.top() else { return };
    status["branch_id"] = json!(top.branch);
    status["split_node_id"] = json!(top.split);
    status["item_index"] = json!(top.index);
    status["total_items"] = json!(top.total);
    status["lineage_stack"] = message.stack.iter().map(Frame::json).collect();
}

fn thawed(json: &Value) -> Message {
    let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
    let frame = |frame: &Value| Frame {
        split: frame["split_node_id"].as_str().unwrap_or_default().to_owned(),
        branch: frame["branch_id"].as_str().unwrap_or_default().to_owned(),
        index: frame["item_index"].as_u64().unwrap_or_default() as u32,
        total: frame["total_items"].as_u64().unwrap_or_default() as u32,
    };
    Message {
        workflow_id: text("workflow_id"),
        execution_id: text("execution_id"),
        current_node: text("current_node"),
        definition: json["workflow_definition"].clone(),
        context: json["accumulated_context"].clone(),
        stack: json["lineage_stack"].as_array().into_iter().flatten().map(frame).collect(),
        from_node: json["from_node"].as_str().map(str::to_owned),
        is_worker_initiated: true,
    }
}
