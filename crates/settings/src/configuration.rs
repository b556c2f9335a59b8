//! The configuration file while a program runs: what it says, what was last right in it, and how it is changed.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use watchbill_hooks::install::file::{FileError, SettingsFile};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::settings::{SettingChange, SettingKey, SettingsView};
use watchbill_watch::fs::{FileKind, FileStat, Fs, NotRegular, StdFs};

use crate::edit::{self, EditError};
use crate::file::read;
use crate::known::{Contents, Known, look};
use crate::layers::Surroundings;
use crate::settings::{Environment, Given, Settings, SettingsError};
use crate::table::{default, kind};
use crate::values::Value;

/// What everybody is told after a change.
#[derive(Debug, Clone)]
pub struct Changed {
    /// What is in force now.
    pub settings: Arc<Settings>,
    /// What was in force before.
    pub before: Arc<Settings>,
    /// The same, as it is shown.
    pub view: Arc<SettingsView>,
}

struct State {
    known: Known,
    last: Option<Edit>,
}

/// The last change of the file's text. Taking it back brings back every byte, a comment beside a removed line among them.
struct Edit {
    key: SettingKey,
    had: Option<Value>,
    before: String,
    after: String,
}

/// Is told of each change, in their order; `false` ends that.
pub type Listener = Box<dyn FnMut(&Changed) -> bool + Send>;

/// Options, environment and the file. Shared by whoever wants to know or to change something.
pub struct Configuration {
    surroundings: Surroundings,
    state: Mutex<State>,
    /// Held while the file is changed or looked at: of two windows that change it at once neither writes over the other, and
    /// what was read before a change is not taken for news after it.
    changing: Mutex<()>,
    /// Held while they are told, so that nobody hears of an older state after a newer one.
    listeners: Mutex<Vec<Listener>>,
}

impl Configuration {
    /// Reads the file for the first time.
    ///
    /// # Errors
    /// When a file that was named cannot be read, or no folder of the agent is known.
    pub fn open(given: &Given, env: Environment<'_>) -> Result<Self, SettingsError> {
        let surroundings = Surroundings::of(given, env);
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
        let known = Known::of(&surroundings, contents, None)?;
        Ok(Self {
            surroundings,
            state: Mutex::new(State { known, last: None }),
            changing: Mutex::default(),
            listeners: Mutex::default(),
        })
    }

    /// What is in force.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.state().known.settings)
    }

    /// The same, as it is shown.
    pub fn view(&self) -> Arc<SettingsView> {
        Arc::clone(&self.state().known.view)
    }

    /// The file, whether it is there or not.
    pub fn path(&self) -> Option<&Path> {
        self.surroundings.file.as_deref()
    }

    /// Tells of every change from now on, from the thread that has noticed it. A listener must not change anything itself.
    pub fn subscribe(&self, listener: Listener) {
        self.listeners().push(listener);
    }

    /// Looks at the file again, and tells what has changed.
    pub fn look_again(&self) {
        if let Some(path) = self.path() {
            let _alone = self.alone();
            self.take(look(path));
        }
    }

    /// Whether there was something in the file and is no more. So it is for a moment while an editor saves it.
    pub(crate) fn has_emptied(&self) -> bool {
        let is_empty = |contents: &Contents| match contents {
            Contents::Absent => true,
            Contents::Text(text) => text.trim().is_empty(),
            Contents::Refused(_) => false,
        };
        !is_empty(&self.state().known.contents) && self.path().is_some_and(|path| is_empty(&look(path)))
    }

    /// Changes settings in the file, all or none. A default removes the line: what nobody has said follows later versions.
    ///
    /// # Errors
    /// When a value is wrong, something else decides, the file cannot be understood or written, or somebody else has
    /// changed it meanwhile; then it is as it was.
    pub fn change(&self, changes: &[SettingChange]) -> Result<SettingsView, ApiError> {
        let path = self.path().ok_or_else(|| {
            ApiError::new(
                ErrorCode::Unsupported,
                "no folder for a configuration file is known; name one with --config",
            )
        })?;
        let _alone = self.alone();
        let changes = self.checked(changes)?;
        let file = SettingsFile::read(path).map_err(|error| refusal(&error))?;
        let known = self.state().known.contents.text().map(str::to_owned);
        if file.text != known {
            self.take(look(path));
            let message = format!(
                "{} was changed by another program just now; look at it, then try again",
                path.display()
            );
            return Err(ApiError::new(ErrorCode::Conflict, message));
        }
        let mut text = known.clone().unwrap_or_default();
        let mut state = self.state();
        for (key, value) in changes {
            let takes_back = |last: &Edit| last.key == key && last.had == value && last.after == text;
            if let Some(last) = state.last.take().filter(takes_back) {
                text = last.before;
                continue;
            }
            let after = edit::change(&text, key, value.as_ref())
                .map_err(|error| ApiError::new(code_of(&error), format!("{}: {error}", path.display())))?;
            let had = read(&text).values.remove(&key);
            state.last = Some(Edit { key, had, before: text, after: after.clone() });
            text = after;
        }
        drop(state);
        if known.as_deref() != Some(&*text) && !(known.is_none() && text.is_empty()) {
            file.replace(Some(&text)).map_err(|error| refusal(&error))?;
            self.take(Contents::Text(text));
        }
        Ok((*self.view()).clone())
    }

    /// The values, where they are right and the file decides.
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
            // The client's own variable comes after the file, so that the default has to be said to count.
            let unsaid = key != SettingKey::Roots;
            Ok((key, value.filter(|value| !(unsaid && *value == default(key)))))
        };
        changes.iter().map(one).collect()
    }

    fn take(&self, contents: Contents) {
        // Taken first: of two that have looked the later one tells last.
        let mut listeners = self.listeners();
        let changed = {
            let mut state = self.state();
            if state.known.contents == contents {
                return;
            }
            let known = match Known::of(&self.surroundings, contents, Some(&state.known)) {
                Ok(known) => known,
                Err(error) => {
                    tracing::warn!(%error, "the configuration file is not followed");
                    return;
                }
            };
            let before = std::mem::replace(&mut state.known, known).settings;
            Changed {
                settings: Arc::clone(&state.known.settings),
                before,
                view: Arc::clone(&state.known.view),
            }
        };
        listeners.retain_mut(|listener| listener(&changed));
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(error: &FileError) -> ApiError {
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

/// Puts the settings together once.
///
/// # Errors
/// When a named file cannot be read, or no folder can be found. What is wrong in a file is no error: it is among the
/// settings' problems, and the rest counts.
pub fn settle(given: &Given, env: Environment<'_>) -> Result<Settings, SettingsError> {
    Ok((*Configuration::open(given, env)?.settings()).clone())
}
