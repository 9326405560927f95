//! One execution as one document that opens without an engine.

use protocol::{Event, Recording, TimedPatch};

use crate::{LedgerError, ViewFold, detail::all_details};

/// `None` for a recording without a beginning.
pub fn record(events: &[Event]) -> Result<Option<Recording>, LedgerError> {
    let Some(mut fold) = events.first().and_then(ViewFold::begin) else { return Ok(None) };
    let start = fold.view().clone();
    let mut patches = Vec::with_capacity(events.len());
    for event in events {
        fold.apply(event);
        patches.extend(fold.take_patch().map(|patch| TimedPatch { at: event.at, patch }));
    }
    Ok(Some(Recording {
        format: Recording::FORMAT.to_owned(),
        version: Recording::VERSION,
        start,
        patches,
        details: all_details(events)?,
    }))
}
