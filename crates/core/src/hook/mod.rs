//! The client's hook events as facts: the sender, its terminal, and the content.

mod calls;
pub mod event;
pub mod fold;
pub mod message;
pub mod moves;
mod names;
pub mod origin;
pub mod payload;
pub mod terminal;
pub mod texts;
mod turn;
pub mod witness;

pub use event::{HookEvent, ToolCall};
pub use fold::HookFold;
pub use message::HookMessage;
pub use moves::HookMoves;
pub use origin::{HookOrigin, TerminalContext};
pub use payload::{HookError, HookPayload, PAYLOAD_LIMIT, parse_payload};
pub use texts::HookTexts;
pub use witness::{HookAsk, HookCall, HookTurn, HookWitness};
