//! One round of receiving: gather, drop known events, store, acknowledge, deliver.

use std::cmp::Reverse;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, RwLock};
#[cfg(any(unix, test))]
use std::time::Duration;
use std::time::SystemTime;

use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;
use watchbill_core::time::Timestamp;

use super::not_stored::StorageFilter;
use super::seen_events::SeenEvents;
use super::{Counts, Options, ReceiverSetup};
use crate::envelope::{Decoded, Envelope, decode};
use crate::health;
use crate::journal::{Journal, JournalReader};
use crate::places::HookPaths;
use crate::spool::{self, Spooled};
use watchbill_platform::clock;
use watchbill_platform::files::{private_dir, read_ordinary};

/// The most spooled events in memory at a time.
const CHUNK: usize = 256;
/// How often one round reads the spool again while new events come. The next round takes the rest.
const MAX_READS: usize = 8;

/// How often the journal is checked for old events. A single timer for the due time would not do: a wait does not
/// count the time that the machine sleeps.
#[cfg(any(unix, test))]
const TIDYING: Duration = Duration::from_secs(3600);

/// Sends the sender its acknowledgement. The argument says whether the journal holds the event.
pub(super) type Acknowledge = Box<dyn FnOnce(bool)>;

/// A received event, and the data for storing and acknowledging it.
pub(super) struct Arrived {
    message: HookMessage,
    id: u128,
    boot: Option<Arc<str>>,
    /// The bytes for the journal; empty if the event comes from the journal.
    frame: Vec<u8>,
    /// The file in the spool, if it comes from there.
    file: Option<Spooled>,
    /// The sender's acknowledgement, if a sender waits.
    pub acknowledge: Option<Acknowledge>,
}

impl Arrived {
    /// For an event of the journal, `frame` is empty: it needs no writing.
    pub fn new(envelope: &Envelope, payload: Arc<[u8]>, frame: Vec<u8>) -> Self {
        let (message, boot) = (envelope.message(payload), envelope.boot.clone());
        Self { message, id: envelope.id, boot, frame, file: None, acknowledge: None }
    }

    /// The sort key of events. Events of earlier boots come first, by the wall clock; then those of this boot, by the
    /// clock since boot.
    fn place_in_time(&self, boot: Option<&Arc<str>>) -> (Reverse<bool>, i64, u64, u128) {
        let (earlier_boot, origin) = (self.boot.as_ref() != boot, &self.message.origin);
        let at = if earlier_boot { origin.at.as_millis() } else { 0 };
        (Reverse(earlier_boot), at, origin.order, self.id)
    }
}

/// The receiver's state between rounds.
pub(super) struct ReceiverState {
    places: HookPaths,
    options: Options,
    pub counts: Arc<Counts>,
    on_event: Box<dyn FnMut(HookMessage) + Send>,
    on_trouble: Box<dyn FnMut() + Send>,
    left_out: StorageFilter,
    /// The right to write the journal, if this receiver has it.
    journal: Option<Journal>,
    /// Reads the journal while another program writes it.
    reader: JournalReader,
    known: SeenEvents,
    /// Whether the journal holds events that will get too old.
    holds_events: bool,
    boot: Option<Arc<str>>,
    /// Whether storing or reading failed last, so that trouble is reported once.
    in_trouble: bool,
    /// Whether it failed in this round.
    met_trouble: bool,
}

impl ReceiverState {
    pub fn new(
        places: HookPaths,
        listener: ReceiverSetup,
        exclude: Arc<RwLock<Exclude>>,
        counts: Arc<Counts>,
    ) -> Self {
        let ReceiverSetup { options, on_event, on_trouble, forgotten, .. } = listener;
        Self {
            places,
            options,
            counts,
            on_event,
            on_trouble,
            left_out: StorageFilter::by(exclude, forgotten),
            journal: None,
            reader: JournalReader::default(),
            known: SeenEvents::default(),
            holds_events: false,
            boot: clock::boot(),
            in_trouble: false,
            met_trouble: false,
        }
    }

    /// The first round. All events of the journal become known. The latest of them, and the whole spool, are
    /// delivered as replayed.
    pub fn begin(&mut self) {
        self.claim();
        let since = clock::wall()
            .as_millis()
            .saturating_sub(i64::try_from(self.options.recent.as_millis()).unwrap_or(i64::MAX));
        let mut batch = self.read_journal(Timestamp::from_millis(since));
        for arrived in &mut batch {
            arrived.message.replayed = true;
        }
        self.hear_spool_and(batch, true);
        if self.journal.is_some() {
            let now = SystemTime::now();
            self.places.spools().for_each(|folder| spool::clear_abandoned(&folder, now));
            let _ = std::fs::remove_file(self.places.overfull());
            health::forget_old_losses(&self.places, now);
        }
        self.tidy();
        // The folder must exist, so that it can be watched.
        let _ = private_dir(&self.places.spool());
    }

    /// Takes these events, and all new ones in the spool or the journal. Returns whether to run another round soon:
    /// new events came, or there is trouble that may be over by then.
    pub fn round(&mut self, batch: Vec<Arrived>) -> bool {
        self.met_trouble = false;
        let new = self.take_events(batch);
        self.tidy();
        if self.in_trouble && !self.met_trouble && self.can_be_kept() {
            self.end_trouble();
        }
        new || self.in_trouble
    }

    /// How long the thread may wait without an event. Only old events in the journal set a limit.
    #[cfg(any(unix, test))]
    pub fn patience(&self) -> Option<Duration> {
        self.holds_events.then_some(TIDYING)
    }

    fn tidy(&mut self) {
        // If another program writes the journal, it may end, and then this receiver tidies.
        let holds = self.journal.as_mut().map_or(Ok(true), Journal::tidy);
        self.holds_events = holds.unwrap_or_else(|error| {
            tracing::warn!(%error, "hook events that are too old cannot be removed");
            true
        });
    }

    fn take_events(&mut self, batch: Vec<Arrived>) -> bool {
        if self.journal.is_none() && self.claim() {
            // The writer before this one has ended: deliver its last events first.
            let last = self.read_journal(Timestamp::from_millis(i64::MIN));
            self.handle(last);
        }
        self.hear_spool_and(batch, false)
    }

    fn claim(&mut self) -> bool {
        match Journal::claim(&self.places) {
            Ok(claimed) => self.journal = claimed,
            Err(error) => self.trouble("the journal of hook events cannot be opened", &error),
        }
        self.journal.is_some()
    }

    /// The journal's new events. Events older than `since` count as delivered.
    fn read_journal(&mut self, since: Timestamp) -> Vec<Arrived> {
        let Self { reader, known, places, left_out, .. } = self;
        let mut news = Vec::new();
        let read = reader.read(places, &mut |envelope, payload| {
            let event_state = known.event_state_mut(envelope.id);
            event_state.kept = true;
            if envelope.at < since {
                event_state.delivered = true;
            }
            left_out.note_stored(&envelope, payload);
            if !event_state.delivered {
                news.push(Arrived::new(&envelope, payload.into(), Vec::new()));
            }
        });
        if let Err(error) = read {
            self.trouble("the journal of hook events cannot be read", &error);
        }
        news
    }

    /// Takes the spool in parts that fit into memory, and each event of the batch in its order among them.
    ///
    /// It reads the spool after the connections: a sender that spooled ended before any of its successors connected.
    /// It reads the spool again for events that came meanwhile, a few times.
    fn hear_spool_and(&mut self, mut batch: Vec<Arrived>, replayed: bool) -> bool {
        let mut new = !batch.is_empty();
        for _ in 0..MAX_READS {
            let spooled = self.look_into_spools();
            new |= self.hear_journal(&mut batch);
            let mut parts = spooled.chunks(CHUNK).peekable();
            while let Some(part) = parts.next() {
                let mut events: Vec<Arrived> =
                    part.iter().filter_map(|file| self.read_spooled(file, replayed)).collect();
                new |= !events.is_empty();
                if events.len() < part.len() {
                    // Another program has moved them from the spool to the journal meanwhile.
                    new |= self.hear_journal(&mut batch);
                }
                let last = part.last().filter(|_| parts.peek().is_some()).map_or(u64::MAX, |file| file.order);
                events.extend(batch.extract_if(.., |arrived| arrived.message.origin.order <= last));
                self.handle(events);
            }
            self.handle(std::mem::take(&mut batch));
            if spooled.is_empty() {
                break;
            }
        }
        new
    }

    /// Adds the events that another program has written into the journal.
    fn hear_journal(&mut self, batch: &mut Vec<Arrived>) -> bool {
        if self.journal.is_some() {
            return false;
        }
        let mut gained = self.read_journal(Timestamp::from_millis(i64::MIN));
        let any = !gained.is_empty();
        batch.append(&mut gained);
        any
    }

    /// The new events in the spools, complete up to the last one.
    ///
    /// A folder that changes during the reading may show a later file and miss an earlier one. A second reading shows
    /// all files older than the last one of the first. Files that only the second reading shows wait for the next
    /// call.
    fn look_into_spools(&mut self) -> Vec<Spooled> {
        let Some(last) = self.list_spools().last().map(|file| file.order) else { return Vec::new() };
        let mut spooled = self.list_spools();
        spooled.retain(|file| file.order <= last);
        spooled
    }

    fn list_spools(&mut self) -> Vec<Spooled> {
        let mut all = Vec::new();
        let folders: Vec<_> = self.places.spools().collect();
        for folder in folders {
            match spool::list(&folder) {
                Ok(mut found) => all.append(&mut found),
                Err(error) => self.trouble("the spool of hook events cannot be read", &error),
            }
        }
        let writer = self.journal.is_some();
        all.retain(|file| {
            let event_state = self.known.event_state(file.id);
            if event_state.kept && writer {
                let _ = std::fs::remove_file(&file.path);
            }
            !event_state.kept && (!event_state.delivered || writer)
        });
        all.sort();
        all
    }

    fn read_spooled(&mut self, file: &Spooled, replayed: bool) -> Option<Arrived> {
        let frame = match read_ordinary(&file.path) {
            Ok(frame) => frame,
            Err(error) => {
                match error.kind() {
                    io::ErrorKind::NotFound => {}
                    // The file belongs to another user, or is no ordinary file. It will never be readable, but the
                    // others are.
                    io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput => self.give_up(file),
                    _ => self.trouble("a spooled hook event cannot be read", &error),
                }
                return None;
            }
        };
        match decode(&frame) {
            Decoded::Whole { envelope, payload, used } if used == frame.len() => {
                let mut arrived = Arrived::new(&envelope, frame[payload].into(), frame);
                (arrived.message.replayed, arrived.file) = (replayed, Some(file.clone()));
                Some(arrived)
            }
            _ => {
                self.give_up(file);
                None
            }
        }
    }

    /// Counts a file that will never be an event, once.
    fn give_up(&mut self, file: &Spooled) {
        Counts::add(&self.counts.damaged);
        if self.journal.is_some() {
            spool::mark_damaged(&file.path);
        } else {
            self.known.event_state_mut(file.id).delivered = true;
        }
    }

    /// Stores, acknowledges and delivers.
    fn handle(&mut self, mut batch: Vec<Arrived>) {
        if batch.is_empty() {
            return;
        }
        self.keep(&batch);
        for arrived in &mut batch {
            if let Some(acknowledge) = arrived.acknowledge.take() {
                acknowledge(self.known.event_state(arrived.id).kept);
            }
        }
        let boot = self.boot.clone();
        batch.sort_by_key(|arrived| arrived.place_in_time(boot.as_ref()));
        for Arrived { message, id, file, .. } in batch {
            if !std::mem::replace(&mut self.known.event_state_mut(id).delivered, true) {
                Counts::add(&self.counts.delivered);
                (self.on_event)(message);
            }
            if let Some(file) = file
                && self.journal.is_some()
                && self.known.event_state(id).kept
            {
                let _ = std::fs::remove_file(file.path);
            }
        }
    }

    /// Writes the new events into the journal, if this receiver is its writer.
    fn keep(&mut self, batch: &[Arrived]) {
        if self.journal.is_some() {
            // Forgotten sessions must not be stored. Until the list can be read again, senders spool.
            if let Err(error) = self.left_out.refresh() {
                return self.trouble("the list of forgotten sessions cannot be read", &error);
            }
            for arrived in batch.iter().filter(|arrived| !arrived.frame.is_empty()) {
                // For its sender the event counts as kept: no part has to store it.
                if self.left_out.leaves_out(&arrived.message) {
                    self.known.event_state_mut(arrived.id).kept = true;
                }
            }
        }
        let Some(journal) = &mut self.journal else { return };
        let mut ids = std::collections::HashSet::new();
        let new = batch.iter().filter(|arrived| {
            !self.known.event_state(arrived.id).kept && !arrived.frame.is_empty() && ids.insert(arrived.id)
        });
        let public = |arrived: &Arrived| self.left_out.public(&arrived.message, &arrived.frame).into_owned();
        let frames: Vec<u8> = new.flat_map(public).collect();
        if frames.is_empty() {
            return;
        }
        match journal.append(&frames) {
            Ok(()) => {
                ids.into_iter().for_each(|id| self.known.event_state_mut(id).kept = true);
            }
            // No event is acknowledged as kept, so the senders spool.
            Err(error) => self.trouble("hook events cannot be written into the journal", &error),
        }
    }

    fn trouble(&mut self, what: &str, error: &io::Error) {
        self.met_trouble = true;
        if !std::mem::replace(&mut self.in_trouble, true) {
            tracing::warn!(%error, folder = %self.places.root().display(), "{what}");
            Counts::add(&self.counts.unkept);
            self.counts.in_trouble.store(true, Ordering::Relaxed);
            (self.on_trouble)();
        }
    }

    /// Whether an event could be stored now. The next event may be hours away, and the end of trouble should be
    /// reported earlier.
    fn can_be_kept(&mut self) -> bool {
        // If another program writes the journal, this receiver stores nothing.
        let Some(journal) = &mut self.journal else { return true };
        self.left_out.refresh().is_ok() && journal.check_writable().is_ok()
    }

    fn end_trouble(&mut self) {
        self.in_trouble = false;
        self.counts.in_trouble.store(false, Ordering::Relaxed);
        (self.on_trouble)();
    }
}

#[cfg(test)]
mod tests;
