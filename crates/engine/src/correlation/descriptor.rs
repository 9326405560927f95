//! What a kind says about its handles, and short ways to say what most kinds say.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Collapse, InputMode, OutputKind, OutputRule, Source};

/// What a kind says about its handles. The registry's word counts; copies in a workflow file are ignored.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Descriptor {
    #[serde(default)]
    pub mode: InputMode,
    /// Combines iterations that have nothing to do with each other.
    #[serde(default)]
    pub join: bool,
    /// Inputs that take several edges.
    #[serde(default)]
    pub list_handles: Vec<String>,
    /// An output without a rule is single, at the scope at which the node fires.
    pub outputs: BTreeMap<String, Option<OutputRule>>,
    /// Takes its items one after the other, in the order of their indexes.
    #[serde(skip)]
    pub ordered: bool,
    /// Of its outputs at most one carries a value.
    #[serde(skip)]
    pub chooses: bool,
    /// The inputs by name, the main one first. A kind that names none takes whatever its parameters refer to.
    #[serde(skip)]
    pub inputs: Vec<Handle>,
}

/// An input of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub name: &'static str,
    pub required: bool,
}

impl Handle {
    pub const fn required(name: &'static str) -> Self {
        Self { name, required: true }
    }

    pub const fn optional(name: &'static str) -> Self {
        Self { name, required: false }
    }
}

impl OutputRule {
    const fn new(kind: OutputKind, source: Source) -> Self {
        Self { kind, source: Some(source), group: None, collapse: None }
    }
}

impl Descriptor {
    /// What leaves a node that names no outputs.
    pub const OUT: &'static str = "out";
    /// What leaves a node that has failed.
    pub const ERROR: &'static str = "error";
    /// Where an edge arrives that names no input.
    pub const IN: &'static str = "in";

    /// One value per firing.
    pub fn single() -> Self {
        Self::default().with(&[Self::OUT], OutputRule::new(OutputKind::Single, Source::Execution))
    }

    /// Several items per firing, each with an index of its own.
    pub fn iterates(group: &str, outputs: &[&str]) -> Self {
        let rule = OutputRule::new(OutputKind::Iteration, Source::Execution);
        Self::default().with(outputs, OutputRule { group: Some(group.to_owned()), ..rule })
    }

    /// Pieces of one value.
    pub fn streams(outputs: &[&str]) -> Self {
        Self::default().with(outputs, OutputRule::new(OutputKind::Chunk, Source::Execution))
    }

    /// The value of an input leaves by one of the outputs, or by none.
    pub fn forwards(input: &'static str, outputs: &[&str]) -> Self {
        let rule = OutputRule::new(OutputKind::Forward, Source::Handle(input.to_owned()));
        Self::default().taking(&[Handle::required(input)]).with(outputs, rule)
    }

    /// One value for all items of the innermost iteration.
    pub fn gathers(input: &'static str, outputs: &[&str]) -> Self {
        let rule = OutputRule::new(OutputKind::Aggregate, Source::Handle(input.to_owned()));
        Self { mode: InputMode::Stream, ..Self::default() }
            .taking(&[Handle::required(input)])
            .with(outputs, OutputRule { collapse: Some(Collapse::Innermost), ..rule })
    }

    /// Items of the innermost iteration become items of another one.
    pub fn regroups(input: &'static str, group: &str, outputs: &[&str]) -> Self {
        let rule = OutputRule::new(OutputKind::Iteration, Source::Handle(input.to_owned()));
        let (group, collapse) = (Some(group.to_owned()), Some(Collapse::Innermost));
        Self { mode: InputMode::Stream, ..Self::default() }
            .taking(&[Handle::required(input)])
            .with(outputs, OutputRule { group, collapse, ..rule })
    }

    /// Items of independent iterations become items of one.
    pub fn combines(inputs: [&'static str; 2], group: &str, outputs: &[&str]) -> Self {
        let both = Self::iterates(group, outputs).taking(&inputs.map(Handle::required));
        Self { mode: InputMode::Stream, join: true, ..both }
    }

    /// Each item by its turn, in the order of the indexes.
    pub fn in_order(self) -> Self {
        Self { mode: InputMode::Stream, ordered: true, ..self }
    }

    /// At most one of the outputs carries a value.
    pub fn choosing(self) -> Self {
        Self { chooses: true, ..self }
    }

    pub fn taking(mut self, inputs: &[Handle]) -> Self {
        self.inputs.extend_from_slice(inputs);
        self
    }

    pub fn with(mut self, outputs: &[&str], rule: OutputRule) -> Self {
        self.outputs.extend(outputs.iter().map(|&output| (output.to_owned(), Some(rule.clone()))));
        self
    }

    /// One value per firing beside what else leaves.
    pub fn with_single(self, outputs: &[&str]) -> Self {
        self.with(outputs, OutputRule::new(OutputKind::Single, Source::Execution))
    }

    pub fn is_list(&self, handle: &str) -> bool {
        self.list_handles.iter().any(|list| list == handle)
    }

    fn rules(&self) -> impl Iterator<Item = &OutputRule> {
        self.outputs.values().flatten()
    }

    /// A firing opens a level: items, or pieces.
    pub fn opens(&self) -> bool {
        self.rules().any(|rule| matches!(rule.kind, OutputKind::Iteration | OutputKind::Chunk))
    }

    /// A firing closes a level of its inputs.
    pub fn closes(&self) -> bool {
        self.join || self.rules().any(|rule| rule.collapse.is_some())
    }
}
