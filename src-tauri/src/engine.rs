//! The engine as the shell's [`Host`].

use std::path::PathBuf;
use std::sync::Arc;

use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::timeline::Timeline;
use watchbill_protocol::why::Why;

use crate::host::{ApiError, ErrorCode, Host, Sink};
use crate::options::Options;

/// Where to look.
pub struct Settings {
    /// Folders with `projects/` and `sessions/`.
    pub roots: Vec<PathBuf>,
}

/// Puts the settings together.
pub fn settle(options: &Options) -> Result<Settings, &'static str> {
    Ok(Settings { roots: options.claude_dirs.clone() })
}

/// Starts watching.
pub fn open(_settings: Settings) -> Result<Arc<dyn Host>, &'static str> {
    Ok(Arc::new(Nobody))
}

/// Starts the demo.
pub fn demo() -> Result<Arc<dyn Host>, &'static str> {
    Err("there is no demo yet")
}

/// An empty roster, until the engine is joined to the shell.
struct Nobody;

impl Host for Nobody {
    fn subscribe(&self, _all: bool, mut sink: Sink) {
        sink(RosterMessage::Snapshot(RosterSnapshot {
            revision: 0,
            generated_at: jiff::Timestamp::now().to_string(),
            sessions: Vec::new(),
            problems: Vec::new(),
            reading: false,
        }));
    }

    fn why(&self, session: &str) -> Result<Why, ApiError> {
        unknown(session)
    }

    fn chain(&self, session: &str) -> Result<WorkChain, ApiError> {
        unknown(session)
    }

    fn timeline(&self, session: &str, _from: u64, _limit: u64) -> Result<Timeline, ApiError> {
        unknown(session)
    }

    fn doctor(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
}

fn unknown<T>(session: &str) -> Result<T, ApiError> {
    Err(ApiError { code: ErrorCode::NotFound, message: format!("there is no session {session}") })
}
