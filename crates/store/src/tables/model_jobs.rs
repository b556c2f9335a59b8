//! Turns and sessions that a model is asked about: what waits, and how it went. A turn has one row, so it is asked about once. The
//! row of a session has an empty `batch`. After a later turn the session waits again, and its earlier questions have rows of their own.

use rusqlite::{Connection, Params, Row};
use watchbill_core::memory::Signal;
use watchbill_core::memory::model::queue::{JobState, NEWEST};
use watchbill_core::time::Timestamp;

use super::memories::ProjectPlace;
use super::{At, SessionKey, count, shared, time, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V10: &str = "
-- Ended turns that the chosen model is asked about.
CREATE TABLE IF NOT EXISTS model_jobs (
    session    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    batch      TEXT NOT NULL,      -- batches.batch
    ended_at   INTEGER NOT NULL,   -- when the turn ended; the newest comes first
    state      TEXT NOT NULL,      -- queued, running, done, failed, skipped
    wanted     INTEGER NOT NULL,   -- 1: the user wants it, however old it is
    tries      INTEGER NOT NULL,   -- how often the model was reached
    at         INTEGER NOT NULL,   -- since when it has that state
    millis     INTEGER NOT NULL,   -- what all tries took
    tokens_in  INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    micro_usd  INTEGER NOT NULL,
    error      TEXT,               -- why the last try failed
    UNIQUE (session, batch)
) STRICT;
CREATE INDEX IF NOT EXISTS model_jobs_newest ON model_jobs (ended_at);
CREATE INDEX IF NOT EXISTS model_jobs_state ON model_jobs (state, at);
CREATE INDEX IF NOT EXISTS model_jobs_wanted ON model_jobs (ended_at) WHERE wanted = 1 AND state = 'queued';
";

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelJobRow {
    /// The session.
    pub session: SessionKey,
    /// The turn; empty for the whole session.
    pub batch: std::sync::Arc<str>,
    /// When the turn ended.
    pub ended_at: Timestamp,
    /// Where the job stands.
    pub state: JobState,
    /// The user wants it, however old it is.
    pub is_wanted: bool,
    /// How often the model was reached.
    pub tries: u64,
    /// From when on the model may be asked. `None` while a turn of the session runs.
    pub due_at: Option<Timestamp>,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// The state from here on.
    pub state: JobState,
    /// The tries from here on.
    pub tries: u64,
    /// Its time, in milliseconds.
    pub millis: u64,
    /// Tokens of the question.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// Money, in millionths of a dollar.
    pub micro_usd: u64,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// The jobs in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobCounts {
    /// Those that wait their turn.
    pub queued: u64,
    /// Those that wait until the user wants them.
    pub older: u64,
    /// Those that were given up.
    pub failed: u64,
    /// Whether the model is being asked.
    pub is_running: bool,
    /// The newest failure since the last answer.
    pub last_error: Option<(Timestamp, String)>,
}

/// A turn is due. A session is due when it has ended, or after an hour without a sign of it, but not while a turn runs.
const DUE: &str = "CASE
    WHEN j.batch <> '' OR j.state <> 'queued' THEN 0
    WHEN NOT EXISTS (SELECT 1 FROM batches b WHERE b.session = j.session AND b.status = 'active') THEN
        (SELECT iif(e.ended_at IS NULL, max(coalesce(e.last, 0), j.ended_at) + 3600000, 0)
         FROM v_session_ends e WHERE e.session = j.session)
    END";

const COLUMNS: &str = "session, batch, ended_at, state, wanted, tries";

fn read(row: &Row<'_>) -> rusqlite::Result<ModelJobRow> {
    Ok(ModelJobRow {
        session: row.get(0)?,
        batch: shared(row, 1)?.unwrap_or_default(),
        ended_at: row.get::<_, At>(2)?.0,
        // A state that this version does not know is read as skipped, so the job stays as it is.
        state: row.get::<_, String>(3)?.parse().unwrap_or(JobState::Skipped),
        is_wanted: row.get(4)?,
        tries: uncount(row.get(5)?),
        due_at: time(row, 6)?,
    })
}

impl WriteTransaction<'_> {
    /// Queues a turn, if it was never queued.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn queue_model_job(
        &mut self,
        session: SessionKey,
        batch: &str,
        ended_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT OR IGNORE INTO model_jobs
                (session, batch, ended_at, state, wanted, tries, at, millis, tokens_in, tokens_out, micro_usd)
             SELECT ?1, ?2, ?3, 'queued', 0, 0, ?3, 0, 0, 0, 0
             WHERE NOT EXISTS (SELECT 1 FROM model_jobs WHERE ended_at = ?3 AND batch = ?2)",
            (session, batch, At(ended_at)),
        )
        .map(drop)
    }

    /// Queues a session whose newest request ended then, if the model does not know that one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn queue_summary(&mut self, session: SessionKey, ended_at: Timestamp) -> Result<(), StoreError> {
        self.keep_asked(session, ended_at)?;
        self.queue_model_job(session, "", ended_at)?;
        self.run(
            "UPDATE model_jobs SET state = 'queued', wanted = 0, tries = 0, ended_at = ?2, at = ?2
             WHERE session = ?1 AND batch = '' AND ended_at < ?2",
            (session, At(ended_at)),
        )
        .map(drop)
    }

    /// A question about a session that was asked gets a row of its own, so that the limit of a day counts it.
    pub(super) fn keep_asked(&mut self, session: SessionKey, before: Timestamp) -> Result<(), StoreError> {
        self.run(
            "UPDATE OR IGNORE model_jobs SET batch = 'asked ' || at, state = 'done'
             WHERE session = ?1 AND batch = '' AND state IN ('done', 'failed') AND ended_at < ?2",
            (session, At(before)),
        )
        .map(drop)
    }

    /// The model is about to be asked. Returns whether the job still waits; if not, it was removed meanwhile.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_model_job(&mut self, job: &ModelJobRow, now: Timestamp) -> Result<bool, StoreError> {
        let changed = self.run(
            "UPDATE model_jobs SET state = 'running', at = ?3 WHERE session = ?1 AND batch = ?2 AND state = 'queued'",
            (job.session, &*job.batch, At(now)),
        )?;
        Ok(changed > 0)
    }

    /// No model is chosen any more: a later one is not asked about these turns.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn skip_model_jobs(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.run(
            "UPDATE model_jobs SET state = 'skipped', at = ?1 WHERE state IN ('queued', 'failed')",
            [At(now)],
        )
        .map(drop)
    }

    /// Ends a try. Returns whether the job was running; if not, it was removed or taken back meanwhile, and nothing is stored.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_model_job(
        &mut self,
        job: &ModelJobRow,
        end: &JobEnd,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = self.run(
            "UPDATE model_jobs SET state = ?3, at = ?4, tries = ?5, millis = millis + ?6, tokens_in = tokens_in + ?7,
                tokens_out = tokens_out + ?8, micro_usd = micro_usd + ?9, error = ?10
             WHERE session = ?1 AND batch = ?2 AND state = 'running'",
            rusqlite::params![
                job.session,
                &*job.batch,
                end.state.as_str(),
                At(now),
                count(end.tries),
                count(end.millis),
                count(end.tokens_in),
                count(end.tokens_out),
                count(end.micro_usd),
                end.error
            ],
        )?;
        Ok(changed > 0)
    }

    /// Adds what a model found in a session. The evidence of the rules stays.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_evidence_of_model(
        &mut self,
        session: SessionKey,
        place: &ProjectPlace,
        found: &[Signal],
    ) -> Result<(), StoreError> {
        found.iter().try_for_each(|signal| self.put_signal(session, place, signal))
    }

    /// Queues jobs again whose program was ended with the question.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn requeue_running_jobs(&mut self) -> Result<(), StoreError> {
        self.run("UPDATE model_jobs SET state = 'queued' WHERE state = 'running'", []).map(drop)
    }

    /// The user wants every job that is due or was given up. Returns how many.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn want_all_model_jobs(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let all = format!(
            "UPDATE model_jobs AS j SET state = 'queued', wanted = 1, tries = 0
             WHERE state IN ('queued', 'failed') AND {DUE} <= ?1"
        );
        let wanted = self.run_composed(&all, [At(now)])?;
        Ok(wanted as u64)
    }
}

/// How many jobs there are of this kind.
fn number(sql: &Connection, which: &str, params: impl Params) -> rusqlite::Result<u64> {
    let text = format!("SELECT count(*) FROM model_jobs j {which}");
    sql.prepare_cached(&text)?.query_row(params, |row| row.get(0).map(uncount))
}

impl Store {
    /// The newest jobs of any state, and the newest one that the user wants.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn model_jobs_to_choose(&self, now: Timestamp) -> Result<Vec<ModelJobRow>, StoreError> {
        self.with_sql(|sql| {
            let columns = format!("SELECT {COLUMNS}, {DUE} AS due_at FROM model_jobs j");
            let newest = format!("{columns} ORDER BY ended_at DESC, rowid DESC LIMIT ?1");
            let mut jobs: Vec<ModelJobRow> = sql
                .prepare_cached(&newest)?
                .query_map([count(NEWEST)], read)?
                .collect::<rusqlite::Result<_>>()?;
            let wanted = format!(
                "{columns} WHERE wanted = 1 AND state = 'queued' AND due_at <= ?1 ORDER BY ended_at DESC LIMIT 1"
            );
            let wanted = sql
                .prepare_cached(&wanted)?
                .query_map([At(now)], read)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            jobs.extend(wanted);
            Ok(jobs)
        })
    }

    /// How many turns were asked about by themselves since a time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn model_jobs_ended_since(&self, since: Timestamp) -> Result<u64, StoreError> {
        self.only_row(
            "SELECT count(*) FROM model_jobs WHERE state IN ('done', 'failed') AND at >= ?1 AND wanted = 0",
            [At(since)],
            |row| row.get(0).map(uncount),
        )
    }

    /// The jobs in numbers. A session that has not ended does not wait yet.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn model_job_counts(&self, now: Timestamp) -> Result<JobCounts, StoreError> {
        let newest = self.model_jobs_to_choose(now)?;
        let oldest = newest.iter().take(NEWEST as usize).map(|job| job.ended_at).min();
        self.with_sql(|sql| {
            let queued = |which: &str| -> rusqlite::Result<u64> {
                let text = format!("WHERE state = 'queued' AND ({which}) AND {DUE} <= ?2");
                number(sql, &text, [At(oldest.unwrap_or_default()), At(now)])
            };
            let error = sql
                .prepare_cached(
                    "SELECT at, error FROM model_jobs WHERE error IS NOT NULL
                        AND at >= coalesce((SELECT max(at) FROM model_jobs WHERE state = 'done'), 0)
                     ORDER BY at DESC LIMIT 1",
                )?
                .query_map([], |row| Ok((row.get::<_, At>(0)?.0, row.get(1)?)))?
                .next();
            Ok(JobCounts {
                queued: queued("wanted = 1 OR ended_at >= ?1")?,
                older: queued("wanted = 0 AND ended_at < ?1")?,
                failed: number(sql, "WHERE state = 'failed'", [])?,
                is_running: number(sql, "WHERE state = 'running'", [])? > 0,
                last_error: error.transpose()?,
            })
        })
    }
}
