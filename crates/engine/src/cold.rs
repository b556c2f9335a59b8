//! One look at everything, without watching: what `roster`, `why` and the like need.

use std::sync::mpsc;

use crate::clock::Clock;
use crate::engine::{Engine, Outlook, World};
use crate::first_scan::FirstScan;
use crate::input::Input;
use crate::settings::Settings;
use watchbill_watch::hints::Hint;

/// How often half-written registry and marker files are tried again before the look ends.
const PATIENCE: u32 = 10;

/// Reads everything once and gives the engine that knows it.
pub fn look(settings: Settings, world: World, outlook: Outlook, clock: &dyn Clock) -> Engine {
    let now = outlook.until.unwrap_or_else(|| clock.now());
    let mut engine = Engine::new(settings, world.clone(), outlook, now);
    let scan = FirstScan::find(&*world.fs, &engine.settings.roots, now - engine.settings.recent);
    let timeouts = engine.settings.timeouts;
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let read = &scan;
        let fs = &world.fs;
        scope.spawn(move || {
            let sender = std::sync::Mutex::new(sender);
            read.read(fs, timeouts, outlook.until, &|| true, &|_, loaded| {
                sender.lock().is_ok_and(|sender| sender.send(loaded).is_ok())
            });
        });
        // Rows are put together once, when everything is there.
        let batch = receiver.into_iter().collect();
        engine.take_first(batch);
    });
    let mut out = Vec::new();
    engine.read_registries(&mut out);
    if let Some(data_dir) = engine.settings.data_dir.clone().filter(|_| outlook.live) {
        // After the registry, which knows the processes; what `watch` hears is what was kept.
        engine.step(now, Input::Hooks(crate::hears::recent(&data_dir, now)));
    }
    engine.step(now, Input::ScanEnded(scan.problems));
    if outlook.until.is_none() {
        // What they say has no time, so they say nothing about the past.
        engine.step(now, Input::Hints(scan.companions.into_iter().map(Hint::File).collect()));
    }
    for _ in 0..PATIENCE {
        let Some(retry) = engine.next_retry() else { break };
        std::thread::sleep(clock.until(retry));
        engine.step(outlook.until.unwrap_or_else(|| clock.now()), Input::Deadline);
    }
    engine
}
