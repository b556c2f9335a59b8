//! Memories for the command line: asks the holder of the store, or works here if this process may write the store.

use std::time::Duration;

use watchbill_history::errors::{data_dir, store_api_error};
use watchbill_history::memory::change::change;
pub use watchbill_history::memory::model::child::program as model_program;
pub use watchbill_history::memory::page::Wanted;
pub use watchbill_history::memory::query::Reader;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::memory::{MemoryChange, MemoryChanged};
use watchbill_settings::Settings;
use watchbill_store::{Access, OpenMode, Store};
use watchbill_watch::fs::Fs;

use super::holder::here_or_at_holder;
use crate::clock::{Clock, SystemClock};
use crate::socket::client::Client;

/// How long to wait for a holder that does not listen.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Carries out a change of memories: at the holder of the store if there is one, else here.
///
/// # Errors
/// When no memory fits the id, the text cannot be kept, the store cannot be written, or its holder does not answer.
pub fn change_here_or_at_holder(
    settings: &Settings,
    fs: &dyn Fs,
    wanted: &MemoryChange,
) -> Result<MemoryChanged, ApiError> {
    if let Some(doubt) = &settings.doubt {
        return Err(ApiError::new(ErrorCode::Invalid, &**doubt));
    }
    let data_dir = data_dir(settings)?;
    // The same change again gives the same result.
    let at_holder = |client: &mut Client, _| client.memory(wanted);
    let here = || {
        let mut store =
            Store::open(data_dir, OpenMode::WriteOrRead).map_err(|error| store_api_error(&error))?;
        match store.access() {
            Access::Reader { .. } => Ok(None),
            Access::Writer => change(&mut store, fs, settings, wanted, SystemClock.now()).map(Some),
        }
    };
    let shows = "`watchbill memory list` shows whether it was done";
    here_or_at_holder(data_dir, TIMEOUT, at_holder, here, shows)
}
