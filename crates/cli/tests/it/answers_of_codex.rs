//! Answers to requests of Codex, whose dialog opens only when the hook has ended.

use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::answers::decision;
use crate::forget::until;
use crate::home::Home;
use crate::people::{self, detached};
use crate::program::watchbill;
use crate::with_serve::{Serve, ask};

const THREAD: &str = "01a1f9a9-7e09-7393-b8ca-9d70154ed960";
const ROLLOUT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/codex/rollouts/rollout-while-approval-pending.jsonl"
);

/// A home with a session of Codex and a running `watchbill serve`.
struct Desk {
    _serve: Serve,
    home: Home,
    transcript: String,
}

impl Desk {
    fn new() -> Self {
        people::begin();
        let home = Home::empty().configured("[answers]\nscripts = true\n");
        let folder = home.path().join(".codex/sessions/2026/11/20");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("rollout-2026-11-20T15-53-17-{THREAD}.jsonl"));
        std::fs::copy(ROLLOUT, &file).unwrap();
        let _serve = Serve::of(&home);
        let desk = Self { _serve, home, transcript: file.to_str().unwrap().to_owned() };
        until("the session to have a row", || desk.row().is_some());
        desk
    }

    fn asks(&self, more: &[&str]) -> Child {
        let payload = json!({ "session_id": THREAD, "turn_id": "t", "transcript_path": self.transcript,
            "cwd": "/home/dev/work", "hook_event_name": "PermissionRequest", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": { "command": "touch /etc/x", "description": "May I?" } });
        let mut command = watchbill(self.home.path());
        command.args(["hook", "--agent", "codex", "--answer", "--data-dir"]).arg(self.home.data()).args(more);
        let mut hook = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        hook
    }

    fn row(&self) -> Option<Value> {
        let answer = ask(&self.home, &json!({ "id": "1", "request": "roster", "all": true }))?;
        answer["reply"]["sessions"].as_array()?.iter().find(|row| row["sessionId"] == THREAD).cloned()
    }
}

/// What a hook printed.
fn printed(hook: Child) -> String {
    let output = hook.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_answer_allows_the_command_in_codexs_words() {
    let desk = Desk::new();
    let hook = desk.asks(&["--within", "600000"]);
    let asks = |row: Value| row["request"].is_object() && row["state"] == "waiting_for_approval";
    until("the request to be shown", || desk.row().is_some_and(asks));
    let row = desk.row().unwrap();
    assert_eq!(row["agent"], "codex");
    assert_eq!(
        (&row["request"]["shown"], &row["request"]["kind"]),
        (&json!("touch /etc/x"), &json!("permission"))
    );
    let id = row["request"]["id"].as_str().unwrap().to_owned();
    let answer = |word: &str| detached(&desk.home, &["answer", THREAD, "--request", &id, word], &[], None);
    let refused = answer("--stop");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("takes only \"allow once\" or \"deny\" from here"), "{}", refused.err);
    assert_eq!(answer("--allow").code, 0);
    assert_eq!(decision(&printed(hook)), json!({ "behavior": "allow" }));
    assert_ne!(answer("--allow").code, 0, "it was answered");
}

#[test]
fn a_hook_that_gets_no_answer_in_time_ends_with_nothing_and_the_session_still_waits() {
    let desk = Desk::new();
    assert_eq!(printed(desk.asks(&["--within", "300"])), "");
    until("the session to wait without a card", || {
        desk.row().is_some_and(|row| row["state"] == "waiting_for_approval" && row["request"].is_null())
    });
}
