//! How the shell starts the engine, and waits for it.

use tauri::async_runtime;
use watchbill_engine::handle::{self, Handle};
use watchbill_protocol::error::{ApiError, ErrorCode};
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

/// Runs work that may wait for a disk or the engine.
///
/// # Errors
/// Those of the work.
pub async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    async_runtime::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "the answer to a request ended in a panic");
        Err(ApiError::new(ErrorCode::Internal, "Watchbill failed to answer; its log says why"))
    })
}
