//! The process that keeps one own session. `watchbill_drive::host` is all of it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
