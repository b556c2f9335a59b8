//! Where a hook event came from: facts that its sender sees and the payload lacks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::Instance;
use crate::time::Timestamp;

/// The sender's own data about one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookOrigin {
    /// Unique for each event ever sent on this machine, so that a repeated event counts once.
    pub id: Arc<str>,
    /// The sender's wall clock when it started.
    pub at: Timestamp,
    /// The sender's clock since boot, in nanoseconds: it never goes back, so it orders the events of one machine.
    pub order: u64,
    /// The agent's process, if the sender found it among its ancestors.
    pub agent: Option<Instance>,
    /// The sender's ancestors, nearest first, bounded.
    pub ancestors: Arc<[u32]>,
    /// The terminal that the agent runs in.
    pub terminal: Option<TerminalContext>,
}

/// A terminal as its environment names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalContext {
    /// `kitty`, `wezterm`, `iterm2`, `tmux`, `zellij`, `ghostty`, `vscode`, `windows_terminal`, `tty`, …: the innermost
    /// one that can be addressed.
    pub kind: Arc<str>,
    /// The values that address the tab or pane, by the name of their variable or property (`KITTY_WINDOW_ID`,
    /// `TMUX_PANE`, `tty`, …). Never a secret: only names on a fixed list are taken.
    pub ids: BTreeMap<Arc<str>, Arc<str>>,
}

impl TerminalContext {
    /// Key in `ids` of the registry's tmux target (`session:@window.%pane`).
    pub const TMUX_TARGET: &str = "tmux";

    /// A terminal that only the registry names, by its tmux target.
    pub fn of_tmux(target: &Arc<str>) -> Self {
        Self { kind: "tmux".into(), ids: BTreeMap::from([(Self::TMUX_TARGET.into(), Arc::clone(target))]) }
    }

    /// One text for the innermost tab or pane that can be identified: two contexts with the same text are the same
    /// place. `None` if nothing identifies it.
    ///
    /// A tmux pane is named as in the registry, by its number on the default server. A pane of another server carries
    /// that server's socket. If the program has no name for its tabs, the terminal's device is used.
    pub fn identity(&self) -> Option<Arc<str>> {
        let id = |name: &str| self.ids.get(name).map(|value| &**value);
        let with = |part: &str, whole: Option<&str>| format!("{}:{}", whole.unwrap_or_default(), part);
        let own = match &*self.kind {
            "tmux" => {
                let target = id(Self::TMUX_TARGET).and_then(|target| target.rsplit('.').next());
                let socket = id("TMUX").and_then(|server| server.split(',').next());
                let other = socket.filter(|socket| !socket.ends_with("/default"));
                id("TMUX_PANE").or(target).map(|pane| with(pane, other))
            }
            "zellij" => id("ZELLIJ_PANE_ID").map(|pane| with(pane, id("ZELLIJ_SESSION_NAME"))),
            "kitty" => {
                id("KITTY_WINDOW_ID").map(|window| with(window, id("KITTY_PID").or(id("KITTY_LISTEN_ON"))))
            }
            "wezterm" => id("WEZTERM_PANE").map(|pane| with(pane, id("WEZTERM_UNIX_SOCKET"))),
            "iterm2" => id("ITERM_SESSION_ID").or(id("TERM_SESSION_ID")).map(str::to_owned),
            "apple_terminal" => id("TERM_SESSION_ID").map(str::to_owned),
            "windows_terminal" => id("WT_SESSION").map(str::to_owned),
            "warp" => id("WARP_FOCUS_URL").map(str::to_owned),
            "konsole" => id("KONSOLE_DBUS_SESSION").map(|tab| with(tab, id("KONSOLE_DBUS_SERVICE"))),
            _ => None,
        };
        match own {
            Some(own) => Some(Arc::from(format!("{} {own}", self.kind))),
            None => id("tty").map(|tty| Arc::from(format!("tty {tty}"))),
        }
    }
}
