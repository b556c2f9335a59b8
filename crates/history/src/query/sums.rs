//! Sums of usage, for the statistics and the window: by any key, with costs, and by repository.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use watchbill_core::prices::{Costs, dollars};
use watchbill_core::transcript::record::Usage;
use watchbill_protocol::roster::Tokens;
use watchbill_protocol::store::{Cost, CostSource};
use watchbill_protocol::usage::UsageSum;
use watchbill_store::usage::UsageRow;
use watchbill_watch::fs::StdFs;

use crate::memory::project::project_of;

/// Stands for the model of requests that name none.
pub const NO_MODEL: &str = "not known";

/// How long the statistics look for the repositories of folders. A folder on a dead mount answers never, and stands for
/// itself.
const LOOK: Duration = Duration::from_secs(2);

/// A sum in the making.
#[derive(Clone, Copy, Default)]
pub struct Sum {
    /// How many.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Usage,
    /// What they cost, as far as their models have a price.
    pub cost: Costs,
    /// The tokens of models without a price.
    pub unpriced: u64,
}

impl Sum {
    /// The sum of all.
    pub fn of(rows: &[UsageRow]) -> Self {
        rows.iter().fold(Self::default(), |mut sum, row| {
            sum.add(row);
            sum
        })
    }

    /// Adds the requests of a row.
    pub fn add(&mut self, row: &UsageRow) {
        self.requests += row.requests;
        self.tokens.add(row.tokens);
        match &row.cost {
            Some(cost) => self.cost.add(cost),
            None => self.unpriced = self.unpriced.saturating_add(row.tokens.all()),
        }
    }

    /// What it costs by list prices.
    pub fn cost(&self) -> Cost {
        let unpriced_tokens = Some(self.unpriced).filter(|tokens| *tokens > 0);
        Cost { usd: dollars(self.cost.sum()), by: CostSource::List, unpriced_tokens }
    }

    /// As the window shows it.
    pub fn shown(&self) -> UsageSum {
        UsageSum { requests: self.requests, tokens: tokens_of(self.tokens), cost: self.cost() }
    }
}

/// The sums by a key, in order of the keys.
pub fn by_key<K: Ord>(rows: &[UsageRow], key: impl Fn(&UsageRow) -> K) -> Vec<(K, Sum)> {
    let mut sums: BTreeMap<K, Sum> = BTreeMap::new();
    for row in rows {
        sums.entry(key(row)).or_default().add(row);
    }
    sums.into_iter().collect()
}

/// The main working tree of a repository; a bare one has none.
pub fn name_of(place: &str) -> String {
    place.strip_suffix("/.git").filter(|root| !root.is_empty()).unwrap_or(place).to_owned()
}

/// The repository of each folder, as memories name it, as far as the file system answers in time.
pub fn repositories(folders: Vec<String>) -> HashMap<String, String> {
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

pub fn tokens_of(usage: Usage) -> Tokens {
    Tokens {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
    }
}
