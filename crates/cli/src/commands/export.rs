//! `export`: writes a work chain with all its entries as a document that may be shared.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use watchbill_engine::engine::Outlook;
use watchbill_engine::model::publish::Published;
use watchbill_history::query::export::without_private;
use watchbill_history::query::timeline::{ItemRange, TimelineReader};
use watchbill_platform::files::open_private;
use watchbill_protocol::export::ExportChain;

use super::{emit, engine, gate, to_json};
use crate::args::{ExportFormat, Global};
use crate::render;

/// Writes the chain of a session.
///
/// # Errors
/// When the session is not known, its transcripts cannot be read, or the file exists or cannot be written.
pub fn export(
    global: &Global,
    session: &str,
    format: ExportFormat,
    output: Option<PathBuf>,
) -> anyhow::Result<()> {
    let engine = engine(global, Outlook::LIVE)?;
    let gate = gate(global)?;
    let plan = engine.timeline_plan(&gate, session)?;
    let timeline = TimelineReader::default().read(engine.fs(), &plan, ItemRange::whole())?;
    let chain = engine.gated_chain(&gate, session)?;
    let rows = engine.current(true);
    let head = rows.rows.iter().find(|row| row.id.as_str() == chain.head).map(Published::session);
    let export = without_private(ExportChain {
        exported_at: engine.now().to_string(),
        title: head.as_ref().map(render::name),
        project: head.and_then(|row| row.cwd.clone()),
        chain,
        items: timeline.items,
    });
    let text = match format {
        ExportFormat::Json => to_json(&export)?,
        ExportFormat::Md => render::export::markdown(&export),
    };
    // `-` is standard output, as in other programs; a file of that name is `./-`.
    match output.filter(|path| path.as_os_str() != "-") {
        None => emit(&text),
        Some(path) => write_new(&path, &text),
    }
}

/// Writes a new file with mode 0600: a history may hold text that no other user should read.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let opened = open_private(std::fs::OpenOptions::new().write(true).create_new(true), path);
    let mut file = match opened {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("{} is there already; remove it, or name another file", path.display())
        }
        other => other.with_context(|| format!("cannot write {}", path.display()))?,
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // An incomplete document is useless, so it is removed. The caller reports the error of writing, not one of
        // removing.
        std::fs::remove_file(path).unwrap_or_default();
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
