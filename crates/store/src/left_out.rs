//! Leaving out later: what was stored before the person excluded it is removed, also from the bytes of the file.

mod named;

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};
use watchbill_core::history::Exclude;

use crate::forget::Forgotten;
use crate::tables::archive::ArchiveRow;
use crate::tables::folders::WorkedIn;
use crate::tables::meta::{CLEANING_DUE, LEFT_OUT, LEFT_OUT_SAID};
use crate::tables::{FileKey, SessionKey};
use crate::{Step, Store, StoreError};
use named::Named;

/// What the engine knows without the sessions that are named, if that is less than it knew: the name of a fact, and its
/// bytes.
pub type Rest<'r> =
    &'r dyn Fn(&Store, &BTreeSet<String>) -> Result<Option<(&'static str, Vec<u8>)>, StoreError>;

/// Another mark than that of any rules. Where none were carried out there is none, and nothing to say.
pub(crate) const DUE: &str = "UPDATE meta SET value = '' WHERE name = ?1";

/// What is to go.
#[derive(Debug, Default)]
struct Due {
    /// Sessions as a whole.
    sessions: BTreeSet<String>,
    /// Single transcripts of other sessions.
    files: Vec<(FileKey, String)>,
    /// Single archived transcripts: path, and name of the file.
    archived: Vec<(String, String)>,
    /// What rows of other sessions name.
    named: Named,
}

/// The engine's heads of transcripts that tell of too much: the path, the bytes that are stored, and those instead.
pub type Heads = Vec<(String, Vec<u8>, Vec<u8>)>;

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

    /// Removes everything that is stored of who has `worked` where nothing is to be stored, of transcripts that the rules leave
    /// out, and of tool calls that name what they leave out: rows, index entries, archived files, bytes; `heads` are put in place
    /// of what the engine has kept. What of it is to be stored all the same (tokens; the
    /// rest of a session that has worked elsewhere too) is read again from transcripts that are still there, and so is what
    /// the rules before these have left out. `rest` says
    /// what stays of the engine's facts, `say` what is told of it all.
    ///
    /// # Errors
    /// When the database or the archive cannot be written; then it is to be done again.
    pub fn leave_out(
        &mut self,
        rules: &Exclude,
        worked: WorkedIn,
        heads: &Heads,
        rest: Rest<'_>,
        say: &dyn Fn(&Forgotten) -> String,
    ) -> Result<Forgotten, StoreError> {
        self.writer()?;
        let due = self.due(worked, rules)?;
        let mut gone = self.removal_of(&due.sessions)?;
        let facts = rest(self, &due.sessions)?;
        gone.archived.extend(due.archived.iter().map(|(_, file)| file.clone()));
        gone.files += due.files.len() as u64;
        // Files first, as in `forget`.
        for file in &gone.archived {
            self.remove_archived_file(file)?;
        }
        self.check_keys()?;
        let mut step = self.step()?;
        step.remove_names(&due.sessions)?;
        for session in &due.sessions {
            step.remove_session(session)?;
        }
        if let Some((name, bytes)) = &facts {
            step.put_fact(name, bytes)?;
        }
        for (file, path) in &due.files {
            gone.texts += step.texts_of(*file)?;
            step.remove_file(*file)?;
            step.remove_state(path)?;
        }
        for (path, _) in &due.archived {
            step.remove_archived(path)?;
        }
        for (path, head, instead) in heads {
            step.run("UPDATE states SET head = ?3 WHERE path = ?1 AND head = ?2", (path, head, instead))?;
        }
        let said = step.remove_named(&due.named, &mut gone)?;
        let nothing = gone == Forgotten::default();
        if said > 0 || !heads.is_empty() {
            step.set_meta(CLEANING_DUE, "1")?;
        }
        if !nothing {
            step.set_meta(LEFT_OUT_SAID, &say(&gone))?;
            step.set_meta(CLEANING_DUE, "1")?;
        }
        step.left_out_is_behind()?;
        match rules.patterns() {
            // What was removed once is there again, or is left out by nothing that the settings name.
            [] => drop(step.run("DELETE FROM meta WHERE name IN (?1, ?2)", [LEFT_OUT, LEFT_OUT_SAID])?),
            rules => step.set_meta(LEFT_OUT, &mark(rules))?,
        }
        step.commit()?;
        if !nothing || said > 0 || !heads.is_empty() {
            gone.wiped_later = self.wipe_or_later()?;
        }
        Ok(gone)
    }

    fn due(&self, worked: WorkedIn, rules: &Exclude) -> Result<Due, StoreError> {
        let rule = |path: &str| rules.leaves_out(path);
        let WorkedIn { sessions, subagents, archived: told } = worked;
        let mut due = Due { sessions, ..Due::default() };
        let mut ids = std::collections::HashMap::new();
        self.sessions(&mut |key, row| {
            ids.insert(key, row.session_id);
        })?;
        let mut files = Vec::new();
        self.files(&mut |key, file| {
            if rule(&file.path) || subagents.contains(&file.path) {
                files.push((key, file));
            }
        })?;
        for (key, file) in files {
            match (file.subagent, ids.get(&file.session)) {
                (None, Some(id)) => drop(due.sessions.insert(id.clone())),
                _ => due.files.push((key, file.path)),
            }
        }
        let is_due = |row: &ArchiveRow| {
            rule(row.transcript())
                || [row.transcript(), &row.path].iter().any(|path| subagents.contains(*path))
        };
        for row in self.all_archived()?.into_iter().filter(is_due) {
            match row.subagent {
                None => drop(due.sessions.insert(row.session_id)),
                Some(_) => due.archived.push((row.path, row.file)),
            }
        }
        let whole: BTreeSet<SessionKey> =
            ids.iter().filter(|(_, id)| due.sessions.contains(*id)).map(|(key, _)| *key).collect();
        let removed: BTreeSet<FileKey> = due.files.iter().map(|(key, _)| *key).collect();
        due.named = self.named(rules, &|session, file| {
            whole.contains(&session) || file.is_some_and(|file| removed.contains(&file))
        })?;
        // The archive keeps a transcript whole, with what such a call has read.
        let files = due.named.files();
        let mut paths = told;
        self.files(&mut |key, file| {
            if files.contains(&key) {
                paths.insert(file.path);
            }
        })?;
        for row in self.all_archived()? {
            let goes_already = due.sessions.contains(&row.session_id) || is_due(&row);
            let is_told = [row.transcript(), &row.path].iter().any(|path| paths.contains(*path));
            if is_told && !goes_already {
                due.archived.push((row.path, row.file));
            }
        }
        Ok(due)
    }
}

impl Step<'_> {
    /// Something came into the store at which the rules were not looked: they count as not carried out.
    pub(crate) fn left_out_is_due(&mut self) -> Result<(), StoreError> {
        self.run(DUE, [LEFT_OUT]).map(drop)
    }

    fn texts_of(&mut self, file: FileKey) -> Result<u64, StoreError> {
        let texts: i64 = self.one("SELECT count(*) FROM texts WHERE file = ?1", [file])?;
        Ok(texts.unsigned_abs())
    }
}

/// The rules themselves are nobody's business: what is left out is private.
fn mark(rules: &[String]) -> String {
    // Since the second form spellings of a path are one: what the first has left is looked at once more.
    Sha256::digest(format!("2\n{}", rules.join("\n"))).iter().map(|byte| format!("{byte:02x}")).collect()
}
