//! Stores new lines of transcripts and hook events.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use watchbill_agents::excluded::is_named_in;
use watchbill_agents::hooks::{payload_of, read_texts};
use watchbill_agents::layout::ClientPath;
use watchbill_agents::{Root, root_of};
use watchbill_core::history::{HistorySettings, HookEventParts};
use watchbill_core::hook::HookMessage;
use watchbill_store::{Store, StoreError};
use watchbill_watch::tail::TailError;

use super::pace::Pace;
use super::refusal::{SliceError, require_writer};
use super::task::HistoryParts;
use crate::history_progress::Read;
use crate::index::files::HistoryIndex;
use crate::index::indexed::{FileReadCounts, IndexError};
use crate::index::over_http;

/// Bytes between two checks, within a slice, for an urgent caller that waits for the store.
const PIECE: u64 = 64 << 10;
/// The state of each file, and the size of a slice.
#[derive(Default)]
pub(super) struct Intake {
    index: Option<HistoryIndex>,
    pace: Pace,
}

/// The outcome of one slice.
#[derive(Default)]
pub(super) struct Slice {
    /// How many files were read to their ends.
    pub(super) done: usize,
    /// Something was stored.
    pub(super) wrote: bool,
    /// A file existed and could not be read.
    pub(super) missed: bool,
}

impl Intake {
    /// Drops the states of files. The next slice takes them from the store.
    pub(super) fn forget(&mut self) {
        self.index = None;
    }

    /// The step was not committed.
    pub(super) fn void(&mut self) {
        self.index.iter_mut().for_each(HistoryIndex::discard_states);
    }

    /// Reads files in one step.
    pub(super) fn read(&mut self, parts: &HistoryParts, paths: &[PathBuf]) -> Result<Slice, SliceError> {
        let Self { index, pace } = self;
        let places = paths.iter().map(|path| place(&parts.roots, path)).collect::<Vec<_>>();
        let mut shared_store = parts.shared_store.in_turn("history: read");
        let store = require_writer(&mut shared_store)?;
        let index = ready(index, &parts.settings, store)?;
        for (path, place) in paths.iter().zip(&places) {
            if let Some(place) = place {
                index.restore_file(store, path, place)?;
            }
        }
        let began = Instant::now();
        let (mut room, mut slice) = (pace.bytes(), Slice::default());
        let mut step = store.step()?;
        'files: for (path, place) in paths.iter().zip(&places) {
            loop {
                let more = match place {
                    Some(_) => match index.read(&*parts.fs, &mut step, path, room.min(PIECE)) {
                        Ok(indexed) => {
                            room = room.saturating_sub(indexed.bytes);
                            slice.wrote |= indexed.bytes > 0 && !indexed.skipped;
                            let FileReadCounts { bytes, records, texts, .. } = indexed;
                            parts.reach.add(Read { bytes, records, texts });
                            indexed.more
                        }
                        Err(IndexError::Store(error)) => return Err(error.into()),
                        // The engine reports a file that cannot be read, and sends it again when that changes.
                        Err(IndexError::File(error)) => {
                            slice.missed |= !matches!(error, TailError::Gone);
                            tracing::debug!(path = %path.display(), %error, "not stored");
                            false
                        }
                    },
                    None => false,
                };
                slice.done += usize::from(!more);
                if room == 0 || parts.shared_store.has_urgent_waiter() {
                    break 'files;
                }
                if !more {
                    break;
                }
            }
        }
        step.commit()?;
        drop(shared_store);
        pace.took(began.elapsed(), room == 0);
        Ok(slice)
    }

    /// Stores hook events. Returns whether the messages had any, and the transcripts that have grown by them.
    pub(super) fn store_hook_events(
        &mut self,
        parts: &HistoryParts,
        events: &[HookMessage],
    ) -> Result<(bool, Vec<PathBuf>), SliceError> {
        let Self { index, .. } = self;
        let mut shared_store = parts.shared_store.in_turn("history: hear");
        let store = require_writer(&mut shared_store)?;
        let index = ready(index, &parts.settings, store)?;
        // The engine has counted the messages that are no events of the agent.
        let payloads: Vec<_> =
            events.iter().filter_map(|message| Some((message, payload_of(message).ok()?))).collect();
        for (message, payload) in &payloads {
            let of_program =
                message.over_http.then(|| over_http::transcript(&parts.data_dir, &payload.session));
            // The transcript may have the prompt of this event, or its fold must learn it.
            if let Some(path) = payload.transcript_path.as_deref().map(PathBuf::from).or(of_program.flatten())
                && let Some(place) = place(&parts.roots, &path)
            {
                index.restore_file(store, &path, &place)?;
            }
        }
        let mut grown = Vec::new();
        let mut step = store.step()?;
        for (message, payload) in &payloads {
            let text = String::from_utf8_lossy(&message.payload);
            let Ok(mut texts) = read_texts(&text) else { continue };
            let mut payload = Cow::Borrowed(*payload);
            if message.over_http && !over_http::place_in_turn(&step, payload.to_mut(), &mut texts)? {
                continue;
            }
            let kept = index.add_hook_event(
                &*parts.fs,
                &mut step,
                HookEventParts { origin: &message.origin, payload: &payload, texts: &texts },
            )?;
            if let Some(session) = kept
                && message.over_http
                && !is_named_in(&parts.settings.exclude, &text)
            {
                let at = message.origin.at;
                match over_http::take(&mut step, session, &payload, &text, at) {
                    // The same step stores the events of other sessions.
                    Err(StoreError::Io { path, source }) => {
                        tracing::warn!(error = %source, file = %path.display(), "a text that a program sent cannot be kept");
                        parts.note_unkept(1);
                    }
                    taken => grown.extend(taken?),
                }
            }
        }
        step.commit()?;
        Ok((!payloads.is_empty(), grown))
    }
}

fn ready<'i>(
    index: &'i mut Option<HistoryIndex>,
    settings: &HistorySettings,
    store: &Store,
) -> Result<&'i mut HistoryIndex, StoreError> {
    // The states of files are valid only for the store that they were taken from.
    index.take_if(|index| !index.is_of(store));
    match index {
        Some(index) => Ok(index),
        none => Ok(none.insert(HistoryIndex::new(settings.clone(), store)?)),
    }
}

fn place(roots: &[Root], path: &Path) -> Option<ClientPath> {
    root_of(roots, path)?.classify(path).filter(ClientPath::is_transcript)
}
