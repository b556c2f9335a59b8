//! The commands that a page may call: `ask` for all requests, and one pair for what it follows.
//!
//! The router of the engine answers a request. Here is only what a desktop alone can do.

use std::path::Path;
use std::sync::Arc;

use tauri::ipc::JavaScriptChannelId;
use tauri::{AppHandle, Manager, State, WebviewWindow};
use watchbill_engine::router::access::{Face, may};
use watchbill_protocol::api::{ApiReply, ApiRequest, ApiSubscription};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::shell::ShellMessage;
use watchbill_settings::Configuration;

use crate::app_state::AppState;
use crate::autostart::Switch;
use crate::engine::off_thread;
use crate::settings::SettingsLine;
use crate::shortcut::GlobalKey;
use crate::window_messages::WindowMessages;
use crate::{alerts, engine, own, window};

/// Answers a request of a page.
#[tauri::command]
pub async fn ask(app: AppHandle, page: WebviewWindow, request: ApiRequest) -> Result<ApiReply, ApiError> {
    let app_state = app.state::<AppState>();
    may(&face(&app_state, &page), request.right())?;
    Ok(match request {
        ApiRequest::OpenFolder { session } => {
            let row = app_state.router(&app);
            off_thread(move || show_folder(row.row(&session)?.cwd.as_deref())).await?;
            ApiReply::OpenFolder(())
        }
        ApiRequest::OpenLink { address } => {
            off_thread(move || open_link(&address)).await?;
            ApiReply::OpenLink(())
        }
        ApiRequest::StartDemo => {
            let demo = off_thread(|| engine::demo().map_err(not_started)).await?;
            app_state.exchange_demo(demo, true);
            app.state::<WindowMessages>().tell(ShellMessage::Demo { on: true });
            ApiReply::StartDemo(())
        }
        ApiRequest::LeaveDemo => {
            let from = app.clone();
            off_thread(move || leave_demo(&from).map_err(not_started)).await?;
            ApiReply::LeaveDemo(())
        }
        ApiRequest::SetCompact { on } => {
            window::set_compact(&app, on);
            ApiReply::SetCompact(())
        }
        ApiRequest::OpenSettings => {
            window::open_settings(&app);
            ApiReply::OpenSettings(())
        }
        ApiRequest::Autostart => ApiReply::Autostart(app.state::<Switch>().is_on().map_err(|error| {
            let message =
                format!("the setting for starting Watchbill with the desktop cannot be read: {error}");
            ApiError::new(ErrorCode::Unreadable, message)
        })?),
        ApiRequest::SetAutostart { on } => {
            let switch = app.state::<Switch>();
            ApiReply::SetAutostart(switch.set(on).and_then(|()| switch.is_on()).map_err(|error| {
                let message = format!("Watchbill's start with the desktop could not be changed: {error}");
                ApiError::new(ErrorCode::Unsupported, message)
            })?)
        }
        ApiRequest::Shortcut => ApiReply::Shortcut(app.state::<GlobalKey>().shown()),
        ApiRequest::ServiceState => ApiReply::ServiceState(app_state.http().state()),
        request => {
            let (router, face) = (app_state.router(&app), face(&app_state, &page));
            let wanted = match &request {
                ApiRequest::Search { .. } => app_state.begin_search(),
                _ => Arc::new(|| true),
            };
            let mut reply = off_thread(move || Ok(router.answer(&face, request, wanted)?)).await?;
            if let ApiReply::Doctor(doctor) = &mut reply {
                doctor.desktop = Some(alerts::health(app_state.has_tray()).await);
            }
            reply
        }
    })
}

/// Sends what the page follows through `channel`. Gives the number that ends it, if it ends otherwise than with the page.
#[tauri::command]
pub async fn subscribe(
    app: AppHandle,
    page: WebviewWindow,
    to: ApiSubscription,
    channel: JavaScriptChannelId,
) -> Result<Option<u32>, ApiError> {
    let app_state = app.state::<AppState>();
    may(&face(&app_state, &page), to.right())?;
    let webview = page.as_ref().clone();
    match to {
        ApiSubscription::Roster { all } => {
            app_state.show_roster(channel.channel_on(webview), all).map_err(|error| {
                let message = format!("Watchbill cannot watch the sessions: {error}");
                ApiError::new(ErrorCode::Internal, message)
            })?;
        }
        ApiSubscription::Settings => {
            app.state::<SettingsLine>().add(&app, page.label(), channel.channel_on(webview));
        }
        ApiSubscription::Shell => {
            let first = [
                ShellMessage::Compact { on: window::is_compact(&app) },
                ShellMessage::Demo { on: app_state.demo().may_be_left() },
            ];
            app.state::<WindowMessages>().connect(channel.channel_on(webview), first);
        }
        ApiSubscription::Own { session, from } => {
            let folder = app_state.router(&app).own_folder(&session)?;
            return own::attach(&app, folder, from, channel.channel_on(webview)).map(Some);
        }
    }
    Ok(None)
}

/// Ends what has a number.
#[tauri::command]
pub fn unsubscribe(attachments: State<'_, own::Attachments>, number: u32) {
    attachments.end(number);
}

/// The window shows this session in full; without a session, only the roster.
///
/// Runs on the main thread, so calls keep their order. Otherwise an earlier call could count last, and silence the
/// alerts of a session that the user does not read.
#[tauri::command]
pub fn looking_at(app_state: State<'_, AppState>, session: Option<String>) {
    app_state.window_shows(session);
}

/// Who asks through this page.
fn face(app_state: &AppState, page: &WebviewWindow) -> Face<'static> {
    if page.label() == window::LABEL {
        Face::Window { refusal: app_state.refusal().map(str::to_owned) }
    } else {
        Face::SettingsWindow
    }
}

/// Shows the real sessions again. Blocks while their engine starts.
///
/// # Errors
/// When the system gives no thread. Then the demo goes on.
pub fn leave_demo(app: &AppHandle) -> std::io::Result<()> {
    let (app_state, configuration) = (app.state::<AppState>(), app.state::<Arc<Configuration>>());
    let real = engine::open((*configuration.settings()).clone())?;
    app_state.exchange_demo(real, false);
    app.state::<WindowMessages>().tell(ShellMessage::Demo { on: false });
    // Settings that were changed meanwhile.
    app_state.apply(&configuration.settings())
}

fn not_started(error: std::io::Error) -> ApiError {
    ApiError::new(ErrorCode::Internal, format!("watching could not be started: {error}"))
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

/// Opens a web address in the user's browser. Output of a program names it, so nothing else is opened.
fn open_link(address: &str) -> Result<(), ApiError> {
    if !is_web(address) {
        return Err(ApiError::new(ErrorCode::Invalid, "that link is no web address"));
    }
    tauri_plugin_opener::open_url(address, None::<&str>)
        .map_err(|error| ApiError::new(ErrorCode::Unsupported, format!("no browser was found: {error}")))
}

fn is_web(address: &str) -> bool {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !address.chars().any(|c| c.is_control() || c.is_whitespace()))
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

    #[test]
    fn only_web_addresses_are_opened() {
        assert!(is_web("https://example.com/a?b#c"));
        for address in
            ["file:///etc/passwd", "javascript:x", "https://", "https://a b", "https://a\n", "-x", ""]
        {
            assert!(!is_web(address), "{address:?}");
        }
    }
}
