//! Chooses the memories that a hook process prints for the agent. Each is noted in the store and printed once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use watchbill_agents::{Agent, traits};
use watchbill_core::ids::SessionId;
use watchbill_core::memory::choose::Around;
use watchbill_core::memory::likeness::words;
use watchbill_core::memory::plain::squeezed;
use watchbill_core::memory::secrets::is_secret_file;
use watchbill_core::memory::{
    AcceptRule, Budget, Chosen, ContextChoice, Memory, Place, choose, gather, render,
};
use watchbill_core::time::Timestamp;
use watchbill_core::tool::ToolKind;
use watchbill_protocol::memory::ContextText;
use watchbill_settings::Settings;
use watchbill_store::tables::memories::ProjectPlace;
use watchbill_store::tables::said::SaidRow;
use watchbill_store::{Store, StoreError};
use watchbill_watch::fs::Fs;

use super::change::is_paused;
use super::project::project_of;

/// Bytes of a document of the agent that are compared with memories.
const DOCUMENT: u64 = 64 << 10;
/// The most other sessions that a resumed session is told of, and files of each.
const MOST_SESSIONS: usize = 3;
const MOST_FILES: usize = 4;
/// Characters of the block around the lines of one text.
const AROUND_LINES: usize = 140;

/// The fields of a hook payload that matter here (Claude Code 2.1.329): not the content of files.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Payload {
    /// The session.
    pub session_id: String,
    /// The event.
    pub hook_event_name: String,
    cwd: Option<String>,
    transcript_path: Option<String>,
    agent_id: Option<String>,
    source: Option<String>,
    /// What the user wrote.
    pub prompt: Option<String>,
    /// The tool of a call.
    pub tool_name: Option<String>,
    tool_input: Option<Touched>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Touched {
    #[serde(alias = "notebook_path")]
    file_path: Option<String>,
}

/// The question of a hook: the place, with its text owned.
enum Asked {
    Start,
    Compacted,
    Prompt(String),
    File(String),
}

impl Asked {
    fn place(&self) -> Place<'_> {
        match self {
            Self::Start => Place::Start,
            Self::Compacted => Place::Compacted,
            Self::Prompt(text) => Place::Prompt(text),
            Self::File(path) => Place::File(path),
        }
    }
}

/// One question of a hook process, with the facts around it.
struct ContextQuestion<'q> {
    payload: &'q Payload,
    asked: Asked,
    place: ProjectPlace,
    now: Timestamp,
}

/// Chooses what to tell the agent for a hook payload. `None`: nothing. The lines are stored as told before they are returned, so
/// that the agent is told each line once. `answer` is a new id for the text.
///
/// # Errors
/// When the store cannot be read or written.
pub fn context(
    store: &mut Store,
    fs: &dyn Fs,
    settings: &Settings,
    payload: &str,
    answer: &str,
    now: Timestamp,
) -> Result<Option<ContextText>, StoreError> {
    let Ok(payload) = serde_json::from_str::<Payload>(payload) else { return Ok(None) };
    let Some(cwd) = payload.cwd.as_deref() else { return Ok(None) };
    let memory = &settings.memory;
    let silent = !memory.enabled
        || memory.context == ContextChoice::Off
        || payload.agent_id.is_some()
        || settings.history.exclude.excludes(cwd)
        || is_paused(store, now)
        || store.forgotten()?.iter().any(|id| id.as_str() == payload.session_id);
    if silent {
        return Ok(None);
    }
    let place = project_of(fs, cwd);
    if payload.hook_event_name == "SessionStart" && payload.source.as_deref() == Some("resume") {
        return at_resume(store, fs, settings, (&payload, &place), answer, now);
    }
    let Some(asked) = asked(fs, settings, &payload, cwd, &place) else { return Ok(None) };
    if matches!(asked, Asked::Compacted) {
        note_compaction(store, &payload.session_id)?;
    }
    let question = ContextQuestion { payload: &payload, asked, place, now };
    let chosen = chosen(store, fs, settings, &question)?;
    if chosen.is_empty() {
        return Ok(None);
    }
    let lines: Vec<Chosen> = chosen.iter().map(|(chosen, _)| chosen.clone()).collect();
    note_said(store, &question, &chosen, answer)?;
    Ok(Some(text_of(&payload, &lines, answer)))
}

/// What has changed since the session's last turn, for an agent that resumes it: files of it that other sessions changed, and the
/// branch. A fork has a new id without rows, so it is told nothing.
fn at_resume(
    store: &mut Store,
    fs: &dyn Fs,
    settings: &Settings,
    (payload, place): (&Payload, &ProjectPlace),
    answer: &str,
    now: Timestamp,
) -> Result<Option<ContextText>, StoreError> {
    let key = store.session_key(&SessionId::new(&payload.session_id))?;
    let Some(key) = key.filter(|_| settings.memory.context == ContextChoice::All) else { return Ok(None) };
    let Some(since) = store.last_turn_at(key)? else { return Ok(None) };
    let root = Path::new(&place.root);
    let mut changed: Vec<(String, Vec<String>)> = Vec::new();
    for (session, path, tool) in store.changed_elsewhere(key, place.project, since)? {
        let Ok(file) = Path::new(&path).strip_prefix(root) else { continue };
        let file = file.to_string_lossy().into_owned();
        let is_told = ToolKind::of(&tool).changes_file() && !is_secret_file(&file);
        if !is_told || settings.history.exclude.excludes(&path) {
            continue;
        }
        let known = changed.iter().position(|(other, _)| *other == session);
        if known.is_none() && changed.len() < MOST_SESSIONS {
            changed.push((session, vec![file]));
        } else if let Some((_, files)) = known.map(|at| &mut changed[at])
            && files.len() < MOST_FILES
            && !files.contains(&file)
        {
            files.push(file);
        }
    }
    let by_another = |(session, files): (String, Vec<String>)| {
        let files = squeezed(&files.join(", "));
        (Some(session), format!("since the last turn here, another session changed {files}"))
    };
    let mut lines: Vec<(Option<String>, String)> = changed.into_iter().map(by_another).collect();
    let was = store.session_of(key)?.and_then(|row| row.branch).filter(|was| was != "HEAD");
    if let (Some(was), Some(is)) = (was, watchbill_watch::repo::branch(fs, root))
        && was != is
    {
        let [was, is] = [was, is].map(|branch| squeezed(&branch));
        lines.push((None, format!("the branch was {was} at the last turn here, and is {is}")));
    }
    let said = store.said(key)?;
    lines.retain(|(_, line)| !said.iter().any(|said| said.line == *line && said.at >= since));
    if lines.is_empty() {
        return Ok(None);
    }
    let mut step = store.step()?;
    for (source, line) in &lines {
        // The line is of no memory.
        let row = SaidRow {
            memory: 0,
            source: source.clone(),
            answer: answer.to_owned(),
            at: now,
            event: payload.hook_event_name.clone(),
            place: None,
            line: line.clone(),
            printed: false,
            lost: false,
        };
        step.put_said(key, &row)?;
    }
    step.commit()?;
    let lines: Vec<Chosen> = lines.into_iter().map(|(_, line)| Chosen { memory: 0, line }).collect();
    Ok(Some(text_of(payload, &lines, answer)))
}

fn text_of(payload: &Payload, lines: &[Chosen], answer: &str) -> ContextText {
    let output = json!({ "hookSpecificOutput": {
        "hookEventName": payload.hook_event_name, "additionalContext": render(lines) } });
    ContextText { answer: answer.to_owned(), output: output.to_string() }
}

/// The place that a payload stands for, as far as the settings allow.
fn asked(
    fs: &dyn Fs,
    settings: &Settings,
    payload: &Payload,
    cwd: &str,
    place: &ProjectPlace,
) -> Option<Asked> {
    let all = settings.memory.context == ContextChoice::All;
    match (&*payload.hook_event_name, payload.source.as_deref()) {
        ("SessionStart", Some("startup" | "clear")) => all.then_some(Asked::Start),
        ("SessionStart", Some("compact")) => Some(Asked::Compacted),
        ("UserPromptSubmit", _) => {
            let prompt = watchbill_core::history::strip_private(payload.prompt.as_deref()?).into_owned();
            all.then_some(Asked::Prompt(prompt))
        }
        ("PostToolUse", _) => {
            let tool = payload.tool_name.as_deref()?;
            let kind = ToolKind::of(tool);
            (kind.changes_file() || kind == ToolKind::Read).then_some(())?;
            let file = payload.tool_input.as_ref()?.file_path.as_deref()?;
            if settings.history.exclude.excludes_in(Some(cwd), file) {
                return None;
            }
            super::change::relative(fs, cwd, &place.root, file).ok().map(Asked::File)
        }
        _ => None,
    }
}

fn note_compaction(store: &mut Store, session: &str) -> Result<(), StoreError> {
    let Some(key) = store.session_key(&SessionId::new(session))? else { return Ok(()) };
    let mut step = store.step()?;
    step.note_said_lost(key)?;
    step.commit()
}

/// What the session was told so far.
fn budget(store: &Store, settings: &Settings, session: &str) -> Result<Budget, StoreError> {
    let mut budget = settings.memory.budget();
    let Some(key) = store.session_key(&SessionId::new(session))? else { return Ok(budget) };
    let said = store.said(key)?;
    let mut answer = "";
    for row in &said {
        budget.spent += row.line.chars().count() + 3;
        budget.spent += if row.answer == answer { 0 } else { AROUND_LINES };
        answer = &row.answer;
        if row.lost {
            budget.lost.extend(row.printed.then_some(row.memory));
        } else {
            budget.told.insert(row.memory);
        }
    }
    Ok(budget)
}

/// The chosen lines for a question, each with its memory.
fn chosen(
    store: &Store,
    fs: &dyn Fs,
    settings: &Settings,
    question: &ContextQuestion<'_>,
) -> Result<Vec<(Chosen, Memory)>, StoreError> {
    let ContextQuestion { payload, asked, place, now } = question;
    let budget = budget(store, settings, &payload.session_id)?;
    let documents = || texts(documents(fs, payload.transcript_path.as_deref(), &place.root));
    choose_at(store, settings.memory.accept, place.project, asked.place(), &budget, documents, *now)
}

/// The lines for a place in a project, each with its memory. The documents are read only if there is something to choose.
pub(super) fn choose_at(
    store: &Store,
    accept: AcceptRule,
    project: u64,
    place: Place<'_>,
    budget: &Budget,
    documents: impl FnOnce() -> Vec<String>,
    now: Timestamp,
) -> Result<Vec<(Chosen, Memory)>, StoreError> {
    let (mut frequency, mut count) = (BTreeMap::new(), 0);
    let (evidence, edits) = match place {
        Place::File(path) => store.memories_of_file(project, path)?,
        Place::Start => store.memories_without_file(project)?,
        Place::Compacted => store.memories_by_id(project, &budget.lost)?,
        Place::Prompt(text) => {
            frequency = store.word_frequencies(project, &words(text))?;
            count = store.memory_count(project)?;
            let ids = store.memories_with_words(project, &frequency)?;
            store.memories_by_id(project, &ids)?
        }
    };
    let memories = gather(&evidence, &edits);
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let documents = documents();
    let around = Around { frequency: &frequency, memories: count, documents: &documents, accept, now };
    let chosen = choose(place, &memories, budget, around).into_iter();
    Ok(chosen
        .filter_map(|line| {
            let memory = memories.iter().find(|memory| memory.id == line.memory)?.clone();
            Some((line, memory))
        })
        .collect())
}

/// Documents that the agent reads at each start: the project's instructions, and the agent's own memory.
pub(super) fn documents(fs: &dyn Fs, transcript: Option<&str>, root: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(root);
    let own = transcript.and_then(|path| Path::new(path).parent());
    let instructions = traits(Agent::default()).instructions.iter().map(|name| root.join(name));
    instructions
        .chain(own.map(|folder| folder.join("memory/MEMORY.md")))
        .filter_map(|path| {
            let text = String::from_utf8(fs.read_small(&path, DOCUMENT).ok()?).ok()?;
            Some((path, text))
        })
        .collect()
}

fn texts(documents: Vec<(PathBuf, String)>) -> Vec<String> {
    documents.into_iter().map(|(_, text)| text).collect()
}

fn note_said(
    store: &mut Store,
    question: &ContextQuestion<'_>,
    chosen: &[(Chosen, Memory)],
    answer: &str,
) -> Result<(), StoreError> {
    let ContextQuestion { payload, asked, now, .. } = question;
    let place = match asked {
        Asked::File(path) => Some(path.clone()),
        _ => None,
    };
    let mut step = store.step()?;
    let session = step.session_key(&SessionId::new(&payload.session_id))?;
    for (line, memory) in chosen {
        let row = SaidRow {
            memory: line.memory,
            source: memory.source.as_deref().map(str::to_owned),
            answer: answer.to_owned(),
            at: *now,
            event: payload.hook_event_name.clone(),
            place: place.clone(),
            line: line.line.clone(),
            printed: false,
            lost: false,
        };
        step.put_said(session, &row)?;
    }
    step.commit()
}

/// The hook process has printed a text.
///
/// # Errors
/// When the store cannot be written.
pub fn printed(store: &mut Store, answer: &str) -> Result<(), StoreError> {
    let mut step = store.step()?;
    step.note_printed(answer)?;
    step.commit()
}
