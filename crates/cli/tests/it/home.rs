//! The home of a test: the agent's folder, a data folder, and the program that runs in it.

use std::fs::File;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::program::{Finished, run, watchbill};

/// A home of its own, removed when it is dropped.
pub struct Home {
    folder: tempfile::TempDir,
    data: PathBuf,
    config: Option<PathBuf>,
}

impl Home {
    /// An empty home.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { data: folder.path().join("data"), folder, config: None }
    }

    /// With a data folder elsewhere, and a configuration file of this text.
    pub fn with(data: PathBuf, config: &str) -> Self {
        Self { data, ..Self::empty().configured(config) }
    }

    /// The same with a configuration file of this text.
    pub fn configured(self, config: &str) -> Self {
        let path = self.path().join("config.toml");
        std::fs::write(&path, config).unwrap();
        Self { config: Some(path), ..self }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn claude(&self) -> PathBuf {
        self.path().join(".claude")
    }

    pub fn data(&self) -> PathBuf {
        self.data.clone()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = watchbill(self.path());
        command.arg("--data-dir").arg(&self.data);
        command.args(self.config.iter().flat_map(|config| [Path::new("--config"), config])).args(words);
        command
    }

    /// This test takes the place of the program that holds the store: its lock, and its socket.
    pub fn pretend_holder(&self) -> (UnixListener, File) {
        let run = self.data.join("run");
        std::fs::create_dir_all(&run).unwrap();
        let lock = File::create(self.data.join("writer.lock")).unwrap();
        lock.try_lock().unwrap();
        (UnixListener::bind(run.join("engine.sock")).unwrap(), lock)
    }

    /// A new folder in it.
    pub fn folder(&self, name: &str) -> PathBuf {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let folder = self.path().join(format!("{name}{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    pub fn run_watchbill(&self, words: &[&str]) -> Finished {
        run(&mut self.command(words))
    }

    /// The output of a command that must succeed.
    pub fn out(&self, words: &[&str]) -> String {
        let output = self.run_watchbill(words);
        assert_eq!((output.code, &*output.err), (0, ""), "{words:?}");
        output.out
    }

    pub fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.out(words)).unwrap()
    }
}

/// A command without its inherited environment, as a line for a shell, with additional variables.
pub fn line(command: &Command, variables: &[(&str, &str)]) -> String {
    let own = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)));
    let set = own.chain(variables.iter().copied()).map(|(name, value)| quoted(&format!("{name}={value}")));
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words = words.map(|word| quoted(word.to_str().unwrap()));
    ["env".to_owned(), "-i".to_owned()].into_iter().chain(set).chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
