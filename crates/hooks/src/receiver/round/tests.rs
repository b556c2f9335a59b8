//! Rounds with obstacles.

use std::sync::Mutex;

use super::*;

#[test]
fn a_file_that_is_no_event_is_counted_once_and_causes_no_further_rounds() {
    let dir = tempfile::tempdir().expect("a folder");
    let places = HookPaths::without_spares(dir.path());
    let envelope = |id| Envelope::new(id, clock::wall(), 1);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ids = Arc::clone(&heard);
    let listener = ReceiverSetup {
        options: Options::default(),
        exclude: Exclude::default(),
        forgotten: None,
        on_event: Box::new(move |event| ids.lock().expect("no thread panicked").push(event.origin.id)),
        on_trouble: Box::new(|| {}),
    };
    let mut state = ReceiverState::new(places.clone(), listener, Arc::default(), Arc::default());
    state.begin();
    // A folder takes the file's place, because root can read any file.
    std::fs::create_dir(places.spool().join(format!("{:020}-{:032x}.event", 1, 7))).expect("made");
    spool::write(&places.spool(), &envelope(8), &envelope(8).encode(b"{}")).expect("written");
    assert!(state.round(Vec::new()), "there is something new");
    assert!(!state.round(Vec::new()), "and nothing any more");
    assert_eq!(heard.lock().expect("no thread panicked").len(), 1);
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    assert_eq!((count(&state.counts.damaged), count(&state.counts.unkept)), (1, 0));
}

#[test]
fn nothing_is_stored_while_the_forgotten_list_is_unreadable_and_an_empty_journal_is_not_tidied() {
    let dir = tempfile::tempdir().expect("a folder");
    let places = HookPaths::without_spares(dir.path());
    let list = dir.path().join("list");
    let listener = ReceiverSetup {
        options: Options::default(),
        exclude: Exclude::default(),
        forgotten: Some(list.clone()),
        on_event: Box::new(|_| {}),
        on_trouble: Box::new(|| {}),
    };
    let mut state = ReceiverState::new(places.clone(), listener, Arc::default(), Arc::default());
    state.begin();
    assert_eq!(state.patience(), None, "nothing is there that could become old");
    std::fs::create_dir(&list).expect("in its place");
    let payload = br#"{"session_id":"s","hook_event_name":"Stop"}"#;
    let envelope = Envelope::new(1, clock::wall(), 1);
    spool::write(&places.spool(), &envelope, &envelope.encode(payload)).expect("written");
    assert!(state.round(Vec::new()));
    assert!(state.counts.in_trouble.load(Ordering::Relaxed));
    let spooled = || spool::list(&places.spool()).expect("it can be read").len();
    assert_eq!((spooled(), std::fs::read(places.journal()).expect("it can be read").len()), (1, 0));

    std::fs::remove_dir(&list).expect("gone");
    std::fs::write(&list, "1795000000123 another\n").expect("written");
    state.round(Vec::new());
    assert!(!state.counts.in_trouble.load(Ordering::Relaxed));
    assert_eq!(spooled(), 0);
    assert!(std::fs::read(places.journal()).expect("it can be read").ends_with(b"\"Stop\"}\n"));
    assert_eq!(state.patience(), Some(TIDYING));
}

#[test]
fn the_journal_has_no_texts_of_a_turn_whose_prompt_is_private_as_a_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    let places = HookPaths::without_spares(dir.path());
    let heard = Arc::new(Mutex::new(String::new()));
    let begin = || {
        let heard = Arc::clone(&heard);
        let listener = ReceiverSetup {
            options: Options { recent: Duration::ZERO },
            exclude: Exclude::default(),
            forgotten: None,
            on_event: Box::new(move |event| {
                heard.lock().expect("no thread panicked").push_str(&String::from_utf8_lossy(&event.payload));
            }),
            on_trouble: Box::new(|| {}),
        };
        let mut state = ReceiverState::new(places.clone(), listener, Arc::default(), Arc::default());
        state.begin();
        state
    };
    let mut order = 0;
    let mut send = |state: &mut ReceiverState, event: &str, rest: &str| {
        order += 1;
        let payload = format!(r#"{{"session_id":"s","cwd":"/x","hook_event_name":"{event}"{rest}}}"#);
        let envelope = Envelope::new(u128::from(order), clock::wall(), order);
        spool::write(&places.spool(), &envelope, &envelope.encode(payload.as_bytes())).expect("written");
        state.round(Vec::new());
    };
    let journal =
        || String::from_utf8(std::fs::read(places.journal()).expect("it can be read")).expect("text");
    let call = |word: &str| {
        format!(r#","tool_name":"Bash","tool_use_id":"t{word}","tool_input":{{"command":"{word}"}}"#)
    };
    let mut state = begin();
    send(&mut state, "UserPromptSubmit", r#","prompt":"<private></private>""#);
    send(&mut state, "PreToolUse", &call("SECRET"));
    send(
        &mut state,
        "PermissionRequest",
        r#","tool_name":"Bash","tool_input":{"command":"SECRET"},"permission_suggestions":["SECRET"]"#,
    );
    send(&mut state, "PreToolUse", &call("OTHERSECRET"));
    send(&mut state, "PostToolUse", &(call("SECRET") + r#","tool_response":{"stdout":"SECRET"}"#));
    send(&mut state, "PostToolUseFailure", &(call("SECRET") + r#","error":"SECRET""#));
    send(
        &mut state,
        "Notification",
        r#","notification_type":"permission_prompt","message":"Claude needs your permission""#,
    );
    let batch = format!(r#","tool_calls":[{{"x":1{}}}]"#, call("SECRET"));
    send(&mut state, "PostToolBatch", &batch);
    send(&mut state, "PostCompact", r#","compact_summary":"SECRET","trigger":"auto""#);
    send(&mut state, "PermissionDenied", &(call("SECRET") + r#","reason":"SECRET""#));
    let notice = "<task-notification><summary>SECRET ran</summary></task-notification>";
    send(&mut state, "UserPromptSubmit", &format!(r#","prompt":"{notice}""#));
    send(&mut state, "PreToolUse", &call("SECRET"));
    drop(state);
    // It goes on after a restart.
    let mut state = begin();
    let tasks =
        r#"[{"id":"b1","type":"shell","status":"running","command":"SECRET","description":"SECRET"}]"#;
    send(&mut state, "Stop", &format!(r#","last_assistant_message":"SECRET","background_tasks":{tasks}"#));
    assert!(journal().contains(r#"[{"id":"b1","type":"shell","status":"running"}]"#), "{}", journal());
    let kept = journal();
    assert!(!kept.replace("tSECRET", "").replace("tOTHERSECRET", "").contains("SECRET"), "{kept}");
    assert_eq!(
        heard.lock().expect("no thread panicked").matches("\"SECRET\"").count(),
        15,
        "who listens hears it"
    );
    let inputs: Vec<&str> = kept.split("\"private\":{\"id\":\"").skip(1).map(|rest| &rest[..16]).collect();
    assert_eq!(inputs.len(), 7);
    assert!(inputs[0] == inputs[1] && inputs[0] == inputs[3] && inputs[0] != inputs[2], "{inputs:?}");
    assert!(kept.contains("Claude needs your permission") && kept.contains("PermissionRequest"));
    send(&mut state, "UserPromptSubmit", r#","prompt":"a public one""#);
    send(&mut state, "PreToolUse", &call("PUBLIC"));
    assert!(journal().contains("\"PUBLIC\""), "the next turn is not private");
    // With the ids of prompts, a late event counts for its own turn.
    let of = |prompt: &str| format!(r#","prompt_id":"{prompt}""#);
    let quoted = r#","prompt":"<ide_opened_file>f</ide_opened_file><private></private>""#;
    send(&mut state, "UserPromptSubmit", &(of("p1") + quoted));
    send(&mut state, "UserPromptSubmit", &(of("p2") + r#","prompt":"a public one""#));
    send(&mut state, "PostToolUse", &(of("p1") + &call("LATE")));
    send(&mut state, "PostToolUse", &(of("p2") + &call("SEEN")));
    let kept = journal();
    assert!(!kept.contains("\"LATE\"") && kept.contains("\"SEEN\""), "{kept}");
}
