//! Where another process writes the store: waits until that one has stored what was there when it was asked for.

mod outstanding;

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use watchbill_core::problem::ProblemKind;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::store::IndexReport;
use watchbill_store::{DATABASE, Mode, Store, StoreError, who};
use watchbill_watch::scan::{Found, scan};

use super::{Progress, STEP_BYTES};
use crate::engine::World;
use crate::left_out::is_due;
use crate::settings::Settings;
use crate::size;
use crate::stored::{FEW, ForgottenSessions, data_dir, refusal};
use outstanding::{Fate, Outstanding};

/// How often is looked how far the other one is.
const STEP: Duration = Duration::from_millis(200);
/// After a look so many times as long as it took nothing is done, where that is longer: thousands of files are outstanding.
const PAUSE: u32 = 10;
/// After so long without anything new the files themselves are looked at again: they may be gone.
const QUIET: Duration = Duration::from_secs(1);
/// It is given up when nothing more has been stored for so long: the other one watches other folders, or hangs. A first scan
/// of 20,000 sessions takes eight seconds on a busy machine, before anything is stored.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes that a slow disk gives in a second: before anything of a large file is stored, the whole of it may have to be read.
const SLOW_DISK: u64 = 10_000_000;
/// Of the files that are behind so many are named.
const NAMED: usize = 3;

/// Waits until everything is stored that is there now; `None` where nobody writes any more. `progress` as for
/// [`run`](super::run). `pid` is the process that writes, where it is known.
///
/// # Errors
/// When the store cannot be read, or the other one does not come to it.
pub fn wait(
    settings: &Settings,
    world: &World,
    pid: Option<u32>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Option<IndexReport>, ApiError> {
    Awaited::list(settings, world, pid)?.wait(PATIENCE, progress)
}

/// What is waited for, and how far it is.
struct Awaited<'w> {
    settings: &'w Settings,
    world: &'w World,
    data_dir: &'w Path,
    /// Who writes, where it is known.
    pid: Option<u32>,
    begun: Instant,
    /// All transcripts of which anything is to be stored, and whether that was behind at first.
    listed: Vec<(Found, bool)>,
    /// What is not stored yet; `None` as long as nobody knows: first the other one has to make the store, and to carry out
    /// what is excluded.
    outstanding: Option<Vec<Outstanding>>,
    forgotten: ForgottenSessions,
    /// Bytes that were outstanding at first.
    total_bytes: u64,
    report: IndexReport,
    /// What shows from outside that the other one works on what is not among the files yet: how many transcripts its engine
    /// has read, and how long a database is that nobody else can look into.
    signs: (usize, u64),
    /// When it was last seen to get on.
    got_on_at: Instant,
}

impl<'w> Awaited<'w> {
    /// Everything that there is now.
    fn list(settings: &'w Settings, world: &'w World, pid: Option<u32>) -> Result<Self, ApiError> {
        let data_dir = data_dir(settings)?;
        let begun = Instant::now();
        let scan = scan(&*world.fs, &settings.roots);
        let problems = scan.problems.iter().filter(|problem| problem.kind != ProblemKind::Missing).count();
        let exclude = &settings.history.exclude;
        let is_wanted =
            |found: &Found| found.kind.is_transcript() && !exclude.leaves_out(&found.path.to_string_lossy());
        Ok(Self {
            settings,
            world,
            data_dir,
            pid,
            begun,
            listed: scan.found.into_iter().filter(is_wanted).map(|found| (found, false)).collect(),
            outstanding: None,
            forgotten: ForgottenSessions::default(),
            total_bytes: 0,
            report: IndexReport { problems: problems as u64, ..IndexReport::default() },
            signs: (0, 0),
            got_on_at: begun,
        })
    }

    fn wait(
        mut self,
        patience: Duration,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Option<IndexReport>, ApiError> {
        loop {
            if Store::take_over(self.data_dir).map_err(|error| refusal(&error))?.is_some() {
                return Ok(None);
            }
            let began = Instant::now();
            // Yet another one may have begun since.
            self.pid = watchbill_store::last_writer(self.data_dir).or(self.pid);
            let quiet = self.got_on_at.elapsed() >= QUIET.min(patience);
            let (gets_on, fault) = match self.look(quiet) {
                Ok(gets_on) => (gets_on, None),
                // It is made at this moment.
                Err(fault @ (StoreError::BeingFilled { .. } | StoreError::Absent { .. })) => {
                    (self.shows((self.signs.0, self.database_bytes())), Some(fault))
                }
                Err(fault) => return Err(refusal(&fault)),
            };
            let bytes = self.total_bytes.saturating_sub(self.left());
            let goes_on = progress(&Progress { bytes, total_bytes: self.total_bytes });
            if !goes_on || self.outstanding.as_ref().is_some_and(Vec::is_empty) {
                return Ok(Some(self.reported(bytes, !goes_on)));
            }
            if gets_on {
                self.got_on_at = Instant::now();
            } else if self.got_on_at.elapsed() >= patience + self.slow_disk() {
                return Err(self.given_up(fault.as_ref()));
            }
            std::thread::sleep(STEP.max(began.elapsed() * PAUSE));
        }
    }

    /// Looks how far the other one is, and says whether it has got on. `quiet`: it has not for a while.
    fn look(&mut self, quiet: bool) -> Result<bool, StoreError> {
        // Opened anew each time: who reads keeps others from wiping bytes out.
        let store = Store::open(self.data_dir, Mode::Read)?;
        let mut gets_on = self.shows((store.most_states()?, self.signs.1));
        gets_on |= self.leave_to_be_forgotten(ForgottenSessions::of(&store)?);
        let outstanding = match self.outstanding.take() {
            Some(mut outstanding) => {
                for file in &mut outstanding {
                    let stored = store.file(&file.found().path.to_string_lossy())?;
                    gets_on |= file.is_stored_otherwise(stored.map(|(_, row)| row.cursor));
                }
                outstanding
            }
            None if is_due(&store, &self.settings.history)? => return Ok(gets_on),
            None => {
                gets_on = true;
                self.first(&store)?
            }
        };
        drop(store);
        gets_on |= self.sort_out(outstanding, quiet);
        Ok(gets_on)
    }

    /// All that may be behind, at the first look.
    fn first(&mut self, store: &Store) -> Result<Vec<Outstanding>, StoreError> {
        let mut cursors = HashMap::new();
        store.files(&mut |_, file| {
            cursors.insert(file.path, file.cursor);
        })?;
        let fs = &*self.world.fs;
        let mut behind = Vec::new();
        for (found, is_behind) in &mut self.listed {
            let stored = cursors.remove(&*found.path.to_string_lossy());
            let mut file = Outstanding::new(found.clone(), stored);
            *is_behind = file.fate(fs, &self.forgotten, false) != Fate::Stored;
            if *is_behind {
                behind.push(file);
            }
        }
        self.total_bytes = behind.iter().map(Outstanding::left).sum();
        self.count();
        tracing::debug!(files = behind.len(), "another process is waited for");
        Ok(behind)
    }

    /// Keeps what is still to be waited for. Says whether that is less than before.
    fn sort_out(&mut self, mut outstanding: Vec<Outstanding>, quiet: bool) -> bool {
        let before = outstanding.len();
        let (fs, forgotten, problems) = (&*self.world.fs, &self.forgotten, &mut self.report.problems);
        let mut keep = |fate: Fate| {
            *problems += u64::from(fate == Fate::Unreadable);
            fate == Fate::Outstanding
        };
        // Few are looked at each time.
        let again = quiet || before <= FEW;
        outstanding.retain_mut(|file| keep(file.fate(fs, forgotten, again)));
        // Of many some each time, as soon as nothing else happens: none of them may ever be stored.
        if quiet || outstanding.len() <= FEW {
            let mut few = FEW;
            outstanding.retain_mut(|file| {
                if few == 0 || !file.is_to_be_looked_into() {
                    return true;
                }
                few -= 1;
                keep(file.look_into(fs, forgotten))
            });
        }
        let less = outstanding.len() < before;
        self.outstanding = Some(outstanding);
        less
    }

    /// Nothing of these is stored any more, and nobody waits for it. Says whether they are others than before.
    fn leave_to_be_forgotten(&mut self, forgotten: ForgottenSessions) -> bool {
        if forgotten == self.forgotten {
            return false;
        }
        self.forgotten = forgotten;
        self.listed.retain(|(found, _)| !self.forgotten.has(found));
        self.count();
        true
    }

    fn count(&mut self) {
        self.report.files = self.listed.len() as u64;
        self.report.skipped = self.listed.iter().filter(|(_, is_behind)| !is_behind).count() as u64;
    }

    /// Notes what shows that the other one works; whether that is something else than before.
    fn shows(&mut self, signs: (usize, u64)) -> bool {
        std::mem::replace(&mut self.signs, signs) != signs
    }

    fn database_bytes(&self) -> u64 {
        std::fs::metadata(self.data_dir.join(DATABASE)).map_or(0, |database| database.len())
    }

    fn left(&self) -> u64 {
        self.outstanding.iter().flatten().map(Outstanding::left).sum()
    }

    /// How long a slow disk takes for what may have to be read before anything more is stored: the largest file, or all
    /// that is stored in one step.
    fn slow_disk(&self) -> Duration {
        let largest = self.outstanding.iter().flatten().map(Outstanding::left).max().unwrap_or(0);
        Duration::from_secs((largest + STEP_BYTES).min(self.left()) / SLOW_DISK)
    }

    fn reported(self, bytes: u64, interrupted: bool) -> IndexReport {
        let seconds = self.begun.elapsed().as_secs_f64();
        IndexReport { bytes, seconds, interrupted, kept_by: self.pid, ..self.report }
    }

    /// What is known of it then, and what to do.
    fn given_up(&self, fault: Option<&StoreError>) -> ApiError {
        let writer = who(self.pid);
        let message = match (fault, &self.outstanding) {
            (Some(StoreError::Absent { .. }), _) => format!(
                "{writer} keeps the history, and has stored nothing yet: `watchbill doctor` may say why; quit it to do it here"
            ),
            (Some(fault), _) => return refusal(fault),
            (None, None) => format!(
                "{writer} keeps the history, and leaves out something else than `exclude` says: it may still be at it, or have \
                 other settings; wait a while, or quit it to do it here"
            ),
            (None, Some(outstanding)) => format!(
                "{writer} keeps the history, and has stored nothing more for {} s, though {} not stored to the end; wait a \
                 while if it is at work, or quit it to do it here",
                self.got_on_at.elapsed().as_secs(),
                in_words(outstanding)
            ),
        };
        ApiError::new(ErrorCode::NotReady, message)
    }
}

/// Which files those are, as the beginning of a sentence.
fn in_words(outstanding: &[Outstanding]) -> String {
    let bytes = size::in_words(outstanding.iter().map(Outstanding::left).sum());
    let named: Vec<_> =
        outstanding.iter().take(NAMED).map(|file| file.found().path.display().to_string()).collect();
    let more = if outstanding.len() > NAMED { ", …" } else { "" };
    let (files, are) = match outstanding.len() {
        1 => ("1 file".to_owned(), "is"),
        more => (format!("{more} files"), "are"),
    };
    format!("{files} ({bytes}: {}{more}) {are}", named.join(", "))
}

#[cfg(test)]
mod tests;
