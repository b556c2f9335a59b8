//! How the shell starts the engine.

use watchbill_engine::handle::{self, Handle};
use watchbill_settings::{CommandLineOptions, Configuration, Settings, SettingsError};

use crate::options::Options;

/// Builds the settings from the options, the environment, the configuration file and the defaults.
///
/// # Errors
/// When a named file cannot be read, or no folder is known.
pub fn configure(options: &Options) -> Result<Configuration, SettingsError> {
    let given = CommandLineOptions {
        roots: options.roots.clone(),
        data_dir: options.data_dir.clone(),
        config: options.config.clone(),
    };
    Configuration::open(&given, &|name| std::env::var_os(name))
}

/// The settings of a start without options and without variables; `None` if they cannot be built.
#[cfg(target_os = "linux")]
pub fn usual() -> Option<Settings> {
    watchbill_settings::resolve_settings(&CommandLineOptions::default(), &|name| {
        std::env::var_os(name).filter(|_| name == "HOME")
    })
    .ok()
}

/// Starts watching the sessions of this machine.
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
