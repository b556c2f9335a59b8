//! `doctor`: what Watchbill has found and watches, limits, and problems.

use std::path::Path;

use watchbill_agents::{Agent, hook_traits, traits};
use watchbill_hooks::install::Scope;
use watchbill_protocol::doctor::{Doctor, HookSettings, HooksHealth, Root, WatchMode};
use watchbill_protocol::store::StoreHealth;

use super::hooks::Advice;
use super::search::cut_words;
use super::{local_date_time, plural, size};
use crate::terminal_text::{Paint, Tone, one_line};

/// The report.
pub fn render(doctor: &Doctor, advice: Advice<'_>, paint: Paint) -> String {
    let mut out = format!("watchbill {}\n", doctor.versions.watchbill);
    if !doctor.versions.agents.is_empty() {
        out.push_str(&format!("versions of the agent: {}\n", one_line(&doctor.versions.agents.join(", "))));
    }
    for root in &doctor.roots {
        out.push_str(&format!("\n{}\n", paint.tone(Tone::Bold, &root_name(root))));
        if !root.exists {
            out.push_str(&paint.tone(Tone::Error, "  does not exist; it is picked up when it appears\n"));
            continue;
        }
        out.push_str(&format!(
            "  {} in {}, {}\n",
            plural(root.sessions as usize, "session"),
            plural(root.files as usize, "file"),
            size(root.bytes)
        ));
        let how = match root.watch {
            WatchMode::Native => "changes are reported by the system",
            WatchMode::Poll => "checked every few seconds",
            WatchMode::None => "read once, for this report",
        };
        out.push_str(&format!("  {how}\n"));
    }
    let registry = &doctor.registry;
    out.push_str(&format!(
        "\nlive registry: {}\n",
        if registry.readable {
            let (files, live) = (registry.files as usize, registry.live as usize);
            format!("{}, of which {live} with a running process", plural(files, "file"))
        } else if doctor.hooks.as_ref().is_some_and(|hooks| hooks.sessions > 0) {
            "not there; states come from hooks and transcripts".to_owned()
        } else {
            "not there; states come from the transcripts alone".to_owned()
        }
    ));
    if let Some(own) = &doctor.own {
        let running = plural(own.running as usize, "session");
        out.push_str(&format!("sessions of your own: {running} with a running host, {} ended\n", own.ended));
    }
    if let Some(config) = &doctor.config {
        let there = if config.exists { "" } else { " (not there, and not needed)" };
        out.push_str(&format!("configuration: {}{there}\n", one_line(&config.path)));
    }
    for limit in &doctor.limits {
        let needed = limit.needed.map(|needed| format!(", {needed} needed")).unwrap_or_default();
        let verdict = if limit.enough { "" } else { "  too low: raise it with sysctl" };
        let line = format!("{} = {}{needed}{verdict}\n", limit.name, limit.value);
        out.push_str(&if limit.enough { line } else { paint.tone(Tone::Error, &line) });
    }
    if let Some(health) = &doctor.store {
        store(&mut out, health, paint);
    }
    if let Some(health) = &doctor.hooks {
        hooks(&mut out, health, advice, paint);
    }
    if let Some(until) = &doctor.muted_until {
        out.push_str(&format!("\nalerts are muted until {}\n", local_date_time(until)));
    }
    let is_whole = |store: &StoreHealth| store.archive_unreadable.is_empty() && store.trouble.is_none();
    let whole = doctor.store.as_ref().is_none_or(is_whole);
    if doctor.problems.is_empty() {
        out.push_str(if whole { "\nNo problems.\n" } else { "\nNo other problems.\n" });
    } else {
        out.push_str(&format!("\n{}\n", plural(doctor.problems.len(), "problem")));
    }
    for problem in &doctor.problems {
        let times = if problem.count > 1 { format!(" ({}×)", problem.count) } else { String::new() };
        out.push_str(&format!(
            "  {}{times} {}\n      {}\n",
            problem.kind,
            one_line(&problem.path),
            one_line(&problem.detail)
        ));
    }
    out
}

fn store(out: &mut String, health: &StoreHealth, paint: Paint) {
    out.push_str(&format!("\n{}\n", paint.tone(Tone::Bold, &one_line(&health.path))));
    if let Some(trouble) = &health.trouble {
        out.push_str(&paint.tone(Tone::Error, &format!("  {}\n", one_line(trouble))));
    }
    damaged(out, health);
    let Some(schema) = health.schema_version else {
        if health.trouble.is_none() {
            out.push_str("  no history is stored yet; `watchbill index` makes it\n");
        }
        return;
    };
    let (sessions, texts) = (plural(count(health.sessions), "session"), plural(count(health.texts), "text"));
    out.push_str(&format!("  {sessions} and {texts} in {}, schema {schema}\n", size(health.bytes)));
    if let Some(cut) = health.cut_bytes {
        out.push_str(&format!("  {}\n", cut_words(cut)));
    }
    out.push_str(&match health.files_behind {
        0 => match health.files_left_out {
            0 => "  everything that is there is stored\n".to_owned(),
            files => {
                let files = plural(count(files), "file");
                format!("  everything that is there is stored, except what `exclude` leaves out of {files}\n")
            }
        },
        files => {
            let (files, bytes) = (plural(count(files), "file"), size(health.bytes_behind));
            format!("  {files} not yet read to the end, {bytes}; `watchbill index` reads them\n")
        }
    });
    if health.exclude_changed {
        out.push_str(
            "  `exclude` has changed since the history was stored; `watchbill index`, or the next start of the window, removes \
             what it names now, and reads what it names no more\n",
        );
    }
    if health.pages_unseen == Some(true) {
        out.push_str(
            "  not all of the database was checked for damage, because it is large or being filled\n",
        );
    }
    if let Some(pid) = health.writer_pid {
        out.push_str(&format!("  kept up to date by process {pid}\n"));
    }
    archive(out, health);
    if let Some(left_out) = &health.left_out {
        out.push_str(&format!("  {}\n", one_line(left_out)));
    }
    if let Some(queue) = &health.model {
        out.push_str(&super::model::queue(queue));
    }
    if let Some(offer) = &health.archive_offer {
        out.push_str(&format!("  {offer}\n"));
    }
}

/// The archive's content, and when more transcripts will be archived.
fn archive(out: &mut String, health: &StoreHealth) {
    let on = health.archive_after.map(|after| {
        let hours = usize::try_from(after / 3_600_000).unwrap_or(0);
        let age = if hours.is_multiple_of(24) { plural(hours / 24, "day") } else { plural(hours, "hour") };
        format!("transcripts unchanged for {age} are archived by `watchbill index`, and while the window or `watch` runs")
    });
    if health.archived > 0 || on.is_some() {
        let archived = plural(count(health.archived), "transcript");
        let on = on.map(|on| format!("; {on}")).unwrap_or_default();
        out.push_str(&format!("  {archived} archived in {}{on}\n", size(health.archive_bytes)));
    }
    if !health.archive_unreadable.is_empty() {
        out.push_str("  damaged or missing, so the transcripts archived in it cannot be read:\n");
    }
    for file in &health.archive_unreadable {
        out.push_str(&format!("    {}\n", one_line(file)));
    }
}

/// Damaged databases in the data folder.
fn damaged(out: &mut String, health: &StoreHealth) {
    let words = [
        (false, "the next start of the window, or `watchbill index`, recovers what can be read of it"),
        (
            true,
            "what could be read of it is recovered, so you may delete it (it still holds what you forgot since)",
        ),
    ];
    for (taken_over, words) in words {
        let mut files = health.damaged.iter().filter(|file| file.taken_over == taken_over).peekable();
        if files.peek().is_some() {
            out.push_str(&format!("  damaged and set aside; {words}:\n"));
        }
        for file in files {
            out.push_str(&format!("    {} ({})\n", one_line(&file.path), size(file.bytes)));
        }
    }
}

fn hooks(out: &mut String, health: &HooksHealth, advice: Advice<'_>, paint: Paint) {
    out.push_str(&format!("\n{}\n", paint.tone(Tone::Bold, &one_line(&health.path))));
    let sessions = match health.sessions {
        0 => "no hook event of the agent arrived in the last hour".to_owned(),
        sessions => {
            format!("hook events of {} arrived in the last hour", plural(sessions as usize, "session"))
        }
    };
    out.push_str(&format!("  {sessions}\n"));
    for settings in &health.settings {
        let path = one_line(&settings.path);
        let (word, done, wrong) = match &*settings.state {
            "installed" if settings.missing.is_empty() => ("installed", None, false),
            "installed" => ("installed, but not for all events", Some("adds the rest"), true),
            "waits_for_trust" => ("installed, and run only when you trust them", None, true),
            "absent" if settings.answers => {
                ("only the one that waits for your answers", Some("adds the others"), false)
            }
            "absent" => ("not installed", Some("adds them"), false),
            "disabled" => ("the agent's settings turn all hooks off", None, true),
            "program_missing" => ("installed, but their program is gone", Some("mends that"), true),
            "outdated" => (
                "installed, but for another data folder or another client (`watchbill hooks status` says which)",
                Some("mends that"),
                true,
            ),
            _ => ("cannot be read", None, true),
        };
        let agent = Agent::of(&settings.agent).unwrap_or_default();
        let command = advice(agent, scope_of(settings), Path::new(&settings.path));
        let how = match (done, command) {
            (Some(done), Some(command)) => {
                let unseen = hook_traits(agent).alone_tell.filter(|_| settings.state == "absent");
                let unseen = unseen.map(|what| format!("; without them Watchbill does not see {what}"));
                format!("; `{}` {done}{}", super::hooks::typed(&command), unseen.unwrap_or_default())
            }
            (Some(_), None) => "; the administrator has to change that".to_owned(),
            (None, _) => match hook_traits(agent).trust {
                Some(trust) if settings.state == "waits_for_trust" => format!(": {}", trust.how),
                _ => String::new(),
            },
        };
        let line = format!("  hooks in {path}: {word}{how}\n");
        out.push_str(&if wrong { paint.tone(Tone::Error, &line) } else { line });
    }
    let lost = |settings: &&HookSettings| settings.status_line.as_deref() == Some("program_missing");
    for settings in health.settings.iter().filter(lost) {
        let command = advice(
            Agent::of(&settings.agent).unwrap_or_default(),
            scope_of(settings),
            Path::new(&settings.path),
        );
        let how = command.map_or_else(String::new, |command| {
            format!("; `{} --statusline` mends that", super::hooks::typed(&command))
        });
        let path = one_line(&settings.path);
        let line = format!("  status line in {path}: its program is gone, so none is drawn{how}\n");
        out.push_str(&paint.tone(Tone::Error, &line));
    }
    for settings in health.settings.iter().filter(|settings| !settings.rivals.is_empty()) {
        let (names, path) = (one_line(&settings.rivals.join(", ")), one_line(&settings.path));
        out.push_str(&format!(
            "  other programs that tell the agent what they remember, by {path}: {names}\n"
        ));
    }
    let told = health.settings.iter().any(|settings| settings.context);
    match (&health.context, told) {
        (None, true) => out.push_str(
            "  the hook that tells the agent what was learned is installed and tells nothing: `memory.context` is off\n",
        ),
        (Some(context), true) => out.push_str(&format!("  agents are told what was learned: {}\n", one_line(context))),
        (Some(context), false) => out.push_str(&paint.tone(
            Tone::Error,
            &format!(
                "  `memory.context` is {}, but no hook tells it; `watchbill hooks install --context` installs it\n",
                one_line(context)
            ),
        )),
        (None, false) => {}
    }
    let (receivers, waiting) =
        (plural(count(health.ears), "program"), plural(count(health.waiting), "event"));
    let journal = size(health.journal_bytes);
    out.push_str(&format!("  {receivers} receiving, {waiting} waiting, {journal} of events kept\n"));
    if health.damaged + health.dropped > 0 {
        let (dropped, damaged) =
            (plural(count(health.dropped), "event"), plural(count(health.damaged), "file"));
        let last = super::hooks::last(health.dropped_at.as_deref());
        out.push_str(&paint.tone(Tone::Error, &format!("  {dropped} dropped{last}; {damaged} damaged\n")));
    }
}

fn scope_of(settings: &HookSettings) -> Scope {
    match &*settings.scope {
        "project" => Scope::Project,
        "local" => Scope::Local,
        "managed" => Scope::Managed,
        _ => Scope::User,
    }
}

fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The folder, with its agent where that is another one than the default.
fn root_name(root: &Root) -> String {
    let agent = Agent::of(&root.agent).filter(|agent| *agent != Agent::default());
    let agent = agent.map(|agent| format!("{} ", traits(agent).title)).unwrap_or_default();
    one_line(&format!("{agent}{}", root.path))
}
