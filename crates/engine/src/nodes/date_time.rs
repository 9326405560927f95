//! `dateTimeNow`, `dateTimeAdd`, `dateTimeSubtract`, `dateTimeFormat`, `dateTimeParse`: moments and calendars.
//! "Now" is the moment the firing was recorded to have.

use jiff::{
    Span, Timestamp, Zoned,
    tz::{Offset, TimeZone},
};
use protocol::NodeError;
use serde_json::{Value, json};

use super::{Firing, Kind, Parameter, Resolve, Work, parameter, required};
use crate::dates;

pub struct Now;
pub struct Add;
pub struct Subtract;
pub struct Format;
pub struct Parse;

impl Kind for Now {
    fn names(&self) -> &'static [&'static str] {
        &["dateTimeNow"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [parameter("timezone", Resolve::Value), parameter("format", Resolve::Value)];
        &PARAMETERS
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        shown(firing, now(firing)?)
    }
}

const MOVED: [Parameter; 5] = [
    parameter("date", Resolve::Value),
    required("amount", Resolve::Value),
    parameter("unit", Resolve::Value),
    parameter("timezone", Resolve::Value),
    parameter("format", Resolve::Value),
];

impl Kind for Add {
    fn names(&self) -> &'static [&'static str] {
        &["dateTimeAdd"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        &MOVED
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        moved(firing, 1)
    }
}

impl Kind for Subtract {
    fn names(&self) -> &'static [&'static str] {
        &["dateTimeSubtract"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        &MOVED
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        moved(firing, -1)
    }
}

impl Kind for Format {
    fn names(&self) -> &'static [&'static str] {
        &["dateTimeFormat"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 3] = [
            required("date", Resolve::Value),
            parameter("timezone", Resolve::Value),
            parameter("format", Resolve::Value),
        ];
        &PARAMETERS
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        shown(firing, date(firing)?)
    }
}

impl Kind for Parse {
    fn names(&self) -> &'static [&'static str] {
        &["dateTimeParse"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [required("date", Resolve::Value), parameter("timezone", Resolve::Value)];
        &PARAMETERS
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let date = date(firing)?;
        let output = json!({
            "unix": date.timestamp().as_second(),
            "iso": iso(&date),
            "year": date.year(), "month": date.month(), "day": date.day(),
            "hour": date.hour(), "minute": date.minute(), "second": date.second(),
            "weekday": date.strftime("%A").to_string(),
            "timezone": zone_name(firing),
        });
        Ok(Work::done(output.into()))
    }
}

fn moved(firing: &Firing<'_>, direction: i64) -> Result<Work, NodeError> {
    let value = firing.parameters.get("amount").unwrap_or(&Value::Null);
    let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64);
    let amount = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok());
    let amount = amount.or_else(|| value.as_f64().and_then(whole));
    let amount =
        amount.ok_or_else(|| firing.invalid("amount", &format!("must be a whole number, but is {value}")))?;
    let unit = firing.parameter("unit").and_then(Value::as_str).unwrap_or("days");
    let amount = amount.saturating_mul(direction);
    let span = match unit {
        "seconds" => Span::new().try_seconds(amount),
        "minutes" => Span::new().try_minutes(amount),
        "hours" => Span::new().try_hours(amount),
        "days" => Span::new().try_days(amount),
        "weeks" => Span::new().try_weeks(amount),
        "months" => Span::new().try_months(amount),
        "years" => Span::new().try_years(amount),
        _ => {
            return Err(
                firing.invalid("unit", "must be seconds, minutes, hours, days, weeks, months or years")
            );
        }
    };
    let start = match firing.parameter("date") {
        Some(_) => date(firing)?,
        None => now(firing)?,
    };
    let end = span.and_then(|span| start.checked_add(span));
    shown(
        firing,
        end.map_err(|error| firing.invalid("amount", &format!("leads out of the calendar: {error}")))?,
    )
}

fn now(firing: &Firing<'_>) -> Result<Zoned, NodeError> {
    let moment = Timestamp::from_millisecond(firing.now());
    let moment = moment.map_err(|error| firing.invalid("date", &format!("is out of range: {error}")))?;
    Ok(moment.to_zoned(zone(firing)?))
}

/// A moment with an offset, a plain date and time in the node's time zone, or seconds since 1970.
fn date(firing: &Firing<'_>) -> Result<Zoned, NodeError> {
    let value = firing.parameters.get("date").unwrap_or(&Value::Null);
    let zone = zone(firing)?;
    let moment = match value {
        Value::String(text) => dates::parse(text, &zone),
        other => {
            let moment = other.as_i64().and_then(|seconds| Timestamp::from_second(seconds).ok());
            moment.map(|moment| moment.to_zoned(zone))
        }
    };
    moment.ok_or_else(|| firing.invalid("date", &format!("{value} is no date such as 2026-01-31T12:00:00Z")))
}

fn zone(firing: &Firing<'_>) -> Result<TimeZone, NodeError> {
    let name = zone_name(firing);
    TimeZone::get(&name)
        .map_err(|_| firing.invalid("timezone", &format!("{name:?} is not known; try Europe/Berlin")))
}

/// A form that was left blank says nothing.
fn written<'f>(firing: &'f Firing<'_>, parameter: &str) -> Option<&'f str> {
    firing.parameter(parameter).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn zone_name(firing: &Firing<'_>) -> String {
    written(firing, "timezone").unwrap_or("UTC").to_owned()
}

/// `format` is written with percent signs, as in `%d.%m.%Y`, or as a layout of Go, as in `02.01.2006`.
fn shown(firing: &Firing<'_>, date: Zoned) -> Result<Work, NodeError> {
    let result = match written(firing, "format") {
        Some(format) => {
            jiff::fmt::strtime::format(dates::percent_signs(format, date.offset() == Offset::UTC), &date)
                .map_err(|error| firing.invalid("format", &format!("cannot be used: {error}")))?
        }
        None => iso(&date),
    };
    let unix = date.timestamp().as_second();
    let output = json!({"result": result, "iso": iso(&date), "unix": unix, "timezone": zone_name(firing)});
    Ok(Work::done(output.into()))
}

fn iso(date: &Zoned) -> String {
    if date.time_zone() == &TimeZone::UTC {
        return date.timestamp().to_string();
    }
    date.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
