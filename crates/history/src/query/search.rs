//! Full-text search over everything stored: takes questions as the user types them, gives answers as the contract
//! defines them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use watchbill_agents::Root;
use watchbill_core::history::HistorySettings;
use watchbill_core::ids::{ChainId, SessionId};
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::search::{Hit, IndexState, SearchAnswer, SearchQuery, SnippetPart};
use watchbill_settings::Settings;
pub use watchbill_store::search::StillWanted;
use watchbill_store::search::{Hit as StoredHit, Query};
use watchbill_store::tables::SessionKey;
use watchbill_store::tables::texts::Role;
use watchbill_store::{OpenMode, Store, StoreError};
use watchbill_watch::fs::Fs;

use super::lag::lag;
use super::named::{IdScope, MAX_CANDIDATES, resolve_one};
use crate::errors::store_api_error;
use crate::history_progress::{HistoryProgress, HistoryState};

/// Hits of an answer without a given limit.
const DEFAULT_LIMIT: u32 = 20;
/// Most hits of one answer.
const MAX_LIMIT: u32 = 1000;
/// Longest text of a search, in bytes and in words. Each word is a lookup.
const MAX_QUERY_BYTES: usize = 4096;
const MAX_QUERY_WORDS: usize = 64;
/// How long the state of the index is taken for unchanged, in milliseconds.
const STATE_MAX_AGE_MS: u128 = 10_000;

/// Searches one store. It keeps its connection, so that each keystroke costs only a query.
pub struct Searcher {
    data_dir: Option<PathBuf>,
    roots: Vec<Root>,
    /// A connection that no search uses now.
    kept: Mutex<Option<Store>>,
    /// When all transcripts were last compared with the store, and the result.
    last_comparison: Mutex<Option<(Instant, IndexState)>>,
    damaged: AtomicBool,
    reach: Arc<HistoryProgress>,
}

impl Searcher {
    /// For the store and the transcripts that the settings name. It opens nothing before the first question.
    pub fn new(settings: &Settings) -> Self {
        Self {
            data_dir: settings.data_dir.clone(),
            roots: settings.stored_roots(),
            kept: Mutex::default(),
            last_comparison: Mutex::default(),
            damaged: AtomicBool::new(false),
            reach: Arc::default(),
        }
    }

    /// Where the history's thread publishes how up to date it is. While that is known, no comparison is needed.
    pub fn reach(&self) -> &Arc<HistoryProgress> {
        &self.reach
    }

    /// Answers a question, as long as it is `wanted`. No typed text is an error, and an empty store gives an answer.
    /// `history` has the current rules.
    ///
    /// # Errors
    /// When a filter makes no sense, the question is wanted no more, or the store cannot be read.
    pub fn search(
        &self,
        fs: &dyn Fs,
        history: &HistorySettings,
        asked: &SearchQuery,
        wanted: &StillWanted,
    ) -> Result<SearchAnswer, ApiError> {
        let words = asked.query.split_whitespace().count();
        if asked.query.len() > MAX_QUERY_BYTES || words > MAX_QUERY_WORDS {
            let limits = format!("{MAX_QUERY_WORDS} words and {MAX_QUERY_BYTES} bytes");
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("a search takes at most {limits}: shorten the text"),
            ));
        }
        let data_dir = self.data_dir()?;
        let reached = self.reach.get();
        let begun = Instant::now();
        // No search waits for another: one that begins meanwhile opens a connection of its own.
        let kept = lock(&self.kept).take().filter(Store::is_in_place);
        let found = match kept {
            Some(store) => Ok(store),
            None => Store::open(data_dir, OpenMode::Read),
        }
        .and_then(|mut store| Ok((find(&mut store, asked, wanted)?, store)));
        let (found, store) = match found {
            Ok(found) => found,
            Err(StoreError::Absent { .. }) => return Ok(empty_answer(asked)),
            // The connection is dropped: the file may have been set aside, and the next question finds the new one.
            Err(error) => {
                self.damaged.fetch_or(matches!(error, StoreError::IndexDamaged { .. }), Ordering::Relaxed);
                return Err(store_api_error(&error));
            }
        };
        let (hits, more, cut) = found?;
        let took_ms = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let index = match reached {
            _ if cut => IndexState::Cut,
            HistoryState::Current => IndexState::Current,
            HistoryState::Behind => IndexState::Behind,
            HistoryState::Unknown => self.state(&store, fs, history)?,
        };
        let cut_bytes = match hits.is_empty() {
            true => store.text_counts().map_err(|error| store_api_error(&error))?.1,
            false => 0,
        };
        *lock(&self.kept) = Some(store);
        let cut_bytes = Some(cut_bytes).filter(|cut| *cut > 0);
        Ok(SearchAnswer { query: asked.query.clone(), hits, more, index, cut_bytes, took_ms })
    }

    /// Whether a search has met damage in the index since the last call.
    pub fn take_damage_met(&self) -> bool {
        self.damaged.swap(false, Ordering::Relaxed)
    }

    fn data_dir(&self) -> Result<&Path, ApiError> {
        self.data_dir.as_deref().ok_or_else(|| {
            ApiError::new(ErrorCode::Unsupported, "no history is kept here: no data folder is known")
        })
    }

    /// Whether all transcripts are stored, if this process does not keep the history. Comparing all of them takes
    /// longer than a search, so it is not done for each keystroke.
    fn state(&self, store: &Store, fs: &dyn Fs, history: &HistorySettings) -> Result<IndexState, ApiError> {
        if let Some((at, state)) = *lock(&self.last_comparison)
            && at.elapsed().as_millis() < STATE_MAX_AGE_MS
        {
            return Ok(state);
        }
        let behind = lag(store, fs, &self.roots, history).map_err(|error| store_api_error(&error))?;
        let state = if behind.files == 0 { IndexState::Current } else { IndexState::Behind };
        *lock(&self.last_comparison) = Some((Instant::now(), state));
        Ok(state)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds such a lock.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn empty_answer(asked: &SearchQuery) -> SearchAnswer {
    SearchAnswer {
        query: asked.query.clone(),
        hits: Vec::new(),
        more: false,
        index: IndexState::Absent,
        cut_bytes: None,
        took_ms: 0.0,
    }
}

/// The hits, whether there are more, and whether the search ended early; or the fault of the question.
type FindResult = Result<(Vec<Hit>, bool, bool), ApiError>;

fn find(store: &mut Store, asked: &SearchQuery, wanted: &StillWanted) -> Result<FindResult, StoreError> {
    let sessions = match sessions(store, asked)? {
        Ok(sessions) => sessions,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let query = match query(asked, sessions) {
        Ok(query) => query,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let answer = store.search_while(&query, wanted)?;
    let mut places: HashMap<String, String> = HashMap::new();
    let mut hits = Vec::with_capacity(answer.hits.len());
    for found in answer.hits {
        if !places.contains_key(&found.session_id) {
            let place = store.folder_of_session(&found.session_id)?.unwrap_or_default();
            places.insert(found.session_id.clone(), place);
        }
        let project = places.get(&found.session_id).cloned().unwrap_or_default();
        hits.push(hit(found, project));
    }
    Ok(Ok((hits, answer.more, answer.cut)))
}

/// The sessions of the wanted project, agent and chain; `None` for all.
fn sessions(
    store: &Store,
    asked: &SearchQuery,
) -> Result<Result<Option<Vec<SessionKey>>, ApiError>, StoreError> {
    let mut sessions = match (asked.project.as_deref(), asked.agent.as_deref()) {
        (None, None) => None,
        (project, agent) => Some(store.sessions_of(project, agent)?),
    };
    if let Some(chain) = &asked.chain {
        let of_chain = match chain_sessions(store, chain)? {
            Ok(of_chain) => of_chain,
            Err(wrong) => return Ok(Err(wrong)),
        };
        sessions = Some(match sessions {
            Some(of_project) => of_chain.into_iter().filter(|key| of_project.contains(key)).collect(),
            None => of_chain,
        });
    }
    Ok(Ok(sessions))
}

fn chain_sessions(store: &Store, chain: &str) -> Result<Result<Vec<SessionKey>, ApiError>, StoreError> {
    let keys = store.sessions_in_chain(chain)?;
    if !keys.is_empty() {
        return Ok(Ok(keys));
    }
    let begin = store.session_ids(chain, MAX_CANDIDATES + 1)?;
    let chains = if begin.is_empty() { store.chain_ids(chain, MAX_CANDIDATES + 1)? } else { Vec::new() };
    let meant = match chains.is_empty() {
        true => resolve_one(IdScope::StoredOrChains, chain, &begin),
        false => resolve_one(IdScope::StoredChains, chain, &chains),
    };
    Ok(match meant {
        Ok(meant) => Ok(store.sessions_in_chain(meant)?),
        Err(wrong) => Err(wrong),
    })
}

fn query(asked: &SearchQuery, sessions: Option<Vec<SessionKey>>) -> Result<Query, ApiError> {
    let invalid = |message: String| ApiError::new(ErrorCode::Invalid, message);
    let role = match &asked.role {
        Some(word) => Some(word.parse().map_err(|_| {
            invalid(format!("`{word}` is not a role; the roles are: {}", roles().join(", ")))
        })?),
        None => None,
    };
    let since = match &asked.since {
        Some(since) => Some(
            Timestamp::parse(since)
                .ok_or_else(|| invalid(format!("`{since}` is not a time; expected 2026-11-20T15:30:00Z")))?,
        ),
        None => None,
    };
    Ok(Query {
        typing: asked.typing,
        sessions,
        role,
        tool: asked.tool.clone(),
        since,
        ..Query::new(&asked.query, asked.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT))
    })
}

/// The words that name roles.
pub fn roles() -> Vec<&'static str> {
    Role::ALL.into_iter().map(|it| it.as_str()).collect()
}

fn hit(found: StoredHit, project: String) -> Hit {
    let chain =
        found.chain_id.unwrap_or_else(|| ChainId::derive(&SessionId::new(&found.session_id)).to_string());
    Hit {
        work_chain_id: chain,
        session_id: found.session_id,
        at: found.at.map(|at| at.to_string()),
        role: found.role,
        snippet_parts: parts(&found.snippet, &found.marks),
        snippet: found.snippet,
        project,
        score: found.score,
        title: found.title,
        tool: found.tool,
        agent_id: found.subagent,
        offset: found.offset,
    }
}

/// The snippet, cut at the marks of the matches. A mark that does not fit the text is skipped.
fn parts(snippet: &str, marks: &[std::ops::Range<usize>]) -> Vec<SnippetPart> {
    let mut parts = Vec::new();
    let mut at = 0;
    let mut put = |text: &str, found| {
        if !text.is_empty() {
            parts.push(SnippetPart { text: text.to_owned(), found });
        }
    };
    for mark in marks {
        let (Some(before), Some(text)) = (snippet.get(at..mark.start), snippet.get(mark.clone())) else {
            continue;
        };
        put(before, false);
        put(text, true);
        at = mark.end;
    }
    put(snippet.get(at..).unwrap_or_default(), false);
    parts
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::single_range_in_vec_init,
        clippy::reversed_empty_ranges,
        reason = "marks are lists of ranges, also of one, also of wrong ones"
    )]

    use super::*;

    fn words(snippet: &str, marks: &[std::ops::Range<usize>]) -> Vec<(String, bool)> {
        parts(snippet, marks).into_iter().map(|part| (part.text, part.found)).collect()
    }

    #[test]
    fn a_snippet_is_cut_at_its_marks_and_nothing_of_it_is_lost() {
        let part = |text: &str, found| (text.to_owned(), found);
        assert_eq!(words("a pager b", &[2..7]), [part("a ", false), part("pager", true), part(" b", false)]);
        assert_eq!(words("検索です", &[0..6]), [part("検索", true), part("です", false)]);
        assert_eq!(words("whole", &[]), [part("whole", false)]);
        assert_eq!(words("", &[]), []);
        // Marks that lie outside, backwards, or inside a character.
        for marks in [vec![3..90], vec![4..2], vec![1..2], vec![0..3, 0..3]] {
            let text: String = words("検索です", &marks).into_iter().map(|(text, _)| text).collect();
            assert_eq!(text, "検索です", "{marks:?}");
        }
    }
}
