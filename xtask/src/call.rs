//! A program to start: its command line is printed first, so that a developer can repeat it by hand.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// A program, its arguments and the changes in its environment.
pub struct Call {
    program: OsString,
    arguments: Vec<OsString>,
    set: Vec<(OsString, OsString)>,
    removed: Vec<OsString>,
    folder: PathBuf,
}

impl Call {
    /// A call of `program` in `folder`.
    pub fn new(folder: &Path, program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            set: Vec::new(),
            removed: Vec::new(),
            folder: folder.to_owned(),
        }
    }

    /// Adds arguments.
    pub fn args<I>(mut self, arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.set.push((name.into(), value.into()));
        self
    }

    /// Removes every variable that would lead Watchbill to the developer's own sessions.
    pub fn without_own_settings(mut self) -> Self {
        self.removed =
            std::env::vars_os().map(|(name, _)| name).filter(|name| is_own_setting(name)).collect();
        self
    }

    /// The line as typed in a shell.
    pub fn line(&self) -> String {
        let env = (!self.removed.is_empty()).then(|| "env".to_owned());
        let removed = self.removed.iter().map(|name| format!("-u {}", name.to_string_lossy()));
        let set =
            self.set.iter().filter(|(name, _)| name != "PATH").map(|(name, value)| {
                format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy()))
            });
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let words = words.map(|word| quoted(&word.to_string_lossy()));
        env.into_iter().chain(removed).chain(set).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// The call as a `Command` of the standard library.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        for name in &self.removed {
            command.env_remove(name);
        }
        for (name, value) in &self.set {
            command.env(name, value);
        }
        command
    }

    /// Prints the line, runs it with our own input and output, and returns its exit status.
    pub fn status(&self) -> Result<ExitStatus> {
        println!("  $ {}", self.line());
        self.command().status().with_context(|| self.could_not_start())
    }

    /// Like [`Call::status`], but failure is an error.
    pub fn run(&self) -> Result<()> {
        let status = self.status()?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line());
        }
        Ok(())
    }

    /// Runs silently and returns the program's output, or `None` if it failed or does not exist.
    pub fn quiet_output(&self) -> Option<String> {
        let output = self.command().stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn could_not_start(&self) -> String {
        let program = self.program.to_string_lossy();
        format!("`{program}` could not be started: is it installed and on the PATH?")
    }
}

fn is_own_setting(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == "CLAUDE_CONFIG_DIR" || name.starts_with("WATCHBILL_")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_can_be_pasted_into_a_shell() {
        let call = Call::new(Path::new("."), "cargo")
            .env("RUSTDOCFLAGS", "-D warnings")
            .env("PATH", "left out, because it is long")
            .args(["test", "--only", "it's", ""]);
        assert_eq!(call.line(), r"RUSTDOCFLAGS='-D warnings' cargo test --only 'it'\''s' ''");
    }

    #[test]
    fn own_settings_are_recognised_by_name() {
        for (name, own) in [
            ("CLAUDE_CONFIG_DIR", true),
            ("WATCHBILL_DATA_DIR", true),
            ("CLAUDE_CONFIG_DIRECTORY", false),
            ("HOME", false),
        ] {
            assert_eq!(is_own_setting(OsStr::new(name)), own, "{name}");
        }
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Call::new(Path::new("."), "no-such-program-here").run().unwrap_err();
        assert!(format!("{error:#}").contains("`no-such-program-here` could not be started"), "{error:#}");
    }
}
