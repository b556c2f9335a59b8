//! The state of each session at each mark of the driver, by what the witnesses say.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::json;

use crate::house::{HOME, House, Operation, ROOT, Witnesses, recording, session_of};
use crate::locks::{A, append, house};
use crate::subagents::{ended, meta, started};

/// A recording, and the processes that run its sessions. Those of 10 and 13 are no servers.
const RECORDINGS: [(&str, &[u32]); 8] = [
    ("01-approve-deny", &[3869]),
    ("08-nohooks-pending-then-long", &[20050]),
    ("10-no-daemon-kill9", &[15976]),
    ("11-patch-approval", &[18885]),
    ("13-question", &[9878]),
    ("14-terminal-closed-while-pending", &[11646]),
    ("15-app-server-asked", &[24828]),
    ("16-hooks-not-trusted", &[19847, 20081]),
];

/// Plays a recording. Calls `seen` before each mark, and at the end.
pub fn play(
    name: &str,
    agents: &[u32],
    witnesses: Witnesses,
    mut seen: impl FnMut(&House, &str, Option<&str>),
) -> House {
    let operations = recording(name);
    let mut house = House::new(operations[0].at, witnesses != Witnesses::None);
    let mut sessions: BTreeSet<String> = BTreeSet::new();
    let mut agents = agents.iter().copied();
    let mut agent = agents.next().unwrap();
    for operation in &operations {
        house.run_to(operation.at);
        let newest = sessions.iter().next_back().cloned();
        let path = format!("{HOME}/{}", operation.word("path"));
        match operation.op.as_str() {
            "mark" => {
                seen(&house, operation.word("text"), newest.as_deref());
                // The server says that the dialog was answered 55 ms after the key.
                let said = match operation.word("text") {
                    "keys y" => Some(""),
                    "saw 'Would you like to run'" => Some("waitingOnApproval"),
                    _ => None,
                };
                if let Some(said) = said.filter(|_| witnesses == Witnesses::Server) {
                    house.push(&newest.unwrap(), said);
                }
            }
            "append" => {
                house.fs.append(&path, operation.word("text").as_bytes());
                if witnesses == Witnesses::Server {
                    said_of_turns(&mut house, &path, operation.word("text"));
                }
            }
            "write" if path.contains("/thread-writer-locks/") => {
                if witnesses != Witnesses::None {
                    house.fs.write(&path, b"");
                    house.lock(&session_of(&path).unwrap(), Some(agent), false);
                }
                sessions.extend(session_of(&path));
            }
            "write" => house.fs.write(&path, operation.word("text").as_bytes()),
            "remove" => {
                house.fs.remove(&path);
                if path.ends_with(".sock") && witnesses == Witnesses::Server {
                    house.server_gone();
                }
            }
            "proc" => process(&mut house, operation, &mut agent, &mut agents, &sessions, witnesses),
            "hook" if witnesses == Witnesses::Server => said_at(&mut house, operation),
            _ => {}
        }
        house.tell();
    }
    house.wait(10);
    seen(&house, "ten seconds of silence", sessions.iter().next_back().map(String::as_str));
    house
}

/// A process of the agent, or of one of its tools.
fn process(
    house: &mut House,
    operation: &Operation,
    agent: &mut u32,
    next: &mut impl Iterator<Item = u32>,
    sessions: &BTreeSet<String>,
    witnesses: Witnesses,
) {
    let pid = operation.pid("pid");
    match operation.word("ev") {
        "start" if operation.word("comm") == "sh" => {
            house.tool(pid, (witnesses != Witnesses::None).then_some(*agent));
        }
        "exit" | "zombie" if pid == *agent => {
            let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
            house.kill(pid, &sessions);
            if witnesses == Witnesses::Server {
                house.server_gone();
            }
            *agent = next.next().unwrap_or(pid);
        }
        "exit" | "zombie" => {
            house.tool(pid, None);
            house.tell();
        }
        _ => {}
    }
}

/// What the server pushes when a turn begins or ends.
fn said_of_turns(house: &mut House, path: &str, records: &str) {
    let begun = records.rfind("\"task_started\"");
    let ended = records.rfind("\"task_complete\"").max(records.rfind("\"turn_aborted\""));
    if let Some(session) = session_of(path).filter(|_| begun.max(ended).is_some()) {
        house.push(&session, if begun > ended { "" } else { "idle" });
    }
}

/// What the server pushes when this hook fires, as recording 15 shows it.
fn said_at(house: &mut House, operation: &Operation) {
    let payload = &operation.line["payload"];
    let Some(session) = payload["session_id"].as_str() else { return };
    let status = match operation.word("arg") {
        "PreToolUse" if payload["tool_name"] == "request_user_input" => "waitingOnUserInput",
        "PreToolUse" | "PostToolUse" => "",
        "PermissionRequest" => "waitingOnApproval",
        "SessionEnd" => "notLoaded",
        _ => return,
    };
    house.push(session, status);
}

#[test]
fn each_witness_makes_the_states_better() {
    let mut out = format!("{:40} | {:35} | {:35} | server\n", "", "rollout", "lock");
    for (name, agents) in RECORDINGS {
        writeln!(out, "# {name}").unwrap();
        let mut columns: Vec<Vec<(String, String)>> = Vec::new();
        let best = if name.starts_with("10-") || name.starts_with("13-") {
            Witnesses::Locks
        } else {
            Witnesses::Server
        };
        for witnesses in [Witnesses::None, Witnesses::Locks, best] {
            let mut column = Vec::new();
            play(name, agents, witnesses, |house, mark, session| {
                let state = session.map_or("-".into(), |session| house.state(session));
                column.push((mark.to_owned(), state));
            });
            columns.push(column);
        }
        for ((mark, none), ((_, locks), (_, server))) in
            columns[0].iter().zip(columns[1].iter().zip(&columns[2]))
        {
            writeln!(out, "{mark:40.40} | {none:35} | {locks:35} | {server}").unwrap();
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_name_that_the_user_gave_is_the_title_at_once_and_after_a_start() {
    let mut house = house();
    append(&mut house, A, &[meta(A, None), started(), ended()]);
    let title = |house: &House| house.row(A).unwrap().title.map(|title| title.to_string());
    let index = format!("{ROOT}/session_index.jsonl");
    for name in ["first", "My piece of work"] {
        house.fs.append(&index, format!("{}\n", json!({"id": A, "thread_name": name})).as_bytes());
        house.tell();
        assert_eq!(title(&house).as_deref(), Some(name));
    }
    house.restart();
    assert_eq!(title(&house).as_deref(), Some("My piece of work"));
}
