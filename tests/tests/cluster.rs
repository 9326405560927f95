//! The same stories on RabbitMQ and Redis as in one process.

use std::sync::Arc;

use runeglass_tests::{clustered, story};

#[tokio::test(flavor = "multi_thread")]
async fn every_sample_tells_its_story() {
    let servers = clustered::Servers::start();
    for sample in story::samples() {
        let input = sample.plan.workflow.sample_input.clone().unwrap_or_default();
        let prefix = format!("{}.", sample.name);
        sample.check(&clustered::run(&servers, &prefix, Arc::clone(&sample.plan), input).await);
    }
}
