//! The program against made-up endpoints and agents: right and wrong answers, limits, and that no process stays.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a broken test should fail loudly")]

#[cfg(target_os = "linux")]
mod agent;
mod endpoint;
mod stub;

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use watchbill_protocol::model::{ModelAddress, ModelJob, ModelQuestion, ModelResult, ReplyForm};

/// The program with a job; its input stays open.
pub fn start(job: &ModelJob, env: &[(&str, &str)]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchbill-model-client"));
    command.envs(env.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let line = serde_json::to_string(job).unwrap() + "\n";
    child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    child
}

/// Its result, and how long it took.
pub fn run(job: &ModelJob, env: &[(&str, &str)]) -> (ModelResult, Duration) {
    let began = Instant::now();
    let mut child = start(job, env);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")), began.elapsed())
}

pub fn question() -> ModelQuestion {
    ModelQuestion {
        system: "Reply with JSON.".into(),
        user: "Request: mend the log".into(),
        schema: serde_json::json!({ "type": "object" }),
        max_tokens: 600,
    }
}

pub fn at(base_url: &str, timeout_ms: u64) -> ModelJob {
    let to = ModelAddress::Endpoint {
        base_url: base_url.into(),
        name: "small".into(),
        key_file: None,
        form: ReplyForm::Schema,
    };
    ModelJob { to, question: Some(question()), timeout_ms }
}

/// Waits until something is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
