//! Makes the archive's folder and its table agree. Removes nothing before every file is examined and its
//! replacement is stored. In doubt a file stays.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Archive;
use super::strays::{Completeness, Found, Stray};
use crate::tables::archive::ArchiveRow;
use crate::tables::meta_names::ARCHIVE_TAKEN_UP;
use crate::{Store, StoreError, folder};

/// The result of making the archive's folder and its table agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Transcripts that were added to the table again.
    pub taken_up: usize,
    /// Bytes that were freed.
    pub freed: u64,
    /// Files that do not name their transcript, and stay.
    pub unknown: usize,
}

/// The changes to make to the archive's files and rows.
struct Tidying<'a> {
    archive: &'a Archive,
    /// Rows that count from now on.
    taken_up: Vec<ArchiveRow>,
    /// Copies with records that the counting copy lacks.
    earlier: Vec<ArchiveRow>,
    /// Files to remove.
    void: Vec<String>,
    /// Files whose data after so many bytes was never finished.
    ends: Vec<(String, u64)>,
    unknown: usize,
}

impl Tidying<'_> {
    /// Examines the data after the counted part of a file. An unclean exit leaves such data, and so does a database
    /// that is older than the file.
    fn examine_tail(&mut self, row: &mut ArchiveRow) {
        if folder::size(&self.archive.path_of(row)) <= row.stored {
            return;
        }
        let Stray::Transcript(found) = self.archive.stray(&row.file) else { return };
        let Found { row: all, sound } = *found;
        if sound == Completeness::Damaged || all.path != row.path || all.bytes < row.bytes {
            return;
        }
        if all.bytes > row.bytes {
            if sound == Completeness::Finished && !self.archive.is_whole(&all) {
                return;
            }
            *row = all.clone();
            self.taken_up.push(all);
        }
        self.ends.push((row.file.clone(), row.stored));
    }

    /// Examines the files that no row names. Returns those that hold transcripts, by the transcripts' paths.
    fn examine_strays(
        &mut self,
        rows: &[ArchiveRow],
        forgotten: &HashSet<String>,
    ) -> BTreeMap<String, Vec<Found>> {
        let mut strays: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        for name in self.archive.strays(rows) {
            match self.archive.stray(&name) {
                Stray::Unknown => self.unknown += 1,
                Stray::Empty => self.void.push(name),
                Stray::Transcript(found) if forgotten.contains(&found.row.session_id) => self.void.push(name),
                Stray::Transcript(found) => strays.entry(found.row.path.clone()).or_default().push(*found),
            }
        }
        strays
    }

    /// Chooses the copy that counts among files of the same transcript: whole before damaged, then archived later,
    /// then longer. If the best one is not whole itself, the others stay beside it. A copy with records that the
    /// best one lacks stays too, in a row of its own.
    fn choose_copy(&mut self, row: Option<&ArchiveRow>, mut found: Vec<Found>) {
        if row.is_some() || found.len() > 1 {
            for other in found.iter_mut().filter(|found| !self.archive.is_whole(&found.row)) {
                other.sound = Completeness::Damaged;
            }
        }
        let known = row.map(|row| Found { row: row.clone(), sound: self.soundness(row) });
        let is_known = known.is_some();
        let mut all = known.into_iter().chain(found);
        let Some(mut best) = all.next() else { return };
        let (mut others, mut is_new) = (Vec::new(), !is_known);
        for other in all {
            if is_better(&other, &best) {
                others.push(std::mem::replace(&mut best, other));
                is_new = true;
            } else {
                others.push(other);
            }
        }
        let is_settled = |other: &Found| {
            let older = other.sound == Completeness::Begun || other.row.archived_at <= best.row.archived_at;
            other.row.hash == best.row.hash || best.sound == Completeness::Finished && older
        };
        for other in others.iter().filter(|other| best.sound > Completeness::Damaged && is_settled(other)) {
            if other.sound == Completeness::Damaged || self.archive.begins_with(&best.row, &other.row) {
                self.void.push(other.row.file.clone());
            } else {
                self.earlier.push(other.row.as_earlier());
            }
        }
        if is_new {
            if best.sound > Completeness::Damaged {
                self.ends.push((best.row.file.clone(), best.row.stored));
            }
            self.taken_up.push(best.row);
        }
    }

    /// How complete the copy of a row is. Its file may have been unfinished when the row was made.
    fn soundness(&self, row: &ArchiveRow) -> Completeness {
        if !self.archive.is_whole(row) {
            return Completeness::Damaged;
        }
        match self.archive.stray(&row.file) {
            Stray::Transcript(found) if found.sound == Completeness::Begun => Completeness::Begun,
            _ => Completeness::Finished,
        }
    }

    /// Of each content one earlier copy is enough: the one that a row names already, if it is whole.
    fn keep_earlier(&mut self, known: &HashMap<&str, &ArchiveRow>) {
        let mut kept: HashMap<String, String> = HashMap::new();
        for row in std::mem::take(&mut self.earlier) {
            let sound = known.get(&*row.path).filter(|known| self.archive.is_whole(known));
            let file = sound.map(|known| &known.file).or(kept.get(&row.path));
            match file {
                Some(file) if *file != row.file => self.void.push(row.file),
                _ => {
                    kept.insert(row.path.clone(), row.file.clone());
                    self.earlier.push(row);
                }
            }
        }
    }

    /// Removes files and unfinished data; returns how many bytes that frees.
    fn remove(&self) -> u64 {
        let mut freed = 0;
        for name in &self.void {
            let path = self.archive.folder.join(name);
            if path.symlink_metadata().is_ok() {
                freed += folder::size(&path);
                self.archive.remove(name);
            }
        }
        for (name, end) in &self.ends {
            let path = self.archive.folder.join(name);
            let len = folder::size(&path);
            if len > *end {
                freed += len - end;
                self.archive.cut_or_remove(&path, Some(*end));
            }
        }
        freed
    }
}

fn is_better(other: &Found, best: &Found) -> bool {
    let age = |found: &Found| (found.row.archived_at, found.row.bytes);
    match other.sound.cmp(&best.sound) {
        Ordering::Equal if other.sound == Completeness::Damaged => false,
        Ordering::Equal => other.row.hash != best.row.hash && age(other) > age(best),
        sounder => sounder.is_gt(),
    }
}

impl Store {
    /// Called at the start of a writer: a database made anew does not know which transcripts were archived before.
    pub(crate) fn restore_archive_rows(&mut self) -> Result<(), StoreError> {
        if self.meta(ARCHIVE_TAKEN_UP)?.is_some() {
            return Ok(());
        }
        let tidied = self.tidy_archive()?;
        if tidied.taken_up > 0 {
            tracing::warn!(
                transcripts = tidied.taken_up,
                "found archived transcripts that the store did not know"
            );
        }
        let mut step = self.step()?;
        step.set_meta(ARCHIVE_TAKEN_UP, "1")?;
        step.commit()
    }

    /// Makes the archive's folder and its table agree. Removes what an unclean exit has left, and adds transcripts
    /// that no row names to the table again, except those of forgotten sessions.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn tidy_archive(&mut self) -> Result<Tidied, StoreError> {
        let Some(folder) = self.path().parent() else { return Ok(Tidied::default()) };
        let archive = Archive::new(folder);
        let mut rows = self.all_archived()?;
        let forgotten: HashSet<String> = self.forgotten()?.iter().map(ToString::to_string).collect();
        let mut tidying = Tidying {
            archive: &archive,
            taken_up: vec![],
            earlier: vec![],
            void: vec![],
            ends: vec![],
            unknown: 0,
        };
        rows.iter_mut().for_each(|row| tidying.examine_tail(row));
        let known: HashMap<&str, &ArchiveRow> = rows.iter().map(|row| (&*row.path, row)).collect();
        for (path, found) in tidying.examine_strays(&rows, &forgotten) {
            tidying.choose_copy(known.get(&*path).copied(), found);
        }
        if tidying.unknown > 0 {
            tracing::warn!(files = tidying.unknown, folder = %archive.folder.display(), "unknown files in the archive stay");
        }
        tidying.keep_earlier(&known);
        if !(tidying.taken_up.is_empty() && tidying.earlier.is_empty()) {
            let mut step = self.step()?;
            for row in tidying.taken_up.iter().chain(&tidying.earlier) {
                step.put_archived(row)?;
            }
            // The exclusion rules were not applied to these rows yet.
            step.mark_exclude_due()?;
            step.commit()?;
        }
        let freed = tidying.remove();
        Ok(Tidied { taken_up: tidying.taken_up.len(), freed, unknown: tidying.unknown })
    }
}
