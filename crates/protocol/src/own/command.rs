//! Commands to an own session.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::spec::OwnSize;
use crate::request::RequestDecision;

/// What can be said to an own session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "do", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[ts(optional_fields)]
pub enum OwnCommand {
    /// A prompt. A prompt with an id that the host knows changes nothing.
    Prompt {
        /// A UUID that was made at the key press.
        id: String,
        /// The text.
        text: String,
        /// Pictures.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<OwnImage>>", optional)]
        images: Vec<OwnImage>,
        /// When it goes to the agent.
        when: PromptWhen,
    },
    /// Takes a queued prompt back.
    Unqueue {
        /// The prompt.
        id: String,
    },
    /// Takes all queued prompts back.
    ClearQueue,
    /// Lets held prompts go on.
    ReleaseQueue,
    /// Holds all queued prompts, those that come later too, and lets them go on at a time. If a turn begins before, if one is broken off or
    /// the conversation changes, the queue stays held.
    GoOnAt {
        /// RFC 3339; in the next 31 days.
        until: String,
        /// The id of one more prompt.
        id: String,
        /// Its text. Empty: only what waits already.
        text: String,
    },
    /// Ends the running turn. Queued prompts are held.
    Interrupt,
    /// Answers a request.
    Answer {
        /// The request.
        request: String,
        /// The decision.
        decision: RequestDecision,
    },
    /// Another model.
    SetModel {
        /// Its name.
        model: String,
    },
    /// Another permission mode.
    SetMode {
        /// In the agent's words.
        mode: String,
    },
    /// Bytes for the terminal, as typed.
    Type {
        /// Base64.
        bytes: String,
    },
    /// Text for the terminal, as pasted. The host removes control characters and brackets it where the program asks for it.
    Paste {
        /// The text.
        text: String,
        /// Enter behind it.
        enter: bool,
    },
    /// Another size of the terminal.
    Resize {
        /// The size.
        size: OwnSize,
    },
    /// Ends the session: the turn, the agent, and every process that it left.
    Stop,
}

/// When a prompt goes to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PromptWhen {
    /// When the running turn and the queue before it are done.
    Queue,
    /// Into the running turn, where the agent can take it.
    Steer,
    /// At once: the running turn is interrupted first. The queue stays behind it.
    Now,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OwnImage {
    /// `image/png` and the like.
    pub media: String,
    /// Base64. For a host: the name of a file in the session's folder that holds it, behind an `@`.
    pub data: String,
}
