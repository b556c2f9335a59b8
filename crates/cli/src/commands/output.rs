//! Standard output: JSON, text, and how wide it may be.

use std::io::Write;

use crate::paint::json;

pub fn to_json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(json(serde_json::to_string(value)?) + "\n")
}

/// Writes to standard output. A reader that has closed the pipe has seen enough.
///
/// # Errors
/// When the output cannot be written for any other reason, a full disk for instance.
pub fn emit(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Columns to fill: as many as COLUMNS says, else as the terminal has, else 100.
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.or_else(terminal).unwrap_or(100).clamp(40, 1000)
}
