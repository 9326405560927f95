//! A real Redis that holds what a simulated cluster keeps there, and somebody who reads it.

use observer::{Dialect, Heard, Reader, rune::Rune};
use protocol::Event;

use super::{Keys, Live, Published};
use crate::servers::Redis;

/// Redis with nothing in it, somebody who writes the keys of a cluster, and a reader.
pub struct Kept {
    _server: Redis,
    pub write: redis::aio::MultiplexedConnection,
    pub reader: Reader,
    pub url: String,
}

impl Kept {
    pub async fn start() -> Self {
        let server = Redis::start();
        let client = redis::Client::open(server.url.as_str()).expect("an address");
        let write = client.get_multiplexed_async_connection().await.expect("Redis answers");
        let reader = Reader::connect(&server.url).await.expect("a reader");
        let url = server.url.clone();
        Self { _server: server, write, reader, url }
    }

    /// From now on it holds these and no others.
    pub async fn hold(&mut self, keys: &Keys) {
        Live::write_to(&mut self.write, keys).await;
    }

    /// Shows somebody all keys, as a walk does.
    pub async fn walk(&self, rune: &mut Rune) {
        let mut ask = self.write.clone();
        let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut ask).await.expect("keys");
        rune.found(&keys);
        rune.found_all();
    }

    /// Looks, with all keys known that there are.
    pub async fn look(&self, rune: &mut Rune, now: i64) -> Vec<Event> {
        self.walk(rune).await;
        rune.look(&self.reader, now).await.expect("it looks").events
    }
}

pub fn hear(rune: &mut Rune, messages: &[Published]) -> Vec<Event> {
    let heard = |message: &Published| Heard {
        at: message.at,
        routing_key: message.routing_key.to_owned(),
        body: message.body.clone().into_bytes(),
    };
    messages.iter().flat_map(|message| rune.hear(&heard(message)).events).collect()
}
