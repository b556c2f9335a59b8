//! The process that keeps one own session. The library beside it is all of it.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    watchbill_host::main(std::env::args_os().skip(1))
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::print_stderr, reason = "the program reports on standard error")]
fn main() -> std::process::ExitCode {
    eprintln!("watchbill-host: sessions of your own run on Linux only, so far");
    std::process::ExitCode::FAILURE
}
