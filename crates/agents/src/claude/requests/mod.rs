//! Requests of the agent: read from its hook payload, and decided in its words.

mod output;
mod payload;

pub use output::{decision_in_words_of_client, hook_output};
pub use payload::{Asking, read_request, skill_of, waits_for_answer};
