//! Logs of sessions of your own that are forgotten, or that ran in an excluded folder: none stays, with and without a Watchbill.

use std::path::PathBuf;

use serde_json::json;

use crate::forget::until;
use crate::own::Place;
use crate::own_ended::{ended, has_ended, host_of};
use crate::tree::transcript;
use crate::with_serve::{Serve, ask};

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

#[test]
fn the_host_of_a_session_that_another_program_forgets_is_told_at_once() {
    for is_cleared in [false, true] {
        let later = "cccccccc-0000-4000-8000-000000000003";
        let place = Place::new();
        let own = place.starts("say this");
        let mut asked = vec![own.clone()];
        if is_cleared {
            assert_eq!(
                place.say(&["prompt", &own, "--wait", &format!("clear {later} and say that")]).code,
                0
            );
            asked.push(later.to_owned());
        }
        let host = host_of(&place, &own);
        let folder = place.home.data().join("own").join(&own);
        let serve = Serve::of(&place.home);
        let gone = ask(&place.home, &json!({ "id": "1", "request": "forget", "sessions": asked })).unwrap();
        assert_eq!(gone["reply"]["sessions"].as_array().unwrap().len(), asked.len(), "{gone}");
        until("the host to be told", || folder.join("unwanted").exists());
        assert!(folder.join("log").exists(), "the agent works on");
        drop(serve);
        assert_eq!(place.say(&["stop", &own]).code, 0);
        until("the end of the host", || has_ended(host));
        assert!(!folder.exists());
    }
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

#[test]
fn a_log_with_a_conversation_that_stays_is_not_forgotten() {
    let later = "cccccccc-0000-4000-8000-000000000003";
    for (is_running, with_serve) in [(true, true), (true, false), (false, true), (false, false)] {
        let case = format!("running: {is_running}, serve: {with_serve}");
        let place = Place::new();
        let own = place.starts("say this");
        assert_eq!(place.say(&["prompt", &own, "--wait", &format!("clear {later} and say that")]).code, 0);
        let host = host_of(&place, &own);
        if !is_running {
            assert_eq!(place.say(&["stop", &own]).code, 0);
            until("the end of the host", || has_ended(host));
        }
        // The older conversation is stored, and older than the log.
        let record = json!({
            "type": "user", "uuid": "u", "timestamp": "2026-01-01T10:00:00.000Z", "cwd": "/home/dev/work",
            "sessionId": own, "message": { "role": "user", "content": "say this" },
        });
        transcript(&place.home.claude(), &own, &[record]);
        assert_eq!(place.say(&["index"]).code, 0);
        let folder = place.home.data().join("own").join(&own);
        let before = std::fs::read(folder.join("log")).unwrap();
        let serve = with_serve.then(|| Serve::of(&place.home));
        for (asked, other) in [(&*own, later), (&own[..8], later), (later, &own)] {
            for how in ["--dry-run", "--yes"] {
                let said = place.say(&["forget", asked, how]);
                let says = said.err.contains("one log") && said.err.contains(other);
                assert!(said.code == 1 && says, "{case}: {}", said.err);
            }
        }
        if with_serve {
            let asked = json!({ "id": "1", "request": "forget", "sessions": [own] });
            let refused = ask(&place.home, &asked).unwrap();
            assert_eq!(refused["error"]["code"], "conflict", "{case}: {refused}");
            let asked = json!({ "id": "1", "request": "forget_before", "before": "2026-02-01T00:00:00Z" });
            let left = ask(&place.home, &asked).unwrap();
            assert_eq!(left["reply"]["sessions"], json!([]), "{case}: {left}");
        }
        let before_a_time = ["forget", "--before", "2026-02-01T00:00:00Z", "--yes", "--json"];
        assert_eq!(place.json(&before_a_time)["sessions"], json!([]), "{case}");
        assert_eq!(std::fs::read(folder.join("log")).unwrap(), before, "{case}");
        assert!(!folder.join("unwanted").exists(), "{case}");
        let mut both = [&*own, later].map(str::to_owned);
        both.sort();
        let gone = place.json(&["forget", &own, later, "--yes", "--json"]);
        assert_eq!(gone["sessions"], json!(both), "{case}");
        if is_running {
            assert_eq!(place.say(&["stop", &own]).code, 0);
            until("the end of the host", || has_ended(host));
        }
        drop(serve);
        assert!(!folder.exists(), "{case}");
    }
}

#[test]
fn all_conversations_of_an_old_log_go_with_those_before_a_time() {
    let later = "cccccccc-0000-4000-8000-000000000003";
    let place = Place::new();
    let own = place.starts("say this");
    assert_eq!(place.say(&["prompt", &own, "--wait", &format!("clear {later} and say that")]).code, 0);
    let host = host_of(&place, &own);
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("the end of the host", || has_ended(host));
    let mut both = [&*own, later].map(str::to_owned);
    both.sort();
    let gone = place.json(&["forget", "--before", "2099-01-01T00:00:00Z", "--yes", "--json"]);
    assert_eq!(gone["sessions"], json!(both));
    assert!(!place.home.data().join("own").join(&own).exists());
}

#[test]
fn a_beginning_of_a_stored_and_of_another_own_session_names_none() {
    let place = Place::new();
    let stored = |begin: &str| format!("{begin}0000000-0000-4000-8000-000000000004");
    for begin in "0123456789abcdef".chars() {
        let id = stored(&begin.to_string());
        let record = json!({
            "type": "user", "uuid": "u", "timestamp": "2026-01-01T10:00:00.000Z", "cwd": "/home/dev/work",
            "sessionId": id, "message": { "role": "user", "content": "other words" },
        });
        transcript(&place.home.claude(), &id, &[record]);
    }
    assert_eq!(place.say(&["index"]).code, 0);
    // Of this one nothing is stored.
    let own = place.starts("say this");
    let (begin, host) = (&own[..1], host_of(&place, &own));
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("the end of the host", || has_ended(host));
    let said = place.say(&["forget", begin, "--yes"]);
    let says = format!("`{begin}` begins several stored sessions: ");
    assert!(said.code == 1 && said.err.contains(&says), "{} {}", said.err, said.out);
    assert!(said.err.contains(&own) && said.err.contains(&stored(begin)), "{}", said.err);
    assert!(place.home.data().join("own").join(&own).exists());
    assert_eq!(place.json(&["forget", &own, "--yes", "--json"])["sessions"], json!([own]));
    assert!(!place.home.data().join("own").join(&own).exists());
    assert_eq!(place.json(&["forget", begin, "--yes", "--json"])["sessions"], json!([stored(begin)]));
}
