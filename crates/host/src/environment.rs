//! The environment for the processes of a host: the user's, without variables of agents, other terminals and Watchbill.
//!
//! A host gets the environment of the program that started it, which may itself run inside an agent.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use watchbill_agents::launch::{Launch, Root};
use watchbill_agents::marks::is_agents_variable;

/// Variables that say "you run inside this terminal" or "this is a service". Those of agents are in `core`.
const NAMES: &[&str] = &[
    "STY",
    "WINDOW",
    "WINDOWID",
    "TERMCAP",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TERMINAL_EMULATOR",
    "VTE_VERSION",
    "WT_SESSION",
    "WT_PROFILE_ID",
    "COLUMNS",
    "LINES",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "MANAGERPID",
    "OLDPWD",
    "SHLVL",
    "_",
];

/// The same by how they begin.
const BEGINNINGS: &[&str] = &[
    "WATCHBILL_",
    "TMUX",
    "ZELLIJ",
    "KITTY_",
    "WEZTERM_",
    "ALACRITTY_",
    "GHOSTTY_",
    "GNOME_TERMINAL_",
    "KONSOLE_",
    "ITERM_",
    "VSCODE_",
    "APPIMAGE",
];

/// Variables that a host gets where the user has not set them: its memory goes back to the system after a long line (glibc's
/// mallopt(3)). Its threads each keep some otherwise.
pub const ALLOCATOR: [(&str, &str); 2] = [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "131072")];

/// The environment of an agent or a shell, from that of the host. `launch` has what the start adds. A terminal gets the name of its
/// kind. Values pass as they are.
pub fn environment(
    own: impl IntoIterator<Item = (OsString, OsString)>,
    launch: &Launch,
    terminal: bool,
) -> BTreeMap<OsString, OsString> {
    let mut kept: BTreeMap<_, _> =
        own.into_iter().filter(|(name, _)| name.to_str().is_none_or(|name| !is_mark(name))).collect();
    kept.retain(|name, value| !ALLOCATOR.iter().any(|(ours, to)| name == ours && value == to));
    if terminal {
        kept.insert("TERM".into(), "xterm-256color".into());
        kept.insert("COLORTERM".into(), "truecolor".into());
    } else {
        kept.remove(&OsString::from("TERM"));
        kept.remove(&OsString::from("COLORTERM"));
    }
    kept.extend(launch.env.iter().map(|(name, value)| (name.into(), value.into())));
    if let Some(root) = &launch.root {
        point_to(&mut kept, root);
    }
    kept
}

/// Names the agent's folder. The usual folder is named by no variable: with one, Claude Code (2.1.329) looks for the settings that lie
/// beside that folder inside it.
fn point_to(kept: &mut BTreeMap<OsString, OsString>, Root { variable, usual, path }: &Root) {
    let is_same = |one: &Path, other: &Path| {
        one == other
            || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
    };
    let home = kept.get(&OsString::from("HOME"));
    let is_usual = home.is_some_and(|home| is_same(&Path::new(home).join(usual), Path::new(path)));
    let variable = OsString::from(variable);
    if kept.get(&variable).is_some_and(|named| Path::new(named) == Path::new(path)) {
        return;
    }
    if is_usual {
        kept.remove(&variable);
    } else {
        kept.insert(variable, path.into());
    }
}

fn is_mark(name: &str) -> bool {
    is_agents_variable(name)
        || NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(own: &[&str], env: &[(String, String)], terminal: bool) -> Vec<String> {
        let own = own.iter().map(|name| (OsString::from(name), OsString::from("v")));
        environment(own, &Launch { env: env.to_vec(), ..Launch::default() }, terminal)
            .into_keys()
            .filter_map(|name| name.into_string().ok())
            .collect()
    }

    #[test]
    fn marks_of_agents_terminals_and_watchbill_are_gone() {
        let marks = [
            "CLAUDECODE",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "CLAUDE_CODE_MESSAGING_SOCKET",
            "CLAUDE_CODE_OF_A_LATER_VERSION",
            "CLAUDE_PID",
            "AI_AGENT",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "TMUX",
            "TMUX_PANE",
            "KITTY_WINDOW_ID",
            "WATCHBILL_DATA_DIR",
            "TERM",
        ];
        assert_eq!(names(&marks, &[], false), Vec::<String>::new());
    }

    #[test]
    fn what_the_user_needs_stays() {
        let kept = [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_MAX_RETRIES",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "HOME",
            "HTTPS_PROXY",
            "LC_ALL",
            "PATH",
            "SSH_AUTH_SOCK",
            "XDG_RUNTIME_DIR",
        ];
        assert_eq!(names(&kept, &[], false), kept);
    }

    #[test]
    fn a_terminal_has_the_name_of_its_kind_and_the_driver_has_the_last_word() {
        let extra = [("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned())];
        assert_eq!(
            names(&["TERM", "TERM_PROGRAM"], &extra, true),
            ["COLORTERM", "GEMINI_CLI_NO_RELAUNCH", "TERM"]
        );
        let made = environment([("TERM".into(), "foot".into())], &Launch::default(), true);
        assert_eq!(made.get(&OsString::from("TERM")), Some(&OsString::from("xterm-256color")));
    }
    #[test]
    fn the_agent_gets_the_folder_of_its_session() {
        for (own, path, named) in [
            (None, "/h/.claude", None),
            (Some("/other"), "/h/.claude", None),
            (Some("/h/.claude/"), "/h/.claude", Some("/h/.claude/")),
            (None, "/work", Some("/work")),
            (Some("/other"), "/work", Some("/work")),
        ] {
            let own = own.map(|own| ("CLAUDE_CONFIG_DIR".into(), own.into()));
            let root = Root { variable: "CLAUDE_CONFIG_DIR", usual: ".claude", path: path.to_owned() };
            let launch = Launch { root: Some(root), ..Launch::default() };
            let made = environment(own.into_iter().chain([("HOME".into(), "/h".into())]), &launch, false);
            assert_eq!(
                made.get(&OsString::from("CLAUDE_CONFIG_DIR")),
                named.map(OsString::from).as_ref(),
                "{path}"
            );
        }
    }
}
