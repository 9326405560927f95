//! Trying a connection: every step of attaching, one after the other, and out again.

use protocol::{ClusterConnection, ConnectionStep, cluster};

use crate::{Address, ObserverError, Read, Reader, broker::Broker, trouble};

/// Tries everything that attaching needs. What cannot be tried because something before it failed is left out.
pub async fn test(address: &Address) -> Vec<ConnectionStep> {
    let ClusterConnection { prefix, .. } = &address.connection;
    let mut steps = Vec::new();
    if let Some(broker) = tried(&mut steps, "RabbitMQ lets us in", Broker::connect(&address.amqp).await) {
        let exchange = cluster::exchange(prefix);
        let listening = broker.listen(&exchange, &[format!("{prefix}workflow.#")]).await;
        let what = format!("a queue of our own gets copies from the exchange {exchange}");
        if tried(&mut steps, &what, listening).is_some() {
            let queue = cluster::Queue::Execution.name(prefix);
            tried(&mut steps, &format!("the depth of {queue} can be asked for"), broker.depth(&queue).await);
        }
        broker.close().await;
    }
    if let Some(reader) = tried(&mut steps, "Redis lets us in", Reader::connect(&address.redis).await) {
        tried(&mut steps, "Redis answers questions", ask(&reader, prefix).await);
    }
    steps
}

/// Every question that is ever asked, of a key that is not there.
async fn ask(reader: &Reader, prefix: &str) -> Result<(), ObserverError> {
    let key = format!("{prefix}nothing-is-here");
    for read in Read::ALL.into_iter().filter(|read| !read.may_be_refused()) {
        let _: redis::Value = reader.ask(read, &read.harmless(&key)[..]).await?;
    }
    Ok(())
}

fn tried<T>(steps: &mut Vec<ConnectionStep>, what: &str, came: Result<T, ObserverError>) -> Option<T> {
    let (found, problem) = match came {
        Ok(found) => (Some(found), None),
        Err(error) => (None, Some(trouble::problem(&error))),
    };
    steps.push(ConnectionStep { what: what.to_owned(), problem });
    found
}
