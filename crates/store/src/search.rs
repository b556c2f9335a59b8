//! Full-text search over all stored texts: the newest and most relevant first.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use watchbill_core::history::rows::Role;
use watchbill_core::time::Timestamp;

use crate::tables::{FileKey, SessionKey, at, time, uncount};
use crate::text::find::Finder;
use crate::text::query::Terms;
use crate::text::{snippet, tags};
use crate::{Store, StoreError};

/// A search request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The text that the user typed: words, phrases in quotes, a star at the end of a word.
    pub text: String,
    /// Whether the user is still typing, so that the last word may be incomplete.
    pub typing: bool,
    /// Only these sessions, such as those of a project or a chain; `None` means all.
    pub sessions: Option<Vec<SessionKey>>,
    /// Only this role.
    pub role: Option<Role>,
    /// Only this tool, ignoring case.
    pub tool: Option<String>,
    /// Only texts at or after this time.
    pub since: Option<Timestamp>,
    /// Only texts before this time.
    pub until: Option<Timestamp>,
    /// How many hits at most.
    pub limit: u32,
    /// How many of the best hits to skip, because earlier pages have shown them.
    pub skip: u32,
}

impl Query {
    /// Searches for the typed text everywhere.
    pub fn new(text: &str, limit: u32) -> Self {
        Self {
            text: text.to_owned(),
            typing: false,
            sessions: None,
            role: None,
            tool: None,
            since: None,
            until: None,
            limit,
            skip: 0,
        }
    }
}

/// A text that matches the whole query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The session.
    pub session_id: String,
    /// Its work chain.
    pub chain_id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The subagent, if it is a subagent's text.
    pub subagent: Option<String>,
    /// Time of the record.
    pub at: Option<Timestamp>,
    /// The name of the role.
    pub role: String,
    /// The tool, if the text is a tool's input or result.
    pub tool: Option<String>,
    /// A part of the text around the matches, on one line.
    pub snippet: String,
    /// The matches in the snippet, as byte ranges, in order and without overlaps.
    pub marks: Vec<Range<usize>>,
    /// The file that holds the record.
    pub path: String,
    /// Byte offset of the record in the file.
    pub offset: u64,
    /// Higher is better; comparable only within one answer.
    pub score: f64,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResult {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Whether there are more hits than these.
    pub more: bool,
    /// Whether the search took its time and ended early, so that hits may be missing.
    pub cut: bool,
}

/// Matches are ranked in groups of so many, the newest first. Ranking all matches at once would cost a tenth of a
/// second for a common word.
const GROUP_SIZE: usize = 120;
/// More sessions than these are filtered one by one instead of being named in the query.
const MAX_SESSIONS_IN_QUERY: usize = 400;
/// After so many milliseconds, a text has lost half of what its age can take from its score.
const HALF_LIFE: f64 = 14.0 * 24.0 * 3_600_000.0;

/// Says whether a search is still wanted: its client waits.
pub type StillWanted = Arc<dyn Fn() -> bool + Send + Sync>;

/// SQLite asks whether the search is still wanted after so many of its own operations, which take less than a millisecond.
const OPERATIONS: i32 = 1_000;
/// How long a search looks for matches. Those of usual words take milliseconds.
const TIME: Duration = Duration::from_secs(3);

/// The look for matches. Its time ends it; what it has found is then read without a limit.
#[derive(Default)]
struct Look {
    is_running: AtomicBool,
    /// It took its time and was ended.
    is_cut: AtomicBool,
}

impl Store {
    /// The same, as long as it is wanted, and for three seconds at most.
    ///
    /// # Errors
    /// When it is wanted no more, or the database cannot be read.
    pub fn search_while(&mut self, query: &Query, wanted: &StillWanted) -> Result<SearchResult, StoreError> {
        let (wanted, begun) = (AssertUnwindSafe(Arc::clone(wanted)), Instant::now());
        let look = Arc::new(Look::default());
        let ends = Arc::clone(&look);
        let is_over = move || {
            let wanted = &wanted;
            let is_late = ends.is_running.load(Relaxed) && begun.elapsed() > TIME;
            !wanted() || (is_late && !ends.is_cut.swap(true, Relaxed))
        };
        let set = self.sql.progress_handler(OPERATIONS, Some(is_over));
        set.map_err(|error| self.map_error(&error))?;
        let found = self.search_until(query, &look);
        let unset = self.sql.progress_handler(0, None::<fn() -> bool>);
        unset.map_err(|error| self.map_error(&error)).and(found)
    }

    /// Searches the stored texts.
    ///
    /// # Errors
    /// When the database cannot be read. No typed text is an error.
    pub fn search(&self, query: &Query) -> Result<SearchResult, StoreError> {
        self.search_until(query, &Look::default())
    }

    fn search_until(&self, query: &Query, state: &Look) -> Result<SearchResult, StoreError> {
        let terms = Terms::parse(&query.text, query.typing);
        // One read transaction: a writer may remove a text between finding it and showing it.
        let _moment = self.sql.unchecked_transaction().map_err(|e| self.map_error(&e))?;
        if query.typing && terms.is_last_incomplete() {
            // Looking through all words of the index with this prefix takes tens of milliseconds. It is not needed
            // if the word as typed fills the page.
            let whole = self.search_terms(query, &Terms::parse(&query.text, false), state)?;
            if whole.more || whole.cut {
                return Ok(whole);
            }
        }
        self.search_terms(query, &terms, state)
    }

    fn search_terms(&self, query: &Query, terms: &Terms, state: &Look) -> Result<SearchResult, StoreError> {
        let Some(fts) = terms.to_fts() else { return Ok(SearchResult::default()) };
        if query.sessions.as_ref().is_some_and(Vec::is_empty) {
            return Ok(SearchResult::default());
        }
        let wanted = (query.skip as usize).saturating_add(query.limit as usize);
        let mut ranking = Ranking::new(terms, wanted.saturating_add(1));
        let look = |fts: &str, ranking: &mut Ranking| {
            let take = &mut |candidate| ranking.add_candidate(candidate);
            state.is_running.store(true, Relaxed);
            let looked = self.with_sql(|sql| candidates(sql, query, fts, take));
            state.is_running.store(false, Relaxed);
            match looked {
                Err(StoreError::Unwanted) if state.is_cut.load(Relaxed) => Ok(()),
                looked => looked,
            }
        };
        // A name as typed is one look-up. The parts of a name are common words, and SQLite has to check every
        // position of each to see whether they are adjacent. That is not needed if the name itself fills the page.
        if let Some(spelled) = terms.spelled() {
            look(&spelled, &mut ranking)?;
            ranking.rank();
        }
        if !ranking.is_full() && !state.is_cut.load(Relaxed) {
            look(&fts, &mut ranking)?;
        }
        let mut found = ranking.finish();
        let more = found.len() > wanted;
        found.truncate(wanted);
        let hits = found.drain(..).skip(query.skip as usize);
        let hits = self.with_sql(|sql| hits.map(|found| to_hit(sql, found)).collect())?;
        Ok(SearchResult { hits, more, cut: state.is_cut.load(Relaxed) })
    }
}

/// A matching text, before it is ranked.
struct Candidate {
    session: SessionKey,
    file: FileKey,
    offset: u64,
    part: u16,
    at: Option<Timestamp>,
    role: String,
    tool: Option<String>,
    subagent: Option<String>,
    text: String,
}

/// Passes the matches to `take`, newest first, until it has enough.
fn candidates(
    sql: &Connection,
    query: &Query,
    fts: &str,
    take: &mut dyn FnMut(Candidate) -> bool,
) -> rusqlite::Result<()> {
    let mut filtered = fts.to_owned();
    let mut filter = |tags: &str| {
        filtered.push_str(" AND tags : ");
        filtered.push_str(tags);
    };
    if let Some(role) = query.role {
        filter(&tags::role_tag(role.as_str()));
    }
    if let Some(tool) = &query.tool {
        filter(&tags::tool_tag(tool));
    }
    let mut only: Option<HashSet<SessionKey>> = None;
    match &query.sessions {
        Some(sessions) if sessions.len() <= MAX_SESSIONS_IN_QUERY => {
            let tags: Vec<String> = sessions.iter().map(|key| tags::session_tag(key.0)).collect();
            filter(&format!("({})", tags.join(" OR ")));
        }
        Some(sessions) => only = Some(sessions.iter().copied().collect()),
        None => {}
    }
    let mut statement = sql.prepare_cached(
        "SELECT t.session, t.file, t.byte, t.part, t.at, t.role, t.tool, t.subagent, t.text
         FROM texts_fts x CROSS JOIN texts t ON t.id = x.rowid
         WHERE x.texts_fts MATCH ?1 AND x.rowid >= ?2 AND (?3 IS NULL OR t.at >= ?3) AND (?4 IS NULL OR t.at < ?4)
         ORDER BY x.rowid DESC",
    )?;
    let oldest = oldest_text(sql, query.since)?;
    let mut rows = statement.query((filtered, oldest, at(query.since), at(query.until)))?;
    while let Some(row) = rows.next()? {
        let session: SessionKey = row.get(0)?;
        if only.as_ref().is_some_and(|only| !only.contains(&session)) {
            continue;
        }
        let candidate = Candidate {
            session,
            file: row.get(1)?,
            offset: uncount(row.get(2)?),
            part: row.get(3)?,
            at: time(row, 4)?,
            role: row.get(5)?,
            tool: row.get(6)?,
            subagent: row.get(7)?,
            text: row.get(8)?,
        };
        if !take(candidate) {
            break;
        }
    }
    Ok(())
}

/// The id of the first text that can be new enough. Otherwise a search for a common word of the last hour would
/// read all history. If very many files are new enough, matches are found soon anyway, and this returns zero.
fn oldest_text(sql: &Connection, since: Option<Timestamp>) -> rusqlite::Result<i64> {
    const FILES: i64 = 1_000;
    let Some(since) = since else { return Ok(0) };
    let (files, oldest): (i64, Option<i64>) = sql
        .prepare_cached(
            "SELECT count(*), min(first) FROM (
                SELECT (SELECT id FROM texts WHERE file = f.id ORDER BY byte, part LIMIT 1) AS first
                FROM files f WHERE f.text_at >= ?1 LIMIT ?2)",
        )?
        .query_row((since.as_millis(), FILES), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(if files < FILES { oldest.unwrap_or(i64::MAX) } else { 0 })
}

/// A candidate with its score. In place of the text, which may be long, it has the snippet.
struct Found {
    candidate: Candidate,
    marks: Vec<Range<usize>>,
    score: f64,
}

/// Ranks candidates, one group at a time.
struct Ranking {
    finder: Finder,
    enough: usize,
    /// The group that is collected now.
    heap: Vec<Found>,
    ranked: Vec<Found>,
    /// Forks repeat the records that they began with: equal texts of the same time are shown once.
    seen: HashSet<(Option<Timestamp>, u64)>,
    /// The newest candidate's time. Candidates come newest first, except from files that were read late.
    newest: Option<Timestamp>,
}

impl Ranking {
    fn new(terms: &Terms, enough: usize) -> Self {
        Self {
            finder: Finder::new(terms),
            enough,
            heap: Vec::new(),
            ranked: Vec::new(),
            seen: HashSet::new(),
            newest: None,
        }
    }

    /// Takes a candidate; returns whether more are wanted.
    fn add_candidate(&mut self, mut candidate: Candidate) -> bool {
        let mut hash = DefaultHasher::new();
        (&candidate.role, candidate.part, &candidate.text).hash(&mut hash);
        if self.seen.insert((candidate.at, hash.finish())) {
            self.newest = self.newest.max(candidate.at);
            let marks = self.finder.find(&candidate.text);
            let score = self.finder.weigh(&candidate.text, &marks) * weight_of(&candidate.role);
            let (snippet, marks) = snippet::around(&candidate.text, &marks);
            candidate.text = snippet;
            self.heap.push(Found { candidate, marks, score });
            if self.heap.len() == GROUP_SIZE {
                self.rank();
            }
        }
        !self.is_full()
    }

    fn is_full(&self) -> bool {
        self.ranked.len() >= self.enough
    }

    fn finish(mut self) -> Vec<Found> {
        self.rank();
        self.ranked
    }

    fn rank(&mut self) {
        for found in &mut self.heap {
            let age = match (self.newest, found.candidate.at) {
                (Some(newest), Some(at)) => newest.since(at).0 as f64,
                _ => HALF_LIFE,
            };
            found.score *= 0.25 + 0.75 * 0.5f64.powf(age / HALF_LIFE);
        }
        // The sort is stable: of equal scores the newest stays first.
        self.heap.sort_by(|a, b| b.score.total_cmp(&a.score));
        // A later group was not ranked against this one, so its scores must not exceed it.
        let least = self.ranked.last().map_or(f64::INFINITY, |last| last.score);
        self.ranked.extend(self.heap.drain(..).map(|found| Found { score: found.score.min(least), ..found }));
    }
}

/// Users look for conversation rather than for the output of tools.
fn weight_of(role: &str) -> f64 {
    match role.parse() {
        Ok(Role::Title) => 2.0,
        Ok(Role::Prompt) => 1.6,
        Ok(Role::Answer | Role::Summary) => 1.3,
        Ok(Role::ToolResult | Role::Notice) => 0.7,
        _ => 1.0,
    }
}

/// Makes a hit of a ranked candidate.
fn to_hit(sql: &Connection, found: Found) -> rusqlite::Result<Hit> {
    let Found { candidate, marks, score } = found;
    sql.prepare_cached(
        "SELECT s.session_id, s.chain_id, s.title, f.path, f.subagent
         FROM sessions s, files f WHERE s.id = ?1 AND f.id = ?2",
    )?
    .query_row((candidate.session, candidate.file), |row| {
        Ok(Hit {
            session_id: row.get(0)?,
            chain_id: row.get(1)?,
            title: row.get(2)?,
            path: row.get(3)?,
            subagent: candidate.subagent.or(row.get(4)?),
            at: candidate.at,
            role: candidate.role,
            tool: candidate.tool,
            snippet: candidate.text,
            marks,
            offset: candidate.offset,
            score,
        })
    })
}
