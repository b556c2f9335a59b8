//! The work of the history's thread: one slice after another, the most urgent first.

mod behind;
mod outcome;

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use watchbill_core::history::{Heard, HistorySettings};
use watchbill_core::hook::{HookMessage, HookTexts};
use watchbill_core::time::Timestamp;
use watchbill_store::{Access, Store, StoreError};
use watchbill_watch::layout::{Place, below, classify};
use watchbill_watch::tail::TailError;

use super::apart::Damage;
use super::grown::Takes;
use super::historian::{HistorianParts, Settled, Task, Told};
use super::log::Log;
use super::pace::Pace;
use super::retry::Retry;
use super::{HistoryIndex, IndexError, Indexed, Read, Recoverer};
use crate::archive::Due;
use crate::forget::Removal;

/// Within a slice it is asked so often, by bytes, whether somebody waits for the store who must not be kept waiting.
const PIECE: u64 = 64 << 10;
/// Files in one slice.
const SLICE_FILES: usize = 16;
/// Pages of the index that are merged in one slice: some milliseconds of work.
const TIDY_PAGES: u32 = 100;

/// What is to be done, and with what.
pub(super) struct Worker {
    pub(super) parts: HistorianParts,
    pub(super) index: Option<HistoryIndex>,
    takes: Takes,
    /// What has grown and was taken.
    grown: VecDeque<PathBuf>,
    /// What `grown` holds.
    waiting: HashSet<PathBuf>,
    /// Older first, so that the newest texts are the last in the store.
    behind: VecDeque<PathBuf>,
    heard: Vec<HookMessage>,
    /// What is to be forgotten, and who waits for that.
    pub(super) removals: Vec<(Removal, Told)>,
    /// To be told when everything is stored that the thread knows of.
    pub(super) settling: Vec<Settled>,
    /// The store has refused, and is left alone for a while.
    pub(super) retry: Retry,
    /// The index is, or may be, damaged, and was not mended yet.
    pub(super) damage: Option<Damage>,
    /// The slice has stored something.
    pub(super) wrote: bool,
    /// Everything is to be looked at, as soon as the store can be written.
    pub(super) everything: bool,
    /// Nothing was looked for yet, or another process keeps the history.
    pub(super) at_rest: bool,
    /// A file was there and could not be read; nobody tells of it again.
    pub(super) missed: bool,
    /// When it was last looked at the clock.
    pub(super) looked_at: Option<Timestamp>,
    pub(super) recover_at: Option<Timestamp>,
    recoverer: Recoverer,
    pub(super) archive_at: Option<Timestamp>,
    pub(super) archiving: Option<Due>,
    /// Large pieces of the index may wait to be merged.
    pub(super) untidy: bool,
    log: Log,
    pace: Pace,
}

/// Why a slice came to nothing.
pub(super) enum Refusal {
    /// Another process writes, or there is no store.
    NotOurs,
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotWriter { .. } => Self::NotOurs,
            other => Self::Store(other),
        }
    }
}

impl Worker {
    pub fn new(parts: HistorianParts, takes: Takes) -> Self {
        Self {
            parts,
            index: None,
            takes,
            grown: VecDeque::new(),
            waiting: HashSet::new(),
            behind: VecDeque::new(),
            heard: Vec::new(),
            removals: Vec::new(),
            settling: Vec::new(),
            retry: Retry::default(),
            damage: None,
            wrote: false,
            everything: false,
            at_rest: true,
            missed: false,
            looked_at: None,
            recover_at: None,
            recoverer: Recoverer::default(),
            archive_at: None,
            archiving: None,
            untidy: false,
            log: Log::default(),
            pace: Pace::default(),
        }
    }

    pub fn run(mut self, told: &Receiver<Task>) {
        loop {
            let task = match self.patience() {
                None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(span) => told.recv_timeout(span),
            };
            match task {
                Ok(task) => self.take(task),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(task) = told.try_recv() {
                self.take(task);
            }
            self.turn();
        }
    }

    /// One slice, and what came of it.
    fn turn(&mut self) {
        self.say_reach();
        self.wrote = false;
        match self.slice() {
            Err(refusal) => self.refused(refusal),
            // What only looks whether there is anything to write says nothing of the store, unless there is nothing.
            Ok(()) if self.wrote || self.retry.until().is_none() && !self.has_work() => {
                self.note_trouble(None)
            }
            Ok(()) => {}
        }
        self.say_reach();
        self.settle();
        self.log.copy(&self.parts.shelf);
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::Grown => self.takes.tell(),
            Task::Heard(messages) => self.heard.extend(messages),
            Task::Remove(removal, told) => self.removals.push((removal, told)),
            Task::Settle(told) => {
                self.settling.push(told);
                // Until the history has begun it would keep the roster waiting; its beginning looks at everything.
                self.everything |= !self.at_rest;
            }
            Task::Damaged => self.damage = self.damage.or(Some(Damage::Suspected)),
            Task::Stored => {}
            Task::Settings(settings) => {
                let parts = &mut self.parts;
                (parts.settings, parts.recovery, parts.archive) =
                    (settings.history, settings.recovery, settings.archive);
                // What is known of files was read by the other ones; what is due at a time is planned anew.
                (self.index, self.recover_at, self.archive_at, self.archiving) = (None, None, None, None);
            }
            Task::Begin => {
                (self.everything, self.untidy, self.at_rest) = (true, true, false);
                self.archive_at = self.parts.archive.enabled.then(|| self.parts.clock.now());
            }
        }
    }

    fn has_work(&self) -> bool {
        self.takes.patience().is_some() || self.has_work_now()
    }

    fn has_work_now(&self) -> bool {
        self.everything
            || self.untidy
            || self.damage.is_some()
            || self.archiving.is_some()
            || !(self.heard.is_empty() && self.grown.is_empty() && self.behind.is_empty())
    }

    /// How long nothing is to be done; `None`: until something is told.
    fn patience(&self) -> Option<Duration> {
        let clock = &self.parts.clock;
        match (self.has_work(), self.retry.until()) {
            (true, Some(until)) => Some(clock.until(until)),
            (true, None) if self.has_work_now() => Some(Duration::ZERO),
            _ => {
                let due = self.recover_at.into_iter().chain(self.archive_at).min().map(|at| clock.until(at));
                due.into_iter().chain(self.takes.patience()).min()
            }
        }
    }

    /// One piece of work, the most urgent first.
    fn slice(&mut self) -> Result<(), Refusal> {
        let now = self.parts.clock.now();
        self.follow_clock(now);
        // Somebody waits, and is to hear of a refusal at once.
        self.remove(now);
        if self.retry.waits(now) {
            return Ok(());
        }
        if self.damage.is_some() {
            return self.mend();
        }
        if !self.heard.is_empty() {
            return self.hear(now);
        }
        if self.everything {
            (self.everything, self.missed) = (false, false);
            return self.find_what_is_behind(now);
        }
        for path in self.takes.take() {
            if self.waiting.insert(path.clone()) {
                self.grown.push_back(path);
            }
        }
        let urgent = !self.grown.is_empty();
        let queue = if urgent { &mut self.grown } else { &mut self.behind };
        let paths: Vec<PathBuf> = queue.drain(..queue.len().min(SLICE_FILES)).collect();
        if !paths.is_empty() {
            let rest = self.read(&paths, now)?;
            for path in &paths[..paths.len() - rest.len()] {
                self.waiting.remove(path);
            }
            let queue = if urgent { &mut self.grown } else { &mut self.behind };
            rest.into_iter().rev().for_each(|path| queue.push_front(path));
            return Ok(());
        }
        if self.untidy {
            self.untidy = writer(&mut self.parts.shelf.in_turn("history: tidy"))?.tidy_index(TIDY_PAGES)?;
            return Ok(());
        }
        if self.recover_at.is_some_and(|at| at <= now) {
            self.recover_at = None;
            return self.recover(now);
        }
        self.archive(now)
    }

    /// Reads files in one step; gives back those that are not read to their ends.
    fn read(&mut self, paths: &[PathBuf], now: Timestamp) -> Result<Vec<PathBuf>, Refusal> {
        let Self { parts, index, pace, wrote, missed, .. } = self;
        let places = paths.iter().map(|path| place(&parts.roots, path)).collect::<Vec<_>>();
        let mut shelf = parts.shelf.in_turn("history: read");
        let store = writer(&mut shelf)?;
        let index = ready(index, &parts.settings, store)?;
        for (path, place) in paths.iter().zip(&places) {
            if let Some(place) = place {
                index.take_up(store, path, place)?;
            }
        }
        let began = Instant::now();
        let (mut room, mut done) = (pace.bytes(), 0);
        let mut step = store.step()?;
        'slice: for (path, place) in paths.iter().zip(&places) {
            loop {
                let more = match place {
                    Some(_) => match index.read(&*parts.fs, &mut step, path, room.min(PIECE)) {
                        Ok(indexed) => {
                            room = room.saturating_sub(indexed.bytes);
                            *wrote |= indexed.bytes > 0 && !indexed.skipped;
                            let Indexed { bytes, records, texts, .. } = indexed;
                            parts.reach.add(Read { bytes, records, texts });
                            indexed.more
                        }
                        Err(IndexError::Store(error)) => return Err(error.into()),
                        // The engine says what is wrong with the file; it is told again when that changes.
                        Err(IndexError::File(error)) => {
                            *missed |= !matches!(error, TailError::Gone);
                            tracing::debug!(path = %path.display(), %error, "not stored");
                            false
                        }
                    },
                    None => false,
                };
                done += usize::from(!more);
                if room == 0 || parts.shelf.is_wanted() {
                    break 'slice;
                }
                if !more {
                    break;
                }
            }
        }
        step.commit()?;
        drop(shelf);
        pace.took(began.elapsed(), room == 0);
        self.may_get_stuck(now);
        Ok(paths[done..].to_vec())
    }

    fn hear(&mut self, now: Timestamp) -> Result<(), Refusal> {
        let Self { parts, index, heard, wrote, .. } = self;
        let mut shelf = parts.shelf.in_turn("history: hear");
        let store = writer(&mut shelf)?;
        let index = ready(index, &parts.settings, store)?;
        // What is no event of the agent's has been counted by the engine.
        let payloads: Vec<_> =
            heard.iter().filter_map(|message| Some((message, message.parsed().ok()?))).collect();
        for (_, payload) in &payloads {
            // The transcript may know the prompt that the event is about, or may have to be told.
            if let Some(path) = payload.transcript_path.as_deref().map(Path::new)
                && let Some(place) = place(&parts.roots, path)
            {
                index.take_up(store, path, &place)?;
            }
        }
        let mut step = store.step()?;
        for (message, payload) in &payloads {
            let text = String::from_utf8_lossy(&message.payload);
            let Ok(texts) = HookTexts::read(&text) else { continue };
            index.hear(&mut step, Heard { origin: &message.origin, payload, texts: &texts })?;
        }
        step.commit()?;
        *wrote = !payloads.is_empty();
        heard.clear();
        drop(shelf);
        self.may_get_stuck(now);
        Ok(())
    }

    /// Something new was stored: a turn in it may never end.
    fn may_get_stuck(&mut self, now: Timestamp) {
        let at = now + self.parts.recovery.every;
        self.recover_at.get_or_insert(at);
        self.recoverer.look_again_at(at);
    }

    fn recover(&mut self, now: Timestamp) -> Result<(), Refusal> {
        // It is a minute since something was read, and perhaps the last time for long that anybody is awake.
        self.parts.fs.close_unread();
        let mut shelf = self.parts.shelf.in_turn("history: recover");
        let store = writer(&mut shelf)?;
        self.recover_at = self.recoverer.put_right(store, self.parts.recovery, now)?;
        Ok(())
    }
}

/// The store, if it is ours to write.
pub(super) fn writer(shelf: &mut Option<Store>) -> Result<&mut Store, Refusal> {
    match shelf {
        Some(store) if store.access() == Access::Writer => Ok(store),
        _ => Err(Refusal::NotOurs),
    }
}

fn ready<'i>(
    index: &'i mut Option<HistoryIndex>,
    settings: &HistorySettings,
    store: &Store,
) -> Result<&'i mut HistoryIndex, StoreError> {
    // What is known of files holds for the store from which it was taken up.
    index.take_if(|index| !index.is_of(store));
    match index {
        Some(index) => Ok(index),
        none => Ok(none.insert(HistoryIndex::new(settings.clone(), store)?)),
    }
}

fn place(roots: &[PathBuf], path: &Path) -> Option<Place> {
    let relative = roots.iter().find_map(|root| below(root, path))?;
    classify(relative).filter(Place::is_transcript)
}

#[cfg(test)]
mod tests;
