//! Which session somebody means, and the words where that cannot be told: the same whatever is asked.

use watchbill_core::ids::SessionId;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::{Mode, Store};

/// So many of those that may be meant are named.
pub const SHOWN: u32 = 5;

/// Among what somebody's word is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// All that is there now, work chains too.
    Known,
    /// What is stored.
    Stored,
    /// What is stored, work chains too.
    StoredOrChains,
    /// The work chains that are there now, after no session was meant.
    KnownChains,
    /// The work chains that are stored, after no session was meant.
    StoredChains,
    /// What was forgotten.
    Forgotten,
}

/// The one that is meant by its id, or by the beginning of one, of those that `begin` with what was asked. [`SHOWN`] and one
/// more of them are enough.
///
/// # Errors
/// When nothing was asked for, or there is none, or there are several.
pub fn one<'s, S: AsRef<str>>(among: Among, asked: &str, begin: &'s [S]) -> Result<&'s S, ApiError> {
    is_named(asked)?;
    match begin {
        [] => Err(unknown(among, asked)),
        [one] => Ok(one),
        // An id may begin another one.
        several => {
            several.iter().find(|id| id.as_ref() == asked).ok_or_else(|| ambiguous(among, asked, several))
        }
    }
}

/// What is empty begins them all, and the only one there is may not be meant.
///
/// # Errors
/// When it is.
pub fn is_named(asked: &str) -> Result<(), ApiError> {
    if asked.trim().is_empty() {
        let message = "no session was named; `watchbill roster --all` lists them";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    Ok(())
}

/// Nothing begins so.
pub fn unknown(among: Among, asked: &str) -> ApiError {
    let what = match among {
        Among::Known | Among::KnownChains => "session or work chain",
        Among::Stored => "stored session",
        Among::StoredOrChains | Among::StoredChains => "stored session or work chain",
        Among::Forgotten => "forgotten session",
    };
    let message = format!("no {what} begins with `{asked}`; `watchbill roster --all` lists them");
    ApiError::new(ErrorCode::NotFound, message)
}

fn ambiguous(among: Among, asked: &str, several: &[impl AsRef<str>]) -> ApiError {
    let what = match among {
        Among::Known => "sessions",
        Among::Stored | Among::StoredOrChains => "stored sessions",
        Among::KnownChains => "work chains",
        Among::StoredChains => "stored work chains",
        Among::Forgotten => "forgotten sessions",
    };
    let shown: Vec<&str> = several.iter().take(SHOWN as usize).map(AsRef::as_ref).collect();
    let more = if several.len() > shown.len() { ", …" } else { "" };
    let message = format!("`{asked}` begins several {what}: {}{more}; name one of them", shown.join(", "));
    ApiError::new(ErrorCode::Ambiguous, message)
}

/// The one session that begins so in the store, for when no transcript of it is there: a search may have named it.
pub fn stored_alone(settings: &Settings, asked: &str) -> Option<SessionId> {
    let store = Store::open(settings.data_dir.as_deref()?, Mode::Read).ok()?;
    let begin = store.session_ids(asked, SHOWN + 1).ok()?;
    one(Among::Stored, asked, &begin).ok().map(|id| SessionId::new(id))
}
