//! The command lines for terminals that are not installed, on an invented system.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::hook::TerminalContext;
use watchbill_core::ids::{Agent, Instance};
use watchbill_terminal::call::{CallResult, ProgramCall};
use watchbill_terminal::windows::Window;
use watchbill_terminal::world::{Platform, Process, World};
use watchbill_terminal::{FocusAnswer, FocusLevel, Form, Pane, Presence, SessionLocation, focus, in_front};

const AGENT: u32 = 900;

/// Variables and their values.
type Ids = [(&'static str, &'static str)];

/// A system with given answers, which records all calls.
struct RecordedSystem {
    platform: Platform,
    processes: Vec<Process>,
    environment: BTreeMap<u32, TerminalContext>,
    own: BTreeMap<&'static str, &'static str>,
    named: Vec<(u32, Vec<String>)>,
    windows: Vec<Window>,
    answers: Vec<(&'static str, CallResult)>,
    asked: RefCell<Vec<String>>,
}

impl World for RecordedSystem {
    fn platform(&self) -> Platform {
        self.platform
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.own.get(name).map(|value| (*value).to_owned())
    }
    fn run(&self, call: &ProgramCall) -> CallResult {
        // A script is long, and is the same in every call.
        let mut shown = call.clone();
        if call.program == "osascript" || call.program == "powershell.exe" {
            let script = shown.args.iter_mut().find(|arg| arg.len() > 80);
            script.into_iter().for_each(|script| *script = "SCRIPT".into());
        }
        let line = match &call.input {
            Some(input) => format!("{shown} < {input:?}"),
            None => shown.to_string(),
        };
        let answer = self.answers.iter().find(|(begin, _)| line.contains(begin)).map(|(_, ran)| ran.clone());
        self.asked.borrow_mut().push(line);
        answer.unwrap_or(CallResult::Done(String::new()))
    }
    fn process(&self, pid: u32) -> Option<Process> {
        self.processes.iter().find(|process| process.pid == pid).cloned()
    }
    fn terminal_of(&self, pid: u32) -> Option<TerminalContext> {
        self.environment.get(&pid).cloned()
    }
    fn named(&self, _name: &str) -> Vec<(u32, Vec<String>)> {
        self.named.clone()
    }
    fn windows(&self, display: &str) -> Option<Vec<Window>> {
        self.asked.borrow_mut().push(format!("windows of {display}"));
        Some(self.windows.clone())
    }
    fn active(&self, _display: &str) -> Option<u32> {
        self.windows.last().map(|window| window.id)
    }
    fn activate(&self, _display: &str, window: u32) -> bool {
        self.asked.borrow_mut().push(format!("raise {window}"));
        true
    }
}

/// A system with one session's process and a chain of its ancestors, nearest first.
fn recorded_system(platform: Platform, above: &[&str]) -> RecordedSystem {
    let mut processes = vec![process(AGENT, "claude", AGENT - 1)];
    for (at, name) in (1..).zip(above) {
        processes.push(process(AGENT - at, name, AGENT - at - 1));
    }
    if let Some(last) = processes.last_mut() {
        last.parent = 1;
    }
    let own = if platform == Platform::Linux { BTreeMap::from([("DISPLAY", ":0")]) } else { BTreeMap::new() };
    let asked = RefCell::default();
    let (environment, named, windows, answers) = Default::default();
    RecordedSystem { platform, processes, environment, own, named, windows, answers, asked }
}

fn process(pid: u32, name: &str, parent: u32) -> Process {
    let (name, start, tty) = (name.into(), "77".into(), Some("/dev/ttys003".into()));
    Process { pid, parent, name, start, tty, has_ended: false, reads_keys: Some(true) }
}

fn context(kind: &str, ids: &[(&str, &str)]) -> TerminalContext {
    let ids = ids.iter().map(|(name, value)| (Arc::from(*name), Arc::from(*value))).collect();
    TerminalContext { kind: kind.into(), ids }
}

fn session_location(kind: &str, ids: &[(&str, &str)]) -> SessionLocation {
    SessionLocation {
        agent: Agent::Claude,
        session: "3f6a1c52".into(),
        resume: "3f6a1c52".into(),
        cwd: Some("/home/dev/api-server".into()),
        terminal: Some(Arc::new(context(kind, ids))),
        attach: None,
        presence: Presence::Runs(Instance { pid: AGENT, proc_start: Some("77".into()) }),
    }
}

fn asked(world: &RecordedSystem, session_location: &SessionLocation) -> (FocusAnswer, Vec<String>) {
    let answer = focus(session_location, world);
    (answer, world.asked.take())
}

fn focused(by: &str) -> FocusLevel {
    FocusLevel::Focused { by: by.into() }
}

#[test]
fn terminals_of_macos_are_asked_by_script_and_arguments() {
    let cases: &[(&str, &str, &Ids, &str)] = &[
        (
            "iTerm2",
            "iTerm2",
            &[("ITERM_SESSION_ID", "w0t1p0:8C4F-11")],
            "osascript -e SCRIPT 8C4F-11 /dev/ttys003",
        ),
        ("iTerm2", "iTerm2", &[], "osascript -e SCRIPT none /dev/ttys003"),
        ("Terminal", "Terminal", &[], "osascript -e SCRIPT /dev/ttys003"),
        ("Ghostty", "ghostty", &[], "osascript -e SCRIPT /home/dev/api-server"),
        (
            "Warp",
            "Warp",
            &[("WARP_FOCUS_URL", "warp://action/focus?pane=3f-1")],
            "open 'warp://action/focus?pane=3f-1'",
        ),
    ];
    for (name, process, ids, line) in cases {
        let world = recorded_system(Platform::MacOs, &["zsh", process]);
        let (answer, lines) = asked(&world, &session_location("", ids));
        assert_eq!(answer.outcome, focused(name));
        assert_eq!(answer.resume, "cd /home/dev/api-server && claude --resume 3f6a1c52");
        assert_eq!(lines.first().map(String::as_str), Some(*line));
    }
}

#[test]
fn editors_and_windows_terminal_show_their_window_alone() {
    let cases: &[(Platform, &str, &str, &Ids, &str)] = &[
        (Platform::MacOs, "Cursor", "vscode", &[("TERM_PROGRAM", "vscode")], "open -a Cursor"),
        (Platform::MacOs, "goland", "jetbrains", &[], "open -b com.jetbrains.goland"),
        (Platform::Windows, "pwsh", "vscode", &[], "code.cmd /home/dev/api-server"),
        (
            Platform::Windows,
            "pwsh",
            "windows_terminal",
            &[("WT_SESSION", "8c0f")],
            "powershell.exe -NoProfile -NonInteractive -Command SCRIPT",
        ),
    ];
    for (platform, process, kind, ids, line) in cases {
        let (answer, lines) =
            asked(&recorded_system(*platform, &["zsh", process]), &session_location(kind, ids));
        assert!(matches!(answer.outcome, FocusLevel::WindowOnly { .. }), "{answer:?}");
        assert_eq!(lines, [*line]);
    }
}

#[test]
fn wezterm_is_asked_over_its_socket_and_its_window_raised() {
    let ids = [("WEZTERM_PANE", "4"), ("WEZTERM_UNIX_SOCKET", "/run/user/1000/wezterm/gui-sock-9")];
    let mut world = recorded_system(Platform::Linux, &["zsh", "wezterm-gui"]);
    world.windows = vec![Window { id: 31, pid: Some(AGENT - 2), title: "w".into() }];
    let (answer, lines) = asked(&world, &session_location("wezterm", &ids));
    assert_eq!(answer.outcome, focused("WezTerm"));
    let activate = "WEZTERM_UNIX_SOCKET=/run/user/1000/wezterm/gui-sock-9 wezterm cli --no-auto-start activate-pane \
                    --pane-id 4";
    assert_eq!(lines, [activate, "windows of :0", "raise 31"]);
    // Without its program the window still comes to the front, with the reason why the tab does not.
    world.answers = vec![("wezterm", CallResult::NotInstalled)];
    let (answer, lines) = asked(&world, &session_location("wezterm", &ids));
    assert_eq!(lines.last().map(String::as_str), Some("raise 31"));
    assert!(answer.outcome.why().is_some_and(|why| why.contains("not on the search path")), "{answer:?}");
    world.answers = vec![("list-clients", CallResult::Done(r#"[{"focused_pane_id":4}]"#.into()))];
    assert_eq!(in_front(&session_location("wezterm", &ids), &world), Some(true));
}

#[test]
fn zellij_selects_the_pane_and_its_client_is_found_among_the_processes() {
    let ids = [("ZELLIJ_SESSION_NAME", "work"), ("ZELLIJ_PANE_ID", "7")];
    let mut world = recorded_system(Platform::Linux, &["zsh", "zellij"]);
    world.processes.extend([process(50, "zellij", 49), process(49, "alacritty", 1)]);
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    world.named = vec![
        (40, words("zellij --server /run/z/work")),
        (50, words("zellij attach work")),
        (60, words("zellij")),
    ];
    world.windows = vec![Window { id: 8, pid: Some(49), title: "z".into() }];
    let (answer, lines) = asked(&world, &session_location("zellij", &ids));
    assert_eq!(answer.outcome, focused("Zellij in alacritty"));
    assert_eq!(lines, ["zellij --session work action focus-pane-id terminal_7", "windows of :0", "raise 8"]);
    world.answers =
        vec![("focus-pane-id", CallResult::Failed("error: unrecognized subcommand 'focus-pane-id'".into()))];
    let (answer, _) = asked(&world, &session_location("zellij", &ids));
    assert!(
        matches!(&answer.outcome, FocusLevel::WindowOnly { why, .. } if why.contains("0.44")),
        "{answer:?}"
    );
    world.named.clear();
    let (answer, _) = asked(&world, &session_location("zellij", &ids));
    assert_eq!(answer.attach.as_deref(), Some("zellij attach work"));
}

#[test]
fn tmux_within_iterm2_is_followed_by_the_clients_device() {
    let mut world = recorded_system(Platform::MacOs, &["zsh", "tmux"]);
    world.processes.extend([process(50, "tmux", 49), process(49, "zsh", 48), process(48, "iTerm2", 1)]);
    world.answers = vec![
        ("list-panes", CallResult::Done("%2 $1 @3 0 1 work\n".into())),
        ("list-clients", CallResult::Done("50 1763736507 0 $1 /dev/ttys009\n".into())),
    ];
    let (answer, lines) = asked(
        &world,
        &session_location("tmux", &[("TMUX", "/home/dev/.tmux/default,7,1"), ("TMUX_PANE", "%2")]),
    );
    assert_eq!(answer.outcome, focused("tmux in iTerm2"));
    let switch = r"tmux -S /home/dev/.tmux/default switch-client -c /dev/ttys009 -t '$1:@3.%2'";
    assert_eq!(
        lines.get(2..),
        Some(&[switch.to_owned(), "osascript -e SCRIPT none /dev/ttys009".to_owned()][..])
    );
}

#[test]
fn compositors_of_wayland_are_asked_by_process() {
    let niri = CallResult::Done(r#"[{"id":5,"pid":1},{"id":12,"pid":898}]"#.into());
    let cases: &[(&str, &str, CallResult, &str)] = &[
        (
            "SWAYSOCK",
            "/run/sway.sock",
            CallResult::Done(r#"[{"success":true}]"#.into()),
            "swaymsg '[pid=900] focus'",
        ),
        (
            "HYPRLAND_INSTANCE_SIGNATURE",
            "ab_1",
            CallResult::Done("ok\n".into()),
            "hyprctl dispatch focuswindow pid:900",
        ),
        ("NIRI_SOCKET", "/run/niri.sock", niri, "niri msg action focus-window --id 12"),
        (
            "XDG_CURRENT_DESKTOP",
            "KDE",
            CallResult::Done(String::new()),
            "kdotool search --pid 900 windowactivate",
        ),
    ];
    for (name, value, answer, line) in cases {
        let mut world = recorded_system(Platform::Linux, &["zsh", "foot"]);
        world.own = BTreeMap::from([("WAYLAND_DISPLAY", "wayland-1"), (name, value)]);
        world.answers = vec![("", answer.clone())];
        let (answer, lines) = asked(&world, &session_location("", &[]));
        assert_eq!(answer.outcome, focused("foot"), "{lines:?}");
        assert!(lines.iter().any(|asked| asked.ends_with(line)), "{lines:?}");
    }
}

#[test]
fn a_window_whose_id_was_inherited_is_not_the_sessions() {
    let mut world = recorded_system(Platform::Linux, &["zsh", "alacritty", "zsh", "xterm"]);
    let window = |id, pid, title: &str| Window { id, pid: Some(pid), title: title.into() };
    let (inner, outer) = (window(7, AGENT - 2, "inner"), window(9, AGENT - 4, "outer"));
    let inherited = session_location("", &[("WINDOWID", "9"), ("DISPLAY", ":0")]);
    world.windows = vec![inner.clone(), outer.clone()];
    assert_eq!(in_front(&inherited, &world), Some(false), "the user looks at the outer one");
    world.windows = vec![outer, inner];
    assert_eq!(in_front(&inherited, &world), Some(true));
}

#[test]
fn another_window_of_the_same_process_in_front_is_not_the_sessions() {
    let konsole: &Ids =
        &[("KONSOLE_DBUS_SERVICE", ":1.7"), ("KONSOLE_DBUS_SESSION", "/Sessions/3"), ("DISPLAY", ":0")];
    for (process, ids, answer, wanted) in [
        ("alacritty", &[("DISPLAY", ":0")] as &Ids, "", None),
        ("konsole", konsole, "(3,)", None),
        (
            "wezterm-gui",
            &[("WEZTERM_PANE", "4"), ("DISPLAY", ":0")],
            r#"[{"focused_pane_id":4}]"#,
            Some(true),
        ),
        (
            "wezterm-gui",
            &[("WEZTERM_PANE", "4"), ("DISPLAY", ":0")],
            r#"[{"focused_pane_id":5}]"#,
            Some(false),
        ),
    ] {
        let mut world = recorded_system(Platform::Linux, &["zsh", process]);
        let window = |id, pid| Window { id, pid: Some(pid), title: "one".into() };
        world.windows = vec![window(7, AGENT - 2), window(8, AGENT - 2)];
        world.answers.push(("", CallResult::Done(answer.into())));
        assert_eq!(in_front(&session_location("", ids), &world), wanted, "{process} {answer}");
        world.windows.push(window(9, 1));
        assert_eq!(
            in_front(&session_location("", ids), &world),
            Some(false),
            "{process}: a window of another program"
        );
    }
}

#[test]
fn a_session_without_a_terminal_gets_a_reason_and_no_calls() {
    let world = recorded_system(Platform::Linux, &["zsh", "xterm"]);
    for presence in [Presence::Ended, Presence::Background, Presence::Elsewhere, Presence::DemoOnly] {
        let attach = (presence == Presence::Background).then(|| "claude attach 43eb2880".into());
        let location =
            SessionLocation { presence, attach, ..session_location("tmux", &[("TMUX_PANE", "%1")]) };
        let (answer, lines) = asked(&world, &location);
        assert!(
            matches!(&answer.outcome, FocusLevel::NotPossible { why } if why.ends_with('.')),
            "{answer:?}"
        );
        assert!(lines.is_empty(), "{lines:?}");
        assert_eq!(answer.attach.as_deref(), location.attach.as_deref());
        assert!(!answer.resume.is_empty());
    }
    let mut service = recorded_system(Platform::Linux, &["systemd"]);
    service.processes.iter_mut().for_each(|process| process.tty = None);
    let (answer, lines) = asked(&service, &session_location("", &[("DISPLAY", ":0")]));
    assert!(
        matches!(&answer.outcome, FocusLevel::NotPossible { why } if why.contains("without a terminal")),
        "{answer:?}"
    );
    assert!(lines.is_empty(), "{lines:?}");
}

/// Values in the forms that terminals set.
const GOOD: &[&str] =
    &["%2", "7", "unix:/run/k", "/home/dev/s,1,0", "/Sessions/3", ":1.7", "work", "w0t0p0:8C-1"];

#[test]
fn an_unknown_front_window_gives_no_answer() {
    let shown = r#"[{"tabs":[{"is_active":true,"windows":[{"id":2,"is_active":true}]}]}]"#;
    let kitty: &Ids = &[("KITTY_WINDOW_ID", "2"), ("KITTY_LISTEN_ON", "unix:/run/kitty")];
    for (process, ids, answer, wanted) in [
        ("alacritty", &[] as &Ids, "", None),
        ("kitty", kitty, shown, None),
        ("iTerm2", &[], "yes", Some(true)),
        ("iTerm2", &[], "no", Some(false)),
    ] {
        let mut world = recorded_system(Platform::MacOs, &["zsh", process]);
        world.answers.push(("", CallResult::Done(answer.into())));
        assert_eq!(in_front(&session_location("", ids), &world), wanted, "{process} {answer}");
    }
}

proptest! {
    /// A command line has any value of a variable in one piece, as an argument of its own, and never as an option.
    #[test]
    fn hostile_values_reach_no_command_line_in_pieces(
        value in "[-a-z0-9%$;&|`'\"() \\n\u{1b}:/,.]{0,24}",
        kind in 0usize..12,
        good in 0usize..8,
    ) {
        let kinds = ["tmux", "zellij", "kitty", "wezterm", "ghostty", "iterm2", "apple_terminal", "vscode", "konsole",
            "gnome_terminal", "warp", "tty"];
        let names = ["TMUX", "TMUX_PANE", "tmux", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID", "KITTY_WINDOW_ID",
            "KITTY_LISTEN_ON", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", "ITERM_SESSION_ID", "WARP_FOCUS_URL",
            "KONSOLE_DBUS_SERVICE", "KONSOLE_DBUS_SESSION", "KONSOLE_DBUS_WINDOW", "GNOME_TERMINAL_SCREEN",
            "GNOME_TERMINAL_SERVICE", "WINDOWID", "DISPLAY", "tty"];
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            let ids: Vec<(&str, &str)> = names.iter().enumerate()
                .map(|(at, name)| (*name, if (at + good) % 3 == 0 { GOOD[(at + good) % GOOD.len()] } else { &*value }))
                .collect();
            let session_location = SessionLocation { presence: Presence::Unconfirmed, ..session_location(kinds[kind], &ids) };
            let world = recorded_system(platform, &[]);
            let (answer, lines) = asked(&world, &session_location);
            prop_assert!(lines.len() < 20 && !answer.resume.is_empty());
            for line in lines {
                prop_assert!(!line.contains(['\n', '\u{1b}']), "{line}");
                let option = !value.is_empty() && value.starts_with('-');
                prop_assert!(!option || !line.split(' ').any(|word| word == value), "{line}");
            }
        }
    }
}

/// The calls that type a text into a pane, as keys and as a paste, and press Enter; or the reason why none are made.
fn typed(world: &RecordedSystem, location: &SessionLocation) -> Result<Vec<String>, String> {
    let pane = Pane::of(location, world)?;
    pane.check(world)?;
    world.asked.take();
    pane.write(&pane.prepare("-x;", Form::Keys, world)?, world)?;
    pane.write(&pane.prepare("a\nb", Form::Paste, world)?, world)?;
    pane.enter(world)?;
    Ok(world.asked.take())
}

const KITTY: &Ids = &[("KITTY_WINDOW_ID", "3"), ("KITTY_LISTEN_ON", "unix:@kitty")];
const WEZTERM: &Ids = &[("WEZTERM_PANE", "7"), ("WEZTERM_UNIX_SOCKET", "/run/wezterm")];
const TMUX: &Ids = &[("TMUX", "/run/tmux,8,0"), ("TMUX_PANE", "%2")];

/// The terminal, its process and ids, a call of a look with its answer, and the calls that type.
type TypedCase<'a> = (&'a str, &'a str, &'a Ids, (&'a str, &'a str), &'a [&'a str]);

#[test]
fn a_text_goes_to_the_exact_pane_and_enter_goes_apart() {
    let cases: &[TypedCase] = &[
        (
            "kitty",
            "kitty",
            KITTY,
            (
                "@ --to unix:@kitty ls",
                r#"[{"tabs":[{"windows":[{"id":3,"foreground_processes":[{"pid":900}]}]}]}]"#,
            ),
            &[
                r#"kitty @ --to unix:@kitty send-text --match id:3 --stdin < "-x;""#,
                r#"kitty @ --to unix:@kitty send-text --match id:3 --stdin < "\u{1b}[200~a\nb\u{1b}[201~""#,
                r#"kitty @ --to unix:@kitty send-text --match id:3 --stdin < "\r""#,
            ],
        ),
        (
            "wezterm",
            "wezterm-gui",
            WEZTERM,
            ("cli --no-auto-start list", r#"[{"pane_id":7,"tty_name":"/dev/ttys003"}]"#),
            &[
                r#"WEZTERM_UNIX_SOCKET=/run/wezterm wezterm cli --no-auto-start send-text --pane-id 7 --no-paste < "-x;""#,
                r#"WEZTERM_UNIX_SOCKET=/run/wezterm wezterm cli --no-auto-start send-text --pane-id 7 --no-paste < "\u{1b}[200~a\nb\u{1b}[201~""#,
                r#"WEZTERM_UNIX_SOCKET=/run/wezterm wezterm cli --no-auto-start send-text --pane-id 7 --no-paste < "\r""#,
            ],
        ),
    ];
    for (kind, process, ids, (asks, says), calls) in cases {
        let mut world = recorded_system(Platform::Linux, &["zsh", process]);
        world.answers = vec![(asks, CallResult::Done((*says).to_owned()))];
        assert_eq!(
            typed(&world, &session_location(kind, ids)),
            Ok(calls.iter().map(ToString::to_string).collect())
        );
        // Another program, or another terminal, is there.
        world.answers = vec![(asks, CallResult::Done(says.replace("900", "901").replace("003", "004")))];
        let refused = typed(&world, &session_location(kind, ids));
        assert!(refused.as_ref().is_err_and(|why| why.contains("shows another")), "{refused:?}");
        assert_eq!(world.asked.take().len(), 1, "only the look");
    }
}

#[test]
fn tmux_gets_each_text_in_a_buffer_of_its_own() {
    let mut world = recorded_system(Platform::Linux, &["zsh", "tmux: server"]);
    world.answers =
        vec![("list-panes", CallResult::Done("%1 /dev/pts/1 0 0 0 0\n%2 /dev/ttys003 0 0 0 0\n".into()))];
    let calls = typed(&world, &session_location("tmux", TMUX)).expect("it takes keys");
    let words: Vec<Vec<&str>> = calls.iter().map(|call| call.split(' ').collect()).collect();
    let buffer =
        |call: usize| *words[call].iter().find(|word| word.starts_with("watchbill-")).expect("a buffer");
    assert_ne!(buffer(0), buffer(2));
    let plain: Vec<String> =
        calls.iter().zip([0, 0, 2, 2, 2]).map(|(call, of)| call.replace(buffer(of), "B")).collect();
    assert_eq!(
        plain,
        [
            r#"tmux -S /run/tmux load-buffer -b B '-' < "-x;""#,
            "tmux -S /run/tmux paste-buffer -r -d -b B -t %2",
            r#"tmux -S /run/tmux load-buffer -b B '-' < "a\nb""#,
            "tmux -S /run/tmux paste-buffer -p -r -d -b B -t %2",
            "tmux -S /run/tmux send-keys -t %2 Enter",
        ]
    );
    for (pane, why) in [
        ("%1 /dev/ttys003 0 0 0 0", "does not have this pane"),
        ("%2 /dev/pts/4 0 0 0 0", "another terminal"),
        ("%2 /dev/ttys003 1 0 0 0", "copy mode"),
        ("%2 /dev/ttys003 0 1 0 0", "synchronize-panes"),
        ("%2 /dev/ttys003 0 0 1 0", "takes no keys"),
        ("%2 /dev/ttys003 0 0", "does not know"),
    ] {
        world.answers = vec![("list-panes", CallResult::Done(pane.to_owned()))];
        let refused = typed(&world, &session_location("tmux", TMUX));
        assert!(refused.as_ref().is_err_and(|said| said.contains(why)), "{pane}: {refused:?}");
    }
}

#[test]
fn no_key_goes_where_another_program_reads_it() {
    let mut world = recorded_system(Platform::Linux, &["zsh", "tmux: server"]);
    let tmux = session_location("tmux", TMUX);
    for (change, why) in [
        ((|process: &mut Process| process.reads_keys = Some(false)) as fn(&mut Process), "suspended"),
        (|process| process.reads_keys = None, "does not tell"),
        (|process| process.start = "78".into(), "has ended"),
    ] {
        let mut process = world.processes[0].clone();
        change(&mut process);
        let before = std::mem::replace(&mut world.processes[0], process);
        let refused = typed(&world, &tmux);
        assert!(refused.as_ref().is_err_and(|said| said.contains(why)), "{why}: {refused:?}");
        world.processes[0] = before;
    }
    for (kind, process) in
        [("konsole", "konsole"), ("tty", "xterm"), ("vscode", "code"), ("zellij", "zellij")]
    {
        let world = recorded_system(Platform::Linux, &["zsh", process]);
        let refused = typed(&world, &session_location(kind, &[]));
        assert!(refused.as_ref().is_err_and(|said| said.contains("takes no text")), "{kind}: {refused:?}");
        assert_eq!(world.asked.take(), [""; 0], "no call");
    }
}
