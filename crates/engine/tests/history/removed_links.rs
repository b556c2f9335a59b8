//! A link that the changed transcripts no longer show is removed from the store.

use std::path::Path;

use watchbill_engine::handle::start;
use watchbill_store::{OpenMode, Store};

use super::thread::{released, settings};

use crate::wait::{until, until_is};

/// A transcript of the process that began with session `r`, begun by `/clear` that many minutes later.
fn write_transcript(project: &Path, session: &str, minute: u32) {
    let record = |n: usize, parent: &str, content: &str| {
        format!(
            r#"{{"type":"user","uuid":"{session}{n}","parentUuid":{parent},"sessionId":"{session}","session_id":"r","cwd":"/home/dev/work","timestamp":"2026-11-20T15:{minute:02}:{n:02}.000Z","message":{{"role":"user","content":"{content}"}}}}"#
        ) + "\n"
    };
    let clear = if minute == 0 { "begin" } else { "<command-name>/clear</command-name>" };
    let text = record(1, "null", clear) + &record(2, &format!("\"{session}1\""), "and so on");
    std::fs::write(project.join(format!("{session}.jsonl")), text).unwrap();
}

/// Waits until the store has exactly these links.
fn until_linked(data: &Path, wanted: &[(&str, &str)]) {
    let wanted: Vec<_> = wanted.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    until_is(&wanted, || {
        let links = Store::open(data, OpenMode::Read).and_then(|store| store.links()).unwrap_or_default();
        links.into_iter().map(|row| (row.earlier.to_string(), row.later.to_string())).collect()
    });
}

#[test]
fn a_link_is_replaced_when_a_session_between_is_found() {
    for live in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (project, data) = (root.join("claude/projects/p"), root.join("data"));
        std::fs::create_dir_all(&project).unwrap();
        write_transcript(&project, "r", 0);
        write_transcript(&project, "t", 20);
        let mut engine = Some(start(settings(&root)).unwrap());
        until_linked(&data, &[("r", "t")]);
        if !live {
            engine.take();
            released(&data);
        }
        write_transcript(&project, "s", 10);
        if !live {
            engine = Some(start(settings(&root)).unwrap());
        }
        until_linked(&data, &[("r", "s"), ("s", "t")]);
        // Once a transcript is removed, no transcript contradicts its old links.
        std::fs::remove_file(project.join("s.jsonl")).unwrap();
        until_linked(&data, &[("r", "s"), ("r", "t"), ("s", "t")]);
        drop(engine);
    }
}

#[test]
fn a_clear_link_is_removed_with_its_transcript() {
    let all = [Some(true), Some(false), None].map(|removed| [(removed, true), (removed, false)]);
    for (removed, live) in all.into_iter().flatten() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (project, data) = (root.join("claude/projects/p"), root.join("data"));
        std::fs::create_dir_all(&project).unwrap();
        write_transcript(&project, "r", 0);
        write_transcript(&project, "t", 10);
        write_transcript(&project, "u", 20);
        let mut engine = Some(start(settings(&root)).unwrap());
        until_linked(&data, &[("r", "t"), ("t", "u")]);
        if !live {
            engine.take();
            released(&data);
        }
        let path = project.join("u.jsonl");
        if let Some(removed) = removed {
            // A writer that begins a file anew empties it first; a reader may see it empty.
            if removed { std::fs::remove_file(&path) } else { std::fs::write(&path, "") }.unwrap();
            if let Some(engine) = &engine {
                let is_gone =
                    || !engine.roster(true).unwrap().sessions.iter().any(|row| row.session_id == "u");
                until("the row is gone", is_gone);
            }
        }
        // Another session with that id, in a process of its own.
        let anew = r#"{"type":"user","uuid":"v1","parentUuid":null,"sessionId":"u","session_id":"u","cwd":"/home/dev/other","timestamp":"2026-11-20T17:00:00.000Z","message":{"role":"user","content":"begin"}}"#;
        std::fs::write(&path, format!("{anew}\n")).unwrap();
        if !live {
            engine = Some(start(settings(&root)).unwrap());
        }
        until_linked(&data, &[("r", "t")]);
        drop(engine);
    }
}
