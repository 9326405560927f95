//! Hands mails to a server. A password travels only where nobody can read along, or to this machine.

use std::time::Duration;

use engine::{Failure, Output, call::Mail, nodes};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, MessageBuilder, header::ContentType},
    transport::smtp::{
        Error as SmtpError,
        authentication::Credentials as Login,
        client::{Tls, TlsParameters},
    },
};
use protocol::{ErrorCode, NodeError};
use secrecy::ExposeSecret;

use crate::{Clock, credentials::Secret};

const TIMEOUT: Duration = Duration::from_secs(30);
/// The port of servers that speak TLS from the first byte on.
const IMPLICIT_TLS: u16 = 465;

pub async fn send(
    mail: &Mail,
    secret: &Secret,
    idempotency_key: &str,
    clock: &Clock,
) -> Result<Output, Failure> {
    let began = clock.now();
    let message = compose(mail, idempotency_key)?;
    let transport = transport(secret)?;
    match transport.send(message).await {
        Ok(_) => Ok(nodes::smtp::sent(mail, clock.now() - began)),
        Err(error) => Err(failure(&error, secret)),
    }
}

fn compose(mail: &Mail, idempotency_key: &str) -> Result<Message, Failure> {
    let mut builder = Message::builder()
        .from(mailbox("from", &mail.from)?)
        .subject(&mail.subject)
        // The same on every attempt, so that a repetition can be told.
        .message_id(Some(format!("<{idempotency_key}@runeglass>")))
        .header(ContentType::TEXT_PLAIN);
    builder = each(builder, "to", &mail.to, MessageBuilder::to)?;
    builder = each(builder, "cc", &mail.cc, MessageBuilder::cc)?;
    builder = each(builder, "bcc", &mail.bcc, MessageBuilder::bcc)?;
    builder.body(mail.body.clone()).map_err(|error| refused(format!("the mail cannot be written: {error}")))
}

fn each(
    builder: MessageBuilder,
    name: &str,
    addresses: &[String],
    add: impl Fn(MessageBuilder, Mailbox) -> MessageBuilder,
) -> Result<MessageBuilder, Failure> {
    addresses.iter().try_fold(builder, |builder, address| Ok(add(builder, mailbox(name, address)?)))
}

fn mailbox(name: &str, address: &str) -> Result<Mailbox, Failure> {
    let complain = |error| refused(format!("parameter {name:?}: {address:?} is not a mail address: {error}"));
    address.parse::<Mailbox>().map_err(complain)
}

fn transport(secret: &Secret) -> Result<AsyncSmtpTransport<Tokio1Executor>, Failure> {
    let unusable = |what: &str| {
        let message = format!("the credentials for smtp {what}; they need host, port, username and password");
        Failure::Final(NodeError::new(ErrorCode::CredentialUnusable, message))
    };
    let host = secret.text("host").ok_or_else(|| unusable("name no host"))?;
    let port: u16 = match secret.text("port") {
        Some(port) => port.parse().map_err(|_| unusable("have a port that is no number"))?,
        None => 587,
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)
        .port(port)
        .timeout(Some(TIMEOUT))
        .tls(tls(host, port).map_err(|error| unusable(&format!("name a host without TLS: {error}")))?);
    if let (Some(user), Some(password)) = (secret.text("username"), secret.value("password")) {
        builder = builder.credentials(Login::new(user.to_owned(), password.expose_secret().to_owned()));
    }
    Ok(builder.build())
}

fn tls(host: &str, port: u16) -> Result<Tls, SmtpError> {
    let local =
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    if local && port != IMPLICIT_TLS {
        return Ok(Tls::None);
    }
    let parameters = TlsParameters::new_rustls(host.into())?;
    Ok(if port == IMPLICIT_TLS { Tls::Wrapper(parameters) } else { Tls::Required(parameters) })
}

/// A server that says "not now", or does not speak at all, may take it later.
fn failure(error: &SmtpError, secret: &Secret) -> Failure {
    let said = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    let code = if error.is_permanent() || error.is_transient() {
        ErrorCode::MailRefused
    } else {
        ErrorCode::ConnectionFailed
    };
    let error_value = NodeError::new(code, secret.veil().hide(&format!("the mail was not taken: {said}")));
    if error.is_permanent() { Failure::Final(error_value) } else { Failure::Passing(error_value) }
}

fn refused(message: String) -> Failure {
    Failure::Final(NodeError::new(ErrorCode::InvalidParameter, message))
}
