//! The commands, one file each.

pub mod answer;
mod context;
pub mod export;
pub mod focus;
pub mod history;
mod holder;
pub mod hook_answer;
pub mod hook_context;
pub mod hooks;
pub mod mcp;
pub mod memory;
pub mod open;
mod output;
pub mod own;
pub mod pages;
pub mod prompt;
pub mod running;
pub mod serve;
pub mod user_commands;
pub mod watch;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;

use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::handle::doctor;
use watchbill_engine::model::publish::snapshot;
use watchbill_history::query::timeline::{ItemRange, TimelineReader};
use watchbill_hooks::install::client::client_version;
use watchbill_hooks::{sender, status_line};
use watchbill_protocol::doctor::WatchMode;

use crate::args::{Cli, ColorChoice, Command, Global, OneSession};
use crate::render::{self, roster::NO_REFUSED, roster::RosterView};
use crate::terminal_text::Paint;

use context::{configuration, engine, gate, recent, settings};
use output::to_json;
pub use output::{emit, width};

/// Runs a command. The error is one line for the user. A closed pipe is no error.
///
/// # Errors
/// When the command fails.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    let Cli { command, global } = cli;
    let paint = Paint(match global.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            std::io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    });
    match command {
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { folder: None } => pages::man(),
        Command::Man { folder: Some(folder) } => pages::write_man(&folder),
        // `main` handles this before the options are parsed. It gets here only if options stand before the word.
        Command::Hook { agent, markers, answer, context } => {
            let words = markers.then(|| "--markers".into());
            let words = words.into_iter().chain(["--agent".into(), agent.as_str().into()]);
            let data_dir = global.data_dir.map(|dir| [OsString::from("--data-dir"), dir.into()]);
            let words = data_dir.into_iter().flatten().chain(words);
            if answer {
                hook_answer::run(words);
            } else if context {
                hook_context::run(words);
            } else {
                sender::run(&sender::HookArguments::parse(words));
            }
            Ok(())
        }
        Command::Statusline { own } => {
            let data_dir = global.data_dir.map(|dir| [OsString::from("--data-dir"), dir.into()]);
            let own = own.map(|own| ["--".into(), own]);
            std::process::exit(status_line::run(data_dir.into_iter().chain(own).flatten()).into());
        }
        Command::Hooks { command } => hooks::run(&global, command, paint),
        Command::Watch { json, all } => watch::watch(&global, json, all, paint),
        Command::Serve { systemd: true, .. } => serve::print_unit(&global),
        Command::Serve { systemd: false, http, port } => serve::serve(&global, http.then_some(port)),
        Command::Mcp => mcp::serve(&global),
        Command::Focus(wanted) => focus::focus(&global, &wanted.session, wanted.json),
        Command::Open { session } => open::open(&global, session.as_deref()),
        Command::Search(wanted) => history::search(&global, &wanted, paint),
        Command::Index { json, full, cut } => history::index(&global, json, full, cut),
        Command::Alerts { json } => history::alerts(&global, json, paint),
        Command::Day { date, json } => history::day(&global, date.as_deref(), json, paint),
        Command::Limits { json } => history::limits(&global, json, paint),
        Command::Stats { json, by, cost, since } => history::stats(&global, json, by, cost, since, paint),
        Command::Forget(wanted) => history::forget(&global, &wanted),
        Command::Memory(wanted) => memory::memory(&global, &wanted, paint),
        Command::Summary(wanted) => memory::summary(&global, &wanted),
        Command::Answer(wanted) => answer::answer(&global, &wanted),
        Command::Prompt(wanted) => own::prompt(&global, &wanted, paint),
        Command::Run(wanted) => own::run(&global, &wanted, paint),
        Command::Attach(wanted) => own::attach(&global, &wanted, paint),
        Command::Queue(wanted) => own::queue(&global, &wanted),
        Command::Interrupt(wanted) => own::interrupt(&global, &wanted),
        Command::Stop(wanted) => own::stop(&global, &wanted),
        Command::Resume(wanted) => own::resume(&global, &wanted),
        Command::Fork(wanted) => own::fork(&global, &wanted),
        Command::Answers { since, json } => answer::answers(&global, since, json, paint),
        Command::Snooze(wanted) => user_commands::snooze(&global, &wanted),
        Command::PutAway { session, back } => user_commands::put_away(&global, &session, back),
        Command::Chain(wanted) if user_commands::command_of(&wanted).is_some() => {
            match user_commands::command_of(&wanted) {
                Some(word) => user_commands::chain(&global, &wanted, &word, paint),
                None => Ok(()),
            }
        }
        Command::Doctor { schema: true, .. } => emit(&watchbill_history::query::schema()),
        Command::Export { session, format, output } => export::export(&global, &session, format, output),
        command => {
            if !global.demo
                && let Some(text) = running::answer(&settings(&global)?, &command, paint)?
            {
                return emit(&text);
            }
            let (live, until) = match &command {
                Command::Roster { at, no_live, .. } => (!*no_live && at.is_none(), *at),
                _ => (true, None),
            };
            // The process ends after the answer, and the system then takes all memory back at once. Freeing it piece
            // by piece would take as long as reading it from the store.
            let outlook = Outlook { live, until };
            let engine = std::mem::ManuallyDrop::new(match command {
                Command::Status { .. } | Command::Roster { all: false, .. } if !global.demo => {
                    recent(&global, outlook)?
                }
                _ => engine(&global, outlook)?,
            });
            emit(&answer(&engine, &command, &global, paint)?)
        }
    }
}

fn answer(engine: &Engine, command: &Command, global: &Global, paint: Paint) -> anyhow::Result<String> {
    let now = engine.now().to_string();
    Ok(match command {
        Command::Roster { json, all, at, programs, refused, .. } => {
            let view = RosterView { programs: *programs, refused: *refused };
            let roster = view.of(snapshot(&engine.current(*all)));
            if *json {
                to_json(&roster)?
            } else {
                let hidden = engine.count_all().saturating_sub(roster.sessions.len());
                let nothing = render::roster::nothing(hidden, at.is_some());
                let nothing = if *refused { NO_REFUSED } else { &nothing };
                render::roster::render(&roster, nothing, view, width(), paint)
            }
        }
        Command::Why(OneSession { session, json }) => {
            let why = engine.why(session)?;
            if *json { to_json(&why)? } else { render::why::render(&why, &now, width(), paint) }
        }
        Command::Chain(wanted) => {
            let chain = engine.chain(&wanted.session)?;
            if wanted.json { to_json(&chain)? } else { render::chain::render(&chain, paint) }
        }
        Command::Show { session, json, from, limit } => {
            let plan = engine.timeline_plan(&gate(global)?, session)?;
            let timeline =
                TimelineReader::default().read(engine.fs(), &plan, ItemRange::new(*from, *limit).nested())?;
            if *json { to_json(&timeline)? } else { render::timeline::render(&timeline, width(), paint) }
        }
        Command::Status { format } => {
            render::status::render(&snapshot(&engine.current(false)), *format) + "\n"
        }
        Command::Doctor { json, report, .. } => {
            // The demo has no folder to watch.
            let client_of = |root: &watchbill_agents::Root| {
                client_version(root.agent, &|name| std::env::var_os(name), root)
            };
            let doctor = match global.demo {
                true => doctor::doctor(engine, &|_| WatchMode::None),
                false => doctor::doctor_with_watch_trial(engine, &client_of),
            };
            let advice = |agent, scope, path: &Path| hooks::advice(global, agent, scope, path);
            match (json, report) {
                (true, _) => to_json(&doctor)?,
                (_, true) => render::report::render(&doctor, &|name| std::env::var(name).ok()),
                _ => render::doctor::render(&doctor, &advice, paint),
            }
        }
        // These commands do not need the engine, or print more than one text.
        Command::Watch { .. }
        | Command::Serve { .. }
        | Command::Mcp
        | Command::Focus(_)
        | Command::Answer(_)
        | Command::Answers { .. }
        | Command::Prompt(_)
        | Command::Run(_)
        | Command::Attach(_)
        | Command::Queue(_)
        | Command::Interrupt(_)
        | Command::Stop(_)
        | Command::Resume(_)
        | Command::Fork(_)
        | Command::Snooze(_)
        | Command::PutAway { .. }
        | Command::Open { .. }
        | Command::Search(_)
        | Command::Index { .. }
        | Command::Alerts { .. }
        | Command::Day { .. }
        | Command::Limits { .. }
        | Command::Stats { .. }
        | Command::Forget(_)
        | Command::Memory(_)
        | Command::Summary(_)
        | Command::Export { .. }
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Hook { .. }
        | Command::Statusline { .. }
        | Command::Hooks { .. } => String::new(),
    })
}
