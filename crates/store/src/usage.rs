//! The usage by day, session, model and whether a subagent asked: small enough to be summed up in memory.

use std::collections::{HashMap, HashSet, hash_map};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use watchbill_core::prices::{Costs, Prices};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use crate::tables::{at, shared, time, uncount};
use crate::{Store, StoreError};

/// Requests of one day, file and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The day, as the asker numbers it; `None` if no time of the requests is known.
    pub day: Option<usize>,
    /// The session in which they were first seen.
    pub session: Arc<str>,
    /// The folder of its project; `None` if it is unknown.
    ///
    /// The agent names a transcript folder after the folder in which a session was launched. This is the launch folder of the
    /// session itself, or else of another session, whose name matches. If neither matches, it is the session's launch folder, or
    /// else just the name.
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

/// Whose a file's requests are.
struct Owner {
    session: Arc<str>,
    project: Option<String>,
    cwd: Option<String>,
    /// The file is a subagent's.
    of_subagent: bool,
}

impl Owner {
    /// The folder of its project. Several folders may have the same name: `my-app` and `my/app` do.
    fn folder<'r>(&'r self, folders: &'r HashMap<String, String>) -> Option<&'r str> {
        let (name, cwd) = (self.project.as_deref(), self.cwd.as_deref());
        let own = cwd.filter(|cwd| name.is_some_and(|name| is_name_of(name, cwd)));
        let named = || folders.get(name?).map(String::as_str);
        own.or_else(named).or(cwd).or(name)
    }
}

/// A request as one file records it, or merged from all files. There may be a million of them.
struct RequestRecord {
    copied: bool,
    of_subagent: bool,
    /// The model's number; 0 stands for an unknown one.
    model: u32,
    /// The owner's number.
    owner: u32,
    at: Option<Timestamp>,
    usage: Usage,
}

impl RequestRecord {
    /// Merges another record of the same request. The request belongs to the session that saw it first. Of each
    /// token count the greatest one is kept.
    fn merge(&mut self, other: Self, owners: &[Owner]) {
        let (mine, theirs) = (self.usage, other.usage);
        let place = |one: &Self| (one.copied, one.at, &owners[one.owner as usize].session);
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

/// All requests, each once, with what their numbers mean.
struct Requests {
    records: FxHashMap<i64, RequestRecord>,
    owners: Vec<Owner>,
    models: Vec<Option<Arc<str>>>,
}

impl Store {
    /// The usage since a time, each request once. A request that a session copied from one that is inactive since then counts by the
    /// time that the copy gives. `day_of` numbers the day of a time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn usage(
        &self,
        since: Option<Timestamp>,
        day_of: &mut dyn FnMut(Timestamp) -> usize,
        prices: Option<&Prices>,
    ) -> Result<Vec<UsageRow>, StoreError> {
        let folders = self.project_folders()?;
        let requests = self.distinct_requests(since)?;
        let price = |model: &Option<Arc<str>>| prices.and_then(|prices| prices.of(model.as_deref()?));
        let prices: Vec<_> = requests.models.iter().map(price).collect();
        // Without a token a request costs nothing.
        let cost_of = |model: u32, usage: &Usage| match *usage == Usage::default() {
            true => Some(Costs::default()),
            false => prices[model as usize]?.cost(usage),
        };
        let mut rows: FxHashMap<(Option<usize>, u32, u32, bool, bool), UsageRow> = FxHashMap::default();
        for request in requests.records.values() {
            if since.is_some_and(|since| request.at.is_none_or(|at| at < since)) {
                continue;
            }
            let day = request.at.map(&mut *day_of);
            let cost = cost_of(request.model, &request.usage);
            let key = (day, request.owner, request.model, request.of_subagent, cost.is_some());
            let row = rows.entry(key).or_insert_with(|| {
                let owner = &requests.owners[request.owner as usize];
                UsageRow {
                    day,
                    session: owner.session.clone(),
                    folder: owner.folder(&folders).map(str::to_owned),
                    model: requests.models[request.model as usize].clone(),
                    of_subagent: request.of_subagent,
                    requests: 0,
                    tokens: Usage::default(),
                    cost: cost.map(|_| Costs::default()),
                }
            });
            row.requests += 1;
            row.tokens.add(request.usage);
            if let (Some(sum), Some(cost)) = (&mut row.cost, cost) {
                sum.add(&cost);
            }
        }
        Ok(rows.into_values().collect())
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
    fn distinct_requests(&self, since: Option<Timestamp>) -> Result<Requests, StoreError> {
        self.with_sql(|sql| {
            let mut numbers: FxHashMap<i64, u32> = FxHashMap::default();
            let mut owners: Vec<Owner> = Vec::new();
            let mut statement = sql.prepare_cached(
                // The main file of a subagent's session may be gone: then its own records name the folder.
                "SELECT f.id, s.session_id, s.project, coalesce(s.cwd, (SELECT min(cwd) FROM folders d WHERE d.file = f.id)),
                    f.subagent IS NOT NULL
                 FROM files f JOIN sessions s ON s.id = f.session WHERE coalesce(s.active_at >= ?1 - 86400000, 1)",
            )?;
            let mut rows = statement.query([at(since)])?;
            while let Some(row) = rows.next()? {
                numbers.insert(row.get(0)?, u32::try_from(owners.len()).unwrap_or(u32::MAX));
                let session = shared(row, 1)?.unwrap_or_default();
                owners.push(Owner { session, project: row.get(2)?, cwd: row.get(3)?, of_subagent: row.get(4)? });
            }
            let mut models: Vec<Option<Arc<str>>> = vec![None];
            let mut records: FxHashMap<i64, RequestRecord> = FxHashMap::default();
            let mut statement = sql.prepare_cached(
                "SELECT r.request, r.file, r.copied, r.at, r.model, r.input, r.output, r.cache_read, r.cache_write, r.subagent IS NOT NULL
                 FROM sessions s CROSS JOIN files f ON f.session = s.id CROSS JOIN requests r ON r.file = f.id
                 WHERE coalesce(s.active_at >= ?1 - 86400000, 1)",
            )?;
            let mut rows = statement.query([at(since)])?;
            let mut by_name: HashMap<String, u32> = HashMap::new();
            // The requests of a file are together, and so are those of a model.
            let (mut file, mut owner, mut model) = (None, 0, 0_u32);
            while let Some(row) = rows.next()? {
                let of = row.get::<_, i64>(1)?;
                if file != Some(of) {
                    let Some(number) = numbers.get(&of) else { continue };
                    (file, owner) = (Some(of), *number);
                }
                let name = row.get_ref(4)?.as_str_or_null()?;
                if models[model as usize].as_deref() != name {
                    model = match name {
                        None => 0,
                        Some(name) => *by_name.entry(name.to_owned()).or_insert_with(|| {
                            models.push(Some(Arc::from(name)));
                            u32::try_from(models.len() - 1).unwrap_or_default()
                        }),
                    };
                }
                let usage = Usage {
                    input: uncount(row.get(5)?),
                    output: uncount(row.get(6)?),
                    cache_read: uncount(row.get(7)?),
                    cache_write: uncount(row.get(8)?),
                };
                let one = RequestRecord {
                    copied: row.get(2)?,
                    of_subagent: owners[owner as usize].of_subagent || row.get(9)?,
                    model,
                    owner,
                    at: time(row, 3)?,
                    usage,
                };
                match records.entry(row.get(0)?) {
                    hash_map::Entry::Vacant(free) => drop(free.insert(one)),
                    hash_map::Entry::Occupied(mut taken) => taken.get_mut().merge(one, &owners),
                }
            }
            Ok(Requests { records, owners, models })
        })
    }

    /// The sessions of an agent that have a file below a folder.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sessions_below(&self, agent: &str, folder: &str) -> Result<HashSet<Arc<str>>, StoreError> {
        let query = "SELECT DISTINCT s.session_id FROM files f JOIN sessions s ON s.id = f.session
            WHERE s.agent = ?1 AND substr(f.path, 1, length(?2)) = ?2";
        let separator = std::path::MAIN_SEPARATOR;
        let below = format!("{}{separator}", folder.trim_end_matches(separator));
        let rows: Vec<Arc<str>> = self.rows(query, [agent, &below], |row| row.get(0))?;
        Ok(rows.into_iter().collect())
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
