//! Reads the payload from standard input, with limits on length and time.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use watchbill_platform::input::Input;

use crate::envelope::PAYLOAD_LIMIT;
use crate::shorten::Shortener;

/// How long to wait for the end of input once the payload is complete.
const END_OF_INPUT_WAIT: Duration = Duration::from_millis(5);

/// How long to go on reading a payload that is too long, while data keeps coming.
const DRAIN_LIMIT: Duration = Duration::from_secs(4);

/// After a pause of this length, the payload counts as stalled.
const STALLED: Duration = Duration::from_millis(500);

/// How much of the payload was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Not all: it was too long, so its long texts are shortened.
    Cut,
    /// The part that had come when the time was over.
    Unfinished,
}

/// Reads until the end of input, the length limit or the time limit. `bytes` holds the part that was read before.
///
/// # Errors
/// When the input cannot be read.
pub fn read(input: &mut Input, bytes: &mut Vec<u8>, until: Instant) -> io::Result<Extent> {
    let mut part = vec![0; 64 * 1024];
    loop {
        if bytes.len() > PAYLOAD_LIMIT {
            drain(input, bytes, &mut part)?;
            return Ok(Extent::Cut);
        }
        let left = until.saturating_duration_since(Instant::now());
        if !input.readable(if bytes.is_empty() { left } else { left.min(END_OF_INPUT_WAIT) })? {
            if is_object(bytes) {
                return Ok(Extent::Whole);
            }
            if !input.readable(until.saturating_duration_since(Instant::now()))? {
                return Ok(Extent::Unfinished);
            }
        }
        let room = part.len().min(PAYLOAD_LIMIT + 1 - bytes.len());
        match input.read(&mut part[..room]) {
            Ok(0) => return Ok(Extent::Whole),
            Ok(read) => bytes.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads a payload that is too long to its end, and keeps a shortened form. The agent must not meet a closed pipe,
/// and the fields that identify the event may come last.
fn drain(input: &mut Input, bytes: &mut Vec<u8>, part: &mut [u8]) -> io::Result<()> {
    let until = Instant::now() + DRAIN_LIMIT;
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    let mut shortener = Shortener::default();
    if is_object {
        shortener.push(bytes);
    } else {
        bytes.truncate(PAYLOAD_LIMIT);
    }
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let quiet = if shortener.has_ended() { END_OF_INPUT_WAIT } else { STALLED };
        if left.is_zero() || !input.readable(left.min(quiet))? {
            break;
        }
        match input.read(part) {
            Ok(0) => break,
            Ok(read) if is_object => shortener.push(&part[..read]),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    if is_object {
        *bytes = shortener.finish();
    }
    Ok(())
}

/// Whether a payload is complete although the agent has not closed its pipe.
fn is_object(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}
