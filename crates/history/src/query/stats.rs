//! Usage: requests, tokens, tools.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use watchbill_core::prices::{Prices, dollars};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::roster::Tokens;
use watchbill_protocol::store::{Cost, CostSource, Stats, StatsRow};
use watchbill_settings::Settings;
use watchbill_store::stats::{TokenGroup, TokenRow};
use watchbill_store::{OpenMode, Store, StoreError};

use watchbill_watch::fs::StdFs;

use crate::errors::{data_dir, store_api_error};
use crate::memory::model::ledger;
use crate::memory::project::project_of;
use crate::query::prices::prices;

/// How long the statistics look for the repositories of folders. A folder on a dead mount answers never, and stands for
/// itself.
const LOOK: Duration = Duration::from_secs(2);

/// Stands for the model of requests that name none.
pub(super) const NO_MODEL: &str = "not known";

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

/// The usage since a time; each request counts once. With `cost`, it says what the requests would cost by list prices.
///
/// # Errors
/// When nothing is stored, or the store cannot be read.
pub fn stats(
    settings: &Settings,
    by: StatsBy,
    since: Option<Timestamp>,
    cost: bool,
) -> Result<Stats, ApiError> {
    let folder = data_dir(settings)?;
    let store = Store::open(folder, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    let priced = cost.then(|| prices(&settings.prices));
    let prices = priced.as_ref().map(|(prices, _)| prices);
    let mut stats = stats_of(&store, by, since, prices).map_err(|error| store_api_error(&error))?;
    stats.prices = priced.map(|(_, lists)| lists).unwrap_or_default();
    // What cannot be read is reported by the doctor.
    stats.memory_model = ledger::days(folder).unwrap_or_default();
    let first = since.map(|since| since.day(&TimeZone::system()));
    stats.memory_model.retain(|day| first.as_ref().is_none_or(|first| day.day >= *first));
    Ok(stats)
}

fn stats_of(
    store: &Store,
    by: StatsBy,
    since: Option<Timestamp>,
    prices: Option<&Prices>,
) -> Result<Stats, StoreError> {
    let word = match by {
        StatsBy::Day => "day",
        StatsBy::Project => "project",
        StatsBy::Model => "model",
        StatsBy::Tool => "tool",
    };
    let mut unpriced = BTreeSet::new();
    let mut tokens = |by: TokenGroup| -> Result<Vec<TokenRow>, StoreError> {
        let mut rows = store.tokens(&by, since, &mut |model, usage| {
            let cost = prices?.cost(model, usage);
            if cost.is_none() {
                unpriced.insert(model.unwrap_or(NO_MODEL).to_owned());
            }
            cost
        })?;
        if by == TokenGroup::Project {
            rows = by_repository(rows);
        }
        Ok(rows)
    };
    let row = |row: TokenRow| StatsRow {
        cost: prices.map(|_| cost_of(&row)),
        key: row.key.filter(|key| !key.is_empty()),
        requests: Some(row.requests),
        tokens: Some(tokens_of(row.tokens)),
        ..StatsRow::default()
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
    let mut sum = TokenRow::default();
    days.iter().for_each(|day| sum.add(day));
    let tool_sum =
        |what: fn(&StatsRow) -> Option<u64>| Some(tools.iter().filter_map(what).fold(0, u64::saturating_add));
    let total = StatsRow {
        sessions: Some(sessions),
        prompts: Some(prompts),
        tool_calls: tool_sum(|row| row.tool_calls),
        tool_errors: tool_sum(|row| row.tool_errors),
        tool_ms: tool_sum(|row| row.tool_ms),
        ..row(sum)
    };
    let rows = match by {
        StatsBy::Day => days.into_iter().map(row).collect(),
        StatsBy::Project => tokens(TokenGroup::Project)?.into_iter().map(row).collect(),
        StatsBy::Model => tokens(TokenGroup::Model)?.into_iter().map(row).collect(),
        StatsBy::Tool => tools,
    };
    Ok(Stats {
        by: word.to_owned(),
        since: since.map(|at| at.to_string()),
        rows,
        total,
        prices: Vec::new(),
        unpriced: unpriced.into_iter().collect(),
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
                sum.add(&row);
            }
        }
    }
    let mut rows: Vec<TokenRow> = merged.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.tokens.output));
    rows
}

/// The main working tree of a repository; a bare one has none.
pub(super) fn name_of(place: &str) -> String {
    place.strip_suffix("/.git").filter(|root| !root.is_empty()).unwrap_or(place).to_owned()
}

/// The repository of each folder, as memories name it, as far as the file system answers in time.
pub(super) fn repositories(folders: Vec<String>) -> HashMap<String, String> {
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

fn cost_of(row: &TokenRow) -> Cost {
    let unpriced_tokens = Some(row.unpriced).filter(|tokens| *tokens > 0);
    Cost { usd: dollars(row.cost), by: CostSource::List, unpriced_tokens }
}

pub(super) fn tokens_of(usage: Usage) -> Tokens {
    Tokens {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
    }
}
