//! What the shell remembers of the window between starts: its place in both forms, and which form it had.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use super::place::Place;

/// The window's two forms. Each has its own size and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Form {
    /// The roster, with the details beside it where there is room.
    #[default]
    Full,
    /// A strip with the counts and the sessions that need the user, above other windows.
    Compact,
}

/// The file's contents. Fields that a file of another version lacks get their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Remembered {
    form: Form,
    full: Place,
    compact: Place,
}

/// The memory, and its file.
pub struct SavedPlace {
    file: Option<PathBuf>,
    remembered: Mutex<Remembered>,
}

impl SavedPlace {
    /// Reads the file. If it is missing or damaged, only the window's place is lost.
    pub fn read(file: Option<PathBuf>) -> Self {
        let remembered = file.as_deref().and_then(read).unwrap_or_default();
        Self { file, remembered: Mutex::new(remembered) }
    }

    /// Which form the window has, or will have when it opens.
    pub fn form(&self) -> Form {
        self.lock().form
    }

    /// Where the window was in this form.
    pub fn place(&self, form: Form) -> Place {
        let remembered = self.lock();
        match form {
            Form::Full => remembered.full,
            Form::Compact => remembered.compact,
        }
    }

    /// From now on the window has this form.
    pub fn change(&self, form: Form) {
        self.lock().form = form;
    }

    /// The window was moved or resized. A maximized window keeps the place from before.
    pub fn note(&self, now: Place) {
        let mut remembered = self.lock();
        let place = match remembered.form {
            Form::Full => &mut remembered.full,
            Form::Compact => &mut remembered.compact,
        };
        *place = if now.maximized { Place { maximized: true, ..*place } } else { now };
    }

    /// Writes the file in one step, so that a kill leaves either the old or the new one.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn keep(&self) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let text = serde_json::to_string_pretty(&*self.lock())?;
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        // Several instances may share the folder, so the temporary name has this process's id.
        let fresh = folder.join(format!("window.json.{}", std::process::id()));
        let written = std::fs::write(&fresh, text.as_bytes()).and_then(|()| std::fs::rename(&fresh, file));
        if written.is_err() {
            // This error does not matter beside the first one.
            let _ = std::fs::remove_file(&fresh);
        }
        written
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        // No code in here panics half-way through a change, so a poisoned memory is still whole.
        self.remembered.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn read(file: &Path) -> Option<Remembered> {
    let text = std::fs::read_to_string(file).ok()?;
    serde_json::from_str(&text)
        .inspect_err(|error| tracing::warn!(%error, "{} cannot be read; the window opens at the default place", file.display()))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(x: i32) -> Place {
        Place { x, y: 10, width: 420, height: 720, scale: 1.0, maximized: false }
    }

    #[test]
    fn both_forms_come_back_each_where_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/window.json");
        let memory = SavedPlace::read(Some(file.clone()));
        assert_eq!((memory.form(), memory.place(Form::Full)), (Form::Full, Place::default()));
        memory.note(place(1));
        memory.change(Form::Compact);
        memory.note(place(2));
        memory.keep().expect("the folder is ours");
        let again = SavedPlace::read(Some(file.clone()));
        assert_eq!(again.form(), Form::Compact);
        assert_eq!((again.place(Form::Full), again.place(Form::Compact)), (place(1), place(2)));
        assert_eq!(std::fs::read_dir(file.parent().expect("it has one")).expect("readable").count(), 1);
    }

    #[test]
    fn a_window_that_fills_the_screen_keeps_the_place_from_before() {
        let memory = SavedPlace::read(None);
        memory.note(place(1));
        memory.note(Place { maximized: true, ..place(0) });
        assert_eq!(memory.place(Form::Full), Place { maximized: true, ..place(1) });
        memory.keep().expect("without a file there is nothing to fail");
    }

    #[test]
    fn a_failed_write_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().expect("a folder");
        // A folder at the path of the file.
        let file = folder.path().join("window.json");
        std::fs::create_dir(&file).expect("the folder is ours");
        assert!(SavedPlace::read(Some(file)).keep().is_err());
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_damaged_file_gives_the_default_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("window.json");
        for text in ["", "{", "[]", "{\"full\":3}", "{\"form\":\"huge\"}", "{\"full\":{\"x\":1e99}}"] {
            std::fs::write(&file, text).expect("the folder is ours");
            assert_eq!(SavedPlace::read(Some(file.clone())).place(Form::Full), Place::default(), "{text}");
        }
        let other = "{\"full\":{\"x\":5,\"width\":9,\"height\":9,\"tilt\":3},\"later\":{}}";
        std::fs::write(&file, other).expect("the folder is ours");
        assert_eq!(SavedPlace::read(Some(file)).place(Form::Full).x, 5, "known fields count");
    }
}
