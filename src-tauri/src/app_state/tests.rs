//! Engines that end, are started again, or are replaced while a window is open.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use tauri::ipc::InvokeResponseBody;
use watchbill_settings::{CommandLineOptions, resolve_settings};

use super::*;

/// A window's channel, and the `type` of each message that comes through it.
fn window() -> (Channel<RosterMessage>, Receiver<String>) {
    let (sender, seen) = channel();
    let line = Channel::new(move |body| {
        let InvokeResponseBody::Json(text) = body else { panic!("a roster message is JSON") };
        let value: serde_json::Value = serde_json::from_str(&text)?;
        // The test may have ended already.
        let _ = sender.send(value["type"].as_str().unwrap_or_default().to_owned());
        Ok(())
    });
    (line, seen)
}

fn hears(seen: &Receiver<String>, wanted: &str) {
    // The timeout suits a real engine on a busy machine. Other messages before the wanted one do not matter.
    while let Ok(kind) = seen.recv_timeout(Duration::from_secs(30)) {
        if kind == wanted {
            return;
        }
    }
    panic!("no {wanted} came");
}

fn settings_of(home: &Path) -> Settings {
    let given = CommandLineOptions {
        roots: vec![home.join("claude").into()],
        data_dir: Some(home.join("data")),
        config: None,
    };
    resolve_settings(&given, &|name| (name == "HOME").then(|| home.into())).expect("settings")
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_ends_by_itself_is_started_again_and_the_second_time_after_a_pause() {
    let home = tempfile::tempdir().expect("a folder");
    let first = engine::open(settings_of(home.path())).expect("a thread");
    let app_state = AppState::new(first.clone(), false, None);
    let begun = tokio::time::Instant::now();
    first.stop();
    app_state.engine_ended(first.clone()).await;
    let second = current(&app_state.engine);
    assert!(second.roster(true).is_ok(), "it runs although no window is open");
    assert_eq!(begun.elapsed(), Duration::ZERO, "at once");

    // The end of an engine that was already replaced changes nothing.
    app_state.engine_ended(first).await;
    assert!(second.roster(true).is_ok());

    second.stop();
    app_state.engine_ended(second).await;
    assert!(begun.elapsed() > Duration::ZERO, "it ended soon after it began");
    let third = current(&app_state.engine);
    assert!(third.roster(true).is_ok());
    third.stop();
}

#[test]
fn an_engine_that_has_ended_is_started_again_by_a_window_that_asks() {
    let home = tempfile::tempdir().expect("a folder");
    let settings = settings_of(home.path());
    let engine = engine::open(settings.clone()).expect("a thread");
    let app_state = AppState::new(engine.clone(), false, None);
    let (line, seen) = window();
    app_state.show_roster(line, false).expect("an engine");
    hears(&seen, "snapshot");

    engine.stop();
    hears(&seen, "stopped");

    // "Try again": the page asks for the roster as it did at first.
    let (line, seen) = window();
    app_state.show_roster(line, false).expect("another engine");
    hears(&seen, "snapshot");
    let again = current(&app_state.engine);
    assert!(!again.stopped()(), "it is another one, and it runs");
    assert_eq!(*again.settings(), settings, "with the settings that were in force");
    assert!(again.roster(true).is_ok());
    again.stop();
}

#[test]
fn a_mute_for_an_hour_ends_in_an_hour_of_the_engines_clock() {
    let app_state = AppState::new(engine::demo().expect("a thread"), true, None);
    let engine = current(&app_state.engine);
    let at = |text: &str| Timestamp::parse(text).expect("a time");
    let before = at(&engine.roster(false).expect("it runs").generated_at);
    let hour = Millis::from_secs(3_600);
    async_runtime::block_on(app_state.mute_for(hour)).expect("nothing has to be kept");
    let after = engine.roster(false).expect("it runs");
    let until = at(&after.muted_until.expect("it is muted"));
    assert!(before + hour <= until && until <= at(&after.generated_at) + hour, "{before} {until}");
    engine.stop();
}

#[test]
fn after_a_change_of_roots_the_service_over_http_asks_the_new_engine() {
    let home = tempfile::tempdir().expect("a folder");
    let mut settings = settings_of(home.path());
    settings.service.http = true;
    let app_state = AppState::new(engine::open(settings.clone()).expect("a thread"), false, None);
    app_state.serve_http();
    let before = app_state.http().state().token.expect("it serves");
    settings.roots = vec![home.path().join("elsewhere").into()];
    app_state.apply(&settings).expect("an engine");
    let after = app_state.http().state().token.expect("it serves again");
    assert_ne!(before, after, "the service of the engine before has ended");
    app_state.quit();
}
