//! Tests of paths: what the name of a file says.

use super::*;

fn transcript(session: &str) -> Option<ClientPath> {
    Some(ClientPath::Transcript { agent: Agent::Claude, session: SessionId::new(session) })
}

fn subagent(agent: &str) -> Option<ClientPath> {
    Some(ClientPath::Subagent { session: SessionId::new("s"), agent: agent.into() })
}

#[test]
fn paths_of_each_place_are_classified() {
    let table: &[(&str, Option<ClientPath>)] = &[
        ("projects/-home-dev/645a2f0b.jsonl", transcript("645a2f0b")),
        (
            "projects/p/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
            transcript("aaaaaaaa-0000-4000-8000-000000000001"),
        ),
        ("projects/p/s/subagents/agent-ab12.jsonl", subagent("ab12")),
        ("projects/p/s/subagents/agent-acompact-9.jsonl", subagent("acompact-9")),
        ("projects/p/s/subagents/workflows/wf_1/agent-7.jsonl", subagent("7")),
        ("projects/p/s/subagents/workflows/wf_1/deep/agent-7.jsonl", subagent("7")),
        (
            "projects/p/s/subagents/agent-7.meta.json",
            Some(ClientPath::SubagentMeta { session: SessionId::new("s"), agent: "7".into() }),
        ),
        ("projects/p/agent-0a1b2c3.jsonl", Some(ClientPath::FlatSubagent { agent: "0a1b2c3".into() })),
        ("sessions/8669.json", Some(ClientPath::Registry { pid: 8669 })),
        ("compacted.abc.marker", Some(ClientPath::Marker { session: SessionId::new("abc") })),
        (".claude/compacted.abc.marker", Some(ClientPath::Marker { session: SessionId::new("abc") })),
        ("status.abc.md", Some(ClientPath::StatusFile { session: SessionId::new("abc") })),
        (".claude/status.a_b.md", Some(ClientPath::StatusFile { session: SessionId::new("a_b") })),
    ];
    for (path, expected) in table {
        assert_eq!(classify(Path::new(path)), *expected, "{path}");
        let told = kind_of(Path::new(path)).map(ClientPathKind::is_transcript);
        assert_eq!(told, expected.as_ref().map(ClientPath::is_transcript), "{path}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_fast_and_the_careful_split_of_a_path_agree(
        names in proptest::collection::vec(
            proptest::sample::select(vec!["", ".", "..", "home", "dev", "projects", "p", "s.jsonl"]),
            0..7,
        ),
        above in 0usize..7,
    ) {
        let (path, root) = (names.join("/"), names[..above.min(names.len())].join("/"));
        let (path, root) = (Path::new(&path), Path::new(&root));
        let mut names = [OsStr::new(""); PLAIN];
        if let Some(names) = split_plainly(path, &mut names) {
            proptest::prop_assert_eq!(Some(names.to_vec()), split(path));
        }
        for root in [root, Path::new("/home/dev"), Path::new("/")] {
            proptest::prop_assert_eq!(below(root, path), path.strip_prefix(root).ok());
        }
    }
}

#[test]
fn other_paths_are_not_classified() {
    for path in [
        "",
        "projects",
        "projects/p",
        "projects/x.jsonl",
        "projects/p/.hidden.jsonl",
        "projects/p/.jsonl",
        "projects/p/s.jsonl.orphaned-1",
        "projects/p/s.orphaned-1.jsonl",
        "projects/p/a b.c.jsonl",
        "projects/p/S.JSONL",
        "projects/p/s.json",
        "projects/p/sessions-index.json",
        "projects/p/memory/notes.jsonl",
        "projects/p/s/tool-results/agent-1.jsonl",
        "projects/p/s/subagents/journal.jsonl",
        "projects/p/s/subagents/other/agent-1.jsonl",
        "projects/p/s/subagents/workflows/wf_1/journal.jsonl",
        "projects/p/s/subagents/agent-.jsonl",
        "Projects/p/s.jsonl",
        "sessions/8669.key",
        "sessions/pid-8669.json",
        "sessions/0.json",
        "sessions/007.json",
        "sessions/99999999999.json",
        "sessions/+5.json",
        "sessions/deep/5.json",
        "history.jsonl",
        "compacted..marker",
        "status..md",
        ".claude/compacted.abc 2.marker",
        ".claude/status.a.b.md",
        "status.md",
        "status.abc.md.tmp",
        "other/compacted.abc.marker",
        "../projects/p/s.jsonl",
        "/projects/p/s.jsonl",
    ] {
        assert_eq!(classify(Path::new(path)), None, "{path}");
    }
}

#[test]
fn copies_of_sync_tools_are_no_sessions() {
    let id = "aaaaaaaa-0000-4000-8000-000000000001";
    for around in [
        "{} 2",
        "{} copy",
        "Copy of {}",
        "{}(1)",
        "{} (Ada's conflicted copy 2026-11-20)",
        "{}.sync-conflict-20261120-150000-ABCDEFG",
        "{}-DESKTOP-ADA",
        "{}_conf(1)",
        "{}~1",
    ] {
        let name = around.replace("{}", id);
        let transcript = format!("projects/p/{name}.jsonl");
        assert!(is_copy(Path::new(&transcript)), "{transcript}");
        let markers = [format!("compacted.{name}.marker"), format!(".claude/status.{name}.md")];
        let subagent = format!("projects/p/{name}/subagents/agent-7.jsonl");
        for path in markers.into_iter().chain([transcript, subagent]) {
            assert_eq!(classify(Path::new(&path)), None, "{path}");
        }
    }
    for name in ["agent-7 2", "agent-7.sync-conflict-20261120-150000-ABCDEFG", "agent-7 (1)"] {
        let path = format!("projects/p/{id}/subagents/{name}.jsonl");
        assert_eq!(classify(Path::new(&path)), None, "{path}");
    }
    for path in [format!("projects/p/{id}.jsonl"), "projects/p/notes 2.jsonl".into(), format!("{id} 2.jsonl")]
    {
        assert!(!is_copy(Path::new(&path)), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_still_a_transcript() {
    use std::os::unix::ffi::OsStrExt;
    let project = OsStr::from_bytes(b"caf\xe9");
    let path = Path::new(TRANSCRIPTS).join(project).join("s.jsonl");
    assert_eq!(classify(&path), transcript("s"));
}
