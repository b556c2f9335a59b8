//! The program `watchbill-desktop`; everything is in the shell's library.

fn main() -> std::process::ExitCode {
    watchbill_shell::run()
}
