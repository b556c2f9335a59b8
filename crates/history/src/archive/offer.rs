//! What archiving would cost, in numbers. Excluded and forgotten sessions are never archived, so they do not count.

use std::collections::HashSet;
use watchbill_agents::excluded::is_named_in;

use watchbill_core::history::Exclude;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::settings::ArchiveOffer;
use watchbill_settings::Settings;
use watchbill_store::archive::Archive;
use watchbill_store::{OpenMode, Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::Found;

use super::archive_candidates::{CLEANUP_DAYS, DAY, FIRST_RECORDS, cleanup_days, owner, transcripts};
use crate::lines::FromStart;
use crate::query::owner::MAX_OWNER_LOOKUPS;
use crate::size;

/// Number of files packed for an estimate.
const SAMPLES: usize = 8;

/// What archiving would cost, so that the user can decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offer {
    /// Transcripts that would be archived.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their bytes in the archive, estimated from some of them.
    pub expected: u64,
    /// The agent removes a transcript after this many days.
    pub cleanup_days: i64,
}

impl std::fmt::Display for Offer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the agent removes transcripts after {} days; to keep {} ({}) would take about {}: \
             `enabled = true` under [archive] in the configuration file",
            self.cleanup_days,
            if self.files == 1 { "this one file".to_owned() } else { format!("these {} files", self.files) },
            size::in_words(self.bytes),
            size::in_words(self.expected)
        )
    }
}

/// Scans the transcripts and packs some of them for the estimate.
pub fn offer(settings: &Settings, fs: &dyn Fs) -> Offer {
    offer_of(settings, fs, &wanted(settings, fs))
}

fn offer_of(settings: &Settings, fs: &dyn Fs, found: &[Found]) -> Offer {
    let bytes: u64 = found.iter().map(|found| found.stat.len).sum();
    let step = (found.len() / SAMPLES).max(1);
    let ratios: Vec<f64> = found
        .iter()
        .step_by(step)
        .take(SAMPLES)
        .filter_map(|found| {
            let mut source = FromStart { file: fs.open(&found.path).ok()?, at: 0 };
            Archive::ratio(&mut source, settings.archive.level).ok()
        })
        .collect();
    // The mean of the remaining shares, so that one file that packs very well does not promise too much.
    let left = ratios.iter().map(|ratio| 1.0 / ratio).sum::<f64>() / ratios.len().max(1) as f64;
    let cleanup_days = settings
        .roots_now(fs)
        .iter()
        .filter(|root| root.removes_old())
        .map(|root| cleanup_days(fs, root))
        .min()
        .unwrap_or(CLEANUP_DAYS);
    Offer { files: found.len() as u64, bytes, expected: (bytes as f64 * left) as u64, cleanup_days }
}

/// The same for the window, with the transcripts that the agent will remove soon.
pub fn offer_at(settings: &Settings, fs: &dyn Fs, now: Timestamp) -> ArchiveOffer {
    let found = wanted(settings, fs);
    let Offer { files, bytes, expected, cleanup_days } = offer_of(settings, fs, &found);
    let goes = |found: &Found| found.stat.mtime + Millis(cleanup_days.saturating_mul(DAY));
    ArchiveOffer {
        files,
        bytes,
        expected,
        cleanup_days,
        soon: found.iter().filter(|found| goes(found) <= now + Millis(7 * DAY)).count() as u64,
        first_at: found.iter().map(goes).min().map(|at| at.max(now).to_string()),
    }
}

/// The transcripts that would be archived.
fn wanted(settings: &Settings, fs: &dyn Fs) -> Vec<Found> {
    let mut found = transcripts(fs, &settings.roots_now(fs));
    let exclude = &settings.history.exclude;
    let data_dir = settings.data_dir.as_deref();
    let known =
        data_dir.and_then(|dir| Unarchivable::of(&Store::open(dir, OpenMode::Read).ok()?, exclude).ok());
    let known = known.unwrap_or_default();
    found.retain(|found| !known.leaves_out(found, fs, exclude));
    let is_new = |found: &&Found| !known.files.contains(&*found.path.to_string_lossy());
    // The same limit as in `lag`: looking into all files of a first index takes long.
    if !exclude.is_empty() && found.iter().filter(is_new).count() <= MAX_OWNER_LOOKUPS {
        found.retain(|found| !is_new(&found) || !begins_excluded(fs, found, exclude));
    }
    found
}

/// What the store knows about transcripts that must not be archived.
#[derive(Default)]
struct Unarchivable {
    /// All stored transcripts.
    files: HashSet<String>,
    /// Transcripts of which `exclude` left out a part.
    partly: HashSet<String>,
    /// Sessions that were forgotten, or began in an excluded folder.
    sessions: HashSet<String>,
}

impl Unarchivable {
    fn of(store: &Store, exclude: &Exclude) -> Result<Self, StoreError> {
        let mut known = Self::default();
        known.sessions.extend(store.forgotten()?.iter().map(ToString::to_string));
        if exclude.is_empty() {
            return Ok(known);
        }
        known.partly = store.partly_excluded()?;
        store.files(&mut |_, file| known.files.extend([file.path]))?;
        store.sessions(&mut |_, row| {
            if row.cwd.as_deref().is_some_and(|cwd| exclude.excludes(cwd)) {
                known.sessions.insert(row.session_id);
            }
        })?;
        Ok(known)
    }

    fn leaves_out(&self, found: &Found, fs: &dyn Fs, exclude: &Exclude) -> bool {
        let path = found.path.to_string_lossy();
        exclude.excludes(&path)
            || self.partly.contains(&*path)
            || (!self.sessions.is_empty()
                && owner(fs, found).is_some_and(|(session, _)| self.sessions.contains(&session)))
    }
}

/// Whether the first records of a transcript that is not stored yet name something excluded, mostly its folder.
fn begins_excluded(fs: &dyn Fs, found: &Found, exclude: &Exclude) -> bool {
    let mut head = vec![0; FIRST_RECORDS];
    let count = fs.open(&found.path).and_then(|file| file.read_at(&mut head, 0)).unwrap_or(0);
    is_named_in(exclude, &String::from_utf8_lossy(&head[..count]))
}
