//! The engine as the shell starts it.

use watchbill_engine::handle::{self, Handle};
use watchbill_settings::{Configuration, Given, Settings, SettingsError};

use crate::options::Options;

/// Puts the settings together from the options, the environment, the configuration file and the defaults.
///
/// # Errors
/// When a file that was named cannot be read, or no folder is known.
pub fn configure(options: &Options) -> Result<Configuration, SettingsError> {
    let given = Given {
        claude_dirs: options.claude_dirs.clone(),
        data_dir: options.data_dir.clone(),
        config: options.config.clone(),
    };
    Configuration::open(&given, &|name| std::env::var_os(name))
}

/// The settings of a start without options and without variables; nothing when they cannot be put together.
#[cfg(target_os = "linux")]
pub fn usual() -> Option<Settings> {
    watchbill_settings::settle(&Given::default(), &|name| std::env::var_os(name).filter(|_| name == "HOME"))
        .ok()
}

/// Starts watching the machine's own sessions.
///
/// # Errors
/// When the system gives no thread.
pub fn open(settings: Settings) -> std::io::Result<Handle> {
    handle::start(settings)
}

/// Starts the demo: made-up sessions, played in memory.
///
/// # Errors
/// When the system gives no thread.
pub fn demo() -> std::io::Result<Handle> {
    watchbill_engine::demo::start()
}
