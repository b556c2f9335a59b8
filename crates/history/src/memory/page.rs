//! The memory of a chain as the window shows it, and a preview of what an agent would be told.

use std::collections::BTreeSet;

use watchbill_core::ids::SessionId;
use watchbill_core::memory::{Budget, ContextChoice, Place, Standing, gather, render, standings};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::memory::{AgentDocument, FilePreview, MemoryMark, MemoryPage, MemoryPreview};
use watchbill_store::StoreError;
use watchbill_store::tables::memories::ProjectPlace;

use super::change::{paused_until, relative};
use super::context::{choose_at, documents};
use super::ids::id_text;
use super::model::state::state;
use super::project::project_of;
use super::query::{Reader, is_open};
use crate::errors::{data_dir, store_api_error};

/// Files of a preview.
const FILES: usize = 20;

/// The places to preview beside the start of a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'w> {
    /// A prompt.
    pub prompt: Option<&'w str>,
    /// Only this file, absolute or relative to the working folder.
    pub file: Option<&'w str>,
    /// The transcript of a session there: the agent's own memory is beside it.
    pub transcript: Option<&'w str>,
}

impl Reader<'_> {
    /// The memory of a chain: of its project, and of these sessions.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn page(
        &self,
        cwd: &str,
        sessions: &[String],
        transcript: Option<&str>,
    ) -> Result<MemoryPage, ApiError> {
        let place = project_of(self.fs, cwd);
        let found = self.store.memories_of_project(place.project).map_err(|error| store_api_error(&error))?;
        let of_chain: BTreeSet<&str> = sessions.iter().map(String::as_str).collect();
        let marks = self.marks(&found, &of_chain);
        let documents = documents(self.fs, transcript, &place.root).into_iter().map(|(path, text)| {
            let changed = self.fs.stat(&path).ok().map(|stat| stat.mtime.to_string());
            AgentDocument { path: path.to_string_lossy().into_owned(), changed_at: changed, text }
        });
        let mut said = Vec::new();
        for session in sessions {
            let known = self.store.session_key(&SessionId::new(session));
            if known.map_err(|error| store_api_error(&error))?.is_some() {
                said.push(self.said(session)?);
            }
        }
        said.retain(|list| !list.lines.is_empty());
        Ok(MemoryPage {
            cwd: cwd.to_owned(),
            documents: documents.collect(),
            memories: self.entries(place.clone(), found, |_, standing| is_open(standing)).memories,
            context: context_word(self.settings.memory.context).to_owned(),
            model: state(&self.store, data_dir(self.settings)?, &self.settings.memory, self.now)
                .map_err(|error| store_api_error(&error))?,
            paused_until: paused_until(&self.store, self.now).map(|until| until.to_string()),
            project: place.place,
            said,
            marks,
        })
    }

    /// The records of these sessions that show an open memory.
    fn marks(
        &self,
        (evidence, edits): &watchbill_store::tables::memories::Found,
        sessions: &BTreeSet<&str>,
    ) -> Vec<MemoryMark> {
        let memories = gather(evidence, edits);
        let standing = standings(&memories, self.settings.memory.accept, self.now);
        let open: BTreeSet<u64> = memories
            .iter()
            .zip(standing)
            .filter(|(_, standing)| is_open(*standing))
            .map(|(memory, _)| memory.id)
            .collect();
        let here =
            evidence.iter().filter(|one| sessions.contains(&*one.session) && open.contains(&one.memory));
        let mut marks: Vec<MemoryMark> = here
            .map(|one| MemoryMark {
                session_id: one.session.to_string(),
                at: one.at.to_string(),
                memory: id_text(one.memory),
                text: one.text.clone(),
            })
            .collect();
        let by_hand = edits.iter().filter(|edit| open.contains(&edit.memory)).filter_map(|edit| {
            let mark = edit.mark.as_ref().filter(|mark| sessions.contains(&*mark.session))?;
            Some(MemoryMark {
                session_id: mark.session.to_string(),
                at: mark.at.to_string(),
                memory: id_text(edit.memory),
                text: edit.text.clone()?,
            })
        });
        marks.extend(by_hand);
        marks.sort_by(|a, b| (&a.at, &a.memory).cmp(&(&b.at, &b.memory)));
        marks
    }

    /// The lines that an agent in this folder would be told. They are not stored as told.
    ///
    /// # Errors
    /// When the store cannot be read, or the file is outside of the project.
    pub fn preview(&self, cwd: &str, wanted: Wanted<'_>) -> Result<MemoryPreview, ApiError> {
        let place = project_of(self.fs, cwd);
        let file = wanted.file.map(|path| relative(self.fs, cwd, &place.root, path)).transpose()?;
        self.previewed(place, file, wanted).map_err(|error| store_api_error(&error))
    }

    /// The lines that an agent would be told at its start, as a text; empty if the setting is off or a pause holds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn start_text(&self, cwd: &str) -> Result<String, ApiError> {
        let memory = &self.settings.memory;
        let is_silent = !memory.enabled || memory.context != ContextChoice::All;
        if is_silent || paused_until(&self.store, self.now).is_some() {
            return Ok(String::new());
        }
        let place = project_of(self.fs, cwd);
        let documents: Vec<String> =
            documents(self.fs, None, &place.root).into_iter().map(|(_, text)| text).collect();
        let chosen = choose_at(
            &self.store,
            memory.accept,
            place.project,
            Place::Start,
            &memory.budget(),
            || documents,
            self.now,
        );
        let chosen = chosen.map_err(|error| store_api_error(&error))?;
        Ok(render(&chosen.into_iter().map(|(chosen, _)| chosen).collect::<Vec<_>>()))
    }

    fn previewed(
        &self,
        place: ProjectPlace,
        file: Option<String>,
        wanted: Wanted<'_>,
    ) -> Result<MemoryPreview, StoreError> {
        let budget = self.settings.memory.budget();
        let documents: Vec<String> =
            documents(self.fs, wanted.transcript, &place.root).into_iter().map(|(_, text)| text).collect();
        let lines = |at: Place<'_>| self.lines(&place, at, &budget, &documents);
        let paths = match file {
            Some(file) => BTreeSet::from([file]),
            None => self.known_files(place.project)?,
        };
        let (mut files, mut more_files) = (Vec::new(), 0);
        for path in paths {
            let lines = if files.len() < FILES { lines(Place::File(&path))? } else { Vec::new() };
            if files.len() == FILES {
                more_files += 1;
            } else if !lines.is_empty() {
                files.push(FilePreview { path, lines });
            }
        }
        let prompt = wanted.prompt.map(watchbill_core::history::strip_private);
        let prompt = prompt.map(|prompt| lines(Place::Prompt(&prompt))).transpose()?;
        let start = lines(Place::Start)?;
        let context = context_word(self.settings.memory.context).to_owned();
        Ok(MemoryPreview { context, start, prompt, files, more_files, project: place.place })
    }

    fn lines(
        &self,
        place: &ProjectPlace,
        at: Place<'_>,
        budget: &Budget,
        documents: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let accept = self.settings.memory.accept;
        let chosen =
            choose_at(&self.store, accept, place.project, at, budget, || documents.to_vec(), self.now)?;
        Ok(chosen.into_iter().map(|(chosen, _)| chosen.line).collect())
    }

    /// The files with a memory that may be told.
    fn known_files(&self, project: u64) -> Result<BTreeSet<String>, StoreError> {
        let (evidence, edits) = self.store.memories_of_project(project)?;
        let memories = gather(&evidence, &edits);
        let standing = standings(&memories, self.settings.memory.accept, self.now);
        let told = memories.iter().zip(standing).filter(|(_, standing)| *standing == Standing::Active);
        let excluded = |path: &str| self.settings.history.exclude.excludes_in(None, path);
        Ok(told.filter_map(|(memory, _)| memory.path.clone()).filter(|path| !excluded(path)).collect())
    }
}

/// The word of the setting.
const fn context_word(choice: ContextChoice) -> &'static str {
    match choice {
        ContextChoice::Off => "off",
        ContextChoice::Files => "files",
        ContextChoice::All => "all",
    }
}
