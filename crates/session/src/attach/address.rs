//! Addresses with and without the passwords that open them.

use observer::Address;
use protocol::{ClusterConnection, Passwords, Problem, ProblemCode};
use url::Url;

use super::connections;

/// A connection without passwords, and those that stood in its addresses.
pub fn separate(connection: ClusterConnection) -> Result<(ClusterConnection, Passwords), Problem> {
    let (amqp, amqp_password) = apart(&connection.amqp, "RabbitMQ", &["amqp", "amqps"])?;
    let (redis, redis_password) = apart(&connection.redis, "Redis", &["redis", "rediss"])?;
    let passwords = Passwords { amqp: amqp_password, redis: redis_password };
    Ok((ClusterConnection { amqp, redis, ..connection }, passwords))
}

/// What is to be dialled: with passwords that were given, that stood in the address, or that the keyring has.
pub fn resolve(connection: ClusterConnection, given: &Passwords) -> Result<Address, Problem> {
    let (connection, written) = separate(connection)?;
    let first = |given: &Option<String>, written: Option<String>, which| {
        let known = given.clone().filter(|password| !password.is_empty()).or(written);
        known.or_else(|| connections::password(&connection.name, which))
    };
    let amqp = together(&connection.amqp, first(&given.amqp, written.amqp, "amqp"));
    let redis = together(&connection.redis, first(&given.redis, written.redis, "redis"));
    Ok(Address { amqp, redis, connection })
}

fn apart(address: &str, who: &str, schemes: &[&str]) -> Result<(String, Option<String>), Problem> {
    let refuse = |why: &str| {
        let hint = match who {
            "Redis" => "write redis://user@host:6379/0, or rediss:// for TLS",
            _ => "write amqp://user@host:5672/%2f, or amqps:// for TLS",
        };
        // The address is not repeated: there may be a password in it.
        Problem::new(ProblemCode::InvalidRequest, format!("the address of {who} {why}"), hint)
    };
    let mut url = Url::parse(address.trim()).map_err(|error| refuse(&format!("cannot be read: {error}")))?;
    if !schemes.contains(&url.scheme()) {
        return Err(refuse(&format!("begins with {}://", url.scheme())));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(refuse("names no host"));
    }
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let password = url.password().map(decode);
    if password.is_some() && url.set_password(None).is_err() {
        return Err(refuse("cannot be read"));
    }
    Ok((url.to_string(), password))
}

fn together(address: &str, password: Option<String>) -> String {
    let with = |password: &str| {
        let mut url = Url::parse(address).ok()?;
        url.set_password(Some(password)).ok()?;
        Some(url.to_string())
    };
    password.and_then(|password| with(&password)).unwrap_or_else(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(amqp: &str, redis: &str) -> ClusterConnection {
        let (amqp, redis) = (amqp.to_owned(), redis.to_owned());
        let (name, colour) = ("shop".to_owned(), "red".to_owned());
        ClusterConnection { name, colour, amqp, redis, prefix: String::new(), dialect: None }
    }

    #[test]
    fn passwords_leave_the_address_and_come_back() {
        let written = connection("amqp://u:p%40ss@host:5672/%2f", "redis://:secret@host:6379/1");
        let (shown, passwords) = separate(written.clone()).unwrap();
        assert_eq!(
            (shown.amqp.as_str(), shown.redis.as_str()),
            ("amqp://u@host:5672/%2f", "redis://host:6379/1")
        );
        assert_eq!(passwords.amqp.as_deref(), Some("p@ss"));
        assert!(!format!("{passwords:?}").contains("p@ss"));
        let address = resolve(written, &Passwords::default()).unwrap();
        assert_eq!(address.amqp, "amqp://u:p%40ss@host:5672/%2f");
        assert_eq!(address.redis, "redis://:secret@host:6379/1");
        let given = Passwords { amqp: Some("other".to_owned()), redis: None };
        assert_eq!(resolve(shown, &given).unwrap().amqp, "amqp://u:other@host:5672/%2f");
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        for (amqp, redis) in [
            ("http://u:hunter2@host", "redis://host"),
            ("amqp://u:hunter2@host", "host:6379"),
            ("hunter2", "redis://host"),
            ("amqp:///", "redis://host"),
        ] {
            let problem = separate(connection(amqp, redis)).unwrap_err();
            assert!(!problem.message.contains("hunter2"), "{}", problem.message);
        }
    }
}
