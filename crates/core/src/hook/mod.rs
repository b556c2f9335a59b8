//! The agent's hook events as facts: the sender, its terminal, and the content.

mod calls;
pub mod event;
mod event_names;
pub mod fold;
mod hook_state;
pub mod message;
pub mod moves;
pub mod origin;
pub mod payload;
pub mod status_line;
pub mod terminal;
pub mod texts;
pub mod witness;

pub use event::{HookEvent, HookToolCall};
pub use event_names::STATUS_LINE;
pub use fold::HookFold;
pub use message::HookMessage;
pub use moves::HookMoves;
pub use origin::{HookOrigin, TerminalContext};
pub use payload::{HookError, HookPayload, PAYLOAD_LIMIT};
pub use status_line::{SaidContext, SaidPullRequest, StatusLine};
pub use texts::HookTexts;
pub use witness::{HookCall, HookRequest, HookTurn, HookWitness};
