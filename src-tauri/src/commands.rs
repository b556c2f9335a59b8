//! The commands that the window may call. Each is a thin call of the engine. Slow ones run off the main thread.

pub mod memory;
pub mod shell;
pub mod words;

use std::path::Path;

use tauri::State;
use tauri::ipc::Channel;
use watchbill_engine::Timestamp;
use watchbill_engine::handle::Handle;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::doctor::Doctor;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::focus::FocusAnswer;
use watchbill_protocol::request::{AnswerCall, AnswerGiven};
use watchbill_protocol::roster::{RosterMessage, TrackedSession};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::timeline::{NewestItems, Timeline, TimelinePlace};
use watchbill_protocol::why::Why;

use crate::alerts;
use crate::desk::Desk;
use crate::engine;

/// Sends a snapshot and then deltas through `channel`; ends an earlier subscription of the window.
#[tauri::command]
pub async fn roster_subscribe(
    desk: State<'_, Desk>,
    channel: Channel<RosterMessage>,
    all: bool,
) -> Result<(), ApiError> {
    desk.show_roster(channel, all).map_err(|error| {
        ApiError::new(ErrorCode::Internal, format!("Watchbill cannot watch the sessions: {error}"))
    })
}

/// The row of the chain's head, where the work of this session goes on, even if the roster does not show it.
#[tauri::command]
pub async fn session_head(desk: State<'_, Desk>, session_id: String) -> Result<TrackedSession, ApiError> {
    desk.ask(move |engine| row_of(engine, &engine.chain(&session_id)?.head)).await
}

/// Answers a request that the window has shown. When it returns, the answer is stored and on its way.
#[tauri::command]
pub async fn answer_request(desk: State<'_, Desk>, call: AnswerCall) -> Result<AnswerGiven, ApiError> {
    desk.answer(call, "window").await
}

/// The witnesses of a state.
#[tauri::command]
pub async fn session_why(desk: State<'_, Desk>, session_id: String) -> Result<Why, ApiError> {
    desk.ask(move |engine| engine.why(&session_id)).await
}

/// The work chain of a session.
#[tauri::command]
pub async fn session_chain(desk: State<'_, Desk>, session_id: String) -> Result<WorkChain, ApiError> {
    desk.ask(move |engine| engine.chain(&session_id)).await
}

/// A part of a timeline: `limit` items from `from` on, or the newest ones.
#[tauri::command]
pub async fn session_timeline(
    desk: State<'_, Desk>,
    session_id: String,
    from: Option<u64>,
    limit: u64,
) -> Result<Timeline, ApiError> {
    desk.ask(move |engine| engine.timeline(&session_id, from, limit)).await
}

/// The newest items of a timeline. If a long transcript was not counted yet, it reads only the end.
#[tauri::command]
pub async fn newest_items(
    desk: State<'_, Desk>,
    session_id: String,
    limit: u64,
) -> Result<NewestItems, ApiError> {
    desk.ask(move |engine| engine.newest_items(&session_id, limit)).await
}

/// A part of the timeline of one subagent of a session's chain.
#[tauri::command]
pub async fn agent_timeline(
    desk: State<'_, Desk>,
    session_id: String,
    agent_id: String,
    from: u64,
    limit: u64,
) -> Result<Timeline, ApiError> {
    desk.ask(move |engine| engine.agent_timeline(&session_id, &agent_id, from, limit)).await
}

/// Where a search hit is in the timeline.
#[tauri::command]
pub async fn timeline_place(
    desk: State<'_, Desk>,
    session_id: String,
    agent_id: Option<String>,
    offset: u64,
) -> Result<TimelinePlace, ApiError> {
    desk.ask(move |engine| engine.timeline_place(&session_id, agent_id.as_deref(), offset)).await
}

/// Searches all stored texts. The next query of the window ends this one.
#[tauri::command]
pub async fn search(desk: State<'_, Desk>, query: SearchQuery) -> Result<SearchAnswer, ApiError> {
    let is_newest = desk.begin_search();
    desk.ask(move |engine| engine.search_while(&query, is_newest)).await
}

/// The watched folders and files, and the health of each part.
#[tauri::command]
pub async fn doctor(desk: State<'_, Desk>) -> Result<Doctor, ApiError> {
    let doctor = desk.ask(|engine| engine.doctor()).await?;
    Ok(Doctor { desktop: Some(alerts::health(desk.has_tray()).await), ..doctor })
}

/// Mutes alerts until this time; without a time, unmutes them.
#[tauri::command]
pub async fn mute(desk: State<'_, Desk>, until: Option<String>) -> Result<(), ApiError> {
    let until = until.map(|text| {
        let wrong = || ApiError::new(ErrorCode::Invalid, format!("{text} is not an RFC 3339 time"));
        Timestamp::parse(&text).ok_or_else(wrong)
    });
    desk.mute(until.transpose()?).await
}

/// The window shows this session in full; without a session, only the roster.
///
/// Runs on the main thread, so calls keep their order. Otherwise an earlier call could count last, and silence the
/// alerts of a session that the user does not read.
#[tauri::command]
pub fn looking_at(desk: State<'_, Desk>, session_id: Option<String>) {
    desk.window_shows(session_id);
}

/// Opens the working folder of a session. The window names a session, never a path.
#[tauri::command]
pub async fn open_folder(desk: State<'_, Desk>, session_id: String) -> Result<(), ApiError> {
    desk.ask(move |engine| show_folder(row_of(engine, &session_id)?.cwd.as_deref())).await
}

/// Brings the terminal of a session to the front.
#[tauri::command]
pub async fn focus_terminal(desk: State<'_, Desk>, session_id: String) -> Result<FocusAnswer, ApiError> {
    desk.ask(move |engine| engine.focus_terminal(&session_id)).await
}

/// The shell command that resumes a session.
#[tauri::command]
pub async fn resume_command(desk: State<'_, Desk>, session_id: String) -> Result<String, ApiError> {
    desk.ask(move |engine| engine.resume_command(&session_id)).await
}

/// Shows made-up sessions instead of the real ones of this machine.
#[tauri::command]
pub async fn start_demo(desk: State<'_, Desk>) -> Result<(), ApiError> {
    let demo = desk.ask(|_| {
        engine::demo().map_err(|error| {
            ApiError::new(ErrorCode::Internal, format!("the demo could not be started: {error}"))
        })
    });
    desk.show_demo(demo.await?);
    Ok(())
}

fn row_of(engine: &Handle, session_id: &str) -> Result<TrackedSession, ApiError> {
    let rows = engine.roster(true)?.sessions;
    let gone = || ApiError::new(ErrorCode::NotFound, format!("the session {session_id} no longer exists"));
    rows.into_iter().find(|row| row.session_id == session_id).ok_or_else(gone)
}

fn show_folder(cwd: Option<&str>) -> Result<(), ApiError> {
    let Some(cwd) = cwd else {
        let message = "this session has not reported its working folder";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    };
    // The path comes from a transcript, so do not trust it: open it only if it is a folder, never a program or a web
    // link.
    if !Path::new(cwd).is_absolute() || !Path::new(cwd).is_dir() {
        return Err(ApiError::new(ErrorCode::NotFound, format!("the folder {cwd} no longer exists")));
    }
    // On macOS a folder may be a program, and opening it would start it. So there the parent folder shows it.
    let shown = if cfg!(target_os = "macos") {
        tauri_plugin_opener::reveal_item_in_dir(cwd)
    } else {
        tauri_plugin_opener::open_path(cwd, None::<&str>)
    };
    shown.map_err(|error| {
        let message = format!("no program was found that can show the folder {cwd}: {error}");
        ApiError::new(ErrorCode::Unsupported, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_existing_folder_is_opened() {
        for cwd in [
            None,
            Some("relative"),
            Some("/nonexistent/watchbill"),
            Some("https://example.com"),
            Some("/etc/hostname"),
        ] {
            let error = show_folder(cwd).expect_err("nothing to show");
            assert_eq!(error.code, ErrorCode::NotFound, "{cwd:?}");
        }
    }
}
