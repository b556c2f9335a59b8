//! `watchbill index`: the history reads everything into the store, and the engine adds the rows of the sessions.

mod ahead;

use std::time::Instant;

pub use watchbill_history::index::{Indexed, Options, Progress};
use watchbill_protocol::error::ApiError;
use watchbill_settings::Settings;
use watchbill_watch::clock::SystemClock;

use crate::cold::look_and_keep;
use crate::environment::{Outlook, World};
use crate::kept_state::KeptState;
use ahead::Ahead;

/// Reads what is new in all transcripts into the store. `progress` is told now and then, and ends the run by `false`:
/// what was read until then stays.
///
/// # Errors
/// When the store cannot be opened or written.
pub fn run(
    settings: &Settings,
    world: &World,
    options: Options,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Indexed, ApiError> {
    let begun = Instant::now();
    let mut ahead = Ahead::new(&*world.fs, settings);
    let mut indexed =
        watchbill_history::index::run(settings, &*world.fs, options, &KeptState, &mut ahead, progress)?;
    if let Indexed::Here(report) = &mut indexed
        && ahead.rows_are_behind
    {
        // Titles, folders and work chains are what the engine makes of it, and keeps.
        let rest = ahead.into_rest();
        look_and_keep(settings.clone(), world.clone(), Outlook::LIVE, &SystemClock, rest);
        report.seconds = begun.elapsed().as_secs_f64();
    }
    Ok(indexed)
}
