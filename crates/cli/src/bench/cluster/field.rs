//! Two workers on the given servers, and somebody who starts executions there and waits for their ends.

use std::{
    process::{Child, Command, Stdio},
    sync::Arc,
};

use engine::Plan;
use protocol::{ExecutionStatus, Payload};
use serde_json::{Value, json};
use session::{Cluster, ClusterAddress};

use super::wire;
use crate::{
    bench::{fan_out, part::millis_since},
    outcome::CommandError,
};

const WORKERS: usize = 2;

struct Crew(Vec<Child>);

impl Crew {
    fn start(address: &ClusterAddress) -> Result<Self, CommandError> {
        let failed = |error: &std::io::Error| CommandError::io("start a worker", error);
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let worker = || {
            Command::new(&program)
                .args(["worker", "--amqp", &address.amqp, "--redis", &address.redis, "--keep", "5"])
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| failed(&error))
        };
        Ok(Self((0..WORKERS).map(|_| worker()).collect::<Result<_, _>>()?))
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            // They hold nothing any more, and may have ended by themselves.
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}

pub struct Field<'f> {
    pub address: &'f ClusterAddress,
    cluster: Cluster,
    ear: wire::Ear,
    plan: Arc<Plan>,
    _crew: Crew,
}

impl<'f> Field<'f> {
    pub async fn open(address: &'f ClusterAddress) -> Result<Self, CommandError> {
        let crew = Crew::start(address)?;
        let cluster = Cluster::connect(address).await?;
        let ear = wire::Ear::open(address).await.map_err(CommandError::elsewhere)?;
        Ok(Self { address, cluster, ear, plan: fan_out::plan_of(vec![fan_out::edit()])?, _crew: crew })
    }

    /// Milliseconds from the wish to start until the result is here.
    pub async fn once(&mut self, input: Value) -> Result<f64, CommandError> {
        let items = input["items"].as_array().map_or(0, Vec::len);
        self.ear.forget_statuses().await.map_err(CommandError::elsewhere)?;
        let began = tokio::time::Instant::now();
        let input = Some(Payload::new(input));
        let id = self.cluster.start(Arc::clone(&self.plan), "bench", None, input).await?;
        let completion = self.ear.end_of(&id).await.map_err(CommandError::elsewhere)?;
        let all = completion.final_context.get("$all");
        let gathered = all.and_then(|all| all.value().as_array().map(Vec::len));
        if completion.status == ExecutionStatus::Completed && gathered == Some(items) {
            return Ok(millis_since(began));
        }
        Err(CommandError::elsewhere(format!("{:?} with {gathered:?} of {items} items", completion.status)))
    }
}

pub fn array(items: usize) -> Value {
    json!({"items": (0..items).map(|n| json!({"n": n})).collect::<Vec<_>>()})
}
