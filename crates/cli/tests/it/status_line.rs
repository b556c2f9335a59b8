//! `watchbill statusline` as the client runs it: the person's own status line stays as it was, and the roster learns what the client
//! says.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::forget::{GONE, STAYS, two_sessions, until};
use crate::home::Home;
use crate::tree::{append, now};
use crate::with_serve::Serve;

/// What the client writes: the fields that are read, and how long a text in it is.
fn payload(home: &Home, text: usize) -> Vec<u8> {
    let transcript = home.claude().join("projects/-home-dev-x").join(format!("{STAYS}.jsonl"));
    json!({
        "session_id": STAYS, "transcript_path": transcript, "cwd": home.path(), "session_name": "n".repeat(text),
        "model": {"id": "opus", "display_name": "Opus"}, "cost": {"total_cost_usd": 1.25},
        "context_window": {"total_input_tokens": 71_000, "context_window_size": 200_000, "used_percentage": 35},
        "rate_limits": {
            "five_hour": {"used_percentage": 42.4, "resets_at": in_an_hour()},
            "seven_day": {"used_percentage": 7, "resets_at": in_an_hour()},
        },
        "pr": {"number": 318, "url": "https://example.invalid/pull/318", "review_state": "approved"},
    })
    .to_string()
    .into_bytes()
}

/// An hour from now on, in seconds. All payloads of a test have the same.
fn in_an_hour() -> u64 {
    static TIME: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    *TIME.get_or_init(|| now() + 3_600)
}

/// Runs a line as the client does: through a shell, in the working folder.
fn drawn(home: &Home, line: &str, payload: &[u8]) -> Output {
    let mut command = Command::new("/bin/sh");
    command.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin").env("COLUMNS", "140");
    command.arg("-c").arg(line).current_dir(home.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A command need not read it.
        scope.spawn(move || input.write_all(payload));
        child.wait_with_output().unwrap()
    })
}

/// The status line that is set.
fn set(path: &Path) -> String {
    let settings: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    settings["statusLine"]["command"].as_str().unwrap().to_owned()
}

#[test]
fn a_persons_own_status_line_is_drawn_as_before_and_uninstalling_restores_every_byte() {
    let home = two_sessions();
    let path = home.claude().join("settings.json");
    let _serve = Serve::of(&home);
    for (own, text) in [
        (r#"cat; printf '\033[31mred\033[0m\n\n\377\200 it'"'"'s\n'; echo gone >&2; exit 3"#, 10),
        ("exec cat", 300_000),
        ("read -r line; printf %s \"$line\" | wc -c", 40_000),
        ("true", 300_000),
        ("echo $COLUMNS; pwd; [ -p /dev/stdin ] || exit 4", 10),
        ("kill -9 $$", 10),
        ("kill -11 $$", 10),
        ("echo $PPID; exec sh -c 'echo $PPID'", 10),
        ("/no/such/program --dir \"a\\b\"", 10),
        ("printf 'a -- %s' '$HOME' | tr a-z A-Z", 10),
    ] {
        let before =
            format!("{{ // mine\n\t\"statusLine\": {{\"command\": {}, \"padding\": 1}}}}", json!(own));
        fs::write(&path, &before).unwrap();
        let said = home.out(&["hooks", "install", "--statusline"]);
        assert!(said.contains("hooks uninstall --statusline"), "{said}");
        let installed = fs::read_to_string(&path).unwrap();
        let line = set_in(&installed);
        assert_ne!(line, own);
        let payload = payload(&home, text);
        let (alone, wrapped) = (drawn(&home, own, &payload), drawn(&home, &line, &payload));
        assert_eq!((wrapped.status, &wrapped.stdout), (alone.status, &alone.stdout), "{own}");
        assert_eq!(
            String::from_utf8_lossy(&wrapped.stderr).replace("1: ", ""),
            String::from_utf8_lossy(&alone.stderr).replace("1: ", ""),
            "{own}"
        );
        assert!(home.out(&["hooks", "status"]).contains("before your status line"));
        home.out(&["hooks", "uninstall", "--statusline"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
}

/// The status line of settings with a comment.
fn set_in(settings: &str) -> String {
    let plain: Value = serde_json::from_str(&settings.replace("// mine", "")).unwrap();
    plain["statusLine"]["command"].as_str().unwrap().to_owned()
}

#[test]
fn a_line_that_was_changed_by_hand_stays_and_a_projects_scope_is_refused() {
    let home = two_sessions();
    let path = home.claude().join("settings.json");
    let program = env!("CARGO_BIN_EXE_watchbill");
    for own in ["\\\"mine\\\"", "mine", " 'mine'"] {
        let before = format!(
            r#"{{"a": 1, "statusLine": {{"command": "exec {program} statusline -- {own}", "padding": 0}}}}"#
        );
        fs::write(&path, &before).unwrap();
        home.run_watchbill(&["hooks", "uninstall", "--statusline"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
        home.out(&["hooks", "install", "--statusline"]);
        home.out(&["hooks", "uninstall", "--statusline"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
    let refused = home.run_watchbill(&["hooks", "install", "--statusline", "--scope", "local"]);
    assert!(refused.err.contains("would hide yours"), "{}", refused.err);
}

#[test]
fn without_a_line_of_ones_own_nothing_is_printed_and_the_key_goes_again() {
    let home = two_sessions();
    let path = home.claude().join("settings.json");
    home.out(&["hooks", "install", "--statusline"]);
    let drawn = drawn(&home, &set(&path), &payload(&home, 10));
    assert_eq!((drawn.status.code(), &drawn.stdout[..], &drawn.stderr[..]), (Some(0), &b""[..], &b""[..]));
    // The program is gone: the doctor says it too.
    let lost =
        fs::read_to_string(&path).unwrap().replace(env!("CARGO_BIN_EXE_watchbill"), "/no/such/watchbill");
    fs::write(&path, lost).unwrap();
    let said = home.out(&["doctor"]);
    assert!(said.contains("its program is gone, so none is drawn; `watchbill hooks install"), "{said}");
    assert!(said.contains("--statusline` mends that"), "{said}");
    let said = home.out(&["hooks", "uninstall", "--statusline"]);
    assert!(said.starts_with("Watchbill taken out of the status line in "), "{said}");
    assert!(!path.exists());
    let said = home.out(&["hooks", "uninstall", "--statusline"]);
    assert!(said.starts_with("no status line of ours in "), "{said}");
}

#[test]
fn what_the_client_says_is_in_the_roster_and_in_the_status() {
    let home = two_sessions();
    let path = home.claude().join("settings.json");
    home.out(&["hooks", "install", "--statusline"]);
    let line = set(&path);
    let serve = Serve::of(&home);
    let row = |home: &Home| {
        let roster = home.json(&["roster", "--json", "--all"]);
        let row =
            roster["sessions"].as_array().unwrap().iter().find(|row| row["sessionId"] == STAYS).cloned();
        (row.unwrap_or_default(), roster["limits"].clone())
    };
    until("the client's word in the roster", || {
        // A machine that is too busy to take a word gets the next one.
        drawn(&home, &line, &payload(&home, 10));
        row(&home).1.is_array()
    });
    let (session, limits) = row(&home);
    assert_eq!(session["context"], json!({"used": 71_000, "size": 200_000, "percent": 35.0}));
    assert_eq!(session["cost"], json!({"usd": 1.25, "by": "client"}));
    assert_eq!(session["pullRequest"]["review"], "approved");
    let shown = |limit: &Value| (limit["agent"].clone(), limit["minutes"].clone(), limit["percent"].clone());
    let shown: Vec<_> = limits.as_array().unwrap().iter().map(shown).collect();
    let expected = [(300, 42.4), (10_080, 7.0)]
        .map(|(minutes, percent)| (json!("claude"), json!(minutes), json!(percent)));
    assert_eq!(shown, expected);
    let status = home.out(&["status"]);
    assert!(status.contains("; Claude Code 42 % of 5 hours and 7 % of the week used"), "{status}");
    let mut of_status = limits.clone();
    for limit in of_status.as_array_mut().unwrap() {
        limit.as_object_mut().unwrap().remove("growth").unwrap();
    }
    assert_eq!(home.json(&["status", "--format", "json"])["limits"], of_status);
    drop(serve);
    // The journal has the word, so a look without a running program knows it, and so does the next start.
    assert_eq!(row(&home).1, limits);
    let _again = Serve::of(&home);
    until("the word after a restart", || row(&home) == (session.clone(), limits.clone()));
}

#[test]
fn the_growth_between_two_words_goes_to_those_who_asked_the_model_meanwhile() {
    let home = two_sessions();
    home.out(&["hooks", "install", "--statusline"]);
    let line = set(&home.claude().join("settings.json"));
    let asks = |session: &str, request: &str, tokens: u32| {
        let usage = json!({"input_tokens": tokens, "output_tokens": 0});
        let record = json!({
            "type": "assistant", "uuid": request, "timestamp": now().to_string(), "sessionId": session, "requestId": request,
            "message": {"id": request, "role": "assistant", "model": "of-ones-own", "usage": usage, "content": [{"type": "text", "text": "x"}]},
        });
        let path = format!("projects/-home-dev-x/{session}.jsonl");
        append(&home.claude(), Path::new(&path), &format!("{record}\n"));
    };
    let says = |percent: &str| {
        let payload = String::from_utf8(payload(&home, 10)).unwrap().replace("42.4", percent);
        until("the word", || {
            drawn(&home, &line, payload.as_bytes());
            let limit = home.json(&["roster", "--json", "--all"])["limits"][0]["percent"].clone();
            limit.as_f64() == percent.parse().ok()
        });
    };
    let serve = Serve::of(&home);
    asks(GONE, "first", 100);
    asks(STAYS, "second", 300);
    says("20");
    asks(GONE, "third", 100);
    says("50");
    let limits = home.json(&["limits", "--json"]);
    let five = &limits[0];
    let share = |n: usize| {
        let number = |name: &str| five["shares"][n][name].as_f64().unwrap();
        (five["shares"][n]["sessionId"].as_str().unwrap(), number("percent"), number("lastHour"))
    };
    assert_eq!((share(0), share(1)), ((GONE, 35.0, 35.0), (STAYS, 15.0, 15.0)), "{limits}");
    assert_eq!((&five["limit"]["percent"], &five["rest"]), (&json!(50.0), &json!(0.0)));
    let text = home.out(&["limits"]);
    assert!(text.starts_with("Claude Code: 50 % of 5 hours used, as said at "), "{text}");
    assert!(text.contains("   35 %   35 % in the last hour  goneword at first\n"), "{text}");
    drop(serve);
    // The journal has the words, and the store the requests.
    assert_eq!(home.json(&["limits", "--json"]), limits);
}

#[test]
fn nothing_is_kept_while_no_program_runs() {
    let home = two_sessions();
    home.out(&["hooks", "install", "--statusline"]);
    let line = set(&home.claude().join("settings.json"));
    drawn(&home, &line, &payload(&home, 10));
    for garbage in [&b""[..], b"{", b"null", b"\xff\xfe", b"{}"] {
        assert_eq!(drawn(&home, &line, garbage).status.code(), Some(0));
    }
    assert!(home.json(&["roster", "--json", "--all"])["limits"].is_null());
    assert_eq!(home.json(&["hooks", "status", "--json"])["health"]["waiting"], 0);
}
