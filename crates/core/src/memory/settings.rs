//! Settings of the memory: whether rules run, which findings count, and which memories an agent is told.

use super::choose::Budget;
use super::evidence::AcceptRule;

/// Which memories an agent is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ContextChoice {
    /// Nothing.
    #[default]
    Off,
    /// Memories about a file, when the agent reads or changes it.
    Files,
    /// Also at the start of a session and at prompts.
    All,
}

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySettings {
    /// Whether the rules run.
    pub enabled: bool,
    /// Which findings count without the user.
    pub accept: AcceptRule,
    /// Which memories an agent is told.
    pub context: ContextChoice,
    /// Tokens that one session is told at most, four characters each.
    pub session_tokens: usize,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            accept: AcceptRule::default(),
            context: ContextChoice::default(),
            session_tokens: 3_000,
        }
    }
}

impl MemorySettings {
    /// The budget of a session that was told nothing so far. From its half on, the agent is told only important memories.
    pub fn budget(&self) -> Budget {
        let session = self.session_tokens.saturating_mul(4);
        Budget { session, soft: session / 2, ..Budget::default() }
    }
}
