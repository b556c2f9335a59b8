//! The program `watchbill-desktop`. All of its code is in the shell's library.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    watchbill_shell::run()
}
