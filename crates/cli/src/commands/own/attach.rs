//! `attach`: shows an own session, its events or its terminal.

use anyhow::bail;
use watchbill_drive::folder::Folder;
use watchbill_protocol::own::spec::OwnKind;

use super::events::{Printer, Printing, each};
use super::target;
use crate::args::{Global, OneSession};
use crate::terminal_text::Paint;

/// Shows a session from its beginning, until it ends or the user detaches. The session does not end with the reader.
///
/// # Errors
/// When no session matches, or standard input is no terminal for a terminal.
pub fn attach(global: &Global, wanted: &OneSession, paint: Paint) -> anyhow::Result<()> {
    let folder = target::folder(global, &wanted.session, false)?;
    let spec = folder.spec()?;
    let mut printer = Printer::new(Printing { json: wanted.json, paint });
    if target::has_ended(&folder)? {
        let mut written = Ok(());
        watchbill_drive::replay::read(&folder, &spec, 0, &mut |events| {
            written = events.iter().try_for_each(|event| printer.print(event));
            written.is_ok()
        })?;
        written?;
        return printer.end();
    }
    if spec.kind == OwnKind::Pty && !wanted.json {
        return attach_terminal(&folder);
    }
    let mut written = Ok(());
    each(&folder, 0, &mut |event| {
        written = printer.print(event);
        written.is_ok()
    })?;
    written?;
    printer.end()
}

/// Attaches this terminal to that of a session.
///
/// # Errors
/// When this is no terminal.
#[cfg(unix)]
pub fn attach_terminal(folder: &Folder) -> anyhow::Result<()> {
    use std::io::IsTerminal as _;
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        bail!("the session runs in a terminal; attach to it from one, or read its events with --json");
    }
    super::terminal::attach(folder)
}

/// Not built elsewhere.
#[cfg(not(unix))]
pub fn attach_terminal(_folder: &Folder) -> anyhow::Result<()> {
    bail!("terminals can be attached on Unix only, so far")
}
