//! `log`: a line for people.

use protocol::{NodeError, iso8601};
use serde_json::json;

use super::{Firing, Kind, Parameter, Resolve, Work, parameter, required};
use crate::expr::as_text;

pub struct Log;

const LEVELS: [&str; 4] = ["debug", "info", "warn", "error"];

impl Kind for Log {
    fn names(&self) -> &'static [&'static str] {
        &["log"]
    }

    fn parameters(&self) -> &'static [Parameter] {
        const PARAMETERS: [Parameter; 2] =
            [required("message", Resolve::Value), parameter("level", Resolve::Value)];
        &PARAMETERS
    }

    fn work(&self, firing: &Firing<'_>) -> Result<Work, NodeError> {
        let message = firing.parameters.get("message").map(as_text).unwrap_or_default();
        let wanted = firing.parameter("level").map(as_text).unwrap_or_default();
        let level = LEVELS.into_iter().find(|level| *level == wanted).unwrap_or("info");
        let output = json!({"message": message, "level": level, "logged_at": iso8601(firing.now())});
        Ok(Work::done(output.into()))
    }
}
