//! The usage of a span of days, by day, session, model and whether a subagent asked: small enough to be summed up in memory.

use std::collections::HashMap;
use std::sync::Arc;

use watchbill_core::prices::Costs;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use crate::stats::CostOf;
use crate::{Store, StoreError};

/// The requests of one day, session and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The day, by its place among the beginnings.
    pub day: usize,
    /// The session in which they were first seen.
    pub session: Arc<str>,
    /// The folder of its project, as in [`crate::stats::TokenRow::key`].
    pub folder: Option<String>,
    /// The model.
    pub model: Option<Arc<str>>,
    /// Whether subagents made them.
    pub of_subagent: bool,
    /// How many.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Usage,
    /// What they cost; `None` if the model has no price.
    pub cost: Option<Costs>,
}

/// The work chain of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionChain {
    /// The chain.
    pub chain_id: String,
    /// The user's name for it, or else a title.
    pub title: Option<String>,
}

impl Store {
    /// The usage from the first of these beginnings of days on, each request once. `days` is in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn usage(&self, days: &[Timestamp], cost_of: CostOf<'_>) -> Result<Vec<UsageRow>, StoreError> {
        type Key = (usize, Arc<str>, Option<Arc<str>>, bool);
        let folders = self.project_folders()?;
        let mut rows: HashMap<Key, UsageRow> = HashMap::new();
        for request in self.distinct_requests(days.first().copied())?.into_values() {
            let began = request.at.map_or(0, |at| days.partition_point(|day| *day <= at));
            let Some(day) = began.checked_sub(1) else { continue };
            let cost = cost_of(request.model.as_deref(), &request.usage);
            let key = (day, request.owner.session.clone(), request.model.clone(), request.of_subagent);
            let row = rows.entry(key).or_insert_with(|| UsageRow {
                day,
                session: request.owner.session.clone(),
                folder: request.folder(&folders).map(str::to_owned),
                model: request.model.clone(),
                of_subagent: request.of_subagent,
                requests: 0,
                tokens: Usage::default(),
                cost: cost.map(|_| Costs::default()),
            });
            row.requests += 1;
            row.tokens.add(request.usage);
            if let (Some(sum), Some(cost)) = (&mut row.cost, cost) {
                sum.add(&cost);
            }
        }
        Ok(rows.into_values().collect())
    }

    /// The work chain of each session.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_chains(&self) -> Result<HashMap<String, SessionChain>, StoreError> {
        let query =
            "SELECT s.session_id, coalesce(s.chain_id, s.session_id), coalesce(c.name, s.title, s.goal)
            FROM sessions s LEFT JOIN chains c ON c.chain_id = s.chain_id ORDER BY s.active_at";
        self.rows(query, [], |row| {
            Ok((row.get(0)?, SessionChain { chain_id: row.get(1)?, title: row.get(2)? }))
        })
    }
}
