//! Trying a connection: every step of attaching, one after the other, and out again.

use protocol::{ClusterConnection, ConnectionStep, cluster};

use crate::{Address, ObserverError, Read, Reader, broker::Broker, reader::NOTHING, trouble};

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
        tried(&mut steps, "Redis answers questions", ask(&reader).await);
    }
    steps
}

/// The questions without which nothing is seen.
async fn ask(reader: &Reader) -> Result<(), ObserverError> {
    let _: redis::Value = reader.ask(Read::Time, NOTHING).await?;
    let _: redis::Value = reader.ask(Read::Scan, &["0", "COUNT", "1"][..]).await?;
    let _: redis::Value = reader.ask(Read::ZRange, &["looks", "0", "0"][..]).await?;
    let _: redis::Value = reader.ask(Read::HGet, &["scheduler:payloads", "none"][..]).await?;
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
