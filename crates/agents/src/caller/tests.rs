//! Callers of each kind: a person at a terminal, an agent, and what an agent left behind.

use super::*;

/// The tab of a terminal, a login, and a user's service manager, as control groups.
const TAB: &str = "/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope";
const LOGIN: &str = "/user.slice/user-1000.slice/session-2.scope";

/// The pid is also the time of the start.
fn process(pid: u32, program: &str, cgroup: &str) -> CallerProcess {
    let cgroup = Some(Arc::from(cgroup));
    CallerProcess { pid, start: pid.into(), programs: vec![Arc::from(program)], cgroup, ..Default::default() }
}

fn with_variables(process: CallerProcess, names: &[&str]) -> CallerProcess {
    CallerProcess { variables: names.iter().map(|name| Arc::from(*name)).collect(), ..process }
}

fn manager() -> CallerProcess {
    process(2, "systemd", "/user.slice/user-1000.slice/user@1000.service/init.scope")
}

fn emulator() -> CallerProcess {
    process(10, "gnome-terminal-", "/user.slice/user-1000.slice/user@1000.service/app.slice/gnome.service")
}

fn terminal(keeper: Line, of_keeper: Option<Terminal>) -> Option<Terminal> {
    let keepers = vec![Keeper { line: keeper, terminal: of_keeper }];
    Some(Terminal { path: "/dev/pts/3".into(), keepers })
}

/// A person's second shell in the tab in which the agent runs in the background.
fn person() -> Caller {
    let caller = with_variables(process(90, "watchbill", TAB), &["HOME", "TERM"]);
    let line = vec![caller, process(20, "bash", TAB), emulator(), manager()];
    let terminal = terminal(line[2..].to_vec(), None);
    Caller { line, terminal, tmux: None }
}

/// The agent of that tab: process 30, with a terminal of its own elsewhere.
fn agents() -> Vec<RunningAgent> {
    let terminal = Some("/dev/pts/66".into());
    vec![RunningAgent { pid: 30, start: 30, cgroup: Some(TAB.into()), terminal }]
}

fn checked(caller: &Caller) -> Result<(), NotAllowed> {
    check(caller, &agents(), false)
}

/// A caller whose line and terminal end in these processes.
fn below(above: Vec<CallerProcess>) -> Caller {
    let mut line = vec![process(90, "watchbill", &above[0].cgroup.clone().unwrap_or_default())];
    line.extend(above.iter().cloned());
    Caller { line, terminal: terminal(above, None), tmux: None }
}

#[test]
fn a_person_in_a_terminal_may() {
    assert_eq!(checked(&person()), Ok(()));
    let unknown_keeper =
        Caller { terminal: Some(Terminal { path: "/dev/pts/3".into(), keepers: vec![] }), ..person() };
    assert_eq!(checked(&unknown_keeper), Ok(()), "over ssh the keeper is another user's");
}

#[test]
fn a_program_that_an_agent_started_may_not() {
    for program in ["claude", "codex-linux-x64", "gemini.js"] {
        let mut caller = person();
        caller.line.insert(1, process(40, program, TAB));
        assert!(matches!(checked(&caller), Err(NotAllowed::Agent(_))), "{program}");
    }
    let mut caller = person();
    caller.line.insert(1, process(30, "node", TAB));
    assert!(matches!(checked(&caller), Err(NotAllowed::Agent(_))), "a session that runs");
    let mut caller = person();
    caller.line.insert(1, CallerProcess { keeps_agent: true, ..process(40, "watchbill-host", TAB) });
    assert!(matches!(checked(&caller), Err(NotAllowed::Agent(_))), "a host that an agent started");
}

#[test]
fn an_agents_environment_gives_a_daemon_away() {
    for mark in ["CLAUDECODE", "CLAUDE_EFFORT", "CLAUDE_CODE_SESSION_ID", "CODEX_INTERNAL_X", "AI_AGENT"] {
        let mut caller = person();
        caller.line = vec![with_variables(process(90, "watchbill", LOGIN), &["HOME", mark])];
        assert_eq!(checked(&caller), Err(NotAllowed::Environment(mark.to_owned())));
    }
    let keeper = vec![with_variables(process(90, "script", LOGIN), &["CLAUDECODE"])];
    let caller = Caller { terminal: terminal(keeper, None), ..person() };
    assert_eq!(
        checked(&caller),
        Err(NotAllowed::Environment("CLAUDECODE".into())),
        "of the terminal's keeper"
    );
}

#[test]
fn facts_that_are_missing_count_against_the_caller() {
    assert_eq!(checked(&Caller::default()), Err(NotAllowed::Unknown));
    assert_eq!(check(&Caller::default(), &[], true), Err(NotAllowed::Unknown));
    let gone = Caller { terminal: terminal(Line::new(), None), ..person() };
    assert_eq!(checked(&gone), Err(NotAllowed::Unknown));
}

#[test]
fn a_caller_needs_a_terminal_that_is_no_agents() {
    assert_eq!(checked(&Caller { terminal: None, ..person() }), Err(NotAllowed::NoTerminal));
    let terminal = Some(Terminal { path: "/dev/pts/66".into(), keepers: vec![] });
    assert_eq!(checked(&Caller { terminal, ..person() }), Err(NotAllowed::AgentsTerminal));
}

#[test]
fn what_left_its_parents_in_an_agents_control_group_may_not() {
    // `setsid -f xterm -e …` of the agent of this tab.
    let orphan = below(vec![process(80, "xterm", TAB), manager()]);
    assert!(matches!(checked(&orphan), Err(NotAllowed::Detached(_))));
    let script = Caller { terminal: None, ..orphan.clone() };
    assert!(
        matches!(check(&script, &agents(), true), Err(NotAllowed::Detached(_))),
        "also without a terminal"
    );
    // What was there before the agent is not of it: an editor that the person started from the tab.
    assert_eq!(checked(&below(vec![process(25, "code", TAB), manager()])), Ok(()));
    // Another tab, another program, another agent's group.
    let elsewhere = process(80, "xterm", "/user.slice/app.slice/app-xterm-9.scope");
    assert_eq!(checked(&below(vec![elsewhere, manager()])), Ok(()));
}

#[test]
fn where_a_login_is_one_control_group_only_unseen_terminals_are_refused() {
    let agents = [RunningAgent { pid: 30, start: 30, cgroup: Some(LOGIN.into()), terminal: None }];
    for group in [LOGIN, "/"] {
        let agents = vec![RunningAgent { cgroup: Some(group.into()), ..agents[0].clone() }];
        // A window manager starts a terminal whose parent is the first process of the system.
        assert_eq!(check(&below(vec![process(80, "alacritty", group)]), &agents, false), Ok(()));
        for tool in ["script", "python3.11", "expect", "systemd-run"] {
            let caller = below(vec![process(80, tool, group)]);
            assert!(
                matches!(check(&caller, &agents, false), Err(NotAllowed::Detached(_))),
                "{tool} in {group}"
            );
        }
        // A person who records a terminal.
        let shown = terminal(vec![process(70, "alacritty", group)], None);
        let script = vec![process(80, "script", group), process(70, "alacritty", group)];
        let recorded = Caller { terminal: terminal(script.clone(), shown), ..below(script.clone()) };
        assert_eq!(check(&recorded, &agents, false), Ok(()));
        // An agent that records what it records.
        let unseen = terminal(vec![process(70, "script", group)], None);
        let twice = Caller { terminal: terminal(script.clone(), unseen), ..below(script) };
        assert!(matches!(check(&twice, &agents, false), Err(NotAllowed::Detached(_))));
        // A person's script that `scripts = true` lets in has no parent either.
        let script = Caller { terminal: None, ..below(vec![process(80, "sh", group)]) };
        assert_eq!(check(&script, &agents, true), Ok(()));
    }
}

#[test]
fn in_tmux_a_person_has_pressed_a_key_in_a_client_that_shows_the_pane() {
    let server = process(80, TMUX_SERVER, TAB);
    let of =
        |clients| Caller { tmux: Some(clients), ..below(vec![process(85, "bash", TAB), server.clone()]) };
    let client = |pressed, caller| TmuxClient { pressed, caller };
    assert_eq!(checked(&of(vec![client(1, person())])), Ok(()), "the server has no parent, and is young");
    assert_eq!(checked(&of(vec![])), Err(NotAllowed::NoKeyPress));
    assert_eq!(checked(&of(vec![client(11, person())])), Err(NotAllowed::NoKeyPress));
    // An agent attaches a client of its own.
    let unseen = below(vec![process(85, "script", TAB), manager()]);
    assert!(matches!(checked(&of(vec![client(1, unseen.clone())])), Err(NotAllowed::Detached(_))));
    assert_eq!(checked(&of(vec![client(1, unseen), client(1, person())])), Ok(()));
    let without_terminal = Caller { terminal: None, ..person() };
    assert_eq!(checked(&of(vec![client(1, without_terminal)])), Err(NotAllowed::NoTerminal));
    // In tmux in tmux the key goes through both.
    let inner = |pressed| of(vec![client(1, of(vec![client(pressed, person())]))]);
    assert_eq!(checked(&inner(1)), Ok(()));
    assert_eq!(checked(&inner(30)), Err(NotAllowed::NoKeyPress));
}

#[test]
fn allowed_scripts_need_no_terminal_and_are_still_no_agents() {
    let script = Caller { terminal: None, ..person() };
    assert_eq!(check(&script, &agents(), true), Ok(()));
    let mut of_agent = script;
    of_agent.line.push(process(6, "claude", TAB));
    assert!(check(&of_agent, &agents(), true).is_err());
}
