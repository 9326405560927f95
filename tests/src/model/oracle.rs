//! What a workflow means, computed without messages: node by node, key by key, from the words on its edges. It shares
//! nothing with the engine but the reading of the file and the scopes of its nodes. What chance and time decide (who
//! wins a race, which join gives up, when a rest ends) it is told; everything else follows.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine::{Plan, PlannedNode};
use protocol::{ErrorPolicy, Millis};
use serde_json::{Value, json};

use super::{
    Place,
    oracle_shape::{Shape, Side},
};

/// What only a run can decide.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// Until when each firing of a wait rests, and the name of its timer.
    pub rests: BTreeMap<Place, Vec<(Millis, String)>>,
    /// The edge on which the first value came to a race.
    pub winners: BTreeMap<Place, usize>,
    /// Joins that were not complete in time.
    pub gave_up: BTreeSet<Place>,
}

/// What every node put out at every key, once per firing: its output, or its error in short.
pub type Meaning = BTreeMap<Place, Vec<Value>>;

#[derive(Debug, Default)]
pub struct Expected {
    pub meaning: Meaning,
    /// Failures that end the execution. Nothing follows from them.
    pub halts: BTreeSet<Place>,
}

/// What the nodes before have put out, as far as it is known.
type Known = Arc<BTreeMap<usize, Arc<Value>>>;

#[derive(Clone, Debug)]
struct Carried {
    result: Arc<Value>,
    known: Known,
}

/// What an edge carries at a key.
#[derive(Clone, Debug)]
enum Word<'p> {
    /// More than one only behind a node that fires for every value it gets.
    Values(Vec<Carried>),
    /// An item failed on the way. The choices that it was kept from making come along, each with the side this is.
    Failed(Carried, BTreeSet<Side<'p>>),
    /// Nothing comes. What was known when that became clear is known behind a merge all the same.
    Nothing(Known),
    /// It was never said: the execution halts before.
    Silence,
}

/// What a split has come to at a key.
enum Register<'p> {
    Closed { items: Vec<Value>, known: Known },
    Blocked(Word<'p>),
}

struct Oracle<'p> {
    plan: &'p Plan,
    shape: &'p Shape<'p>,
    decisions: &'p Decisions,
    input: &'p Value,
    words: BTreeMap<(usize, Vec<u32>), Word<'p>>,
    registers: BTreeMap<Place, Register<'p>>,
    expected: Expected,
}

/// A failure, by its code.
type Answer = Result<Output, &'static str>;

struct Output {
    output: Value,
    /// What flows on, where it is not the output itself.
    result: Option<Value>,
    /// The handle that is followed by a node that chooses.
    handle: Option<String>,
}

impl From<Value> for Output {
    fn from(output: Value) -> Self {
        Self { output, result: None, handle: None }
    }
}

pub fn expected(plan: &Plan, input: &Value, decisions: &Decisions) -> Expected {
    let shape = Shape::of(plan);
    let mut oracle = Oracle {
        plan,
        shape: &shape,
        decisions,
        input,
        words: BTreeMap::new(),
        registers: BTreeMap::new(),
        expected: Expected::default(),
    };
    for &node in &shape.order {
        for key in oracle.keys(shape.fires_in(node)) {
            oracle.visit(node, &key);
        }
    }
    let mut expected = oracle.expected;
    expected.meaning.values_mut().for_each(|firings| firings.sort_by_key(Value::to_string));
    expected
}

impl<'p> Oracle<'p> {
    fn node(&self, node: usize) -> &PlannedNode {
        &self.plan.nodes[node]
    }

    fn keys(&self, scope: &[usize]) -> Vec<Vec<u32>> {
        scope.iter().fold(vec![Vec::new()], |keys, split| {
            let inside = |key: &Vec<u32>| {
                let count = match self.registers.get(&(*split, key.clone())) {
                    Some(Register::Closed { items, .. }) => items.len() as u32,
                    Some(Register::Blocked(_)) | None => 0,
                };
                (0..count).map(|index| [key.as_slice(), &[index]].concat()).collect::<Vec<_>>()
            };
            keys.iter().flat_map(inside).collect()
        })
    }

    fn word(&self, edge: usize, key: &[u32]) -> Word<'p> {
        let key = key[..self.shape.depth[edge]].to_vec();
        self.words.get(&(edge, key)).cloned().unwrap_or(Word::Silence)
    }

    fn say(&mut self, edge: usize, key: &[u32], word: Word<'p>) {
        let word = word.on_side(self.shape.side(edge));
        match (self.words.get_mut(&(edge, key.to_vec())), word) {
            (Some(Word::Values(said)), Word::Values(more)) => said.extend(more),
            (Some(Word::Values(_)), Word::Failed(..) | Word::Nothing(_) | Word::Silence) => {}
            (_, word) => drop(self.words.insert((edge, key.to_vec()), word)),
        }
    }

    fn say_all(&mut self, node: usize, key: &[u32], word: &Word<'p>) {
        for edge in self.shape.leaving[node].clone() {
            self.say(edge, key, word.clone());
        }
    }

    fn visit(&mut self, node: usize, key: &[u32]) {
        let incoming = self.shape.incoming[node].clone();
        let kind = self.node(node).source.kind.clone();
        let words: Vec<Word<'p>> = match kind.as_str() {
            "aggregator" => return self.gather(node, key),
            _ => incoming.iter().map(|edge| self.word(*edge, key)).collect(),
        };
        match kind.as_str() {
            "merge" if self.decisions.gave_up.contains(&(node, key.to_vec())) => self.give_up(node, key),
            "merge" if self.text(node, "wait_mode") == Some("wait_for_any") => self.race(node, key, &words),
            "merge" => self.merge(node, key, words),
            "trigger" => self.fire(node, key, &Known::default()),
            _ => {
                let values: Vec<Carried> = words.iter().flat_map(Word::values).cloned().collect();
                for value in &values {
                    self.fire(node, key, &value.known);
                }
                if values.is_empty() {
                    self.pass(node, key, no_value(&words));
                }
            }
        }
    }

    /// The node does not run; whoever is behind it hears why. A split that does not run has no items to say it to.
    fn pass(&mut self, node: usize, key: &[u32], word: Word<'p>) {
        if self.node(node).source.kind == "split" {
            if let Some(edge) = self.shape.on_error[node] {
                self.say(edge, key, word.clone());
            }
            let word = word.on_side(self.shape.spread(node).and_then(|edge| self.shape.side(edge)));
            self.registers.insert((node, key.to_vec()), Register::Blocked(word));
        } else {
            self.say_all(node, key, &word);
        }
    }

    fn fire(&mut self, node: usize, key: &[u32], known: &Known) {
        let kind = self.node(node).source.kind.clone();
        let answer = match kind.as_str() {
            "trigger" => Ok(self.input.clone().into()),
            "conditional" => self.parameter(node, key, known, "expression").map(|value| {
                let holds = value == json!(true);
                Output { output: json!({"result": holds}), result: None, handle: Some(holds.to_string()) }
            }),
            "switch" => self.switch(node, key, known),
            "filter" => self.filter(node, key, known),
            "split" => return self.split(node, key, known),
            "wait" => match self.rest(node, key) {
                Some(answer) => answer,
                // The execution ended while it rested.
                None => return self.say_all(node, key, &Word::Silence),
            },
            _ => self.simulate(node, key, known),
        };
        self.finish(node, key, known, answer);
    }

    fn finish(&mut self, node: usize, key: &[u32], known: &Known, answer: Answer) {
        match answer {
            Ok(Output { output, result, handle }) => {
                let carried = self.put_out(node, key, known, output);
                let carried = Carried { result: result.map_or(carried.result, Arc::new), ..carried };
                for edge in self.shape.leaving[node].clone() {
                    let taken = self.shape.on_error[node] != Some(edge)
                        && handle.as_deref().is_none_or(|handle| self.shape.handle(edge) == Some(handle));
                    let word = carried.clone().on_edge(taken);
                    self.say(edge, key, word);
                }
            }
            Err(code) => self.fail(node, key, known, code),
        }
    }

    fn put_out(&mut self, node: usize, key: &[u32], known: &Known, output: Value) -> Carried {
        self.expected.meaning.entry((node, key.to_vec())).or_default().push(output.clone());
        let result = Arc::new(output);
        let mut known = BTreeMap::clone(known);
        known.insert(node, Arc::clone(&result));
        Carried { result, known: Arc::new(known) }
    }

    fn error_of(&self, node: usize, code: &str) -> Value {
        json!({"error": format!("{code} {}", self.node(node).id)})
    }

    fn fail(&mut self, node: usize, key: &[u32], known: &Known, code: &str) {
        let error = self.error_of(node, code);
        let carried = self.put_out(node, key, known, error);
        let chooses = matches!(self.node(node).source.kind.as_str(), "conditional" | "switch");
        let last = if self.node(node).source.kind == "switch" { "fallback" } else { "false" };
        match self.policy(node, key) {
            Policy::Halt => {
                self.expected.halts.insert((node, key.to_vec()));
                self.say_all(node, key, &Word::Silence);
            }
            Policy::Contain => self.say_all(node, key, &Word::Failed(carried, BTreeSet::new())),
            policy @ (Policy::Ignore | Policy::Branch) => {
                for edge in self.shape.leaving[node].clone() {
                    let taken = match policy {
                        Policy::Branch => self.shape.on_error[node] == Some(edge),
                        _ => !chooses || self.shape.handle(edge) == Some(last),
                    };
                    let word = carried.clone().on_edge(taken);
                    self.say(edge, key, word);
                }
            }
        }
    }

    fn policy(&self, node: usize, key: &[u32]) -> Policy {
        match &self.node(node).source.error {
            Some(ErrorPolicy::Ignore) => Policy::Ignore,
            Some(ErrorPolicy::Branch { .. }) => Policy::Branch,
            Some(ErrorPolicy::Halt) => Policy::Halt,
            None if key.is_empty() => Policy::Halt,
            None => Policy::Contain,
        }
    }

    fn split(&mut self, node: usize, key: &[u32], known: &Known) {
        let array = self.parameter(node, key, known, "input_array");
        let error = match array {
            Ok(Value::Array(items)) => {
                let carried = self.put_out(node, key, known, json!({"count": items.len()}));
                return self.spread(node, key, items, &carried.known);
            }
            Ok(_) => "INVALID_PARAMETER",
            Err(code) => code,
        };
        let value = self.error_of(node, error);
        let carried = self.put_out(node, key, known, value);
        let blocked = match self.policy(node, key) {
            // Nothing was spread, and that is all there is.
            Policy::Ignore => return self.spread(node, key, Vec::new(), &carried.known),
            Policy::Branch => {
                let known = Arc::clone(&carried.known);
                if let Some(edge) = self.shape.on_error[node] {
                    self.say(edge, key, Word::Values(vec![carried]));
                }
                Word::Nothing(known)
            }
            Policy::Contain => Word::Failed(carried, BTreeSet::new()),
            Policy::Halt => {
                self.expected.halts.insert((node, key.to_vec()));
                Word::Silence
            }
        };
        self.registers.insert((node, key.to_vec()), Register::Blocked(blocked));
    }

    fn spread(&mut self, node: usize, key: &[u32], items: Vec<Value>, known: &Known) {
        let on_error = self.shape.on_error[node];
        for edge in self.shape.leaving[node].clone() {
            if on_error == Some(edge) {
                self.say(edge, key, Word::Nothing(Arc::clone(known)));
                continue;
            }
            for (item, index) in items.iter().zip(0..) {
                let carried = Carried { result: Arc::new(item.clone()), known: Arc::clone(known) };
                self.say(edge, &[key, &[index]].concat(), Word::Values(vec![carried]));
            }
        }
        let known = Arc::clone(known);
        self.registers.insert((node, key.to_vec()), Register::Closed { items, known });
    }

    fn merge(&mut self, node: usize, key: &[u32], words: Vec<Word<'p>>) {
        if words.iter().any(|word| matches!(word, Word::Silence)) {
            return self.pass(node, key, Word::Silence);
        }
        if !unchosen(&words).is_empty() {
            return self.pass(node, key, no_value(&words));
        }
        let brought: Vec<&Carried> = words.iter().flat_map(Word::brought).collect();
        let known = union(words.iter().filter_map(Word::known));
        if brought.is_empty() {
            return self.pass(node, key, Word::Nothing(known));
        }
        let missing = brought.len() < words.len();
        let answer = match missing && self.node(node).source.parameters.get("strict") == Some(&json!(true)) {
            true => Err("INCOMPLETE_MERGE"),
            false => {
                Ok(brought.iter().map(|carried| Value::clone(&carried.result)).collect::<Value>().into())
            }
        };
        self.finish(node, key, &known, answer);
    }

    /// The first value wins. An error wins only when nothing else can come.
    fn race(&mut self, node: usize, key: &[u32], words: &[Word<'p>]) {
        let winner = self.decisions.winners.get(&(node, key.to_vec()));
        let place = winner.and_then(|edge| self.shape.incoming[node].iter().position(|other| other == edge));
        let first = match place {
            Some(place) => words[place].values().first(),
            None if words.iter().any(|word| matches!(word, Word::Values(_) | Word::Silence)) => None,
            None => match words.iter().flat_map(Word::brought).next() {
                Some(failed) if unchosen(words).is_empty() => Some(failed),
                Some(_) | None => return self.pass(node, key, no_value(words)),
            },
        };
        match first.cloned() {
            Some(Carried { result, known }) => {
                self.finish(node, key, &known, Ok(Value::clone(&result).into()));
            }
            None => self.pass(node, key, Word::Silence),
        }
    }

    /// What lies on every way to a join is known to it, whatever it has heard.
    fn give_up(&mut self, node: usize, key: &[u32]) {
        let mut known = BTreeMap::new();
        for before in self.shape.on_every_way(node) {
            let key = key[..self.shape.fires_in(before).len()].to_vec();
            if let Some([output]) = self.expected.meaning.get(&(before, key)).map(Vec::as_slice) {
                known.insert(before, Arc::new(output.clone()));
            }
        }
        self.finish(node, key, &Arc::new(known), Err("TIMEOUT_EXCEEDED"));
    }

    fn gather(&mut self, node: usize, key: &[u32]) {
        if self.decisions.gave_up.contains(&(node, key.to_vec())) {
            return self.give_up(node, key);
        }
        let split = *self.node(node).scope.last().expect("an aggregator stands behind a split");
        let (count, known) = match self.registers.get(&(split, key.to_vec())) {
            Some(Register::Closed { items, known }) => (items.len() as u32, Arc::clone(known)),
            Some(Register::Blocked(word)) => {
                let word = word.clone();
                return self.pass(node, key, word);
            }
            None => return self.pass(node, key, Word::Silence),
        };
        for group in self.shape.groups(node) {
            let slot = |index: u32| {
                let inside = [key, &[index]].concat();
                let words: Vec<Word<'p>> = group.iter().map(|edge| self.word(*edge, &inside)).collect();
                let value = words.iter().find(|word| matches!(word, Word::Values(_))).cloned();
                value.unwrap_or_else(|| no_value(&words))
            };
            let slots: Vec<Word<'p>> = (0..count).map(slot).collect();
            if slots.iter().any(|slot| matches!(slot, Word::Silence)) {
                self.pass(node, key, Word::Silence);
                continue;
            }
            let known = self.outside(node, &known, slots.iter().flat_map(Word::brought).next());
            let answer = self.gathered(node, &slots).map(Output::from);
            self.finish(node, key, &known, answer);
        }
    }

    fn gathered(&self, node: usize, slots: &[Word<'p>]) -> Result<Value, &'static str> {
        let (skipped, on_error) = (self.text(node, "skipped"), self.text(node, "on_error"));
        let mut gathered = Vec::new();
        for slot in slots {
            match slot {
                Word::Values(values) => {
                    gathered.extend(values.iter().map(|value| Value::clone(&value.result)))
                }
                Word::Failed(..) if on_error == Some("fail") => return Err("NODE_EXECUTION_FAILED"),
                Word::Failed(..) if on_error == Some("omit") => {}
                Word::Failed(error, _) => gathered.push(Value::clone(&error.result)),
                Word::Nothing(_) | Word::Silence if skipped == Some("omit") => {}
                Word::Nothing(_) | Word::Silence if skipped == Some("marker") => {
                    gathered.push(json!({"skipped": true}));
                }
                Word::Nothing(_) | Word::Silence => gathered.push(Value::Null),
            }
        }
        Ok(Value::Array(gathered))
    }

    /// Behind an aggregator only the outside is known: what was known in front of the split, and what the first item
    /// that arrived has brought along from outside.
    fn outside(&self, node: usize, in_front: &Known, first: Option<&Carried>) -> Known {
        let outer = self.shape.fires_in(node);
        let mut known = BTreeMap::clone(in_front);
        for (other, output) in first.iter().flat_map(|carried| carried.known.iter()) {
            if outer.starts_with(self.shape.fires_in(*other)) {
                known.entry(*other).or_insert_with(|| Arc::clone(output));
            }
        }
        Arc::new(known)
    }

    fn switch(&self, node: usize, key: &[u32], known: &Known) -> Answer {
        let rules = self.node(node).source.parameters["rules"].as_array().cloned().unwrap_or_default();
        for (index, mut rule) in rules.iter().cloned().enumerate() {
            rule["value"] = self.look(node, key, known, rule["value"].as_str().unwrap_or_default())?;
            if rule["value"] == rule["compare"] {
                let output = json!({"output_index": index, "matched_rule": rule});
                return Ok(Output { output, result: None, handle: Some(format!("case-{index}")) });
            }
        }
        let output = json!({"output_index": rules.len(), "fallback": true});
        Ok(Output { output, result: None, handle: Some("fallback".to_owned()) })
    }

    /// As the generator writes them: the items whose first flag is set.
    fn filter(&self, node: usize, key: &[u32], known: &Known) -> Answer {
        let Value::Array(items) = self.parameter(node, key, known, "input_array")? else {
            return Err("INVALID_PARAMETER");
        };
        let kept: Vec<&Value> = items.iter().filter(|item| item["f0"] == json!(true)).collect();
        let output = json!({"$json": kept, "count": kept.len(), "original_count": items.len()});
        Ok(Output { result: Some(output["$json"].clone()), output, handle: None })
    }

    fn rest(&self, node: usize, key: &[u32]) -> Option<Answer> {
        let place = (node, key.to_vec());
        if self.node(node).source.parameters.get("amount").is_some_and(Value::is_string) {
            return Some(Err("INVALID_PARAMETER"));
        }
        let before = self.expected.meaning.get(&place).map_or(0, Vec::len);
        let (due, timer) = self.decisions.rests.get(&place)?.get(before)?;
        Some(Ok(json!({"resume_at": due, "timer_id": timer}).into()))
    }

    fn simulate(&self, node: usize, key: &[u32], known: &Known) -> Answer {
        let mut output = self.node(node).source.parameters["output"].clone();
        if let Some(saw) = output.get("saw").and_then(Value::as_str).map(str::to_owned) {
            output["saw"] = self.look(node, key, known, &saw)?;
        }
        match self.shape.fails(node, key) {
            true => Err("SIMULATED_FAILURE"),
            false => Ok(output.into()),
        }
    }

    fn text(&self, node: usize, parameter: &str) -> Option<&str> {
        self.node(node).source.parameters.get(parameter).and_then(Value::as_str)
    }

    fn parameter(&self, node: usize, key: &[u32], known: &Known, name: &str) -> Result<Value, &'static str> {
        self.look(node, key, known, self.text(node, name).unwrap_or_default())
    }

    /// A reference as the generator writes them: `$trigger.x`, `$item.x`, `$n3`.
    fn look(&self, node: usize, key: &[u32], known: &Known, reference: &str) -> Result<Value, &'static str> {
        const UNKNOWN: &str = "EXPRESSION_FAILED";
        let (root, field) =
            reference.split_once('.').map_or((reference, None), |(root, field)| (root, Some(field)));
        let item = |split: &usize| match self.registers.get(&(*split, key[..key.len() - 1].to_vec())) {
            Some(Register::Closed { items, .. }) => items.get(*key.last()? as usize),
            Some(Register::Blocked(_)) | None => None,
        };
        let value = match root {
            "$trigger" => Some(self.input),
            "$item" => self.node(node).scope.last().and_then(item),
            _ => {
                let before = self.plan.node(&root[1..].into()).expect("a node of this plan");
                known.get(&before).map(Arc::as_ref)
            }
        };
        let value = value.ok_or(UNKNOWN)?;
        match field {
            Some(field) => value.get(field).cloned().ok_or(UNKNOWN),
            None => Ok(value.clone()),
        }
    }
}

/// What the author has said about a failure.
#[derive(Clone, Copy)]
enum Policy {
    Ignore,
    Branch,
    Contain,
    Halt,
}

impl<'p> Word<'p> {
    fn values(&self) -> &[Carried] {
        match self {
            Self::Values(values) => values,
            Self::Failed(..) | Self::Nothing(_) | Self::Silence => &[],
        }
    }

    /// The same, said on a side of a choice: an error that comes by keeps it from choosing.
    fn on_side(self, side: Option<Side<'p>>) -> Self {
        match self {
            Self::Failed(error, unchosen) => Self::Failed(error, unchosen.into_iter().chain(side).collect()),
            Self::Values(_) | Self::Nothing(_) | Self::Silence => self,
        }
    }

    /// A value, or the error that stands for it.
    fn brought(&self) -> Option<&Carried> {
        match self {
            Self::Values(values) => values.first(),
            Self::Failed(error, _) => Some(error),
            Self::Nothing(_) | Self::Silence => None,
        }
    }

    fn known(&self) -> Option<&Known> {
        match self {
            Self::Values(values) => values.first().map(|value| &value.known),
            Self::Failed(error, _) => Some(&error.known),
            Self::Nothing(known) => Some(known),
            Self::Silence => None,
        }
    }
}

impl Carried {
    fn on_edge<'p>(self, taken: bool) -> Word<'p> {
        if taken { Word::Values(vec![self]) } else { Word::Nothing(self.known) }
    }
}

/// What edges say together on none of which a value comes.
fn no_value<'p>(words: &[Word<'p>]) -> Word<'p> {
    let failed = words.iter().find_map(|word| match word {
        Word::Failed(error, _) => Some(Word::Failed(error.clone(), unchosen(words))),
        Word::Values(_) | Word::Nothing(_) | Word::Silence => None,
    });
    let silent = words.iter().find(|word| matches!(word, Word::Silence));
    let nothing = || Word::Nothing(union(words.iter().filter_map(Word::known)));
    failed.or_else(|| silent.cloned()).unwrap_or_else(nothing)
}

/// The sides on which all edges lie, of choices that an error has kept from choosing. Nothing runs there.
fn unchosen<'p>(words: &[Word<'p>]) -> BTreeSet<Side<'p>> {
    let of_word = |word: &Word<'p>| match word {
        Word::Failed(_, unchosen) => unchosen.clone(),
        Word::Values(_) | Word::Nothing(_) | Word::Silence => BTreeSet::new(),
    };
    words.iter().map(of_word).reduce(|all, more| &all & &more).unwrap_or_default()
}

fn union<'k>(all: impl Iterator<Item = &'k Known>) -> Known {
    let mut union = BTreeMap::new();
    all.for_each(|known| union.extend(known.iter().map(|(node, output)| (*node, Arc::clone(output)))));
    Arc::new(union)
}
