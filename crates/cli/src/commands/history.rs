//! `search`, `index`, `stats` and `forget`: commands about the stored history.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use watchbill_engine::Timestamp;
use watchbill_engine::alone::forget::{self, ForgetWhat};
use watchbill_engine::alone::index::{self, Indexed, Options};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::engine::Outlook;
use watchbill_engine::handle::real_sources;
use watchbill_engine::model::publish::snapshot;
use watchbill_engine::socket::access::AccessError;
use watchbill_engine::socket::client::Client;
use watchbill_engine::world::archive::with_archive;
use watchbill_history::HistoryState;
use watchbill_history::query::search::{Searcher, StillWanted};
use watchbill_history::query::{self, StatsBy};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::search::{IndexState, SearchAnswer, SearchQuery};
use watchbill_protocol::socket::IndexProgress;
use watchbill_protocol::store::IndexReport;
use watchbill_settings::Settings;

use super::context::recent;
use super::{emit, running, settings, to_json, width};
use crate::args::{Forget, Global, Search, StatsKey};
use crate::progress::{Bar, RemovalBar};
use crate::render;
use crate::terminal_text::Paint;

/// Pause between two attempts to reach the program that holds the store.
const RETRY: std::time::Duration = std::time::Duration::from_millis(100);

/// Searches the stored history, after reading the new records.
///
/// # Errors
/// When a filter makes no sense, or the store cannot be read.
pub fn search(global: &Global, wanted: &Search, paint: Paint) -> anyhow::Result<()> {
    let query = wanted.query.join(" ");
    if query.trim().is_empty() {
        crate::args::wrong_usage("search", "no word to search for was given; name at least one");
    }
    let settings = reading_settings(global)?;
    let query = SearchQuery {
        query,
        typing: false,
        limit: Some(wanted.limit),
        project: wanted.project.clone(),
        agent: wanted.agent.clone(),
        since: wanted.since.map(|at| at.to_string()),
        role: wanted.role.clone(),
        tool: wanted.tool.clone(),
        chain: wanted.chain.clone(),
    };
    if let Some(mut running) = running::client(&settings).filter(|_| !wanted.as_stored) {
        match running.search(&query) {
            Ok(answer) => return found(&answer, wanted, paint),
            Err(AccessError::Refused(error)) if error.code != ErrorCode::NotReady => return Err(error.into()),
            // The program has ended or is not ready, so this program reads the store itself.
            Err(_) => {}
        }
    }
    let brought_up = if wanted.as_stored { Ok(false) } else { bring_up_to_date(&settings) };
    let searcher = Searcher::new(&settings);
    if let Ok(true) = brought_up {
        // The index has just seen everything. A busy session may have written since, but that is no reason to look
        // again or to tell the user to.
        searcher.reach().set(HistoryState::Current);
    }
    let fs = with_archive(real_sources(), &settings).fs;
    // This process ends with its user.
    let answer = searcher.search(&*fs, &settings.history, &query, &(Arc::new(|| true) as StillWanted))?;
    match brought_up {
        Ok(_) => {}
        Err(error) if answer.index == IndexState::Absent => return Err(error),
        Err(error) => warn_only_stored(&error, "searched"),
    }
    found(&answer, wanted, paint)
}

fn found(answer: &SearchAnswer, wanted: &Search, paint: Paint) -> anyhow::Result<()> {
    emit(&if wanted.json { to_json(answer)? } else { render::search::render(answer, width(), paint) })
}

/// Reads the new records. Returns whether everything is stored, as far as is known.
///
/// # Errors
/// When records cannot be read or the store cannot be written. The stored history can still be read then.
fn bring_up_to_date(settings: &Settings) -> anyhow::Result<bool> {
    Ok(match run_index(settings, Options::default())? {
        // The holder of the store keeps it up to date; the window does so within a moment.
        Indexed::ByAnother { .. } => false,
        Indexed::Here(report) => !report.interrupted,
    })
}

/// Reads the new records here, or waits until the holder of the store has.
///
/// # Errors
/// When records cannot be read, or the store cannot be written.
pub(super) fn bring_up_to_date_anywhere(settings: &Settings) -> anyhow::Result<()> {
    if bring_up_to_date(settings)? {
        return Ok(());
    }
    if let Some(mut holder) = running::client(settings) {
        holder.index(&mut |_| true)?;
    }
    Ok(())
}

/// Warns that new records are missing from the answer. `asked` says what was done with the stored ones.
fn warn_only_stored(error: &anyhow::Error, asked: &str) {
    tracing::warn!(
        "new records could not be read into the history, so only stored ones are {asked}: {error}"
    );
}

/// Brings the store up to date, or waits for the program that does, and reports the result.
///
/// # Errors
/// When the store cannot be written, or another program writes it and must not be waited for.
pub fn index(global: &Global, json: bool, full: bool, cut: Option<usize>) -> anyhow::Result<()> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    crate::large_pages::use_them();
    let settings = reading_settings(global)?;
    let report = loop {
        match run_index(&settings, Options { full, cut })? {
            Indexed::Here(report) => break report,
            Indexed::ByAnother { pid } if full || cut.is_some() => bail!(
                "{} keeps the history up to date now; quit it to use --full or --cut",
                query::process_label(pid)
            ),
            Indexed::ByAnother { pid } => {
                let reads = format!("{} reads the history", query::process_label(pid));
                let kept = with_progress_bar(&reads, |progress| kept_by_holder(&settings, progress))?;
                if let Some(report) = kept {
                    return emit(&if json {
                        to_json(&report)?
                    } else {
                        render::history::index_by_holder(&report)
                    });
                }
                // The holder has ended, or will. The next attempt reads the rest here.
            }
        }
    };
    emit(&if json { to_json(&report)? } else { render::history::indexed(&report) })
}

/// Waits until the holder of the store has stored everything. Returns `None` when the caller should try again,
/// because the holder has ended or does not listen.
fn kept_by_holder(
    settings: &Settings,
    progress: &mut dyn FnMut(&IndexProgress) -> bool,
) -> anyhow::Result<Option<IndexReport>> {
    let again = || {
        std::thread::sleep(RETRY);
        Ok(None)
    };
    let holder = settings.data_dir.as_deref().and_then(Client::connect);
    let Some(mut holder) = holder else {
        // Another `index` holds the store without listening. It ends by itself.
        progress(&IndexProgress::default());
        return again();
    };
    if holder.hello().view != settings.view() {
        bail!("process {} uses this history with other settings; quit it first", holder.hello().pid);
    }
    match holder.index(&mut |so_far| progress(&so_far)) {
        Ok(report) => Ok(Some(report)),
        Err(AccessError::Refused(error)) if error.code != ErrorCode::NotReady => Err(error.into()),
        Err(_) => again(),
    }
}

/// One run of the index, with a bar. An interrupt ends it between two transactions.
fn run_index(settings: &Settings, options: Options) -> anyhow::Result<Indexed> {
    let world = with_archive(real_sources(), settings);
    Ok(with_progress_bar("reading the history", |progress| index::run(settings, &world, options, progress))?)
}

/// Runs `work` with a progress bar. On an interrupt, `work` is asked to end, and then the program ends.
fn with_progress_bar<T>(what: &str, work: impl FnOnce(&mut dyn FnMut(&IndexProgress) -> bool) -> T) -> T {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    static LISTENING: std::sync::Once = std::sync::Once::new();
    LISTENING.call_once(|| end_on_interrupt(&INTERRUPTED));
    let mut bar = Bar::new(what);
    let done = work(&mut |progress| {
        bar.show(progress);
        !INTERRUPTED.load(Ordering::Relaxed)
    });
    bar.end();
    if INTERRUPTED.load(Ordering::Relaxed) {
        // The exit code of a program that an interrupt has ended.
        std::process::exit(130);
    }
    done
}

/// Makes an interrupt set the flag instead of ending the program. It holds from the moment that this function
/// returns.
fn end_on_interrupt(flag: &'static AtomicBool) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    let raise = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut interrupts = interrupts()?;
            // The receiver may be gone already.
            let _ = ready.send(());
            interrupts.recv().await;
            flag.store(true, Ordering::Relaxed);
            // A second interrupt ends the program at once, without waiting for the work.
            interrupts.recv().await;
            std::process::exit(130)
        })
    };
    let spawned = std::thread::Builder::new().name("watchbill-interrupt".into()).spawn(move || {
        let ended: std::io::Result<()> = raise();
        if let Err(error) = ended {
            tracing::debug!(%error, "an interrupt ends the program at once");
        }
    });
    match spawned {
        // If listening fails, the other end is dropped, and this returns.
        Ok(_) => drop(is_ready.recv()),
        Err(error) => tracing::debug!(%error, "an interrupt ends the program at once"),
    }
}

#[cfg(unix)]
fn interrupts() -> std::io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn interrupts() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

/// Counts tokens, requests and tool calls.
///
/// # Errors
/// When nothing is stored or the store cannot be read.
pub fn stats(
    global: &Global,
    json: bool,
    by: StatsKey,
    cost: bool,
    since: Option<Timestamp>,
    paint: Paint,
) -> anyhow::Result<()> {
    let settings = reading_settings(global)?;
    let brought_up = bring_up_to_date(&settings);
    let by = match by {
        StatsKey::Day => StatsBy::Day,
        StatsKey::Project => StatsBy::Project,
        StatsKey::Model => StatsBy::Model,
        StatsKey::Tool => StatsBy::Tool,
    };
    let stats = stored(query::stats(&settings, by, since, cost), brought_up, "counted")?;
    emit(&if json { to_json(&stats)? } else { render::stats::render(&stats, width(), paint) })
}

/// Shows the limits of plans, and which work uses them up.
///
/// # Errors
/// When nothing is stored or the store cannot be read.
pub fn limits(global: &Global, json: bool, paint: Paint) -> anyhow::Result<()> {
    let settings = reading_settings(global)?;
    let brought_up = bring_up_to_date_anywhere(&settings);
    let roster = match running::client(&settings).and_then(|mut running| running.roster(false).ok()) {
        Some(roster) => roster,
        None => snapshot(&recent(global, Outlook { live: true, until: None })?.current(false)),
    };
    let used = stored(query::limits::limit_use(&settings, roster.limits), brought_up, "counted")?;
    emit(&if json { to_json(&used)? } else { render::limits::render(&used, width(), paint) })
}

/// Shows what each work chain did on a day.
///
/// # Errors
/// When it is no date, nothing is stored, or the store cannot be read.
pub fn day(global: &Global, date: Option<&str>, json: bool, paint: Paint) -> anyhow::Result<()> {
    let settings = reading_settings(global)?;
    let brought_up = bring_up_to_date(&settings);
    let day = query::day::day(&settings, date, SystemClock.now());
    let day = stored(day, brought_up, "shown")?;
    emit(&if json { to_json(&day)? } else { render::day::render(&day, width(), paint) })
}

/// Prints when sessions needed the user.
///
/// # Errors
/// As [`day`].
pub fn alerts(global: &Global, json: bool, paint: Paint) -> anyhow::Result<()> {
    let settings = reading_settings(global)?;
    let brought_up = bring_up_to_date(&settings);
    let now = SystemClock.now();
    let roster = running::client(&settings).and_then(|mut running| running.roster(false).ok());
    let shown = roster.map(|roster| roster.sessions).unwrap_or_default();
    let alerts = stored(query::alerts::alerts(&settings, now, &shown), brought_up, "shown")?;
    emit(&if json {
        to_json(&alerts)?
    } else {
        render::answers::alerts(&alerts, &now.to_string(), width(), paint)
    })
}

/// The answer of the store, with a warning if it could not be brought up to date.
fn stored<T, U>(answer: Result<T, ApiError>, brought_up: anyhow::Result<U>, what: &str) -> anyhow::Result<T> {
    match (answer, brought_up) {
        // Nothing is stored, and this error is the reason.
        (Err(_), Err(error)) => Err(error),
        (answer, brought_up) => {
            brought_up.err().inspect(|error| warn_only_stored(error, what));
            Ok(answer?)
        }
    }
}

/// Removes sessions from the store for good, after asking.
///
/// # Errors
/// When no session fits, the user cannot be asked, another program writes the store and does not answer, or the store
/// cannot be written.
pub fn forget(global: &Global, wanted: &Forget) -> anyhow::Result<()> {
    let settings = stored_settings(global)?;
    if wanted.again {
        for session in &wanted.sessions {
            let remembered = forget::unforget(&settings, session, SystemClock.now())?;
            emit(&format!(
                "session {} is stored again from now on; an open window reads it at once, `watchbill index` otherwise\n",
                crate::terminal_text::one_line(&remembered)
            ))?;
        }
        return Ok(());
    }
    let what = match wanted.before {
        Some(before) => ForgetWhat::Before(before),
        None => ForgetWhat::Sessions(wanted.sessions.clone()),
    };
    let now = SystemClock.now();
    let would = forget::forget(&settings, &what, true, now, &mut |_| ())?;
    let report = if wanted.dry_run || would.sessions.is_empty() || !(wanted.yes || confirm(&would)?) {
        would
    } else {
        let bar = RemovalBar::new();
        let report = forget::forget(&settings, &what, false, now, &mut |doing| bar.show(doing));
        bar.end();
        report?
    };
    emit(&if wanted.json { to_json(&report)? } else { render::history::forgotten(&report) })
}

/// Asks the user. Without a terminal to ask on, nothing is removed.
fn confirm(would: &watchbill_protocol::store::ForgetReport) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        bail!("this removes stored sessions for good: confirm with --yes, or see them with --dry-run");
    }
    let mut err = std::io::stderr().lock();
    write!(err, "{}Forget for good? [y/N] ", render::history::forgotten(would))?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The settings, for a command that reads new records first. It warns of folders that cannot be read, as the roster
/// does: "nothing found" would sound as if nothing were there. The command answers all the same.
pub(super) fn reading_settings(global: &Global) -> anyhow::Result<Settings> {
    let settings = stored_settings(global)?;
    // If storing is in doubt, the reason is reported in another place.
    let troubles = query::health::troubles_with_roots(&settings, &*real_sources().fs);
    for trouble in troubles.iter().filter(|_| settings.doubt.is_none()) {
        tracing::warn!("{}: {}", trouble.path, trouble.detail);
    }
    Ok(settings)
}

/// The settings, for a command that needs the store. It warns of errors in them: with a misspelt `exclude`, the store
/// would get text that the user wants excluded.
pub(super) fn stored_settings(global: &Global) -> anyhow::Result<Settings> {
    if global.demo {
        bail!(
            "the demo keeps no history: leave --demo out, or look into a session of it with `watchbill --demo show`"
        );
    }
    let settings = settings(global)?;
    // If storing is in doubt, the error that says so names the reason.
    for problem in settings.problems.iter().filter(|_| settings.doubt.is_none()) {
        tracing::warn!("{}: {}", problem.path, problem.detail);
    }
    Ok(settings)
}
