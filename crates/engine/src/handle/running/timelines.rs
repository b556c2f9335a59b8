//! Questions about timelines. The caller's thread answers them, not the loop: a transcript may be long.

use std::sync::{MutexGuard, PoisonError};

use watchbill_history::query::Gate;
use watchbill_history::query::timeline::{ItemRange, TimelinePlan, TimelineReader, read_newest};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::timeline::{NewestItems, Timeline, TimelinePlace};

use super::Handle;

impl Handle {
    /// A stretch of the timeline of a session's chain.
    ///
    /// # Errors
    /// When the session is not known, its transcript cannot be read, or the engine has stopped.
    pub fn timeline(&self, session: &str, from: Option<u64>, limit: u64) -> Result<Timeline, ApiError> {
        let plan = self.timeline_plan(session)?;
        self.reader().read(&*self.fs, &plan, ItemRange::new(from, limit))
    }

    /// The newest items of a session's chain. If the chain is long, and not read yet or the reader is busy, reads only its end and does
    /// not count the other items. [`Handle::timeline`] counts them.
    ///
    /// # Errors
    /// When the session is not known, its transcript cannot be read, or the engine has stopped.
    pub fn newest_items(&self, session: &str, limit: u64) -> Result<NewestItems, ApiError> {
        let plan = self.timeline_plan(session)?;
        // Another thread may be reading this chain for the first time. Do not wait for it.
        let is_known = self.timelines.try_lock().is_ok_and(|reader| reader.is_cached(&plan));
        if !is_known && let Some(timeline) = read_newest(&*self.fs, &plan, limit) {
            return Ok(NewestItems { counted: false, timeline });
        }
        let timeline = self.reader().read(&*self.fs, &plan, ItemRange::new(None, limit))?;
        Ok(NewestItems { counted: true, timeline })
    }

    /// A stretch of the timeline of one subagent of a session's chain.
    ///
    /// # Errors
    /// When the session or the subagent is not known, its transcript cannot be read, or the engine has stopped.
    pub fn agent_timeline(
        &self,
        session: &str,
        agent: &str,
        from: u64,
        limit: u64,
    ) -> Result<Timeline, ApiError> {
        let plan = self.timeline_plan(session)?;
        self.reader().read_agent(&*self.fs, &plan, agent, ItemRange::new(Some(from), limit))
    }

    /// The place in the timeline of the record at `offset` of a session's transcript, or of its subagent's.
    ///
    /// # Errors
    /// When the session is not known, its transcript cannot be read, or the engine has stopped.
    pub fn timeline_place(
        &self,
        session: &str,
        agent: Option<&str>,
        offset: u64,
    ) -> Result<TimelinePlace, ApiError> {
        let plan = self.timeline_plan(session)?;
        self.reader().place(&*self.fs, &plan, agent, offset)
    }

    fn timeline_plan(&self, session: &str) -> Result<TimelinePlan, ApiError> {
        let (gate, session) = (Gate::of(&self.settings())?, session.to_owned());
        self.ask_loop(move |engine, _| engine.timeline_plan(&gate, &session))?
    }

    fn reader(&self) -> MutexGuard<'_, TimelineReader> {
        self.timelines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
