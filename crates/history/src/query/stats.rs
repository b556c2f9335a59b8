//! Usage: requests, tokens, tools.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::roster::Tokens;
use watchbill_protocol::store::{Stats, StatsRow};
use watchbill_settings::Settings;
use watchbill_store::stats::{TokenGroup, TokenRow};
use watchbill_store::{OpenMode, Store, StoreError};

use watchbill_watch::fs::StdFs;

use crate::errors::{data_dir, store_api_error};
use crate::memory::model::ledger;
use crate::memory::project::project_of;

/// How long the statistics look for the repositories of folders. A folder on a dead mount answers never, and stands for
/// itself.
const LOOK: Duration = Duration::from_secs(2);

/// What the statistics are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatsBy {
    /// The day, in the person's time zone.
    Day,
    /// The project.
    Project,
    /// The model.
    Model,
    /// The tool.
    Tool,
}

/// The usage since a time; each request counts once.
///
/// # Errors
/// When nothing is stored, or the store cannot be read.
pub fn stats(settings: &Settings, by: StatsBy, since: Option<Timestamp>) -> Result<Stats, ApiError> {
    let folder = data_dir(settings)?;
    let store = Store::open(folder, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    let mut stats = stats_of(&store, by, since).map_err(|error| store_api_error(&error))?;
    // What cannot be read is reported by the doctor.
    stats.memory_model = ledger::days(folder).unwrap_or_default();
    let first = since.map(|since| since.day(&TimeZone::system()));
    stats.memory_model.retain(|day| first.as_ref().is_none_or(|first| day.day >= *first));
    Ok(stats)
}

fn stats_of(store: &Store, by: StatsBy, since: Option<Timestamp>) -> Result<Stats, StoreError> {
    let word = match by {
        StatsBy::Day => "day",
        StatsBy::Project => "project",
        StatsBy::Model => "model",
        StatsBy::Tool => "tool",
    };
    let tokens = |by: TokenGroup| -> Result<Vec<StatsRow>, StoreError> {
        let mut rows = store.tokens(&by, since)?;
        if by == TokenGroup::Project {
            rows = by_repository(rows);
        }
        let row = |row: TokenRow| StatsRow {
            key: row.key.filter(|key| !key.is_empty()),
            requests: Some(row.requests),
            tokens: Some(tokens_of(row.tokens)),
            ..StatsRow::default()
        };
        Ok(rows.into_iter().map(row).collect())
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
    let days = tokens(TokenGroup::Day(TimeZone::system()))?;
    let (sessions, prompts) = store.session_counts(since)?;
    let total = total(&days, &tools, sessions, prompts);
    let rows = match by {
        StatsBy::Day => days,
        StatsBy::Project => tokens(TokenGroup::Project)?,
        StatsBy::Model => tokens(TokenGroup::Model)?,
        StatsBy::Tool => tools,
    };
    Ok(Stats {
        by: word.to_owned(),
        since: since.map(|at| at.to_string()),
        rows,
        total,
        memory_model: Vec::new(),
    })
}

/// The rows with one row for each repository: its worktrees, the folders in it and every link to it count together. A row that
/// shares its repository with no other keeps its name.
fn by_repository(rows: Vec<TokenRow>) -> Vec<TokenRow> {
    let folders = rows.iter().filter_map(|row| row.key.clone()).filter(|key| Path::new(key).is_absolute());
    let places = repositories(folders.collect());
    let mut merged: BTreeMap<Option<String>, TokenRow> = BTreeMap::new();
    for row in rows {
        let place = row.key.as_ref().map(|key| places.get(key).unwrap_or(key).clone());
        match merged.get_mut(&place) {
            None => drop(merged.insert(place, row)),
            Some(sum) => {
                sum.key = place.map(|place| name_of(&place));
                sum.requests += row.requests;
                sum.tokens.add(row.tokens);
            }
        }
    }
    let mut rows: Vec<TokenRow> = merged.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.tokens.output));
    rows
}

/// The main working tree of a repository; a bare one has none.
fn name_of(place: &str) -> String {
    place.strip_suffix("/.git").filter(|root| !root.is_empty()).unwrap_or(place).to_owned()
}

/// The repository of each folder, as memories name it, as far as the file system answers in time.
fn repositories(folders: Vec<String>) -> HashMap<String, String> {
    let (sender, receiver) = mpsc::channel();
    let count = folders.len();
    // The thread outlives the wait on a dead mount.
    std::thread::spawn(move || {
        for folder in folders {
            let place = project_of(&StdFs, &folder).place;
            if sender.send((folder, place)).is_err() {
                return;
            }
        }
    });
    let end = Instant::now() + LOOK;
    let next = || receiver.recv_timeout(end.saturating_duration_since(Instant::now())).ok();
    std::iter::from_fn(next).take(count).collect()
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
