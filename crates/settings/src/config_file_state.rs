//! The known state of the configuration file: its contents now and, where those are wrong, its last valid values.

use std::path::Path;
use std::sync::Arc;

use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_protocol::settings::{SettingKey, SettingProblem, SettingsView};
use watchbill_watch::fs::{Fs, NotRegular, StdFs};

use crate::file::{self, ParsedSettings};
use crate::file_values::FileValues;
use crate::precedence::FixedSources;
use crate::settings::{Settings, SettingsError};
use crate::values::Value;

/// The size limit of a configuration file, in bytes. No real one is as long.
const SIZE_LIMIT: u64 = 1 << 20;

/// What the file's path holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    Absent,
    Text(String),
    /// Something that cannot be read as text.
    Refused(SettingProblem),
}

impl Contents {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn reading(&self) -> ParsedSettings {
        match self {
            Self::Absent => ParsedSettings::default(),
            Self::Text(text) => file::read(text),
            Self::Refused(problem) => ParsedSettings::unreadable(problem.clone()),
        }
    }
}

/// Reads the file. Never fails: a problem is part of the result.
pub(crate) fn look(path: &Path) -> Contents {
    let whole =
        |message: String| Contents::Refused(SettingProblem { key: None, line: None, column: None, message });
    // Reading a pipe would wait for its writer, and reading some devices would never end.
    let bytes = match StdFs.read_small(path, SIZE_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Contents::Absent,
        Err(error) if NotRegular::is_cause_of(&error) => return whole("is no ordinary file".to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            return whole("is far too long for a configuration".to_owned());
        }
        Err(error) => return whole(format!("cannot be read: {error}")),
    };
    match String::from_utf8(bytes) {
        Ok(text) => Contents::Text(text),
        Err(error) => {
            let before = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            Contents::Refused(SettingProblem {
                key: None,
                line: Some(before.matches('\n').count() as u64 + 1),
                column: Some(before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1),
                message: "a byte that is no UTF-8; save the file as UTF-8".to_owned(),
            })
        }
    }
}

/// The state of the file, and the settings that result from it.
#[derive(Debug)]
pub(crate) struct ConfigFileState {
    pub(crate) contents: Contents,
    last_valid: FileValues,
    /// The file was once without doubt since the start, so the last values of the settings that guard are known.
    was_clear: bool,
    pub(crate) settings: Arc<Settings>,
    pub(crate) view: Arc<SettingsView>,
}

impl ConfigFileState {
    /// Reads the contents. Where they are wrong, the values of `before` stay in force. `scripts_by_person`: a window has just turned
    /// on that scripts may answer.
    ///
    /// # Errors
    /// When no folder of the agent is known.
    pub(crate) fn of(
        surroundings: &FixedSources,
        contents: Contents,
        before: Option<&Self>,
        scripts_by_person: bool,
    ) -> Result<Self, SettingsError> {
        let mut reading = contents.reading();
        let mut good = FileValues::default();
        if let Some(before) = before {
            if !scripts_by_person {
                leave_scripts_off(&mut reading, &before.last_valid);
            }
            let last = before.last_valid.0.iter().filter(|(key, _)| reading.may_hide(**key));
            good.0.extend(last.map(|(key, value)| (*key, value.clone())));
        }
        good.0.extend(std::mem::take(&mut reading.values));
        let doubt = reading.doubt.filter(|_| before.is_none_or(|before| !before.was_clear));

        let mut settings = surroundings.settle(&good)?;
        settings.config_file.clone_from(&surroundings.file);
        settings.problems = problem(surroundings, &reading.problems, before.is_some()).into_iter().collect();
        settings.doubt = doubt.as_ref().map(|mistake| {
            let path = surroundings.file.as_deref().unwrap_or(Path::new("")).display();
            format!("the configuration file {path} is wrong ({mistake}), so it is not known what may be stored; correct it first").into()
        });
        let view = SettingsView {
            path: surroundings.file.as_ref().map(|path| path.to_string_lossy().into_owned()),
            exists: contents != Contents::Absent,
            data_dir: surroundings.data_dir.as_ref().map(|path| path.to_string_lossy().into_owned()),
            settings: surroundings.view(&good),
            problems: reading.problems,
        };
        let (settings, view) = (Arc::new(settings), Arc::new(view));
        Ok(Self { contents, last_valid: good, was_clear: doubt.is_none(), settings, view })
    }
}

/// While a program runs, the file alone does not let scripts answer: any program can write it, that of an agent too.
fn leave_scripts_off(reading: &mut ParsedSettings, before: &FileValues) {
    let key = SettingKey::AnswersScripts;
    let on = Some(&Value::Flag(true));
    if reading.values.get(&key) != on || before.0.get(&key) == on {
        return;
    }
    reading.values.remove(&key);
    reading.problems.push(SettingProblem {
        key: Some(key),
        line: None,
        column: None,
        message: "a program has just turned this on; if it was you, turn it on in the window, or start Watchbill again"
            .to_owned(),
    });
}

/// All mistakes in the file as one problem.
fn problem(surroundings: &FixedSources, found: &[SettingProblem], again: bool) -> Option<Problem> {
    let path = surroundings.file.as_deref().filter(|_| !found.is_empty())?;
    const MAX_LISTED: usize = 5;
    let mut listed: Vec<String> = found.iter().take(MAX_LISTED).map(ToString::to_string).collect();
    if found.len() > MAX_LISTED {
        listed.push(format!("and {} more", found.len() - MAX_LISTED));
    }
    Some(Problem {
        path: path.to_string_lossy().into(),
        kind: ProblemKind::Configuration,
        count: found.len() as u64,
        detail: format!(
            "{}; correct it; {} counts until then",
            listed.join("; "),
            if again { "the last right value" } else { "the default" }
        )
        .into(),
    })
}
