//! Starts an engine on a thread of its own.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::mpsc::unbounded_channel;
use watchbill_settings::Settings;
use watchbill_watch::KeptOpen;
use watchbill_watch::process::SystemProcesses;

use super::running::Handle;
use crate::clock::{Clock, SystemClock};
use crate::demo::folder::DemoFolder;
use crate::run::{Loop, Parts};
use crate::world::archive::with_archive;
use crate::world::environment::Sources;
use crate::world::source::HintSource;

/// The real file system and the real processes.
pub fn real_sources() -> Sources {
    Sources { fs: Arc::new(KeptOpen::default()), processes: Arc::new(SystemProcesses::new()) }
}

/// Starts the engine on the real world.
///
/// # Errors
/// When the system gives no thread.
pub fn start(settings: Settings) -> std::io::Result<Handle> {
    let world = with_archive(real_sources(), &settings);
    start_with(settings, world, Arc::new(SystemClock), None, Arc::new(Notify::new()), None)
}

/// Starts the engine on a given world. `source` replaces the system's watcher.
///
/// # Errors
/// When the system gives no thread.
pub fn start_in(
    settings: Settings,
    world: Sources,
    clock: Arc<dyn Clock>,
    source: Option<Box<dyn HintSource>>,
    woken: Arc<Notify>,
) -> std::io::Result<Handle> {
    start_with(settings, world, clock, source, woken, None)
}

/// The same. `temporary` goes when the engine has ended.
pub(crate) fn start_with(
    settings: Settings,
    world: Sources,
    clock: Arc<dyn Clock>,
    source: Option<Box<dyn HintSource>>,
    woken: Arc<Notify>,
    temporary: Option<DemoFolder>,
) -> std::io::Result<Handle> {
    let (sender, inbox) = unbounded_channel();
    let handle = Handle::new(sender, Arc::clone(&world.fs), settings.clone());
    let (own, reach) = (handle.clone(), Arc::clone(handle.reach()));
    let parts = Parts { settings, world, clock, inbox, own, source, woken, reach };
    let thread = std::thread::Builder::new().name("watchbill-engine".into()).spawn(move || {
        Loop::begin(parts).run();
        drop(temporary);
    })?;
    Ok(handle.owning(thread))
}
