//! The version of WebKitGTK that drew the checked-in pictures, and whether the local one can be compared with it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use watchbill_testkit::skipped;

/// The folder of the pictures.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desktop/pictures")
}

/// Whether this run writes new expected pictures: `VISUAL=write`.
pub(crate) fn is_anew() -> bool {
    std::env::var_os("VISUAL").is_some_and(|wish| wish == "write")
}

/// The version of WebKitGTK that the program was built with; it also runs with it here.
fn here() -> Result<String> {
    let output =
        std::process::Command::new("pkg-config").args(["--modversion", "webkit2gtk-4.1"]).output()?;
    Ok(format!("WebKitGTK {}", String::from_utf8_lossy(&output.stdout).trim()))
}

fn note() -> PathBuf {
    folder().join("drawn-by.txt")
}

/// Records this version as the source of the checked-in pictures.
pub(crate) fn here_it_was() -> Result<()> {
    std::fs::create_dir_all(folder())?;
    Ok(std::fs::write(note(), format!("{}\n", here()?))?)
}

/// Names both versions if the checked-in pictures come from another one. A system installs the current version of its
/// archive, and a new version may draw or name an element differently without a fault.
pub(crate) fn elsewhere() -> Result<Option<String>> {
    let (drawn, here) = (std::fs::read_to_string(note())?, here()?);
    Ok((drawn.trim() != here).then(|| format!("it was made by {}, and this is {here}", drawn.trim())))
}

/// Reports a difference to another WebKitGTK's picture, which proves nothing.
pub(crate) fn not_compared(what: &str, which: &str) {
    skipped(&format!("NOT COMPARED: {what} differs here; {which}"));
}
