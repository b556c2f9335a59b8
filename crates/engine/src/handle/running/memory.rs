//! Memories for the window, their changes, and what a hook process tells the agent. The changes and the hook use the store at
//! once and do not wait for the loop.

use std::path::Path;
use std::sync::Arc;

use watchbill_history::SharedStore;
use watchbill_history::errors::store_api_error;
use watchbill_history::memory::page::Wanted;
use watchbill_history::memory::query::Reader;
use watchbill_history::memory::{change, context};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::memory::{
    ContextCall, ContextText, DocumentSession, MemoryChange, MemoryChanged, MemoryDetail, MemoryList,
    MemoryPage, MemoryPreview, SummaryPage,
};
use watchbill_protocol::roster::TrackedSession;
use watchbill_store::{Access, Store, StoreError};

use super::Handle;
use crate::clock::{Clock, SystemClock};
use crate::run::message::Message;
use crate::socket::access::CommandId;

impl Handle {
    /// Sets the store of the engine, once.
    pub(crate) fn set_store(&self, store: &Arc<SharedStore>) {
        let _ = self.store.set(Arc::downgrade(store));
    }

    /// Carries out a change of memories.
    ///
    /// # Errors
    /// When another program holds the store or it is busy, no memory fits the id, or the text cannot be kept.
    pub fn change_memory(&self, wanted: &MemoryChange) -> Result<MemoryChanged, ApiError> {
        let settings = self.settings();
        let done = self.with_writer("memory", |store| {
            change::change(store, &*self.fs, &settings, wanted, SystemClock.now())
        });
        // If the loop has ended, no model is asked either.
        let _ = self.inbox().send(Message::MemoryChanged);
        done.unwrap_or_else(|| {
            let message = "this Watchbill does not write the store now; try again in a moment";
            Err(ApiError::new(ErrorCode::NotReady, message))
        })
    }

    /// The memory of a session's chain, for the window.
    ///
    /// # Errors
    /// When the session is not known, or the store cannot be read.
    pub fn memory_page(&self, session: &str) -> Result<MemoryPage, ApiError> {
        let chain = self.chain(session)?;
        let row = self.row_of_chain(&chain.head)?;
        let sessions: Vec<String> = chain.segments.into_iter().map(|segment| segment.session_id).collect();
        let settings = self.settings();
        let cwd = row.cwd.unwrap_or_default();
        let reader = Reader::open(&settings, &*self.fs, SystemClock.now())?;
        reader.page(&cwd, &sessions, row.transcript_path.as_deref())
    }

    /// The memories that an agent would be told in this folder.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn memory_preview(&self, cwd: &str, session: Option<&str>) -> Result<MemoryPreview, ApiError> {
        let settings = self.settings();
        let row = session.map(|session| self.row_of_chain(session)).transpose()?;
        let transcript = row.and_then(|row| row.transcript_path);
        let reader = Reader::open(&settings, &*self.fs, SystemClock.now())?;
        reader.preview(cwd, Wanted { transcript: transcript.as_deref(), ..Wanted::default() })
    }

    /// The summary of a session's chain, and what a fresh session needs to go on.
    ///
    /// # Errors
    /// When the session is not known, or the store cannot be read.
    pub fn work_summary(&self, session: &str) -> Result<SummaryPage, ApiError> {
        let chain = self.chain(session)?;
        let sessions: Vec<String> = chain.segments.into_iter().map(|segment| segment.session_id).collect();
        Reader::open(&self.settings(), &*self.fs, SystemClock.now())?.summary_page(&sessions)
    }

    /// A session in the words of the claude-recall document.
    ///
    /// # Errors
    /// When no session fits the id, or the store cannot be read.
    pub fn document_session(&self, session: &str) -> Result<DocumentSession, ApiError> {
        Reader::open(&self.settings(), &*self.fs, SystemClock.now())?.document_session(session)
    }

    /// The memories of the project of a folder.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn memories(&self, cwd: &str, all: bool) -> Result<MemoryList, ApiError> {
        Reader::open(&self.settings(), &*self.fs, SystemClock.now())?.list(cwd, all)
    }

    /// The text that an agent would be told at its start, for a client that asks over HTTP; empty: nothing. A `project` is the name of
    /// a folder. It stands for a working folder only if one alone has that name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn context_text(&self, cwd: Option<&str>, project: Option<&str>) -> Result<String, ApiError> {
        let settings = self.settings();
        let folder = match (cwd, project) {
            (Some(cwd), _) => Some(cwd.to_owned()),
            (None, Some(project)) => self.folder_named(project)?,
            (None, None) => None,
        };
        let Some(folder) = folder.filter(|folder| !settings.history.exclude.excludes(folder)) else {
            return Ok(String::new());
        };
        Reader::open(&settings, &*self.fs, SystemClock.now())?.start_text(&folder)
    }

    fn folder_named(&self, project: &str) -> Result<Option<String>, ApiError> {
        let rows = self.roster(true)?.sessions;
        let folders = rows.into_iter().filter_map(|row| row.repo_root.or(row.cwd));
        let mut named: Vec<String> = folders
            .filter(|folder| Path::new(folder).file_name().is_some_and(|name| name == project))
            .collect();
        named.sort();
        named.dedup();
        Ok(if named.len() == 1 { named.pop() } else { None })
    }

    /// One memory with its evidence.
    ///
    /// # Errors
    /// When no memory fits the id, or the store cannot be read.
    pub fn memory_detail(&self, id: &str) -> Result<MemoryDetail, ApiError> {
        Reader::open(&self.settings(), &*self.fs, SystemClock.now())?.show(id)
    }

    fn row_of_chain(&self, session: &str) -> Result<TrackedSession, ApiError> {
        let row = self.roster(true)?.sessions.into_iter().find(|row| row.session_id == session);
        let missing = || ApiError::new(ErrorCode::NotFound, format!("no session has the id {session}"));
        row.ok_or_else(missing)
    }

    /// The output for a hook process; `None`: nothing.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub(crate) fn context(&self, call: &ContextCall) -> Result<Option<ContextText>, ApiError> {
        let settings = self.settings();
        let answer = CommandId::new().to_string();
        let now = SystemClock.now();
        let asked = self.with_writer("context", |store| {
            context::context(store, &*self.fs, &settings, &call.payload, &answer, now)
        });
        asked.unwrap_or(Ok(None)).map_err(|error: StoreError| store_api_error(&error))
    }

    /// A hook process has printed a text.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub(crate) fn context_printed(&self, answer: &str) -> Result<(), ApiError> {
        let noted = self.with_writer("printed", |store| context::printed(store, answer));
        noted.unwrap_or(Ok(())).map_err(|error: StoreError| store_api_error(&error))
    }

    /// Calls `act` with the store; `None` if this engine does not write it, or a removal does just now.
    fn with_writer<T>(&self, what: &'static str, act: impl FnOnce(&mut Store) -> T) -> Option<T> {
        let shared = self.store.get()?.upgrade()?;
        if shared.is_written_apart() {
            return None;
        }
        let mut held = shared.lock_urgent(what);
        let store = held.as_mut().filter(|store| store.access() == Access::Writer)?;
        Some(act(store))
    }
}
