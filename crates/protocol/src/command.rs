//! The user's commands about sessions, as requests carry them.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;

use crate::error::{ApiError, ErrorCode};

/// One command of the user, about a session and so about its work chain. A session is named by its id, the id of
/// its work chain, or a unique prefix of one.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum UserCommand {
    /// Names the work chain. Without a name, the chain has the titles of its sessions again.
    Rename {
        /// A session of the chain.
        session: String,
        /// The name.
        name: Option<String>,
    },
    /// Joins two chains: the later one continues the earlier one.
    Join {
        /// A session of one chain.
        session: String,
        /// A session of the other chain.
        with: String,
    },
    /// Accepts a suggested link.
    Accept {
        /// The later session of the link.
        session: String,
    },
    /// Begins a chain of its own with this session.
    Split {
        /// The session.
        session: String,
    },
    /// Undoes the last join, acceptance or split of the chain.
    Undo {
        /// A session of the chain.
        session: String,
    },
    /// Keeps the session out of "needs you" for a while. Without a time, this ends now.
    Snooze {
        /// The session.
        session: String,
        /// RFC 3339.
        until: Option<String>,
    },
    /// Takes the session out of the roster until something new happens in it, or puts it back.
    PutAway {
        /// The session.
        session: String,
        /// `true`: away; `false`: back.
        away: bool,
    },
}

impl From<&SessionCommand> for UserCommand {
    fn from(word: &SessionCommand) -> Self {
        let session = word.session().to_string();
        match word {
            SessionCommand::Name { name, .. } => Self::Rename { session, name: name.clone() },
            SessionCommand::Join { with, .. } => Self::Join { session, with: with.to_string() },
            SessionCommand::Accept { .. } => Self::Accept { session },
            SessionCommand::Split { .. } => Self::Split { session },
            SessionCommand::Undo { .. } => Self::Undo { session },
            SessionCommand::Snooze { until, .. } => {
                Self::Snooze { session, until: until.map(|at| at.to_string()) }
            }
            SessionCommand::PutAway { away, .. } => Self::PutAway { session, away: *away },
        }
    }
}

impl TryFrom<UserCommand> for SessionCommand {
    type Error = ApiError;

    fn try_from(command: UserCommand) -> Result<Self, ApiError> {
        let id = |session: String| SessionId::new(&session);
        Ok(match command {
            UserCommand::Rename { session, name } => Self::Name { session: id(session), name },
            UserCommand::Join { session, with } => Self::Join { session: id(session), with: id(with) },
            UserCommand::Accept { session } => Self::Accept { session: id(session) },
            UserCommand::Split { session } => Self::Split { session: id(session) },
            UserCommand::Undo { session } => Self::Undo { session: id(session) },
            UserCommand::Snooze { session, until: None } => {
                Self::Snooze { session: id(session), until: None }
            }
            UserCommand::Snooze { session, until: Some(until) } => {
                let wrong = || ApiError::new(ErrorCode::Invalid, format!("`{until}` is no RFC 3339 time"));
                let at = Timestamp::parse(&until).ok_or_else(wrong)?;
                Self::Snooze { session: id(session), until: Some(at) }
            }
            UserCommand::PutAway { session, away } => Self::PutAway { session: id(session), away },
        })
    }
}
