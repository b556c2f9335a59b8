//! Decides which transcripts to archive and which copies to delete, as a pure function.

use std::collections::{HashMap, HashSet};

use watchbill_core::history::ArchiveSettings;
use watchbill_core::time::Timestamp;

use crate::tables::archive::ArchiveRow;

/// A transcript on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its path.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// When it was last written.
    pub mtime: Timestamp,
}

/// What to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchivePlan {
    /// Indexes of the candidates to pack, the oldest first, because the agent removes the oldest first.
    pub pack: Vec<usize>,
    /// Paths of transcripts whose archived copies are deleted.
    pub prune: Vec<String>,
}

/// The expected ratio for a transcript that is not packed yet. Real ones become a fifth to a tenth. Expecting less
/// keeps the budget from being overrun, and a transcript from being packed and deleted in turns.
const EXPECTED: u64 = 3;

/// Decides. The newest transcripts use the budget first.
pub fn plan(
    candidates: &[Candidate],
    archived: &[ArchiveRow],
    settings: &ArchiveSettings,
    now: Timestamp,
) -> ArchivePlan {
    let too_old = |mtime: Timestamp| settings.keep.is_some_and(|keep| mtime + keep < now);
    let known: HashMap<&str, &ArchiveRow> = archived.iter().map(|row| (&*row.path, row)).collect();
    let known = |path: &str| known.get(path).copied();
    let mut plan = ArchivePlan::default();
    // Newest first: what the archive would hold, each with its real or expected size.
    let mut all: Vec<(Timestamp, u64, Result<usize, &ArchiveRow>)> = Vec::new();
    for (number, candidate) in candidates.iter().enumerate() {
        let before = known(&candidate.path);
        let changed = before.is_none_or(|row| (row.bytes, row.mtime) != (candidate.bytes, candidate.mtime));
        if changed && candidate.bytes > 0 && candidate.mtime + settings.after <= now {
            let grown = candidate.bytes.saturating_sub(before.map_or(0, |row| row.bytes));
            let size = before.map_or(0, |row| row.stored) + grown.div_ceil(EXPECTED);
            all.push((candidate.mtime, size, Ok(number)));
        }
    }
    let packs: HashSet<&str> =
        all.iter().filter_map(|(_, _, what)| what.ok()).map(|number| &*candidates[number].path).collect();
    let settled = archived.iter().filter(|row| !packs.contains(&*row.path));
    all.extend(settled.map(|row| (row.mtime, row.stored, Err(row))));
    all.sort_by_key(|(mtime, size, _)| (std::cmp::Reverse(*mtime), *size));
    let mut taken = 0u64;
    for (mtime, size, what) in all {
        taken = taken.saturating_add(size);
        let fits = taken <= settings.budget && !too_old(mtime);
        match what {
            Ok(number) if fits => plan.pack.push(number),
            Ok(number) => plan.prune.extend(known(&candidates[number].path).map(|row| row.path.clone())),
            Err(row) if !fits => plan.prune.push(row.path.clone()),
            Err(_) => {}
        }
    }
    plan.pack.reverse();
    plan.prune.reverse();
    plan
}
