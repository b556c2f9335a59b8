//! The window's attachments to own sessions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager};
use watchbill_drive::client::{Closer, HostClient, HostError, follow};
use watchbill_drive::folder::Folder;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::{OwnKind, OwnSize};
use watchbill_protocol::own::view::OwnNews;

/// The window shows one session, and attaches to the next one before it leaves it. A reloaded page does not say that its
/// attachments are dead, so the oldest ones end.
const ATTACHMENTS: usize = 8;

/// The sessions that the window is attached to. Tauri's managed state.
#[derive(Default)]
pub struct Attachments(Mutex<(u32, VecDeque<Arc<Attachment>>)>);

/// One of them.
#[derive(Default)]
struct Attachment {
    id: u32,
    ended: AtomicBool,
    closer: Mutex<Option<Closer>>,
}

impl Attachment {
    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if let Some(closer) = lock(&self.closer).take() {
            closer.close();
        }
    }

    fn is_open(&self) -> bool {
        !self.ended.load(Ordering::Acquire)
    }
}

impl Attachments {
    fn add(&self) -> Arc<Attachment> {
        let mut kept = lock(&self.0);
        kept.0 = kept.0.wrapping_add(1);
        let attachment = Arc::new(Attachment { id: kept.0, ..Attachment::default() });
        kept.1.push_back(Arc::clone(&attachment));
        if kept.1.len() > ATTACHMENTS
            && let Some(oldest) = kept.1.pop_front()
        {
            oldest.end();
        }
        attachment
    }

    /// Ends one.
    pub fn end(&self, id: u32) {
        lock(&self.0).1.retain(|attachment| {
            if attachment.id == id {
                attachment.end();
            }
            attachment.id != id
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends what a session tells through `channel`, and gives the number that ends it.
///
/// # Errors
/// When the system gives no thread.
pub fn attach(
    app: &AppHandle,
    folder: Folder,
    from: u64,
    channel: Channel<OwnNews>,
) -> Result<u32, ApiError> {
    let attachments = app.state::<Attachments>();
    let attachment = attachments.add();
    let id = attachment.id;
    let told = std::thread::Builder::new().name("own session".into()).spawn(move || {
        let failure = tell(&folder, from, &attachment, &channel).err().map(|error| error.to_string());
        let _ = channel.send(OwnNews::Over { failure });
        attachment.end();
    });
    match told {
        Ok(_) => Ok(id),
        Err(error) => {
            attachments.end(id);
            Err(ApiError::new(ErrorCode::Internal, format!("the system gives no thread: {error}")))
        }
    }
}

/// Tells what a session tells until its host or the attachment ends.
fn tell(
    folder: &Folder,
    from: u64,
    attachment: &Attachment,
    channel: &Channel<OwnNews>,
) -> Result<(), HostError> {
    let mut next = from;
    let mut has_begun = false;
    while attachment.is_open() {
        let client = match HostClient::connect(folder) {
            Err(HostError::NotRunning) => return tell_log(folder, next, has_begun, channel),
            other => other?,
        };
        *lock(&attachment.closer) = Some(client.closer());
        if !attachment.is_open() {
            return Ok(());
        }
        if !has_begun {
            let hello = client.hello();
            let _ = channel.send(OwnNews::Begin { spec: Box::new(hello.spec.clone()), pid: Some(hello.pid) });
            has_begun = true;
        }
        let since = next;
        let mut sink = |message: HostMessage| {
            if let HostMessage::Events { events } = &message {
                next = events.last().map_or(next, |last| next.max(last.n + 1));
            }
            attachment.is_open() && channel.send(OwnNews::Host { message }).is_ok()
        };
        match client.attach(since, &mut sink) {
            // The host ends a reader that is too slow. It is attached again behind what it has.
            Ok(()) | Err(HostError::Broken(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Without a host: what its log holds, and the last screen.
fn tell_log(
    folder: &Folder,
    from: u64,
    has_begun: bool,
    channel: &Channel<OwnNews>,
) -> Result<(), HostError> {
    let spec = folder.spec().map_err(std::io::Error::other)?;
    let (is_terminal, size) =
        (spec.kind == OwnKind::Pty, spec.size.unwrap_or(OwnSize { rows: 24, cols: 80 }));
    if !has_begun {
        let _ = channel.send(OwnNews::Begin { spec: Box::new(spec), pid: None });
        if is_terminal && let Ok(bytes) = std::fs::read(folder.screen()) {
            let message = HostMessage::Screen { bytes: STANDARD.encode(bytes), size };
            let _ = channel.send(OwnNews::Host { message });
        }
    }
    follow(folder, from, &mut |message| channel.send(OwnNews::Host { message }).is_ok())?;
    let _ = channel.send(OwnNews::Host { message: HostMessage::CaughtUp });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_attachment_ends_when_there_are_too_many() {
        let attachments = Attachments::default();
        let first = attachments.add();
        let others: Vec<_> = (0..ATTACHMENTS).map(|_| attachments.add()).collect();
        assert!(!first.is_open());
        assert!(others.iter().all(|other| other.is_open()));
        attachments.end(others[0].id);
        assert!(!others[0].is_open());
    }
}
