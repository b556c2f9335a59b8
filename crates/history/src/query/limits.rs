//! Which work chains use up the limits of plans, by estimate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use watchbill_core::limits::divide;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::limits::{LimitShare, LimitUse};
use watchbill_protocol::roster::PlanLimit;
use watchbill_settings::Settings;
use watchbill_store::usage::SessionChain;
use watchbill_store::{OpenMode, Store, StoreError};

use crate::errors::{data_dir, store_api_error};
use crate::query::prices::prices;
use crate::query::usage::{CHAINS, chain_of};

const HOUR: Millis = Millis::from_secs(3600);

/// Of each limit, which chains used how much.
///
/// # Errors
/// When nothing is stored, or the store cannot be read.
pub fn limit_use(settings: &Settings, limits: Vec<PlanLimit>) -> Result<Vec<LimitUse>, ApiError> {
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    let chains = store.session_chains().map_err(|error| store_api_error(&error))?;
    let used = |limit| used(settings, &store, &chains, limit).map_err(|error| store_api_error(&error));
    limits.into_iter().map(used).collect()
}

fn used(
    settings: &Settings,
    store: &Store,
    chains: &HashMap<String, SessionChain>,
    limit: PlanLimit,
) -> Result<LimitUse, StoreError> {
    let time = |text: &str| Timestamp::parse(text).unwrap_or(Timestamp::from_millis(0));
    let said_at = time(&limit.said_at);
    let begin = time(&limit.resets_at) - Millis::from_secs(i64::from(limit.minutes) * 60);
    let mut ends: Vec<(Timestamp, f64)> =
        limit.growth.iter().map(|step| (time(&step.at), step.percent)).collect();
    ends.push((said_at, limit.percent));
    let of_account = store.sessions_below(&limit.agent, &limit.folder)?;
    // Two numbers for each stretch: its last hour is told apart.
    let mut stretch_of =
        |at| 2 * ends.partition_point(|(end, _)| *end < at) + usize::from(at > said_at - HOUR);
    let mut rows = store.usage(Some(begin), &mut stretch_of, Some(&prices(&settings.prices).0))?;
    rows.retain(|row| of_account.contains(&row.session));
    let is_priced = rows.iter().all(|row| row.cost.is_some());
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    let uses = rows.iter().filter_map(|row| {
        let weight = match row.cost.filter(|_| is_priced) {
            Some(cost) => cost.sum() as f64,
            None => (row.tokens.input + row.tokens.output + row.tokens.cache_write) as f64,
        };
        let number = row.day?;
        Some((number / 2, (chain_of(&row.session, chains).0, number % 2 == 1), weight))
    });
    let steps: Vec<f64> = ends.iter().map(|(_, percent)| *percent).collect();
    // Any session of the chain leads to it.
    let sessions: HashMap<&str, &str> =
        rows.iter().map(|row| (chain_of(&row.session, chains).0, &*row.session)).collect();
    let mut of_chains: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for ((chain, is_recent), percent) in divide(&steps, &uses.collect::<Vec<_>>()) {
        let (all, recent) = of_chains.entry(chain).or_default();
        *all += percent;
        *recent += if is_recent { percent } else { 0.0 };
    }
    // A request without a token has no share.
    let mut shares: Vec<LimitShare> = of_chains
        .into_iter()
        .filter(|(_, (percent, _))| *percent > 0.0)
        .map(|(chain, (percent, last_hour))| {
            let session = sessions.get(chain).copied().unwrap_or(chain);
            let name = chain_of(session, chains).1.to_owned();
            LimitShare { name, session_id: session.to_owned(), percent, last_hour }
        })
        .collect();
    shares.sort_by_key(|share| Reverse(watchbill_core::limits::hundredths(share.percent)));
    shares.truncate(CHAINS);
    let rest = (limit.percent - shares.iter().map(|share| share.percent).sum::<f64>()).max(0.0);
    Ok(LimitUse { limit: limit.without_growth(), shares, rest })
}
