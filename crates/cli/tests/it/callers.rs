//! Who may answer, through real tmux: a person who presses keys in a pane may; a program that only feeds the pane may not.

use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::answers::{Desk, SESSION, decision};
use crate::forget::until;
use crate::skipped::skipped;

/// A tmux server of a person: no variable of an agent is in its environment.
struct Tmux {
    socket: PathBuf,
    folder: PathBuf,
}

impl Tmux {
    fn start(desk: &Desk, name: &str, program: &[&str]) -> Self {
        let folder = desk.home.path().to_owned();
        let tmux = Self { socket: folder.join(name), folder };
        tmux.run(
            &[&["-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50", "--"], program].concat(),
        );
        tmux
    }

    fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &self.folder);
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        let output = command.arg("-S").arg(&self.socket).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Feeds a line to the pane.
    fn line(&self, text: &str) {
        self.run(&["send-keys", "-l", "--", text]);
        self.run(&["send-keys", "Enter"]);
    }

    /// Seconds since a key was pressed in a client of this server; `None` without a client.
    fn quiet(&self) -> Option<u64> {
        let pressed = self.run(&["list-clients", "-F", "#{client_activity}"]).parse::<u64>().ok()?;
        Some(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().saturating_sub(pressed))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// A line for a shell that answers, and then writes what was said into a file.
fn allowing(desk: &Desk, file: &str) -> String {
    let id = desk.request().unwrap()["id"].as_str().unwrap().to_owned();
    let command = desk.home.command(&["answer", SESSION, "--request", &id, "--allow"]);
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let path = desk.home.path().join(file);
    format!("{} >{1}.part 2>&1; mv {1}.part {1}", words.join(" "), path.display())
}

fn said(desk: &Desk, file: &str) -> String {
    let path = desk.home.path().join(file);
    until(&format!("{file} to be written"), || path.exists());
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn only_a_key_press_in_tmux_answers() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skipped("tmux is not installed");
    }
    let desk = Desk::with_settings("");
    let mut hook = desk.runs("rm -rf build");
    let pane = Tmux::start(&desk, "pane", &["sh"]);

    // An agent's shell feeds a pane that no client shows.
    pane.line(&allowing(&desk, "unseen"));
    let unseen = said(&desk, "unseen");
    assert!(unseen.contains("no key was pressed"), "{unseen}");

    // It lets the server run the command.
    pane.run(&["run-shell", &allowing(&desk, "by-server")]);
    let by_server = said(&desk, "by-server");
    assert!(by_server.contains("no terminal"), "{by_server}");

    // A person looks at the pane, and has pressed no key for a while.
    let socket = pane.socket.to_str().unwrap().to_owned();
    let person = Tmux::start(&desk, "person", &["env", "-u", "TMUX", "tmux", "-S", &socket, "attach"]);
    until("the pane to be seen", || pane.quiet().is_some());
    until("the last key to be old", || pane.quiet().is_some_and(|seconds| seconds > 12));
    pane.line(&allowing(&desk, "quiet"));
    let quiet = said(&desk, "quiet");
    assert!(quiet.contains("no key was pressed"), "{quiet}");

    assert!(hook.waits(), "nothing was decided");
    until("the attempts to be listed", || !desk.stored().is_empty());
    assert!(desk.stored().iter().all(|(_, _, outcome)| outcome == "refused"), "{:?}", desk.stored());

    // The person types the same.
    person.line(&allowing(&desk, "typed"));
    let typed = said(&desk, "typed");
    assert!(typed.contains("allowed once"), "{typed}");
    assert_eq!(decision(&hook.end().0), json!({ "behavior": "allow" }));
}
