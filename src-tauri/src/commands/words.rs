//! The user commands about chains and sessions. Each answers when the command is in force; the rows follow on their
//! own.

use tauri::State;
use watchbill_engine::{SessionCommand, SessionId, Timestamp};
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::{ApiError, ErrorCode};

use crate::desk::Desk;

/// Names a chain; without a name, the chain takes the title of its sessions.
#[tauri::command]
pub async fn rename_chain(
    desk: State<'_, Desk>,
    session_id: String,
    name: Option<String>,
) -> Result<WorkChain, ApiError> {
    carry_out(&desk, SessionCommand::Name { session: SessionId::new(&session_id), name }).await
}

/// Joins two chains into one.
#[tauri::command]
pub async fn join_chains(
    desk: State<'_, Desk>,
    session_id: String,
    with_session_id: String,
) -> Result<WorkChain, ApiError> {
    let (session, with) = (SessionId::new(&session_id), SessionId::new(&with_session_id));
    carry_out(&desk, SessionCommand::Join { session, with }).await
}

/// Makes a session begin a chain of its own.
#[tauri::command]
pub async fn split_chain(desk: State<'_, Desk>, session_id: String) -> Result<WorkChain, ApiError> {
    carry_out(&desk, SessionCommand::Split { session: SessionId::new(&session_id) }).await
}

/// Accepts the suggested link into a session.
#[tauri::command]
pub async fn accept_link(desk: State<'_, Desk>, session_id: String) -> Result<WorkChain, ApiError> {
    carry_out(&desk, SessionCommand::Accept { session: SessionId::new(&session_id) }).await
}

/// Rejects the suggested link into a session. It is never suggested again.
#[tauri::command]
pub async fn reject_link(desk: State<'_, Desk>, session_id: String) -> Result<WorkChain, ApiError> {
    carry_out(&desk, SessionCommand::Split { session: SessionId::new(&session_id) }).await
}

/// Undoes the last join or split in a chain.
#[tauri::command]
pub async fn undo_chain(desk: State<'_, Desk>, session_id: String) -> Result<WorkChain, ApiError> {
    carry_out(&desk, SessionCommand::Undo { session: SessionId::new(&session_id) }).await
}

/// Snoozes a session until a time (RFC 3339); without a time, ends the snooze.
#[tauri::command]
pub async fn snooze(
    desk: State<'_, Desk>,
    session_id: String,
    until: Option<String>,
) -> Result<(), ApiError> {
    let until = until.map(|text| {
        let unclear = || ApiError::new(ErrorCode::Invalid, format!("`{text}` is not an RFC 3339 time"));
        Timestamp::parse(&text).ok_or_else(unclear)
    });
    let command = SessionCommand::Snooze { session: SessionId::new(&session_id), until: until.transpose()? };
    desk.ask(move |engine| engine.carry_out_command(command)).await
}

/// Puts a session away until its next record, or brings it back.
#[tauri::command]
pub async fn put_away(desk: State<'_, Desk>, session_id: String, away: bool) -> Result<(), ApiError> {
    let command = SessionCommand::PutAway { session: SessionId::new(&session_id), away };
    desk.ask(move |engine| engine.carry_out_command(command)).await
}

/// Carries out a user command, and returns the chain that follows from it.
async fn carry_out(desk: &State<'_, Desk>, command: SessionCommand) -> Result<WorkChain, ApiError> {
    desk.ask(move |engine| {
        let session = command.session().to_string();
        engine.carry_out_command(command)?;
        engine.chain(&session)
    })
    .await
}
