//! The same stories on RabbitMQ and Redis as in one process.

use std::sync::Arc;

use runeglass_tests::{
    clustered::{Crew, Servers},
    story,
};

#[tokio::test(flavor = "multi_thread")]
async fn every_sample_tells_its_story() {
    let servers = Servers::start();
    for sample in story::samples() {
        let input = sample.plan.workflow.sample_input.clone().unwrap_or_default();
        let crew = Crew::start(&servers, &format!("{}.", sample.name)).await;
        // Its clock starts at 0, as that of the story.
        sample.check(&crew.run("local", Arc::clone(&sample.plan), input).await);
        crew.close().await;
    }
}
