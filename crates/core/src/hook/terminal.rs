//! Finds the terminal that the agent runs in, by the environment variables that terminals set.
//!
//! Only names on a fixed list are read. The agent's environment holds secrets, so this code never reads the rest of
//! it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use crate::hook::TerminalContext;

/// Variables that name a tab, a pane, a window or a screen, or the program that draws it.
const NAMES: &[&str] = &[
    "TMUX",
    "TMUX_PANE",
    "ZELLIJ_SESSION_NAME",
    "ZELLIJ_PANE_ID",
    "KITTY_WINDOW_ID",
    "KITTY_PID",
    "KITTY_LISTEN_ON",
    "WEZTERM_PANE",
    "WEZTERM_UNIX_SOCKET",
    "ITERM_SESSION_ID",
    "GHOSTTY_RESOURCES_DIR",
    "GHOSTTY_BIN_DIR",
    "VSCODE_PID",
    "WT_SESSION",
    "TERM_SESSION_ID",
    "WARP_FOCUS_URL",
    "KONSOLE_DBUS_SERVICE",
    "KONSOLE_DBUS_SESSION",
    "KONSOLE_DBUS_WINDOW",
    "GNOME_TERMINAL_SCREEN",
    "GNOME_TERMINAL_SERVICE",
    "TERMINAL_EMULATOR",
    "SSH_TTY",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "SWAYSOCK",
    "HYPRLAND_INSTANCE_SIGNATURE",
    "NIRI_SOCKET",
    "WINDOWID",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
];

/// The longest value that is taken, in bytes.
const VALUE_LIMIT: usize = 1024;

/// The terminal that the variables and the device name; `None` when there is none, as in a service or a pipeline.
pub fn capture(env: &dyn Fn(&str) -> Option<OsString>, tty: Option<&str>) -> Option<TerminalContext> {
    let mut ids = variables(env);
    if let Some(tty) = tty {
        ids.insert("tty".into(), tty.into());
    }
    let kind = kind(&ids)?;
    Some(TerminalContext { kind: kind.into(), ids })
}

/// The terminal variables of an environment, even if they name no terminal. Then the kind is empty.
pub fn terminal_variables(env: &dyn Fn(&str) -> Option<OsString>) -> TerminalContext {
    let ids = variables(env);
    TerminalContext { kind: kind(&ids).unwrap_or_default().into(), ids }
}

fn variables(env: &dyn Fn(&str) -> Option<OsString>) -> BTreeMap<Arc<str>, Arc<str>> {
    NAMES.iter().filter_map(|name| Some((Arc::from(*name), Arc::from(&*usable(env(name)?)?)))).collect()
}

/// A value without control characters, because some values end up in commands for terminals.
fn usable(value: OsString) -> Option<String> {
    let value = value.into_string().ok()?;
    (!value.is_empty() && value.len() <= VALUE_LIMIT && !value.chars().any(char::is_control)).then_some(value)
}

/// The innermost terminal that can be addressed. Multiplexers run within terminals and set variables of their own. A
/// terminal started from another one inherits its variables, so `TERM_PROGRAM`, which names a program, goes first.
fn kind(ids: &BTreeMap<Arc<str>, Arc<str>>) -> Option<&'static str> {
    let has = |name: &str| ids.contains_key(name);
    let program = ids.get("TERM_PROGRAM").map(|name| name.to_lowercase());
    if has("TMUX_PANE") {
        return Some("tmux");
    }
    if has("ZELLIJ_PANE_ID") || has("ZELLIJ_SESSION_NAME") {
        return Some("zellij");
    }
    let named = match program.as_deref() {
        Some("vscode") => Some("vscode"),
        Some("iterm.app") => Some("iterm2"),
        Some("wezterm") => Some("wezterm"),
        Some("ghostty") => Some("ghostty"),
        Some("kitty") => Some("kitty"),
        Some("warpterminal") => Some("warp"),
        Some("apple_terminal") => Some("apple_terminal"),
        _ => None,
    };
    let by_variable = [
        ("KITTY_WINDOW_ID", "kitty"),
        ("WEZTERM_PANE", "wezterm"),
        ("ITERM_SESSION_ID", "iterm2"),
        ("GHOSTTY_RESOURCES_DIR", "ghostty"),
        ("VSCODE_PID", "vscode"),
        ("WT_SESSION", "windows_terminal"),
        ("WARP_FOCUS_URL", "warp"),
        ("KONSOLE_DBUS_SESSION", "konsole"),
        ("GNOME_TERMINAL_SCREEN", "gnome_terminal"),
        ("TERM_SESSION_ID", "apple_terminal"),
        ("tty", "tty"),
    ];
    let jetbrains = ids.get("TERMINAL_EMULATOR").filter(|name| name.starts_with("JetBrains"));
    named
        .or(jetbrains.map(|_| "jetbrains"))
        .or_else(|| by_variable.iter().find(|(name, _)| has(name)).map(|(_, kind)| *kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(vars: &[(&str, &str)], tty: Option<&str>) -> Option<TerminalContext> {
        capture(&|name| vars.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()), tty)
    }

    #[test]
    fn each_terminal_is_recognized_by_its_variables() {
        let kinds: &[(&str, &[(&str, &str)])] = &[
            ("kitty", &[("KITTY_WINDOW_ID", "3"), ("KITTY_PID", "77"), ("WINDOWID", "9")]),
            ("wezterm", &[("TERM_PROGRAM", "WezTerm"), ("WEZTERM_PANE", "0")]),
            ("iterm2", &[("TERM_PROGRAM", "iTerm.app"), ("ITERM_SESSION_ID", "w0t0p0:8C")]),
            ("tmux", &[("TMUX", "/run/tmux/default,8,0"), ("TMUX_PANE", "%2"), ("KITTY_WINDOW_ID", "1")]),
            (
                "zellij",
                &[("ZELLIJ_SESSION_NAME", "work"), ("ZELLIJ_PANE_ID", "4"), ("TERM_PROGRAM", "ghostty")],
            ),
            ("ghostty", &[("TERM_PROGRAM", "ghostty"), ("KITTY_WINDOW_ID", "1")]),
            ("vscode", &[("TERM_PROGRAM", "vscode"), ("WEZTERM_PANE", "0")]),
            ("windows_terminal", &[("WT_SESSION", "8c0f")]),
            ("jetbrains", &[("TERMINAL_EMULATOR", "JetBrains-JediTerm"), ("KITTY_WINDOW_ID", "1")]),
            (
                "gnome_terminal",
                &[("GNOME_TERMINAL_SCREEN", "/org/gnome/Terminal/screen/7d"), ("WINDOWID", "9")],
            ),
        ];
        for (kind, vars) in kinds {
            let found = context(vars, Some("/dev/pts/4")).expect("it is one");
            assert_eq!(&*found.kind, *kind);
            assert_eq!(found.ids.len(), vars.len() + 1, "{found:?}");
        }
        assert_eq!(context(&[], Some("/dev/tty1")).map(|t| t.kind), Some("tty".into()));
        assert_eq!(context(&[], None), None);
    }

    #[test]
    fn only_listed_variables_without_control_characters_are_read() {
        let asked = std::cell::RefCell::new(Vec::new());
        capture(
            &|name| {
                asked.borrow_mut().push(name.to_owned());
                None
            },
            None,
        );
        let asked = asked.into_inner();
        assert!(asked.iter().all(|name| !name.contains("TOKEN") && !name.contains("KEY")), "{asked:?}");
        let found = context(&[("KITTY_WINDOW_ID", "3\u{1b}]0;x\u{7}")], Some("/dev/pts/1")).expect("a tty");
        assert_eq!(&*found.kind, "tty");
        assert!(context(&[("WT_SESSION", &"x".repeat(2000))], None).is_none());
    }
}
