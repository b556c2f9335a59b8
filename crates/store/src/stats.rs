//! Statistics over everything that is stored: tokens, sessions, tools.

use std::collections::{BTreeMap, HashMap, btree_map, hash_map};
use std::sync::Arc;

use jiff::tz::TimeZone;
use watchbill_core::prices::{Costs, PicoUsd};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use crate::tables::{at, shared, time, uncount};
use crate::{Store, StoreError};

/// How tokens are grouped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenGroup {
    /// The day in this time zone.
    Day(TimeZone),
    /// The project.
    Project,
    /// The model.
    Model,
}

/// The tokens of one day, project or model, each request once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenRow {
    /// The day as `2026-11-21`, the project's folder or the model; `None` if it is unknown.
    ///
    /// The agent names a transcript folder after the folder in which a session was launched. The key of a project
    /// is the launch folder of the session itself, or else of another session, whose name matches. If neither
    /// matches, it is the session's launch folder, or else just the name.
    pub key: Option<String>,
    /// How many requests.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Usage,
    /// What they cost, as far as their models have a price.
    pub cost: PicoUsd,
    /// The tokens of models without a price.
    pub unpriced: u64,
}

impl TokenRow {
    /// Adds the requests of another row.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.tokens.add(other.tokens);
        self.cost += other.cost;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }
}

/// The cost of a request to a model, by kind of token; `None` if the model has no price.
pub type CostOf<'c> = &'c mut dyn FnMut(Option<&str>, &Usage) -> Option<Costs>;

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    /// Its name.
    pub tool: String,
    /// How often it was called.
    pub calls: u64,
    /// How many of the calls failed.
    pub errors: u64,
    /// Milliseconds of all calls whose end is known.
    pub millis: u64,
}

/// The longest believable call, a year. A longer span is a mistake in the record, and the sum of a few of them
/// would overflow.
const MAX_CALL_TIME: i64 = 365 * 86_400_000;

/// Whose a file's requests are.
pub(crate) struct Owner {
    pub(crate) session: Arc<str>,
    project: Option<String>,
    cwd: Option<String>,
    /// The file is a subagent's.
    of_subagent: bool,
}

/// A request as one file records it, or merged from all files.
pub(crate) struct RequestRecord {
    copied: bool,
    pub(crate) at: Option<Timestamp>,
    pub(crate) owner: Arc<Owner>,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) of_subagent: bool,
    pub(crate) usage: Usage,
}

impl RequestRecord {
    /// The folder of its project. Several folders may have the same name: `my-app` and `my/app` do.
    pub(crate) fn folder<'r>(&'r self, folders: &'r HashMap<String, String>) -> Option<&'r str> {
        let (name, cwd) = (self.owner.project.as_deref(), self.owner.cwd.as_deref());
        let own = cwd.filter(|cwd| name.is_some_and(|name| is_name_of(name, cwd)));
        let named = || folders.get(name?).map(String::as_str);
        own.or_else(named).or(cwd).or(name)
    }

    /// Merges another record of the same request. The request belongs to the session that saw it first. Of each
    /// token count the greatest one is kept.
    fn merge(&mut self, other: Self) {
        let (mine, theirs) = (self.usage, other.usage);
        let place = |one: &Self| (one.copied, one.at, one.owner.session.clone());
        if place(&other) < place(self) {
            *self = other;
        }
        self.usage = Usage {
            input: mine.input.max(theirs.input),
            output: mine.output.max(theirs.output),
            cache_read: mine.cache_read.max(theirs.cache_read),
            cache_write: mine.cache_write.max(theirs.cache_write),
        };
    }
}

/// Whether the agent makes this name of that folder. It replaces everything but ASCII letters and digits by a dash
/// (its documentation, sessions.md; so in 96 of 96 folders of recorded sessions). It cuts names of more than 200
/// characters, which are not recognised here.
fn is_name_of(project: &str, cwd: &str) -> bool {
    // JavaScript counts in UTF-16: a character beyond the first plane becomes two dashes.
    let dashed = cwd.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    });
    dashed.eq(project.chars())
}

impl Store {
    /// Tokens since a time, each request once. A request that a session copied from one that is inactive since then counts by the
    /// time that the copy gives. Days are sorted newest first, projects and models largest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tokens(
        &self,
        by: &TokenGroup,
        since: Option<Timestamp>,
        cost_of: CostOf<'_>,
    ) -> Result<Vec<TokenRow>, StoreError> {
        let mut sums: BTreeMap<Option<String>, TokenRow> = BTreeMap::new();
        let folders = if *by == TokenGroup::Project { self.project_folders()? } else { HashMap::new() };
        for request in self.distinct_requests(since)?.into_values() {
            if since.is_some_and(|since| request.at.is_none_or(|at| at < since)) {
                continue;
            }
            let key = match by {
                TokenGroup::Day(zone) => request.at.map(|at| at.day(zone)),
                TokenGroup::Project => request.folder(&folders).map(str::to_owned),
                TokenGroup::Model => request.model.as_deref().map(str::to_owned),
            };
            let cost = cost_of(request.model.as_deref(), &request.usage);
            let one = TokenRow {
                key: key.clone(),
                requests: 1,
                tokens: request.usage,
                cost: cost.unwrap_or_default().sum(),
                unpriced: if cost.is_none() { request.usage.all() } else { 0 },
            };
            match sums.entry(key) {
                btree_map::Entry::Vacant(free) => drop(free.insert(one)),
                btree_map::Entry::Occupied(mut sum) => sum.get_mut().add(&one),
            }
        }
        let mut rows: Vec<TokenRow> = sums.into_values().collect();
        match by {
            TokenGroup::Day(_) => rows.reverse(),
            TokenGroup::Project | TokenGroup::Model => {
                rows.sort_by_key(|row| std::cmp::Reverse(row.tokens.output))
            }
        }
        Ok(rows)
    }

    /// The launch folders that match a project's name, by that name.
    pub(crate) fn project_folders(&self) -> Result<HashMap<String, String>, StoreError> {
        self.with_sql(|sql| {
            let mut statement = sql.prepare_cached(
                "SELECT DISTINCT project, cwd FROM sessions WHERE project IS NOT NULL AND cwd IS NOT NULL ORDER BY 1, 2",
            )?;
            let pairs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let pairs = pairs.collect::<rusqlite::Result<Vec<(String, String)>>>()?;
            Ok(pairs.into_iter().filter(|(project, cwd)| is_name_of(project, cwd)).collect())
        })
    }

    /// Every request once, as in the view v_usage. The view sorts them all, which takes five times as long. With a time, only those of
    /// sessions that were active since then, with a day to spare.
    pub(crate) fn distinct_requests(
        &self,
        since: Option<Timestamp>,
    ) -> Result<HashMap<i64, RequestRecord>, StoreError> {
        self.with_sql(|sql| {
            let owners: HashMap<i64, Arc<Owner>> = sql
                .prepare_cached(
                    // The main file of a subagent's session may be gone: then its own records name the folder.
                    "SELECT f.id, s.session_id, s.project, coalesce(s.cwd, (SELECT min(cwd) FROM folders d WHERE d.file = f.id)),
                        f.subagent IS NOT NULL
                     FROM files f JOIN sessions s ON s.id = f.session WHERE coalesce(s.active_at >= ?1 - 86400000, 1)",
                )?
                .query_map([at(since)], |row| {
                    let session = shared(row, 1)?.unwrap_or_default();
                    let owner = Owner { session, project: row.get(2)?, cwd: row.get(3)?, of_subagent: row.get(4)? };
                    Ok((row.get(0)?, Arc::new(owner)))
                })?
                .collect::<rusqlite::Result<_>>()?;
            let mut models: HashMap<String, Arc<str>> = HashMap::new();
            let mut requests: HashMap<i64, RequestRecord> = HashMap::new();
            let mut statement = sql.prepare_cached(
                "SELECT r.request, r.file, r.copied, r.at, r.model, r.input, r.output, r.cache_read, r.cache_write, r.subagent IS NOT NULL
                 FROM sessions s CROSS JOIN files f ON f.session = s.id CROSS JOIN requests r ON r.file = f.id
                 WHERE coalesce(s.active_at >= ?1 - 86400000, 1)",
            )?;
            let mut rows = statement.query([at(since)])?;
            while let Some(row) = rows.next()? {
                let Some(owner) = owners.get(&row.get::<_, i64>(1)?) else { continue };
                let model = row.get_ref(4)?.as_str_or_null()?.map(|name| match models.get(name) {
                    Some(model) => model.clone(),
                    None => models.entry(name.to_owned()).or_insert(Arc::from(name)).clone(),
                });
                let usage = Usage {
                    input: uncount(row.get(5)?),
                    output: uncount(row.get(6)?),
                    cache_read: uncount(row.get(7)?),
                    cache_write: uncount(row.get(8)?),
                };
                let one = RequestRecord {
                    copied: row.get(2)?,
                    at: time(row, 3)?,
                    owner: owner.clone(),
                    model,
                    of_subagent: owner.of_subagent || row.get(9)?,
                    usage,
                };
                match requests.entry(row.get(0)?) {
                    hash_map::Entry::Vacant(free) => drop(free.insert(one)),
                    hash_map::Entry::Occupied(mut taken) => taken.get_mut().merge(one),
                }
            }
            Ok(requests)
        })
    }

    /// How often each tool was called since a time, the most used first. A call that a fork has copied counts once.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tools(&self, since: Option<Timestamp>) -> Result<Vec<ToolRow>, StoreError> {
        self.rows(
            "SELECT coalesce(tool, ''), count(*), sum(failed), sum(span) FROM (
                    SELECT max(tool) AS tool, max(coalesce(outcome = 'error', 0)) AS failed,
                        max(min(max(0, coalesce(millis, ended_at - at, 0)), ?2)) AS span
                    FROM activities WHERE ?1 IS NULL OR at >= ?1 GROUP BY call, at
                 ) GROUP BY tool ORDER BY count(*) DESC, tool",
            [at(since), Some(MAX_CALL_TIME)],
            |row| {
                Ok(ToolRow {
                    tool: row.get(0)?,
                    calls: uncount(row.get(1)?),
                    errors: uncount(row.get(2)?),
                    millis: uncount(row.get(3)?),
                })
            },
        )
    }

    /// Sessions and prompts since a time. Notices of the agent and words of other sessions are no prompts, and one that a
    /// fork has copied counts once.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_counts(&self, since: Option<Timestamp>) -> Result<(u64, u64), StoreError> {
        let query = "SELECT (SELECT count(*) FROM sessions WHERE ?1 IS NULL OR active_at >= ?1),
                        (SELECT count(*) FROM
                            (SELECT DISTINCT batch, started_at FROM batches WHERE (?1 IS NULL OR started_at >= ?1)
                                AND coalesce(origin, 'human') IN ('human', 'queued')))";
        self.only_row(query, [at(since)], |row| Ok((uncount(row.get(0)?), uncount(row.get(1)?))))
    }
}
