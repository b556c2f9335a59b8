//! What people may ask of the store as a whole: its health, and what was used.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use watchbill_core::history::HistorySettings;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::parse::parse_line;
use watchbill_core::transcript::record::Usage;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::roster::Tokens;
use watchbill_protocol::store::{DamagedFile, Stats, StatsRow, StoreHealth};
use watchbill_store::archive::Archive;
use watchbill_store::stats::By;
pub use watchbill_store::who;
use watchbill_store::{Mode, Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::layout::Place;
use watchbill_watch::scan::{Found, scan};

use crate::archive::offer;
use crate::left_out::is_due;
use crate::named::{Among, SHOWN, one};
use watchbill_settings::Settings;

/// What is there and not stored yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lag {
    /// All files of which anything is to be stored.
    pub all: u64,
    /// Folders and files that cannot be looked into.
    pub problems: u64,
    /// Files with something new.
    pub files: u64,
    /// Bytes in them that are still to be read.
    pub bytes: u64,
    /// Files that the settings leave out, whole or in part: nobody is to read these for what is not stored of them.
    pub left_out: u64,
    /// The settings leave out something else than when the store was written.
    pub exclude_changed: bool,
}

/// The sessions of which nothing is to be stored any more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ForgottenSessions(HashSet<SessionId>);

impl ForgottenSessions {
    /// As the store has them.
    pub(crate) fn of(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(store.forgotten()?.into_iter().collect()))
    }

    /// Whether the transcript is of one of them, as far as its path tells: it is never read then.
    pub(crate) fn has(&self, found: &Found) -> bool {
        !self.0.is_empty()
            && found.place().and_then(owner_by_path).is_some_and(|session| self.contains(&session))
    }

    /// Whether the session is one of them.
    pub(crate) fn contains(&self, session: &SessionId) -> bool {
        self.0.contains(session)
    }
}

/// Looks at every transcript: which of them have grown or changed since they were stored, or are to be read anew, since
/// something of them was left out by other rules than those of now.
///
/// # Errors
/// When the store cannot be read.
pub fn lag(
    store: &Store,
    fs: &dyn Fs,
    roots: &[PathBuf],
    history: &HistorySettings,
) -> Result<Lag, StoreError> {
    let mut known = HashMap::new();
    store.files(&mut |_, file| {
        known.insert(file.path, (file.cursor.size, file.cursor.offset));
    })?;
    let forgotten = ForgottenSessions::of(store)?;
    let partly = store.partly_left_out()?;
    let mut lag = Lag { exclude_changed: is_due(store, history)?, ..Lag::default() };
    let scan = scan(fs, roots);
    lag.problems = scan.problems.iter().filter(|problem| problem.kind != ProblemKind::Missing).count() as u64;
    let mut found = scan.found;
    found.retain(|found| found.kind.is_transcript() && !forgotten.has(found));
    // Nothing is stored either of what was written anew and has held no record since.
    let is_begun =
        |found: &Found| known.get(&*found.path.to_string_lossy()).is_some_and(|(_, read)| *read > 0);
    let few = found.iter().filter(|found| !is_begun(found)).count() <= FEW;
    for found in &found {
        let path = found.path.to_string_lossy();
        if history.exclude.leaves_out(&path) {
            lag.left_out += 1;
            continue;
        }
        lag.all += 1;
        let partly = partly.contains(&*path);
        let (size, read) = match lag.exclude_changed && partly {
            true => (0, 0),
            false => known.get(&*path).copied().unwrap_or_default(),
        };
        let is_storable = || match owner(fs, found) {
            // It is among the problems.
            Owner::Nobody => false,
            Owner::Session(session) => !forgotten.contains(&session),
            Owner::Unknown => true,
        };
        if size != found.stat.len && few && !is_begun(found) && !is_storable() {
            // Nobody will read it.
        } else if size != found.stat.len {
            lag.files += 1;
            lag.bytes += found.stat.len.saturating_sub(read);
        } else {
            lag.left_out += u64::from(partly);
        }
    }
    Ok(lag)
}

/// For so long the doctor looks at the pages of the database.
const PATIENCE: Duration = Duration::from_secs(2);

/// So much of a file is looked into for something that is to be stored.
const HEAD: usize = 64 << 10;
/// Of more files than these it is taken for granted that each has something: to look into those of a first index takes long.
pub(crate) const FEW: usize = 64;

/// Whose a transcript is of which nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Nobody's: it cannot be read, holds no record, or none that names a session. The store will never know it.
    Nobody,
    /// This session's.
    Session(SessionId),
    /// Its beginning does not tell.
    Unknown,
}

/// Whose it is, as its path says, as far as it does.
pub(crate) fn owner_by_path(place: Place) -> Option<SessionId> {
    match place {
        Place::Transcript { session } | Place::Subagent { session, .. } => Some(session),
        _ => None,
    }
}

/// Looks into the beginning of a transcript that the store does not know.
pub(crate) fn owner(fs: &dyn Fs, found: &Found) -> Owner {
    let Ok(file) = fs.open(&found.path) else { return Owner::Nobody };
    let mut head = vec![0; HEAD];
    let Ok(count) = file.read_at(&mut head, 0) else { return Owner::Nobody };
    let (mut records, mut named) = (0, None);
    LineSplitter::default().push(&head[..count], &mut |split| {
        if let Split::Line(line) = split {
            let report = parse_line(line.bytes, &mut |record| {
                named = named.take().or_else(|| record.envelope.session_id.as_deref().map(SessionId::new));
            });
            records += report.records;
        }
    });
    let by_path = found.place().and_then(owner_by_path);
    match by_path.filter(|_| records > 0 || count == HEAD).or(named) {
        Some(session) => Owner::Session(session),
        None if count == HEAD => Owner::Unknown,
        None => Owner::Nobody,
    }
}

/// The folders of which nothing new can be stored, since they are not there or cannot be read, in the words of the roster.
pub fn troubles_with_roots(settings: &Settings, fs: &dyn Fs) -> Vec<Problem> {
    watchbill_watch::scan::troubles_with_roots(fs, &settings.roots)
}

/// The health of the store in the data folder. Never an error: what is wrong is part of it.
pub fn health(settings: &Settings, fs: &dyn Fs) -> Option<StoreHealth> {
    let data_dir = settings.data_dir.as_deref()?;
    let path = data_dir.join(watchbill_store::DATABASE);
    let mut health = StoreHealth {
        path: path.to_string_lossy().into_owned(),
        exists: path.exists(),
        ..StoreHealth::default()
    };
    if let Err(error) = examine(data_dir, settings, fs, &mut health) {
        // That nothing is stored yet is no trouble, unless nothing could be.
        let trouble = match error {
            StoreError::Absent { .. } => watchbill_store::obstacle(data_dir),
            other => Some(other),
        };
        health.trouble = trouble.map(|error| error.to_string());
    }
    // Last, since to read a database may be what sets it aside.
    let damaged = watchbill_store::damaged_files(data_dir).into_iter().map(|file| DamagedFile {
        path: file.path.to_string_lossy().into_owned(),
        bytes: file.bytes,
        taken_over: file.taken_over,
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
    let store = Store::open(data_dir, Mode::Read)?;
    let totals = store.totals()?;
    let lag = lag(&store, fs, &settings.roots, &settings.history)?;
    *health = StoreHealth {
        path: std::mem::take(&mut health.path),
        exists: true,
        bytes: totals.bytes,
        schema_version: Some(totals.schema),
        writer_pid: watchbill_store::last_writer(data_dir).filter(|pid| runs(*pid)),
        sessions: totals.sessions,
        texts: totals.texts,
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
        left_out: store.left_out_said()?,
        trouble: watchbill_store::obstacle(data_dir)
            .map_or_else(|| store.unread_reminder(), |error| Ok(Some(error)))?
            .map(|error| error.to_string()),
        pages_unseen: None,
        damaged: Vec::new(),
    };
    if health.trouble.is_none() {
        match store.look_at_pages(PATIENCE) {
            Ok(whole) => health.pages_unseen = (!whole).then_some(true),
            Err(error) => health.trouble = Some(error.to_string()),
        }
    }
    Ok(())
}

/// Files of the archive in which their transcripts are no longer whole, as far as their frames tell.
fn unreadable(store: &Store, data_dir: &Path) -> Result<Vec<String>, StoreError> {
    let archive = Archive::new(data_dir);
    let bad = store.all_archived()?.into_iter().filter(|row| archive.open(row).is_err());
    Ok(bad.map(|row| archive.path_of(&row).to_string_lossy().into_owned()).collect())
}

#[cfg(unix)]
fn runs(pid: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A process of somebody else's is one too.
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}

#[cfg(not(unix))]
fn runs(_: u32) -> bool {
    true
}

/// The schema as SQL with comments, for people.
pub fn schema() -> String {
    watchbill_store::schema::text()
}

/// What statistics are by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatsBy {
    /// The day, in UTC.
    Day,
    /// The project.
    Project,
    /// The model.
    Model,
    /// The tool.
    Tool,
}

/// What was used since a moment, each request once.
///
/// # Errors
/// When nothing is stored, or the store cannot be read.
pub fn stats(settings: &Settings, by: StatsBy, since: Option<Timestamp>) -> Result<Stats, ApiError> {
    let store = Store::open(data_dir(settings)?, Mode::Read).map_err(|error| refusal(&error))?;
    stats_of(&store, by, since).map_err(|error| refusal(&error))
}

fn stats_of(store: &Store, by: StatsBy, since: Option<Timestamp>) -> Result<Stats, StoreError> {
    let word = match by {
        StatsBy::Day => "day",
        StatsBy::Project => "project",
        StatsBy::Model => "model",
        StatsBy::Tool => "tool",
    };
    let tokens = |by: By| -> Result<Vec<StatsRow>, StoreError> {
        let rows = store.tokens(by, since)?;
        Ok(rows
            .into_iter()
            .map(|row| StatsRow {
                key: row.key.filter(|key| !key.is_empty()),
                requests: Some(row.requests),
                tokens: Some(tokens_of(row.tokens)),
                ..StatsRow::default()
            })
            .collect())
    };
    let tools: Vec<StatsRow> = store
        .tools(since)?
        .into_iter()
        .map(|row| StatsRow {
            key: Some(row.tool).filter(|tool| !tool.is_empty()),
            tool_calls: Some(row.calls),
            tool_errors: Some(row.errors),
            tool_ms: Some(row.millis),
            ..StatsRow::default()
        })
        .collect();
    let days = tokens(By::Day)?;
    let (sessions, prompts) = store.session_counts(since)?;
    let total = total(&days, &tools, sessions, prompts);
    let rows = match by {
        StatsBy::Day => days,
        StatsBy::Project => tokens(By::Project)?,
        StatsBy::Model => tokens(By::Model)?,
        StatsBy::Tool => tools,
    };
    Ok(Stats { by: word.to_owned(), since: since.map(|at| at.to_string()), rows, total })
}

fn total(days: &[StatsRow], tools: &[StatsRow], sessions: u64, prompts: u64) -> StatsRow {
    let sum = |rows: &[StatsRow], what: fn(&StatsRow) -> Option<u64>| {
        rows.iter().filter_map(what).fold(0, u64::saturating_add)
    };
    let of = |what: fn(&Tokens) -> u64| {
        days.iter().filter_map(|row| row.tokens.as_ref()).map(what).fold(0, u64::saturating_add)
    };
    StatsRow {
        key: None,
        sessions: Some(sessions),
        prompts: Some(prompts),
        requests: Some(sum(days, |row| row.requests)),
        tokens: Some(Tokens {
            input: of(|tokens| tokens.input),
            output: of(|tokens| tokens.output),
            cache_read: of(|tokens| tokens.cache_read),
            cache_write: of(|tokens| tokens.cache_write),
        }),
        tool_calls: Some(sum(tools, |row| row.tool_calls)),
        tool_errors: Some(sum(tools, |row| row.tool_errors)),
        tool_ms: Some(sum(tools, |row| row.tool_ms)),
    }
}

fn tokens_of(usage: Usage) -> Tokens {
    Tokens {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
    }
}

/// The one session that begins so in the store, for when no transcript of it is there: a search may have named it.
pub(crate) fn stored_alone(settings: &Settings, asked: &str) -> Option<SessionId> {
    let store = Store::open(settings.data_dir.as_deref()?, Mode::Read).ok()?;
    one_session(&store, asked).ok()
}

/// The one stored session that is meant by its id, or by the beginning of one.
pub(crate) fn one_session(store: &Store, asked: &str) -> Result<SessionId, ApiError> {
    let begin = store.session_ids(asked, SHOWN + 1).map_err(|error| refusal(&error))?;
    one(Among::Stored, asked, &begin).map(|id| SessionId::new(id))
}

/// Where everything lies that is stored.
pub(crate) fn data_dir(settings: &Settings) -> Result<&Path, ApiError> {
    settings.data_dir.as_deref().ok_or_else(|| {
        ApiError::new(ErrorCode::Unsupported, "no data folder is known; name one with --data-dir")
    })
}

/// A fault of the store as an answer.
pub(crate) fn refusal(error: &StoreError) -> ApiError {
    let code = match error {
        StoreError::Absent { .. } => ErrorCode::NotReady,
        StoreError::Newer { .. } | StoreError::NotWriter { .. } => ErrorCode::Unsupported,
        StoreError::Sql { .. } => ErrorCode::Internal,
        _ => ErrorCode::Unreadable,
    };
    ApiError::new(code, error.to_string())
}
