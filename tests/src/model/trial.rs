//! One run of one case in an unkind world, held against the oracle.

use std::sync::Arc;

use engine::Plan;
use protocol::Event;
use recording::Ledger;
use serde_json::json;

use super::{
    Case, Dice, Failure, Kind, Model, data_oracle, fail, log,
    oracle::{self, Meaning},
    sabotage::Sabotage,
    world::{Faults, Order, Tally, World},
};

/// Everything that a run depends on.
#[derive(Clone, Debug)]
pub struct Trial {
    pub case: Case,
    pub faults: Faults,
    /// Decides the order of delivery and when faults happen.
    pub chance: u64,
}

pub const KIND: Faults = Faults { duplicate: 0, crash: 0, delay: 0, retry: 0 };
pub const UNKIND: Faults = Faults { duplicate: 10, crash: 24, delay: 6, retry: 12 };

/// What a run came to, and the events up to there.
pub struct Outcome {
    pub events: Vec<Event>,
    pub verdict: Result<Tally, Failure>,
}

impl Trial {
    /// Every fourth seed is treated kindly.
    pub fn of_seed(model: Model, seed: u64) -> Self {
        let faults = if seed.is_multiple_of(4) { KIND } else { UNKIND };
        Self { case: Case::random(model, seed), faults, chance: seed ^ 0xfeed }
    }

    pub fn run(&self, sabotage: Sabotage) -> Outcome {
        let plan = match sabotage {
            Sabotage::None => self.case.plan.clone(),
            // A plan of its own, which may be spoiled.
            _ => super::load(&self.case.workflow),
        };
        let mut plan = match plan {
            Ok(plan) => plan,
            Err(complaint) => {
                return Outcome { events: Vec::new(), verdict: fail(Kind::Refused, complaint) };
            }
        };
        if let Some(plan) = Arc::get_mut(&mut plan) {
            sabotage.spoil_plan(plan);
        }
        let mut world = World::new(&plan, Dice::new(self.chance), self.faults, sabotage);
        let ran = world.run(&self.case.input);
        let (events, tally) = (world.events, world.tally);
        let verdict = ran.and_then(|()| self.judge(&plan, &events)).map(|_| tally);
        Outcome { events, verdict }
    }

    /// What came out, if it is what had to come out.
    pub fn judge(&self, plan: &Plan, events: &[Event]) -> Result<Meaning, Failure> {
        let log = log::read(plan, events)?;
        let expected = match self.case.model {
            Model::Control => oracle::expected(plan, &self.case.input, &log.decisions),
            Model::Data => data_oracle::expected(&self.case, &log.decisions),
        };
        log.compare(&expected)?;
        Ok(log.timeless())
    }

    /// Where nothing is left to chance or time, another order of delivery gives the same.
    pub fn check_orders(&self) -> Result<(), Failure> {
        let Ok(plan) = &self.case.plan else { return Ok(()) };
        let left_to_chance = |node: &engine::PlannedNode| {
            let parameters = &node.source.parameters;
            parameters.get("wait_mode").is_some_and(|mode| mode == "wait_for_any")
                || parameters.get("timeout").is_some_and(|timeout| *timeout != json!(0))
        };
        if plan.nodes.iter().any(left_to_chance) {
            return Ok(());
        }
        let mut first = None;
        let orders = [Order::Natural, Order::Reversed, Order::Any, Order::Any, Order::Any, Order::Any];
        for (chance, order) in (1..).zip(orders) {
            let faults = if chance < 5 { KIND } else { UNKIND };
            let mut world = World::new(plan, Dice::new(self.chance + chance), faults, Sabotage::None);
            (world.order, world.twice) = (order, chance == 4);
            world.run(&self.case.input)?;
            // What runs before a failure ends everything depends on the order.
            if world.tally.halts > 0 {
                return Ok(());
            }
            let meaning = self.judge(plan, &world.events)?;
            if *first.get_or_insert_with(|| meaning.clone()) != meaning {
                return fail(Kind::Order, "another order of delivery, another result");
            }
        }
        Ok(())
    }

    /// Every prefix of a log is a legal state.
    pub fn check_prefixes(&self, events: &[Event]) -> Result<(), Failure> {
        let Ok(plan) = &self.case.plan else { return Ok(()) };
        for length in 1..=events.len() {
            let ledger = Ledger::resume("storm".into(), Arc::clone(plan), &events[..length]);
            let ledger = ledger.map_err(|error| Failure { kind: Kind::Fold, detail: error.to_string() })?;
            if ledger.position() != length as u64 || ledger.is_ended() != (length == events.len()) {
                return fail(Kind::Fold, format!("the first {length} events do not fold"));
            }
            // Between the last commit and the end there is nothing to do but to end.
            let goes_on =
                ledger.ready_count() > 0 || ledger.next_due().is_some() || length + 1 >= events.len();
            if !goes_on {
                return fail(Kind::Fold, format!("after {length} events nothing can go on"));
            }
        }
        Ok(())
    }
    /// Whoever only looks on keeps less, and hears the same of every fact.
    pub fn check_looking_on(&self, events: &[Event]) -> Result<(), Failure> {
        let Ok(plan) = &self.case.plan else { return Ok(()) };
        let mut ledger = Ledger::new("storm".into(), Arc::clone(plan)).looking_on();
        for event in events {
            let heard = ledger
                .apply(event)
                .map_err(|error| Failure { kind: Kind::Fold, detail: error.to_string() })?;
            let mut told = event.fact.clone();
            told.note(heard);
            if told != event.fact {
                return fail(Kind::Fold, format!("whoever looks on hears {told:?} in place of {event:?}"));
            }
        }
        Ok(())
    }
}
