//! `watchbill index`: the history reads everything into the store, and the engine adds the rows of the sessions.

mod states_ahead;

use std::time::Instant;

pub use watchbill_history::index::{Indexed, Options};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::socket::IndexProgress;
use watchbill_settings::Settings;
use watchbill_watch::clock::SystemClock;

use crate::alone::forget::remove_unwanted_own;
use crate::alone::single_look::look_and_keep;
use crate::persist::live_state::StoredLiveState;
use crate::world::environment::{Outlook, Sources};
use states_ahead::StatesAhead;

/// Reads everything new in all transcripts into the store. Calls `progress` now and then; it returns `false` to end the
/// run. Data read until then stays stored.
///
/// # Errors
/// When the store cannot be opened or written.
pub fn run(
    settings: &Settings,
    world: &Sources,
    options: Options,
    progress: &mut dyn FnMut(&IndexProgress) -> bool,
) -> Result<Indexed, ApiError> {
    let begun = Instant::now();
    let mut ahead = StatesAhead::new(&*world.fs, settings);
    let mut indexed =
        watchbill_history::index::run(settings, &*world.fs, options, &StoredLiveState, &mut ahead, progress)?;
    if let Indexed::Here(report) = &mut indexed
        && ahead.rows_are_behind
    {
        // The engine derives titles, folders and work chains from the transcripts, and stores them.
        let rest = ahead.into_rest();
        look_and_keep(settings.clone(), world.clone(), Outlook::LIVE, &SystemClock, rest);
        report.seconds = begun.elapsed().as_secs_f64();
    }
    remove_unwanted_own(settings);
    Ok(indexed)
}
