//! What is shown of a cluster before anything is known of it, and what stays so.

use protocol::{ClusterView, Millis};

use crate::{Address, Away, Read};

/// From here on it is told that clocks differ.
const CLOCKS_DIFFER: Millis = 500;

/// Who is away is told before anything else.
pub fn first(address: &Address, away: &Away, now: Millis) -> ClusterView {
    ClusterView {
        capabilities: capabilities(),
        troubles: away.broker.iter().chain(&away.redis).cloned().collect(),
        queues_as_of: away.broker.as_ref().map(|_| now),
        redis_as_of: away.redis.as_ref().map(|_| now),
        ..ClusterView::new(address.connection.clone(), now)
    }
}

/// Clocks are never quite the same, and a picture that differs by a hair is not worth drawing.
pub fn told_ahead(told: Millis, ahead: Millis) -> Millis {
    if (ahead - told).abs() < CLOCKS_DIFFER { told } else { ahead }
}

/// How far a clock is before ours that has told a moment between our question and its answer. An answer that was long on
/// its way says little, and what it does not contradict stays as it is known.
pub fn ahead(known: Millis, told: Millis, asked: Millis, answered: Millis) -> Millis {
    known.min(told - asked).max(told - answered)
}

/// Everything that can be said to a cluster from here.
fn capabilities() -> Vec<String> {
    let broker = [
        "RabbitMQ: one queue of its own (exclusive, bounded, gone when the connection is)",
        "RabbitMQ: copies of messages into that queue",
        "RabbitMQ: asks for the depth of queues (passive declare)",
    ];
    let commands: Vec<String> = Read::ALL.iter().map(|read| read.words().join(" ")).collect();
    let redis = [
        "Redis: signs in and chooses the database (AUTH, SELECT)".to_owned(),
        format!("Redis: {}", commands.join(", ")),
    ];
    broker.map(str::to_owned).into_iter().chain(redis).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_way_is_not_taken_for_another_clock() {
        for (known, told, asked, answered, expected, why) in [
            (0, 5_000, 5_000, 8_000, 0, "the answer was long on its way"),
            (0, 8_000, 5_000, 8_000, 0, "the question was"),
            (0, 6_000, 5_000, 8_000, 0, "either"),
            (0, 65_000, 5_000, 5_001, 59_999, "its clock is a minute ahead, nearly"),
            (59_999, 65_000, 5_000, 9_000, 59_999, "and stays so"),
            (0, 1_000, 5_000, 5_010, -4_000, "it is behind"),
            (300, 5_000, 5_000, 5_001, 0, "it was set"),
            (0, 5_000, 9_000, 2_000, 3_000, "ours was set back meanwhile"),
        ] {
            assert_eq!(ahead(known, told, asked, answered), expected, "{why}");
        }
    }
}
