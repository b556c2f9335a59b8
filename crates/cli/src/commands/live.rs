//! `watch`: a snapshot, then every store event as it happens.

use std::io::Write;
use std::sync::{Arc, mpsc};

use watchbill_engine::handle::{Handle, start};
use watchbill_engine::publish::Subscription;
use watchbill_protocol::event::StoreEvents;
use watchbill_protocol::roster::{RosterMessage, TrackedSession};

use super::{local_time, settings, width};
use crate::args::Global;
use crate::paint::{Paint, Tone};
use crate::render;

/// Follows the roster until the reader of the output goes away or the program is interrupted.
///
/// # Errors
/// When the engine cannot be started or the output cannot be written.
pub fn watch(global: &Global, json: bool, all: bool, paint: Paint) -> anyhow::Result<()> {
    end_with_the_reader();
    let handle = if global.demo { watchbill_engine::demo::start()? } else { start(settings(global)?)? };
    let messages = follow(&handle, all);
    let mut out = std::io::stdout();
    let mut printer = if json { Printer::Json(None) } else { Printer::Text { known: Vec::new(), paint } };
    for message in messages {
        let text = printer.text(message)?;
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                handle.stop();
                return Ok(());
            }
            other => other?,
        }
    }
    anyhow::bail!("watching has stopped by a fault; run `watchbill watch` again")
}

/// Ends the program when the reader of our output goes away, also while there is nothing to write: without
/// this, a `watch` whose reader is gone would stay until the next change.
#[cfg(unix)]
fn end_with_the_reader() {
    use rustix::event::{PollFd, PollFlags, poll};
    let wait = || {
        let out = std::io::stdout();
        loop {
            // No event is asked for: an error or a hang-up is always told, and nothing else wakes us.
            let mut fds = [PollFd::new(&out, PollFlags::empty())];
            match poll(&mut fds, None) {
                Ok(_) if fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => {
                    std::process::exit(0)
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    };
    // Without the thread the next write notices.
    let spawned = std::thread::Builder::new().name("watchbill-reader".into()).spawn(wait);
    if let Err(error) = spawned {
        tracing::debug!(%error, "nobody looks out for the end of the reader");
    }
}

/// Elsewhere the next write notices.
#[cfg(not(unix))]
fn end_with_the_reader() {}

/// The subscriber only passes on: a slow reader of our output must not hold up the engine.
fn follow(handle: &Handle, all: bool) -> mpsc::Receiver<RosterMessage> {
    let (sender, receiver) = mpsc::channel();
    let wants = Subscription { all, wait_for_recent: true, ..Subscription::default() };
    handle.subscribe(wants, Box::new(move |message| sender.send(message).is_ok()));
    receiver
}

enum Printer {
    Json(Option<StoreEvents>),
    Text { known: Vec<Arc<TrackedSession>>, paint: Paint },
}

impl Printer {
    fn text(&mut self, message: RosterMessage) -> anyhow::Result<String> {
        match self {
            Self::Json(events) => {
                let list = match (message, events.as_mut()) {
                    (RosterMessage::Snapshot(snapshot), None) => {
                        let (fresh, first) = StoreEvents::new(&snapshot);
                        *events = Some(fresh);
                        vec![first]
                    }
                    (RosterMessage::Snapshot(snapshot), Some(events)) => events.catch_up(&snapshot),
                    (RosterMessage::Delta(delta), Some(events)) => events.delta(&delta),
                    _ => Vec::new(),
                };
                let mut text = String::new();
                for event in list {
                    text.push_str(&serde_json::to_string(&event)?);
                    text.push('\n');
                }
                Ok(text)
            }
            Self::Text { known, paint } => Ok(match message {
                RosterMessage::Snapshot(snapshot) => {
                    let text = render::roster::render(&snapshot, 0, width(), *paint);
                    *known = snapshot.sessions.into_iter().map(Arc::new).collect();
                    text + "\n"
                }
                RosterMessage::Delta(delta) => {
                    let time = paint.tone(Tone::Dim, &local_time(&delta.generated_at));
                    let mut text = String::new();
                    for upsert in delta.upserts {
                        let before =
                            known.iter().position(|known| known.session_id == upsert.session.session_id);
                        let changed = before.is_none_or(|at| shows_change(&known[at], &upsert.session));
                        if changed {
                            let line = render::roster::line(
                                &upsert.session,
                                &delta.generated_at,
                                width().saturating_sub(9),
                                *paint,
                            );
                            text.push_str(&format!("{time} {line}\n"));
                        }
                        match before {
                            Some(at) => known[at] = Arc::new(upsert.session),
                            None => known.push(Arc::new(upsert.session)),
                        }
                    }
                    for gone in &delta.removals {
                        text.push_str(&format!("{time} ✕ {} is gone\n", render::short(gone)));
                        known.retain(|known| known.session_id != *gone);
                    }
                    text
                }
                RosterMessage::Select { .. } => String::new(),
            }),
        }
    }
}

/// A person wants to see changes of state, of what is going on and of the title; not each new token count.
fn shows_change(before: &TrackedSession, after: &TrackedSession) -> bool {
    before.state != after.state
        || before.state_kind != after.state_kind
        || before.title != after.title
        || before.superseded != after.superseded
        || before.compaction_count != after.compaction_count
        || render::doing(before) != render::doing(after)
}
