//! Usage: requests, tokens, tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::tz::TimeZone;
use watchbill_core::prices::Prices;
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::store::{Stats, StatsRow};
use watchbill_settings::Settings;
use watchbill_store::usage::UsageRow;
use watchbill_store::{OpenMode, Store, StoreError};

use crate::errors::{data_dir, store_api_error};
use crate::memory::model::ledger;
use crate::query::prices::prices;
use crate::query::sums::{NO_MODEL, Sum, by_key, name_of, repositories, tokens_of};

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
    let mut days = Days::new(TimeZone::system());
    let usage = store.usage(since, &mut |at| days.number(at), prices)?;
    let row = |(key, sum): (Option<String>, Sum)| StatsRow {
        cost: prices.map(|_| sum.cost()),
        key: key.filter(|key| !key.is_empty()),
        requests: Some(sum.requests),
        tokens: Some(tokens_of(sum.tokens)),
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
    let (sessions, prompts) = store.session_counts(since)?;
    let tool_sum =
        |what: fn(&StatsRow) -> Option<u64>| Some(tools.iter().filter_map(what).fold(0, u64::saturating_add));
    let total = StatsRow {
        sessions: Some(sessions),
        prompts: Some(prompts),
        tool_calls: tool_sum(|row| row.tool_calls),
        tool_errors: tool_sum(|row| row.tool_errors),
        tool_ms: tool_sum(|row| row.tool_ms),
        ..row((None, Sum::of(&usage)))
    };
    let mut rows = match by {
        StatsBy::Day => by_key(&usage, |row| row.day.map(|day| days.name(day))),
        StatsBy::Project => by_repository(&usage),
        StatsBy::Model => by_key(&usage, |row| row.model.as_deref().map(str::to_owned)),
        StatsBy::Tool => Vec::new(),
    };
    match by {
        StatsBy::Day => rows.reverse(),
        _ => rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.tokens.output)),
    }
    let unpriced = usage.iter().filter(|row| prices.is_some() && row.cost.is_none());
    let unpriced: BTreeSet<&str> = unpriced.map(|row| row.model.as_deref().unwrap_or(NO_MODEL)).collect();
    Ok(Stats {
        by: word.to_owned(),
        since: since.map(|at| at.to_string()),
        unpriced: unpriced.into_iter().map(str::to_owned).collect(),
        rows: if by == StatsBy::Tool { tools } else { rows.into_iter().map(row).collect() },
        total,
        prices: Vec::new(),
        memory_model: Vec::new(),
    })
}

/// The days of requests in a time zone, with a number for each.
struct Days {
    zone: TimeZone,
    /// By their beginnings: their end and number.
    spans: BTreeMap<Timestamp, (Timestamp, usize)>,
    names: Vec<String>,
}

impl Days {
    fn new(zone: TimeZone) -> Self {
        Self { zone, spans: BTreeMap::new(), names: Vec::new() }
    }

    fn number(&mut self, at: Timestamp) -> usize {
        if let Some((_, (end, number))) = self.spans.range(..=at).next_back()
            && at < *end
        {
            return *number;
        }
        let number = self.names.len();
        self.names.push(at.day(&self.zone));
        self.spans.insert(at.begin_of_day(&self.zone), (at.next_day(&self.zone), number));
        number
    }

    fn name(&self, number: usize) -> String {
        self.names.get(number).cloned().unwrap_or_default()
    }
}

/// The sums by repository: its worktrees, the folders in it and every link to it count together. A folder that shares its
/// repository with no other keeps its name.
fn by_repository(rows: &[UsageRow]) -> Vec<(Option<String>, Sum)> {
    let folders: BTreeSet<&str> = rows.iter().filter_map(|row| row.folder.as_deref()).collect();
    let absolute = folders.iter().filter(|folder| Path::new(folder).is_absolute());
    let places = repositories(absolute.map(|folder| (*folder).to_owned()).collect());
    let place = |folder: &str| places.get(folder).map_or_else(|| folder.to_owned(), Clone::clone);
    let mut names: BTreeMap<String, Option<&str>> = BTreeMap::new();
    for folder in folders {
        names.entry(place(folder)).and_modify(|only| *only = None).or_insert(Some(folder));
    }
    let named = |(place, sum): (Option<String>, Sum)| {
        let name = place.map(|place| match names.get(&place) {
            Some(Some(only)) => (*only).to_owned(),
            _ => name_of(&place),
        });
        (name, sum)
    };
    by_key(rows, |row| row.folder.as_deref().map(place)).into_iter().map(named).collect()
}
