//! The program `watchbill-desktop`. All of its code is in the shell's library.

#![forbid(unsafe_code)]
// Otherwise Windows opens a console beside the window.
#![cfg_attr(all(windows, not(debug_assertions)), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    watchbill_shell::run()
}
