//! Moments are milliseconds since 1970, given by the runtime's clock; nobody here asks what time it is.

/// Milliseconds: a moment since 1970, or a length of time.
pub type Millis = i64;

/// The moment as ISO 8601 in UTC, the form of every timestamp in a message.
pub fn iso8601(at: Millis) -> String {
    match jiff::Timestamp::from_millisecond(at) {
        Ok(moment) => format!("{moment:.3}"),
        Err(_) => format!("out of range ({at} ms)"),
    }
}

/// A moment that was written as ISO 8601 with an offset.
pub fn parse_moment(text: &str) -> Option<Millis> {
    text.trim().parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    #[test]
    fn moments_are_utc() {
        assert_eq!(super::iso8601(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(super::iso8601(1_760_013_301_234), "2025-10-09T12:35:01.234Z");
    }
}
