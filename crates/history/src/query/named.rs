//! Finds the session that a user names by an id or its beginning, with one wording of errors for all commands.

use watchbill_core::ids::SessionId;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::{Mode, Store};

/// How many candidates an error names.
pub const SHOWN: u32 = 5;

/// Where the name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// All present sessions and work chains.
    Known,
    /// Stored sessions.
    Stored,
    /// Stored sessions and work chains.
    StoredOrChains,
    /// Present work chains, after no session matched.
    KnownChains,
    /// Stored work chains, after no session matched.
    StoredChains,
    /// Forgotten sessions.
    Forgotten,
}

/// The one id that the user means by `asked`, which is an id or its beginning. `begin` holds the ids that begin with
/// it; [`SHOWN`] + 1 of them are enough.
///
/// # Errors
/// When `asked` is empty, or no id matches, or several do.
pub fn one<'s, S: AsRef<str>>(among: Among, asked: &str, begin: &'s [S]) -> Result<&'s S, ApiError> {
    is_named(asked)?;
    match begin {
        [] => Err(unknown(among, asked)),
        [one] => Ok(one),
        // One id may be the beginning of another one.
        several => {
            several.iter().find(|id| id.as_ref() == asked).ok_or_else(|| ambiguous(among, asked, several))
        }
    }
}

/// Refuses an empty name. It begins every id, and even a single session need not be the one that is meant.
///
/// # Errors
/// When the name is empty.
pub fn is_named(asked: &str) -> Result<(), ApiError> {
    if asked.trim().is_empty() {
        let message = "no session was named; `watchbill roster --all` lists them";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    Ok(())
}

/// The error if no id begins with `asked`.
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

/// The one stored session whose id begins with `asked`, for a session without a transcript: a search may have named
/// it.
pub fn stored_alone(settings: &Settings, asked: &str) -> Option<SessionId> {
    let store = Store::open(settings.data_dir.as_deref()?, Mode::Read).ok()?;
    let begin = store.session_ids(asked, SHOWN + 1).ok()?;
    one(Among::Stored, asked, &begin).ok().map(|id| SessionId::new(id))
}
