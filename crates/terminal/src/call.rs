//! A command line, and what became of it.

use std::fmt;

/// A program and its arguments, run without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Looked up on the search path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: Vec<(&'static str, String)>,
    /// Variables that it must not inherit from us.
    pub without: &'static [&'static str],
}

impl Call {
    /// A program with arguments.
    pub fn new<'a>(program: &str, args: impl IntoIterator<Item = &'a str>) -> Self {
        let args = args.into_iter().map(str::to_owned).collect();
        Self { program: program.to_owned(), args, env: Vec::new(), without: &[] }
    }

    /// The same with a variable.
    pub fn env(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }
}

/// As one would type it.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}={} ", crate::resume::quoted(value))?;
        }
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| match arg.strip_prefix('-') {
            // An option, which the quotes would only hide.
            Some(rest)
                if crate::resume::quoted(rest.trim_start_matches('-')).starts_with(char::is_alphanumeric) =>
            {
                write!(f, " {arg}")
            }
            _ => write!(f, " {}", crate::resume::quoted(arg)),
        })
    }
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// It ended with success and printed this.
    Done(String),
    /// It ended without success and said this.
    Failed(String),
    /// There is no such program on the search path.
    Absent,
    /// It had not ended when its time was over, and was ended.
    TooLate,
}

impl Ran {
    /// What it printed, if it ended with success.
    pub fn done(self) -> Option<String> {
        match self {
            Self::Done(out) => Some(out),
            _ => None,
        }
    }

    /// Why `program` did not do it: words for the middle of a sentence.
    pub fn trouble(&self, program: &str) -> String {
        match self {
            Self::Done(_) => format!("{program} did it"),
            Self::Failed(said) => match said.lines().find(|line| !line.trim().is_empty()) {
                Some(line) => format!("{program} refused: {}", line.trim().trim_end_matches('.')),
                None => format!("{program} refused"),
            },
            Self::Absent => format!("the program {program} is not on the search path"),
            Self::TooLate => format!("{program} did not answer within two seconds"),
        }
    }
}
