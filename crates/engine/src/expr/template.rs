//! Parameters with holes: compiled once per plan, resolved once per firing.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use protocol::{NodeError, NodeId, Payload};
use serde_json::{Map, Value};

use super::{
    Reference, Segment,
    condition::Condition,
    failed,
    scan::{self, Token},
    script::{self, Moment, Script},
};
use crate::step::Inputs;

/// The root that holds what the handles of a node have brought.
const INPUTS: &str = "inputs";

/// A JSON value in which strings may hold references and expressions.
#[derive(Clone, Debug)]
pub enum Template {
    /// Nothing to resolve.
    Literal(Value),
    /// The whole string is one expression: the value keeps its type.
    Whole(Expression),
    /// Expressions inside text: rendered as text.
    Text(Vec<Piece>),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

#[derive(Clone, Debug)]
pub enum Piece {
    Text(String),
    Hole(Expression),
}

#[derive(Clone, Debug)]
pub enum Expression {
    Reference(Reference),
    Condition(Condition),
    Script(Script),
}

/// What a `$root` may be called: node ids, node names as aliases, and the words every workflow has.
#[derive(Clone, Debug, Default)]
pub struct Names {
    aliases: BTreeMap<String, NodeId>,
}

impl Names {
    /// Roots that are not nodes.
    pub const WORDS: [&str; 6] = ["trigger", "item", "index", "json", "node", INPUTS];

    pub fn new(aliases: BTreeMap<String, NodeId>) -> Self {
        Self { aliases }
    }

    pub fn node(&self, name: &str) -> Option<&NodeId> {
        self.aliases.get(name)
    }

    pub fn known(&self) -> impl Iterator<Item = &str> {
        self.aliases.keys().map(String::as_str)
    }

    /// The key of the context that `$root` stands for.
    fn context_key(&self, root: &str) -> String {
        match self.aliases.get(root) {
            Some(node) if !Self::WORDS.contains(&root) => format!("${node}"),
            _ => format!("${root}"),
        }
    }

    /// The longest known name that `root` begins with: `a-1` in `$a-1` may be a node, or `$a` minus 1.
    fn longest<'r>(&self, root: &'r str) -> &'r str {
        let ends = (1..=root.len()).rev().filter(|&end| end == root.len() || root.as_bytes()[end] == b'-');
        let is_known = |name: &&str| self.aliases.contains_key(*name) || Self::WORDS.contains(name);
        ends.map(|end| &root[..end]).find(is_known).unwrap_or(root)
    }
}

/// Where the values of `$roots` come from while a template is resolved.
pub struct Scope<'s> {
    pub names: &'s Names,
    pub find: &'s dyn Fn(&str) -> Option<Payload>,
    pub keys: &'s dyn Fn() -> Vec<String>,
    /// What is at `$inputs`, by name.
    pub inputs: Option<&'s Inputs>,
    pub moment: Moment,
}

impl Scope<'_> {
    /// What a reference leads to.
    pub(super) fn value(&self, reference: &Reference) -> Result<Value, NodeError> {
        match self.input(reference) {
            Some(input) => reference.follow_from(1, input.value()).map(Cow::into_owned),
            None => reference.follow(self.root(&reference.root)?.value()).map(Cow::into_owned),
        }
    }

    /// The one input that a reference is about: the others may be large.
    fn input(&self, reference: &Reference) -> Option<&Payload> {
        match reference.path.first() {
            Some(Segment::Field(name)) if reference.root == INPUTS => self.inputs?.get(name),
            _ => None,
        }
    }

    pub(super) fn root(&self, root: &str) -> Result<Payload, NodeError> {
        if let Some(inputs) = self.inputs.filter(|_| root == INPUTS) {
            return Ok(inputs.object());
        }
        (self.find)(&self.names.context_key(root)).ok_or_else(|| {
            failed(format!("${root} cannot be resolved here; known are: {}", (self.keys)().join(", ")))
        })
    }

    pub(super) fn nodes(&self) -> Vec<(String, Payload)> {
        let known = self.names.known();
        known
            .filter_map(|name| Some((name.to_owned(), (self.find)(&self.names.context_key(name))?)))
            .collect()
    }
}

impl Template {
    /// Compiles a value; complaints are sentences for people.
    pub fn compile(value: &Value, names: &Names) -> Result<Self, String> {
        match value {
            Value::String(text) => Self::compile_text(text, names),
            Value::Array(items) => {
                let items =
                    items.iter().map(|item| Self::compile(item, names)).collect::<Result<Vec<_>, _>>()?;
                Ok(Self::List(items).simplified())
            }
            Value::Object(fields) => {
                let compile =
                    |(name, field): (&String, &Value)| Ok((name.clone(), Self::compile(field, names)?));
                let fields = fields.iter().map(compile).collect::<Result<Vec<_>, String>>()?;
                Ok(Self::Object(fields).simplified())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(Self::Literal(value.clone())),
        }
    }

    /// Compiles text that is an expression as a whole, with or without `{{ }}` around it. Without, it may also be a
    /// condition in words.
    pub fn compile_expression(text: &str, names: &Names) -> Result<Self, String> {
        let trimmed = text.trim();
        if let Some(condition) = Condition::parse(trimmed) {
            return Ok(Self::Whole(Expression::Condition(condition)));
        }
        let inner =
            trimmed.strip_prefix("{{").filter(|rest| scan::expression_length(rest) == Some(rest.len() - 2));
        let source = inner.map_or(trimmed, |rest| &rest[..rest.len() - 2]);
        Ok(Self::Whole(Expression::compile(source, names)?))
    }

    fn compile_text(text: &str, names: &Names) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{']) {
            let (before, found) = rest.split_at(at);
            push_text(&mut pieces, before);
            let length = compile_hole(found, names, &mut pieces)?;
            rest = &found[length..];
        }
        push_text(&mut pieces, rest);
        let only_hole = |pieces: &[Piece]| {
            let blank = |piece: &Piece| matches!(piece, Piece::Text(text) if text.trim().is_empty());
            pieces.iter().filter(|piece| matches!(piece, Piece::Hole(_))).count() == 1
                && pieces.iter().all(|piece| matches!(piece, Piece::Hole(_)) || blank(piece))
        };
        if only_hole(&pieces) {
            let hole = pieces.into_iter().find_map(|piece| match piece {
                Piece::Hole(expression) => Some(expression),
                Piece::Text(_) => None,
            });
            return hole.map(Self::Whole).ok_or_else(|| "an expression is missing".to_owned());
        }
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            let text = pieces.into_iter().map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Hole(_) => String::new(),
            });
            return Ok(Self::Literal(Value::String(text.collect())));
        }
        Ok(Self::Text(pieces))
    }

    pub fn resolve(&self, scope: &Scope<'_>) -> Result<Value, NodeError> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Whole(expression) => expression.evaluate(scope),
            Self::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(part) => text.push_str(part),
                        Piece::Hole(expression) => text.push_str(&as_text(&expression.evaluate(scope)?)),
                    }
                }
                Ok(Value::String(text))
            }
            Self::List(items) => {
                items.iter().map(|item| item.resolve(scope)).collect::<Result<_, _>>().map(Value::Array)
            }
            Self::Object(fields) => {
                let mut resolved = Map::new();
                for (name, field) in fields {
                    resolved.insert(name.clone(), field.resolve(scope)?);
                }
                Ok(Value::Object(resolved))
            }
        }
    }

    /// The template of one item of a list; `null` where there is none.
    pub fn item(&self, index: usize) -> Cow<'_, Self> {
        let nothing = || Cow::Owned(Self::Literal(Value::Null));
        match self {
            Self::List(items) => items.get(index).map_or_else(nothing, Cow::Borrowed),
            Self::Literal(value) => {
                Cow::Owned(Self::Literal(value.get(index).cloned().unwrap_or(Value::Null)))
            }
            Self::Whole(_) | Self::Text(_) | Self::Object(_) => nothing(),
        }
    }

    /// The template of one field of an object.
    pub fn field(&self, name: &str) -> Option<Cow<'_, Self>> {
        match self {
            Self::Object(fields) => {
                fields.iter().find(|(known, _)| known == name).map(|(_, field)| Cow::Borrowed(field))
            }
            Self::Literal(value) => value.get(name).map(|field| Cow::Owned(Self::Literal(field.clone()))),
            Self::Whole(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// Every `$root` the template may look at.
    pub fn roots(&self) -> BTreeSet<String> {
        let mut roots = BTreeSet::new();
        self.collect_roots(&mut roots);
        roots
    }

    fn collect_roots(&self, roots: &mut BTreeSet<String>) {
        match self {
            Self::Literal(_) => {}
            Self::Whole(expression) => expression.collect_roots(roots),
            Self::Text(pieces) => pieces.iter().for_each(|piece| match piece {
                Piece::Hole(expression) => expression.collect_roots(roots),
                Piece::Text(_) => {}
            }),
            Self::List(items) => items.iter().for_each(|item| item.collect_roots(roots)),
            Self::Object(fields) => fields.iter().for_each(|(_, field)| field.collect_roots(roots)),
        }
    }

    /// A list or object in which nothing is to be resolved is a value.
    fn simplified(self) -> Self {
        match &self {
            Self::List(items) => {
                let values: Option<Vec<Value>> = items.iter().map(Self::literal).collect();
                values.map_or(self, |values| Self::Literal(Value::Array(values)))
            }
            Self::Object(fields) => {
                let value = |(name, field): &(String, Self)| Some((name.clone(), field.literal()?));
                let values: Option<Map<String, Value>> = fields.iter().map(value).collect();
                values.map_or(self, |values| Self::Literal(Value::Object(values)))
            }
            Self::Literal(_) | Self::Whole(_) | Self::Text(_) => self,
        }
    }

    fn literal(&self) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value.clone()),
            Self::Whole(_) | Self::Text(_) | Self::List(_) | Self::Object(_) => None,
        }
    }
}

/// A value inside text: strings as they are, everything else as JSON.
pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Compiles what starts at a `$` or `{`; gives the length that was read.
fn compile_hole(text: &str, names: &Names, pieces: &mut Vec<Piece>) -> Result<usize, String> {
    if let Some(rest) = text.strip_prefix("{{") {
        let length =
            scan::expression_length(rest).ok_or_else(|| format!("{text:?} opens {{{{ without closing it"))?;
        pieces.push(Piece::Hole(Expression::compile(&rest[..length], names)?));
        return Ok(length + 4);
    }
    if text.starts_with("$$") {
        push_text(pieces, "$");
        return Ok(2);
    }
    // `$5` is an amount of money unless some node is called 5.
    match Reference::parse_prefix(text) {
        Some((reference, length)) if !is_amount(&reference.root) || names.node(&reference.root).is_some() => {
            pieces.push(Piece::Hole(Expression::Reference(reference)));
            Ok(length)
        }
        _ => {
            push_text(pieces, &text[..1]);
            Ok(1)
        }
    }
}

/// In code `$a.n-1` is a subtraction, while in text `$a.content-type` is a field.
fn reads_as_minus(reference: &Reference, source: &str) -> bool {
    let dashed = |segment: &Segment| matches!(segment, Segment::Field(name) if name.contains('-') && source.contains(&format!(".{name}")));
    reference.path.iter().any(dashed)
}

fn is_amount(root: &str) -> bool {
    root.starts_with(|first: char| first.is_ascii_digit())
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

impl Expression {
    fn compile(source: &str, names: &Names) -> Result<Self, String> {
        let source = source.trim();
        if source.is_empty() {
            return Err("the expression is empty".to_owned());
        }
        if let Some(reference) = Reference::parse(source)
            && !reads_as_minus(&reference, source)
        {
            return Ok(Self::Reference(reference));
        }
        let mut code = String::new();
        let mut roots = BTreeSet::new();
        for token in scan::tokens(source) {
            match token {
                Token::Code(text) => code.push_str(text),
                Token::Root(root) => {
                    let name = names.longest(root);
                    roots.insert(name.to_owned());
                    code.push_str(&script::identifier(name));
                    code.push_str(&root[name.len()..]);
                }
            }
        }
        let script = Script::new(source, &code, roots);
        script::check_syntax(&code).map_err(|error| format!("{source:?} is not an expression: {error}"))?;
        Ok(Self::Script(script))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Value, NodeError> {
        match self {
            Self::Reference(reference) => scope.value(reference),
            Self::Condition(condition) => condition.decide(scope).map(Value::Bool),
            Self::Script(script) => script::evaluate(script, scope),
        }
    }

    fn collect_roots(&self, roots: &mut BTreeSet<String>) {
        match self {
            Self::Reference(reference) => {
                roots.insert(reference.root.clone());
            }
            Self::Condition(condition) => condition.collect_roots(roots),
            Self::Script(script) => roots.extend(script.roots.iter().cloned()),
        }
    }
}
