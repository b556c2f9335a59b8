//! A folder of transcripts, a store, and an index that can be restarted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use watchbill_agents::PLAN_FOLDERS;
use watchbill_agents::claude::hooks::{parse_payload, read_texts};
use watchbill_agents::layout::classify;
use watchbill_core::history::{HistorySettings, HookEventParts, Role};
use watchbill_core::hook::HookOrigin;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_history::index::{FileReadCounts, HistoryIndex, IndexError};
use watchbill_store::search::{Hit, Query};
use watchbill_store::tables::files::FileCursor;
use watchbill_store::{OpenMode, Store};
use watchbill_watch::mem::MemFs;

/// The folder of the simulated client.
pub const ROOT: &str = "/home/dev/.claude";

pub struct IndexRig {
    pub fs: MemFs,
    pub store: Store,
    pub settings: HistorySettings,
    index: Option<HistoryIndex>,
    folder: tempfile::TempDir,
}

impl IndexRig {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        Self {
            fs: MemFs::new(),
            store,
            settings: HistorySettings {
                plan_folders: PLAN_FOLDERS.map(str::to_owned).to_vec(),
                ..HistorySettings::default()
            },
            index: None,
            folder,
        }
    }

    /// The same files, and nothing stored.
    pub fn emptied(&self) -> Self {
        Self { fs: self.fs.clone(), settings: self.settings.clone(), ..Self::new() }
    }

    pub fn path(relative: &str) -> PathBuf {
        Path::new(ROOT).join("projects/p").join(relative)
    }

    pub fn append(&self, relative: &str, text: &str) {
        self.fs.append(Self::path(relative), text.as_bytes());
    }

    /// The program ends and begins again.
    pub fn restart(&mut self) {
        self.index = None;
        let folder = self.folder.path().to_path_buf();
        // Releases the lock before it is taken again.
        let elsewhere = tempfile::tempdir().unwrap();
        self.store = Store::open(elsewhere.path(), OpenMode::WriteOrRead).unwrap();
        self.store = Store::open(&folder, OpenMode::WriteOrRead).unwrap();
    }

    pub fn index(&mut self, relative: &str) -> FileReadCounts {
        let mut whole = FileReadCounts::default();
        loop {
            let part = self.index_some(relative, u64::MAX).unwrap();
            whole.bytes += part.bytes;
            whole.texts += part.texts;
            whole.records += part.records;
            whole.problems += part.problems;
            whole.skipped |= part.skipped;
            if !part.more {
                return whole;
            }
        }
    }

    pub fn index_some(&mut self, relative: &str, budget: u64) -> Result<FileReadCounts, IndexError> {
        let path = Self::path(relative);
        let place = classify(path.strip_prefix(ROOT).unwrap()).unwrap();
        if self.index.is_none() {
            self.index = Some(HistoryIndex::new(self.settings.clone(), &self.store)?);
        }
        let index = self.index.as_mut().unwrap();
        index.restore_file(&self.store, &path, &place)?;
        let mut step = self.store.step()?;
        let indexed = index.read(&self.fs, &mut step, &path, budget)?;
        step.commit()?;
        Ok(indexed)
    }

    /// A step that is not committed, as after a full disk.
    pub fn index_uncommitted(&mut self, relative: &str) {
        let path = Self::path(relative);
        let place = classify(path.strip_prefix(ROOT).unwrap()).unwrap();
        if self.index.is_none() {
            self.index = Some(HistoryIndex::new(self.settings.clone(), &self.store).unwrap());
        }
        let index = self.index.as_mut().unwrap();
        index.restore_file(&self.store, &path, &place).unwrap();
        let mut step = self.store.step().unwrap();
        index.read(&self.fs, &mut step, &path, u64::MAX).unwrap();
        drop(step);
        index.discard_states();
    }

    /// Stores an event of a hook.
    pub fn hook(&mut self, id: &str, at: Timestamp, payload: &str) {
        let (agent, ancestors, terminal) = (None, std::sync::Arc::from([]), None);
        let origin = HookOrigin {
            id: id.into(),
            at,
            order: at.as_millis().cast_unsigned(),
            agent,
            ancestors,
            terminal,
        };
        let (parsed, texts) = (parse_payload(payload.as_bytes()).unwrap(), read_texts(payload).unwrap());
        let fs = self.fs.clone();
        let (index, store) = self.index_handle();
        let mut step = store.step().unwrap();
        let event = HookEventParts { origin: &origin, payload: &parsed, texts: &texts };
        index.add_hook_event(&fs, &mut step, event).unwrap();
        step.commit().unwrap();
    }

    pub fn index_handle(&mut self) -> (&mut HistoryIndex, &mut Store) {
        (self.index.as_mut().unwrap(), &mut self.store)
    }

    /// Every row that is read from transcripts, as text: sessions, files, segments, prompts, calls, plans, requests,
    /// texts, and the hits of a search.
    pub fn rows(&self) -> Vec<String> {
        let store = &self.store;
        let mut sessions = Vec::new();
        store.sessions(&mut |key, row| sessions.push((key, row.session_id))).unwrap();
        let mut all = Vec::new();
        let mut words = BTreeSet::new();
        for (key, id) in sessions {
            all.push(format!("session {id}"));
            all.extend(store.batches(key).unwrap().iter().map(|row| format!("{id} {:?}", row.batch)));
            all.extend(store.activities(key).unwrap().iter().map(|row| format!("{id} {:?}", row.activity)));
            all.extend(store.plans(key).unwrap().iter().map(|plan| format!("{id} {plan:?}")));
            all.extend(store.executions(key).unwrap().iter().map(|done| format!("{id} {done:?}")));
            for (file, row) in store.files_of(key).unwrap() {
                // However much was read at once: the same bytes, the same file, the same offset. A file that was only
                // touched since then is not read again.
                let cursor = FileCursor { mtime: Timestamp::default(), ..row.cursor };
                all.push(format!("{id} {} {:?} {cursor:?}", row.path, row.subagent));
                all.extend(store.segments(file).unwrap().iter().map(|row| format!("{id} {row:?}")));
                let texts = store.texts(file, 0, u32::MAX >> 1).unwrap();
                words.extend(
                    texts.iter().flat_map(|text| text.text.split_whitespace().take(3).map(str::to_owned)),
                );
                all.extend(texts.iter().map(|text| format!("{id} {} {text:?}", row.path)));
            }
        }
        let mut day_of = |at: Timestamp| usize::try_from(at.as_millis() / 86_400_000).unwrap();
        let usage = store.usage(None, &mut day_of, None).unwrap();
        all.extend(usage.iter().map(|row| format!("{row:?}")));
        all.extend(store.tools(None).unwrap().iter().map(|row| format!("{row:?}")));
        all.push(format!("{:?} {:?}", store.text_counts().unwrap(), store.session_counts(None).unwrap()));
        all.push(format!("{} bytes of texts were cut", store.totals().unwrap().cut_bytes));
        for word in words.iter().step_by(words.len().div_ceil(12).max(1)) {
            let mut hits = store.search(&Query::new(word, 1_000)).unwrap().hits;
            hits.sort_by(|a, b| (&a.path, a.offset, &a.role).cmp(&(&b.path, b.offset, &b.role)));
            let hit = |hit: &Hit| format!("{word}: {} {} {} {}", hit.path, hit.offset, hit.role, hit.snippet);
            all.extend(hits.iter().map(hit));
        }
        all.sort();
        all
    }

    /// Whether the full-text index holds exactly the words of the texts.
    pub fn index_is_sound(&mut self) -> bool {
        self.store.index_is_sound().unwrap()
    }

    pub fn texts(&self, session: &str, role: Role) -> Vec<String> {
        let Some(key) = self.store.session_key(&SessionId::new(session)).unwrap() else { return Vec::new() };
        let mut found = Vec::new();
        for (file, _) in self.store.files_of(key).unwrap() {
            let texts = self.store.texts(file, 0, u32::MAX >> 1).unwrap();
            found.extend(texts.into_iter().filter(|text| text.role == role.as_str()).map(|text| text.text));
        }
        found
    }
}

/// The transcripts of all recordings, with the names of their files.
pub fn recordings() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let mut all: Vec<(String, String)> = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let op: serde_json::Value = serde_json::from_str(line).unwrap();
            let path = op["path"].as_str().unwrap_or("");
            let Some((_, name)) = path.strip_prefix("projects/").and_then(|rest| rest.split_once('/')) else {
                continue;
            };
            if op["op"] != "append" || !name.ends_with(".jsonl") {
                continue;
            }
            let text = op["text"].as_str().unwrap();
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => known.push_str(text),
                None => all.push((name.to_owned(), text.to_owned())),
            }
        }
    }
    all
}
