//! What a workflow with data edges means, computed without messages: node by node, key by key, from the words on its
//! edges and the registers of its iterations. Written from the design; it shares nothing with the engine, not even the
//! reading of the file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{
    Case, Place,
    data_gather::{array, cross, spread, zip},
    data_shape::{DataShape, Part, Side},
    oracle::{Decisions, Expected},
};

/// What an edge says at a key.
#[derive(Clone, Debug)]
pub enum Word {
    Value(Value),
    /// An item failed on the way, and so kept choices from choosing these sides.
    Failed(Value, BTreeSet<Side>),
    Done,
    /// It was never said: the execution halts before.
    Silence,
}

/// What an iteration has come to at a key.
enum Register {
    /// The items, and the index of the first: behind pieces they are counted on.
    Closed(u32, Vec<Value>),
    Blocked(Word),
}

/// What a node that takes its items in order has done with those before.
#[derive(Default)]
struct Tally {
    seen: u64,
    passed: u64,
    keys: BTreeSet<String>,
}

struct Oracle<'w> {
    shape: DataShape<'w>,
    input: &'w Value,
    decisions: &'w Decisions,
    words: BTreeMap<Place, Word>,
    registers: BTreeMap<Place, Register>,
    tallies: BTreeMap<Place, Tally>,
    /// Items that were spread so far behind the pieces of one value.
    minted: BTreeMap<Place, u32>,
    expected: Expected,
}

/// One node at one key, with what its inputs bring.
struct Firing<'f> {
    node: usize,
    key: &'f [u32],
    inputs: Map<String, Value>,
}

/// What comes of a firing; a failure is a code.
pub type Answer = Result<Output, &'static str>;

pub struct Output {
    pub output: Value,
    /// What an opening node spreads.
    pub items: Option<Vec<Value>>,
    /// What became of items of a zip that are no pair.
    pub gaps: BTreeMap<usize, Word>,
    /// The way that a condition follows.
    pub way: Option<&'static str>,
}

impl From<Value> for Output {
    fn from(output: Value) -> Self {
        Self { output, items: None, gaps: BTreeMap::new(), way: None }
    }
}

pub fn expected(case: &Case, decisions: &Decisions) -> Expected {
    let mut oracle = Oracle {
        shape: DataShape::of(&case.workflow),
        input: &case.input,
        decisions,
        words: BTreeMap::new(),
        registers: BTreeMap::new(),
        tallies: BTreeMap::new(),
        minted: BTreeMap::new(),
        expected: Expected::default(),
    };
    for node in 0..oracle.shape.nodes.len() {
        for key in oracle.keys(&oracle.shape.fires[node]) {
            oracle.visit(node, &key);
        }
    }
    oracle.expected
}

impl Oracle<'_> {
    /// Every key of a scope, in order.
    fn keys(&self, scope: &[usize]) -> Vec<Vec<u32>> {
        scope.iter().fold(vec![Vec::new()], |keys, level| {
            let inside = |key: &Vec<u32>| {
                let indexes = match self.registers.get(&(*level, key.clone())) {
                    Some(Register::Closed(first, items)) => *first..first + items.len() as u32,
                    Some(Register::Blocked(_)) | None => 0..0,
                };
                indexes.map(|index| [key.as_slice(), &[index]].concat()).collect::<Vec<_>>()
            };
            keys.iter().flat_map(inside).collect()
        })
    }

    /// What an edge says at a key of its own scope or of one further in.
    fn word(&self, edge: usize, key: &[u32]) -> Word {
        let key = key[..self.shape.edges[edge].scope.len()].to_vec();
        self.words.get(&(edge, key)).cloned().unwrap_or(Word::Silence)
    }

    fn say(&mut self, edge: usize, key: &[u32], word: Word) {
        let word = word.on_side(self.shape.side(edge));
        let before = self.words.insert((edge, key.to_vec()), word);
        assert!(before.is_none(), "a decision is written once");
    }

    fn visit(&mut self, node: usize, key: &[u32]) {
        let arriving = self.shape.arriving(node);
        let firing = Firing { node, key, inputs: Map::new() };
        match self.shape.kind(node) {
            _ if self.shape.starts(node) => self.fire(&firing),
            "zip" | "cross" => self.combine(&firing, &arriving),
            _ if self.shape.gathers(node) => self.gather(&firing, &arriving),
            "merge" => self.merge(&firing, &arriving),
            _ if self.shape.edges[*arriving.first().unwrap_or(&0)].input.is_some() => self.join(node, key),
            _ => match settled(arriving.iter().map(|edge| self.word(*edge, key))) {
                Word::Value(_) => self.fire(&firing),
                word => self.pass(node, key, &word),
            },
        }
    }

    /// All inputs are decided: the node fires, or one that is needed brings nothing, or one brings an error.
    fn join(&mut self, node: usize, key: &[u32]) {
        let (mut inputs, mut words, mut blocked) = (Map::new(), Vec::new(), false);
        for (name, edges) in self.shape.inputs(node) {
            let of_edges = || edges.iter().map(|edge| self.word(*edge, key));
            let values: Vec<Value> = of_edges().filter_map(Word::value).collect();
            words.extend(of_edges());
            let brought = match self.shape.is_list(node, name) && edges.len() > 1 {
                true => Some(values).filter(|values| !values.is_empty()).map(Value::Array),
                false => values.into_iter().next(),
            };
            blocked |= brought.is_none() && self.shape.is_required(node, name);
            let value = brought.or_else(|| self.shape.default(node, name).cloned());
            inputs.extend(value.map(|value| (name.to_owned(), value)));
        }
        match without_value(&words) {
            word @ (Word::Silence | Word::Failed(..)) => self.pass(node, key, &word),
            _ if blocked => self.pass(node, key, &Word::Done),
            _ => self.fire(&Firing { node, key, inputs }),
        }
    }

    /// Errors are values to a merge, but where they kept a choice from leading here; what brings nothing is left out.
    fn merge(&mut self, firing: &Firing<'_>, arriving: &[usize]) {
        let words: Vec<Word> = arriving.iter().map(|edge| self.word(*edge, firing.key)).collect();
        let silent = words.iter().any(|word| matches!(word, Word::Silence));
        let values: Vec<Value> = words.iter().filter_map(Word::brought).cloned().collect();
        if silent || values.is_empty() || !unchosen(&words).is_empty() {
            return self.pass(firing.node, firing.key, &without_value(&words));
        }
        let strict = *self.shape.parameter(firing.node, "strict") == json!(true);
        let answer = match strict && values.len() < arriving.len() {
            true => Err("INCOMPLETE_MERGE"),
            false => Ok(Value::Array(values).into()),
        };
        self.finish(firing, answer);
    }

    /// What became of everything below a key, in order; `Err` where the outermost of the levels was never opened.
    fn slots(&self, edges: &[usize], key: &[u32]) -> Result<Vec<Word>, Word> {
        let scope = &self.shape.edges[edges[0]].scope;
        let Some(level) = scope.get(key.len()) else {
            return Ok(vec![settled(edges.iter().map(|edge| self.word(*edge, key)))]);
        };
        let indexes = match &self.registers[&(*level, key.to_vec())] {
            Register::Closed(first, items) => *first..first + items.len() as u32,
            Register::Blocked(word) => return Err(word.clone()),
        };
        let below = |index: u32| {
            let key = [key, &[index]].concat();
            self.slots(edges, &key).unwrap_or_else(|word| vec![word])
        };
        Ok(indexes.flat_map(below).collect())
    }

    fn gather(&mut self, firing: &Firing<'_>, arriving: &[usize]) {
        let Firing { node, key, .. } = *firing;
        let slots = self.slots(arriving, key);
        // Where nothing is open there is one value, or the node does not run.
        let is_closed = self.shape.edges[arriving[0]].scope.is_empty();
        match slots {
            Err(word) => self.pass(node, key, &word),
            Ok(slots) if slots.iter().any(|slot| matches!(slot, Word::Silence)) => {
                self.pass(node, key, &Word::Silence);
            }
            Ok(slots) if is_closed && !matches!(slots[0], Word::Value(_)) => {
                self.pass(node, key, &slots[0]);
            }
            Ok(slots) => {
                let answer = self.gathered(node, slots);
                self.finish(firing, answer);
            }
        }
    }

    fn gathered(&self, node: usize, slots: Vec<Word>) -> Answer {
        let text = |name: &str| self.shape.parameter(node, name).as_str();
        let kind = self.shape.kind(node);
        let there = || slots.iter().filter_map(Word::brought).cloned();
        let output: Value = match kind {
            "last" => there().next_back().map_or(json!({}), |last| json!({"output": last})),
            "count" => json!(there().count()),
            "batch" => {
                let size = self.shape.parameter(node, "size").as_u64().unwrap_or(10) as usize;
                let items: Vec<Value> = there().collect();
                return Ok(spread(items.chunks(size).map(|batch| json!(batch)).collect()));
            }
            _ => {
                let usually = if kind == "aggregator" { "null" } else { "omit" };
                let skipped = text("skipped").unwrap_or(usually);
                return array(&slots, skipped, text("on_error").unwrap_or("include"));
            }
        };
        Ok(output.into())
    }

    fn combine(&mut self, firing: &Firing<'_>, arriving: &[usize]) {
        let Firing { node, key, .. } = *firing;
        let sides: Vec<Result<Vec<Word>, Word>> =
            arriving.iter().map(|edge| self.slots(&[*edge], key)).collect();
        let silent = |side: &Result<Vec<Word>, Word>| match side {
            Ok(slots) => slots.iter().any(|slot| matches!(slot, Word::Silence)),
            Err(word) => matches!(word, Word::Silence),
        };
        if sides.iter().any(silent) {
            return self.pass(node, key, &Word::Silence);
        }
        let answer = match sides.as_slice() {
            [Ok(left), Ok(right)] if self.shape.kind(node) == "zip" => zip(left, right),
            [Ok(left), Ok(right)] => {
                let most = self.shape.parameter(node, "max_output_count").as_u64().unwrap_or(1_024);
                cross(left, right, most as usize)
            }
            // An error of one side counts before the silence of the other.
            sides => {
                let lost = sides.iter().filter_map(|side| side.as_ref().err());
                let word = lost.clone().find(|word| matches!(word, Word::Failed(..)));
                return self.pass(node, key, &word.cloned().unwrap_or(Word::Done));
            }
        };
        self.finish(firing, answer);
    }

    /// The node does not run; whoever is behind it hears why. An iteration that does not run has no keys to say it at.
    fn pass(&mut self, node: usize, key: &[u32], word: &Word) {
        let opens = self.shape.opens(node);
        if opens {
            let word = word.clone().on_side(self.shape.side_of_items(node));
            self.registers.insert((node, key.to_vec()), Register::Blocked(word));
        }
        for edge in self.shape.leaving(node) {
            if !opens || self.shape.edges[edge].is_error {
                self.say(edge, key, word.clone());
            }
        }
    }

    fn fire(&mut self, firing: &Firing<'_>) {
        let answer = match self.shape.kind(firing.node) {
            "trigger" => Ok(self.input.clone().into()),
            "wait" => match self.rest(firing) {
                Some(output) => Ok(output.into()),
                // The execution ended while it rested.
                None => return self.pass(firing.node, firing.key, &Word::Silence),
            },
            "take" | "drop" | "take_while" | "drop_while" | "distinct" => self.take_turn(firing),
            _ => self.work(firing),
        };
        self.finish(firing, answer);
    }

    fn finish(&mut self, firing: &Firing<'_>, answer: Answer) {
        let Firing { node, key, .. } = *firing;
        match answer {
            Ok(Output { output, items: Some(items), gaps, .. }) => {
                self.note(node, key, output);
                self.spread(node, key, items, &gaps);
            }
            Ok(Output { output, way, .. }) => {
                self.note(node, key, output.clone());
                let result = if self.shape.kind(node) == "edit" { output["$json"].clone() } else { output };
                for edge in self.shape.leaving(node) {
                    let taken = way.is_none_or(|way| self.shape.edges[edge].output == way);
                    let taken = taken && !self.shape.edges[edge].is_error;
                    self.say(edge, key, self.carried(edge, &result, None, taken));
                }
            }
            Err(code) => self.fail(node, key, code),
        }
    }

    fn note(&mut self, node: usize, key: &[u32], output: Value) {
        self.expected.meaning.entry((node, key.to_vec())).or_default().push(output);
    }

    /// What an edge carries of a result, or of one item of it.
    fn carried(&self, edge: usize, result: &Value, index: Option<u32>, taken: bool) -> Word {
        let part = match (self.shape.part(edge), index) {
            (Part::Whole, _) => Some(result.clone()),
            (Part::Field(name), _) => result.get(name).cloned(),
            (Part::Index, index) => index.map(Value::from),
        };
        part.filter(|_| taken).map_or(Word::Done, Word::Value)
    }

    fn spread(&mut self, node: usize, key: &[u32], items: Vec<Value>, gaps: &BTreeMap<usize, Word>) {
        let first = self.mint(node, key, items.len() as u32);
        for edge in self.shape.leaving(node) {
            if self.shape.edges[edge].is_error {
                self.say(edge, key, Word::Done);
                continue;
            }
            for ((item, index), place) in items.iter().zip(first..).zip(0..) {
                let gap = gaps.get(&place).cloned();
                let word = gap.unwrap_or_else(|| self.carried(edge, item, Some(index), true));
                self.say(edge, &[key, &[index]].concat(), word);
            }
        }
        self.registers.insert((node, key.to_vec()), Register::Closed(first, items));
    }

    /// The index of the first of so many items. A node that pieces drive counts on from piece to piece.
    fn mint(&mut self, node: usize, key: &[u32], count: u32) -> u32 {
        if !self.shape.is_driven(node) {
            return 0;
        }
        let minted = self.minted.entry((node, self.shape.counted_at(node, key))).or_default();
        *minted += count;
        *minted - count
    }

    fn fail(&mut self, node: usize, key: &[u32], code: &str) {
        let id = self.shape.nodes[node]["id"].as_str().unwrap_or_default();
        let error = json!({"error": format!("{code} {id}")});
        self.note(node, key, error.clone());
        match self.shape.nodes[node]["error"]["type"].as_str() {
            Some("ignore") if self.shape.opens(node) => self.spread(node, key, Vec::new(), &BTreeMap::new()),
            Some(policy @ ("ignore" | "branch")) => {
                if self.shape.opens(node) {
                    self.registers.insert((node, key.to_vec()), Register::Blocked(Word::Done));
                }
                for edge in self.shape.leaving(node) {
                    let is_error = self.shape.edges[edge].is_error;
                    let follows =
                        self.shape.kind(node) != "conditional" || self.shape.edges[edge].output == "false";
                    let taken = if policy == "branch" { is_error } else { follows };
                    if !self.shape.opens(node) || is_error {
                        self.say(edge, key, self.carried(edge, &error, None, taken));
                    }
                }
            }
            None if !key.is_empty() => self.pass(node, key, &Word::Failed(error, BTreeSet::new())),
            _ => {
                self.expected.halts.insert((node, key.to_vec()));
                self.pass(node, key, &Word::Silence);
            }
        }
    }

    /// What a node does with its inputs, by the words that the generator writes.
    fn work(&self, firing: &Firing<'_>) -> Answer {
        let kind = self.shape.kind(firing.node);
        let parameters = self.parameters(firing)?;
        let given = |name: &str| parameters.get(name).cloned().unwrap_or(Value::Null);
        let holds = |name: &str| given(name) == json!(true);
        Ok(match kind {
            "for_each" => {
                let items = match given("input_list") {
                    Value::Array(items) => items,
                    other => vec![other],
                };
                let limit = given("limit").as_i64().and_then(|limit| usize::try_from(limit).ok());
                spread(items.into_iter().take(limit.unwrap_or(usize::MAX)).collect())
            }
            "split" => match given("input_array") {
                Value::Array(items) => spread(items),
                _ => return Err("INVALID_PARAMETER"),
            },
            "lines" => spread(given("text").as_str().unwrap_or_default().lines().map(Value::from).collect()),
            "conditional" => {
                let way = if holds("expression") { "true" } else { "false" };
                Output { way: Some(way), ..json!({"result": way == "true"}).into() }
            }
            "if" => json!({if holds("condition") { "if_true" } else { "if_false" }: given("value")}).into(),
            "switch_value" => {
                let value = given("value");
                let place =
                    given("cases").as_array().and_then(|cases| cases.iter().position(|case| *case == value));
                let way = if place.is_some() { "matched" } else { "default" };
                json!({way: given("input"), "index": place.map_or(-1, |place| place as i64)}).into()
            }
            "filter_items" if holds("condition") => json!({"output": given("input_item")}).into(),
            "filter_items" => json!({}).into(),
            "reroute" => given("value").into(),
            "fallback" => {
                let is_null = given("value").is_null();
                let chosen = given(if is_null { "fallback" } else { "value" });
                json!({"output": chosen, "used_fallback": is_null}).into()
            }
            "edit" => {
                // As the generator writes it: only what is assigned is kept.
                if !given("target_path").is_object() {
                    return Err("INVALID_PARAMETER");
                }
                let mut fields = Map::new();
                for assignment in given("assignments").as_array().into_iter().flatten() {
                    let name = assignment["name"].as_str().unwrap_or_default();
                    fields.insert(name.to_owned(), assignment["value"].clone());
                }
                json!({"$json": fields}).into()
            }
            _ if given("failure_rate") == json!(1) => return Err("SIMULATED_FAILURE"),
            _ => given("output").into(),
        })
    }

    /// Items come in the order of their indexes, and each parent has a count of its own: pieces of it have not.
    fn take_turn(&mut self, firing: &Firing<'_>) -> Answer {
        let Firing { node, key, .. } = *firing;
        let parent = self.shape.counted_at(node, key);
        let parameters = self.parameters(firing);
        let tally = self.tallies.entry((node, parent)).or_default();
        tally.seen += 1;
        let parameters = parameters?;
        let before = tally.seen - 1;
        let most = match parameters.get("n") {
            Some(Value::Null) | None => 0,
            Some(number) => number.as_u64().ok_or("INVALID_PARAMETER")?,
        };
        let holds = parameters.get("condition") == Some(&json!(true));
        let name = parameters.get("key").map(Value::to_string).unwrap_or_default();
        let passes = match self.shape.kind(node) {
            "take" => before < most,
            "drop" => before >= most,
            "take_while" => before == tally.passed && holds,
            "drop_while" => tally.passed > 0 || !holds,
            _ => tally.keys.insert(name.clone()),
        };
        if !passes {
            return Ok(json!({}).into());
        }
        tally.passed += 1;
        let index = key.last().copied().unwrap_or(0);
        let mut output = json!({"output": parameters["input_item"], "index": index});
        if self.shape.kind(node) == "distinct" {
            output["key"] = json!(name);
        }
        Ok(output.into())
    }

    fn rest(&self, firing: &Firing<'_>) -> Option<Value> {
        let (due, timer) = self.decisions.rests.get(&(firing.node, firing.key.to_vec()))?.first()?;
        Some(json!({"resume_at": due, "timer_id": timer}))
    }

    /// What is written, with its references followed; what an input brings counts in its place.
    fn parameters(&self, firing: &Firing<'_>) -> Result<Map<String, Value>, &'static str> {
        let mut resolved = firing.inputs.clone();
        let written = self.shape.nodes[firing.node]["parameters"].as_object();
        for (name, value) in written.into_iter().flatten() {
            if !resolved.contains_key(name) {
                resolved.insert(name.clone(), self.resolve(firing, value)?);
            }
        }
        Ok(resolved)
    }

    fn resolve(&self, firing: &Firing<'_>, value: &Value) -> Result<Value, &'static str> {
        match value {
            Value::String(text) if text.starts_with('$') => {
                self.look(firing, text).ok_or("EXPRESSION_FAILED")
            }
            Value::Array(items) => items.iter().map(|item| self.resolve(firing, item)).collect(),
            Value::Object(fields) => {
                let field =
                    |(name, field): (&String, &Value)| Ok((name.clone(), self.resolve(firing, field)?));
                fields.iter().map(field).collect()
            }
            other => Ok(other.clone()),
        }
    }

    /// `$inputs.x.a`, `$trigger`, `$item`, `$index`.
    fn look(&self, firing: &Firing<'_>, reference: &str) -> Option<Value> {
        let mut path = reference.split('.');
        let inputs = Value::Object(firing.inputs.clone());
        let (index, parent) = firing.key.split_last().unwrap_or((&0, &[]));
        let root = match path.next()? {
            "$inputs" => inputs,
            "$trigger" => self.input.clone(),
            "$index" => json!(index),
            "$item" => {
                let level = *self.shape.fires[firing.node].last()?;
                match self.registers.get(&(level, parent.to_vec()))? {
                    Register::Closed(first, items) => items.get((index - first) as usize)?.clone(),
                    Register::Blocked(_) => return None,
                }
            }
            other => panic!("nobody writes {other}"),
        };
        path.try_fold(root, |value, field| value.get(field).cloned())
    }
}

impl Word {
    /// A value, or the error that stands for it.
    pub fn brought(&self) -> Option<&Value> {
        match self {
            Self::Value(value) | Self::Failed(value, _) => Some(value),
            Self::Done | Self::Silence => None,
        }
    }

    fn value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Failed(..) | Self::Done | Self::Silence => None,
        }
    }

    /// The same, said on a side of a choice: an error that comes by keeps it from choosing.
    fn on_side(self, side: Option<Side>) -> Self {
        match self {
            Self::Failed(error, unchosen) => Self::Failed(error, unchosen.into_iter().chain(side).collect()),
            Self::Value(_) | Self::Done | Self::Silence => self,
        }
    }
}

/// What edges come to that exclude each other: the value on one of them, else an error, else nothing.
fn settled(words: impl Iterator<Item = Word>) -> Word {
    let words: Vec<Word> = words.collect();
    let value = words.iter().find(|word| matches!(word, Word::Value(_))).cloned();
    value.unwrap_or_else(|| without_value(&words))
}

/// What passes over a node that does not run: silence, the first error, or nothing.
fn without_value(words: &[Word]) -> Word {
    let failed = words.iter().find_map(|word| match word {
        Word::Failed(error, _) => Some(Word::Failed(error.clone(), unchosen(words))),
        Word::Value(_) | Word::Done | Word::Silence => None,
    });
    match words.iter().any(|word| matches!(word, Word::Silence)) {
        true => Word::Silence,
        false => failed.unwrap_or(Word::Done),
    }
}

/// The sides on which all edges lie, of choices that an error has kept from choosing. Nothing runs there.
fn unchosen(words: &[Word]) -> BTreeSet<Side> {
    let of_word = |word: &Word| match word {
        Word::Failed(_, unchosen) => unchosen.clone(),
        Word::Value(_) | Word::Done | Word::Silence => BTreeSet::new(),
    };
    words.iter().map(of_word).reduce(|all, more| &all & &more).unwrap_or_default()
}
