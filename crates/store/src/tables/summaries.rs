//! What the model said of sessions at their ends: a title and a summary.

use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::memory::Summary;
use watchbill_core::time::Timestamp;

use super::{At, SessionKey, shared};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V14: &str = "
-- The title and the summary that the chosen model gave a session at its end.
CREATE TABLE IF NOT EXISTS summaries (
    session      INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    upto         INTEGER NOT NULL,   -- when the newest turn that the model saw ended
    title        TEXT NOT NULL,      -- empty: it has none to propose
    request      TEXT NOT NULL,
    investigated TEXT NOT NULL,
    learned      TEXT NOT NULL,
    completed    TEXT NOT NULL,
    next_steps   TEXT NOT NULL
) STRICT;
";

/// What the model said of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSummary {
    /// The title that it proposes; may be empty.
    pub title: String,
    /// The five fields.
    pub summary: Summary,
    /// The session has not gone on since.
    pub is_current: bool,
}

impl WriteTransaction<'_> {
    /// Stores what the model said of a session, in place of what it said before. `upto`: when the newest turn that it saw ended.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_summary(
        &mut self,
        session: SessionKey,
        upto: Timestamp,
        title: &str,
        summary: &Summary,
    ) -> Result<(), StoreError> {
        let Summary { request, investigated, learned, completed, next_steps } = summary;
        self.run(
            "INSERT OR REPLACE INTO summaries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            rusqlite::params![
                session,
                At(upto),
                title,
                request,
                investigated,
                learned.join("\n"),
                completed,
                next_steps.join("\n")
            ],
        )
        .map(drop)
    }

    /// Removes what the model said of a session, whose rows are removed. It may be asked again.
    pub(super) fn drop_summary(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.run("DELETE FROM summaries WHERE session = ?1", [session])?;
        self.keep_asked(session, Timestamp::from_millis(i64::MAX))?;
        self.run("DELETE FROM model_jobs WHERE session = ?1 AND batch = ''", [session]).map(drop)
    }
}

impl Store {
    /// What the model said of a session.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn model_summary(&self, session: SessionKey) -> Result<Option<ModelSummary>, StoreError> {
        let list = |text: String| if text.is_empty() { Vec::new() } else { vec![text] };
        self.row(
            "SELECT title, request, investigated, learned, completed, next_steps,
                    EXISTS (SELECT 1 FROM v_summaries v WHERE v.session = m.session)
                 FROM summaries m WHERE session = ?1",
            [session],
            |row| {
                let summary = Summary {
                    request: row.get(1)?,
                    investigated: row.get(2)?,
                    learned: list(row.get(3)?),
                    completed: row.get(4)?,
                    next_steps: list(row.get(5)?),
                };
                Ok(ModelSummary { title: row.get(0)?, summary, is_current: row.get(6)? })
            },
        )
    }

    /// The titles that the model proposes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn proposed_titles(&self) -> Result<Vec<(SessionId, Arc<str>)>, StoreError> {
        let query = "SELECT s.session_id, m.title FROM summaries m JOIN sessions s ON s.id = m.session WHERE m.title <> ''";
        self.rows(query, [], |row| {
            Ok((SessionId::new(row.get_ref(0)?.as_str()?), shared(row, 1)?.unwrap_or_default()))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics")]

    use watchbill_core::memory::model::queue::JobState;

    use super::*;
    use crate::OpenMode;
    use crate::tables::model_jobs::JobEnd;

    #[test]
    fn a_dropped_summary_is_asked_for_again_and_its_question_still_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        let at = Timestamp::from_millis;
        let mut step = store.step().unwrap();
        let session = step.session_key(&SessionId::new("s")).unwrap();
        step.queue_summary(session, at(1)).unwrap();
        step.commit().unwrap();
        let job = store.model_jobs_to_choose(at(9)).unwrap().remove(0);
        let end = JobEnd {
            state: JobState::Done,
            tries: 1,
            millis: 1,
            tokens_in: 1,
            tokens_out: 1,
            micro_usd: 0,
            error: None,
        };
        let mut step = store.step().unwrap();
        assert!(step.begin_model_job(&job, at(5)).unwrap());
        assert!(step.end_model_job(&job, &end, at(6)).unwrap());
        step.put_summary(session, at(1), "title", &Summary::default()).unwrap();
        step.drop_memories_of_session(session).unwrap();
        step.queue_summary(session, at(1)).unwrap();
        step.commit().unwrap();
        assert_eq!(store.model_summary(session).unwrap(), None);
        assert_eq!(store.model_jobs_ended_since(at(2)).unwrap(), 1);
        let jobs = store.model_jobs_to_choose(at(9)).unwrap();
        assert!(jobs.iter().any(|job| job.batch.is_empty() && job.state == JobState::Queued), "{jobs:?}");
    }
}
