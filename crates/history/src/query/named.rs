//! Finds the session that a user names by an id or its beginning, with one wording of errors for all commands.

use watchbill_core::ids::SessionId;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store};

/// How many candidates an error names.
pub const MAX_CANDIDATES: u32 = 5;

/// Where the name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdScope {
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
/// it; [`MAX_CANDIDATES`] + 1 of them are enough.
///
/// # Errors
/// When `asked` is empty, or no id matches, or several do.
pub fn resolve_one<'s, S: AsRef<str>>(
    among: IdScope,
    asked: &str,
    begin: &'s [S],
) -> Result<&'s S, ApiError> {
    require_name(asked)?;
    match begin {
        [] => Err(unknown_id_error(among, asked)),
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
pub fn require_name(asked: &str) -> Result<(), ApiError> {
    if asked.trim().is_empty() {
        let message = "no session was named; `watchbill roster --all` lists them";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    Ok(())
}

/// The error if no id begins with `asked`.
pub fn unknown_id_error(among: IdScope, asked: &str) -> ApiError {
    let what = match among {
        IdScope::Known | IdScope::KnownChains => "session or work chain",
        IdScope::Stored => "stored session",
        IdScope::StoredOrChains | IdScope::StoredChains => "stored session or work chain",
        IdScope::Forgotten => "forgotten session",
    };
    let message = format!("no {what} begins with `{asked}`; `watchbill roster --all` lists them");
    ApiError::new(ErrorCode::NotFound, message)
}

fn ambiguous(among: IdScope, asked: &str, several: &[impl AsRef<str>]) -> ApiError {
    let what = match among {
        IdScope::Known => "sessions",
        IdScope::Stored | IdScope::StoredOrChains => "stored sessions",
        IdScope::KnownChains => "work chains",
        IdScope::StoredChains => "stored work chains",
        IdScope::Forgotten => "forgotten sessions",
    };
    let shown: Vec<&str> = several.iter().take(MAX_CANDIDATES as usize).map(AsRef::as_ref).collect();
    let more = if several.len() > shown.len() { ", …" } else { "" };
    let message = format!("`{asked}` begins several {what}: {}{more}; name one of them", shown.join(", "));
    ApiError::new(ErrorCode::Ambiguous, message)
}

/// The one stored session whose id begins with `asked`, for a session without a transcript: a search may have named
/// it.
pub fn find_stored(settings: &Settings, asked: &str) -> Option<SessionId> {
    let store = Store::open(settings.data_dir.as_deref()?, OpenMode::Read).ok()?;
    let begin = store.session_ids(asked, MAX_CANDIDATES + 1).ok()?;
    resolve_one(IdScope::Stored, asked, &begin).ok().map(|id| SessionId::new(id))
}
