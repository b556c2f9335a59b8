//! `watchbill`, the command line: the roster and everything about a session, for terminals and scripts.

#![forbid(unsafe_code)]

mod args;
mod commands;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod large_pages;
mod paint;
mod progress;
mod render;
mod when;

use std::io::{IsTerminal, Write};

use clap::Parser;

fn main() -> std::process::ExitCode {
    if let Some(words) = words_of_a_hook() {
        let words: Vec<_> = words.collect();
        // Whatever became of it: an agent takes any other code for an objection to what it is about to do.
        if words.iter().any(|word| word == commands::ask::ANSWER) {
            commands::ask::run(words);
            return std::process::ExitCode::SUCCESS;
        }
        watchbill_hooks::sender::run(&watchbill_hooks::sender::Errand::parse(words));
        return std::process::ExitCode::SUCCESS;
    }
    let cli = args::Cli::parse();
    // Which part of the program warns is nothing to a person; whoever asks for logs wants to know.
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
            #[allow(clippy::print_stderr, reason = "the one line for the person")]
            {
                eprintln!("watchbill: {}", one_line(&error));
            }
            std::process::ExitCode::FAILURE
        }
    }
}

/// Standard error for messages. They quote names of files and words of other programs.
struct Messages;

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // A message comes in one piece; its colours and its end are ours, and what it quotes has no escapes any more.
        let text = String::from_utf8_lossy(bytes);
        let shown: String =
            text.chars().filter(|c| !paint::steers(*c) || matches!(c, '\x1b' | '\n')).collect();
        std::io::stderr().write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// The words after `hook`, if that is what we are asked for. An agent waits, so nothing else is set up before.
fn words_of_a_hook() -> Option<std::vec::IntoIter<std::ffi::OsString>> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != "hook" {
        return None;
    }
    let words: Vec<_> = words.collect();
    let asks = words.iter().any(|word| word == "--help" || word == "-h");
    (!asks).then(|| words.into_iter())
}

/// The error and what caused it, as far as its words do not say so already. What was asked for and what the system
/// says is quoted in them, so they are cleaned like all output.
fn one_line(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words.push_str(": ");
            words.push_str(&cause);
        }
    }
    paint::one_line(&words)
}
