//! What is stored of a day: the sessions that did something, with their changes of state, turns and compactions.

use std::ops::Range;

use rusqlite::Row;
use watchbill_core::day::{Change, Turn};
use watchbill_core::time::Timestamp;

use crate::tables::{At, SessionKey, time};
use crate::{Store, StoreError};

/// A session of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaySession {
    /// The session.
    pub key: SessionKey,
    /// The agent's own id.
    pub session_id: String,
    /// Its work chain.
    pub chain_id: Option<String>,
    /// The user's name for the chain, or else its title or its first prompt.
    pub title: Option<String>,
    /// The folder it was launched in, or else the name of its transcript's folder.
    pub folder: Option<String>,
    /// When another session took over, or the roster no longer showed it.
    pub over_at: Option<Timestamp>,
    /// A host of ours ran it, so its prompts are the user's.
    pub is_own: bool,
    /// The newest activity.
    pub active_at: Option<Timestamp>,
}

/// A turn of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayTurn {
    /// When it ran.
    pub turn: Turn,
    /// A person typed its prompt.
    pub is_typed: bool,
    /// A program sent its prompt.
    pub is_program: bool,
}

/// A session that was active since the day began, or worked or waited then.
const SESSIONS: &str = "SELECT s.id, s.session_id, s.chain_id, coalesce(c.name, s.title, s.goal), coalesce(s.cwd, s.project),
        s.superseded_at, iif(s.state = 'ended', s.state_since, NULL),
        EXISTS (SELECT 1 FROM transitions t WHERE t.session = s.id AND t.source IN ('stream', 'pty')), s.active_at
    FROM sessions s LEFT JOIN chains c ON c.chain_id = s.chain_id
    WHERE coalesce(s.created_at < ?2, 1) AND (s.active_at >= ?1 OR coalesce(s.state <> 'ended' OR s.state_since >= ?1, 1)
        AND (SELECT t.state FROM transitions t WHERE t.session = s.id AND t.at < ?1 ORDER BY t.at DESC, t.rowid DESC LIMIT 1)
            IN ('working', 'waiting_for_approval'))
    ORDER BY s.created_at, s.id";

/// The changes of the day, and the last one before it.
const CHANGES: &str = "SELECT at, state, kind, confidence FROM transitions
    WHERE session = ?1 AND at < ?3
        AND at >= coalesce((SELECT max(at) FROM transitions WHERE session = ?1 AND at <= ?2), ?2)
    ORDER BY at, rowid";

/// The turns of the day, and the last one that began before it. A fork holds copies of those from before it.
const TURNS: &str = "SELECT started_at, ended_at, status, active_at, coalesce(origin, 'human') FROM batches b
    WHERE NOT EXISTS (SELECT 1 FROM batches o WHERE o.started_at = b.started_at AND o.batch = b.batch AND o.session < b.session)
        AND session = ?1 AND started_at < ?3
        AND started_at >= coalesce((SELECT max(started_at) FROM batches WHERE session = ?1 AND started_at < ?2), ?2)
    ORDER BY started_at, byte";

impl Store {
    /// The sessions that were active on a day or later, or worked or waited when it began.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn day_sessions(&self, day: &Range<Timestamp>) -> Result<Vec<DaySession>, StoreError> {
        self.rows(SESSIONS, (At(day.start), At(day.end)), |row| {
            Ok(DaySession {
                key: row.get(0)?,
                session_id: row.get(1)?,
                chain_id: row.get(2)?,
                title: row.get(3)?,
                folder: row.get(4)?,
                over_at: time(row, 5)?.into_iter().chain(time(row, 6)?).min(),
                is_own: row.get(7)?,
                active_at: time(row, 8)?,
            })
        })
    }

    /// A session's changes of state on a day, and its state when the day began. Words of a newer version are left out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn day_changes(
        &self,
        session: SessionKey,
        day: &Range<Timestamp>,
    ) -> Result<Vec<Change>, StoreError> {
        let changes: Vec<Option<Change>> =
            self.rows(CHANGES, (session, At(day.start), At(day.end)), change)?;
        Ok(changes.into_iter().flatten().collect())
    }

    /// The reason of a session's state from a time on.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn reason_at(&self, session: SessionKey, at: Timestamp) -> Result<Option<String>, StoreError> {
        let query =
            "SELECT detail FROM transitions WHERE session = ?1 AND at = ?2 ORDER BY rowid DESC LIMIT 1";
        self.row(query, (session, At(at)), |row| row.get(0))
    }

    /// A session's turns on a day, and the last one before.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn day_turns(&self, session: SessionKey, day: &Range<Timestamp>) -> Result<Vec<DayTurn>, StoreError> {
        self.rows(TURNS, (session, At(day.start), At(day.end)), |row| {
            let (began, origin): (At, String) = (row.get(0)?, row.get(4)?);
            let status = row.get::<_, Option<String>>(2)?.and_then(|word| word.parse().ok());
            let turn = Turn {
                began: began.0,
                last: time(row, 3)?.unwrap_or(began.0),
                ended: time(row, 1)?.zip(status),
            };
            let is_typed = matches!(&*origin, "human" | "queued");
            Ok(DayTurn { turn, is_typed, is_program: origin == "program" })
        })
    }

    /// When a session's context was compacted on a day.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn day_compactions(
        &self,
        session: SessionKey,
        day: &Range<Timestamp>,
    ) -> Result<Vec<Timestamp>, StoreError> {
        let query = "SELECT g.started_at FROM files f JOIN segments g ON g.file = f.id
            WHERE f.session = ?1 AND f.subagent IS NULL AND g.number > 0 AND g.started_at >= ?2 AND g.started_at < ?3
            ORDER BY g.started_at";
        self.rows(query, (session, At(day.start), At(day.end)), |row| Ok(row.get::<_, At>(0)?.0))
    }

    /// When the newest turn before a time was last active.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_active_before(&self, at: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let query = "SELECT max(min(coalesce(ended_at, active_at, started_at), ?1 - 1)) FROM batches WHERE started_at < ?1";
        self.only_row(query, [At(at)], |row| time(row, 0))
    }

    /// When the first session of a work chain began.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chain_began(&self, chain: &str) -> Result<Option<Timestamp>, StoreError> {
        self.only_row("SELECT min(created_at) FROM sessions WHERE chain_id = ?1", [chain], |row| time(row, 0))
    }

    /// The byte of a session's transcript at which the newest call or prompt before a time begins.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn byte_at(&self, session: &str, at: Timestamp) -> Result<Option<u64>, StoreError> {
        let query = "SELECT byte FROM (
                SELECT b.at AS at, b.byte AS byte FROM sessions s JOIN activities b ON b.session = s.id
                    WHERE s.session_id = ?1 AND b.subagent IS NULL
                UNION ALL SELECT b.started_at, b.byte FROM sessions s JOIN batches b ON b.session = s.id WHERE s.session_id = ?1
            ) WHERE at <= ?2 AND byte IS NOT NULL ORDER BY at DESC, byte DESC LIMIT 1";
        self.row(query, (session, At(at)), |row| row.get::<_, i64>(0))
            .map(|byte| byte.and_then(|byte| u64::try_from(byte).ok()))
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<Option<Change>> {
    let (state, kind): (String, Option<String>) = (row.get(1)?, row.get(2)?);
    let (at, confidence): (At, String) = (row.get(0)?, row.get(3)?);
    let kind = kind.map(|kind| kind.parse());
    Ok(state.parse().ok().zip(kind.transpose().ok()).map(|(state, kind)| Change {
        at: at.0,
        state,
        kind,
        inferred: confidence == "inferred",
    }))
}
