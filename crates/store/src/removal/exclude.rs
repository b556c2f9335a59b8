//! Excluding later: finds rows and files that were stored before the user excluded them.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};
use watchbill_core::history::Exclude;
use watchbill_core::time::Timestamp;

use super::selection::{Heads, Reason, Removed, Selection};
use crate::tables::archive::ArchiveRow;
use crate::tables::folders::WorkedIn;
use crate::tables::meta_names::{EXCLUDE_MARK, EXCLUDE_REPORT};
use crate::tables::{FileKey, SessionKey};
use crate::{Store, StoreError, WriteTransaction};

/// Sets a mark that no rules have, so that the rules are applied again. If none were ever applied, there is no mark
/// to change.
pub(crate) const RESET_EXCLUDE_MARK: &str = "UPDATE meta SET value = '' WHERE name = ?1";

impl Store {
    /// Whether these are the rules that were applied the last time. If so, the store holds nothing that they leave
    /// out, as far as is known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn are_rules_applied(&self, rules: &[String]) -> Result<bool, StoreError> {
        let done = self.meta(EXCLUDE_MARK)?;
        Ok(if rules.is_empty() { done.is_none() } else { done.is_some_and(|done| done == mark(rules)) })
    }

    /// A sentence for the user: what was removed the last time that rules were applied.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn exclude_report(&self) -> Result<Option<String>, StoreError> {
        self.meta(EXCLUDE_REPORT)
    }

    /// Selects everything stored of sessions and subagents that have `worked` in an excluded folder, of transcripts
    /// that the rules leave out, and of tool calls that name an excluded path. `heads` replace the engine's stored
    /// heads.
    ///
    /// Some of it may be stored all the same: tokens, and the rest of a session that has also worked elsewhere. It
    /// is read again from transcripts that are still there, and so are records that the rules before these left
    /// out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn select_excluded(
        &self,
        rules: &Exclude,
        worked: WorkedIn,
        heads: Heads,
    ) -> Result<Selection, StoreError> {
        let rule = |path: &str| rules.excludes(path);
        let WorkedIn { mut sessions, subagents, archived: mut worked_in } = worked;
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
        // The archive keeps a transcript whole, including the result of such a call.
        let mentioning = mentions.files();
        self.files(&mut |key, file| {
            if mentioning.contains(&key) {
                worked_in.insert(file.path);
            }
        })?;
        let is_worked_in =
            |row: &ArchiveRow| [row.transcript(), &row.path].iter().any(|path| worked_in.contains(*path));
        archived.extend(rows.iter().filter(|row| is_worked_in(row)).map(|row| row.path.clone()));
        let strays = self.strays()?;
        let mut would = self.all_of(sessions, &strays)?;
        let copies = rows.iter().chain(&strays.first_copies).filter(|row| archived.contains(&row.path));
        would.archived.extend(copies.map(|row| row.file.clone()));
        would.files += files.len() as u64;
        let reason = Reason::Excluded(Some(rules.patterns()).filter(|rules| !rules.is_empty()).map(mark));
        Ok(Selection { files, mentions, heads, ..Selection::of(reason, would, archived, &strays) })
    }
}

impl Removed {
    /// A sentence for the user.
    fn report_text(&self, now: Timestamp) -> String {
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

impl WriteTransaction<'_> {
    /// Rows came into the store without a check by the rules, so the rules count as not applied.
    pub(crate) fn mark_exclude_due(&mut self) -> Result<(), StoreError> {
        self.run(RESET_EXCLUDE_MARK, [EXCLUDE_MARK]).map(drop)
    }

    /// Notes that the rules with this mark are applied, and what they removed.
    pub(super) fn note_excluded(
        &mut self,
        mark: Option<&str>,
        removed: &Removed,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if *removed != Removed::default() {
            let text = removed.report_text(now);
            tracing::info!("{text}");
            self.set_meta(EXCLUDE_REPORT, &text)?;
        }
        self.reread_excluded_files()?;
        match mark {
            // Without rules, removed rows are stored again, or are missing for a reason that is not in the
            // settings.
            None => {
                self.run("DELETE FROM meta WHERE name IN (?1, ?2)", [EXCLUDE_MARK, EXCLUDE_REPORT])
                    .map(drop)?;
            }
            Some(mark) => self.set_meta(EXCLUDE_MARK, mark)?,
        }
        Ok(())
    }
}

/// A hash, because the rules themselves are private: they name the excluded paths.
fn mark(rules: &[String]) -> String {
    // Since the second form, spellings of a path are equal. What the first form has missed is checked once more.
    Sha256::digest(format!("2\n{}", rules.join("\n"))).iter().map(|byte| format!("{byte:02x}")).collect()
}
