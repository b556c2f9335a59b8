//! Lists and explains memories, and summarizes sessions.

use std::collections::BTreeSet;

use watchbill_core::ids::SessionId;
use watchbill_core::memory::choose::tokens;
use watchbill_core::memory::{
    Evidence, Memory, SessionRows, Standing, Summary, gather, hand_over, standings, summarize,
};
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::memory::{
    DocumentSession, MemoryDetail, MemoryEntry, MemoryEvidence, MemoryList, SaidLine, SaidList,
    SessionSummary, SummaryPage,
};
use watchbill_settings::Settings;
use watchbill_store::tables::memories::{Found, ProjectPlace};
use watchbill_store::{OpenMode, SessionKey, Store, StoreError};
use watchbill_watch::fs::Fs;

use super::ids::{find, id_text};
use super::learn::session_rows;
use super::project::project_of;
use crate::errors::{data_dir, store_api_error};
use crate::query::named::{IdScope, MAX_CANDIDATES, resolve_one};

/// A store that is only read, with what the answers depend on.
pub struct Reader<'r> {
    pub(super) store: Store,
    pub(super) fs: &'r dyn Fs,
    pub(super) settings: &'r Settings,
    pub(super) now: Timestamp,
}

impl<'r> Reader<'r> {
    /// Opens the store for reading.
    ///
    /// # Errors
    /// When nothing is stored, or the store cannot be read.
    pub fn open(settings: &'r Settings, fs: &'r dyn Fs, now: Timestamp) -> Result<Self, ApiError> {
        let store =
            Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
        Ok(Self { store, fs, settings, now })
    }

    /// The memories of the project of a working folder. `all`: also those that are not in force.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self, cwd: &str, all: bool) -> Result<MemoryList, ApiError> {
        let place = project_of(self.fs, cwd);
        let found = self.store.memories_of_project(place.project).map_err(|error| store_api_error(&error))?;
        Ok(self.entries(place, found, |_, standing| all || is_open(standing)))
    }

    /// The memories about one file.
    ///
    /// # Errors
    /// When the file is outside of the project, or the store cannot be read.
    pub fn at(&self, cwd: &str, path: &str) -> Result<MemoryList, ApiError> {
        let place = project_of(self.fs, cwd);
        let path = super::change::relative(self.fs, cwd, &place.root, path)?;
        let found = self.store.memories_of_file(place.project, &path);
        let found = found.map_err(|error| store_api_error(&error))?;
        Ok(self.entries(place, found, |memory, standing| {
            memory.path.as_deref() == Some(&*path) && is_open(standing)
        }))
    }

    pub(super) fn entries(
        &self,
        place: ProjectPlace,
        (evidence, edits): Found,
        wanted: impl Fn(&Memory, Standing) -> bool,
    ) -> MemoryList {
        let memories = gather(&evidence, &edits);
        let standing = standings(&memories, self.settings.memory.accept, self.now);
        let mut shown: Vec<(&Memory, Standing)> =
            memories.iter().zip(standing).filter(|(memory, standing)| wanted(memory, *standing)).collect();
        shown.sort_by_key(|(memory, standing)| {
            (*standing != Standing::Active, std::cmp::Reverse(memory.last_seen), memory.id)
        });
        let memories =
            shown.into_iter().map(|(memory, standing)| entry(memory, standing, self.now)).collect();
        MemoryList { project: place.place, memories }
    }

    /// One memory with its evidence.
    ///
    /// # Errors
    /// When no memory fits the id, or the store cannot be read.
    pub fn show(&self, asked: &str) -> Result<MemoryDetail, ApiError> {
        let (id, project) = find(&self.store, asked)?;
        let read = || -> Result<_, StoreError> {
            let (evidence, edits) = self.store.memories_of_project(project)?;
            Ok((evidence, edits, self.store.times_said(id)?))
        };
        let (evidence, edits, (times_said, sessions_told)) =
            read().map_err(|error| store_api_error(&error))?;
        let memories = gather(&evidence, &edits);
        let standing = standings(&memories, self.settings.memory.accept, self.now);
        let found = memories.iter().zip(standing).find(|(memory, _)| memory.id == id);
        let missing = || {
            let message = format!("no session shows memory {} any more", id_text(id));
            ApiError::new(watchbill_protocol::error::ErrorCode::NotFound, message)
        };
        let (memory, standing) = found.ok_or_else(missing)?;
        let marked = edits.iter().filter(|edit| edit.memory == id).filter_map(|edit| {
            let mark = edit.mark.as_ref()?;
            Some(MemoryEvidence {
                session_id: mark.session.to_string(),
                batch: mark.batch.to_string(),
                byte: mark.byte,
                at: mark.at.to_string(),
                times: 1,
                text: edit.text.clone()?,
            })
        });
        let mut evidence: Vec<&Evidence> = evidence.iter().filter(|one| one.memory == id).collect();
        evidence.sort_by_key(|one| (std::cmp::Reverse(one.at), one.session.clone()));
        let evidence = evidence.into_iter().map(|one| MemoryEvidence {
            session_id: one.session.to_string(),
            batch: one.batch.to_string(),
            byte: one.byte,
            at: one.at.to_string(),
            times: one.times,
            text: one.text.clone(),
        });
        Ok(MemoryDetail {
            memory: entry(memory, standing, self.now),
            evidence: marked.chain(evidence).collect(),
            times_said,
            sessions_told,
        })
    }

    /// The lines that an agent was told in a session.
    ///
    /// # Errors
    /// When no session fits the id, or the store cannot be read.
    pub fn said(&self, asked: &str) -> Result<SaidList, ApiError> {
        let (session_id, key) = self.session(asked)?;
        let rows = self.store.said(key).map_err(|error| store_api_error(&error))?;
        let lines: Vec<SaidLine> = rows
            .into_iter()
            .map(|row| SaidLine {
                at: row.at.to_string(),
                event: row.event,
                place: row.place,
                memory: id_text(row.memory),
                tokens: tokens(row.line.chars().count()) as u64,
                line: row.line,
                printed: row.printed,
                lost: row.lost,
            })
            .collect();
        let tokens = lines.iter().filter(|line| line.printed).map(|line| line.tokens).sum();
        Ok(SaidList { session_id, lines, tokens })
    }

    /// The summary of a session.
    ///
    /// # Errors
    /// When no session fits the id, or the store cannot be read.
    pub fn summary(&self, asked: &str) -> Result<SessionSummary, ApiError> {
        let (session_id, key) = self.session(asked)?;
        let read = || -> Result<_, StoreError> {
            let title = self.store.session_of(key)?.and_then(|row| row.title);
            let said = self.store.model_summary(key)?;
            let title_proposed = said.as_ref().is_some_and(|said| title.as_deref() == Some(&*said.title));
            let current = said.filter(|said| said.is_current).map(|said| said.summary);
            let by_model = current.is_some();
            let summary = current.map_or_else(|| Ok(self.summarized(&session_id, key)?.1), Ok)?;
            Ok((title, title_proposed, by_model, summary))
        };
        let (title, title_proposed, by_model, summary) = read().map_err(|error| store_api_error(&error))?;
        Ok(SessionSummary { title_proposed, by_model, ..named_summary(session_id, title, summary) })
    }

    /// The summary of a work chain, and a text with what a fresh session needs to go on. `sessions` are those of the chain, the
    /// oldest first. Those that are not stored yet are left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn summary_page(&self, sessions: &[String]) -> Result<SummaryPage, ApiError> {
        let read = || -> Result<_, StoreError> {
            let (mut rows, mut learned) = (SessionRows::default(), Vec::new());
            for id in sessions {
                let Some(key) = self.store.session_key(&SessionId::new(id))? else { continue };
                let (of_session, texts) = self.rows_and_learned(id, key)?;
                learned.extend(texts);
                rows.append(of_session);
            }
            learned.sort();
            learned.dedup();
            let summary = summarize(&rows, learned);
            Ok((rows, summary))
        };
        let (rows, summary) = read().map_err(|error| store_api_error(&error))?;
        let hand_over = hand_over(&rows, &summary);
        let head = sessions.last().cloned().unwrap_or_default();
        Ok(SummaryPage { summary: named_summary(head, None, summary), hand_over })
    }

    /// A session in the words of the claude-recall document.
    ///
    /// # Errors
    /// When no session fits the id, or the store cannot be read.
    pub fn document_session(&self, asked: &str) -> Result<DocumentSession, ApiError> {
        // Its clients know a session by its number in `sdk_sessions` too.
        let is_number = !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit());
        let numbered = is_number.then(|| self.store.session_numbered(asked)).transpose();
        let id = match numbered.map_err(|error| store_api_error(&error))?.flatten() {
            Some(id) => id,
            None => self.session(asked)?.0.to_string(),
        };
        let found = self.store.document_session(&id).map_err(|error| store_api_error(&error))?;
        let unknown = || crate::query::named::unknown_id_error(IdScope::Stored, asked);
        let row = found.ok_or_else(unknown)?;
        Ok(DocumentSession {
            claude_session_id: row.session_id,
            project: row.project,
            cwd: row.cwd,
            status: row.status,
            first_user_prompt: row.first_prompt,
            prompt_counter: row.prompts,
            created_at: row.created_at,
            completed_at: row.completed_at,
            updated_at: row.updated_at,
        })
    }

    /// A text with what a fresh session needs to go on.
    ///
    /// # Errors
    /// When no session fits the id, or the store cannot be read.
    pub fn hand_over(&self, asked: &str) -> Result<String, ApiError> {
        let (session_id, key) = self.session(asked)?;
        let summarized = self.summarized(&session_id, key).map_err(|error| store_api_error(&error))?;
        Ok(hand_over(&summarized.0, &summarized.1))
    }

    fn summarized(&self, session: &str, key: SessionKey) -> Result<(SessionRows, Summary), StoreError> {
        let (rows, learned) = self.rows_and_learned(session, key)?;
        let summary = summarize(&rows, learned);
        Ok((rows, summary))
    }

    /// The rows of a session, and the texts of the memories that it shows.
    fn rows_and_learned(
        &self,
        session: &str,
        key: SessionKey,
    ) -> Result<(SessionRows, Vec<String>), StoreError> {
        let place = match self.store.memory_place(key)? {
            Some(place) => place,
            None => project_of(self.fs, &self.store.working_folder(key)?.unwrap_or_default()),
        };
        let rows = session_rows(&self.store, key, &place.root)?;
        let (evidence, edits) = self.store.memories_of_project(place.project)?;
        let marked =
            edits.iter().filter(|edit| edit.mark.as_ref().is_some_and(|mark| &*mark.session == session));
        let here: BTreeSet<u64> = evidence
            .iter()
            .filter(|one| &*one.session == session)
            .map(|one| one.memory)
            .chain(marked.map(|edit| edit.memory))
            .collect();
        let memories = gather(&evidence, &edits);
        let standing = standings(&memories, self.settings.memory.accept, self.now);
        let learned = memories.iter().zip(standing).filter(|(memory, standing)| {
            here.contains(&memory.id) && matches!(standing, Standing::Active | Standing::Faded)
        });
        Ok((rows, learned.map(|(memory, _)| memory.text.clone()).collect()))
    }

    /// The stored session that the user names.
    fn session(&self, asked: &str) -> Result<(String, SessionKey), ApiError> {
        let begin =
            self.store.session_ids(asked, MAX_CANDIDATES + 1).map_err(|error| store_api_error(&error))?;
        let id = resolve_one(IdScope::Stored, asked, &begin)?.clone();
        let key = self.store.session_key(&SessionId::new(&id)).map_err(|error| store_api_error(&error))?;
        let unknown = || crate::query::named::unknown_id_error(IdScope::Stored, asked);
        Ok((id, key.ok_or_else(unknown)?))
    }
}

fn named_summary(session_id: String, title: Option<String>, summary: Summary) -> SessionSummary {
    let Summary { request, investigated, learned, completed, next_steps } = summary;
    SessionSummary {
        session_id,
        title,
        title_proposed: false,
        by_model: false,
        request,
        investigated,
        learned,
        completed,
        next_steps,
    }
}

/// Whether a list shows it without being asked for everything.
pub(super) fn is_open(standing: Standing) -> bool {
    matches!(standing, Standing::Active | Standing::Proposed)
}

fn entry(memory: &Memory, standing: Standing, now: Timestamp) -> MemoryEntry {
    MemoryEntry {
        id: id_text(memory.id),
        kind: memory.kind.as_str().to_owned(),
        text: memory.text.clone(),
        path: memory.path.clone(),
        standing: standing.as_str().to_owned(),
        superseded_by: match standing {
            Standing::Superseded(by) => Some(id_text(by)),
            _ => None,
        },
        confidence: (memory.confidence(now) * 100.0).round() / 100.0,
        importance: memory.importance.as_str().to_owned(),
        suspect: memory.suspect,
        decision: memory.decision.map(|decision| decision.as_str().to_owned()),
        sessions: memory.sessions as u64,
        times: memory.times,
        last_seen: memory.last_seen.to_string(),
    }
}
