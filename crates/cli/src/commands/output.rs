//! Standard output: JSON, text, and the width of lines.

use std::io::Write;

use crate::terminal_text::json;

pub fn to_json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(json(serde_json::to_string(value)?) + "\n")
}

/// Writes to standard output. A closed pipe is no error.
///
/// # Errors
/// When the output cannot be written for another reason, a full disk for instance.
pub fn emit(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// The width in columns: from COLUMNS, else from the terminal, else 100.
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.or_else(terminal).unwrap_or(100).clamp(40, 1000)
}
