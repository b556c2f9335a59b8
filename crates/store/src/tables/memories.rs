//! Memories: the evidence of sessions, the words by which a search finds them, and the user's decisions.
//!
//! No table holds a memory itself. It is all evidence with one id, joined by `core::memory`. So a memory goes with the last
//! session that shows it. Words are rows of a plain table and no second full-text index. The same foreign key removes
//! them, and the table tells how many memories of a project have a word.

use std::collections::BTreeSet;

use watchbill_core::history::rows::PlanEventKind;
use watchbill_core::memory::likeness::words;
use watchbill_core::memory::signals::Signal;
use watchbill_core::memory::{Edit, EditKind, MemoryKind};

use super::{At, FileKey, SessionKey, bits, count};
use crate::{StoreError, WriteTransaction};

mod read;

pub use read::Found;

pub(crate) const V8: &str = "
-- What a session shows of a memory: the finding of one rule. All rows with one id are one memory.
CREATE TABLE IF NOT EXISTS memory_evidence (
    memory     INTEGER NOT NULL,   -- hash of project, rule and what was found
    session    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    project    INTEGER NOT NULL,   -- hash of memory_sessions.place
    kind       TEXT NOT NULL,      -- fix, correction, refusal, command, hot_file, plan, note
    batch      TEXT NOT NULL,      -- batches.batch
    byte       INTEGER,            -- where the record begins in the session's transcript
    at         INTEGER NOT NULL,
    times      INTEGER NOT NULL,   -- how often the session shows it
    text       TEXT NOT NULL,
    path       TEXT,               -- relative to memory_sessions.root
    symptom    TEXT,               -- an error line without what differs from run to run
    importance TEXT NOT NULL,      -- medium, high
    suspect    INTEGER NOT NULL,   -- 1: it may hold text that the person did not write
    PRIMARY KEY (memory, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS memory_evidence_session ON memory_evidence (session);
CREATE INDEX IF NOT EXISTS memory_evidence_path ON memory_evidence (project, path);

-- The words by which a prompt finds a memory.
CREATE TABLE IF NOT EXISTS memory_words (
    project INTEGER NOT NULL,
    word    TEXT NOT NULL,
    memory  INTEGER NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    PRIMARY KEY (project, word, memory, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS memory_words_session ON memory_words (session);

-- What the person decided about a memory. A text is there only if the person wrote one.
CREATE TABLE IF NOT EXISTS memory_edits (
    memory  INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    what    TEXT NOT NULL,         -- added, accepted, rejected, edited, forgotten
    at      INTEGER NOT NULL,
    text    TEXT,
    path    TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS memory_edits_project ON memory_edits (project);

-- The project of a session.
CREATE TABLE IF NOT EXISTS memory_sessions (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    project INTEGER NOT NULL,      -- hash of the place
    place   TEXT NOT NULL,         -- the repository's common git folder, else the working folder
    root    TEXT NOT NULL          -- the folder that paths are relative to
) STRICT;
CREATE INDEX IF NOT EXISTS memory_sessions_project ON memory_sessions (project);

-- Sessions with an ended turn that the rules have not seen.
CREATE TABLE IF NOT EXISTS memory_due (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE
) STRICT;
INSERT OR IGNORE INTO memory_due SELECT DISTINCT session FROM batches WHERE status <> 'active';
";

pub(crate) const V9: &str = "
-- The record that the user marked, for a memory that was added there. The memory goes with its session.
ALTER TABLE memory_edits ADD COLUMN session INTEGER REFERENCES sessions (id) ON DELETE CASCADE;
ALTER TABLE memory_edits ADD COLUMN batch TEXT;          -- batches.batch
ALTER TABLE memory_edits ADD COLUMN byte INTEGER;        -- where the record begins in the session's transcript
ALTER TABLE memory_edits ADD COLUMN record_at INTEGER;
CREATE INDEX memory_edits_session ON memory_edits (session);
";

pub(crate) const V12: &str = "
-- The only turn that has changed since the rules saw the session. None: they look at the whole session.
ALTER TABLE memory_due ADD COLUMN batch TEXT;
-- What the rules keep of the session's earlier turns, as JSON. None: they look at the whole session.
ALTER TABLE memory_sessions ADD COLUMN rules TEXT;
";

pub(crate) const V13: &str = "
-- What the session left open, a line each, when the rules saw it last.
ALTER TABLE memory_sessions ADD COLUMN open_ends TEXT;
INSERT OR IGNORE INTO memory_due (session) SELECT DISTINCT session FROM batches WHERE status <> 'active';
";

/// The characters of all turns together that the rules must see, a line each.
const MAX_DUE_CHARACTERS: i64 = 2_000;

/// Where a session works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlace {
    /// Hash of `place`.
    pub project: u64,
    /// The repository's common git folder, else the working folder.
    pub place: String,
    /// The folder that paths are relative to.
    pub root: String,
}

impl WriteTransaction<'_> {
    /// Notes that the rules must see a turn of a session, or the whole session. Some dozens of turns are the whole session.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_memory_due(&mut self, session: SessionKey, batch: Option<&str>) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO memory_due (session, batch) VALUES (?1, ?2)
             ON CONFLICT (session) DO UPDATE SET batch = CASE
                WHEN instr(char(10) || batch || char(10), char(10) || excluded.batch || char(10)) THEN batch
                WHEN length(batch) < ?3 THEN batch || char(10) || excluded.batch
             END",
            (session, batch, MAX_DUE_CHARACTERS),
        )
        .map(drop)
    }

    /// Something was stored of a plan. If the plan is approved, the rules must see the session again: its text, its approval and its
    /// turn come in any order.
    pub(super) fn note_plan(&mut self, session: SessionKey, plan: &str) -> Result<(), StoreError> {
        let approved: bool = self.one(
            "SELECT EXISTS (SELECT 1 FROM plan_words WHERE session = ?1 AND plan = ?2 AND word = ?3)",
            (session, plan, PlanEventKind::Approved.as_str()),
        )?;
        if approved { self.note_memory_due(session, None) } else { Ok(()) }
    }

    /// The session is due no longer.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn clear_memory_due(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.run("DELETE FROM memory_due WHERE session = ?1", [session]).map(drop)
    }

    /// Replaces what the rules found in a session. Findings that the user has forgotten are left out. The session is due no longer.
    /// What a model found stays: it was asked about a turn once. `rules` is what the rules keep for the next turn.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_evidence(
        &mut self,
        session: SessionKey,
        place: &ProjectPlace,
        found: &[Signal],
        rules: Option<&str>,
    ) -> Result<(), StoreError> {
        self.drop_evidence_of_rules(session)?;
        self.clear_memory_due(session)?;
        self.run(
            "INSERT OR REPLACE INTO memory_sessions (session, project, place, root, rules) VALUES (?1, ?2, ?3, ?4, ?5)",
            (session, bits(place.project), &place.place, &place.root, rules),
        )?;
        for signal in found {
            self.put_signal(session, place, signal)?;
        }
        Ok(())
    }

    /// Stores what the session left open. Call it after [`put_evidence`](Self::put_evidence).
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_open_ends(&mut self, session: SessionKey, ends: &[String]) -> Result<(), StoreError> {
        self.run("UPDATE memory_sessions SET open_ends = ?2 WHERE session = ?1", (session, ends.join("\n")))
            .map(drop)
    }

    /// Replaces single findings of a session: the stored one, if there is one, and what stands in its place. The session is due no
    /// longer.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn change_evidence(
        &mut self,
        session: SessionKey,
        place: &ProjectPlace,
        changes: &[(Option<Signal>, Option<Signal>)],
        rules: &str,
    ) -> Result<(), StoreError> {
        self.clear_memory_due(session)?;
        self.run("UPDATE memory_sessions SET rules = ?2 WHERE session = ?1", (session, rules))?;
        for (stored, found) in changes.iter().filter(|(stored, found)| stored != found) {
            if let Some(stored) = stored {
                self.run(
                    "DELETE FROM memory_evidence WHERE memory = ?1 AND session = ?2",
                    (bits(stored.id), session),
                )?;
                for word in words_of(stored) {
                    self.run(
                        "DELETE FROM memory_words WHERE project = ?1 AND word = ?2 AND memory = ?3 AND session = ?4",
                        (bits(place.project), word, bits(stored.id), session),
                    )?;
                }
            }
            if let Some(found) = found {
                self.put_signal(session, place, found)?;
            }
        }
        Ok(())
    }

    /// Stores a finding. If another turn of the session shows it too, it counts once more, with its newer text.
    pub(super) fn put_signal(
        &mut self,
        session: SessionKey,
        place: &ProjectPlace,
        signal: &Signal,
    ) -> Result<(), StoreError> {
        let stored = self.run(
            "INSERT INTO memory_evidence (memory, session, project, kind, batch, byte, at, times, text, path, symptom,
                importance, suspect)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
             WHERE NOT EXISTS (SELECT 1 FROM memory_edits WHERE memory = ?1 AND what = 'forgotten')
             ON CONFLICT (memory, session) DO UPDATE SET batch = excluded.batch, byte = excluded.byte, at = excluded.at,
                times = times + excluded.times, text = excluded.text, importance = excluded.importance,
                suspect = max(suspect, excluded.suspect)",
            rusqlite::params![
                bits(signal.id),
                session,
                bits(place.project),
                signal.kind.as_str(),
                &*signal.batch,
                signal.byte.map(count),
                At(signal.at),
                count(signal.times),
                signal.text,
                signal.path,
                signal.symptom,
                signal.importance.as_str(),
                signal.suspect
            ],
        )?;
        for word in words_of(signal).iter().filter(|_| stored > 0) {
            self.run(
                "INSERT OR IGNORE INTO memory_words (project, word, memory, session) VALUES (?1, ?2, ?3, ?4)",
                (bits(place.project), word, bits(signal.id), session),
            )?;
        }
        Ok(())
    }

    /// A model gives its findings kinds of their own.
    fn drop_evidence_of_rules(&mut self, session: SessionKey) -> Result<(), StoreError> {
        let kinds = MemoryKind::OF_MODEL.map(|kind| format!("'{}'", kind.as_str())).join(", ");
        let rules = format!("DELETE FROM memory_evidence WHERE session = ?1 AND kind NOT IN ({kinds})");
        self.run_composed(&rules, [session])?;
        self.run(
            "DELETE FROM memory_words WHERE session = ?1
                AND memory NOT IN (SELECT memory FROM memory_evidence WHERE session = ?1)",
            [session],
        )
        .map(drop)
    }

    fn drop_evidence(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.run("UPDATE memory_sessions SET open_ends = NULL WHERE session = ?1", [session])?;
        self.run("DELETE FROM memory_evidence WHERE session = ?1", [session])?;
        self.run("DELETE FROM memory_words WHERE session = ?1", [session])?;
        Ok(())
    }

    /// Rows of the file's session are removed: so are its evidence and its told lines. The rules see the session again.
    pub(crate) fn drop_memories_of(&mut self, file: FileKey) -> Result<(), StoreError> {
        let session: SessionKey = self.one("SELECT session FROM files WHERE id = ?1", [file])?;
        self.drop_memories_of_session(session)
    }

    /// The same for a session. The rules look at all of it again.
    pub(crate) fn drop_memories_of_session(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.drop_evidence(session)?;
        self.drop_summary(session)?;
        self.run("DELETE FROM said WHERE source = ?1", [session])?;
        self.run("UPDATE memory_sessions SET rules = NULL WHERE session = ?1", [session])?;
        self.note_memory_due(session, None)
    }

    /// Removes the user's texts of memories that no session shows any more. The bare decisions stay, so that a rejected
    /// memory does not come back.
    pub(crate) fn drop_edits_without_evidence(&mut self) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM memory_edits WHERE what = 'edited'
                AND NOT EXISTS (SELECT 1 FROM memory_evidence e WHERE e.memory = memory_edits.memory)",
            [],
        )
        .map(drop)
    }

    /// Stores the user's decision about a memory. A forgotten one loses its evidence and its told lines.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_memory_edit(&mut self, project: u64, edit: &Edit) -> Result<(), StoreError> {
        let memory = bits(edit.memory);
        self.run(
            "INSERT OR REPLACE INTO memory_edits (memory, project, what, at, text, path, session, batch, byte, record_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT id FROM sessions WHERE session_id = ?7), ?8, ?9, ?10)",
            rusqlite::params![
                memory,
                bits(project),
                edit.what.as_str(),
                At(edit.at),
                edit.text,
                edit.path,
                edit.mark.as_ref().map(|mark| &*mark.session),
                edit.mark.as_ref().map(|mark| &*mark.batch),
                edit.mark.as_ref().and_then(|mark| mark.byte).map(count),
                edit.mark.as_ref().map(|mark| At(mark.at))
            ],
        )?;
        if edit.what == EditKind::Forgotten {
            for sql in [
                // It may hold the text.
                "UPDATE memory_sessions SET rules = NULL
                    WHERE session IN (SELECT session FROM memory_evidence WHERE memory = ?1)",
                "DELETE FROM memory_evidence WHERE memory = ?1",
                "DELETE FROM memory_words WHERE memory = ?1",
                "DELETE FROM said WHERE memory = ?1",
            ] {
                self.run(sql, [memory])?;
            }
            self.set_meta(super::meta_names::CLEANING_DUE, "1")?;
        }
        Ok(())
    }
}

/// The words by which a search finds a finding.
fn words_of(signal: &Signal) -> BTreeSet<String> {
    let name = signal.path.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    words(&format!("{} {name}", signal.text))
}
