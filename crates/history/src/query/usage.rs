//! The usage of the last days, for the window: one pass over the requests, summed up by day, project, model, chain and part.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};
use watchbill_core::prices::dollars;
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::usage::{UsageDay, UsageKind, UsagePage, UsagePart, UsageRow};
use watchbill_settings::Settings;
use watchbill_store::usage::{SessionChain, UsageRow as Stored};
use watchbill_store::{OpenMode, Store};

use crate::errors::{data_dir, store_api_error};
use crate::query::prices::prices;
use crate::query::sums::{NO_MODEL, Sum, by_key, name_of, repositories};

/// The most models that a chart tells apart, and the most chains of a list.
const KINDS: usize = 5;
pub(super) const CHAINS: usize = 10;

/// The longest span, in days.
const MOST_DAYS: u32 = 366;

/// The usage of so many days until now, in the person's time zone.
///
/// # Errors
/// When nothing is stored, or the store cannot be read.
pub fn usage(settings: &Settings, days: u32, now: Timestamp) -> Result<UsagePage, ApiError> {
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    let dates = dates(days.clamp(1, MOST_DAYS), &TimeZone::system(), now);
    let begins: Vec<Timestamp> = dates.iter().map(|(_, begin)| *begin).collect();
    let (prices, lists) = prices(&settings.prices);
    let mut day_of = |at| begins.partition_point(|day| *day <= at).saturating_sub(1);
    let rows = store.usage(begins.first().copied(), &mut day_of, Some(&prices));
    let rows = rows.map_err(|error| store_api_error(&error))?;
    let chains = store.session_chains().map_err(|error| store_api_error(&error))?;
    let dates: Vec<String> = dates.into_iter().map(|(date, _)| date).collect();
    Ok(UsagePage { prices: lists, ..page(&rows, &chains, &dates) })
}

/// The days until now with their beginnings, the oldest first.
fn dates(days: u32, zone: &TimeZone, now: Timestamp) -> Vec<(String, Timestamp)> {
    let today: Option<Date> = now.day(zone).parse().ok();
    let back = |days: u32| -> Span { i64::from(days).days() };
    let of = |days| {
        let date = today?.checked_sub(back(days)).ok()?;
        let begin = date.to_zoned(zone.clone()).ok()?.timestamp().as_millisecond();
        Some((date.to_string(), Timestamp::from_millis(begin)))
    };
    (0..days).rev().filter_map(of).collect()
}

fn page(rows: &[Stored], chains: &HashMap<String, SessionChain>, dates: &[String]) -> UsagePage {
    let model = |row: &Stored| row.model.as_deref().unwrap_or(NO_MODEL).to_owned();
    let models = sums(rows, model);
    let (mut kinds, rest): (Vec<String>, bool) =
        (models.iter().take(KINDS).map(|(name, _)| name.clone()).collect(), models.len() > KINDS);
    if rest {
        kinds.push("others".to_owned());
    }
    let kind_of = |row: &Stored| {
        let name = model(row);
        kinds.iter().position(|kind| *kind == name).unwrap_or(kinds.len().saturating_sub(1))
    };
    let mut days = vec![(Sum::default(), vec![Sum::default(); kinds.len()]); dates.len()];
    let (total, mut subagents) = (Sum::of(rows), Sum::default());
    for row in rows {
        if row.of_subagent {
            subagents.add(row);
        }
        let Some((sum, by_kind)) = row.day.and_then(|day| days.get_mut(day)) else { continue };
        sum.add(row);
        by_kind[kind_of(row)].add(row);
    }
    let day = |(date, (sum, by_kind)): (&String, &(Sum, Vec<Sum>))| UsageDay {
        date: date.clone(),
        total: sum.shown(),
        by_kind: by_kind.iter().map(Sum::shown).collect(),
    };
    let days: Vec<UsageDay> = dates.iter().zip(&days).map(day).collect();
    let unpriced = rows.iter().filter(|row| row.cost.is_none()).map(model).collect::<BTreeSet<_>>();
    let named = |(name, sum): (String, Sum)| UsageRow { name, session_id: None, sum: sum.shown() };
    UsagePage {
        total: total.shown(),
        today: days.last().map_or(Sum::default().shown(), |day| day.total),
        kinds,
        days,
        projects: projects(rows).into_iter().map(named).collect(),
        models: models.into_iter().map(named).collect(),
        chains: of_chains(rows, chains),
        parts: parts(&total, &subagents),
        prices: Vec::new(),
        unpriced: unpriced.into_iter().collect(),
    }
}

/// The sums by a key, the highest cost first; then the most tokens.
fn sums(rows: &[Stored], key: impl Fn(&Stored) -> String) -> Vec<(String, Sum)> {
    let mut sums = by_key(rows, key);
    sums.sort_by_key(|(_, sum)| Reverse((sum.cost.sum(), sum.tokens.all())));
    sums
}

/// By repository, under the last part of its name.
fn projects(rows: &[Stored]) -> Vec<(String, Sum)> {
    let folders: BTreeSet<String> = rows.iter().filter_map(|row| row.folder.clone()).collect();
    let absolute = folders.into_iter().filter(|folder| Path::new(folder).is_absolute()).collect();
    let places = repositories(absolute);
    let place = |row: &Stored| {
        let folder = row.folder.clone().unwrap_or_default();
        name_of(places.get(&folder).unwrap_or(&folder))
    };
    let last = |place: String| place.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    sums(rows, place).into_iter().map(|(place, sum)| (last(place), sum)).collect()
}

fn of_chains(rows: &[Stored], chains: &HashMap<String, SessionChain>) -> Vec<UsageRow> {
    let id = |row: &Stored| chain_of(&row.session, chains).0.to_owned();
    // Any session of the chain leads to it.
    let sessions: HashMap<String, &str> = rows.iter().map(|row| (id(row), &*row.session)).collect();
    let shown = |(chain, sum): (String, Sum)| {
        let session = sessions.get(&chain).copied()?;
        let name = chain_of(session, chains).1.to_owned();
        Some(UsageRow { name, session_id: Some(session.to_owned()), sum: sum.shown() })
    };
    sums(rows, id).into_iter().take(CHAINS).filter_map(shown).collect()
}

/// The id and the name of a session's chain. What has none goes by the session's id.
pub(super) fn chain_of<'c>(
    session: &'c str,
    chains: &'c HashMap<String, SessionChain>,
) -> (&'c str, &'c str) {
    chains
        .get(session)
        .map_or((session, session), |chain| (&chain.chain_id, chain.title.as_deref().unwrap_or(session)))
}

fn parts(total: &Sum, subagents: &Sum) -> Vec<UsagePart> {
    let part = |part, tokens, cost| UsagePart { part, tokens, usd: dollars(cost) };
    let (tokens, cost) = (&total.tokens, &total.cost);
    vec![
        part(UsageKind::CacheRead, tokens.cache_read, cost.cache_read),
        part(UsageKind::CacheWrite, tokens.cache_write, cost.cache_write),
        part(UsageKind::Input, tokens.input, cost.input),
        part(UsageKind::Output, tokens.output, cost.output),
        part(UsageKind::Subagents, subagents.tokens.all(), subagents.cost.sum()),
    ]
}
