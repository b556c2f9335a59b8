//! `watchbill`, the command line: the roster and everything about a session, for terminals and scripts.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod paint;
mod render;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = args::Cli::parse();
    let logs = tracing_subscriber::EnvFilter::try_from_env("WATCHBILL_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(logs).with_writer(std::io::stderr).without_time().init();
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
