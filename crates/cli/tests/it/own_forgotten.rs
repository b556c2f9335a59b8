//! Logs of sessions of your own that are forgotten, or that ran in an excluded folder: none stays, with and without a Watchbill.

use std::path::PathBuf;

use serde_json::json;

use crate::forget::until;
use crate::own::Place;
use crate::own_ended::{ended, has_ended, host_of};
use crate::with_serve::Serve;

/// Excludes the working folder from now on.
fn exclude(place: &Place) {
    let config = format!("[store]\nexclude = [\"{}\"]\n[answers]\nscripts = true\n", place.work().display());
    std::fs::write(place.home.path().join("config.toml"), config).unwrap();
}

#[test]
fn a_session_that_no_watchbill_stored_is_forgotten() {
    for (is_running, with_serve) in [(false, false), (false, true), (true, false), (true, true)] {
        let case = format!("running: {is_running}, serve: {with_serve}");
        let place = Place::new();
        let (own, host) = match is_running {
            true => (place.starts("slow work"), true),
            false => (ended(&place).0, false),
        };
        let folder = place.home.data().join("own").join(&own);
        let host = host.then(|| host_of(&place, &own));
        let serve = with_serve.then(|| Serve::of(&place.home));
        let would = place.json(&["forget", &own[..8], "--dry-run", "--json"]);
        assert_eq!((&would["sessions"], &would["dryRun"]), (&json!([own]), &json!(true)), "{case}");
        assert!(folder.join("log").exists(), "{case}");
        let gone = place.json(&["forget", &own[..8], "--yes", "--json"]);
        assert_eq!(gone["sessions"], json!([own]), "{case}");
        if let Some(host) = host {
            // The agent works on, and its host needs the log.
            assert!(folder.join("log").exists(), "{case}");
            // No Watchbill is there when it ends.
            drop(serve);
            let stopped = place.say(&["stop", &own]);
            assert_eq!((stopped.code, &*stopped.err), (0, ""), "{case}");
            until("the end of the host", || has_ended(host));
        }
        assert!(!folder.exists(), "{case}");
        assert_eq!(place.rows(), Vec::<serde_json::Value>::new(), "{case}");
        let again = place.say(&["forget", &own, "--yes"]);
        assert!(again.code == 1 && again.err.contains("no stored session"), "{case}: {}", again.err);
    }
}

#[test]
fn sessions_before_a_time_are_forgotten_whether_stored_or_not() {
    for is_stored in [false, true] {
        let place = Place::new();
        let (own, ..) = ended(&place);
        let since_then =
            place.json(&["roster", "--all", "--json"])["generatedAt"].as_str().unwrap().to_owned();
        let running = place.starts("slow work");
        let before = |time: &str| place.json(&["forget", "--before", time, "--yes", "--json"]);
        if is_stored {
            assert_eq!(place.say(&["index"]).code, 0);
            assert_eq!(before("2020-01-01T00:00:00Z")["sessions"], json!([]));
        }
        let path = |own: &str| place.home.data().join("own").join(own).join("log");
        assert!(path(&own).exists());
        // A session that runs and is not stored has no time.
        let time = if is_stored { &*since_then } else { "2099-01-01T00:00:00Z" };
        assert_eq!(before(time)["sessions"], json!([own]), "{is_stored}");
        assert!(!path(&own).exists() && path(&running).exists());
    }
}

#[test]
fn a_session_that_may_be_stored_again_keeps_its_log() {
    let place = Place::new();
    let own = place.starts("slow work");
    let host = host_of(&place, &own);
    assert_eq!(place.say(&["forget", &own, "--yes"]).code, 0);
    assert_eq!(place.say(&["forget", "--again", &own]).code, 0);
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("the end of the host", || has_ended(host));
    assert_eq!(place.row()["state"], "ended");
}

/// Starts a session in an excluded folder, and gives its id and its folder.
fn excluded(place: &Place) -> (String, PathBuf) {
    exclude(place);
    let said = place.say(&["run", "--wait", "say this"]);
    assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
    let folder = std::fs::read_dir(place.home.data().join("own")).unwrap().flatten();
    let folder = folder.map(|entry| entry.path()).find(|path| path.join("spec.json").exists()).unwrap();
    (folder.file_name().unwrap().to_string_lossy().into_owned(), folder)
}

#[test]
fn a_log_stays_if_its_folder_is_not_excluded_any_more() {
    let place = Place::new();
    let (own, folder) = excluded(&place);
    assert!(folder.join("unwanted").exists());
    std::fs::write(place.home.path().join("config.toml"), "[answers]\nscripts = true\n").unwrap();
    let serve = Serve::of(&place.home);
    until("the host to be told", || !folder.join("unwanted").exists());
    drop(serve);
    let host = host_of(&place, &own);
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("the end of the host", || has_ended(host));
    assert!(folder.join("log").exists());
}

#[test]
fn a_log_of_an_excluded_folder_goes_without_a_watchbill() {
    // Excluded before it began.
    let place = Place::new();
    let (own, folder) = excluded(&place);
    assert!(folder.join("log").exists(), "its host needs it");
    let host = host_of(&place, &own);
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("the end of the host", || has_ended(host));
    assert!(!folder.exists());
    // Excluded after its end, and while it ran.
    let place = Place::new();
    let (own, ..) = ended(&place);
    let running = place.starts("slow work");
    exclude(&place);
    let host = host_of(&place, &running);
    assert_eq!(place.say(&["index"]).code, 0);
    let path = |own: &str| place.home.data().join("own").join(own);
    assert!(!path(&own).exists() && path(&running).join("log").exists());
    assert_eq!(place.say(&["stop", &running]).code, 0);
    until("the end of the host", || has_ended(host));
    assert!(!path(&running).exists());
}
