//! The desktop shell: one window, one tray icon, and the commands between the window and the engine.
//!
//! The shell decides nothing. It takes the state from the engine, shows it in the tray and passes it to the window. No
//! other crate knows Tauri.

#![forbid(unsafe_code)]

mod alerts;
mod answer;
mod app_state;
mod autostart;
mod bridge;
#[cfg(target_os = "linux")]
mod bus;
mod commands;
mod demo;
mod engine;
mod focused_session;
#[cfg(target_os = "linux")]
mod instance;
mod link;
mod options;
mod own;
mod roster_copy;
mod settings;
mod short_request;
mod shortcut;
mod start_request;
mod starter;
mod surfaces;
mod text;
mod tray;
#[cfg(target_os = "linux")]
mod webkit;
mod window;
mod window_messages;

use app_state::AppState;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser};
use tauri::{AppHandle, Manager, RunEvent, WindowEvent};
use watchbill_settings::Configuration;

use autostart::Switch;
use options::Options;
use shortcut::GlobalKey;
#[cfg(target_os = "linux")]
use window::desktop_colours::DesktopColours;
use window::saved_place::SavedPlace;
use window_messages::WindowMessages;

/// Runs the program until the user quits it.
pub fn run() -> ExitCode {
    // Must come first: it changes the environment, and no other thread may read that meanwhile.
    #[cfg(target_os = "linux")]
    webkit::quieten();
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(usage) => {
            // Help and version are no errors; clap knows the stream and the exit code of each.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
    };
    if options.man {
        return print_man();
    }
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
    let context = tauri::generate_context!("../tauri.conf.json");
    let configuration = Arc::new(engine::configure(&options)?);
    let settings = (*configuration.settings()).clone();
    let refusal = starter::refusal(settings.scripts_answer);
    // Comes first, so that a second start ends before it has opened anything.
    #[cfg(target_os = "linux")]
    let first = {
        let id = options.instance(&context.config().identifier, &settings, engine::usual().as_ref());
        match instance::claim(&id) {
            instance::InstanceClaim::First(first) => first,
            instance::InstanceClaim::Second => return Ok(()),
        }
    };
    require_display()?;
    // Asked early, so that the answer is there before the first window opens.
    #[cfg(target_os = "linux")]
    let colours = DesktopColours::ask();
    let builder = tauri::Builder::default();
    #[cfg(not(target_os = "linux"))]
    let builder = builder
        .plugin(tauri_plugin_single_instance::init(|app, argv, _| {
            start_request::second_start(app, Options::of_second_start(&argv));
        }))
        .plugin(tauri_plugin_notification::init());
    let app = builder
        .invoke_handler(tauri::generate_handler![
            commands::ask,
            commands::subscribe,
            commands::unsubscribe,
            commands::looking_at,
        ])
        .build(context)?;
    let engine = if options.demo { engine::demo()? } else { engine::open(settings)? };
    let app_state = AppState::new(engine, options.demo, refusal);
    app.manage(app_state);
    app.manage(WindowMessages::default());
    app.manage(own::Attachments::default());
    app.manage(GlobalKey::new(options.shortcut.clone()));
    app.manage(SavedPlace::read(app.path().app_config_dir().ok().map(|folder| folder.join("window.json"))));
    app.manage(switch(app.handle(), &options)?);
    app.manage(settings::SettingsLine::default());
    #[cfg(target_os = "linux")]
    {
        app.manage(colours);
        app.manage(first);
    }
    app.manage(Arc::clone(&configuration));
    // The shell follows the settings until the program ends.
    let _following = settings::follow(app.handle(), &configuration);
    app.run(move |app, event| on_event(app, &event, &options));
    Ok(())
}

/// Without a display, Tauri panics. This gives the user a sentence instead.
#[cfg(target_os = "linux")]
fn require_display() -> Result<(), &'static str> {
    gtk::init().map_err(|_| {
        "no usable display was found (see WAYLAND_DISPLAY and DISPLAY); \
         `watchbill roster` shows the same without a window"
    })
}

#[cfg(not(target_os = "linux"))]
fn require_display() -> Result<(), &'static str> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn switch(app: &AppHandle, options: &Options) -> tauri::Result<Switch> {
    Ok(Switch::new(&app.path().config_dir()?, options.of_autostart()))
}

#[cfg(not(target_os = "linux"))]
fn switch(app: &AppHandle, options: &Options) -> tauri::Result<Switch> {
    Switch::new(app, options.of_autostart())
}

fn print_man() -> ExitCode {
    match clap_mangen::Man::new(Options::command()).render(&mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Corrects an autostart entry that names a program which does not exist any more.
fn correct_autostart(app: &AppHandle) {
    match app.state::<Switch>().correct() {
        Ok(true) => {
            tracing::info!("the autostart entry named a missing program; it now names this one")
        }
        Ok(false) => {}
        Err(error) => tracing::warn!(%error, "the autostart entry could not be read or corrected"),
    }
}

fn on_event(app: &AppHandle, event: &RunEvent, options: &Options) {
    let app_state = app.state::<AppState>();
    if let RunEvent::WindowEvent { label, event: WindowEvent::Destroyed, .. } = event {
        app.state::<settings::SettingsLine>().window_closed(label);
    }
    match event {
        RunEvent::Ready => {
            surfaces::say_refusal(app, &app_state);
            surfaces::keep_tray(app, &app_state);
            surfaces::keep_alerts(app, &app_state);
            surfaces::open_on_request(app, &app_state);
            correct_autostart(app);
            app_state.serve_http();
            #[cfg(target_os = "linux")]
            app.state::<DesktopColours>().follow(app, window::recolour);
            let settings = app.state::<Arc<Configuration>>().settings();
            window::apply(app, &settings.window);
            app_state.colour_tray(settings.window.tray);
            if app.state::<GlobalKey>().wanted(&settings.window).is_some() {
                shortcut::take_key(app);
            }
            let wish = options.wish();
            if !options.hidden || wish != Ok(None) {
                start_request::fulfil(app, wish);
            }
            #[cfg(target_os = "linux")]
            app.state::<instance::First>().open(app);
        }
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => {
            for url in urls {
                start_request::fulfil(app, link::parse(url.as_str()).map(Some));
            }
        }
        RunEvent::WindowEvent { label, event, .. } if label == window::LABEL => {
            on_window_event(app, &app_state, event)
        }
        // The last window closed. Quit carries a code, so it does not match here.
        RunEvent::ExitRequested { api, code: None, .. } if !app_state.is_unreachable() => api.prevent_exit(),
        RunEvent::Exit => {
            // Comes before the store is closed, which may take a moment. A start during that time must open a window.
            #[cfg(target_os = "linux")]
            app.state::<instance::First>().close();
            app_state.quit();
        }
        _ => {}
    }
}

fn on_window_event(app: &AppHandle, app_state: &AppState, event: &WindowEvent) {
    match event {
        WindowEvent::Focused(true) => {
            app_state.window_focused(true);
            app_state.look_again();
        }
        WindowEvent::Focused(false) => {
            app_state.window_focused(false);
            window::note_place(app);
            window::keep_place(app);
        }
        WindowEvent::Moved(_) | WindowEvent::Resized(_) | WindowEvent::CloseRequested { .. } => {
            window::note_place(app);
        }
        WindowEvent::Destroyed => {
            app_state.window_closed();
            // Without the window nothing says that the needs in the tray are made up.
            if app_state.demo().may_be_left() {
                let app = app.clone();
                std::thread::spawn(move || commands::leave_demo(&app));
            }
            app.state::<WindowMessages>().disconnect();
            window::keep_place(app);
        }
        _ => {}
    }
}
