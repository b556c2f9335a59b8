//! Whether the folder of a session still has the branch that the session worked on. An agent that goes on in another tree changes
//! files that it does not know.

use std::path::Path;

use watchbill_protocol::roster::TrackedSession;
use watchbill_watch::fs::StdFs;
use watchbill_watch::repo::{branch, repo_root};

/// The folder has another branch by now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session worked on the branch {then} of {cwd}, where {now} by now")]
pub struct OtherBranch {
    cwd: String,
    then: String,
    now: String,
}

/// Compares the branch of the session's newest record with that of its folder. A session that names none is not compared.
///
/// # Errors
/// When the folder has another branch, or none.
pub fn check(row: &TrackedSession) -> Result<(), OtherBranch> {
    let (Some(then), Some(cwd)) = (&row.branch, &row.cwd) else { return Ok(()) };
    let now = repo_root(&StdFs, Path::new(cwd)).and_then(|root| branch(&StdFs, &root));
    if now.as_ref() == Some(then) {
        return Ok(());
    }
    let now = now.map_or_else(|| "there is no branch".to_owned(), |now| format!("the branch is {now}"));
    Err(OtherBranch { cwd: cwd.clone(), then: then.clone(), now })
}
