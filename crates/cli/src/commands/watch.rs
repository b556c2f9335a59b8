//! `watch`: a snapshot, then every store event as it happens.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use watchbill_engine::handle::{Handle, start};
use watchbill_engine::model::publish::{RosterSink, Subscription};
use watchbill_engine::socket::client::Client;
use watchbill_protocol::event::StoreEvents;
use watchbill_protocol::roster::{RosterMessage, TrackedSession};

use super::{configuration, running, to_json, width};
use crate::args::Global;
use crate::render::{self, roster::RosterView};
use crate::terminal_text::{Paint, Tone};

/// Messages that may wait for the reader of standard output. Most hold a row or two.
const BACKLOG: usize = 256;

/// Follows the roster until the reader of standard output closes it, or an interrupt comes.
///
/// # Errors
/// When the engine cannot be started or the output cannot be written.
pub fn watch(global: &Global, json: bool, all: bool, paint: Paint) -> anyhow::Result<()> {
    end_with_the_reader();
    let mut printer = if json { Printer::Json(None) } else { Printer::Text { known: Vec::new(), paint } };
    let (handle, _following) = if global.demo {
        (watchbill_engine::demo::start()?, None)
    } else {
        let configuration = Arc::new(configuration(global)?);
        // When the running program ends, this one watches itself.
        while let Some(running) = running::client(&configuration.settings()) {
            if !print(&mut printer, follow_running(running, all)?.0)? {
                return Ok(());
            }
        }
        let handle = start((*configuration.settings()).clone())?;
        handle.follow(&configuration);
        let following = watchbill_settings::follow::follow(&configuration);
        (handle, Some((configuration, following)))
    };
    loop {
        let (messages, left_behind) = follow(&handle, all);
        if !print(&mut printer, messages)? {
            handle.stop();
            return Ok(());
        }
        if !left_behind.load(Ordering::Acquire) {
            anyhow::bail!("watching has stopped after an internal error; run `watchbill watch` again")
        }
    }
}

/// Prints messages until they end; `false` when the reader of standard output has gone.
fn print(printer: &mut Printer, messages: mpsc::Receiver<RosterMessage>) -> anyhow::Result<bool> {
    let mut out = std::io::stdout();
    for message in messages {
        let text = printer.text(message)?;
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(false),
            other => other?,
        }
    }
    Ok(true)
}

/// The text for an empty roster. The number of older sessions is not known until everything is read.
const EMPTY_TEXT: &str = "Nothing is going on now; new activity appears here as it happens.\n";

/// Ends the program when the reader of standard output closes it, also while there is nothing to write. Otherwise a
/// `watch` without a reader would run until the next change.
#[cfg(unix)]
fn end_with_the_reader() {
    use rustix::event::{PollFd, PollFlags, poll};
    let wait = || {
        let out = std::io::stdout();
        loop {
            // No event is requested: errors and hang-ups are always reported, and nothing else wakes the thread.
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
    // Without the thread, the next write notices it.
    let spawned = std::thread::Builder::new().name("watchbill-reader".into()).spawn(wait);
    if let Err(error) = spawned {
        tracing::debug!(%error, "a reader that closes is noticed at the next write only");
    }
}

/// On other systems, the next write notices it.
#[cfg(not(unix))]
fn end_with_the_reader() {}

/// Subscribes to a running program. The messages end with that program, or when the reader of standard output is too
/// slow.
fn follow_running(mut running: Client, all: bool) -> std::io::Result<Following> {
    let (sender, receiver) = mpsc::sync_channel(BACKLOG);
    let left_behind = Arc::new(AtomicBool::new(false));
    let mut sink = passing_on(sender, Arc::clone(&left_behind));
    std::thread::Builder::new().name("watchbill-follow".into()).spawn(move || {
        if let Err(error) = running.subscribe(all, &mut sink) {
            tracing::debug!(%error, "the running program is followed no longer");
        }
    })?;
    Ok((receiver, left_behind))
}

/// The messages of a subscription, and a flag that says why they ended.
type Following = (mpsc::Receiver<RosterMessage>, Arc<AtomicBool>);

/// Subscribes. The flag is true when the messages ended because the reader of standard output was too slow.
fn follow(handle: &Handle, all: bool) -> Following {
    let (sender, receiver) = mpsc::sync_channel(BACKLOG);
    let left_behind = Arc::new(AtomicBool::new(false));
    let wants = Subscription { all, wait_for_recent: true, ..Subscription::default() };
    handle.subscribe(wants, passing_on(sender, Arc::clone(&left_behind)));
    (receiver, left_behind)
}

/// A sink that never blocks. A slow reader, such as a pager left open, must neither delay the engine nor fill the
/// memory. Its messages end, and a new subscription begins with a snapshot.
fn passing_on(sender: mpsc::SyncSender<RosterMessage>, left_behind: Arc<AtomicBool>) -> RosterSink {
    Box::new(move |message| match sender.try_send(message) {
        Ok(()) => true,
        Err(error) => {
            left_behind.store(matches!(error, mpsc::TrySendError::Full(_)), Ordering::Release);
            false
        }
    })
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
                    text.push_str(&to_json(&event)?);
                }
                Ok(text)
            }
            Self::Text { known, paint } => Ok(match message {
                RosterMessage::Snapshot(snapshot) => {
                    let text =
                        render::roster::render(&snapshot, EMPTY_TEXT, RosterView::default(), width(), *paint);
                    *known = snapshot.sessions.into_iter().map(Arc::new).collect();
                    text + "\n"
                }
                RosterMessage::Delta(delta) => {
                    let time = paint.tone(Tone::Dim, &render::local_time(&delta.generated_at));
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
                RosterMessage::Select { .. } | RosterMessage::Stopped => String::new(),
            }),
        }
    }
}

/// Whether a change is worth a line: of the state, the activity or the title, but not of a token count. When a state
/// has lasted long enough to need the user, only the group changes.
fn shows_change(before: &TrackedSession, after: &TrackedSession) -> bool {
    before.state != after.state
        || before.group != after.group
        || before.state_kind != after.state_kind
        || before.title != after.title
        || before.superseded != after.superseded
        || before.refused.as_ref().map(|refused| refused.count)
            != after.refused.as_ref().map(|refused| refused.count)
        || before.compaction_count != after.compaction_count
        || render::doing(before) != render::doing(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_is_distinguished_from_a_closed_one() {
        let message = || RosterMessage::Select { session_id: "a".into() };
        let (sender, receiver) = mpsc::sync_channel(1);
        let left_behind = Arc::new(AtomicBool::new(false));
        let mut sink = passing_on(sender.clone(), Arc::clone(&left_behind));
        assert!(sink(message()));
        assert!(!sink(message()), "nothing is kept beyond the backlog");
        assert!(left_behind.load(Ordering::Acquire));
        drop(receiver);
        let mut sink = passing_on(sender, Arc::clone(&left_behind));
        assert!(!sink(message()));
        assert!(!left_behind.load(Ordering::Acquire));
    }
}
