//! Where a hook event came from: what its sender could see that the payload does not say.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::Instance;
use crate::time::Timestamp;

/// The sender's own words about one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookOrigin {
    /// Unique for each event ever sent on this machine: what is heard twice counts once.
    pub id: Arc<str>,
    /// The sender's wall clock when it started.
    pub at: Timestamp,
    /// The sender's clock since boot, in nanoseconds: it never goes back, so it orders the events of one machine.
    pub order: u64,
    /// The agent's process, where the sender found it among its ancestors.
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
    /// What addresses the tab or pane, by the name of the variable or property that said so
    /// (`KITTY_WINDOW_ID`, `TMUX_PANE`, `tty`, …). Never a secret: only names on a fixed list are taken.
    pub ids: BTreeMap<Arc<str>, Arc<str>>,
}

impl TerminalContext {
    /// The name under which the registry's tmux target (`session:@window.%pane`) stands among the ids.
    pub const TMUX_TARGET: &str = "tmux";

    /// A terminal that only the registry tells of, by its tmux target.
    pub fn of_tmux(target: &Arc<str>) -> Self {
        Self { kind: "tmux".into(), ids: BTreeMap::from([(Self::TMUX_TARGET.into(), Arc::clone(target))]) }
    }
}
