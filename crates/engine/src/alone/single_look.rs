//! One look at everything, without watching, for `roster`, `why` and similar commands.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::clock::Clock;
use crate::engine::Engine;
use crate::model::distant::Distant;
use crate::persist::Persist;
use crate::step::input::{Input, Output};
use crate::transcripts::first_scan::FirstScan;
use crate::transcripts::{LoadOptions, Loaded};
use crate::witnesses::own_hosts;
use crate::world::environment::{Outlook, Sources};
use watchbill_core::time::Timestamp;
use watchbill_settings::Settings;
use watchbill_store::OpenMode;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::Found;

/// Number of retries of half-written registry and marker files before the look ends.
const MAX_TRIES: u32 = 10;

/// The rows that the caller of a look wants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedRows {
    All,
    Recent,
    /// No rows: the look only stores changes.
    None,
}

/// The result of reading the files of the first scan.
#[derive(Default)]
struct Read {
    /// Files for the engine to take in, each with its number in the scan.
    kept: Vec<(usize, Loaded)>,
    /// The remaining facts of the other files.
    distant: Distant,
    /// The numbers of the other files.
    passed_over: HashSet<usize>,
}

impl Read {
    /// Reads all files of the scan. Keeps no transcript of a session that ended before `oldest`.
    fn of(
        scan: &FirstScan,
        world: &Sources,
        terms: LoadOptions,
        oldest: Option<Timestamp>,
        distant: Distant,
    ) -> Self {
        let read = Mutex::new(Self { distant, ..Self::default() });
        if !scan.is_empty() {
            scan.read(&world.fs, terms, &|| true, &|n, loaded| {
                read.lock().is_ok_and(|mut read| {
                    read.take(n, loaded, oldest);
                    true
                })
            });
        }
        let mut read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A subagent's transcript that came before its session's may follow it now.
        for (n, loaded) in std::mem::take(&mut read.kept) {
            read.take(n, loaded, oldest);
        }
        read
    }

    /// Takes in file number `n`.
    fn take(&mut self, n: usize, loaded: Loaded, oldest: Option<Timestamp>) {
        let kept = match oldest {
            Some(oldest) => self.distant.pass_over(loaded, oldest),
            None => Some(loaded),
        };
        match kept {
            Some(loaded) => self.kept.push((n, loaded)),
            None => drop(self.passed_over.insert(n)),
        }
    }
}

/// Reads everything once. Gives the engine with the result.
pub fn look(settings: Settings, world: Sources, outlook: Outlook, clock: &dyn Clock) -> Engine {
    // The stored state describes the present, not the past.
    let folder = settings.data_dir.clone().filter(|_| outlook.until.is_none());
    let mut persist = folder.map(|folder| Persist::open(&folder, OpenMode::Read));
    look_with(settings, world, outlook, clock, persist.as_mut(), WantedRows::All)
}

/// Like [`look`], for the default roster alone. Makes no row that this roster hides. Of a session that the store does
/// not know, keeps only the facts that may tie it to shown sessions.
pub fn look_at_recent(settings: Settings, world: Sources, outlook: Outlook, clock: &dyn Clock) -> Engine {
    let folder = settings.data_dir.clone().filter(|_| outlook.until.is_none());
    let mut persist = folder.map(|folder| Persist::open(&folder, OpenMode::Read));
    look_with(settings, world, outlook, clock, persist.as_mut(), WantedRows::Recent)
}

/// Looks at everything and stores the result, unless another process writes the store. Does not read the files in
/// `loaded` again.
pub fn look_and_keep(
    settings: Settings,
    world: Sources,
    outlook: Outlook,
    clock: &dyn Clock,
    loaded: Vec<Loaded>,
) {
    let Some(folder) = settings.data_dir.clone() else { return };
    let mut persist = Persist::open(&folder, OpenMode::WriteOrRead);
    if !persist.writes() {
        return;
    }
    let mut engine =
        look_with_loaded(settings, world, outlook, clock, Some(&mut persist), WantedRows::None, loaded);
    persist.save(&mut engine, clock.now());
    while engine.has_due_rows() {
        let now = clock.now();
        let out = engine.step(now, Input::Deadline);
        read_again(&mut engine, now, out);
        persist.save(&mut engine, clock.now());
    }
}

pub(crate) fn look_with(
    settings: Settings,
    world: Sources,
    outlook: Outlook,
    clock: &dyn Clock,
    persist: Option<&mut Persist>,
    wants: WantedRows,
) -> Engine {
    look_with_loaded(settings, world, outlook, clock, persist, wants, Vec::new())
}

fn look_with_loaded(
    settings: Settings,
    world: Sources,
    outlook: Outlook,
    clock: &dyn Clock,
    persist: Option<&mut Persist>,
    wants: WantedRows,
    loaded: Vec<Loaded>,
) -> Engine {
    let now = outlook.until.unwrap_or_else(|| clock.now());
    let mut engine = Engine::new(settings, world.clone(), outlook, now);
    match wants {
        WantedRows::All => {}
        WantedRows::Recent => engine.only_default_roster(),
        WantedRows::None => engine.only_store(),
    }
    // Lists the folders while the store is read: the two are independent.
    let roots = engine.roots_now();
    let mut found = std::thread::scope(|scope| {
        let listed = scope.spawn(|| watchbill_watch::scan::scan(&*world.fs, &roots));
        if let Some(persist) = persist {
            persist.load(&mut engine);
        }
        // If the listing thread panicked, its result is lost, so list the roots again.
        listed.join().unwrap_or_else(|_| watchbill_watch::scan::scan(&*world.fs, &roots))
    });
    // A stored state may cover several reads of the file, so it goes before a fresh load.
    let loaded: Vec<Loaded> =
        loaded.into_iter().filter(|loaded| !engine.sessions().files().contains(&loaded.path)).collect();
    let mut reads = !loaded.is_empty();
    engine.take_first(loaded);
    let recent_since = now - engine.settings().recent;
    let known = |path: &Path| engine.sessions().files().contains(path);
    let oldest = (wants == WantedRows::Recent).then_some(recent_since);
    let distant = oldest.map(|oldest| set_aside(&mut found.found, oldest, &known)).unwrap_or_default();
    let mut scan = FirstScan::of(found, recent_since, &known);
    let terms = LoadOptions {
        timeouts: engine.settings().timeouts,
        until: outlook.until,
        keep: engine.collects_changes(),
        exclude: engine.settings().history.exclude.clone(),
    };
    // Make rows once, after everything is read.
    let Read { kept, distant, passed_over } = Read::of(&scan, &world, terms, oldest, distant);
    reads |= !(kept.is_empty() && passed_over.is_empty());
    // Files that the engine does not hold must not be compared with the files that it knows.
    scan.forget(&passed_over);
    engine.take_distant(distant);
    engine.take_first(kept.into_iter().map(|(_, loaded)| loaded));
    if reads {
        engine.restoring().rows_may_differ();
    }
    let mut again = Vec::new();
    engine.read_registries(&mut again);
    if let Some(data_dir) = engine.settings().data_dir.clone().filter(|_| outlook.live) {
        // After the registry, because that knows the processes. These events come from the journal and the spool.
        again.extend(engine.step(now, Input::Hooks(crate::run::hook_listener::recent(&data_dir, now))));
    }
    if let Some(data_dir) = engine.settings().data_dir.clone().filter(|_| outlook.live) {
        let since = (wants == WantedRows::Recent).then_some(recent_since);
        again.extend(engine.step(now, Input::Own(own_hosts::look(&data_dir, since))));
    }
    if outlook.until.is_none() {
        // Companion files have no times, so they say nothing about the past. Nor do the known files.
        again.extend(engine.step(now, Input::Found(scan.found)));
    }
    again.extend(engine.step(now, Input::ScanEnded(scan.problems)));
    if engine.is_waking() {
        again.extend(engine.step(now, Input::Wake(usize::MAX)));
    }
    read_again(&mut engine, now, again);
    for _ in 0..MAX_TRIES {
        let Some(retry) = engine.next_retry() else { break };
        std::thread::sleep(clock.until(retry));
        let now = outlook.until.unwrap_or_else(|| clock.now());
        let out = engine.step(now, Input::Deadline);
        read_again(&mut engine, now, out);
    }
    engine
}

/// Takes out the sessions of databases that the store does not know and that were last written before `oldest`. Reading them takes
/// long, and the default roster shows none.
fn set_aside(found: &mut Vec<Found>, oldest: Timestamp, known: &dyn Fn(&Path) -> bool) -> Distant {
    let mut distant = Distant::default();
    let is_far = |found: &Found| found.root.database().is_some() && found.stat.mtime < oldest;
    // A subagent's transcript may come before its session's.
    for _ in 0..2 {
        found.retain(|found| known(&found.path) || !is_far(found) || !distant.pass_unread(found));
    }
    distant
}

/// Reads the files that a step wants to read again. This is the rest of a long file, or a file whose stored state was
/// unusable when its row was made. Any step may ask for this.
fn read_again(engine: &mut Engine, now: Timestamp, mut out: Vec<Output>) {
    loop {
        let more = out.drain(..).filter_map(|output| match output {
            Output::Again(paths) => Some(paths),
            _ => None,
        });
        let more: BTreeSet<Hint> = more.flatten().map(Hint::File).collect();
        if more.is_empty() {
            return;
        }
        out = engine.step(now, Input::Hints(more));
    }
}
