//! What the gate in the worker line costs while nobody has set anything: F(N) by an engine without a gate, behind one
//! that nobody uses, and behind one at which another execution is held.

use std::sync::Arc;

use embedded::Embedded;
use engine::Plan;
use protocol::{ExecutionId, Fact};
use recording::{Access, Store};
use runtime::{AddressPolicy, Clock, Gate, LocalEngine, Start, Workshop, World, credentials::Keychain};
use serde_json::{Value, json};

use super::{
    fan_out::{input, plan, temporary},
    part::{millis_since, times},
};
use crate::outcome::CommandError;

const WORKERS: usize = 256;
const REPEATS: usize = 9;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Setting {
    NoGate,
    Idle,
    /// Somebody debugs something else: every message takes the way of those that could be held.
    Attached,
}

/// They take turns, so that a noisy moment meets all.
pub async fn measure(items: usize) -> Result<Value, CommandError> {
    let plan = plan()?;
    let (mut none, mut idle, mut attached) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        none.push(once(&plan, items, Setting::NoGate).await?);
        idle.push(once(&plan, items, Setting::Idle).await?);
        attached.push(once(&plan, items, Setting::Attached).await?);
    }
    Ok(json!({"none": times(none), "idle": times(idle), "attached": times(attached)}))
}

async fn once(plan: &Arc<Plan>, items: usize, setting: Setting) -> Result<f64, CommandError> {
    let folder = temporary()?;
    let clock = Clock::system();
    let store = Store::open(&folder.path().join("gate.db"), Access::Write).await;
    let store = Arc::new(store.map_err(|error| session::store_problem(&error))?);
    let engine = Embedded::open(store, clock.clone());
    let mut feed = engine.feed();
    let world = World::new(Arc::new(Keychain::default()), AddressPolicy::PublicOnly, clock.clone());
    let mut workshop = Workshop::new(clock.clone(), Arc::new(world));
    if setting != Setting::NoGate {
        let local: Arc<dyn LocalEngine> = engine.clone();
        let gate = Gate::local(&local, clock);
        if setting == Setting::Attached {
            gate.attach(&ExecutionId::from("another"), |_| {});
        }
        workshop = workshop.behind(gate);
    }
    let line = tokio::spawn(runtime::work(Arc::clone(&engine), workshop, WORKERS));
    let start = Start {
        execution_id: "bench".into(),
        workflow_id: "bench".into(),
        title: "bench".to_owned(),
        plan: Arc::clone(plan),
        input: input(items, 0),
        path: None,
        starts: None,
        origin: None,
        until: None,
    };
    let failed =
        |what: String| CommandError::usage(format!("the benchmark failed: {what}"), "run `make test`");
    let began = tokio::time::Instant::now();
    engine.start(start).await.map_err(|error| failed(error.to_string()))?;
    loop {
        let Some(group) = feed.recv().await else { return Err(failed("the engine stopped".to_owned())) };
        if group.iter().any(|event| matches!(event.fact, Fact::ExecutionEnded(_))) {
            break;
        }
    }
    let millis = millis_since(began);
    engine.close().await.map_err(|error| failed(error.to_string()))?;
    line.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
    Ok(millis)
}
