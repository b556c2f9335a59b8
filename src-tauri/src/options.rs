//! What the desktop program can be told when it is started, and again when it is started a second time.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use clap::Parser;

/// The window and the tray of Watchbill, the roster of your coding agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Parser)]
#[command(name = "watchbill-desktop", version)]
pub struct Options {
    /// Folder that holds `projects/` and `sessions/`; may be given more than once.
    ///
    /// Without it: the folders in WATCHBILL_CLAUDE_DIR, then CLAUDE_CONFIG_DIR, then ~/.claude.
    #[arg(long = "claude-dir", value_name = "DIR", value_parser = absolute)]
    pub claude_dirs: Vec<PathBuf>,

    /// Folder for Watchbill's own files [env: WATCHBILL_DATA_DIR].
    #[arg(long, value_name = "DIR", value_parser = absolute)]
    pub data_dir: Option<PathBuf>,

    /// Configuration file, TOML [env: WATCHBILL_CONFIG].
    #[arg(long, value_name = "FILE", value_parser = absolute)]
    pub config: Option<PathBuf>,

    /// Show made-up sessions instead of the machine's own.
    #[arg(long)]
    pub demo: bool,

    /// Start in the tray, without a window.
    #[arg(long)]
    pub hidden: bool,

    /// Open the window with this session selected: an id, or the unique beginning of one.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
}

impl Options {
    /// Reads the arguments that a second start of the program hands over. They were accepted there
    /// by the same program, so a failure means another version: then raising the window is all.
    pub fn of_second_start(argv: &[String]) -> Self {
        Self::try_parse_from(argv).unwrap_or_else(|error| {
            tracing::warn!(%error, "a second start was given arguments that this version does not know");
            Self::default()
        })
    }

    /// The name under which a running program is found by a second start.
    ///
    /// Programs that watch different folders are different programs: starting one must neither be
    /// swallowed by the other nor show the other's sessions.
    pub fn instance(&self, identifier: &str, roots: &[PathBuf]) -> String {
        if self.demo {
            return format!("{identifier}.demo");
        }
        if self.claude_dirs.is_empty() && self.data_dir.is_none() && self.config.is_none() {
            return identifier.to_owned();
        }
        let mut hasher = DefaultHasher::new();
        (roots, &self.data_dir, &self.config).hash(&mut hasher);
        format!("{identifier}.i{:016x}", hasher.finish())
    }
}

/// A second start may come from another folder, so no path stays relative.
fn absolute(text: &str) -> Result<PathBuf, std::io::Error> {
    std::path::absolute(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Options {
        Options::try_parse_from(std::iter::once(&"watchbill-desktop").chain(args)).expect("valid")
    }

    fn instance(options: &Options) -> String {
        options.instance("org.example", &options.claude_dirs)
    }

    #[test]
    fn paths_become_absolute() {
        let options = parsed(&["--claude-dir", "a", "--claude-dir", "/b", "--data-dir", "d"]);
        let here = std::env::current_dir().expect("a working folder");
        assert_eq!(options.claude_dirs, [here.join("a"), PathBuf::from("/b")]);
        assert_eq!(options.data_dir, Some(here.join("d")));
    }

    #[test]
    fn a_second_start_is_read_like_the_first_and_never_fails() {
        let argv: Vec<String> = ["watchbill-desktop", "--session", "abc"].map(String::from).to_vec();
        assert_eq!(Options::of_second_start(&argv).session.as_deref(), Some("abc"));
        let argv: Vec<String> = ["watchbill-desktop", "--from-the-future"].map(String::from).to_vec();
        assert_eq!(Options::of_second_start(&argv), Options::default());
        assert_eq!(Options::of_second_start(&[]), Options::default());
    }

    #[test]
    fn only_programs_that_watch_the_same_are_the_same() {
        let usual = instance(&parsed(&[]));
        assert_eq!(usual, "org.example");
        assert_eq!(usual, instance(&parsed(&["--hidden"])));
        assert_eq!(usual, instance(&parsed(&["--session", "x"])));
        assert_ne!(usual, instance(&parsed(&["--demo"])));
        let other = instance(&parsed(&["--claude-dir", "/a"]));
        assert_ne!(usual, other);
        assert_eq!(other, instance(&parsed(&["--claude-dir", "/a", "--session", "x"])));
        assert_ne!(other, instance(&parsed(&["--claude-dir", "/b"])));
    }
}
