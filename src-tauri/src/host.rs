//! What the shell needs of the engine, and nothing more.

use std::sync::Arc;

use serde::Serialize;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::roster::{RosterMessage, TrackedSession};
use watchbill_protocol::timeline::Timeline;
use watchbill_protocol::why::Why;

/// Takes the roster's messages; says `false` when nobody listens any more.
pub type Sink = Box<dyn FnMut(RosterMessage) -> bool + Send>;

/// A running engine.
///
/// A trait, so that the shell's own tests need no files and no clock.
pub trait Host: Send + Sync + 'static {
    /// A snapshot first, then deltas without a gap, as long as `sink` says `true`.
    fn subscribe(&self, all: bool, sink: Sink);
    /// The witnesses of a state.
    fn why(&self, session: &str) -> Result<Why, ApiError>;
    /// The work chain of a session.
    fn chain(&self, session: &str) -> Result<WorkChain, ApiError>;
    /// A stretch of a timeline.
    fn timeline(&self, session: &str, from: u64, limit: u64) -> Result<Timeline, ApiError>;
    /// What is watched, and how well.
    fn doctor(&self) -> serde_json::Value;
}

/// A command that could not be fulfilled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ApiError {
    /// For programs.
    pub code: ErrorCode,
    /// For the person: what happened and what to do.
    pub message: String,
}

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// There is no such session.
    NotFound,
    /// It cannot be done with this one.
    Unavailable,
    /// A fault of ours.
    Internal,
}

/// The row of one session, superseded and ended ones included.
///
/// A question of the moment, asked by a subscription that ends with its first message: the shell
/// keeps no copy of thousands of rows for the rare click that needs one.
///
/// # Errors
/// When there is no such session, or the engine has gone.
pub fn row_of(host: &Arc<dyn Host>, session: &str) -> Result<TrackedSession, ApiError> {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let wanted = session.to_owned();
    host.subscribe(
        true,
        Box::new(move |message| {
            let row = match message {
                RosterMessage::Snapshot(snapshot) => {
                    snapshot.sessions.into_iter().find(|row| row.session_id == wanted)
                }
                _ => None,
            };
            // The receiver can only be gone because it has its answer.
            let _ = sender.try_send(row);
            false
        }),
    );
    let gone = |_| ApiError {
        code: ErrorCode::Internal,
        message: "the engine has stopped; restart Watchbill".into(),
    };
    receiver.recv().map_err(gone)?.ok_or_else(|| ApiError {
        code: ErrorCode::NotFound,
        message: format!("there is no session {session} any more"),
    })
}
