//! The world outside: servers that nodes ask. A node's question is data ([`engine::call`]); this room knows sockets.

mod address;
mod http;
mod mail;

use std::{pin::Pin, sync::Arc};

use engine::{
    Failure, Output,
    call::{Call, Request},
};

pub use address::{AddressPolicy, is_public};

use crate::{
    Clock,
    credentials::{Keychain, Secret},
};

/// Whoever answers calls.
pub trait Outside: Send + Sync + 'static {
    fn perform<'c>(&'c self, call: &'c Call) -> Answering<'c>;
}

pub type Answering<'c> = Pin<Box<dyn Future<Output = Result<Output, Failure>> + Send + 'c>>;

/// The real one.
pub struct World {
    http: http::Http,
    keychain: Arc<Keychain>,
    clock: Clock,
}

impl World {
    pub fn new(keychain: Arc<Keychain>, policy: AddressPolicy, clock: Clock) -> Self {
        Self { http: http::Http::new(policy), keychain, clock }
    }
}

impl Outside for World {
    fn perform<'c>(&'c self, call: &'c Call) -> Answering<'c> {
        Box::pin(async move {
            let secret = match &call.credentials {
                Some(wanted) => Some(self.keychain.find(wanted).await?),
                None => None,
            };
            let secret = secret.unwrap_or_else(Secret::none);
            let key = call.idempotency_key.as_str();
            match &call.request {
                Request::Http(request) => self.http.ask(request, &secret, key, &self.clock).await,
                Request::Mail(mail) => mail::send(mail, &secret, key, &self.clock).await,
            }
        })
    }
}
