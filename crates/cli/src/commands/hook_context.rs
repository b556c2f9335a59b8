//! `watchbill hook --context`: asks the program that holds the store what to tell the agent, and prints it.
//!
//! The agent waits meanwhile. So this process waits for one socket only, and not for long. When no program answers in time, it
//! prints nothing. Its exit code is always 0.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;
use watchbill_agents::{hook_traits, hooks, process};
use watchbill_engine::socket::client::Client;
use watchbill_history::memory::context::Payload;
use watchbill_hooks::places;
use watchbill_hooks::sender::HookArguments;
use watchbill_protocol::memory::{ContextCall, ContextText};

/// The option that makes `watchbill hook` tell the agent something.
pub const CONTEXT: &str = "--context";
/// Hidden option: another limit for the answer, in milliseconds. Tests use it on busy machines.
const WITHIN: &str = "--within";

/// The longest payload that is read, in bytes. It may hold a whole file that the agent wrote.
const MAX_PAYLOAD_BYTES: u64 = 8 << 20;
/// Characters of a prompt that are passed on.
const PROMPT: usize = 8_000;
/// How long to wait for an answer at the start of a session, and otherwise.
const AT_START: Duration = Duration::from_millis(150);
const ELSE: Duration = Duration::from_millis(40);

/// Reads a payload from standard input and prints what to tell the agent, if anything. It never fails and never panics out.
pub fn run(words: impl IntoIterator<Item = OsString>) {
    std::panic::set_hook(Box::new(|_| {}));
    let words: Vec<OsString> = words.into_iter().collect();
    let _ = std::panic::catch_unwind(|| tell(&words));
}

/// The limit that a test names.
pub(super) fn within(words: &[OsString]) -> Option<Duration> {
    let at = words.iter().position(|word| word == WITHIN)?;
    Some(Duration::from_millis(words.get(at + 1)?.to_str()?.parse().ok()?))
}

fn tell(words: &[OsString]) -> Option<()> {
    let env = |name: &str| std::env::var_os(name);
    let within = within(words);
    let arguments = HookArguments::parse(words.iter().cloned());
    // The user does not see what an agent without dialogs does, so tell it nothing.
    if process::has_no_dialogs(arguments.agent, &env)
        || env("WATCHBILL_MEMORY").is_some_and(|word| word == "off")
    {
        return None;
    }
    let data_dir = arguments.data_dir.or_else(|| places::default_data_dir(&env))?;
    let mut payload = String::new();
    std::io::stdin().lock().take(MAX_PAYLOAD_BYTES).read_to_string(&mut payload).ok()?;
    let form = hook_traits(arguments.agent).other_form;
    if let Some(form) = form {
        payload = String::from_utf8((form.translate)(payload.as_bytes())?).ok()?;
    }
    if hooks::is_borrowed(arguments.agent, &env, payload.as_bytes()) {
        return None;
    }
    let event = hooks::parse(arguments.agent, payload.as_bytes());
    let mut payload: Payload = serde_json::from_str(&payload).ok()?;
    let name = payload.hook_event_name.clone();
    // The words of another agent are told in ours, and the answer in its own. A payload with a big file is too long to be an event.
    if let Ok(event) = event {
        payload.hook_event_name = event.event.name().to_owned();
        payload.session_id = event.session.to_string();
        payload.tool_name = event.event.call().map(|call| call.tool.to_string());
    }
    if let Some(prompt) = &mut payload.prompt {
        prompt.truncate(prompt.floor_char_boundary(PROMPT));
    }
    let limit = match (within, &*payload.hook_event_name) {
        (Some(within), _) => within,
        (None, "SessionStart") => AT_START,
        (None, _) => ELSE,
    };
    let call = ContextCall { payload: serde_json::to_string(&payload).ok()? };
    let (answered, answers) = channel::<(Client, ContextText)>();
    // A holder that hangs keeps only this thread waiting, and the end of the process ends it.
    std::thread::Builder::new()
        .spawn(move || {
            let mut client = Client::connect(&data_dir)?;
            let text = client.context(call).ok()??;
            answered.send((client, text)).ok()
        })
        .ok()?;
    let (mut client, text) = answers.recv_timeout(limit).ok()?;
    let mut output: serde_json::Value = serde_json::from_str(&text.output).ok()?;
    let told = &mut output["hookSpecificOutput"];
    match form {
        Some(form) => output = json!({ form.context_field: told["additionalContext"] }),
        None => told["hookEventName"] = name.into(),
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{output}").and_then(|()| out.flush()).ok()?;
    client.send_context_printed(&text.answer);
    Some(())
}
