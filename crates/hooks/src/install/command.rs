//! The command line that the agent runs: writing it, and recognising one of ours.

use std::path::{Path, PathBuf};

use super::error::SettingsError;
use crate::places::platform_data_dir;
use crate::sender::{AGENT_OPTION, HookArguments};
use watchbill_agents::install::Event;
use watchbill_agents::{Agent, hook_traits};
use watchbill_platform::files::real_path;

/// Our program's name, without the ending that Windows gives it.
const NAME: &str = "watchbill";

/// The word that marks a handler of ours whose program has another name. The sender of every version skips words that
/// it does not know.
const MARK: &str = "--watchbill";

/// The rules that split a command line into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// A POSIX shell: a backslash takes the next character literally.
    Posix,
    /// The shells of Windows: a backslash is a part of a path.
    Windows,
}

impl Shell {
    /// The rules of this system.
    pub const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Posix };
}

/// What a handler of ours is for. Each kind is installed and removed apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// It passes events on.
    #[default]
    Events,
    /// It waits for the user's answer to a request.
    Answers,
    /// It tells the agent what was learned.
    Context,
    /// It is the command of the status line.
    StatusLine,
}

/// The option of handlers that wait for answers.
const ANSWER: &str = "--answer";

/// The option of handlers that tell the agent what was learned.
const CONTEXT: &str = "--context";

/// The word of our command for the status line. That of hooks is `hook`.
pub const STATUS_LINE: &str = "statusline";

/// What stands before our command for the status line.
const EXEC: &str = "exec ";

/// The command that the agent runs. Its paths are text, because settings are text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The agent whose hooks they are.
    pub agent: Agent,
    /// The program's full path: a client started from a desktop has another `PATH` than a shell.
    pub program: String,
    /// The data folder, if it is not the default.
    pub data_dir: Option<String>,
    /// Whether a compaction leaves a marker in the project's folder.
    pub markers: bool,
    /// What the handlers are for.
    pub purpose: Purpose,
}

impl HookCommand {
    /// A command that starts `program` and sends events to this data folder.
    ///
    /// # Errors
    /// When a path is not valid UTF-8, so that settings cannot hold it.
    pub fn new(
        agent: Agent,
        program: &Path,
        data_dir: Option<&Path>,
        markers: bool,
    ) -> Result<Self, SettingsError> {
        let text = |path: &Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| SettingsError::NotText { path: path.to_owned() })
        };
        Ok(Self {
            agent,
            program: text(program)?,
            data_dir: data_dir.map(text).transpose()?,
            markers,
            purpose: Purpose::Events,
        })
    }

    /// The same program and data folder, for handlers that wait for answers.
    #[must_use]
    pub fn for_answers(&self) -> Self {
        Self { purpose: Purpose::Answers, markers: false, ..self.clone() }
    }

    /// The same program and data folder, for another purpose.
    #[must_use]
    pub fn for_purpose(&self, purpose: Purpose) -> Self {
        match purpose {
            Purpose::Events => self.clone(),
            Purpose::Answers => self.for_answers(),
            Purpose::Context | Purpose::StatusLine => Self { purpose, markers: false, ..self.clone() },
        }
    }

    /// The line for the agent's shell.
    ///
    /// It is not the form with separate arguments. A client that does not know that form would run the program
    /// without arguments, and take its error for a veto.
    pub fn line(&self) -> String {
        self.line_for(Shell::HERE)
    }

    fn line_for(&self, shell: Shell) -> String {
        // The shell around a status line gives way to it, so that the client sees how the person's own command ends.
        let (first, word) =
            if self.purpose == Purpose::StatusLine { (EXEC, STATUS_LINE) } else { ("", "hook") };
        let mut line = format!("{first}{} {word}", quoted_for(&self.program, shell));
        if let Some(dir) = &self.data_dir {
            line.push_str(&format!(" --data-dir {}", quoted_for(dir, shell)));
        }
        if self.agent != Agent::default() {
            line.push_str(&format!(" {AGENT_OPTION} {}", self.agent.as_str()));
        }
        match self.purpose {
            Purpose::Events | Purpose::StatusLine => {}
            Purpose::Answers => line.push_str(&format!(" {ANSWER}")),
            Purpose::Context => line.push_str(&format!(" {CONTEXT}")),
        }
        if self.markers {
            line.push_str(" --markers");
        }
        if !is_our_name(file_name(&self.program, shell)) {
            line.push_str(&format!(" {MARK}"));
        }
        line
    }

    /// The handler for one event, as JSON on one line, without its braces.
    pub fn handler(&self, event: &Event) -> String {
        let line = serde_json::Value::from(self.line());
        let wait = if event.waits { "" } else { ", \"async\": true" };
        let second = hook_traits(self.agent).second;
        let timeout = event.timeout.map(|seconds| format!(", \"timeout\": {}", seconds * second));
        let timeout = timeout.unwrap_or_default();
        format!("\"type\": \"command\", \"command\": {line}{wait}{timeout}")
    }

    /// Whether a handler of ours sends its events to another data folder.
    pub fn has_other_data_dir(&self, handler: &HookTarget) -> bool {
        // A folder may have several spellings.
        let folder = |named: Option<PathBuf>| {
            named.or_else(platform_data_dir).map(|path| real_path(&path).unwrap_or(path))
        };
        folder(handler.data_dir.clone()) != folder(self.data_dir.as_ref().map(PathBuf::from))
    }
}

/// The program that a handler of ours starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookTarget {
    /// The program.
    pub program: PathBuf,
    /// The data folder, if the command line names one.
    pub data_dir: Option<PathBuf>,
    /// What the handler is for.
    pub purpose: Purpose,
}

/// The program that a command line starts, if the line is ours. The line may be of any version and any installation.
pub fn called_by(line: &str) -> Option<HookTarget> {
    called_by_for(line, Shell::HERE)
}

fn called_by_for(line: &str, shell: Shell) -> Option<HookTarget> {
    called(&words(line, shell)?, shell)
}

/// The same for a handler with separate arguments.
pub fn called_with(program: &str, args: &[&str]) -> Option<HookTarget> {
    let words: Vec<String> = std::iter::once(&program).chain(args).map(|word| (*word).to_owned()).collect();
    called(&words, Shell::HERE)
}

/// A line is ours if it calls the sender of a program with our name, or has our mark. A copy may have any name.
fn called(words: &[String], shell: Shell) -> Option<HookTarget> {
    let words = if words.first().is_some_and(|word| word == EXEC.trim_end()) { &words[1..] } else { words };
    let [program, command, rest @ ..] = words else { return None };
    let ours = is_our_name(file_name(program, shell)) || rest.iter().any(|word| word == MARK);
    let purpose = match &**command {
        "hook" => purpose_of(rest),
        STATUS_LINE => Purpose::StatusLine,
        _ => return None,
    };
    ours.then(|| HookTarget {
        program: PathBuf::from(program),
        data_dir: HookArguments::parse(rest.iter().map(Into::into)).data_dir,
        purpose,
    })
}

fn purpose_of(words: &[String]) -> Purpose {
    let has = |option: &str| words.iter().any(|word| word == option);
    if has(ANSWER) {
        Purpose::Answers
    } else if has(CONTEXT) {
        Purpose::Context
    } else {
        Purpose::Events
    }
}

/// `watchbill`, or that name with a version after it, as downloads are named. Earlier versions did not mark those.
fn is_our_name(name: &str) -> bool {
    let ending = name.len().saturating_sub(4);
    let name = match name.get(ending..) {
        Some(end) if end.eq_ignore_ascii_case(".exe") => &name[..ending],
        _ => name,
    };
    let Some(version) = name.strip_prefix(NAME) else { return false };
    let version =
        version.strip_prefix(['-', '_']).map(|version| version.strip_prefix('v').unwrap_or(version));
    name == NAME || version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// The last part of a path, by the rules of the shell's system.
fn file_name(path: &str, shell: Shell) -> &str {
    let divides = |c: char| c == '/' || (c == '\\' && shell == Shell::Windows);
    path.rsplit(divides).next().unwrap_or(path)
}

/// The words of a command line, split as a shell splits them; `None` if the line does more than start a program.
fn words(line: &str, shell: Shell) -> Option<Vec<String>> {
    let (mut words, mut word, mut begun) = (Vec::new(), String::new(), false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                begun = true;
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                begun = true;
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' if shell == Shell::Posix => word.push(chars.next()?),
                        '$' | '`' if shell == Shell::Posix => return None,
                        c => word.push(c),
                    }
                }
            }
            '\\' if shell == Shell::Posix => {
                begun = true;
                word.push(chars.next()?);
            }
            c if c.is_whitespace() => {
                if std::mem::take(&mut begun) {
                    words.push(std::mem::take(&mut word));
                }
            }
            ';' | '|' | '&' | '<' | '>' | '$' | '`' | '(' | ')' => return None,
            c => {
                begun = true;
                word.push(c);
            }
        }
    }
    if begun {
        words.push(word);
    }
    Some(words)
}

/// A word in the form that a shell reads, quoted if necessary.
pub fn quoted(word: &str) -> String {
    quoted_for(word, Shell::HERE)
}

/// On Windows the line may reach bash or PowerShell. Both read a path with `/` and without quotes. PowerShell takes a program
/// in quotes for a text, so a client without bash cannot start a program whose path has a blank.
fn quoted_for(word: &str, shell: Shell) -> String {
    let word = &if shell == Shell::Windows { word.replace('\\', "/") } else { word.to_owned() };
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if shell == Shell::Windows {
        return format!("\"{word}\"");
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
