//! Settings of the memory: whether rules run, which findings count, and which memories an agent is told.

use super::choose::Budget;
use super::evidence::AcceptRule;
use crate::time::Millis;

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
    /// The model that looks at ended turns.
    pub model: ModelSettings,
}

/// The model that looks at ended turns, if the user chose one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// Its address; empty: none.
    pub base_url: String,
    /// Its name there.
    pub name: String,
    /// The file with the key; empty: none.
    pub key_file: String,
    /// Without an address, the user's own agent in print mode.
    pub agent: bool,
    /// How long one answer may take.
    pub timeout: Millis,
    /// The most tokens of a day.
    pub daily_tokens: u64,
    /// The most that a day may cost, in millionths of a dollar.
    pub daily_micro_usd: u64,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            name: String::new(),
            key_file: String::new(),
            agent: false,
            timeout: Millis::from_secs(180),
            daily_tokens: 200_000,
            daily_micro_usd: 200_000,
        }
    }
}

impl ModelSettings {
    /// Whether the user chose a model.
    pub fn is_chosen(&self) -> bool {
        !self.base_url.is_empty() || self.agent
    }
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            accept: AcceptRule::default(),
            context: ContextChoice::default(),
            session_tokens: 3_000,
            model: ModelSettings::default(),
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
