//! Memories for the command line: asks the holder of the store, or works here if this process may write the store.

use std::time::{Duration, Instant};

use watchbill_history::errors::{data_dir, store_api_error};
use watchbill_history::memory::change::change;
pub use watchbill_history::memory::model::child::program as model_program;
pub use watchbill_history::memory::page::Wanted;
pub use watchbill_history::memory::query::Reader;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::memory::{MemoryChange, MemoryChanged};
use watchbill_settings::Settings;
use watchbill_store::{Access, OpenMode, Store, process_label};
use watchbill_watch::fs::Fs;

use crate::clock::{Clock, SystemClock};
use crate::socket::access::AccessError;
use crate::socket::client::Client;

/// Pause between two attempts to reach the holder.
const RETRY: Duration = Duration::from_millis(20);
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
    let began = Instant::now();
    loop {
        if let Some(mut client) = Client::connect(data_dir) {
            match client.memory(wanted) {
                Err(AccessError::Refused(error)) if error.code != ErrorCode::NotReady => return Err(error),
                // The same change again gives the same result.
                Err(_) => {}
                Ok(changed) => return Ok(changed),
            }
        }
        let mut store =
            Store::open(data_dir, OpenMode::WriteOrRead).map_err(|error| store_api_error(&error))?;
        let Access::Reader { held_by } = store.access() else {
            return change(&mut store, fs, settings, wanted, SystemClock.now());
        };
        drop(store);
        if began.elapsed() >= TIMEOUT {
            let message = format!(
                "nothing was changed: {} holds the store and does not answer; if it is `watchbill index`, wait for its \
                 end, otherwise quit it; then try again",
                process_label(held_by)
            );
            return Err(ApiError::new(ErrorCode::NotReady, message));
        }
        std::thread::sleep(RETRY);
    }
}
