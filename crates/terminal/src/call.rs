//! A command line and its result.

use std::fmt;

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
            write!(f, "{name}={} ", watchbill_agents::resume::quoted(value))?;
        }
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| match arg.strip_prefix('-') {
            // An option is shown without quotes, which would only make it harder to read.
            Some(rest)
                if watchbill_agents::resume::quoted(rest.trim_start_matches('-'))
                    .starts_with(char::is_alphanumeric) =>
            {
                write!(f, " {arg}")
            }
            _ => write!(f, " {}", watchbill_agents::resume::quoted(arg)),
        })
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// It succeeded; this is its output.
    Done(String),
    /// It failed; this is its error output.
    Failed(String),
    /// There is no such program on the search path.
    NotInstalled,
    /// It did not end in time, and was killed.
    TimedOut,
}

impl CallResult {
    /// Its output, if it succeeded.
    pub fn done(self) -> Option<String> {
        match self {
            Self::Done(out) => Some(out),
            _ => None,
        }
    }

    /// Why the call to `program` did not succeed, as a part of a sentence.
    pub fn failure_text(&self, program: &str) -> String {
        match self {
            Self::Done(_) => format!("{program} did it"),
            Self::Failed(error_text) => match error_text.lines().find(|line| !line.trim().is_empty()) {
                Some(line) => format!("{program} refused: {}", line.trim().trim_end_matches('.')),
                None => format!("{program} refused"),
            },
            Self::NotInstalled => format!("the program {program} is not on the search path"),
            Self::TimedOut => format!("{program} did not answer within two seconds"),
        }
    }
}
