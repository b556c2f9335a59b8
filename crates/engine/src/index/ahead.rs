//! What the engine keeps of a transcript that was read for the first time, stored in the step of its texts, ahead of the
//! rows of the sessions: else the folds of thousands of transcripts would be in memory until the last one is read.

use watchbill_core::history::Exclude;
use watchbill_core::transcript::record::Usage;
use watchbill_store::{Step, StoreError};

use crate::persist::kept::Counted;
use crate::session::Shared;
use crate::transcripts::{Fold, Loaded};

/// Stores it. Says whether nobody needs the fold any more: of what `exclude` may leave out only the engine can tell, when it
/// knows all transcripts of a session.
///
/// # Errors
/// When the store cannot be written.
pub(super) fn store(step: &mut Step<'_>, loaded: &mut Loaded, exclude: &Exclude) -> Result<bool, StoreError> {
    let Loaded { path, file: Some(file), problems, .. } = loaded else { return Ok(true) };
    let Some(name) = path.to_str() else { return Ok(false) };
    // Tokens that files share are compared when rows are made, and counted again where these are not right.
    let (session, counted) = match file.fold() {
        Fold::Main(fold) => {
            if fold.lineage().cwds.iter().any(|cwd| exclude.leaves_out(cwd)) {
                return Ok(false);
            }
            let shared = Shared { own: fold.requests(), origin: None, copies: 0 };
            let counted = Counted::Session { inherited: Usage::default(), shared: Some(shared) };
            (Some(fold.lineage().session.clone()), counted)
        }
        Fold::Agent(_) if !exclude.is_empty() => return Ok(false),
        Fold::Agent(fold) => {
            let with = file.parent();
            (with.clone(), Counted::Agent { with, tokens: fold.ledger().total() })
        }
    };
    // What an engine has kept stands for more than one reading.
    if step.knows_state(name)? {
        return Ok(true);
    }
    let Some(kept) = file.kept(path, problems, counted) else { return Ok(false) };
    let (piece, fresh) = file.take_new();
    let session = session.as_ref().map_or("", |id| id.as_str());
    step.put_state(name, session, &kept.to_bytes(), piece.as_deref(), fresh)?;
    Ok(true)
}
