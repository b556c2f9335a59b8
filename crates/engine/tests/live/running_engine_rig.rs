//! Sessions that work, an engine that follows them, and the user's view of both.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::user::SessionCommand;
use watchbill_engine::handle::{real_sources, start};
use watchbill_engine::index;
use watchbill_history::query;
use watchbill_hooks::deliver::deliver;
use watchbill_hooks::envelope::Envelope;
use watchbill_hooks::places::HookPaths;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::search::{IndexState, SearchQuery};
use watchbill_settings::Settings;
use watchbill_store::{Access, OpenMode, Store};

use crate::records::session;
use crate::subscriber::{Folder, Subscriber, TIMEOUT, now, row};
use crate::until;

pub struct RunningEngine {
    folder: Folder,
    pub settings: Settings,
    /// None while no engine runs.
    subscriber: Option<Subscriber>,
    /// The number of the next record.
    next: u64,
}

impl RunningEngine {
    /// An engine whose data folder is `data`.
    pub fn at(data: &Path) -> Self {
        Self::after(data, |_| {})
    }

    /// The same, after a change to the world in which it starts.
    pub fn after(data: &Path, done: impl FnOnce(&Settings)) -> Self {
        let folder = Folder::new();
        let settings = Settings { data_dir: Some(data.to_path_buf()), ..folder.settings() };
        done(&settings);
        let subscriber = Some(Subscriber::on(settings.clone()));
        Self { folder, settings, subscriber, next: 1 }
    }

    pub fn data(&self) -> PathBuf {
        self.settings.data_dir.clone().unwrap()
    }

    fn subscriber(&self) -> &Subscriber {
        self.subscriber.as_ref().unwrap()
    }

    /// Ends the engine.
    pub fn stop(&mut self) {
        self.subscriber().handle.stop();
        self.subscriber = None;
        self.released();
    }

    /// Starts the engine again.
    pub fn start(&mut self) {
        self.subscriber = Some(Subscriber::of(start(self.settings.clone()).unwrap()));
    }

    /// Edits a transcript in place, a minute after its last record.
    pub fn edit_transcript(&mut self, n: usize, from: &str, to: &str) {
        use std::io::Write;
        let path = self.folder.transcript("p", &session(n));
        let written = std::fs::metadata(&path).unwrap().modified().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(text.replace(from, to).as_bytes()).unwrap();
        file.set_modified(written + std::time::Duration::from_secs(60)).unwrap();
    }

    /// Ends the engine, runs `done`, and starts another engine.
    pub fn restart_after(&mut self, done: impl FnOnce(&Path)) {
        self.stop();
        done(&self.data());
        self.start();
    }

    /// Waits until no process has the right to write.
    fn released(&self) {
        self.until("the store to be let go of", |house| {
            !house.data().exists()
                || Store::open(&house.data(), OpenMode::WriteOrRead)
                    .is_ok_and(|store| store.access() == Access::Writer)
        });
    }

    /// A session gets a prompt and answers; the roster shows both, even after a failure of the store.
    pub fn run_a_turn(&mut self, n: usize) {
        let author = self.folder.author(n);
        let (question, answer) = (self.next, self.next + 1);
        self.next += 2;
        self.folder.append(&author, &author.prompt(question, now()));
        self.subscriber.as_mut().unwrap().until_state(&author, "working");
        self.folder.append(&author, &author.answer(answer, now()));
        self.subscriber.as_mut().unwrap().until_state(&author, "waiting_for_input");
        assert_eq!(row(&self.subscriber().copy, &author).unwrap().session_id, session(n));
    }

    /// A session gets a prompt with these words.
    pub fn append_prompt(&mut self, n: usize, words: &str) {
        let author = self.folder.author(n);
        let line = author.prompt(self.next, now());
        self.next += 1;
        self.folder.append(&author, &line.replace("prompt", words));
    }

    /// A hook reports a prompt. Returns whether the event was stored.
    pub fn send_hook_event(&mut self, prompt: &str) -> bool {
        let (id, order) = (u128::from(self.next), self.next);
        self.next += 1;
        let event = Envelope::new(id, now(), order);
        let payload =
            format!(r#"{{"session_id":"by-hook","hook_event_name":"UserPromptSubmit","prompt":"{prompt}"}}"#);
        deliver(&HookPaths::new(&self.data()), &event.encode(payload.as_bytes()), TIMEOUT).kept
    }

    /// Sends a user command.
    pub fn carry_out_command(&self, word: SessionCommand) -> Result<(), ApiError> {
        self.subscriber().handle.carry_out_command(word)
    }

    /// Waits until a problem contains these words.
    pub fn until_problem_contains(&mut self, words: &str) {
        self.subscriber
            .as_mut()
            .unwrap()
            .until(words, |copy| copy.problems.iter().any(|problem| problem.detail.contains(words)));
    }

    /// The problems of the data folder, as the roster shows them.
    pub fn store_problems(&self) -> Vec<String> {
        let problems = &self.subscriber().copy.problems;
        let of_store =
            problems.iter().filter(|problem| problem.path.starts_with(&*self.data().to_string_lossy()));
        of_store
            .map(|problem| self.without_temp_paths(&format!("{}: {}", problem.kind, problem.detail)))
            .collect()
    }

    /// Waits for a problem of the store.
    pub fn until_store_problem(&mut self) -> String {
        let data = self.data().to_string_lossy().into_owned();
        self.subscriber.as_mut().unwrap().until("the trouble", |copy| {
            copy.problems.iter().any(|problem| problem.kind == "store" && problem.path.starts_with(&data))
        });
        self.store_problems().join("\n")
    }

    /// Waits until no problem of the data folder is left.
    pub fn until_no_store_problem(&mut self) {
        let data = self.data().to_string_lossy().into_owned();
        self.subscriber.as_mut().unwrap().until("the end of the trouble", |copy| {
            !copy.problems.iter().any(|problem| problem.path.starts_with(&data))
        });
    }

    /// The doctor's report on the store.
    pub fn doctor(&self) -> String {
        let health = query::health(&self.settings, &*real_sources().fs).unwrap();
        self.without_temp_paths(&health.trouble.unwrap_or_else(|| "well".to_owned()))
    }

    /// The number of search hits for the words.
    pub fn found(&self, words: &str) -> Result<usize, String> {
        let asked = SearchQuery { query: words.to_owned(), limit: Some(1_000), ..SearchQuery::default() };
        let found = self.subscriber().handle.search(&asked, Arc::new(|| true));
        found.map(|answer| answer.hits.len()).map_err(|error| self.without_temp_paths(&error.message))
    }

    /// Whether a search reports that everything is stored.
    pub fn is_current(&self) -> bool {
        let asked = SearchQuery { query: "prompt".to_owned(), ..SearchQuery::default() };
        self.subscriber()
            .handle
            .search(&asked, Arc::new(|| true))
            .is_ok_and(|answer| answer.index == IndexState::Current)
    }

    /// The stored texts of a session; none if the store cannot be read.
    pub fn stored(&self, n: usize) -> Vec<String> {
        self.read(n).unwrap_or_default()
    }

    fn read(&self, n: usize) -> Option<Vec<String>> {
        let store = Store::open(&self.data(), OpenMode::Read).ok()?;
        let key = store.session_key(&SessionId::new(&session(n))).ok()??;
        let mut found = Vec::new();
        for (file, _) in store.files_of(key).ok()? {
            found.extend(store.texts(file, 0, 1_000).ok()?.into_iter().map(|text| text.text));
        }
        Some(found)
    }

    /// Waits until that many texts of a session are stored.
    pub fn until_stored(&self, n: usize, count: usize) {
        self.until(&format!("{count} texts of session {n}"), |house| house.stored(n).len() == count);
    }

    pub fn until(&self, what: &str, mut so: impl FnMut(&Self) -> bool) {
        until(what, || so(self));
    }

    /// Ends the engine, and compares its store with a fresh index of the same transcripts.
    pub fn stop_and_compare_with_fresh_index(mut self) {
        self.stop();
        let fresh = tempfile::tempdir().unwrap();
        let settings = Settings { data_dir: Some(fresh.path().to_path_buf()), ..self.settings.clone() };
        index::run(&settings, &real_sources(), index::Options::default(), &mut |_| true).unwrap();
        let [mut here, mut there] =
            [&self.data(), fresh.path()].map(|data| Store::open(data, OpenMode::WriteOrRead).unwrap());
        assert_eq!(rows(&here), rows(&there));
        assert!(here.index_is_sound().unwrap() && there.index_is_sound().unwrap());
    }

    /// Replaces the folders of this run by fixed names.
    fn without_temp_paths(&self, text: &str) -> String {
        text.replace(&*self.data().to_string_lossy(), "/home/dev/data")
    }
}

/// All rows that were read from transcripts, as text.
fn rows(store: &Store) -> Vec<String> {
    let mut sessions = Vec::new();
    store.sessions(&mut |key, row| sessions.push((key, row.session_id, row.chain_id))).unwrap();
    let mut all = Vec::new();
    for (key, id, chain) in sessions {
        // Sessions that only hooks reported have no transcript.
        if store.files_of(key).unwrap().is_empty() {
            continue;
        }
        all.push(format!("{id} {chain:?}"));
        all.extend(store.batches(key).unwrap().iter().map(|stored| format!("{id} {:?}", stored.batch)));
        all.extend(store.activities(key).unwrap().iter().map(|stored| format!("{id} {:?}", stored.activity)));
        for (file, row) in store.files_of(key).unwrap() {
            let texts = store.texts(file, 0, u32::MAX >> 1).unwrap();
            all.push(format!("{id} {} {}", row.path, row.cursor.offset));
            all.extend(texts.iter().map(|text| format!("{id} {text:?}")));
        }
    }
    all.sort();
    all
}
