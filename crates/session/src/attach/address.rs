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

/// What is to be dialled: with passwords that were given, that stood in the address, or that the keyring has. What the
/// keyring has is told only to whom it was saved for.
pub fn resolve(
    connection: ClusterConnection,
    given: &Passwords,
    saved: &[ClusterConnection],
) -> Result<Address, Problem> {
    let (connection, written) = separate(connection)?;
    let saved = saved.iter().find(|saved| saved.name == connection.name);
    let first = |given: &Option<String>, written: Option<String>| {
        given.clone().filter(|password| !password.is_empty()).or(written)
    };
    let kept = |which: &str, of: fn(&ClusterConnection) -> &str| {
        saved.filter(|saved| is_same_door(of(saved), of(&connection)))?;
        connections::password(&connection.name, which)
    };
    let amqp = first(&given.amqp, written.amqp).or_else(|| kept("amqp", |connection| &connection.amqp));
    let redis = first(&given.redis, written.redis).or_else(|| kept("redis", |connection| &connection.redis));
    let (amqp, redis) = (together(&connection.amqp, amqp), together(&connection.redis, redis));
    Ok(Address { amqp, redis, connection })
}

/// Whether the password for one address opens the other: the same server, asked for in the same way by the same user.
pub fn is_same_door(one: &str, other: &str) -> bool {
    let door = |address: &str| {
        let url = Url::parse(address.trim()).ok()?;
        let usual = match url.scheme() {
            "amqp" => 5672,
            "amqps" => 5671,
            _ => 6379,
        };
        let (host, port) = (url.host_str()?.to_ascii_lowercase(), url.port().unwrap_or(usual));
        // Behind the # may stand that nobody asks whose certificate it is.
        let trust = url.fragment().map(str::to_owned);
        Some((url.scheme().to_owned(), decoded(url.username()), host, port, trust))
    };
    door(one).is_some_and(|one| door(other) == Some(one))
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
    // Whoever dials would take localhost for it, and tell that one the password.
    if who != "Redis" && matches!(url.host(), Some(url::Host::Ipv6(_))) {
        let message = format!("the address of {who} is an IPv6 number, which cannot be dialled");
        let hint = "write the name of the host; where it has none, give it one in the file of hosts";
        return Err(Problem::new(ProblemCode::InvalidRequest, message, hint));
    }
    let password = url.password().map(decoded);
    if password.is_some() && url.set_password(None).is_err() {
        return Err(refuse("cannot be read"));
    }
    Ok((url.to_string(), password))
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
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
        let address = resolve(written, &Passwords::default(), &[]).unwrap();
        assert_eq!(address.amqp, "amqp://u:p%40ss@host:5672/%2f");
        assert_eq!(address.redis, "redis://:secret@host:6379/1");
        let given = Passwords { amqp: Some("other".to_owned()), redis: None };
        assert_eq!(resolve(shown, &given, &[]).unwrap().amqp, "amqp://u:other@host:5672/%2f");
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

    #[test]
    fn a_password_opens_one_door() {
        let saved = "amqp://reader@broker:5672/%2f";
        for same in ["amqp://reader@broker/%2f", "amqp://reader@BROKER:5672/shop", " amqp://r%65ader@broker"]
        {
            assert!(is_same_door(saved, same), "{same}");
        }
        for other in [
            "amqps://reader@broker:5672/%2f",
            "amqp://reader@elsewhere:5672/%2f",
            "amqp://reader@broker:5673/%2f",
            "amqp://writer@broker:5672/%2f",
            "amqp://broker:5672/%2f",
            "no address",
        ] {
            assert!(!is_same_door(saved, other), "{other}");
        }
        assert!(is_same_door("redis://host", "redis://host:6379/3"));
        assert!(!is_same_door("rediss://host", "rediss://host/#insecure"), "anybody could answer");
        assert!(!is_same_door("no address", "no address"));
    }

    #[test]
    fn a_number_that_is_dialled_as_another_host_is_refused() {
        let refused = separate(connection("amqp://u:hunter2@[::1]:5672/%2f", "redis://host")).unwrap_err();
        assert_eq!(refused.code, ProblemCode::InvalidRequest);
        assert!(
            refused.message.contains("IPv6") && refused.hint.contains("the name of the host"),
            "{refused:?}"
        );
        let (taken, _) = separate(connection("amqp://u@127.0.0.1", "redis://[::1]:6379/")).unwrap();
        assert_eq!(taken.redis, "redis://[::1]:6379/", "Redis is dialled as it is written");
    }
}
