//! The health of the store: its content, its lag and its faults.

use std::path::Path;
use std::time::Duration;

use watchbill_core::problem::Problem;
use watchbill_platform::process;
use watchbill_protocol::store::{DamagedFile, StoreHealth};
use watchbill_settings::Settings;
use watchbill_store::archive::Archive;
use watchbill_store::{OpenMode, Store, StoreError};
use watchbill_watch::clock::{Clock as _, SystemClock};
use watchbill_watch::fs::Fs;

use super::lag::lag;
use crate::archive::offer::offer;
use crate::memory::model::state::state;

/// How long the doctor checks the pages of the database.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The folders that are missing or cannot be read, so that nothing new is stored of them, in the words of the roster.
pub fn troubles_with_roots(settings: &Settings, fs: &dyn Fs) -> Vec<Problem> {
    watchbill_watch::scan::root_problems(fs, &settings.roots_now(fs))
}

/// The health of the store in the data folder. It is never an error: faults are part of it.
pub fn health(settings: &Settings, fs: &dyn Fs) -> Option<StoreHealth> {
    let data_dir = settings.data_dir.as_deref()?;
    let path = data_dir.join(watchbill_store::DATABASE);
    let mut health = StoreHealth {
        path: path.to_string_lossy().into_owned(),
        exists: path.exists(),
        ..StoreHealth::default()
    };
    if let Err(error) = examine(data_dir, settings, fs, &mut health) {
        // An absent store is no fault, unless something prevents it from being made.
        let trouble = match error {
            StoreError::Absent { .. } => watchbill_store::write_obstacle(data_dir),
            other => Some(other),
        };
        health.trouble = trouble.map(|error| error.to_string());
    }
    // Last, because reading a database may set it aside.
    let damaged = watchbill_store::damaged_files(data_dir).into_iter().map(|file| DamagedFile {
        path: file.path.to_string_lossy().into_owned(),
        bytes: file.bytes,
        taken_over: file.is_copied,
    });
    health.damaged = damaged.collect();
    Some(health)
}

fn examine(
    data_dir: &Path,
    settings: &Settings,
    fs: &dyn Fs,
    health: &mut StoreHealth,
) -> Result<(), StoreError> {
    let store = Store::open(data_dir, OpenMode::Read)?;
    let totals = store.totals()?;
    let lag = lag(&store, fs, &settings.stored_roots(), &settings.history)?;
    *health = StoreHealth {
        path: std::mem::take(&mut health.path),
        exists: true,
        bytes: totals.bytes,
        schema_version: Some(totals.schema),
        writer_pid: watchbill_store::last_writer(data_dir).filter(|pid| process::exists(*pid) != Some(false)),
        sessions: totals.sessions,
        texts: totals.texts,
        cut_bytes: Some(totals.cut_bytes).filter(|cut| *cut > 0),
        files_behind: lag.files,
        bytes_behind: lag.bytes,
        files_left_out: lag.left_out,
        exclude_changed: lag.exclude_changed,
        archived: totals.archived,
        archive_bytes: totals.archive_bytes,
        archive_unreadable: unreadable(&store, data_dir)?,
        archive_after: settings.archive.enabled.then_some(settings.archive.after.0),
        archive_offer: Some(offer(settings, fs))
            .filter(|offer| !settings.archive.enabled && offer.files > 0)
            .map(|offer| offer.to_string()),
        left_out: store.exclude_report()?,
        model: state(&store, data_dir, &settings.memory, SystemClock.now())?,
        trouble: watchbill_store::write_obstacle(data_dir)
            .map_or_else(|| store.forgotten_list_error(), |error| Ok(Some(error)))?
            .map(|error| error.to_string()),
        pages_unseen: None,
        damaged: Vec::new(),
    };
    if health.trouble.is_none() {
        match store.check_pages(TIMEOUT) {
            Ok(whole) => health.pages_unseen = (!whole).then_some(true),
            Err(error) => health.trouble = Some(error.to_string()),
        }
    }
    Ok(())
}

/// Archive files whose transcripts are damaged, as far as their frames show.
fn unreadable(store: &Store, data_dir: &Path) -> Result<Vec<String>, StoreError> {
    let archive = Archive::new(data_dir);
    let bad = store.all_archived()?.into_iter().filter(|row| archive.open(row).is_err());
    Ok(bad.map(|row| archive.path_of(&row).to_string_lossy().into_owned()).collect())
}

/// The schema as SQL with comments, for the user.
pub fn schema() -> String {
    watchbill_store::schema::text()
}
