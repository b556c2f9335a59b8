//! Reports about own sessions for programs that show them.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

use super::host::HostMessage;
use super::spec::{OwnAgent, OwnSpec};

/// What an attached window gets of one own session.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "own", rename_all = "snake_case")]
#[ts(optional_fields)]
pub enum OwnNews {
    /// First: what runs there.
    Begin {
        /// What started it.
        spec: Box<OwnSpec>,
        /// The process id of its host; absent if the host has ended and the events come from its log.
        pid: Option<u32>,
    },
    /// A message of the host.
    Host {
        /// It is.
        message: HostMessage,
    },
    /// Last: the host has ended, or the connection to it.
    Over {
        /// What failed; absent if the end was orderly.
        failure: Option<String>,
    },
}

/// What a new session can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OwnChoices {
    /// The agents whose program was found.
    pub agents: Vec<OwnAgent>,
    /// Folders of recent sessions, the newest first, absolute.
    pub folders: Vec<String>,
}
