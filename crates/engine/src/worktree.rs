//! Whether the folder of a session still has the branch that the session worked on. An agent that goes on in another tree changes
//! files that it does not know.

use std::path::Path;

use watchbill_core::chain::lineage::is_project_of;
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

/// The folder in which the agent looks for the session's file. It is the session's own, or one above it, when the client
/// moved the session into a worktree of the folder that it began in.
pub fn resume_folder(row: &TrackedSession) -> Option<String> {
    let cwd = row.cwd.as_deref()?;
    let is_its = |folder: &&Path| {
        let project = row.project_id.as_deref();
        project.zip(folder.to_str()).is_some_and(|(project, folder)| is_project_of(project, folder))
    };
    let found = Path::new(cwd).ancestors().find(is_its).and_then(Path::to_str);
    Some(found.unwrap_or(cwd).to_owned())
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
