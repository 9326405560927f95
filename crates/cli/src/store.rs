//! `runeglass store`: check a store, make it smaller, remove old executions.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use protocol::Millis;
use recording::{Access, Checked, Cleaned, Prune, Store};
use runtime::Clock;
use session::Session;

use crate::{
    outcome::{CommandError, Outcome, say, say_json},
    terminal::plain,
};

#[derive(Args)]
#[command(after_help = "\
Examples:
  runeglass store check --store runs.db
  runeglass store compact --store runs.db
  runeglass store prune --keep 30d --max-size 2GB --store runs.db

An execution that has not ended is never removed.")]
pub struct StoreArguments {
    #[command(subcommand)]
    command: StoreCommand,
    /// The store; the usual one where absent.
    #[arg(long, value_name = "PATH", global = true)]
    store: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum StoreCommand {
    /// Read everything and say what does not add up.
    Check,
    /// Pack payloads, drop what nothing refers to, and give the room back.
    Compact,
    /// Remove old executions.
    Prune {
        /// Keep what ended within this time: 90m, 12h, 30d, 8w.
        #[arg(long, value_name = "TIME", value_parser = parse_length)]
        keep: Option<Millis>,
        /// Remove the oldest until the store is no larger: 500MB, 2GB.
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        max_size: Option<u64>,
    },
}

pub async fn store(arguments: StoreArguments) -> Result<Outcome, CommandError> {
    let path = arguments.store.map_or_else(Session::usual_store, Ok)?;
    match arguments.command {
        StoreCommand::Check => {
            let checked = open(&path, Access::Read).await?.check().await;
            report_check(&checked.map_err(|error| session::store_problem(&error))?, &path, arguments.json)
        }
        StoreCommand::Compact => {
            let cleaned = existing(&path).await?.compact().await;
            report_cleaning(&cleaned.map_err(|error| session::store_problem(&error))?, arguments.json)
        }
        StoreCommand::Prune { keep: None, max_size: None } => {
            Err(CommandError::usage("nothing says what may go", "for example --keep 30d or --max-size 2GB"))
        }
        StoreCommand::Prune { keep, max_size } => {
            let ended_before = keep.map(|keep| Clock::system().now().saturating_sub(keep));
            let prune = Prune { ended_before, most_bytes: max_size };
            let cleaned = existing(&path).await?.prune(prune).await;
            report_cleaning(&cleaned.map_err(|error| session::store_problem(&error))?, arguments.json)
        }
    }
}

async fn open(path: &Path, access: Access) -> Result<Store, CommandError> {
    Ok(Store::open(path, access).await.map_err(|error| session::store_problem(&error))?)
}

/// Opens a store for writing without making one where there is none.
async fn existing(path: &Path) -> Result<Store, CommandError> {
    open(path, Access::Read).await?;
    open(path, Access::Write).await
}

fn report_check(checked: &Checked, path: &Path, json: bool) -> Result<Outcome, CommandError> {
    if json {
        say_json(checked)?;
    } else {
        for complaint in &checked.complaints {
            say(&plain(complaint))?;
        }
        let Checked { executions, events, payloads, complaint_count, .. } = checked;
        let verdict = match complaint_count {
            0 => "everything adds up".to_owned(),
            count => format!("{count} complaints"),
        };
        let shown = path.display();
        say(&format!("{shown}: {executions} executions, {events} events, {payloads} payloads; {verdict}"))?;
    }
    Ok(if checked.is_sound() { Outcome::Completed } else { Outcome::FailedOrHalted })
}

fn report_cleaning(cleaned: &Cleaned, json: bool) -> Result<Outcome, CommandError> {
    match json {
        true => say_json(cleaned)?,
        false => {
            let (before, after) = (cleaned.bytes_before, cleaned.bytes_after);
            say(&format!(
                "removed {} executions; {before} bytes before, {after} now",
                cleaned.removed.len()
            ))?;
        }
    }
    Ok(Outcome::Completed)
}

/// `30d` and the like, in milliseconds.
fn parse_length(text: &str) -> Result<Millis, String> {
    let units = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];
    let length = number_with_unit(text, &units).and_then(|length| Millis::try_from(length).ok());
    length.ok_or_else(|| "a number and s, m, h, d or w, such as 30d".to_owned())
}

/// `2GB` and the like, in bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let units = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)];
    number_with_unit(text, &units).ok_or_else(|| "a number and B, KB, MB or GB, such as 2GB".to_owned())
}

fn number_with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_sizes_have_units() {
        assert_eq!(parse_length("30d"), Ok(2_592_000_000));
        assert_eq!(parse_length("90 m"), Ok(5_400_000));
        assert_eq!(parse_size("2GB"), Ok(2_147_483_648));
        assert_eq!(parse_size("500mb"), Ok(524_288_000));
        for wrong in ["", "d", "30", "-1d", "99999999999999999999d", "9999999999999999w", "1.5d"] {
            assert!(parse_length(wrong).is_err(), "{wrong}");
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
