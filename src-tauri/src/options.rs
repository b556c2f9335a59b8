//! The options of the desktop program, at the first start and at a second one.

use std::path::PathBuf;

use clap::Parser;
use watchbill_agents::Root;
use watchbill_agents::layout::{ROOT_ALIAS, ROOT_NAME, ROOT_OPTION};
#[cfg(any(target_os = "linux", test))]
use watchbill_engine::stable_hash;
#[cfg(any(target_os = "linux", test))]
use watchbill_settings::Settings;

use crate::link::{self, Link, WrongLink};

/// The window and the tray of Watchbill, the roster of your coding agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Parser)]
#[command(name = "watchbill-desktop", version)]
pub struct Options {
    /// An agent's folder; may be given more than once.
    ///
    /// A path alone is a folder of Claude Code; AGENT=DIR one of another agent, AGENT= leaves that agent out.
    ///
    /// Without it, the first of these that is set: WATCHBILL_CLAUDE_DIR (a list, separated like PATH), `roots` in the
    /// configuration file, CLAUDE_CONFIG_DIR. Else ~/.claude.
    #[arg(long = ROOT_NAME, visible_alias = ROOT_ALIAS, value_name = "DIR", value_parser = root)]
    pub roots: Vec<Root>,

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

    /// Open the window from anywhere with this key, such as Ctrl+Alt+W.
    #[arg(long, value_name = "KEY")]
    pub shortcut: Option<String>,

    /// Print the manual page of this program, for those who make packages.
    #[arg(long, hide = true)]
    pub man: bool,

    /// Follow a link: watchbill://session/ID, watchbill://settings, or watchbill://.
    #[arg(value_name = "LINK", value_parser = link)]
    pub link: Option<String>,
}

impl Options {
    /// Reads the arguments that a second start of the program hands over. That program accepted them already, so an
    /// error means that it is another version. Then the window is only raised.
    pub fn of_second_start(argv: &[String]) -> Self {
        Self::try_parse_from(argv).unwrap_or_else(|error| {
            tracing::warn!(%error, "a second start was given arguments that this version does not know");
            Self::default()
        })
    }

    /// The place that the user asks for, if any.
    ///
    /// # Errors
    /// When the link is wrong; the window reports it.
    pub fn wish(&self) -> Result<Option<Link>, WrongLink> {
        match (&self.session, &self.link) {
            (Some(session), _) => Ok(Some(Link::Session(session.clone()))),
            (None, Some(link)) => link::parse(link).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The arguments that start the same program with the desktop, in the tray.
    pub fn of_autostart(&self) -> Vec<String> {
        let mut words = vec!["--hidden".to_owned()];
        let folders = self.roots.iter().map(|root| (ROOT_OPTION, root.named()));
        let data_dir = self.data_dir.iter().map(|dir| ("--data-dir", dir.into()));
        let config = self.config.iter().map(|file| ("--config", file.into()));
        for (name, value) in folders.chain(data_dir).chain(config) {
            words.extend([name.to_owned(), value.to_string_lossy().into_owned()]);
        }
        words
    }

    /// The bus name by which a second start finds the running program.
    ///
    /// Programs that watch different folders are different programs: a start for one must not end up in the other, nor
    /// show its sessions. So this compares the settings with the `usual` ones, those without options or variables. It
    /// does not matter what named another folder. Only Linux needs this: elsewhere the plugin finds the running
    /// program by itself.
    #[cfg(any(target_os = "linux", test))]
    pub fn instance(&self, identifier: &str, settings: &Settings, usual: Option<&Settings>) -> String {
        if self.demo {
            return format!("{identifier}.demo");
        }
        let watched = (&settings.roots, &settings.data_dir);
        if self.config.is_none() && usual.is_some_and(|usual| watched == (&usual.roots, &usual.data_dir)) {
            return identifier.to_owned();
        }
        // The hash is the same in every build, so that the next version of the program finds this one.
        let roots = settings.roots.iter().map(|root| root.named().into_encoded_bytes());
        let files = [settings.data_dir.as_ref(), self.config.as_ref()]
            .map(|path| path.map_or_else(Vec::new, |path| path.as_os_str().as_encoded_bytes().to_vec()));
        let named: Vec<Vec<u8>> = roots.chain(files).collect();
        format!("{identifier}.i{:016x}", stable_hash(&named.join(&0)))
    }
}

/// Accepts everything that is meant as a link; the window reports a wrong one. Any other argument is a typing mistake.
fn link(text: &str) -> Result<String, &'static str> {
    if link::wants_to_be_one(text) { Ok(text.to_owned()) } else { Err("a link begins with watchbill://") }
}

/// A root with its path made absolute; an agent without a folder stays so.
fn root(text: &str) -> Result<Root, String> {
    let root = Root::of_option(text.as_ref())?;
    if root.as_os_str().is_empty() || root.starts_with("~") {
        return Ok(root);
    }
    Ok(root.at(absolute(&root.to_string_lossy()).map_err(|error| error.to_string())?))
}

/// A second start may come from another folder, so every path is made absolute.
fn absolute(text: &str) -> Result<PathBuf, std::io::Error> {
    std::path::absolute(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Options {
        Options::try_parse_from(std::iter::once(&"watchbill-desktop").chain(args)).expect("valid")
    }

    /// The name for a start with these options, with CLAUDE_CONFIG_DIR set to `variable` or not set.
    fn instance_where(variable: Option<&str>, options: &Options) -> String {
        let settings = |options: &Options| {
            let dirs = &options.roots;
            Settings::for_roots(if dirs.is_empty() { vec!["/home/dev/.claude".into()] } else { dirs.clone() })
        };
        let usual = settings(&Options::default());
        let mut settings = settings(options);
        settings.roots = variable.map_or(settings.roots, |dir| vec![dir.into()]);
        options.instance("org.example", &settings, Some(&usual))
    }

    fn instance(options: &Options) -> String {
        instance_where(None, options)
    }

    #[test]
    fn paths_become_absolute() {
        let options = parsed(&["--claude-dir", "a", "--claude-dir", "/b", "--data-dir", "d"]);
        let here = std::env::current_dir().expect("a working folder");
        assert_eq!(options.roots, [here.join("a").into(), Root::from("/b")]);
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
    fn a_link_and_a_session_option_name_the_place_to_show() {
        let session = |id: &str| Ok(Some(Link::Session(id.to_owned())));
        assert_eq!(parsed(&[]).wish(), Ok(None));
        assert_eq!(parsed(&["--session", "abc"]).wish(), session("abc"));
        assert_eq!(parsed(&["watchbill://session/abc"]).wish(), session("abc"));
        assert_eq!(parsed(&["watchbill://settings"]).wish(), Ok(Some(Link::Settings)));
        assert_eq!(parsed(&["watchbill://nowhere"]).wish(), Err(WrongLink::Place), "the window says so");
        assert!(Options::try_parse_from(["watchbill-desktop", "session"]).is_err(), "no link at all");
        assert!(Options::try_parse_from(["watchbill-desktop", "watchbill://", "watchbill://"]).is_err());
    }

    #[test]
    fn autostart_passes_on_the_watched_folders() {
        assert_eq!(parsed(&["--session", "x"]).of_autostart(), ["--hidden"]);
        let options = parsed(&["--claude-dir", "/a", "--claude-dir", "/b c", "--config", "/d"]);
        let words = options.of_autostart();
        assert_eq!(words, ["--hidden", "--claude-dir", "/a", "--claude-dir", "/b c", "--config", "/d"]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(instance(&parsed(&words)), instance(&options), "a manual start finds it");
    }

    #[test]
    fn the_instance_name_is_the_same_in_every_build() {
        let given = ["--claude-dir", "/a", "--config", "/b"];
        assert_eq!(instance(&parsed(&given)), "org.example.idec67ad690574c24");
    }

    #[test]
    fn programs_with_the_same_folders_share_an_instance_name() {
        let usual = instance(&parsed(&[]));
        assert_eq!(usual, "org.example");
        assert_eq!(usual, instance(&parsed(&["--hidden"])));
        assert_eq!(usual, instance(&parsed(&["--session", "x"])));
        assert_ne!(usual, instance(&parsed(&["--demo"])));
        let other = instance(&parsed(&["--claude-dir", "/a"]));
        assert_ne!(usual, other);
        assert_eq!(other, instance(&parsed(&["--claude-dir", "/a", "--session", "x"])));
        assert_ne!(other, instance(&parsed(&["--claude-dir", "/b"])));
        assert_ne!(
            instance(&parsed(&["--claude-dir", "/b", "--config", "/c"])),
            instance(&parsed(&["--claude-dir", "/b", "--claude-dir", "/c"]))
        );
        assert_eq!(other, instance_where(Some("/a"), &parsed(&[])), "the environment counts like an option");
        assert_eq!(usual, instance_where(Some("/home/dev/.claude"), &parsed(&[])));
    }
}
