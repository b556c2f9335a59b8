//! Excluded, private or forgotten text is nowhere in the data folder. Tests put it into each field of each record, event and
//! file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::Exclude;
use watchbill_core::time::Millis;
use watchbill_engine::alone::forget::{ForgetWhat, forget};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::handle::start;
use watchbill_hooks::envelope::Envelope;
use watchbill_hooks::places::HookPaths;
use watchbill_hooks::spool;
use watchbill_settings::Settings;
use watchbill_settings::symlinks::DiskLinks;
use watchbill_store::{OpenMode, Store};

use crate::exclude_later::{file_containing, stored_texts};
use crate::thread::released;
use crate::wait::until;

const ID: &str = "5ec0e700-0000-4000-8000-00000000000a";
const OPEN: &str = "09e00000-0000-4000-8000-00000000000b";
/// No other word begins with the same letters: an index that stores common beginnings once still holds it whole.
const SECRET: &str = "zqxhidden";

/// Records, each with the word in one more field than the record before. `TEXT` marks the place for the word.
const RECORDS: [&str; 21] = [
    r#""type":"user","message":{"content":"go TEXT on"}"#,
    r#""type":"user","gitBranch":"TEXT","message":{"content":[{"type":"text","text":"and TEXT"},{"type":"image","source":{}}]}"#,
    r#""type":"assistant","message":{"id":"m1","content":[{"type":"thinking","thinking":"TEXT"}]}"#,
    r#""type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"well, TEXT"}]}"#,
    r#""type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"echo TEXT","description":"TEXT"}}]}"#,
    r#""type":"user","toolUseResult":{"stdout":"TEXT"},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"TEXT"}]}"#,
    r#""type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"mcp__a__b","input":{"z":{"deep":["TEXT"]}}}]}"#,
    r#""type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"TEXT"}]}]}"#,
    r#""type":"assistant","message":{"id":"m3","content":[{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"/srv/.claude/plans/p.md","content":"TEXT"}}]}"#,
    r#""type":"user","toolUseResult":{"filePath":"/srv/.claude/plans/p.md","content":"TEXT"},"message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"ok"}]}"#,
    r#""type":"ai-title","aiTitle":"TEXT""#,
    r#""type":"custom-title","customTitle":"TEXT""#,
    r#""type":"agent-name","agentName":"TEXT""#,
    r#""type":"summary","summary":"TEXT","leafUuid":"none""#,
    r#""type":"last-prompt","lastPrompt":"TEXT""#,
    r#""type":"queue-operation","operation":"enqueue","content":"TEXT""#,
    r#""type":"attachment","attachment":{"type":"queued_command","prompt":"TEXT"}"#,
    r#""type":"attachment","attachment":{"type":"file","filename":"a","content":"TEXT"}"#,
    r#""type":"system","subtype":"local_command","content":"<local-command-stdout>TEXT</local-command-stdout>""#,
    r#""type":"user","isCompactSummary":true,"message":{"content":"This session is being continued. TEXT"}"#,
    r#""type":"assistant","isApiErrorMessage":true,"message":{"id":"m4","model":"<synthetic>","content":[{"type":"text","text":"API Error: TEXT"}]}"#,
];

/// The last record: a call without an answer, so that the row and its reasons name it.
const OPEN_CALL: &str = r#""type":"assistant","message":{"id":"m9","content":[{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"rm TEXT"}}]}"#;

const EVENTS: [&str; 9] = [
    r#""hook_event_name":"SessionStart","source":"startup","session_title":"TEXT""#,
    r#""hook_event_name":"UserPromptSubmit","prompt":"go TEXT on""#,
    r#""hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"h1","tool_input":{"command":"TEXT"}"#,
    r#""hook_event_name":"PostToolUse","tool_name":"Write","tool_use_id":"h2","tool_input":{"content":"TEXT"},"tool_response":{"filePath":"/srv/.claude/plans/p.md","content":"TEXT"}"#,
    r#""hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_use_id":"h3","tool_input":{},"error":"TEXT""#,
    r#""hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"TEXT"}"#,
    r#""hook_event_name":"Elicitation","message":"TEXT""#,
    r#""hook_event_name":"StopFailure","error":"server_error","last_assistant_message":"TEXT""#,
    r#""hook_event_name":"Stop","last_assistant_message":"TEXT""#,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hidden {
    /// The rule exists before any data.
    Excluded,
    /// The rule comes when all is stored.
    ExcludedLater,
    Forgotten,
    /// The word stands between tags.
    Private,
    /// The tags span several texts: each tag pair begins in one text and ends in another.
    PrivateAcross,
}

impl Hidden {
    const ALL: [Self; 5] =
        [Self::Excluded, Self::ExcludedLater, Self::Forgotten, Self::Private, Self::PrivateAcross];

    fn word(self, n: usize) -> String {
        match self {
            Self::Private => format!("<private>{SECRET}</private>"),
            Self::PrivateAcross if n.is_multiple_of(2) => format!("<private>{SECRET}"),
            Self::PrivateAcross => format!("{SECRET}</private>"),
            _ => SECRET.to_owned(),
        }
    }
}

struct PlantedFolder {
    _folder: tempfile::TempDir,
    root: PathBuf,
    settings: Settings,
    cwd: PathBuf,
    why: Hidden,
    planted: u64,
    count: usize,
}

impl PlantedFolder {
    fn new(why: Hidden, planted: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let cwd = root.join("home/quiet");
        for folder in [cwd.join(".claude"), root.join("home/work"), root.join("claude/projects/p")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let mut settings = Settings::for_roots(vec![root.join("claude")]);
        settings.data_dir = Some(root.join("data"));
        // The archive keeps a transcript whole, private text included.
        let enabled = !matches!(why, Hidden::Private | Hidden::PrivateAcross);
        settings.archive = ArchiveSettings { enabled, after: Millis(0), ..ArchiveSettings::default() };
        Self { _folder: folder, root, settings, cwd, why, planted, count: 0 }
    }

    fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    fn exclude(&self) -> Exclude {
        let rule = self.cwd.to_string_lossy().into_owned();
        Exclude::new([rule]).on_disk(None, Arc::new(DiskLinks::default()))
    }

    /// The secret word where this round plants it, otherwise a harmless one.
    fn text(&mut self) -> String {
        self.count += 1;
        match self.planted >> (self.count % 64) & 1 {
            1 => self.why.word(self.count),
            _ => "plain".to_owned(),
        }
    }

    fn planted(&mut self, template: &str) -> String {
        let mut parts = template.split("TEXT");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out += &self.text();
            out += part;
        }
        out
    }

    fn record(&mut self, n: usize, template: &str) -> String {
        let at = SystemClock.now() - Millis(60_000 - n as i64 * 1_000);
        let cwd = self.cwd.display().to_string();
        let fields = self.planted(template);
        format!(r#"{{"uuid":"{ID}-{n}","sessionId":"{ID}","cwd":"{cwd}","timestamp":"{at}",{fields}}}"#)
            + "\n"
    }

    fn write(&mut self) {
        let mut text: String =
            RECORDS.iter().enumerate().map(|(n, template)| self.record(n, template)).collect();
        text += &self.record(RECORDS.len(), OPEN_CALL);
        std::fs::write(self.root.join(format!("claude/projects/p/{ID}.jsonl")), text).unwrap();
        let status =
            self.planted("---\nstatus: blocked\nupdated: NOW\ntask: TEXT\n---\n## Summary\n\nTEXT\n");
        let now = SystemClock.now().to_string();
        let claude = self.cwd.join(".claude");
        std::fs::write(claude.join(format!("status.{ID}.md")), status.replace("NOW", &now)).unwrap();
        let marker = format!(
            r#"{{"newSessionId":"{ID}","cwd":"{}","compactedAt":"{now}","note":"{SECRET}"}}"#,
            self.cwd.display()
        );
        std::fs::write(claude.join(format!("compacted.{ID}.marker")), marker).unwrap();
        self.write_open("open at first");
    }

    fn write_open(&self, words: &str) {
        let path = self.root.join(format!("claude/projects/p/{OPEN}.jsonl"));
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let cwd = self.root.join("home/work");
        let (now, n) = (SystemClock.now(), before.lines().count());
        let line = format!(
            r#"{{"type":"user","uuid":"{OPEN}-{n}","sessionId":"{OPEN}","cwd":"{}","timestamp":"{now}","message":{{"content":"{words}"}}}}"#,
            cwd.display()
        );
        std::fs::write(path, before + &line + "\n").unwrap();
    }

    fn hooks(&mut self) {
        let spools = HookPaths::new(&self.data()).spool();
        for (n, template) in EVENTS.iter().enumerate() {
            let fields = self.planted(template);
            let payload = format!(r#"{{"session_id":"{ID}","cwd":"{}",{fields}}}"#, self.cwd.display());
            put(&spools, n as u128 + 1, &payload);
        }
        let cwd = self.root.join("home/work");
        let last = format!(
            r#"{{"session_id":"{OPEN}","cwd":"{}","hook_event_name":"UserPromptSubmit","prompt":"open hook"}}"#,
            cwd.display()
        );
        put(&spools, 99, &last);
    }
}

fn put(spools: &Path, id: u128, payload: &str) {
    let at = watchbill_platform::clock::wall();
    let order = watchbill_platform::clock::since_boot() + id as u64;
    let event = Envelope::new(id, at, order);
    spool::write(spools, &event, &event.encode(payload.as_bytes())).unwrap();
}

/// A file that contains the word, also inside a packed archive file.
fn file_containing_also_packed(folder: &Path, word: &str) -> Option<PathBuf> {
    let packed = |path: PathBuf| {
        let mut bytes = Vec::new();
        // The bytes after the last frame are not a frame.
        let _ = zstd::stream::copy_decode(std::fs::File::open(&path).ok()?, &mut bytes);
        bytes.windows(word.len()).any(|piece| piece == word.as_bytes()).then_some(path)
    };
    let archive = std::fs::read_dir(folder.join("archive")).into_iter().flatten();
    file_containing(folder, word).or_else(|| archive.filter_map(|entry| packed(entry.ok()?.path())).next())
}

/// The text around each occurrence of the word in a file.
fn around(path: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).replace('\0', "");
    let pieces = text.match_indices(SECRET).map(|(at, _)| {
        let (begin, end) = (text.floor_char_boundary(at.saturating_sub(80)), at + SECRET.len());
        text[begin..text.ceil_char_boundary((end + 40).min(text.len()))].to_owned()
    });
    format!("{}: {:#?}", path.display(), pieces.collect::<Vec<_>>())
}

fn holds(data: &Path, words: &str) -> bool {
    Store::open(data, OpenMode::Read).is_ok() && stored_texts(data).iter().any(|row| row.contains(words))
}

fn check_no_file_contains(why: Hidden, planted: u64) {
    let mut rig = PlantedFolder::new(why, planted);
    let data = rig.data();
    if why == Hidden::Excluded {
        rig.settings.history.exclude = rig.exclude();
    }
    rig.write();
    let engine = start(rig.settings.clone()).unwrap();
    until("a store", || Store::open(&data, OpenMode::Read).is_ok());
    // At its start the history removes what `exclude` names, even a hook event that the receiver has not read yet.
    until("the first removal", || holds(&data, "open at first"));
    rig.hooks();
    let journal =
        || file_containing(&data.join("hooks"), "open hook").is_some_and(|path| path.ends_with("journal"));
    until("the last event to be kept", journal);
    until("all to be heard", || engine.doctor().unwrap().hooks.is_some_and(|hooks| hooks.sessions == 2));
    until("the session to be shown", || {
        engine.roster(true).unwrap().sessions.iter().any(|row| row.session_id == ID)
    });
    rig.write_open("open at last");
    until("what is open to be stored", || holds(&data, "open at last"));
    if why == Hidden::ExcludedLater {
        assert!(file_containing_also_packed(&data, SECRET).is_some(), "the looking finds what is there");
        rig.settings.history.exclude = rig.exclude();
        engine.apply(&rig.settings);
        until("all of it to be gone", || file_containing_also_packed(&data, SECRET).is_none());
        rig.write_open("open again");
        until("what comes then to be stored", || holds(&data, "open again"));
    }
    engine.stop();
    drop(engine);
    released(&data);
    if why == Hidden::Forgotten {
        assert!(file_containing_also_packed(&data, SECRET).is_some(), "the looking finds what is there");
        let what = ForgetWhat::Sessions(vec![ID.to_owned()]);
        forget(&rig.settings, &what, false, SystemClock.now(), &mut |_| ()).unwrap();
    }
    if matches!(why, Hidden::Private | Hidden::PrivateAcross) {
        // Events are kept unchanged for two days, as the documentation says.
        std::fs::remove_dir_all(data.join("hooks")).unwrap();
    }
    let found = file_containing_also_packed(&data, SECRET);
    assert!(found.is_none(), "{why:?} {planted:#x}: {}", found.map(|path| around(&path)).unwrap_or_default());
    assert!(holds(&data, "open at last"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_planted_word_is_nowhere_after_any_field_held_it(planted in any::<u64>()) {
        for why in Hidden::ALL {
            // At least one word has to be planted.
            check_no_file_contains(why, planted | 2);
        }
    }
}

#[test]
fn a_word_planted_in_every_field_is_nowhere() {
    for why in Hidden::ALL {
        check_no_file_contains(why, u64::MAX);
    }
}
