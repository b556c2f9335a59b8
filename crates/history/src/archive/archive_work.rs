//! Which transcripts to archive now, and how to archive one after the other.

use std::io::{self, Read};
use std::path::Path;

use watchbill_agents::Root;
use watchbill_agents::layout::META_LIMIT;
use watchbill_core::history::{ArchiveSettings, Exclude};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::archive::plan::{ArchivePlan, Candidate, plan};
use watchbill_store::archive::{Archive, Original};
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::{FileId, Fs};
use watchbill_watch::scan::Found;

use super::archive_candidates::{CLEANUP_DAYS, DAY, META, cleanup_days, owner, transcripts};
use crate::lines::FromStart;
use crate::removal::exclude_later::mentions_excluded;

/// Work with the store while it is locked.
pub type StoreWork<'u> = &'u mut dyn FnMut(&mut Store) -> Result<(), StoreError>;

/// Transcripts to pack now, and archived ones to drop.
pub struct ArchiveWork {
    found: Vec<Found>,
    plan: ArchivePlan,
    settings: ArchiveSettings,
}

/// Decides which transcripts are due. Nothing is archived of a session for which `left_out` is true.
pub fn due(
    fs: &dyn Fs,
    roots: &[Root],
    rows: &[ArchiveRow],
    left_out: &dyn Fn(&Found) -> bool,
    settings: &ArchiveSettings,
    now: Timestamp,
) -> ArchiveWork {
    let found: Vec<Found> = transcripts(fs, roots).into_iter().filter(|found| !left_out(found)).collect();
    let days = roots
        .iter()
        .filter(|root| root.removes_old())
        .map(|root| cleanup_days(fs, root))
        .min()
        .unwrap_or(CLEANUP_DAYS);
    // Before the agent removes the transcript: half of its clean-up time, if the user made that short.
    let settings = ArchiveSettings { after: settings.after.min(Millis(days * DAY / 2)), ..*settings };
    let candidates: Vec<Candidate> = found
        .iter()
        .map(|found| Candidate {
            path: found.path.to_string_lossy().into_owned(),
            bytes: found.stat.len,
            mtime: found.stat.mtime,
        })
        .collect();
    let plan = plan(&candidates, rows, &settings, now);
    ArchiveWork { found, plan, settings }
}

impl ArchiveWork {
    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.plan.pack.is_empty() && self.plan.prune.is_empty()
    }

    /// Drops one archived transcript, or packs one, unless that one mentions something that `exclude` names.
    /// `with_store` locks the store only while it is used.
    ///
    /// Returns whether a transcript was packed.
    ///
    /// # Errors
    /// When the store or the archive cannot be written. A transcript that cannot be read is skipped.
    pub fn pack_or_drop_one(
        &mut self,
        fs: &dyn Fs,
        data_dir: &Path,
        exclude: &Exclude,
        now: Timestamp,
        with_store: &mut dyn FnMut(StoreWork<'_>) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        let archive = Archive::new(data_dir);
        if let Some(path) = self.plan.prune.pop() {
            let mut void = None;
            with_store(&mut |store| {
                void = store.archived(&path)?.map(|row| row.file);
                let mut step = store.step()?;
                step.remove_archived(&path)?;
                step.commit()
            })?;
            void.iter().for_each(|file| archive.remove(file));
            return Ok(false);
        }
        let Some(found) = self.plan.pack.pop().and_then(|number| self.found.get(number)) else {
            return Ok(false);
        };
        let path = found.path.to_string_lossy();
        let Some((session, subagent)) = owner(fs, found) else { return Ok(false) };
        if mentions_excluded(fs, &found.path, exclude) {
            return Ok(false);
        }
        let mut known = None;
        with_store(&mut |store| {
            known = store.archived(&path)?;
            Ok(())
        })?;
        let FileId { dev, ino } = found.stat.id;
        let meta = subagent.as_ref().and_then(|_| {
            let text = fs.read_small(&found.path.with_extension(&META[1..]), META_LIMIT).ok()?;
            String::from_utf8(text).ok()
        });
        let original = Original {
            path: &path,
            session_id: &session,
            subagent: subagent.as_deref(),
            mtime: found.stat.mtime,
            id: (dev, ino),
            meta: meta.as_deref(),
        };
        let mut open = || -> io::Result<Box<dyn Read>> {
            Ok(Box::new(FromStart { file: fs.open(&found.path)?, at: 0 }))
        };
        let packed = archive.pack_again(&original, &mut open, known.as_ref(), self.settings.level, now)?;
        with_store(&mut |store| {
            let mut step = store.step()?;
            step.put_archived(&packed.row)?;
            packed.earlier.iter().try_for_each(|earlier| step.put_archived(earlier))?;
            step.commit()
        })?;
        packed.void.iter().for_each(|file| archive.remove(file));
        Ok(true)
    }
}
