//! `watchbill`, the command line: the roster and all facts about a session, for terminals and scripts.

#![forbid(unsafe_code)]

mod args;
mod commands;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod large_pages;
mod progress;
mod render;
mod terminal_text;
mod time_arguments;

use std::io::{IsTerminal, Write};

use clap::Parser;
use watchbill_hooks::install::command::STATUS_LINE;

fn main() -> std::process::ExitCode {
    if let Some(words) = words_after("hook") {
        // The agent is asked as a model: that is no session of the user.
        if std::env::var_os("WATCHBILL_MEMORY").is_some_and(|word| word == "own") {
            return std::process::ExitCode::SUCCESS;
        }
        let words: Vec<_> = words.collect();
        // The exit code is always 0: the agent takes any other for a veto.
        if words.iter().any(|word| word == commands::hook_answer::ANSWER) {
            commands::hook_answer::run(words);
            return std::process::ExitCode::SUCCESS;
        }
        if words.iter().any(|word| word == commands::hook_context::CONTEXT) {
            commands::hook_context::run(words);
            // A thread may still wait for the holder.
            std::process::exit(0);
        }
        watchbill_hooks::sender::run(&watchbill_hooks::sender::HookArguments::parse(words));
        return std::process::ExitCode::SUCCESS;
    }
    if let Some(words) = words_after(STATUS_LINE) {
        return watchbill_hooks::status_line::run(words).into();
    }
    let cli = args::Cli::parse();
    // A message names the part of the program only if the user has asked for logs.
    let with_parts = std::env::var_os("WATCHBILL_LOG").is_some();
    let logs = tracing_subscriber::EnvFilter::try_from_env("WATCHBILL_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(logs)
        .with_writer(|| Messages)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(with_parts)
        .without_time()
        .init();
    match commands::run(cli) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            #[allow(clippy::print_stderr, reason = "the one line for the user")]
            {
                eprintln!("watchbill: {}", one_line(&error));
            }
            std::process::ExitCode::FAILURE
        }
    }
}

/// Standard error for messages. They quote file names and text of other programs.
struct Messages;

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Each call has one whole message. Its colours and its line end are ours, and quoted text has no escapes
        // left.
        let text = String::from_utf8_lossy(bytes);
        let shown: String =
            text.chars().filter(|c| !terminal_text::is_steering(*c) || matches!(c, '\x1b' | '\n')).collect();
        std::io::stderr().write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// The words after this one, if it is the command. The agent waits, so the program sets nothing else up before.
fn words_after(command: &str) -> Option<std::vec::IntoIter<std::ffi::OsString>> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != command {
        return None;
    }
    let words: Vec<_> = words.collect();
    let asks = words.iter().any(|word| word == "--help" || word == "-h");
    (!asks).then(|| words.into_iter())
}

/// The error and its causes, each only if the text does not have it yet. They quote user input and system messages,
/// so the line is cleaned like all output.
fn one_line(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words.push_str(": ");
            words.push_str(&cause);
        }
    }
    terminal_text::one_line(&words)
}
