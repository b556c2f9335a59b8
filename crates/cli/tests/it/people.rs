//! Programs of a person, which no agent started: their parent is gone, their environment is their own, and they are older than
//! the agents of the test. Tests may run below an agent, whose programs may not answer.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

use crate::forget::until;
use crate::home::{Home, line};
use crate::program::Finished;

/// The time since the start of the machine, in ticks of 10 ms. The system counts the starts of processes in them: a program is older
/// only if it began in an earlier one.
fn ticks() -> String {
    std::fs::read_to_string("/proc/uptime").unwrap().split(' ').next().unwrap().to_owned()
}

/// A program that reads lines from a pipe. It ends when the pipe is closed.
struct Reader(File);

impl Reader {
    fn start(folder: &Path, words: &[&str]) -> Self {
        let pipe = folder.join("lines");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut command = Command::new("setsid");
        command.args(["--fork", "sh", "-c", r#"exec "$@" <"$0""#]).arg(&pipe).args(words);
        let path = std::env::var_os("PATH").unwrap();
        command.env_clear().env("PATH", path).env("HOME", folder).env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8").current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success());
        // Waits for the program to open it.
        let reader = Self(File::options().write(true).open(pipe).unwrap());
        let began = ticks();
        until("a later tick", || ticks() != began);
        reader
    }

    fn line(&mut self, text: &str) {
        writeln!(self.0, "{text}").unwrap();
    }
}

/// A person at a terminal. `script` keeps the terminal, as a terminal emulator does.
pub struct Person(Reader);

impl Person {
    /// Begins before anything else of a test.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        Self(Reader::start(&folder, &["script", "-qfc", "sh", "/dev/null"]))
    }

    /// Types a line.
    pub fn line(&mut self, text: &str) {
        self.0.line(text);
    }
}

/// A shell of a person without a terminal.
fn background() -> &'static Mutex<Reader> {
    static BACKGROUND: OnceLock<Mutex<Reader>> = OnceLock::new();
    BACKGROUND.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        Mutex::new(Reader::start(&folder, &["sh"]))
    })
}

/// The programs of [`detached`] are older than what begins after this call.
pub fn begin() {
    background();
}

/// Runs `watchbill` as a script of a person. With environment variables, and below a shell of another name.
pub fn detached(home: &Home, words: &[&str], variables: &[(&str, &str)], shell: Option<&str>) -> Finished {
    detached_program(home, &home.command(words), variables, shell)
}

/// The same with another program.
pub fn detached_program(
    home: &Home,
    program: &Command,
    variables: &[(&str, &str)],
    shell: Option<&str>,
) -> Finished {
    let folder = home.folder("run");
    let shell = match shell {
        Some(name) => {
            std::fs::copy("/bin/sh", folder.join(name)).unwrap();
            folder.join(name)
        }
        None => PathBuf::from("/bin/sh"),
    };
    // The shell stays above the program, and writes the exit code when everything else is written.
    let script = format!(
        "cd {}; {} >{folder}/out 2>{folder}/err </dev/null; echo $? >{folder}/rc.part; mv {folder}/rc.part {folder}/rc\n",
        home.path().display(),
        line(program, variables),
        folder = folder.display(),
    );
    std::fs::write(folder.join("script"), script).unwrap();
    // The shell gets the variables too, as what an agent starts does.
    let set: Vec<_> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let run = format!("env {} {} {} &", set.join(" "), shell.display(), folder.join("script").display());
    background().lock().unwrap().line(&run);
    until("the command to end", || folder.join("rc").exists());
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    Finished { out: read("out"), err: read("err"), code: read("rc").trim().parse().unwrap() }
}
