//! `watchbill hook --answer`: one request of the agent, from its pipe to the program that holds the store, and the user's
//! answer back.
//!
//! The agent shows its own dialog meanwhile and takes the first answer. So this process ends with nothing whenever it
//! cannot get an answer: no program listens, the connection breaks, the request has ended. A signal of the client ends it, and
//! the closed connection tells the engine.

use std::ffi::OsString;
use std::io::{Read, Write};

use watchbill_engine::socket::access::CommandId;
use watchbill_engine::socket::client::Client;
use watchbill_hooks::sender::HookArguments;
use watchbill_hooks::{ancestors, clock, places};
use watchbill_protocol::socket::{AskCall, ClientProcess, MAX_CALL_BYTES};

/// The option that makes `watchbill hook` wait for an answer.
pub const ANSWER: &str = "--answer";

/// Reads a payload from standard input, waits for the answer, prints it. It never fails and never panics out.
pub fn run(words: impl IntoIterator<Item = OsString>) {
    std::panic::set_hook(Box::new(|_| {}));
    let errand = HookArguments::parse(words);
    // After any failure, the dialog in the terminal stays.
    let _ = std::panic::catch_unwind(|| ask(&errand));
}

fn ask(errand: &HookArguments) -> Option<()> {
    let order = clock::since_boot();
    let env = |name: &str| std::env::var_os(name);
    // Such a client waits for its hooks before it refuses the call. An answer from here would be the only one.
    if ancestors::has_no_dialogs(&env) {
        return None;
    }
    let data_dir = errand.data_dir.clone().or_else(|| places::default_data_dir(&env))?;
    let mut client = Client::connect(&data_dir)?;
    let mut payload = String::new();
    // Half of a line stays for the sender's own fields. A longer payload is cut, so it is not valid JSON, and only the
    // terminal asks.
    std::io::stdin().lock().take(MAX_CALL_BYTES / 2).read_to_string(&mut payload).ok()?;
    let above = ancestors::look(&ancestors::ClientSigns::from_env(&env));
    let ask = CommandId::new().to_string();
    let call = AskCall {
        ask: ask.clone(),
        payload,
        client: above.agent.map(|agent| ClientProcess {
            pid: agent.pid,
            start: agent.proc_start.map(|start| start.to_string()),
        }),
        ancestors: above.ancestors.iter().map(|ancestor| ancestor.pid).collect(),
        order,
    };
    let output = client.ask(call).ok()??;
    let mut standard_output = std::io::stdout().lock();
    writeln!(standard_output, "{output}").and_then(|()| standard_output.flush()).ok()?;
    client.printed(&ask).ok()
}
