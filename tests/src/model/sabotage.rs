//! Planted bugs: what is wrong with the engine on purpose. The model must find each of them.

use std::collections::BTreeSet;

use engine::{Effects, Input, Joined, Message, Plan, Slot, Target};
use protocol::{Consequence, Lineage, Payload};
use serde_json::Value;

use super::Dice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    None,
    /// A message is committed again although it was before.
    CommitTwice,
    /// A crash loses an event.
    LoseAnEvent,
    /// An item that leaves the way is not told to anyone.
    ForgetUntaken,
    /// A failed item is treated as if it had succeeded with nothing.
    SwallowError,
    /// The edges of a condition are all taken.
    TakeBothSides,
    /// A split spreads one item less.
    DropAnItem,
    /// A split spreads its first item twice.
    RepeatAnItem,
    /// A split spreads its items in another order.
    ReverseItems,
    /// A failed item counts as one that left the way.
    SkipError,
    /// A failed item ends the execution.
    HaltOnError,
    /// The execution ends with the first way that ends.
    EndAtFirstLeaf,
    /// A crash loses a message that was in hand, as if it had been acknowledged before its commit.
    LoseAMessage,
    /// Now and then a commit sends nothing.
    LoseChildren,
    /// An item answers for its neighbour.
    WrongItem,
    /// What rests is woken before its time.
    FireEarly,
    /// A crash loses the timers.
    LoseTimers,
    /// A join is never told that its time is up.
    NeverGiveUp,
    /// What was woken rests again.
    RestAgain,
    /// A crash makes what rests start from the beginning.
    ForgetRest,
    /// The second of a race wins as well.
    TwoWinners,
    /// A race is won by nothing at all.
    EmptyWinner,
    /// A join that has given up fires once it is complete.
    FireAfterGivingUp,
    /// An error edge is followed on success too.
    FollowErrorEdge,
    /// Who waits behind an error edge is not told that it is not taken.
    ForgetErrorEdge,
    /// A failed branch is missing in the merge behind it.
    LoseErrorAtMerge,
    /// The levels of a message say another number of items.
    WrongTotal,
    /// The aggregators behind an empty split are not told.
    ForgetEmptySplit,
    /// Who gathers behind a split that never runs is not told.
    ForgetBlockedSplit,
    /// A strict merge does not mind that a branch is missing.
    ForgetStrict,
    /// A failure that should halt does not.
    GoOnAfterHalt,
    /// A side that meets the others again is forgotten where it was not taken.
    ForgetMeeting,
    /// A join forgets what an outer level has said.
    ForgetOuter,
    /// Joins on every side of a choice make a value of an error that kept it from choosing.
    RunEverySide,
    /// A node fires before the values of outer levels are known.
    JoinEarly,
    /// Whoever waits for an item that a filter has dropped is not told.
    ForgetDrop,
    /// Items are taken as they come, not in the order of their indexes.
    ForgetTurns,
    /// What is there is paired, whatever its index.
    PairByArrival,
}

impl Sabotage {
    pub const ALL: [Self; 33] = [
        Self::CommitTwice,
        Self::LoseAnEvent,
        Self::ForgetUntaken,
        Self::SwallowError,
        Self::TakeBothSides,
        Self::DropAnItem,
        Self::RepeatAnItem,
        Self::ReverseItems,
        Self::SkipError,
        Self::HaltOnError,
        Self::EndAtFirstLeaf,
        Self::LoseAMessage,
        Self::LoseChildren,
        Self::WrongItem,
        Self::FireEarly,
        Self::LoseTimers,
        Self::NeverGiveUp,
        Self::RestAgain,
        Self::ForgetRest,
        Self::TwoWinners,
        Self::EmptyWinner,
        Self::FireAfterGivingUp,
        Self::FollowErrorEdge,
        Self::ForgetErrorEdge,
        Self::LoseErrorAtMerge,
        Self::WrongTotal,
        Self::ForgetEmptySplit,
        Self::ForgetBlockedSplit,
        Self::ForgetStrict,
        Self::GoOnAfterHalt,
        Self::ForgetMeeting,
        Self::ForgetOuter,
        Self::RunEverySide,
    ];

    /// Those that data edges must bring to light.
    pub const DATA: [Self; 16] = [
        Self::JoinEarly,
        Self::ForgetDrop,
        Self::ForgetTurns,
        Self::PairByArrival,
        Self::ForgetEmptySplit,
        Self::ForgetBlockedSplit,
        Self::ForgetOuter,
        Self::DropAnItem,
        Self::ReverseItems,
        Self::SwallowError,
        Self::SkipError,
        Self::WrongItem,
        Self::LoseAMessage,
        Self::LoseAnEvent,
        Self::CommitTwice,
        Self::FollowErrorEdge,
    ];

    /// The log is forged, which the next crash would bring to light: what is to be found is found without one.
    pub fn forges(self) -> bool {
        matches!(self, Self::TwoWinners | Self::FireAfterGivingUp)
    }

    /// Spoils the plan that the engine works with; the oracle does not look at this part of it.
    pub fn spoil_plan(self, plan: &mut Plan) {
        match self {
            Self::ForgetErrorEdge => {
                for edge in plan.nodes.iter().filter_map(|node| node.on_error) {
                    plan.flow.frontiers[edge] = [].into();
                }
            }
            Self::JoinEarly => {
                for node in 0..plan.nodes.len() {
                    let deepest = plan.nodes[node].scope.len();
                    let is_own = |edge: &usize| plan.edges[*edge].scope.len() == deepest;
                    if let Input::Join { edges } = &mut plan.flow.inputs[node] {
                        edges.retain(is_own);
                    }
                }
            }
            Self::ForgetDrop => {
                for (edge, planned) in plan.edges.iter().enumerate() {
                    if plan.nodes[planned.from].source.kind == "filter_items" {
                        plan.flow.frontiers[edge] = [].into();
                    }
                }
            }
            Self::ForgetTurns => plan.nodes.iter_mut().for_each(|node| node.in_order = None),
            Self::ForgetEmptySplit => plan.flow.collapsers.iter_mut().for_each(Vec::clear),
            Self::ForgetBlockedSplit => keep_targets(plan, |_, target| !matches!(target, Target::Split(_))),
            Self::ForgetMeeting => keep_targets(plan, |plan, target| match target {
                Target::Inbox(edge) => plan.nodes[plan.edges[*edge].to].source.kind != "simulate",
                Target::Split(_) => true,
            }),
            Self::ForgetOuter => keep_targets(plan, |plan, target| match target {
                Target::Inbox(edge) => plan.depth_of(*edge) >= plan.nodes[plan.edges[*edge].to].scope.len(),
                Target::Split(_) => true,
            }),
            Self::RunEverySide => plan.flow.choices.iter_mut().for_each(BTreeSet::clear),
            _ => {}
        }
    }

    /// Spoils a message on its way.
    pub fn spoil_message(self, message: &mut Message) {
        let last = message.lineage.steps().last().cloned();
        let neighbour = |index: u32, total: u32, step: &protocol::Step| -> Lineage {
            message.lineage.parent().push(&step.split, index, total)
        };
        match (self, last) {
            (Self::WrongItem, Some(step)) => {
                message.lineage = neighbour((step.index + 1) % step.total, step.total, &step);
            }
            (Self::WrongTotal, Some(step)) => message.lineage = neighbour(step.index, step.total + 1, &step),
            (Self::RestAgain, _) => message.resumed = None,
            (Self::EmptyWinner, _) if matches!(message.joined.as_deref(), Some(Joined::Winner(_))) => {
                message.joined = Some(Joined::Winner(Payload::null()).into());
            }
            (Self::PairByArrival, _) => {
                if let Some(Joined::Sides(sides)) = message.joined.as_deref() {
                    let there = |side: &Vec<Slot>| {
                        side.iter().filter(|slot| **slot != Slot::Skipped).cloned().collect()
                    };
                    message.joined = Some(Joined::Sides(sides.iter().map(there).collect()).into());
                }
            }
            (Self::ForgetStrict, _) => {
                if let Some(Joined::List { values, .. }) = message.joined.as_deref() {
                    message.joined =
                        Some(Joined::List { values: values.clone(), missing: Vec::new() }.into());
                }
            }
            _ => {}
        }
    }

    /// Spoils what follows from an answer.
    pub fn spoil_effects(self, plan: &Plan, message: &Message, dice: &mut Dice, effects: &mut Effects) {
        let node = &plan.nodes[message.node];
        let contained = effects.consequence == Consequence::Contained;
        let merges = |edge: &usize| plan.nodes[plan.edges[*edge].to].source.kind == "merge";
        match self {
            Self::TakeBothSides => effects.taken.clone_from(&node.leaving),
            Self::SwallowError if contained => {
                effects.outcome = Ok(Payload::null().into());
                effects.consequence = Consequence::GoOn;
                effects.taken.clone_from(&node.outgoing);
            }
            Self::SkipError if contained => effects.consequence = Consequence::GoOn,
            Self::LoseErrorAtMerge if contained && node.leaving.iter().any(merges) => {
                effects.consequence = Consequence::GoOn;
            }
            Self::HaltOnError if contained => effects.consequence = Consequence::Halt,
            Self::GoOnAfterHalt if effects.consequence == Consequence::Halt => {
                effects.consequence = Consequence::GoOn;
            }
            Self::DropAnItem => change_items(effects, |items| drop(items.pop())),
            Self::RepeatAnItem => change_items(effects, |items| items.extend(items.first().cloned())),
            Self::ReverseItems => change_items(effects, |items| items.reverse()),
            Self::ForgetUntaken if node.source.kind == "conditional" && !message.lineage.is_root() => {
                effects.taken.clear();
            }
            Self::LoseChildren if dice.one_in(10) => effects.taken.clear(),
            Self::FollowErrorEdge if effects.outcome.is_ok() => effects.taken.extend(node.on_error),
            _ => {}
        }
    }
}

fn keep_targets(plan: &mut Plan, keep: impl Fn(&Plan, &Target) -> bool) {
    let kept = |targets: &std::sync::Arc<[Target]>| {
        targets.iter().copied().filter(|target| keep(plan, target)).collect()
    };
    plan.flow.frontiers = plan.flow.frontiers.iter().map(kept).collect();
}

fn change_items(effects: &mut Effects, change: impl FnOnce(&mut Vec<Value>)) {
    if let Ok(output) = &mut effects.outcome
        && let Some(items) = &output.items
    {
        let mut changed = items.value().as_array().cloned().unwrap_or_default();
        change(&mut changed);
        output.items = Some(Payload::new(Value::Array(changed)));
    }
}
