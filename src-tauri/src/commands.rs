//! What the window may ask. Each command is one line over the engine, off the main thread.

use std::path::Path;
use std::sync::Arc;

use tauri::State;
use tauri::ipc::Channel;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::roster::RosterMessage;
use watchbill_protocol::timeline::Timeline;
use watchbill_protocol::why::Why;

use crate::desk::Desk;
use crate::host::{ApiError, ErrorCode, Host, row_of};

/// A snapshot and then deltas through `channel`; ends an earlier subscription of the window.
#[tauri::command]
pub async fn roster_subscribe(
    desk: State<'_, Desk>,
    channel: Channel<RosterMessage>,
    all: bool,
) -> Result<(), ApiError> {
    let sink = desk.bridge.connect(channel, all);
    let subscribe = move |host: &Arc<dyn Host>| {
        host.subscribe(all, sink);
        Ok(())
    };
    desk.ask(subscribe).await
}

/// The witnesses of a state.
#[tauri::command]
pub async fn session_why(desk: State<'_, Desk>, session_id: String) -> Result<Why, ApiError> {
    desk.ask(move |host| host.why(&session_id)).await
}

/// The work chain of a session.
#[tauri::command]
pub async fn session_chain(desk: State<'_, Desk>, session_id: String) -> Result<WorkChain, ApiError> {
    desk.ask(move |host| host.chain(&session_id)).await
}

/// A stretch of a timeline.
#[tauri::command]
pub async fn session_timeline(
    desk: State<'_, Desk>,
    session_id: String,
    from: u64,
    limit: u64,
) -> Result<Timeline, ApiError> {
    desk.ask(move |host| host.timeline(&session_id, from, limit)).await
}

/// What is watched, and how well.
#[tauri::command]
pub async fn doctor(desk: State<'_, Desk>) -> Result<serde_json::Value, ApiError> {
    desk.ask(|host| Ok(host.doctor())).await
}

/// Opens the folder in which a session works. The window names a session, never a path.
#[tauri::command]
pub async fn open_folder(desk: State<'_, Desk>, session_id: String) -> Result<(), ApiError> {
    desk.ask(move |host| show_folder(row_of(host, &session_id)?.cwd.as_deref())).await
}

/// Shows made-up sessions instead of the machine's own.
#[tauri::command]
pub async fn start_demo(desk: State<'_, Desk>) -> Result<(), ApiError> {
    desk.start_demo().await
}

fn show_folder(cwd: Option<&str>) -> Result<(), ApiError> {
    let unavailable = |message| Err(ApiError { code: ErrorCode::Unavailable, message });
    let Some(cwd) = cwd else {
        return unavailable("this session has not said in which folder it works".into());
    };
    // A transcript is data of others: what is opened must be a folder, not a program or a link of the web.
    if !Path::new(cwd).is_absolute() || !Path::new(cwd).is_dir() {
        return unavailable(format!("the folder {cwd} is not there any more"));
    }
    tauri_plugin_opener::open_path(cwd, None::<&str>).map_err(|error| ApiError {
        code: ErrorCode::Unavailable,
        message: format!("no program could be found to show the folder {cwd}: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_that_is_there_is_opened() {
        for cwd in [
            None,
            Some("relative"),
            Some("/nonexistent/watchbill"),
            Some("https://example.com"),
            Some("/etc/hostname"),
        ] {
            let error = show_folder(cwd).expect_err("nothing to show");
            assert_eq!(error.code, ErrorCode::Unavailable, "{cwd:?}");
        }
    }
}
