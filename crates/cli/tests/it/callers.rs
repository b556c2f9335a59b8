//! Who may answer, through real terminals: a person who presses keys may; a program that only feeds a terminal, or opens one that
//! no person sees, may not.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::answers::{Desk, SESSION, decision};
use crate::forget::until;
use crate::home::line;
use crate::people::{Person, detached};
use crate::process;
use crate::program::build;
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

    /// Seconds since a key was pressed in the agent of this server; `None` without an agent.
    fn quiet(&self) -> Option<u64> {
        let pressed = self.run(&["list-clients", "-F", "#{client_activity}"]).parse::<u64>().ok()?;
        Some(now().saturating_sub(pressed))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
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

fn desk(person: bool) -> (Desk, Option<Person>) {
    let person = person.then(Person::start);
    (Desk::with_settings(""), person)
}

#[test]
fn only_a_key_press_in_tmux_answers() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skipped("tmux is not installed");
    }
    let (desk, person) = desk(true);
    let mut person = person.unwrap();
    let hook = desk.runs("rm -rf build");
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
    person.line(&format!("exec tmux -S '{}' attach", pane.socket.display()));
    until("the pane to be seen", || pane.quiet().is_some());
    until("the last key to be old", || pane.quiet().is_some_and(|seconds| seconds > 12));
    pane.line(&allowing(&desk, "quiet"));
    let quiet = said(&desk, "quiet");
    assert!(quiet.contains("no key was pressed"), "{quiet}");

    // While the person types, the agent runs the command in a window that nothing shows, under the pane's own name or none.
    person.line("echo typing");
    until("a key to be pressed", || pane.quiet().is_some_and(|seconds| seconds < 3));
    let shown = pane.run(&["list-panes", "-F", "#{pane_id}"]);
    for (file, environment) in [
        ("hidden", "env".to_owned()),
        ("nameless", "env -u TMUX -u TMUX_PANE".to_owned()),
        ("posing", format!("env TMUX_PANE={shown}")),
    ] {
        let script = desk.home.path().join(format!("{file}.sh"));
        std::fs::write(&script, allowing(&desk, file)).unwrap();
        pane.run(&["new-window", "-d", &format!("exec {environment} sh {}", script.display())]);
        let hidden = said(&desk, file);
        assert!(hidden.contains("no key was pressed"), "{file}: {hidden}");
    }

    // It shows the pane in a client of its own, which no person sees.
    let agents = Tmux::start(
        &desk,
        "agents",
        &["env", "-u", "TMUX", "tmux", "-S", pane.socket.to_str().unwrap(), "attach"],
    );
    until("the second client", || pane.run(&["list-clients"]).lines().count() == 2);
    until("the person's last key to be old", || {
        let pressed = pane.run(&["list-clients", "-F", "#{client_activity}"]);
        pressed.lines().filter_map(|at| at.parse::<u64>().ok()).min().is_some_and(|at| now() > at + 12)
    });
    agents.line(&allowing(&desk, "agents-client"));
    let client = said(&desk, "agents-client");
    assert!(client.contains("no key was pressed"), "{client}");

    assert!(hook.waits(), "nothing was decided");
    until("the attempts to be listed", || !desk.stored().is_empty());
    assert!(desk.stored().iter().all(|(_, _, outcome)| outcome == "refused"), "{:?}", desk.stored());

    // The person types the same.
    person.line(&allowing(&desk, "typed"));
    let typed = said(&desk, "typed");
    assert!(typed.contains("allowed once"), "{typed}");
    assert_eq!(decision(&hook.end().0), json!({ "behavior": "allow" }));
}

#[test]
fn a_person_types_into_a_session_from_tmux_and_no_key_falls_into_the_shell() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skipped("tmux is not installed");
    }
    build("watchbill-host");
    // The host knows no session of others, so it takes the agents of other tests for agents of this person.
    let test = "callers::a_person_types_into_a_session_from_tmux_and_no_key_falls_into_the_shell";
    if process::alone(test).is_none() {
        return;
    }
    let (desk, person) = desk(true);
    let mut person = person.unwrap();
    let pane = Tmux::start(&desk, "pane", &["sh"]);
    person.line(&format!("exec tmux -S '{}' attach", pane.socket.display()));
    until("the pane to be seen", || pane.quiet().is_some());
    let own = ["run", "--pty", "--agent", "shell", "--", "sh", "-c", "PS1='own> ' exec sh -i"];
    person.line(&line(&desk.home.command(&own), &[]));
    until("the view", || pane.run(&["capture-pane", "-p"]).contains("own>"));
    until("the last key to be old", || pane.quiet().is_some_and(|seconds| seconds > 12));

    // No person presses these keys. The view tells so, and stays.
    let note = |name: &str| desk.home.path().join(name);
    let names_its_shell = |name: &str| format!("echo $PS1 >{}", note(name).display());
    pane.line(&names_its_shell("fed"));
    until("the refusal", || pane.run(&["capture-pane", "-p"]).contains("no key was pressed"));

    let read = |name: &str| std::fs::read_to_string(note(name)).unwrap_or_default();
    person.line(&names_its_shell("typed"));
    until("the keys to arrive", || read("typed") == "own>\n");
    // Every lookup ends a child of the host, and the host waits for none of them.
    for name in ["second", "third"] {
        person.line(&names_its_shell(name));
        until("more keys to arrive", || read(name) == "own>\n");
    }
    assert!(!note("fed").exists(), "no shell has run what was refused");
    pane.run(&["send-keys", "C-]"]);
    until("the view to end", || pane.run(&["display-message", "-p", "#{pane_current_command}"]) == "sh");
}

#[test]
fn a_terminal_that_an_agent_opened_unseen_answers_nothing() {
    let (desk, person) = desk(true);
    let hook = desk.runs("rm -rf build");
    // Without marks, without a parent, on a terminal of its own.
    let script = desk.home.path().join("script.sh");
    std::fs::write(&script, allowing(&desk, "unseen")).unwrap();
    let mut command = Command::new("setsid");
    command.args(["--fork", "script", "-qfc", &format!("sh {}", script.display()), "/dev/null"]);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).stdin(Stdio::null());
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let unseen = said(&desk, "unseen");
    assert!(unseen.contains("is in the control group of an agent"), "{unseen}");
    assert!(hook.waits(), "nothing was decided");
    // The same of a person, whose terminal was there before.
    person.unwrap().line(&allowing(&desk, "typed"));
    let typed = said(&desk, "typed");
    assert!(typed.contains("allowed once"), "{typed}");
    assert_eq!(decision(&hook.end().0), json!({ "behavior": "allow" }));
}

#[test]
fn a_shell_that_an_agent_started_with_watchbill_answers_nothing() {
    build("watchbill-host");
    let (desk, _) = desk(false);
    let hook = desk.runs("rm -rf build");
    let run = |file: &str, variables: &[(&str, &str)], shell: Option<&str>| {
        let line = allowing(&desk, file);
        let words = ["run", "--agent", "shell", "--pty", "--detach", "--", "sh", "-c", &line];
        let started = detached(&desk.home, &words, variables, shell);
        assert_eq!((started.code, &*started.err), (0, ""));
        said(&desk, file)
    };
    for (file, variables, shell) in
        [("by-agent", &[][..], Some("codex")), ("by-its-daemon", &[("CLAUDECODE", "1")], None)]
    {
        let by_agent = run(file, variables, shell);
        assert!(by_agent.contains("an agent may not answer"), "{file}: {by_agent}");
    }
    assert!(hook.waits(), "nothing was decided");
    let marked = |desk: &Desk| {
        let roster = desk.home.json(&["roster", "--all", "--json"]);
        let rows = roster["sessions"].as_array().unwrap().clone();
        rows.iter().filter(|row| row["startedByAgent"] == true).count()
    };
    until("the two sessions to be marked", || marked(&desk) == 2);
    let by_person = run("by-person", &[], None);
    assert!(by_person.contains("allowed once"), "{by_person}");
    assert_eq!(decision(&hook.end().0), json!({ "behavior": "allow" }));
    assert_eq!(marked(&desk), 2, "a person's is not");
}
