//! Random workflows with data edges of every kind, failing items, and splits, merges, conditions and waits among them.

use serde_json::{Value, json};

use super::{Case, Dice, Model};

/// Something that an edge can carry on: an output of a node, the levels it stands in, and what it looks like.
#[derive(Clone, Debug)]
struct Open {
    node: usize,
    output: Option<&'static str>,
    scope: Vec<usize>,
    what: What,
}

/// What a value looks like, as far as nothing has failed on the way.
#[derive(Clone, Debug)]
enum What {
    /// A thing with flags and lists, at this path.
    Thing(String),
    List(Box<What>),
    Number,
    Other,
}

struct Builder {
    dice: Dice,
    nodes: Vec<Value>,
    edges: Vec<Value>,
    pool: Vec<Open>,
}

/// An end and the input it is led to.
type Led<'o> = (&'o Open, Option<&'static str>);

/// What the engine refuses is tried again.
const ATTEMPTS: u64 = 200;

pub fn random(seed: u64) -> Case {
    let mut cases = (0..ATTEMPTS).map(|attempt| attempt_at(seed.wrapping_add(attempt << 40)));
    let found = cases.find(|case| case.plan.is_ok());
    found.unwrap_or_else(|| panic!("seed {seed}: {ATTEMPTS} workflows were refused"))
}

fn attempt_at(seed: u64) -> Case {
    let mut builder =
        Builder { dice: Dice::new(seed ^ 0xda7a), nodes: Vec::new(), edges: Vec::new(), pool: Vec::new() };
    let thing = builder.thing(2);
    // Without a trigger an execution starts wherever nothing leads to.
    match builder.dice.one_in(4) {
        true => drop(builder.add("simulate", json!({"output": thing}), &[])),
        false => drop(builder.add("trigger", json!({}), &[])),
    }
    builder.offer(0, None, &[], What::Thing(String::new()));
    for _ in 0..4 + builder.dice.roll(9) {
        builder.grow();
    }
    for _ in 0..1 + builder.dice.roll(3) {
        builder.gather_all();
    }
    Case::new(Model::Data, json!({"nodes": builder.nodes, "edges": builder.edges}), thing)
}

fn comparable(left: &[usize], right: &[usize]) -> bool {
    left.starts_with(right) || right.starts_with(left)
}

impl Builder {
    fn add(&mut self, kind: &str, parameters: Value, from: &[Led<'_>]) -> usize {
        let node = self.nodes.len();
        self.nodes.push(json!({"id": format!("n{node}"), "type": kind, "parameters": parameters}));
        for (open, input) in from {
            let id = format!("e{}", self.edges.len());
            let mut edge = json!({"id": id, "src": format!("n{}", open.node), "dst": format!("n{node}")});
            if open.output == Some("error") {
                self.nodes[open.node]["error"] = json!({"type": "branch", "error_edge": id});
            } else if let Some(output) = open.output {
                edge["source_handle"] = json!(output);
            }
            if let Some(input) = input {
                edge["target_handle"] = json!(input);
            }
            self.edges.push(edge);
        }
        node
    }

    fn offer(&mut self, node: usize, output: Option<&'static str>, scope: &[usize], what: What) -> Open {
        let open = Open { node, output, scope: scope.to_vec(), what };
        self.pool.push(open.clone());
        open
    }

    fn is_pieces(&self, level: usize) -> bool {
        self.nodes[level]["type"] == "lines"
    }

    fn repeats(&self, open: &Open) -> bool {
        open.scope.last().is_some_and(|level| self.is_pieces(*level))
    }

    /// One of the ends, rather a young one.
    fn pick(&mut self) -> Open {
        let length = self.pool.len();
        let back = self.dice.roll(length).min(self.dice.roll(length));
        self.pool[length - 1 - back].clone()
    }

    fn pick_where(&mut self, fits: impl Fn(&Open) -> bool) -> Option<Open> {
        (0..8).map(|_| self.pick()).find(fits)
    }

    /// An end that holds a thing, and the reference to it for a node whose input has this name.
    fn thing_end(&mut self, input: &str) -> (Open, String) {
        let found = self.pick_where(|open| matches!(open.what, What::Thing(_)));
        let open = found.unwrap_or_else(|| self.pool[0].clone());
        let path = if let What::Thing(path) = &open.what { path.clone() } else { String::new() };
        (open, format!("$inputs.{input}{path}"))
    }

    /// Another input for a node that has these.
    fn beside(&mut self, others: &[&Open]) -> Option<Open> {
        let taken = others.iter().any(|open| self.repeats(open));
        let deepest = others.iter().map(|open| open.scope.clone()).max_by_key(Vec::len).unwrap_or_default();
        let candidates: Vec<Open> = (0..6).map(|_| self.pick()).collect();
        candidates.into_iter().find(|open| {
            let fits = others.iter().all(|other| comparable(&other.scope, &open.scope));
            let drives = self.repeats(open);
            fits && match taken {
                true => !drives && open.scope.len() < deepest.len(),
                false => !drives || open.scope.len() > deepest.len(),
            }
        })
    }

    fn grow(&mut self) {
        match self.dice.roll(24) {
            0 => self.constant(),
            1..=4 => self.iterate(),
            5..=7 => self.join(),
            8 => self.list(),
            9 => self.edit(),
            10 => self.choose(),
            11 => self.filter(),
            12 => self.reroute(),
            13 | 14 => self.in_order(),
            15 => self.batch(),
            16 | 17 => self.gather(),
            18 | 19 => self.combine(),
            20 => self.lines(),
            21 => self.fail(),
            _ => self.control(),
        }
    }

    fn constant(&mut self) {
        let root = self.pool[0].clone();
        let field = ["a", "b", "none"][self.dice.roll(3)];
        let node =
            self.add("simulate", json!({"output": format!("$inputs.x.{field}")}), &[(&root, Some("x"))]);
        self.offer(node, None, &[], What::List(What::Thing(String::new()).into()));
    }

    fn iterate(&mut self) {
        let nested = self.pick_where(|open| matches!(open.what, What::List(_)) && open.scope.len() < 3);
        let limit = [None, None, Some(json!(1)), Some(json!(-1)), Some(json!(0))][self.dice.roll(5)].clone();
        let (open, mut parameters, what, input) = match nested {
            Some(open) if self.dice.one_in(2) => {
                let What::List(item) = open.what.clone() else { return };
                (open, json!({}), *item, Some("input_list"))
            }
            _ => {
                let (open, thing) = self.thing_end("in");
                let field = ["a", "a", "b", "none", "odd", "k"][self.dice.roll(6)];
                let what = if field == "k" { What::Number } else { What::Thing(String::new()) };
                (open, json!({"input_list": format!("{thing}.{field}")}), what, None)
            }
        };
        if open.scope.len() >= 3 {
            return;
        }
        if let Some(limit) = limit {
            parameters["limit"] = limit;
        }
        let node = self.add("for_each", parameters, &[(&open, input)]);
        self.policy(node, &open.scope);
        let scope = [open.scope.as_slice(), &[node]].concat();
        self.offer(node, Some("output"), &scope, what);
        if self.dice.one_in(4) {
            self.offer(node, Some("index"), &scope, What::Number);
        }
    }

    /// A node that puts together what its handles bring.
    fn join(&mut self) {
        const NAMES: [&str; 3] = ["x", "y", "z"];
        let mut inputs = vec![self.pick()];
        for _ in 0..self.dice.roll(3) {
            let others: Vec<&Open> = inputs.iter().collect();
            let others: Vec<Open> = others.into_iter().cloned().collect();
            inputs.extend(self.beside(&others.iter().collect::<Vec<_>>()));
        }
        let mut output = json!({"by": self.nodes.len()});
        let led: Vec<Led<'_>> = inputs.iter().zip(NAMES).map(|(open, name)| (open, Some(name))).collect();
        for (_, name) in &led {
            let name = name.unwrap_or_default();
            output[name] = json!(format!("$inputs.{name}"));
        }
        let scope = inputs.iter().map(|open| open.scope.clone()).max_by_key(Vec::len).unwrap_or_default();
        if !scope.is_empty() && self.dice.one_in(4) {
            output["item"] = json!("$item");
            output["index"] = json!("$index");
        }
        let node = self.add("simulate", json!({"output": output}), &led);
        for name in NAMES.iter().take(inputs.len()) {
            if self.dice.one_in(4) {
                self.nodes[node]["inputs"][*name] = json!({"default": {"k": 7, "f0": true}});
            }
        }
        let thing = inputs.iter().zip(NAMES).find_map(|(open, name)| match &open.what {
            What::Thing(path) => Some(What::Thing(format!(".{name}{path}"))),
            What::List(_) | What::Number | What::Other => None,
        });
        self.policy(node, &scope);
        self.offer(node, None, &scope, thing.unwrap_or(What::Other));
        if self.dice.one_in(6) {
            // A field of what it puts out; sometimes there is none.
            let field = ["x", "missing"][self.dice.roll(2)];
            self.offer(node, Some(field), &scope, inputs[0].what.clone());
        }
    }

    fn list(&mut self) {
        let first = self.pick();
        if self.repeats(&first) {
            return;
        }
        let mut inputs = vec![first];
        for _ in 0..1 + self.dice.roll(2) {
            let others = inputs.clone();
            let more = self.beside(&others.iter().collect::<Vec<_>>());
            inputs.extend(more.filter(|open| !self.repeats(open)));
        }
        let led: Vec<Led<'_>> = inputs.iter().map(|open| (open, Some("items"))).collect();
        let scope = inputs.iter().map(|open| open.scope.clone()).max_by_key(Vec::len).unwrap_or_default();
        let node = self.add("simulate", json!({"output": {"all": "$inputs.items"}}), &led);
        self.nodes[node]["inputs"] = json!({"items": {"type": "list[any]"}});
        if self.dice.one_in(4) {
            self.nodes[node]["inputs"]["items"]["default"] = json!(["usual"]);
        }
        self.policy(node, &scope);
        self.offer(node, None, &scope, What::Other);
    }

    fn edit(&mut self) {
        let (open, thing) = self.thing_end("x");
        let Some(other) = self.beside(&[&open]) else { return };
        let assignments = json!([{"name": "y", "value": "$inputs.y"}, {"name": "x", "value": thing}]);
        let scope = if other.scope.len() > open.scope.len() { &other.scope } else { &open.scope }.clone();
        let parameters = json!({"target_path": thing, "assignments": assignments, "mode": "keep_only"});
        let node = self.add("edit", parameters, &[(&open, Some("x")), (&other, Some("y"))]);
        self.policy(node, &scope);
        self.offer(node, None, &scope, What::Thing(".x".to_owned()));
    }

    fn choose(&mut self) {
        let (is_if, input) = if self.dice.one_in(2) { (true, "value") } else { (false, "input") };
        let (open, thing) = self.thing_end(input);
        let (kind, parameters, ways) = match is_if {
            true => ("if", json!({"condition": format!("{thing}.f0")}), ["if_true", "if_false"]),
            false => {
                let parameters = json!({"value": format!("{thing}.k"), "cases": [0, 2]});
                ("switch_value", parameters, ["matched", "default"])
            }
        };
        let node = self.add(kind, parameters, &[(&open, Some(input))]);
        self.policy(node, &open.scope);
        let ends = ways.map(|way| self.offer(node, Some(way), &open.scope, open.what.clone()));
        if !is_if && self.dice.one_in(3) {
            self.offer(node, Some("index"), &open.scope, What::Number);
        }
        let ends = ends.map(|end| if self.dice.one_in(2) { self.work(&end) } else { end });
        self.meet(&ends);
    }

    /// A node behind one end.
    fn work(&mut self, open: &Open) -> Open {
        let node = self.add("simulate", json!({"output": "$inputs.x"}), &[(open, Some("x"))]);
        self.policy(node, &open.scope);
        self.offer(node, None, &open.scope, open.what.clone())
    }

    /// Ways that exclude each other come together, or not.
    fn meet(&mut self, ends: &[Open]) {
        let led: Vec<Led<'_>> = ends.iter().map(|open| (open, None)).collect();
        let scope = ends[0].scope.clone();
        let repeats = self.repeats(&ends[0]);
        match self.dice.roll(5) {
            0 if !repeats => {
                let node = self.add("merge", json!({"timeout": 0}), &led);
                self.offer(node, None, &scope, What::Other);
            }
            1 if !repeats => {
                let node = self.add("simulate", json!({"output": {"met": self.nodes.len()}}), &led);
                self.offer(node, None, &scope, What::Other);
            }
            2 if !scope.is_empty() && !repeats => {
                let node = self.add("aggregator", json!({"timeout": 0}), &led);
                self.policy(node, &self.collapsed(&scope));
                self.offer(node, None, &self.collapsed(&scope), What::List(ends[0].what.clone().into()));
            }
            _ => {}
        }
    }

    fn filter(&mut self) {
        let (open, _) = self.thing_end("input_item");
        self.filtered(open);
    }

    /// Some of the items are dropped, where they are things.
    fn filtered(&mut self, open: Open) -> Open {
        let What::Thing(path) = &open.what else { return open };
        let parameters = json!({"condition": format!("$inputs.input_item{path}.f1")});
        let node = self.add("filter_items", parameters, &[(&open, Some("input_item"))]);
        self.policy(node, &open.scope);
        self.offer(node, None, &open.scope, open.what)
    }

    fn reroute(&mut self) {
        let open = self.pick();
        if self.dice.one_in(2) {
            let node = self.add("reroute", json!({}), &[(&open, Some("value"))]);
            self.offer(node, None, &open.scope, open.what);
            return;
        }
        let (open, thing) = self.thing_end("x");
        let maybe = self.add("simulate", json!({"output": format!("{thing}.maybe")}), &[(&open, Some("x"))]);
        self.policy(maybe, &open.scope);
        let maybe = self.offer(maybe, None, &open.scope, What::Other);
        let usual = self.beside(&[&maybe]).filter(|usual| usual.scope.len() <= maybe.scope.len());
        let node = match &usual {
            Some(usual) if self.dice.one_in(2) => {
                self.add("fallback", json!({}), &[(&maybe, Some("value")), (usual, Some("fallback"))])
            }
            _ => self.add("fallback", json!({"fallback": {"k": 9}}), &[(&maybe, Some("value"))]),
        };
        self.offer(node, None, &open.scope, What::Other);
        if self.dice.one_in(3) {
            self.offer(node, Some("used_fallback"), &open.scope, What::Other);
        }
    }

    fn in_order(&mut self) {
        let (open, thing) = self.thing_end("input_item");
        let kind = ["take", "drop", "take_while", "drop_while", "distinct"][self.dice.roll(5)];
        let count = self
            .beside(&[&open])
            .filter(|count| matches!(count.what, What::Number) && count.scope.len() <= open.scope.len());
        let parameters = match kind {
            "take" | "drop" => json!({"n": self.dice.roll(3)}),
            "distinct" => json!({"key": format!("{thing}.k")}),
            _ => json!({"condition": format!("{thing}.f0")}),
        };
        let item = (&open, Some("input_item"));
        let node = match (&count, kind) {
            (Some(count), "take" | "drop") => self.add(kind, json!({}), &[item, (count, Some("n"))]),
            _ => self.add(kind, parameters, &[item]),
        };
        self.policy(node, &open.scope);
        self.offer(node, None, &open.scope, open.what.clone());
        if self.dice.one_in(4) {
            self.offer(node, Some("index"), &open.scope, What::Number);
        }
    }

    /// Without the innermost iteration and the pieces around it.
    fn collapsed(&self, scope: &[usize]) -> Vec<usize> {
        let pieces = |scope: &[usize]| scope.last().is_some_and(|level| self.is_pieces(*level));
        let mut scope = scope.to_vec();
        for drops_item in [false, true] {
            if drops_item {
                scope.pop();
            }
            while pieces(&scope) {
                scope.pop();
            }
        }
        scope
    }

    fn batch(&mut self) {
        let Some(open) = self.pick_where(|open| !open.scope.is_empty()) else { return };
        let size = 1 + self.dice.roll(3);
        let node = self.add("batch", json!({"size": size}), &[(&open, Some("input_item"))]);
        let outside = self.collapsed(&open.scope);
        self.policy(node, &outside);
        let scope = [outside.as_slice(), &[node]].concat();
        self.offer(node, Some("output"), &scope, What::List(open.what.into()));
    }

    fn gather(&mut self) {
        if let Some(open) = self.pick_where(|open| !open.scope.is_empty()) {
            self.gather_one(&open);
        }
    }

    fn gather_one(&mut self, open: &Open) -> Open {
        let scope = self.collapsed(&open.scope);
        let (kind, what) = match self.dice.roll(6) {
            0 => ("last", open.what.clone()),
            1 => ("count", What::Number),
            2 => ("aggregator", What::List(open.what.clone().into())),
            _ => ("collect", What::List(open.what.clone().into())),
        };
        let mut parameters = if kind == "aggregator" { json!({"timeout": 0}) } else { json!({}) };
        if matches!(kind, "collect" | "aggregator") {
            parameters["skipped"] = json!(["null", "omit", "marker"][self.dice.roll(3)]);
            parameters["on_error"] = json!(["include", "include", "omit", "fail"][self.dice.roll(4)]);
        }
        let input = (kind != "aggregator").then_some("input_item");
        let node = self.add(kind, parameters, &[(open, input)]);
        self.policy(node, &scope);
        self.offer(node, None, &scope, what)
    }

    /// Gathers one end until nothing is open.
    fn gather_all(&mut self) {
        let mut end = self.pick();
        while !end.scope.is_empty() {
            end = self.gather_one(&end);
        }
    }

    fn combine(&mut self) {
        let kind = ["zip", "zip", "cross"][self.dice.roll(3)];
        let most = if kind == "zip" { 3 } else { 2 };
        let Some(left) = self.pick_where(|open| !open.scope.is_empty() && open.scope.len() <= most) else {
            return;
        };
        let depth = left.scope.len() - 1;
        let apart = |open: &Open| {
            open.scope.len() == depth + 1
                && open.scope[..depth] == left.scope[..depth]
                && open.scope != left.scope
        };
        let right = match self.pick_where(apart) {
            Some(right) => right,
            None => self.twin(&left),
        };
        let left = if self.dice.one_in(2) { self.filtered(left) } else { left };
        let parameters = match self.dice.one_in(12) {
            true if kind == "cross" => json!({"max_output_count": 2}),
            _ => json!({}),
        };
        let node = self.add(kind, parameters, &[(&left, Some("left")), (&right, Some("right"))]);
        self.policy(node, &left.scope[..depth]);
        let scope = [&left.scope[..depth], &[node]].concat();
        self.offer(node, Some("left"), &scope, left.what.clone());
        self.offer(node, Some("right"), &scope, right.what);
        if self.dice.one_in(3) {
            self.offer(node, None, &scope, What::Other);
        }
    }

    /// An iteration beside another one, over as many items: over what that one gathers to.
    fn twin(&mut self, open: &Open) -> Open {
        let outside = self.collapsed(&open.scope);
        let collect = self.add("collect", json!({"skipped": "null"}), &[(open, Some("input_item"))]);
        let list = self.offer(collect, None, &outside, What::List(open.what.clone().into()));
        let node = self.add("for_each", json!({}), &[(&list, Some("input_list"))]);
        let scope = [outside.as_slice(), &[node]].concat();
        self.offer(node, Some("output"), &scope, open.what.clone())
    }

    fn lines(&mut self) {
        let (open, thing) = self.thing_end("in");
        if open.scope.len() >= 3 || self.repeats(&open) {
            return;
        }
        let node = self.add("lines", json!({"text": format!("{thing}.text")}), &[(&open, None)]);
        self.policy(node, &open.scope);
        let scope = [open.scope.as_slice(), &[node]].concat();
        let piece = self.offer(node, Some("line"), &scope, What::Other);
        let side = self.beside(&[&piece]).unwrap_or(open);
        let join = json!({"output": {"x": "$inputs.x", "y": "$inputs.y"}});
        let node = self.add("simulate", join, &[(&piece, Some("x")), (&side, Some("y"))]);
        self.policy(node, &scope);
        let what = match side.what {
            What::Thing(path) => What::Thing(format!(".y{path}")),
            What::List(_) | What::Number | What::Other => What::Other,
        };
        self.offer(node, None, &scope, what);
    }

    /// Some of the items fail.
    fn fail(&mut self) {
        let (open, thing) = self.thing_end("x");
        let parameters = json!({"output": "$inputs.x", "failure_rate": format!("{thing}.r")});
        let node = self.add("simulate", parameters, &[(&open, Some("x"))]);
        let end = self.offer(node, None, &open.scope, open.what.clone());
        if self.dice.one_in(2) {
            return self.policy(node, &open.scope);
        }
        let error = Open { node, output: Some("error"), ..open };
        let saved = self.add("simulate", json!({"output": {"saved": "$inputs.e"}}), &[(&error, Some("e"))]);
        let saved = self.offer(saved, None, &error.scope, What::Other);
        self.meet(&[end, saved]);
    }

    fn control(&mut self) {
        match self.dice.roll(5) {
            0 | 1 => self.split(),
            2 => self.merge(),
            3 => self.conditional(),
            _ => {
                let open = self.pick();
                let amount = [json!(0), json!(1), json!(2.5)][self.dice.roll(3)].clone();
                let parameters = json!({"amount": amount, "unit": "seconds"});
                let input = self.dice.one_in(2).then_some("x");
                let node = self.add("wait", parameters, &[(&open, input)]);
                self.offer(node, None, &open.scope, What::Other);
            }
        }
    }

    fn split(&mut self) {
        let (open, thing) = self.thing_end("x");
        if open.scope.len() >= 3 {
            return;
        }
        let field = ["a", "b", "none", "odd"][self.dice.roll(4)];
        let parameters = json!({"input_array": format!("{thing}.{field}")});
        let node = self.add("split", parameters, &[(&open, Some("x"))]);
        self.policy(node, &open.scope);
        let scope = [open.scope.as_slice(), &[node]].concat();
        self.offer(node, None, &scope, What::Thing(String::new()));
    }

    fn merge(&mut self) {
        let open = self.pick();
        let Some(other) = self.beside(&[&open]) else { return };
        if self.repeats(&open) || self.repeats(&other) {
            return;
        }
        let scope = if other.scope.len() > open.scope.len() { &other.scope } else { &open.scope }.clone();
        let strict = self.dice.one_in(4);
        let parameters = json!({"timeout": 0, "strict": strict});
        let node = self.add("merge", parameters, &[(&open, None), (&other, None)]);
        self.policy(node, &scope);
        self.offer(node, None, &scope, What::Other);
    }

    fn conditional(&mut self) {
        let (open, thing) = self.thing_end("x");
        let parameters = json!({"expression": format!("{thing}.f1")});
        let node = self.add("conditional", parameters, &[(&open, Some("x"))]);
        self.policy(node, &open.scope);
        // A way has one edge: others begin behind it.
        let ends = ["true", "false"].map(|way| {
            let way = Open { output: Some(way), node, ..open.clone() };
            let node = self.add("simulate", json!({"output": "$trigger"}), &[(&way, None)]);
            self.offer(node, None, &way.scope, What::Thing(String::new()))
        });
        self.meet(&ends);
    }

    /// What a failure leads to. Outside of every iteration silence would end the execution.
    fn policy(&mut self, node: usize, fires: &[usize]) {
        let policy = match self.dice.roll(40) {
            0 => "halt",
            1..=10 => "ignore",
            11 => return,
            _ if fires.is_empty() => "ignore",
            _ => return,
        };
        self.nodes[node]["error"] = json!({"type": policy});
    }

    /// Flags, a number, lists of things, something that is perhaps a list, lines of text, and perhaps nothing.
    fn thing(&mut self, depth: usize) -> Value {
        let lines = ["", "p", "p\nq"][self.dice.roll(3)];
        let mut thing = json!({"none": [], "k": self.dice.roll(3), "text": lines});
        thing["f0"] = json!(self.dice.one_in(2));
        thing["f1"] = json!(!self.dice.one_in(3));
        thing["r"] = json!(usize::from(self.dice.one_in(4)));
        thing["maybe"] = if self.dice.one_in(2) { json!({"k": 4}) } else { Value::Null };
        for name in ["a", "b", "odd"] {
            let count = if depth == 0 { self.dice.roll(2) } else { self.dice.roll(4) };
            thing[name] = match depth == 0 || name == "odd" && self.dice.one_in(2) {
                true => json!("no list"),
                false => (0..count).map(|_| self.thing(depth - 1)).collect(),
            };
        }
        if depth == 0 {
            (thing["a"], thing["b"]) = (json!([]), json!([{"k": 0, "f0": true}]));
        }
        thing
    }
}
