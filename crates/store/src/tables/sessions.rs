//! Sessions: the columns that the roster shows of each, available before any transcript is read.

use rusqlite::Row;
use watchbill_core::ids::{Agent, SessionId};
use watchbill_core::session::state::State;
use watchbill_core::time::Timestamp;

use super::{At, SessionKey, at, count, time, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- One session: an id that the agent gave, with what the roster shows of it.
CREATE TABLE sessions (
    id            INTEGER PRIMARY KEY,
    session_id    TEXT NOT NULL UNIQUE,  -- the agent's own id
    agent         TEXT NOT NULL DEFAULT 'claude',
    project       TEXT,                  -- name of the folder in which the transcript lies
    cwd           TEXT,
    title         TEXT,                  -- the strongest title known
    goal          TEXT,                  -- first prompt of the person, one line
    summary       TEXT,                  -- first line of the newest answer
    branch        TEXT,
    model         TEXT,
    created_at    INTEGER,
    active_at     INTEGER,               -- newest activity
    state         TEXT,                  -- when last shown
    state_kind    TEXT,
    state_since   INTEGER,
    chain_id      TEXT,
    superseded_by TEXT,                  -- session_id of the one that took over
    superseded_at INTEGER,
    compactions   INTEGER NOT NULL DEFAULT 0,
    row_version   INTEGER,               -- the whole row as this program keeps it
    row           BLOB
) STRICT;
CREATE INDEX sessions_chain ON sessions (chain_id);
CREATE INDEX sessions_active ON sessions (active_at);
";

pub(crate) const V13: &str = "
-- The last sign of a session that recovery found silent for an hour. A later sign makes it void.
ALTER TABLE sessions ADD COLUMN completed_at INTEGER;
";

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionRow {
    /// The agent's own id.
    pub session_id: String,
    /// Whose session it is. One whose agent this version does not know counts as the default one.
    pub agent: Agent,
    /// Name of the transcript's folder.
    pub project: Option<String>,
    /// The folder the session was launched in.
    pub cwd: Option<String>,
    /// The strongest title known.
    pub title: Option<String>,
    /// The user's first prompt, one line.
    pub goal: Option<String>,
    /// First line of the newest answer.
    pub summary: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// Model of the newest answer.
    pub model: Option<String>,
    /// Time of the first record.
    pub created_at: Option<Timestamp>,
    /// Time of the newest activity.
    pub active_at: Option<Timestamp>,
    /// Name of the state when it was last shown.
    pub state: Option<String>,
    /// Name of the kind of state.
    pub state_kind: Option<String>,
    /// Since when it has this state.
    pub state_since: Option<Timestamp>,
    /// The work chain.
    pub chain_id: Option<String>,
    /// The session that superseded it.
    pub superseded_by: Option<String>,
    /// When that happened.
    pub superseded_at: Option<Timestamp>,
    /// Compactions in the session's own file.
    pub compactions: u64,
    /// The whole row in the engine's own format, with the version of that format. A row of another version must be
    /// made anew.
    pub row: Option<(u32, Vec<u8>)>,
}

/// How a session was last shown: the names of its state and of the kind of state.
pub type ShownState<'r> = (Option<&'r str>, Option<&'r str>);

const COLUMNS: &str = "session_id, project, cwd, title, goal, summary, branch, model, created_at, active_at, \
     state, state_kind, state_since, chain_id, superseded_by, superseded_at, compactions, row_version, row, agent";

fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let version: Option<u32> = row.get(17)?;
    let bytes: Option<Vec<u8>> = row.get(18)?;
    Ok(SessionRow {
        session_id: row.get(0)?,
        project: row.get(1)?,
        cwd: row.get(2)?,
        title: row.get(3)?,
        goal: row.get(4)?,
        summary: row.get(5)?,
        branch: row.get(6)?,
        model: row.get(7)?,
        created_at: time(row, 8)?,
        active_at: time(row, 9)?,
        state: row.get(10)?,
        state_kind: row.get(11)?,
        state_since: time(row, 12)?,
        chain_id: row.get(13)?,
        superseded_by: row.get(14)?,
        superseded_at: time(row, 15)?,
        compactions: uncount(row.get(16)?),
        row: version.zip(bytes),
        agent: row.get_ref(19)?.as_str().map(Agent::of)?.unwrap_or_default(),
    })
}

impl WriteTransaction<'_> {
    /// The number of a session. A new session gets one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn session_key(&mut self, session: &SessionId) -> Result<SessionKey, StoreError> {
        let known =
            self.store
                .row("SELECT id FROM sessions WHERE session_id = ?1", [session.as_str()], |row| row.get(0))?;
        match known {
            Some(key) => Ok(key),
            None => {
                self.run("INSERT INTO sessions (session_id) VALUES (?1)", [session.as_str()])?;
                Ok(SessionKey(self.last_id()))
            }
        }
    }

    /// Notes whose session it is.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_agent(&mut self, session: SessionKey, agent: Agent) -> Result<(), StoreError> {
        self.run("UPDATE sessions SET agent = ?2 WHERE id = ?1", (session, agent.as_str())).map(drop)
    }

    /// Stores the roster's columns of a session, in place of earlier ones.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_session(&mut self, row: &SessionRow) -> Result<SessionKey, StoreError> {
        let (version, bytes) = match &row.row {
            Some((version, bytes)) => (Some(*version), Some(bytes.as_slice())),
            None => (None, None),
        };
        let params = rusqlite::params![
            row.session_id,
            row.project,
            row.cwd,
            row.title,
            row.goal,
            row.summary,
            row.branch,
            row.model,
            at(row.created_at),
            at(row.active_at),
            row.state,
            row.state_kind,
            at(row.state_since),
            row.superseded_by,
            at(row.superseded_at),
            count(row.compactions),
            version,
            bytes,
            row.agent.as_str(),
            row.chain_id
        ];
        let known: Option<(SessionKey, bool)> = self.store.row(
            "SELECT id, chain_id IS ?2 FROM sessions WHERE session_id = ?1",
            (&row.session_id, &row.chain_id),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        // In several statements: an upsert, or a statement that returns something, copies the pages that it
        // changes. The chain has its own statement, because its index would be written anew with each change of
        // another column.
        if let Some((key, same_chain)) = known {
            self.run(
                "UPDATE sessions SET
                    project = ?2, cwd = ?3, title = ?4, goal = ?5, summary = ?6, branch = ?7, model = ?8,
                    created_at = ?9, active_at = ?10, state = ?11, state_kind = ?12, state_since = ?13,
                    superseded_by = ?14, superseded_at = ?15, compactions = ?16, row_version = ?17, row = ?18,
                    agent = ?19
                 WHERE session_id = ?1",
                &params[..params.len() - 1],
            )?;
            if !same_chain {
                self.run("UPDATE sessions SET chain_id = ?2 WHERE id = ?1", (key, &row.chain_id))?;
            }
            return Ok(key);
        }
        self.run(
            "INSERT INTO sessions (session_id, project, cwd, title, goal, summary, branch, model, created_at,
                active_at, state, state_kind, state_since, superseded_by, superseded_at, compactions, row_version,
                row, agent, chain_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
            params,
        )?;
        Ok(SessionKey(self.last_id()))
    }

    /// Recovery found that the session has given no sign since then.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn complete_session(&mut self, session: SessionKey, last: Timestamp) -> Result<(), StoreError> {
        self.run("UPDATE sessions SET completed_at = ?2 WHERE id = ?1", (session, At(last)))?;
        Ok(())
    }

    /// Ends the stored state of a session, because the roster no longer shows the session. The state ended with its
    /// last activity.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_shown_state(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.run(
            "UPDATE sessions SET state = ?2, state_kind = NULL, state_since = coalesce(active_at, state_since)
             WHERE session_id = ?1 AND state IS NOT NULL AND state <> ?2",
            (session.as_str(), State::Ended.as_str()),
        )?;
        Ok(())
    }
}

impl Store {
    /// The number of a session, if it is stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_key(&self, session: &SessionId) -> Result<Option<SessionKey>, StoreError> {
        self.row("SELECT id FROM sessions WHERE session_id = ?1", [session.as_str()], |row| row.get(0))
    }

    /// One session.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.row(&format!("SELECT {COLUMNS} FROM sessions WHERE session_id = ?1"), [session.as_str()], read)
    }

    /// Passes every session to `each`, in order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sessions(&self, each: &mut dyn FnMut(SessionKey, SessionRow)) -> Result<(), StoreError> {
        self.rows(&format!("SELECT {COLUMNS}, id FROM sessions ORDER BY id"), [], |row| {
            each(row.get(20)?, read(row)?);
            Ok(())
        })
    }

    /// Passes the last shown state of every session to `each`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn shown_states(
        &self,
        each: &mut dyn FnMut(SessionKey, &str, ShownState<'_>),
    ) -> Result<(), StoreError> {
        self.rows("SELECT id, session_id, state, state_kind FROM sessions", [], |row| {
            let text = |at: usize| row.get_ref(at)?.as_str_or_null().map_err(rusqlite::Error::from);
            each(row.get(0)?, row.get_ref(1)?.as_str()?, (text(2)?, text(3)?));
            Ok(())
        })
    }

    /// A session by its number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_of(&self, session: SessionKey) -> Result<Option<SessionRow>, StoreError> {
        self.row(&format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1"), [session], read)
    }

    /// The sessions with something unfinished, in order of their numbers: turns that go on, calls without a batch,
    /// and sessions that neither ended nor were found silent.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unfinished_sessions(&self) -> Result<Vec<SessionKey>, StoreError> {
        self.rows(
            "SELECT session FROM batches WHERE status = 'active'
                 UNION SELECT session FROM activities WHERE batch IS NULL
                 UNION SELECT session FROM v_session_ends WHERE ended_at IS NULL
                 ORDER BY 1",
            [],
            |row| row.get(0),
        )
    }

    /// The last sign of a session; `None` if it has ended, was found silent, or gave no sign.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_sign(&self, session: SessionKey) -> Result<Option<Timestamp>, StoreError> {
        self.row(
            "SELECT last FROM v_session_ends WHERE session = ?1 AND ended_at IS NULL",
            [session],
            |row| time(row, 0),
        )
        .map(Option::flatten)
    }
}
