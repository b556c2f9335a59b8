//! The command line that the agent runs: how it is written, and how one of ours is known again.

use std::path::{Path, PathBuf};

use super::events::Event;

/// What is written for the agent to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The program, with its whole path: an agent started from a desktop has another `PATH` than a shell.
    pub program: PathBuf,
    /// The data folder, where it is not the default one.
    pub data_dir: Option<PathBuf>,
    /// Compactions leave a marker in the project's folder.
    pub markers: bool,
}

impl HookCommand {
    /// The line for the agent's shell.
    ///
    /// Not the form with separate arguments: a client that does not know it yet would run the program without any, and take
    /// its complaint for a veto.
    pub fn line(&self) -> String {
        let mut line = format!("{} hook", quoted(&self.program.to_string_lossy()));
        if let Some(dir) = &self.data_dir {
            line.push_str(&format!(" --data-dir {}", quoted(&dir.to_string_lossy())));
        }
        if self.markers {
            line.push_str(" --markers");
        }
        line
    }

    /// The handler for one event, as JSON on one line.
    pub fn handler(&self, event: &Event) -> String {
        let line = serde_json::Value::from(self.line());
        let wait = if event.waits { "" } else { ", \"async\": true" };
        format!("{{ \"type\": \"command\", \"command\": {line}{wait} }}")
    }
}

/// The program of a command line, if it is one of ours, of whatever version, wherever installed.
pub fn program_of(line: &str) -> Option<PathBuf> {
    let words = words(line)?;
    let program = Path::new(words.first()?);
    let name = program.file_name()?.to_str()?;
    let ours = name.strip_suffix(".exe").unwrap_or(name) == "watchbill";
    (ours && words.get(1).is_some_and(|word| word == "hook")).then(|| program.to_path_buf())
}

/// The words of a command line as a shell would split it; `None` where it does more than start a program.
fn words(line: &str) -> Option<Vec<String>> {
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
                        '\\' => word.push(chars.next()?),
                        '$' | '`' => return None,
                        c => word.push(c),
                    }
                }
            }
            '\\' if !cfg!(windows) => {
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

/// A word as a shell takes it, in quotes where it needs them.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if cfg!(windows) {
        return format!("\"{word}\"");
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_known_again_whatever_the_folders_are_called() {
        for program in
            ["/usr/bin/watchbill", "/home/dev/an a/it's \"here\"/$x/watchbill", "/opt/wätch/watchbill"]
        {
            let command =
                HookCommand { program: program.into(), data_dir: Some("/a b".into()), markers: true };
            assert_eq!(program_of(&command.line()), Some(program.into()), "{}", command.line());
        }
        let plain = HookCommand { program: "/usr/bin/watchbill".into(), data_dir: None, markers: false };
        assert_eq!(plain.line(), "/usr/bin/watchbill hook");
    }

    #[test]
    fn other_peoples_commands_are_not_taken_for_ours() {
        for line in [
            "",
            "watchbill",
            "watchbill status",
            "my-watchbill hook",
            "echo watchbill hook",
            "watchbill hook; rm x",
            "$(watchbill) hook",
            "wrapper watchbill hook",
            "'watchbill hook",
            "watchbill-other hook",
        ] {
            // A command that does more than start us is the person's own, and one that ends in the middle is nobody's.
            assert_eq!(program_of(line), None, "{line}");
        }
        for line in [
            "watchbill hook",
            "  '/old place/watchbill'  hook --whatever",
            "\"/x/watchbill\" hook",
            "watchbill.exe hook",
        ] {
            assert!(program_of(line).is_some(), "{line}");
        }
    }
}
