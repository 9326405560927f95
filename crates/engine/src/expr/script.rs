//! `{{ JavaScript }}` in QuickJS: no input or output, bounded, and deterministic.
//!
//! One interpreter per thread. Its globals are frozen before the first expression runs, so that no expression can
//! leave something behind for the next. `Date` and `Math.random` answer from the [`Moment`] they are given.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

use protocol::{ErrorCode, Millis, NodeError, Payload};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Persistent, Runtime};
use serde_json::Value;

use super::{Bounds, Scope, failed};

/// An expression that needs JavaScript, and the `$roots` it looks at.
#[derive(Clone, Debug)]
pub struct Script {
    /// As the author wrote it.
    pub source: String,
    pub roots: BTreeSet<String>,
    /// The function of the roots, in JavaScript.
    function: String,
}

/// The root that holds all nodes.
const NODE: &str = "node";

impl Script {
    /// `code` has every `$root` as a JavaScript identifier.
    pub fn new(source: &str, code: &str, roots: BTreeSet<String>) -> Self {
        let last = roots.get(NODE);
        let names: Vec<String> = own(&roots).chain(last).map(|root| identifier(root)).collect();
        Self { source: source.to_owned(), function: function(&names, code), roots }
    }
}

/// The roots that are looked up one by one.
fn own(roots: &BTreeSet<String>) -> impl Iterator<Item = &String> {
    roots.iter().filter(|root| *root != NODE)
}

/// What an expression sees as the present, and where its random numbers start. Recorded, so that a replay sees the
/// same.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub now: Millis,
    pub seed: u32,
}

/// The JavaScript identifier of a root: a name may hold `-`, an identifier may not.
pub fn identifier(root: &str) -> String {
    format!("${}", root.replace('-', "$"))
}

/// Says what is wrong with the code, if anything.
pub fn check_syntax(code: &str) -> Result<(), String> {
    with_interpreter(|interpreter| {
        let context = interpreter.context.clone();
        context.with(|ctx| {
            interpreter.compile(&ctx, &function(&[], code)).map(|_| ()).map_err(|error| error.message)
        })
    })
}

pub fn evaluate(script: &Script, scope: &Scope<'_>) -> Result<Value, NodeError> {
    let mut values = own(&script.roots).map(|root| scope.root(root)).collect::<Result<Vec<Payload>, _>>()?;
    if script.roots.contains(NODE) {
        let nodes: serde_json::Map<String, Value> =
            scope.nodes().into_iter().map(|(name, payload)| (name, payload.value().clone())).collect();
        values.push(Payload::new(Value::Object(nodes)));
    }
    let answer =
        with_interpreter(|interpreter| interpreter.evaluate(&script.function, &values, scope.moment));
    answer.map_err(|mut error| {
        error.message = format!("{{{{ {} }}}}: {}", script.source, error.message);
        error
    })
}

struct Interpreter {
    // Dropped before the context it belongs to.
    functions: HashMap<String, Persistent<Function<'static>>>,
    set_moment: Persistent<Function<'static>>,
    context: Context,
    steps: Rc<Cell<u32>>,
    worn_out: bool,
    /// How deep the thread's stack was when it was made: from there its own bound is counted.
    made_at: usize,
}

impl Interpreter {
    /// Called from much deeper than it was made, it would take the stack of its callers for its own.
    fn is_too_high(&self) -> bool {
        self.made_at.saturating_sub(depth()) > Bounds::STACK_BYTES / 4
    }
}

/// Where the thread's stack is now. It grows downwards.
fn depth() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

/// Compiled expressions kept per thread; past this the interpreter starts afresh.
const KEPT_FUNCTIONS: usize = 1_000;

fn with_interpreter<T>(use_it: impl FnOnce(&mut Interpreter) -> T) -> T {
    thread_local! {
        static INTERPRETER: RefCell<Option<Interpreter>> = const { RefCell::new(None) };
    }
    INTERPRETER.with(|slot| {
        let mut slot = slot.borrow_mut();
        let is_over =
            |it: &Interpreter| it.worn_out || it.functions.len() >= KEPT_FUNCTIONS || it.is_too_high();
        if slot.as_ref().is_some_and(is_over) {
            *slot = None;
        }
        use_it(slot.get_or_insert_with(Interpreter::new))
    })
}

impl Interpreter {
    fn new() -> Self {
        Self::start()
            .unwrap_or_else(|error| unreachable!("QuickJS does not start with its own prelude: {error}"))
    }

    fn start() -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(Bounds::MEMORY_BYTES);
        runtime.set_max_stack_size(Bounds::STACK_BYTES);
        let steps = Rc::new(Cell::new(0));
        let context = Context::full(&runtime)?;
        let set_moment = context.with(|ctx| {
            let function: Function = ctx.eval(PRELUDE)?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, function))
        })?;
        let counter = Rc::clone(&steps);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counter.set(counter.get() + 1);
            counter.get() > Bounds::STEPS
        })));
        Ok(Self { functions: HashMap::new(), set_moment, context, steps, worn_out: false, made_at: depth() })
    }

    fn evaluate(&mut self, function: &str, values: &[Payload], moment: Moment) -> Result<Value, NodeError> {
        self.steps.set(0);
        let context = self.context.clone();
        let answer = context.with(|ctx| self.evaluate_in(&ctx, function, values, moment));
        // Memory may be full or a limit hit half-way: the next expression gets a fresh interpreter.
        self.worn_out = matches!(&answer, Err(error) if error.code == ErrorCode::ExpressionLimit);
        answer
    }

    fn evaluate_in(
        &mut self,
        ctx: &Ctx<'_>,
        function: &str,
        values: &[Payload],
        moment: Moment,
    ) -> Result<Value, NodeError> {
        let function = self.function(ctx, function)?;
        let steps = Rc::clone(&self.steps);
        let explain = |error: CaughtError<'_>| explain(&error, steps.get());
        let set_moment = self.set_moment.clone().restore(ctx).catch(ctx).map_err(explain)?;
        set_moment.call::<_, ()>((moment.now as f64, moment.seed)).catch(ctx).map_err(explain)?;

        let mut arguments = rquickjs::function::Args::new(ctx.clone(), values.len());
        for value in values {
            let value: rquickjs::Value = ctx.json_parse(value.text()).catch(ctx).map_err(explain)?;
            arguments.push_arg(value).catch(ctx).map_err(explain)?;
        }
        let answer: rquickjs::Value = function.call_arg(arguments).catch(ctx).map_err(explain)?;
        // What is the same in both languages needs no text in between.
        if let Some(plain) = plain(&answer) {
            return Ok(plain);
        }
        let text = ctx.json_stringify(answer).catch(ctx).map_err(explain)?;
        let text = match text {
            Some(text) => text.to_string().catch(ctx).map_err(explain)?,
            None => return Err(failed("it gives undefined, which is not a JSON value")),
        };
        serde_json::from_str(&text).map_err(|error| failed(format!("its value is not usable: {error}")))
    }

    fn function<'js>(&mut self, ctx: &Ctx<'js>, source: &str) -> Result<Function<'js>, NodeError> {
        if let Some(known) = self.functions.get(source) {
            return known.clone().restore(ctx).map_err(|error| failed(error.to_string()));
        }
        let function = self.compile(ctx, source)?;
        self.functions.insert(source.to_owned(), Persistent::save(ctx, function.clone()));
        Ok(function)
    }

    fn compile<'js>(&self, ctx: &Ctx<'js>, source: &str) -> Result<Function<'js>, NodeError> {
        self.steps.set(0);
        ctx.eval(source).catch(ctx).map_err(|error| explain(&error, self.steps.get()))
    }
}

fn plain(answer: &rquickjs::Value<'_>) -> Option<Value> {
    let number = || answer.as_int().map(Value::from);
    number().or_else(|| answer.as_bool().map(Value::Bool)).or_else(|| answer.is_null().then_some(Value::Null))
}

fn function(names: &[String], code: &str) -> String {
    format!("(function({}){{\"use strict\";return (\n{code}\n);}})", names.join(","))
}

fn explain(error: &CaughtError<'_>, steps: u32) -> NodeError {
    if steps > Bounds::STEPS {
        return NodeError::new(ErrorCode::ExpressionLimit, "it takes too long and was stopped");
    }
    let message = match error {
        CaughtError::Exception(exception) => {
            let name = exception.get::<_, String>("name").unwrap_or_default();
            let message = exception.message().unwrap_or_default();
            if name.is_empty() { message } else { format!("{name}: {message}") }
        }
        CaughtError::Value(value) => format!("it throws {:?}", value.as_raw_text()),
        CaughtError::Error(error) => error.to_string(),
    };
    let exhausted = ["out of memory", "stack overflow", "call stack"];
    if exhausted.iter().any(|words| message.contains(words)) || message == "null" {
        return NodeError::new(
            ErrorCode::ExpressionLimit,
            format!("it needs too much memory or stack: {message}"),
        );
    }
    failed(message)
}

trait RawText {
    fn as_raw_text(&self) -> String;
}

impl RawText for rquickjs::Value<'_> {
    fn as_raw_text(&self) -> String {
        match self.as_string().map(|text| text.to_string()) {
            Some(Ok(text)) => text,
            _ => self.type_name().to_owned(),
        }
    }
}

/// Takes away what would differ from run to run, freezes the rest, and gives back the function that sets the moment.
const PRELUDE: &str = r#"
(() => {
  "use strict";
  let now = 0, state = 1;
  const RealDate = Date;
  class RecordedDate extends RealDate {
    constructor(...parts) { if (parts.length === 0) super(now); else super(...parts); }
    static now() { return now; }
  }
  globalThis.Date = RecordedDate;
  RealDate.prototype.constructor = RecordedDate;
  Math.random = () => {
    state |= 0; state = (state + 0x6D2B79F5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const seen = new Set();
  const freeze = (thing) => {
    if ((typeof thing !== "object" && typeof thing !== "function") || thing === null || seen.has(thing)) return;
    seen.add(thing);
    Object.freeze(thing);
    freeze(Object.getPrototypeOf(thing));
    for (const key of Reflect.ownKeys(thing)) {
      const part = Object.getOwnPropertyDescriptor(thing, key);
      freeze(part.value); freeze(part.get); freeze(part.set);
    }
  };
  freeze(Object.getPrototypeOf(function* () {}));
  freeze(Object.getPrototypeOf(async function () {}));
  freeze(Object.getPrototypeOf([][Symbol.iterator]()));
  freeze(globalThis);
  return (moment, seed) => { now = moment; state = seed; };
})()
"#;

#[cfg(test)]
mod tests {
    use super::super::{Names, Template};
    use super::*;
    use serde_json::json;

    fn run(expression: &str) -> Result<Value, NodeError> {
        let names = Names::new([("a".to_owned(), "a".into()), ("b-1".to_owned(), "b-1".into())].into());
        let template = Template::compile_expression(expression, &names).map_err(failed)?;
        let find = |key: &str| match key {
            "$a" => Some(Payload::new(json!({"n": 2, "list": [1, 2, 3], "text": "x"}))),
            "$b-1" => Some(Payload::new(json!({"n": 5}))),
            _ => None,
        };
        let moment = Moment { now: 1_760_013_301_234, seed: 7 };
        let keys = || vec!["$a".to_owned(), "$b-1".to_owned()];
        template.resolve(&Scope { names: &names, find: &find, keys: &keys, inputs: None, moment })
    }

    #[test]
    fn expressions_are_values() {
        for (expression, expected) in [
            ("$a.n + 1", json!(3)),
            ("{{ $a.n * $b-1.n }}", json!(10)),
            ("$a.n-1", json!(1)),
            ("$a.list.map(x => x * 2)", json!([2, 4, 6])),
            ("({deep: {text: `${$a.text}!`}})", json!({"deep": {"text": "x!"}})),
            ("$node['b-1'].n", json!(5)),
            ("$node[\"b-1\"].n + 1", json!(6)),
            ("$a.text === 'x' && $a.n > 1", json!(true)),
            ("null", json!(null)),
            ("new Date().toISOString()", json!("2025-10-09T12:35:01.234Z")),
            ("new Date(0).getTime() + Date.now() % 1000", json!(234)),
        ] {
            assert_eq!(run(expression).unwrap(), expected, "{expression}");
        }
        assert_eq!(run("Math.random() + 0").unwrap(), run("Math.random() + 0").unwrap());
    }

    #[test]
    fn bad_expressions_are_named() {
        for (expression, code, words) in [
            ("$a.n +", ErrorCode::ExpressionFailed, "not an expression"),
            ("$zzz + 1", ErrorCode::ExpressionFailed, "$zzz cannot be resolved here; known are: $a, $b-1"),
            ("$a.missing.field + 1", ErrorCode::ExpressionFailed, "TypeError"),
            ("undefined", ErrorCode::ExpressionFailed, "undefined"),
            ("(() => { throw 'no' })()", ErrorCode::ExpressionFailed, "no"),
            ("(() => { for (;;) {} })()", ErrorCode::ExpressionLimit, "too long"),
            (
                "(() => { const l = []; for (;;) l.push('x'.repeat(100000)) })()",
                ErrorCode::ExpressionLimit,
                "too",
            ),
            ("(function f() { return f() + 1 })()", ErrorCode::ExpressionLimit, "too much"),
            ("/(a+)+$/.test('a'.repeat(40) + 'b')", ErrorCode::ExpressionLimit, "too"),
            ("fetch('http://x')", ErrorCode::ExpressionFailed, "fetch"),
        ] {
            let error = run(expression).unwrap_err();
            assert_eq!(error.code, code, "{expression}: {error:?}");
            assert!(error.message.contains(words), "{expression}: {error:?}");
        }
        assert_eq!(run("1 + 1").unwrap(), json!(2), "the interpreter works after every failure");
    }

    /// Takes at least this much of the thread's stack before it goes on.
    #[inline(never)]
    fn far_below(bytes: usize) -> Value {
        let room = std::hint::black_box([0_u8; 4096]);
        match bytes.checked_sub(room.len()) {
            Some(rest) => std::hint::black_box(far_below(rest)),
            None => run("[1, 2].map(x => x * 2)").unwrap(),
        }
    }

    #[test]
    fn who_calls_from_deep_below_has_as_much_stack_as_anybody() {
        assert_eq!(run("1 + 1").unwrap(), json!(2), "an interpreter is there");
        assert_eq!(far_below(2 * Bounds::STACK_BYTES), json!([2, 4]));
        assert_eq!(run("1 + 1").unwrap(), json!(2));
    }

    #[test]
    fn nothing_is_left_behind() {
        assert!(run("(globalThis.left = 1)").is_err());
        assert!(run("(Array.prototype.map = null)").is_err());
        assert_eq!(run("typeof left").unwrap(), json!("undefined"));
    }
}
