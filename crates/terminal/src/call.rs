//! A command line and its result.

use std::fmt;
use std::process::Command;

pub use watchbill_platform::program::CallResult;

/// A program and its arguments, run without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCall {
    /// Looked up on the search path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: Vec<(&'static str, String)>,
    /// Variables of this program that it must not inherit.
    pub without: &'static [&'static str],
    /// The text on its standard input.
    pub input: Option<String>,
}

impl ProgramCall {
    /// A program with arguments.
    pub fn new<'a>(program: &str, args: impl IntoIterator<Item = &'a str>) -> Self {
        let args = args.into_iter().map(str::to_owned).collect();
        Self { program: program.to_owned(), args, env: Vec::new(), without: &[], input: None }
    }

    /// The same with a text on its standard input.
    pub fn input(mut self, text: &str) -> Self {
        self.input = Some(text.to_owned());
        self
    }

    /// Runs it, for at most two seconds.
    pub fn run(&self) -> CallResult {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (*name, value)));
        for name in self.without {
            command.env_remove(name);
        }
        watchbill_platform::program::run(&mut command, self.input.as_deref())
    }

    /// The same with a variable.
    pub fn env(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }
}

/// The command line as a user would type it.
impl fmt::Display for ProgramCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}={} ", crate::resume::quoted(value))?;
        }
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| match arg.strip_prefix('-') {
            // An option is shown without quotes, which would only make it harder to read.
            Some(rest)
                if crate::resume::quoted(rest.trim_start_matches('-')).starts_with(char::is_alphanumeric) =>
            {
                write!(f, " {arg}")
            }
            _ => write!(f, " {}", crate::resume::quoted(arg)),
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn variables_are_set_and_taken_away() {
        let mut call =
            ProgramCall::new("sh", ["-c", "echo $KITTY_WINDOW_ID$PATH"]).env("KITTY_WINDOW_ID", "3");
        call.without = &["PATH"];
        assert!(matches!(call.run(), CallResult::Done(out) if out.starts_with('3')));
    }
}
