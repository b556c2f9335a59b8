//! The transcript of an agent that writes none that Watchbill reads.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use watchbill_core::time::Timestamp;
use watchbill_drive::folder::Folder;
use watchbill_drive::log::{Direction, LogWriter};
use watchbill_drive::summary::OwnSummary;
use watchbill_drive::transcript::{TranscriptWriter, complete};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

#[test]
fn a_transcript_that_lost_its_end_is_made_whole_by_the_next_host() {
    let data = tempfile::tempdir().unwrap();
    let spec = OwnSpec {
        session: "00000000-0000-4000-8000-000000000001".to_owned(),
        agent: OwnAgent::Codex,
        kind: OwnKind::Stream,
        cwd: "/srv/app".to_owned(),
        model: None,
        mode: None,
        resume: None,
        command: Vec::new(),
        size: None,
        created_at: "2026-11-25T04:00:00.000Z".to_owned(),
        root: None,
        switched: None,
        started_by_agent: false,
    };
    let folder = Folder::of(data.path(), &spec.session).unwrap();
    folder.create(&spec).unwrap();
    let events: Vec<OwnWhat> = ["one", "two", "three"]
        .map(|text| OwnWhat::Block {
            block: text.to_owned(),
            text: text.to_owned(),
            thinking: false,
            record: None,
        })
        .into();
    let write = || {
        let mut writer = TranscriptWriter::open(&folder, &spec).unwrap().unwrap();
        for (n, event) in events.iter().enumerate() {
            writer.take(n as u64, Timestamp::from_millis(1_795_188_000_000), std::slice::from_ref(event));
        }
    };
    write();
    let whole = std::fs::read_to_string(folder.transcript()).unwrap();
    assert_eq!(whole.lines().count(), 3);
    for length in [0, 1, whole.len() / 2, whole.len() - 1, whole.len()] {
        std::fs::write(folder.transcript(), &whole[..length]).unwrap();
        write();
        assert_eq!(std::fs::read_to_string(folder.transcript()).unwrap(), whole, "cut at {length}");
    }
    let of_claude = OwnSpec { agent: OwnAgent::Claude, ..spec.clone() };
    assert!(TranscriptWriter::open(&folder, &of_claude).unwrap().is_none(), "Claude Code writes its own");
}

const OWN: &str = "00000000-0000-4000-8000-000000000002";

/// A session of Claude Code with a log of events.
struct Claude {
    data: tempfile::TempDir,
    folder: Folder,
    spec: OwnSpec,
}

impl Claude {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let spec = json!({ "session": OWN, "agent": "claude", "kind": "stream", "cwd": "/srv/app",
            "root": data.path().join("claude"), "createdAt": "2026-11-25T04:00:00.000Z" });
        let spec: OwnSpec = serde_json::from_value(spec).unwrap();
        let folder = Folder::of(&data.path().join("data"), OWN).unwrap();
        std::fs::create_dir_all(data.path().join("data")).unwrap();
        folder.create(&spec).unwrap();
        Self { data, folder, spec }
    }

    fn log(&self, events: &[OwnWhat]) {
        let mut log = LogWriter::open(&self.folder.log()).unwrap();
        for event in events {
            let at = Timestamp::from_millis(1_795_580_000_000 + i64::try_from(log.next()).unwrap());
            log.append(at, Direction::Event, &serde_json::to_vec(event).unwrap()).unwrap();
        }
    }

    fn complete(&self) {
        complete(&self.folder, &self.spec, true).unwrap();
    }

    /// The transcript that the agent has written.
    fn transcript(&self) -> PathBuf {
        let folder = self.data.path().join("claude/projects/-srv-app");
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(OWN).with_extension("jsonl")
    }

    fn supplement(&self) -> PathBuf {
        self.folder.supplement(OWN).unwrap()
    }

    fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.supplement()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn prompt(n: u32) -> OwnWhat {
    let id = format!("11111111-0000-4000-8000-{n:012}");
    OwnWhat::Prompt { id, text: format!("prompt {n}"), images: 0, place: PromptPlace::Sent }
}

fn text(words: &str) -> OwnWhat {
    OwnWhat::Text { block: "m#0".to_owned(), delta: words.to_owned() }
}

fn call(id: &str, parent: Option<&str>) -> OwnWhat {
    let (id, parent) = (id.to_owned(), parent.map(str::to_owned));
    OwnWhat::ToolUse { id, tool: "Bash".to_owned(), input: json!({}), target: String::new(), parent }
}

fn result(id: &str, text: &str) -> OwnWhat {
    OwnWhat::ToolResult { id: id.to_owned(), text: text.to_owned(), failed: false }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn an_id_of_a_session_that_is_a_path_leads_to_no_file() {
    for id in ["", ".", "..", "../../x", "/x/y", "a/b", "a.b", "a\\b", "a\0b", &"a".repeat(65)] {
        let claude = Claude::new();
        assert_eq!(claude.folder.supplement(id), None, "{id}");
        let begin = serde_json::from_value(json!({ "event": "init", "session": id })).unwrap();
        claude.log(&[OwnWhat::Started { pid: 1 }, begin, prompt(1), text("secret")]);
        let before = files(claude.data.path());
        claude.complete();
        assert_eq!(files(claude.data.path()), before, "{id}");
    }
    let claude = Claude::new();
    claude.log(&[OwnWhat::Started { pid: 1 }, prompt(1), text("said")]);
    claude.complete();
    assert_eq!(claude.records().len(), 3);
}

#[test]
fn the_calls_of_a_subagent_are_not_those_of_the_agent() {
    let claude = Claude::new();
    let of_subagent = [call("inner", Some("outer")), result("inner", "x"), result("inner", "x")];
    claude.log(&[OwnWhat::Started { pid: 1 }, prompt(1), call("outer", None)]);
    claude.log(&of_subagent);
    claude.log(&[result("outer", "done")]);
    claude.complete();
    let text = std::fs::read_to_string(claude.supplement()).unwrap();
    assert_eq!((claude.records().len(), text.contains("inner")), (3, false), "{text}");
}

#[test]
fn the_newest_records_of_a_process_that_said_much_are_kept() {
    let claude = Claude::new();
    claude.log(&[OwnWhat::Started { pid: 1 }, prompt(1), result("first", "x"), prompt(2), prompt(3)]);
    let results: Vec<_> = (0..300).map(|n| result(&format!("call{n}"), &"x".repeat(50_000))).collect();
    claude.log(&results);
    claude.complete();
    let records = claude.records();
    let prompts: Vec<_> = records.iter().filter_map(|record| record["message"]["content"].as_str()).collect();
    assert_eq!(prompts, ["prompt 2", "prompt 3"]);
    let ids: Vec<_> = records[2..]
        .iter()
        .map(|record| record["message"]["content"][0]["tool_use_id"].as_str().unwrap())
        .collect();
    let newest: Vec<_> = (300 - ids.len()..300).map(|n| format!("call{n}")).collect();
    assert_eq!(ids, newest);
    let length = std::fs::metadata(claude.supplement()).unwrap().len();
    assert!((1_900_000..2_200_000).contains(&length), "{length}");
}

#[test]
fn a_transcript_that_is_missing_later_is_not_made_again() {
    let claude = Claude::new();
    claude.log(&[OwnWhat::Started { pid: 1 }, prompt(1), text("said")]);
    complete(&claude.folder, &claude.spec, false).unwrap();
    OwnSummary::of_ended(&claude.folder, &claude.spec).unwrap();
    assert_eq!(claude.records(), Vec::<Value>::new());
    // What lacks only the end is completed at any time.
    let there = json!({ "type": "user", "uuid": "11111111-0000-4000-8000-000000000001", "promptId": "p" });
    std::fs::write(claude.transcript(), format!("{there}\n")).unwrap();
    complete(&claude.folder, &claude.spec, false).unwrap();
    assert_eq!(claude.records().len(), 2);
}

#[test]
fn a_cut_has_one_notice_however_often_the_session_ends() {
    let claude = Claude::new();
    claude.log(&[OwnWhat::Started { pid: 1 }, prompt(1), call("t", None), text("said"), text(" more")]);
    claude.complete();
    let first = claude.records();
    let ended = |code| OwnWhat::SessionEnded { code, signal: None, asked: true, words: None };
    // The next host closes what is open, and ends too.
    for event in [
        OwnWhat::RequestClosed { request: "r".to_owned(), by: "ended".to_owned() },
        ended(None),
        ended(Some(0)),
    ] {
        claude.log(&[event]);
        claude.complete();
        assert_eq!(claude.records(), first);
    }
    assert_eq!(first.len(), 4);
}

#[test]
fn records_have_the_folder_that_the_agent_went_to() {
    let there = json!({ "type": "user", "uuid": "11111111-0000-4000-8000-000000000001" });
    let mut moved = there.clone();
    moved["cwd"] = "/srv/private".into();
    let inner = json!({ "type": "system", "content": { "cwd": "/inner" } });
    for (lines, cwd) in [(vec![&moved, &there, &inner], "/srv/private"), (vec![&there, &inner], "/srv/app")] {
        let claude = Claude::new();
        claude.log(&[OwnWhat::Started { pid: 1 }, prompt(1), text("said")]);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(claude.transcript(), text + "{\"cwd\":\"/torn").unwrap();
        claude.complete();
        let cwds: Vec<_> = claude.records().iter().map(|record| record["cwd"].clone()).collect();
        assert_eq!(cwds, [cwd, cwd]);
    }
}

#[test]
fn a_session_that_is_removed_meanwhile_gets_no_new_file() {
    for round in 0..200 {
        let claude = Claude::new();
        claude.log(&[OwnWhat::Started { pid: 1 }, prompt(1), text("secret")]);
        std::thread::scope(|threads| {
            // The removal comes at another moment in each round. A file that goes away is an error.
            threads.spawn(|| complete(&claude.folder, &claude.spec, true));
            (0..round * 100).for_each(|_| std::hint::spin_loop());
            claude.folder.remove().unwrap();
        });
        let folder = claude.supplement().parent().unwrap().to_owned();
        assert!(!folder.exists() && !claude.folder.path().exists(), "{round}");
    }
}
