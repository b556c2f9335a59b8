//! The work of the history's thread: one slice after another, the most urgent first.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_store::StoreError;

use super::archiving::{ARCHIVE_EVERY, archive_one, look};
use super::behind_files;
use super::grown_files::GrownFilesReceiver;
use super::hook_queue::HookQueueReceiver;
use super::intake::Intake;
use super::long_work::{self, Damage};
use super::model_queue::ModelQueue;
use super::queues::Queues;
use super::recoverer::Recoverer;
use super::refusal::{SliceError, require_writer};
use super::retry::Retry;
use super::schedule::Schedule;
use super::task::{HistoryParts, OnRemoved, OnSettled, Task};
use super::wal_copy::WalCopy;
use crate::archive::archive_work::ArchiveWork;
use crate::history_progress::HistoryState;
use crate::memory::learn::learn_one;
use crate::removal::request::Removal;

/// Pages of the index that are merged in one slice: some milliseconds of work.
const TIDY_PAGES: u32 = 100;

/// The pending work, and everything that the work needs.
pub(super) struct Worker {
    parts: HistoryParts,
    intake: Intake,
    queues: Queues,
    hook_events: HookQueueReceiver,
    /// Pending removals, each with the receiver of its outcome.
    removals: Vec<(Removal, OnRemoved)>,
    /// To call when everything that the thread knows is stored.
    settling: Vec<OnSettled>,
    /// The pause after the store has refused.
    retry: Retry,
    /// The index is damaged, or may be, and was not rebuilt yet.
    damage: Option<Damage>,
    /// The slice has stored something.
    wrote: bool,
    /// All files must be compared with the store, as soon as it can be written.
    everything: bool,
    /// The history has not begun, or another process keeps it.
    at_rest: bool,
    /// A file existed and could not be read. The engine will not send it again.
    missed: bool,
    schedule: Schedule,
    recoverer: Recoverer,
    archiving: Option<ArchiveWork>,
    /// Large pieces of the index may wait to be merged.
    untidy: bool,
    /// Turns may have ended that the rules of memories have not seen.
    unlearned: bool,
    /// Asks the model about turns that the rules have seen.
    model: Arc<ModelQueue>,
    log: WalCopy,
}

impl Worker {
    pub fn new(
        parts: HistoryParts,
        grown: GrownFilesReceiver,
        hook_events: HookQueueReceiver,
        model: Arc<ModelQueue>,
    ) -> Self {
        Self {
            parts,
            intake: Intake::default(),
            queues: Queues::new(grown),
            hook_events,
            removals: Vec::new(),
            settling: Vec::new(),
            retry: Retry::default(),
            damage: None,
            wrote: false,
            everything: false,
            at_rest: true,
            missed: false,
            schedule: Schedule::default(),
            recoverer: Recoverer::default(),
            archiving: None,
            untidy: false,
            unlearned: false,
            model,
            log: WalCopy::default(),
        }
    }

    pub fn run(mut self, inbox: &Receiver<Task>) {
        loop {
            let task = match self.time_left() {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(span) => inbox.recv_timeout(span),
            };
            match task {
                Ok(task) => self.take(task),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(task) = inbox.try_recv() {
                self.take(task);
            }
            self.run_slice();
        }
    }

    /// Does one slice and handles its outcome.
    fn run_slice(&mut self) {
        self.publish_progress();
        self.wrote = false;
        match self.slice() {
            Err(refusal) => self.refused(refusal),
            // A slice that wrote nothing does not prove that the store can be written, unless no work is left.
            Ok(()) if self.wrote || self.retry.until().is_none() && !self.has_work() => {
                self.parts.note_trouble(None)
            }
            Ok(()) => {}
        }
        self.publish_progress();
        self.answer_waiting();
        self.log.copy(&self.parts.shared_store);
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::FilesGrew => self.queues.receiver.tell(),
            Task::Remove(removal, reply) => self.removals.push((removal, reply)),
            Task::WaitUntilStored(reply) => {
                self.settling.push(reply);
                // Not before the history has begun, because it would delay the roster. `Begin` looks at everything.
                self.everything |= !self.at_rest;
            }
            Task::Damaged => self.damage = self.damage.or(Some(Damage::Suspected)),
            Task::HookEvents | Task::Stored => {}
            Task::Settings(settings) => {
                let parts = &mut self.parts;
                (parts.settings, parts.recovery, parts.archive, parts.memory) =
                    (settings.history, settings.recovery, settings.archive, settings.memory);
                // The states of files come from the old settings. Timed work is planned anew.
                self.intake.forget();
                self.archiving = None;
                (self.schedule.recover, self.schedule.archive) = (None, None);
                // A model that is chosen now is asked about turns that end from now on.
                self.unlearned = true;
            }
            Task::Begin => {
                (self.everything, self.untidy, self.unlearned, self.at_rest) = (true, true, true, false);
                self.schedule.archive = self.parts.archive.enabled.then(|| self.parts.clock.now());
            }
        }
    }

    fn has_work(&self) -> bool {
        self.queues.time_left().is_some() || self.has_work_now()
    }

    fn has_work_now(&self) -> bool {
        self.everything
            || self.untidy
            || self.damage.is_some()
            || self.archiving.is_some()
            || !(self.hook_events.is_empty() && self.queues.are_empty())
    }

    /// How long the thread may sleep; `None`: until the next task.
    fn time_left(&self) -> Option<Duration> {
        let clock = &self.parts.clock;
        match (self.has_work(), self.retry.until()) {
            (true, Some(until)) => Some(clock.until(until)),
            (true, None) if self.has_work_now() => Some(Duration::ZERO),
            (_, None) if self.unlearned && !self.at_rest => Some(Duration::ZERO),
            _ => {
                let due = self.schedule.next().map(|at| clock.until(at));
                due.into_iter().chain(self.queues.time_left()).min()
            }
        }
    }

    /// One piece of work, the most urgent first.
    fn slice(&mut self) -> Result<(), SliceError> {
        let now = self.parts.clock.now();
        self.schedule.follow_clock(now);
        // Removals come before the pause: their callers wait, and must hear of a refusal at once.
        self.remove(now);
        if self.retry.waits(now) {
            return Ok(());
        }
        if self.damage.is_some() {
            return self.repair();
        }
        if !self.hook_events.is_empty() {
            return self.store_hook_events(now);
        }
        if self.everything {
            (self.everything, self.missed) = (false, false);
            return self.find_what_is_behind(now);
        }
        let batch = self.queues.next();
        if !batch.paths.is_empty() {
            let read = self.intake.read(&self.parts, &batch.paths)?;
            self.wrote |= read.wrote;
            self.missed |= read.missed;
            self.queues.done(batch, read.done);
            self.unlearned |= read.wrote;
            self.schedule_recovery(now);
            return Ok(());
        }
        if self.untidy {
            self.untidy = require_writer(&mut self.parts.shared_store.in_turn("history: tidy"))?
                .tidy_index(TIDY_PAGES)?;
            return Ok(());
        }
        if self.schedule.recover.is_some_and(|at| at <= now) {
            self.schedule.recover = None;
            return self.recover(now);
        }
        if self.unlearned && !self.at_rest {
            return self.learn();
        }
        self.archive(now)
    }

    /// Publishes how up to date the history is. After a file could not be read that is unknown, and readers must
    /// look.
    fn publish_progress(&self) {
        let unsure = self.at_rest || self.missed || self.damage.is_some() || self.retry.until().is_some();
        self.parts.reach.set(if unsure {
            HistoryState::Unknown
        } else if self.everything || !self.queues.are_empty() {
            HistoryState::Behind
        } else {
            HistoryState::Current
        });
    }

    /// The rules see one session with new ended turns. No other work waits, except archiving.
    fn learn(&mut self) -> Result<(), SliceError> {
        let mut shared_store = self.parts.shared_store.in_turn("history: learn");
        let store = require_writer(&mut shared_store)?;
        let enabled = self.parts.memory.enabled;
        let HistoryParts { fs, settings, memory, clock, .. } = &self.parts;
        self.unlearned = enabled && learn_one(store, &**fs, settings, memory, clock.now())?;
        if !self.unlearned {
            self.model.wake();
        }
        Ok(())
    }

    /// Carries out the pending removals and gives each outcome to its receiver.
    fn remove(&mut self, now: Timestamp) {
        for (removal, reply) in std::mem::take(&mut self.removals) {
            self.model.cancel();
            let begun = long_work::remove(&self.parts, &removal, now);
            // A question that was made ready meanwhile may be about a removed turn.
            self.model.cancel();
            if begun.is_ok() {
                // The states of files and the archiving plan may belong to removed sessions.
                self.intake.forget();
                if self.archiving.take().is_some() {
                    self.schedule.archive = Some(now);
                }
                // Transcripts of a session that may be stored again are behind.
                self.everything |= matches!(removal, Removal::RememberAgain(_));
            }
            reply(begun.and_then(|outcome| outcome));
        }
    }

    fn repair(&mut self) -> Result<(), SliceError> {
        if long_work::rebuild_if_damaged(&self.parts, &mut self.damage, self.retry.is_first())? {
            (self.everything, self.untidy, self.wrote) = (true, true, true);
        }
        self.retry.done();
        Ok(())
    }

    fn find_what_is_behind(&mut self, now: Timestamp) -> Result<(), SliceError> {
        // Newly excluded data goes before anything is read.
        if long_work::leave_out(&self.parts, now)? {
            // Earlier hook events have taken files up, whose rows and keys may be gone by now.
            self.intake.forget();
        }
        let (paths, many) = behind_files::find_behind(&self.parts)?;
        self.untidy |= many;
        self.queues.set_behind(paths);
        self.schedule_recovery(now);
        Ok(())
    }

    /// Packs or drops one transcript. No other work waits.
    fn archive(&mut self, now: Timestamp) -> Result<(), SliceError> {
        if self.schedule.archive.is_some_and(|at| at <= now) {
            self.schedule.archive = Some(now + ARCHIVE_EVERY);
            let (due, exclude) = look(&self.parts, now)?;
            self.everything |= exclude;
            self.archiving = Some(due);
        }
        match self.archiving.as_mut().filter(|due| !due.is_done()) {
            Some(due) => archive_one(&self.parts, due, now),
            None => self.archiving = None,
        }
        Ok(())
    }

    fn store_hook_events(&mut self, now: Timestamp) -> Result<(), SliceError> {
        let events = self.hook_events.step(|| (self.parts.journal)(now));
        let (wrote, grown) = self.intake.store_hook_events(&self.parts, events)?;
        self.wrote = wrote;
        grown.into_iter().for_each(|path| self.queues.add(path));
        self.hook_events.stored();
        self.unlearned |= self.wrote;
        self.schedule_recovery(now);
        Ok(())
    }

    /// New rows were stored: plans a check, because a turn in them may never end.
    fn schedule_recovery(&mut self, now: Timestamp) {
        let at = now + self.parts.recovery.every;
        self.schedule.recover.get_or_insert(at);
        self.recoverer.schedule_check(at);
    }

    fn recover(&mut self, now: Timestamp) -> Result<(), SliceError> {
        // A minute has passed since something was read, and the thread may now sleep for long.
        self.parts.fs.close_unread();
        let mut shared_store = self.parts.shared_store.in_turn("history: recover");
        let store = require_writer(&mut shared_store)?;
        let living = self.parts.living.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.schedule.recover = self.recoverer.correct_some(store, self.parts.recovery, &living, now)?;
        // A turn that was ended now is to be learned.
        self.unlearned = true;
        Ok(())
    }

    /// Answers waiting socket clients when no work is left, or when no work can be done.
    pub(super) fn answer_waiting(&mut self) {
        if self.settling.is_empty() {
            return;
        }
        let settled = match self.parts.shared_store.trouble() {
            Some(trouble) if self.retry.until().is_some() => {
                Err(ApiError::new(ErrorCode::Unreadable, trouble.to_string()))
            }
            _ if self.at_rest || self.has_work() => return,
            _ => Ok(()),
        };
        self.settling.drain(..).for_each(|reply| reply(settled.clone()));
    }

    /// The slice failed: decides which work to repeat and which to give up.
    pub(super) fn refused(&mut self, refusal: SliceError) {
        self.intake.void();
        match refusal {
            SliceError::NotOurs => {
                // The process that writes looks at everything. This thread will too, if the store becomes ours.
                (self.everything, self.untidy) = (false, false);
                self.intake.forget();
                self.at_rest = true;
                let lost = ApiError::new(ErrorCode::NotReady, "another process holds the store now");
                self.settling.drain(..).for_each(|reply| reply(Err(lost.clone())));
                self.log = WalCopy::default();
                self.hook_events.clear();
                self.queues.clear();
                self.damage = None;
                self.parts.note_trouble(None);
            }
            SliceError::Store(error) => {
                // A locked or read-only store refuses before the costly work.
                let at_once = matches!(error, StoreError::Locked { .. } | StoreError::ReadOnly { .. });
                let dear = self.damage.is_some() && !at_once;
                self.retry.refused(self.parts.clock.now(), dear);
                if let StoreError::IndexDamaged { .. } = error {
                    self.damage = Some(Damage::Met);
                }
                self.parts.note_trouble(Some(&error.to_string()));
                self.everything = true;
            }
        }
    }
}

impl Drop for Worker {
    /// From here on this process keeps no history, also after a panic.
    fn drop(&mut self) {
        self.parts.reach.set(HistoryState::Unknown);
    }
}

#[cfg(test)]
mod tests;
