//! Asks one model one question: reads a job as one line, prints the result as one line, and ends.
//!
//! It is the only program of Watchbill with an HTTP client. The engine starts it when the user has named a model. It ends at once
//! when its input closes, so it never outlives the program that started it.

#![forbid(unsafe_code)]

mod address;
mod agent;
mod certificates;
mod endpoint;
mod failure;
mod group;
mod limits;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use failure::Failure;
use limits::MOST;
use watchbill_protocol::model::{ModelAddress, ModelJob, ModelResult};

#[allow(clippy::print_stderr, reason = "the program reports wrong use on standard error")]
fn main() -> ExitCode {
    let began = Instant::now();
    #[cfg(target_os = "linux")]
    {
        let mut args = std::env::args_os().skip(1);
        if args.next().is_some_and(|word| word == group::EXEC) {
            return group::exec(args);
        }
    }
    let mut line = String::new();
    let mut input = BufReader::new(std::io::stdin().take(MOST));
    let job = input.read_line(&mut line).map(|_| serde_json::from_str::<ModelJob>(&line));
    let Ok(Ok(job)) = job else {
        eprintln!("watchbill-model-client asks a model for Watchbill, which starts it itself.");
        return ExitCode::from(2);
    };
    group::end_with_input();
    let mut result = match answer(&job, began) {
        Ok(result) => result,
        Err(failure) => {
            ModelResult { error: Some(failure.words), away: failure.away, ..ModelResult::default() }
        }
    };
    result.millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Ok(text) = serde_json::to_string(&result) else { return ExitCode::FAILURE };
    let mut output = std::io::stdout().lock();
    let written = writeln!(output, "{text}").and_then(|()| output.flush());
    #[cfg(target_os = "linux")]
    if let ModelAddress::Agent { .. } = job.to {
        // The agent may have left helpers.
        group::end();
    }
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn answer(job: &ModelJob, began: Instant) -> Result<ModelResult, Failure> {
    let until = began + Duration::from_millis(job.timeout_ms);
    match (&job.to, &job.question) {
        (ModelAddress::Endpoint { base_url, name, key_file, form }, question) => {
            let endpoint = endpoint::Endpoint::new(base_url, key_file.as_deref(), until);
            let endpoint = endpoint.map_err(Failure::away)?;
            match question {
                Some(question) => endpoint.ask(name, question, *form),
                None => endpoint.models(),
            }
        }
        (ModelAddress::Agent { program, name, folder, most_micro_usd }, Some(question)) => {
            agent::ask(program, name, folder, *most_micro_usd, question, until)
        }
        (ModelAddress::Agent { .. }, None) => Err(Failure::from("an agent has no list of models")),
    }
}
