//! Works here if this process may write the store, or asks the program that holds it.

use std::path::Path;
use std::time::{Duration, Instant};

use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_store::{last_writer, process_label};

use crate::socket::access::AccessError;
use crate::socket::client::Client;

/// Pause between two attempts.
const RETRY: Duration = Duration::from_millis(20);

/// Asks the holder of the store, or works `here` if none listens: again and again, until one of them has an answer.
/// `here` gives `None` if another process holds the store. `at_holder` also gets whether an earlier call may have been carried out
/// without an answer.
///
/// # Errors
/// As they say, and when the holder does not answer for as long as `patience`. `shows` then says where the user sees whether it
/// was done.
pub(super) fn here_or_at_holder<T>(
    data_dir: &Path,
    patience: Duration,
    mut at_holder: impl FnMut(&mut Client, bool) -> Result<T, AccessError>,
    mut here: impl FnMut() -> Result<Option<T>, ApiError>,
    shows: &str,
) -> Result<T, ApiError> {
    let (began, mut was_sent) = (Instant::now(), false);
    loop {
        if let Some(mut client) = Client::connect(data_dir) {
            match at_holder(&mut client, was_sent) {
                Err(AccessError::Refused(error)) if error.code != ErrorCode::NotReady => return Err(error),
                Err(AccessError::Refused(_)) => {}
                Err(AccessError::Broken(_)) => was_sent = true,
                Ok(done) => return Ok(done),
            }
        } else if let Some(done) = here()? {
            return Ok(done);
        }
        if began.elapsed() >= patience {
            let writer = process_label(last_writer(data_dir));
            let message = if was_sent {
                format!("{writer} holds the store and has stopped answering; {shows}")
            } else {
                format!(
                    "nothing was changed: {writer} holds the store and does not listen; if it is `watchbill index`, wait \
                     for its end, otherwise quit it; then try again"
                )
            };
            return Err(ApiError::new(ErrorCode::NotReady, message));
        }
        std::thread::sleep(RETRY);
    }
}
