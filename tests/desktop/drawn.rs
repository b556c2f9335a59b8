//! Which WebKitGTK drew what is checked in, and whether the one that runs here can be held to that.

use std::path::{Path, PathBuf};

use anyhow::Result;
use watchbill_testkit::left_out;

/// Where the pictures are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desktop/pictures")
}

/// Whether what is seen is what ought to be from now on: `VISUAL=write`.
pub(crate) fn is_anew() -> bool {
    std::env::var_os("VISUAL").is_some_and(|wish| wish == "write")
}

/// The version of WebKitGTK that the program was built with, which is the one it runs with here.
fn here() -> Result<String> {
    let output =
        std::process::Command::new("pkg-config").args(["--modversion", "webkit2gtk-4.1"]).output()?;
    Ok(format!("WebKitGTK {}", String::from_utf8_lossy(&output.stdout).trim()))
}

fn note() -> PathBuf {
    folder().join("drawn-by.txt")
}

/// Notes that what is checked in comes from here.
pub(crate) fn here_it_was() -> Result<()> {
    std::fs::create_dir_all(folder())?;
    Ok(std::fs::write(note(), format!("{}\n", here()?))?)
}

/// Which two there are, when what is checked in comes from another one. A system installs the one its archive has that
/// day, and a new one may draw or name a thing otherwise without anybody's fault.
pub(crate) fn elsewhere() -> Result<Option<String>> {
    let (drawn, here) = (std::fs::read_to_string(note())?, here()?);
    Ok((drawn.trim() != here).then(|| format!("it was made by {}, and this is {here}", drawn.trim())))
}

/// Says that something of another WebKitGTK's looks otherwise here, which proves nothing.
pub(crate) fn not_compared(what: &str, which: &str) {
    left_out(&format!("NOT COMPARED: {what} is otherwise here; {which}"));
}
