//! Dates as people and other systems write them.

mod layout;

use jiff::{
    Timestamp, Zoned,
    civil::{Date, DateTime},
    fmt::rfc2822,
    tz::TimeZone,
};

pub use layout::percent_signs;

/// Reads a moment with an offset, or a plain date and time in `zone`.
pub fn parse(text: &str, zone: &TimeZone) -> Option<Zoned> {
    let text = text.trim();
    // Text that cannot be a date is the usual case when lists are compared, and is not worth five attempts.
    if !(8..=40).contains(&text.len()) || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment.to_zoned(zone.clone()));
    }
    if let Ok(plain) = text.parse::<DateTime>() {
        return plain.to_zoned(zone.clone()).ok();
    }
    if let Ok(moment) = rfc2822::parse(text) {
        return Some(moment.with_time_zone(zone.clone()));
    }
    if let Ok(moment) = Zoned::strptime("%d %b %y %H:%M %z", text) {
        return Some(moment.with_time_zone(zone.clone()));
    }
    Date::strptime("%d %b %Y", text).ok()?.to_zoned(zone.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_the_forms_that_are_common() {
        let midday = 1_136_203_200;
        for (text, expected) in [
            ("2006-01-02T12:00:00Z", Some(midday)),
            ("2006-01-02T13:00:00+01:00", Some(midday)),
            ("2006-01-02T12:00:00.000Z", Some(midday)),
            ("2006-01-02T12:00Z", Some(midday)),
            ("2006-01-02 12:00:00", Some(midday)),
            ("2006-01-02 12:00", Some(midday)),
            ("2006-01-02T12:00", Some(midday)),
            (" 2006-01-02 ", Some(midday - 43_200)),
            ("Mon, 02 Jan 2006 12:00:00 +0000", Some(midday)),
            ("Mon, 02 Jan 2006 12:00:00 GMT", Some(midday)),
            ("02 Jan 06 12:00 +0000", Some(midday)),
            ("02 Jan 2006", Some(midday - 43_200)),
            ("soon", None),
            ("12", None),
            ("invoice 2006", None),
        ] {
            let found = parse(text, &TimeZone::UTC).map(|moment| moment.timestamp().as_second());
            assert_eq!(found, expected, "{text}");
        }
    }
}
