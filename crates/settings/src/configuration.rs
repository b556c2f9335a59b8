//! The configuration file while a program runs: its contents, its last valid values, and edits to it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use watchbill_hooks::install::file::{FileError, SettingsFile};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::settings::{SettingChange, SettingKey, SettingsView};
use watchbill_watch::fs::{FileKind, FileStat, Fs, NotRegular, StdFs};

use crate::config_file_state::{ConfigFileState, Contents, look};
use crate::edit::{self, EditError};
use crate::precedence::FixedSources;
use crate::settings::{CommandLineOptions, Environment, Settings, SettingsError};
use crate::table::{default, kind};
use crate::values::Value;

/// Sent to each listener after a change.
#[derive(Debug, Clone)]
pub struct SettingsChange {
    /// The settings in force now.
    pub settings: Arc<Settings>,
    /// The settings in force before.
    pub before: Arc<Settings>,
    /// The settings now, in the form that the window shows.
    pub view: Arc<SettingsView>,
}

/// Called for each change, in order. Returning `false` unsubscribes it.
pub type Listener = Box<dyn FnMut(&SettingsChange) -> bool + Send>;

/// Options, environment and the file together. All threads that read or change settings share it.
pub struct Configuration {
    surroundings: FixedSources,
    state: Mutex<ConfigFileState>,
    /// Held while the file is read or changed. So two windows cannot overwrite each other's edit, and contents read
    /// before an edit are not taken for a later change.
    changing: Mutex<()>,
    /// Held while listeners are called, so that none gets an older state after a newer one.
    listeners: Mutex<Vec<Listener>>,
}

impl Configuration {
    /// Reads the file for the first time.
    ///
    /// # Errors
    /// When a named file cannot be read, or no folder of the agent is known.
    pub fn open(given: &CommandLineOptions, env: Environment<'_>) -> Result<Self, SettingsError> {
        let surroundings = FixedSources::of(given, env);
        if let Some(path) = surroundings.file.as_deref().filter(|_| surroundings.named) {
            // A pipe is not opened: that would wait for its writer.
            let open = |found: FileStat| match found.kind {
                FileKind::File => StdFs.open(path).map(drop),
                _ => Err(NotRegular.into()),
            };
            let opened = StdFs.stat(path).and_then(open);
            opened.map_err(|source| SettingsError::Unreadable { path: path.to_path_buf(), source })?;
        }
        let contents = surroundings.file.as_deref().map_or(Contents::Absent, look);
        let known = ConfigFileState::of(&surroundings, contents, None, false)?;
        Ok(Self {
            surroundings,
            state: Mutex::new(known),
            changing: Mutex::default(),
            listeners: Mutex::default(),
        })
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.state().settings)
    }

    /// The settings in force, in the form that the window shows.
    pub fn view(&self) -> Arc<SettingsView> {
        Arc::clone(&self.state().view)
    }

    /// The path of the file, whether the file exists or not.
    pub fn path(&self) -> Option<&Path> {
        self.surroundings.file.as_deref()
    }

    /// Calls the listener for every change from now on, on the thread that noticed the change. A listener must not
    /// change settings itself.
    pub fn subscribe(&self, listener: Listener) {
        self.listeners().push(listener);
    }

    /// Reads the file again, and calls the listeners if its contents have changed.
    pub fn reload(&self) {
        if let Some(path) = self.path() {
            let _alone = self.lock_changes();
            self.apply_contents(look(path), false);
        }
    }

    /// Whether the file had contents and is now empty or absent. That happens for a moment while an editor saves
    /// it.
    pub(crate) fn has_emptied(&self) -> bool {
        let is_empty = |contents: &Contents| match contents {
            Contents::Absent => true,
            Contents::Text(text) => text.trim().is_empty(),
            Contents::Refused(_) => false,
        };
        !is_empty(&self.state().contents) && self.path().is_some_and(|path| is_empty(&look(path)))
    }

    /// Changes settings in the file, all or none. A value that equals the default removes the line, so that the
    /// setting follows the default of later versions.
    ///
    /// # Errors
    /// When a value is wrong, an option or variable fixes the setting, the file cannot be parsed or written, or
    /// another program has changed it meanwhile. The file then stays as it was.
    pub fn change(&self, changes: &[SettingChange]) -> Result<SettingsView, ApiError> {
        let path = self.path().ok_or_else(|| {
            ApiError::new(
                ErrorCode::Unsupported,
                "no place for a configuration file is known; name a file with --config",
            )
        })?;
        let _alone = self.lock_changes();
        let turns_on = |change: &SettingChange| change.key == SettingKey::AnswersScripts;
        let scripts_by_person = changes.iter().any(turns_on);
        let changes = self.checked(changes)?;
        let file = SettingsFile::read(path).map_err(|error| refusal(&error))?;
        let known = self.state().contents.text().map(str::to_owned);
        if file.text != known {
            self.apply_contents(look(path), false);
            let message = format!(
                "{} was changed by another program just now; look at it, then try again",
                path.display()
            );
            return Err(ApiError::new(ErrorCode::Conflict, message));
        }
        let mut text = known.clone().unwrap_or_default();
        for (key, value) in changes {
            text = edit::change(&text, key, value.as_ref())
                .map_err(|error| ApiError::new(code_of(&error), format!("{}: {error}", path.display())))?;
        }
        if known.as_deref() != Some(&*text) && !(known.is_none() && text.is_empty()) {
            file.replace(Some(&text)).map_err(|error| refusal(&error))?;
            self.apply_contents(Contents::Text(text), scripts_by_person);
        } else if scripts_by_person && known.is_some() {
            // The file has it already, from another program.
            self.apply_contents(Contents::Text(text), true);
        }
        Ok((*self.view()).clone())
    }

    /// Parses the new values; `None` removes the line. Refuses a wrong value, and a setting that an option or
    /// variable fixes.
    fn checked(&self, changes: &[SettingChange]) -> Result<Vec<(SettingKey, Option<Value>)>, ApiError> {
        let view = self.view();
        let invalid = |message: String| ApiError::new(ErrorCode::Invalid, message);
        let one = |change: &SettingChange| {
            let key = change.key;
            let setting = view.settings.iter().find(|setting| setting.key == key);
            if let Some(by) = setting.and_then(|setting| setting.fixed_by.as_deref()) {
                return Err(invalid(format!("{by} decides this; leave it out to set it here")));
            }
            let value = change.value.as_ref().map(|value| kind(key).of_wire(value)).transpose();
            let value = value.map_err(invalid)?;
            // The agent's own variable ranks after the file, so only a written default of `roots` overrides it.
            let unsaid = key != SettingKey::Roots;
            Ok((key, value.filter(|value| !(unsaid && *value == default(key)))))
        };
        changes.iter().map(one).collect()
    }

    fn apply_contents(&self, contents: Contents, scripts_by_person: bool) {
        // Locked before the state, so that listeners are called in the order in which the state changes.
        let mut listeners = self.listeners();
        let changed = {
            let mut state = self.state();
            if state.contents == contents && !scripts_by_person {
                return;
            }
            let before = Some(&*state);
            let known = match ConfigFileState::of(&self.surroundings, contents, before, scripts_by_person) {
                Ok(known) => known,
                Err(error) => {
                    tracing::warn!(%error, "the configuration file is not followed");
                    return;
                }
            };
            let before = std::mem::replace(&mut *state, known).settings;
            SettingsChange { settings: Arc::clone(&state.settings), before, view: Arc::clone(&state.view) }
        };
        listeners.retain_mut(|listener| listener(&changed));
    }

    fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, ConfigFileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a file of settings was not changed, as the user gets it.
pub fn refusal(error: &FileError) -> ApiError {
    let code = match error {
        FileError::Changed { .. } => ErrorCode::Conflict,
        FileError::Settings { .. } => ErrorCode::Invalid,
        FileError::Io { .. } | FileError::ReadOnly { .. } | FileError::Linked { .. } => ErrorCode::Unreadable,
    };
    ApiError::new(code, error.to_string())
}

fn code_of(error: &EditError) -> ErrorCode {
    match error {
        EditError::Malformed(_) | EditError::Shape(_) => ErrorCode::Invalid,
        EditError::Unsafe(_) => ErrorCode::Internal,
    }
}

/// Resolves the settings once.
///
/// # Errors
/// When a named file cannot be read, or no folder of the agent can be found. A mistake in a file is no error: it
/// is one of the settings' problems, and the rest of the file counts.
pub fn resolve_settings(given: &CommandLineOptions, env: Environment<'_>) -> Result<Settings, SettingsError> {
    Ok((*Configuration::open(given, env)?.settings()).clone())
}
