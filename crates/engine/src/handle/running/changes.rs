//! What changed in a session's repository.

use std::path::Path;

use watchbill_history::query::changes;
use watchbill_protocol::changes::Changes;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::roster::TrackedSession;

use super::Handle;

impl Handle {
    /// What changed in the repository of a session since its work chain began. Blocks for as long as git and the disk do.
    ///
    /// # Errors
    /// When its folder is in no repository, nothing is stored, or git cannot read the repository.
    pub fn changes(&self, session: &TrackedSession) -> Result<Changes, ApiError> {
        let root = session.repo_root.as_deref().ok_or_else(|| {
            ApiError::new(ErrorCode::NotFound, "the folder of this session is in no git repository")
        })?;
        changes::changes(&self.settings(), &session.work_chain_id, Path::new(root))
    }
}
