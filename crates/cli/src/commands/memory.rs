//! `memory` and `summary`: shows memories and summaries, and changes memories as the user decides.

use anyhow::Context;
use watchbill_engine::Millis;
use watchbill_engine::alone::memory::{Reader, Wanted, change_here_or_at_holder, model_program};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::handle::real_sources;
use watchbill_engine::world::archive::with_archive;
use watchbill_protocol::memory::MemoryChange;
use watchbill_protocol::model::TriedTurn;
use watchbill_settings::Settings;

use super::history::{bring_up_to_date_anywhere, reading_settings, stored_settings};
use super::{emit, to_json, width};
use crate::args::{Global, Memory, MemoryCommand, MemoryFormat, SummaryOf};
use crate::render;
use crate::terminal_text::Paint;

/// How long a pause without a span lasts.
const DAY: Millis = Millis::from_secs(24 * 3_600);

/// Runs one of the `memory` commands.
///
/// # Errors
/// When no memory or session fits, the text cannot be kept, or the store cannot be read or written.
pub fn memory(global: &Global, wanted: &Memory, paint: Paint) -> anyhow::Result<()> {
    let cwd = match &wanted.project {
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    let cwd = cwd.to_str().context("the path of the project is not valid UTF-8")?;
    if let Some((change, done)) = change_of(&wanted.command, cwd)? {
        return carry_out(global, wanted, &change, &done);
    }
    let settings = if let MemoryCommand::Said { .. } = wanted.command {
        stored_settings(global)?
    } else {
        let settings = reading_settings(global)?;
        learn(&settings)?;
        settings
    };
    let fs = with_archive(real_sources(), &settings).fs;
    let reader = Reader::open(&settings, &*fs, SystemClock.now())?;
    let text = match &wanted.command {
        MemoryCommand::List { all } => {
            let list = reader.list(cwd, *all)?;
            if wanted.json { to_json(&list)? } else { render::memory::list(&list, width(), paint) }
        }
        MemoryCommand::At { path } => {
            // A path on the command line is relative to the working folder, not to the project.
            let here = std::path::absolute(path)?;
            let list = reader.at(cwd, here.to_str().unwrap_or(path))?;
            if wanted.json { to_json(&list)? } else { render::memory::list(&list, width(), paint) }
        }
        MemoryCommand::Show { id } => {
            let detail = reader.show(id)?;
            if wanted.json { to_json(&detail)? } else { render::memory::detail(&detail, width(), paint) }
        }
        MemoryCommand::Said { session } => {
            let said = reader.said(session)?;
            if wanted.json { to_json(&said)? } else { render::memory::said(&said, paint) }
        }
        MemoryCommand::Try { model: true, sessions, .. } => {
            let program = model_program()?;
            let mut shown = |turn: &TriedTurn| {
                if !wanted.json {
                    // What was printed so far stays, should the rest be interrupted.
                    let _ = emit(&render::memory::tried_turn(turn, paint));
                }
            };
            let trial = reader.try_model(cwd, usize::from(*sessions), &program, &mut shown)?;
            if wanted.json { to_json(&trial)? } else { render::memory::trial(&trial) }
        }
        MemoryCommand::Try { file, prompt, .. } => {
            let file = file.as_deref().map(std::path::absolute).transpose()?;
            let file =
                file.as_ref().map(|file| file.to_str().context("the path of the file is not valid UTF-8"));
            let wanted_places =
                Wanted { file: file.transpose()?, prompt: prompt.as_deref(), ..Wanted::default() };
            let preview = reader.preview(cwd, wanted_places)?;
            if wanted.json { to_json(&preview)? } else { render::memory::preview(&preview, paint) }
        }
        MemoryCommand::Export { format } => {
            let mut list = reader.list(cwd, false)?;
            list.memories.retain(|memory| memory.standing == "active");
            let is_json = wanted.json || *format == MemoryFormat::Json;
            if is_json { to_json(&list)? } else { render::memory::markdown(&list) }
        }
        _ => String::new(),
    };
    emit(&text)
}

/// The change that a command stands for, and what to say when it is done.
fn change_of(command: &MemoryCommand, cwd: &str) -> anyhow::Result<Option<(MemoryChange, String)>> {
    let change = match command.clone() {
        MemoryCommand::Add { text, file } => {
            let path = file.map(|file| std::path::absolute(&file)).transpose()?;
            let path = path.map(|path| path.to_string_lossy().into_owned());
            (MemoryChange::Add { cwd: cwd.to_owned(), text, path, from: None }, "added")
        }
        MemoryCommand::Accept { id } => (MemoryChange::Accept { id }, "accepted"),
        MemoryCommand::Reject { id } => (MemoryChange::Reject { id }, "rejected"),
        MemoryCommand::Edit { id, text } => (MemoryChange::Edit { id, text }, "edited"),
        MemoryCommand::Forget { id } => (MemoryChange::Forget { id }, "forgotten"),
        MemoryCommand::CatchUp => (MemoryChange::CatchUp, ""),
        MemoryCommand::Pause { off: true, .. } => {
            (MemoryChange::Pause { until: None }, "the pause has ended")
        }
        MemoryCommand::Pause { span, off: false } => {
            let until = match span {
                Some(span) => crate::time_arguments::parse_coming(&span)?,
                None => SystemClock.now() + DAY,
            };
            let until = until.to_string();
            let done = format!("nothing is said to any agent, and no model is asked, until {until}");
            return Ok(Some((MemoryChange::Pause { until: Some(until) }, done)));
        }
        _ => return Ok(None),
    };
    Ok(Some((change.0, change.1.to_owned())))
}

fn carry_out(global: &Global, wanted: &Memory, change: &MemoryChange, done: &str) -> anyhow::Result<()> {
    let settings = stored_settings(global)?;
    let fs = with_archive(real_sources(), &settings).fs;
    let changed = change_here_or_at_holder(&settings, &*fs, change)?;
    emit(&match (&changed.id, wanted.json) {
        (_, true) => to_json(&changed)?,
        (Some(id), false) => format!("memory {id} {done}\n"),
        (None, false) => match changed.turns {
            Some(turns) => render::model::caught_up(turns),
            None => format!("{done}\n"),
        },
    })
}

/// Reads new records, and lets the rules see them. What cannot be read is warned of; stored memories are shown all the same.
fn learn(settings: &Settings) -> anyhow::Result<()> {
    if let Err(error) = bring_up_to_date_anywhere(settings) {
        tracing::warn!("new records could not be read into the history, so only stored ones count: {error}");
    }
    let fs = with_archive(real_sources(), settings).fs;
    change_here_or_at_holder(settings, &*fs, &MemoryChange::Learn)?;
    Ok(())
}

/// Shows the summary of a session, or a hand-over.
///
/// # Errors
/// When no stored session fits, or the store cannot be read.
pub fn summary(global: &Global, wanted: &SummaryOf) -> anyhow::Result<()> {
    let settings = reading_settings(global)?;
    learn(&settings)?;
    let fs = with_archive(real_sources(), &settings).fs;
    let reader = Reader::open(&settings, &*fs, SystemClock.now())?;
    emit(&if wanted.hand_over {
        render::memory::hand_over(&reader.hand_over(&wanted.session)?)
    } else {
        let summary = reader.summary(&wanted.session)?;
        if wanted.json { to_json(&summary)? } else { render::memory::summary(&summary) }
    })
}
