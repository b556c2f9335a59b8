//! One look at everything, without watching: what `roster`, `why` and the like need.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::clock::Clock;
use crate::engine::Engine;
use crate::environment::{Outlook, World};
use crate::first_scan::FirstScan;
use crate::input::{Input, Output};
use crate::model::distant::Distant;
use crate::persist::Persist;
use crate::transcripts::{Loaded, Terms};
use watchbill_core::time::Timestamp;
use watchbill_settings::Settings;
use watchbill_store::Mode;
use watchbill_watch::hints::Hint;

/// How often half-written registry and marker files are tried again before the look ends.
const PATIENCE: u32 = 10;

/// Which rows the look is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    All,
    Recent,
    /// None: what has changed is to be kept.
    None,
}

/// What the first scan has read.
#[derive(Default)]
struct Read {
    /// To be taken in, by their numbers.
    kept: Vec<(usize, Loaded)>,
    /// What is left of the others.
    distant: Distant,
    /// Which those are.
    passed_over: HashSet<usize>,
}

impl Read {
    /// Reads everything that is to be read. What ended before `oldest` is not kept.
    fn of(scan: &FirstScan, world: &World, terms: Terms, oldest: Option<Timestamp>) -> Self {
        let read = Mutex::new(Self::default());
        if !scan.is_empty() {
            scan.read(&world.fs, terms, &|| true, &|n, loaded| {
                read.lock().is_ok_and(|mut read| {
                    read.take(n, loaded, oldest);
                    true
                })
            });
        }
        let mut read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Subagents' transcripts that came before those of their sessions may follow them now.
        for (n, loaded) in std::mem::take(&mut read.kept) {
            read.take(n, loaded, oldest);
        }
        read
    }

    /// Takes in the `n`th file.
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

/// Reads everything once and gives the engine that knows it.
pub fn look(settings: Settings, world: World, outlook: Outlook, clock: &dyn Clock) -> Engine {
    // What is kept says how things are now, nothing about the past.
    let folder = settings.data_dir.clone().filter(|_| outlook.until.is_none());
    let mut persist = folder.map(|folder| Persist::open(&folder, Mode::Read));
    look_with(settings, world, outlook, clock, persist.as_mut(), Wants::All)
}

/// The same for the default roster alone: rows that it does not show are not put together, and of sessions that the store does
/// not know no more is kept than may tie them to those that it shows.
pub fn look_at_recent(settings: Settings, world: World, outlook: Outlook, clock: &dyn Clock) -> Engine {
    let folder = settings.data_dir.clone().filter(|_| outlook.until.is_none());
    let mut persist = folder.map(|folder| Persist::open(&folder, Mode::Read));
    look_with(settings, world, outlook, clock, persist.as_mut(), Wants::Recent)
}

/// Looks at everything to keep what is seen, as far as nobody else writes. Files that were `loaded` already are not read
/// again.
pub fn look_and_keep(
    settings: Settings,
    world: World,
    outlook: Outlook,
    clock: &dyn Clock,
    loaded: Vec<Loaded>,
) {
    let Some(folder) = settings.data_dir.clone() else { return };
    let mut persist = Persist::open(&folder, Mode::WriteOrRead);
    if !persist.writes() {
        return;
    }
    let mut engine = look_beside(settings, world, outlook, clock, Some(&mut persist), Wants::None, loaded);
    persist.save(&mut engine, clock.now());
    while engine.owes_rows() {
        let now = clock.now();
        let out = engine.step(now, Input::Deadline);
        read_on(&mut engine, now, out);
        persist.save(&mut engine, clock.now());
    }
}

pub(crate) fn look_with(
    settings: Settings,
    world: World,
    outlook: Outlook,
    clock: &dyn Clock,
    persist: Option<&mut Persist>,
    wants: Wants,
) -> Engine {
    look_beside(settings, world, outlook, clock, persist, wants, Vec::new())
}

fn look_beside(
    settings: Settings,
    world: World,
    outlook: Outlook,
    clock: &dyn Clock,
    persist: Option<&mut Persist>,
    wants: Wants,
    loaded: Vec<Loaded>,
) -> Engine {
    let now = outlook.until.unwrap_or_else(|| clock.now());
    let mut engine = Engine::new(settings, world.clone(), outlook, now);
    match wants {
        Wants::All => {}
        Wants::Recent => engine.show_recent_alone(),
        Wants::None => engine.keep_alone(),
    }
    // The folders are listed while the store is read: neither needs the other.
    let roots = engine.settings().roots.clone();
    let found = std::thread::scope(|scope| {
        let listed = scope.spawn(|| watchbill_watch::scan::scan(&*world.fs, &roots));
        if let Some(persist) = persist {
            persist.load(&mut engine);
        }
        // A look that has panicked found nothing that could be believed; the roots are looked at once more.
        listed.join().unwrap_or_else(|_| watchbill_watch::scan::scan(&*world.fs, &roots))
    });
    // What is kept stands for more than one reading.
    let loaded: Vec<Loaded> =
        loaded.into_iter().filter(|loaded| !engine.sessions().files().contains(&loaded.path)).collect();
    let mut reads = !loaded.is_empty();
    engine.take_first(loaded);
    let recent_since = now - engine.settings().recent;
    let known = |path: &Path| engine.sessions().files().contains(path);
    let mut scan = FirstScan::of(found, recent_since, &known);
    let terms = Terms {
        timeouts: engine.settings().timeouts,
        until: outlook.until,
        keep: engine.keeps(),
        exclude: engine.settings().history.exclude.clone(),
    };
    let oldest = (wants == Wants::Recent).then_some(recent_since);
    // Rows are put together once, when everything is there.
    let Read { kept, distant, passed_over } = Read::of(&scan, &world, terms, oldest);
    reads |= !(kept.is_empty() && passed_over.is_empty());
    // What is not kept is not to be compared with what is known.
    scan.forget(&passed_over);
    engine.take_distant(distant);
    engine.take_first(kept.into_iter().map(|(_, loaded)| loaded));
    if reads {
        engine.restoring().rows_may_differ();
    }
    let mut again = Vec::new();
    engine.read_registries(&mut again);
    if let Some(data_dir) = engine.settings().data_dir.clone().filter(|_| outlook.live) {
        // After the registry, which knows the processes; what `watch` hears is what was kept.
        again.extend(engine.step(now, Input::Hooks(crate::run::hook_listener::recent(&data_dir, now))));
    }
    if outlook.until.is_none() {
        // Companions say nothing about the past, since what they say has no time; neither does what is known already.
        again.extend(engine.step(now, Input::Found(scan.found)));
    }
    again.extend(engine.step(now, Input::ScanEnded(scan.problems)));
    if engine.is_waking() {
        again.extend(engine.step(now, Input::Wake(usize::MAX)));
    }
    read_on(&mut engine, now, again);
    for _ in 0..PATIENCE {
        let Some(retry) = engine.next_retry() else { break };
        std::thread::sleep(clock.until(retry));
        let now = outlook.until.unwrap_or_else(|| clock.now());
        let out = engine.step(now, Input::Deadline);
        read_on(&mut engine, now, out);
    }
    engine
}

/// Reads what a step has asked to be read again: the rest of a long file, or one of which nothing that was kept could be
/// used when its row was made, which any step may find.
fn read_on(engine: &mut Engine, now: Timestamp, mut out: Vec<Output>) {
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
