//! Excluding later: which rows and files tell of what the person excludes now, and were stored before.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};
use watchbill_core::history::Exclude;
use watchbill_core::time::Timestamp;

use super::selection::{Heads, Reason, Removed, Selection};
use crate::tables::archive::ArchiveRow;
use crate::tables::folders::WorkedIn;
use crate::tables::meta_names::{LEFT_OUT, LEFT_OUT_SAID};
use crate::tables::{FileKey, SessionKey};
use crate::{Step, Store, StoreError};

/// Another mark than that of any rules. Where none were carried out there is none, and nothing to say.
pub(crate) const DUE: &str = "UPDATE meta SET value = '' WHERE name = ?1";

impl Store {
    /// Whether the store holds what these rules leave out, as far as is known: they are others than those that were
    /// carried out the last time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_left_out_by(&self, rules: &[String]) -> Result<bool, StoreError> {
        let done = self.meta(LEFT_OUT)?;
        Ok(if rules.is_empty() { done.is_none() } else { done.is_some_and(|done| done == mark(rules)) })
    }

    /// What was removed the last time that rules were carried out, for people.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn left_out_said(&self) -> Result<Option<String>, StoreError> {
        self.meta(LEFT_OUT_SAID)
    }

    /// Everything that is stored of sessions and subagents that have `worked` in an excluded folder, of transcripts that the
    /// rules leave out, and of tool calls that name such a path. `heads` replace what the engine has kept. What of it is to
    /// be stored all the same (tokens; the rest of a session that has worked elsewhere too) is read again from transcripts
    /// that are still there, and so is what the rules before these have left out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn to_leave_out(
        &self,
        rules: &Exclude,
        worked: WorkedIn,
        heads: Heads,
    ) -> Result<Selection, StoreError> {
        let rule = |path: &str| rules.leaves_out(path);
        let WorkedIn { mut sessions, subagents, archived: mut told } = worked;
        let mut ids = HashMap::new();
        self.sessions(&mut |key, row| {
            ids.insert(key, row.session_id);
        })?;
        let mut files = Vec::new();
        self.files(&mut |key, file| {
            if rule(&file.path) || subagents.contains(&file.path) {
                match (file.subagent, ids.get(&file.session)) {
                    (None, Some(id)) => drop(sessions.insert(id.clone())),
                    _ => files.push((key, file.path)),
                }
            }
        })?;
        let rows = self.all_archived()?;
        let mut archived = BTreeSet::new();
        let is_due = |row: &ArchiveRow| {
            rule(row.transcript())
                || [row.transcript(), &row.path].iter().any(|path| subagents.contains(*path))
        };
        for row in rows.iter().filter(|row| is_due(row)) {
            match row.subagent {
                None => sessions.insert(row.session_id.clone()),
                Some(_) => archived.insert(row.path.clone()),
            };
        }
        let whole: BTreeSet<SessionKey> =
            ids.iter().filter(|(_, id)| sessions.contains(*id)).map(|(key, _)| *key).collect();
        let removed: BTreeSet<FileKey> = files.iter().map(|(key, _)| *key).collect();
        let mentions = self.mentions(rules, &|session, file| {
            whole.contains(&session) || file.is_some_and(|file| removed.contains(&file))
        })?;
        // The archive keeps a transcript whole, with what such a call has read.
        let mentioning = mentions.files();
        self.files(&mut |key, file| {
            if mentioning.contains(&key) {
                told.insert(file.path);
            }
        })?;
        let is_told =
            |row: &ArchiveRow| [row.transcript(), &row.path].iter().any(|path| told.contains(*path));
        archived.extend(rows.iter().filter(|row| is_told(row)).map(|row| row.path.clone()));
        let strays = self.strays()?;
        let mut would = self.all_of(sessions, &strays)?;
        let copies = rows.iter().chain(&strays.untold).filter(|row| archived.contains(&row.path));
        would.archived.extend(copies.map(|row| row.file.clone()));
        would.files += files.len() as u64;
        let reason = Reason::Excluded(Some(rules.patterns()).filter(|rules| !rules.is_empty()).map(mark));
        Ok(Selection { files, mentions, heads, ..Selection::of(reason, would, archived, &strays) })
    }
}

impl Removed {
    /// In words, for people.
    fn said(&self, now: Timestamp) -> String {
        let counts = [
            (self.sessions.len() as u64, "session"),
            (self.files, "transcript"),
            (self.prompts, "prompt"),
            (self.activities, "tool call"),
            (self.texts, "text"),
            (self.archived.len() as u64, "archived transcript"),
        ];
        let counts =
            counts.map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }));
        format!("removed from the store on {now}, since `exclude` names them now: {}", counts.join(", "))
    }
}

impl Step<'_> {
    /// Something came into the store at which the rules were not looked: they count as not carried out.
    pub(crate) fn left_out_is_due(&mut self) -> Result<(), StoreError> {
        self.run(DUE, [LEFT_OUT]).map(drop)
    }

    /// The rules with this mark are carried out, and this came of it.
    pub(super) fn note_excluded(
        &mut self,
        mark: Option<&str>,
        removed: &Removed,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if *removed != Removed::default() {
            let said = removed.said(now);
            tracing::info!("{said}");
            self.set_meta(LEFT_OUT_SAID, &said)?;
        }
        self.left_out_is_behind()?;
        match mark {
            // What was removed once is there again, or is left out by nothing that the settings name.
            None => drop(self.run("DELETE FROM meta WHERE name IN (?1, ?2)", [LEFT_OUT, LEFT_OUT_SAID])?),
            Some(mark) => self.set_meta(LEFT_OUT, mark)?,
        }
        Ok(())
    }
}

/// The rules themselves are private: they name what is left out.
fn mark(rules: &[String]) -> String {
    // Since the second form spellings of a path are one: what the first has left is looked at once more.
    Sha256::digest(format!("2\n{}", rules.join("\n"))).iter().map(|byte| format!("{byte:02x}")).collect()
}
