//! The desktop shell: one window, one tray icon, and the commands between the window and the engine.
//!
//! Nothing is decided here. The engine says what there is; the shell shows it in the tray and hands it
//! to the window. The shell is the only crate that knows Tauri.

#![forbid(unsafe_code)]

mod alerts;
mod bridge;
mod commands;
mod desk;
mod engine;
mod looking;
mod options;
mod roster_copy;
mod text;
mod tray;
mod window;

use desk::Desk;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use tauri::{AppHandle, Manager, RunEvent, WindowEvent};
use tauri_plugin_window_state::{AppHandleExt, StateFlags};

use options::Options;

/// What is remembered of the window. Whether it was visible is not: a start shows it or not.
const REMEMBERED: StateFlags = StateFlags::SIZE.union(StateFlags::POSITION).union(StateFlags::MAXIMIZED);

/// Runs the program until the person quits it.
pub fn run() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(usage) => {
            // Help and version are no errors; clap knows the stream and the exit code of each.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("WATCHBILL_LOG").unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    match start(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "watchbill-desktop: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    require_display()?;
    let context = tauri::generate_context!("../tauri.conf.json");
    let settings = engine::settle(&options)?;
    let instance = options.instance(&context.config().identifier, &settings, engine::usual().as_ref());
    let builder = tauri::Builder::default()
        // First, so that a second start ends before it has opened anything.
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(instance)
                .callback(|app, argv, _| second_start(app, &Options::of_second_start(&argv)))
                .build(),
        )
        .plugin(tauri_plugin_window_state::Builder::new().with_state_flags(REMEMBERED).build());
    #[cfg(not(target_os = "linux"))]
    let builder = builder.plugin(tauri_plugin_notification::init());
    let app = builder
        .invoke_handler(tauri::generate_handler![
            commands::roster_subscribe,
            commands::session_why,
            commands::session_chain,
            commands::session_timeline,
            commands::agent_timeline,
            commands::timeline_place,
            commands::search,
            commands::doctor,
            commands::open_folder,
            commands::focus_terminal,
            commands::resume_command,
            commands::start_demo,
            commands::mute,
            commands::looking_at,
            commands::words::rename_chain,
            commands::words::join_chains,
            commands::words::split_chain,
            commands::words::accept_link,
            commands::words::reject_link,
            commands::words::undo_chain,
            commands::words::snooze,
            commands::words::put_away,
        ])
        .build(context)?;
    let desk = Desk::new(if options.demo { engine::demo()? } else { engine::open(settings)? });
    if let Some(session) = options.session.clone() {
        desk.select(session);
    }
    app.manage(desk);
    app.run(move |app, event| on_event(app, &event, &options));
    Ok(())
}

/// Tauri ends the program with a panic when there is no display; a person deserves a sentence.
#[cfg(target_os = "linux")]
fn require_display() -> Result<(), &'static str> {
    gtk::init().map_err(|_| {
        "there is no display that could be used (see WAYLAND_DISPLAY and DISPLAY); \
         `watchbill roster` shows the same without a window"
    })
}

#[cfg(not(target_os = "linux"))]
fn require_display() -> Result<(), &'static str> {
    Ok(())
}

fn second_start(app: &AppHandle, options: &Options) {
    match &options.session {
        Some(session) => window::open_on(app, session.clone()),
        None if options.hidden => {}
        None => window::open(app),
    }
}

fn on_event(app: &AppHandle, event: &RunEvent, options: &Options) {
    let desk = app.state::<Desk>();
    match event {
        RunEvent::Ready => {
            desk.keep_tray(app);
            desk.keep_alerts(app);
            if !options.hidden || options.session.is_some() {
                window::open(app);
            }
        }
        RunEvent::WindowEvent { label, event: WindowEvent::Focused(focused), .. }
            if label == window::LABEL =>
        {
            desk.window_focused(*focused);
            if *focused {
                desk.look_again();
            }
        }
        RunEvent::WindowEvent { label, event: WindowEvent::Destroyed, .. } if label == window::LABEL => {
            desk.window_closed();
            // Not only at the end: a program in the tray usually ends with the machine.
            if let Err(error) = app.save_window_state(REMEMBERED) {
                tracing::warn!(%error, "the window's place could not be saved");
            }
        }
        // The last window closed. Quit carries a code and passes.
        RunEvent::ExitRequested { api, code: None, .. } if !desk.is_unreachable() => api.prevent_exit(),
        _ => {}
    }
}
