//! What hooks add to chains: the next session of a process, and the terminal in which it runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use watchbill_agents::claude::hooks::parse_payload;
use watchbill_core::chain::LinkConfidence::Proven;
use watchbill_core::chain::{HookMove, LinkReason, MoveCause};
use watchbill_core::hook::{HookMoves, HookOrigin, TerminalContext};
use watchbill_core::ids::Instance;

use crate::facts::*;

/// An event of a process at a second.
fn take(moves: &mut HookMoves, pid: u32, secs: u32, session: &str, event: &str) {
    let text = format!(r#"{{"session_id":"{session}","hook_event_name":{event}}}"#);
    let origin = HookOrigin {
        id: Arc::from(format!("{pid}/{secs}/{session}/{event}")),
        at: at(i64::from(secs)),
        order: u64::from(secs) * 1_000_000_000,
        agent: Some(Instance { pid, proc_start: None }),
        ancestors: Arc::from([pid]),
        terminal: None,
    };
    assert!(parse_payload(text.as_bytes()).is_ok_and(|payload| {
        moves.take(&origin, &payload);
        true
    }));
}

const STARTUP: &str = r#""SessionStart","source":"startup""#;
const CLEAR: &str = r#""SessionStart","source":"clear""#;
const RESUME: &str = r#""SessionStart","source":"resume""#;
const COMPACT: &str = r#""SessionStart","source":"compact""#;
const PRE_COMPACT: &str = r#""PreCompact","trigger":"auto""#;

/// The changes as (from, to, cause).
fn told(moves: &HookMoves) -> Vec<(String, String, MoveCause)> {
    let words = |m: HookMove| (m.from.to_string(), m.to.to_string(), m.cause);
    moves.all().into_iter().map(words).collect()
}

#[test]
fn a_process_is_followed_from_session_to_session_in_any_order_of_arrival() {
    let events = [
        (1, 0, "a", STARTUP),
        (2, 1, "x", STARTUP),
        (1, 10, "a", r#""SessionEnd","reason":"clear""#),
        (1, 11, "b", CLEAR),
        (1, 20, "b", r#""SessionEnd","reason":"resume""#),
        (1, 21, "a", RESUME),
        (1, 30, "a", PRE_COMPACT),
        (1, 31, "a", COMPACT),
        (1, 40, "a", PRE_COMPACT),
        (1, 41, "c", COMPACT),
    ];
    let name = |from: &str, to: &str, cause| (from.to_owned(), to.to_owned(), cause);
    let expected = [
        name("a", "b", MoveCause::Clear),
        name("b", "a", MoveCause::Resume),
        name("a", "c", MoveCause::Compact),
    ];
    for turn in 0..events.len() {
        let mut moves = HookMoves::default();
        for n in 0..events.len() * 2 {
            let (pid, secs, session, event) = events[(n * 7 + turn) % events.len()];
            take(&mut moves, pid, secs, session, event);
        }
        assert_eq!(told(&moves), expected, "begun at {turn}");
    }
}

#[test]
fn sessions_of_different_processes_are_not_tied() {
    let mut moves = HookMoves::default();
    take(&mut moves, 1, 0, "a", STARTUP);
    take(&mut moves, 1, 10, "a", r#""SessionEnd","reason":"clear""#);
    take(&mut moves, 2, 11, "b", CLEAR);
    take(&mut moves, 3, 12, "a", r#""SessionStart","source":"fork""#);
    assert_eq!(told(&moves), []);
}

#[test]
fn edge_37_clear_is_proven_by_hooks_alone() {
    // No registry, and an old client whose records name no process.
    let world = World::of([session("a", &[(0, 100)]), session("b", &[(110, 200)])]);
    assert_eq!(world.chains().link("a", "b"), None);
    let chains = world.hook_move("a", "b", 109, MoveCause::Clear).chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Clear, Proven)));
    assert_eq!((chains.over_by("a"), chains.chain("b").compaction_count), (Some("b"), 0));
}

#[test]
fn edge_38_a_compaction_into_a_new_session_is_proven_and_counted() {
    let world = World::of([session("a", &[(0, 100)]), session("b", &[(130, 200)]), session("c", &[(0, 90)])]);
    let world = world.hook_move("a", "b", 130, MoveCause::Compact);
    for world in [world.clone(), world.marker("b", 130)] {
        let chains = world.chains();
        assert_eq!(chains.link("a", "b"), Some((LinkReason::Hook, Proven)));
        assert_eq!((chains.over_by("a"), chains.over_by("c")), (Some("b"), None));
        assert_eq!((chains.chain("b").compaction_count, chains.chain("b").segment_count), (1, 2));
    }
}

#[test]
fn a_resume_inside_a_process_ties_nothing_and_a_fork_is_a_branch() {
    let world = World::of([session("a", &[(0, 100)]), session("b", &[(110, 200)])]);
    let chains = world.clone().hook_move("b", "a", 210, MoveCause::Resume).chains();
    assert_eq!(chains.link("b", "a"), None);
    let chains = world.hook_move("a", "b", 110, MoveCause::Fork).chains();
    assert_eq!(chains.over_by("a"), None, "a fork supersedes no session");
    assert_ne!(chains.chain("a").id, chains.chain("b").id);
}

#[test]
fn only_sessions_of_the_same_terminal_are_predecessors() {
    let kitty = |window: &str| {
        let ids = [("KITTY_WINDOW_ID", window), ("KITTY_PID", "77"), ("tty", "/dev/pts/1")];
        context("kitty", &ids).identity().unwrap_or_default()
    };
    let world = World::of([
        session("a", &[(0, 90)]).cwds(&["/repo"]),
        session("x", &[(0, 99)]).cwds(&["/repo"]),
        session("b", &[(130, 200)]).cwds(&["/repo"]),
    ]);
    let world = world.terminal("a", &kitty("1")).terminal("b", &kitty("1")).terminal("x", &kitty("2"));
    let chains = world.marker_in("b", 130, "/repo").chains();
    assert_eq!((chains.over_by("a"), chains.over_by("x")), (Some("b"), None));
}

fn context(kind: &str, ids: &[(&str, &str)]) -> TerminalContext {
    let ids: BTreeMap<Arc<str>, Arc<str>> = ids.iter().map(|(k, v)| (Arc::from(*k), Arc::from(*v))).collect();
    TerminalContext { kind: Arc::from(kind), ids }
}

#[test]
fn a_terminal_is_identified_by_its_innermost_name() {
    let same =
        |a: &TerminalContext, b: &TerminalContext| a.identity().is_some() && a.identity() == b.identity();
    let pane = |server: &str, pane: &str| context("tmux", &[("TMUX", server), ("TMUX_PANE", pane)]);
    let registry = TerminalContext::of_tmux(&Arc::from("s1:@0.%2"));
    assert!(same(&pane("/run/tmux-1000/default,8,0", "%2"), &registry));
    assert!(!same(&pane("/run/tmux-1000/default,8,0", "%3"), &registry));
    assert!(!same(&pane("/run/tmux-1000/other,8,0", "%2"), &registry), "of another server");
    let window = |pid: &str| context("kitty", &[("KITTY_WINDOW_ID", "1"), ("KITTY_PID", pid)]);
    assert!(same(&window("7"), &window("7")) && !same(&window("7"), &window("8")));
    let ghostty = |tty: &str| context("ghostty", &[("GHOSTTY_BIN_DIR", "/opt"), ("tty", tty)]);
    assert!(same(&ghostty("/dev/pts/1"), &ghostty("/dev/pts/1")));
    assert!(!same(&ghostty("/dev/pts/1"), &ghostty("/dev/pts/2")));
    assert_eq!(context("vscode", &[("VSCODE_PID", "9")]).identity(), None, "a window is not a tab");
}
