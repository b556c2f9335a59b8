//! Messages between the host of an own session and its readers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::command::OwnCommand;
use super::event::OwnEvent;
use super::spec::{OwnSize, OwnSpec};

/// The version of the talk with a host. A reader refuses a host of another version by name, and never guesses.
pub const HOST_VERSION: u32 = 1;

/// The longest line of a reader, its line feed included, in bytes.
pub const MAX_HOST_LINE_BYTES: u64 = 256 << 10;

/// The longest pictures of one prompt together, in bytes of base64. They lie in files of the session's folder.
pub const MAX_PICTURE_BYTES: usize = 8 << 20;

/// The longest id of a call, and of a prompt, in bytes.
pub const MAX_CALL_ID_BYTES: usize = 256;

/// The first line of a host to each reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HostHello {
    /// [`HOST_VERSION`].
    pub host_protocol: u32,
    /// The version of the host's program.
    pub watchbill: String,
    /// The process id of the host.
    pub pid: u32,
    /// What it runs.
    pub spec: OwnSpec,
    /// The number of the next record of its log.
    pub next: u64,
    /// It takes the name of a file in the session's folder for a picture. Hosts of earlier versions take the picture alone, in lines of
    /// up to 8 MiB.
    #[serde(default)]
    pub picture_files: bool,
}

/// One call to a host. The answers have the form of the local socket: `reply`, `error`, `event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCall {
    /// Chosen by the reader. For a command it is remembered: a command that is sent again is carried out once.
    pub id: String,
    /// The call.
    #[serde(flatten)]
    pub request: HostRequest,
}

/// What a reader asks of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum HostRequest {
    /// Events of the records from `from` on, then each new one. Events: [`HostMessage`]. There is no reply.
    Attach {
        /// The first record.
        from: u64,
    },
    /// Carries a command out. Reply: `null` when it is in the log.
    Command {
        /// The command.
        command: OwnCommand,
    },
}

/// What a host sends to an attached reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "host", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum HostMessage {
    /// Events, oldest first.
    Events {
        /// They are.
        events: Vec<OwnEvent>,
    },
    /// The screen and what scrolled off it, as bytes that draw it anew and ask nothing. First for a terminal, and again when
    /// the reader was too slow.
    Screen {
        /// Base64.
        bytes: String,
        /// The size that it was drawn for.
        size: OwnSize,
    },
    /// New output of the terminal.
    Output {
        /// Base64.
        bytes: String,
    },
    /// All past events were sent.
    CaughtUp,
}
