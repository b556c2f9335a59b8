//! `watchbill hook --answer`: one request of the agent, from its pipe to the program that holds the store, and the user's
//! answer back.
//!
//! Claude Code shows its own dialog meanwhile and takes the first answer; Codex shows it when this process has ended without an
//! answer, so it does not wait for long. This process ends with nothing whenever it
//! cannot get an answer: no program listens, or one that the agent itself started, the connection breaks, the request has ended. A signal of the client ends it, and so
//! does the end of the client, also while the engine hangs. The closed connection tells the engine.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::hook_context::within;
use watchbill_agents::{hook_traits, process, requests};
use watchbill_engine::socket::access::CommandId;
use watchbill_engine::socket::client::Client;
use watchbill_hooks::sender::HookArguments;
use watchbill_hooks::{ancestors, places};
use watchbill_platform::clock;
use watchbill_protocol::socket::{AskCall, ClientProcess, MAX_CALL_BYTES};

/// The option that makes `watchbill hook` wait for an answer.
pub const ANSWER: &str = "--answer";

/// Reads a payload from standard input, waits for the answer, prints it. It never fails and never panics out.
pub fn run(words: impl IntoIterator<Item = OsString>) {
    std::panic::set_hook(Box::new(|_| {}));
    let words: Vec<OsString> = words.into_iter().collect();
    let within = within(&words);
    let arguments = HookArguments::parse(words);
    // After any failure, the dialog in the terminal stays.
    let _ = std::panic::catch_unwind(|| ask(&arguments, within));
}

fn ask(arguments: &HookArguments, within: Option<Duration>) -> Option<()> {
    if arguments.is_for_unknown {
        return None;
    }
    let (agent, hooks) = (arguments.agent, hook_traits(arguments.agent));
    let order = clock::since_boot();
    let env = |name: &str| std::env::var_os(name);
    // Such a client waits for its hooks before it refuses the call. An answer from here would be the only one.
    if process::has_no_dialogs(agent, &env) {
        return None;
    }
    let data_dir = arguments.data_dir.clone().or_else(|| places::default_data_dir(&env))?;
    let mut payload = String::new();
    // Half of a line stays for the sender's own fields. A longer payload is cut, so it is not valid JSON, and only the
    // terminal asks.
    std::io::stdin().lock().take(MAX_CALL_BYTES / 2).read_to_string(&mut payload).ok()?;
    // Before the connection: a program that hangs must not hold up a dialog that opens only when the hook has ended.
    if !requests::waits_for_answer(agent, payload.as_bytes()) {
        return None;
    }
    let limit = within.or(hooks.answer_wait.map(Duration::from_secs));
    let decided = Arc::new(AtomicBool::new(false));
    if let Some(limit) = limit {
        end_after(limit, &decided);
    }
    let signs = process::ClientSigns::from_env(agent, &env);
    let above = ancestors::look(&signs);
    if let Some(client) = signs.pid.or(above.agent.as_ref().map(|agent| agent.pid)) {
        end_with(client);
    }
    let mut client = Client::connect(&data_dir)?;
    // The agent would answer itself.
    if above.agent.as_ref().is_some_and(|agent| client.descends_from(agent.pid)) {
        return None;
    }
    let ask = CommandId::new().to_string();
    let call = AskCall {
        agent,
        ask: ask.clone(),
        payload,
        client: above.agent.filter(|_| hooks.are_of_process).map(|agent| ClientProcess {
            pid: agent.pid,
            start: agent.proc_start.map(|start| start.to_string()),
        }),
        ancestors: above.ancestors.iter().map(|ancestor| ancestor.pid).collect(),
        order,
        project: process::project(agent, &env),
    };
    let output = client.ask(call).ok()??;
    if decided.swap(true, Ordering::AcqRel) {
        return None;
    }
    let mut standard_output = std::io::stdout().lock();
    writeln!(standard_output, "{output}").and_then(|()| standard_output.flush()).ok()?;
    client.send_printed(&ask);
    Some(())
}

/// Ends this process after a time, unless an answer has come by then.
fn end_after(limit: Duration, decided: &Arc<AtomicBool>) {
    let decided = Arc::clone(decided);
    let wait = move || {
        std::thread::sleep(limit);
        if !decided.swap(true, Ordering::AcqRel) {
            std::process::exit(0);
        }
    };
    let _ = std::thread::Builder::new().spawn(wait);
}

/// How long an engine has for that.
#[cfg(target_os = "linux")]
const GRACE: Duration = Duration::from_secs(3);

/// Ends this process when the agent has ended. A killed agent signals nothing, and an engine that hangs would not end the wait.
#[cfg(target_os = "linux")]
fn end_with(client: u32) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let pid = i32::try_from(client).ok().and_then(Pid::from_raw);
    // Without it, the engine notices the end of the agent.
    let Some(descriptor) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return };
    let wait = move || {
        while poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], None) == Err(rustix::io::Errno::INTR) {}
        // An engine that runs lists the request as expired, and ends this process at once.
        std::thread::sleep(GRACE);
        std::process::exit(0);
    };
    let _ = std::thread::Builder::new().spawn(wait);
}

/// Elsewhere the engine notices the end of the agent.
#[cfg(not(target_os = "linux"))]
fn end_with(_client: u32) {}
