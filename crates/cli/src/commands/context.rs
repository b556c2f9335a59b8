//! The settings of a command, and a single look at the sessions.

use watchbill_engine::alone::single_look::{look, look_at_recent};
use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::handle::real_sources;
use watchbill_engine::world::archive::with_archive;
use watchbill_history::query::Gate;
use watchbill_settings::{CommandLineOptions, Configuration, Settings};

use crate::args::Global;

/// A single look at everything: the user's files, or the demo's.
pub fn engine(global: &Global, outlook: Outlook) -> anyhow::Result<Engine> {
    if global.demo {
        return Ok(watchbill_engine::demo::look(outlook));
    }
    let settings = settings(global)?;
    let world = with_archive(real_sources(), &settings);
    Ok(look(settings, world, outlook, &SystemClock))
}

/// Which sessions may be shown or exported. The demo shows all.
pub fn gate(global: &Global) -> anyhow::Result<Gate> {
    if global.demo { Ok(Gate::default()) } else { Ok(Gate::of(&settings(global)?)?) }
}

/// The settings from the options, the environment and the configuration file.
pub fn settings(global: &Global) -> anyhow::Result<Settings> {
    Ok((*configuration(global)?.settings()).clone())
}

/// The same settings, which follow their changes while the program runs.
pub fn configuration(global: &Global) -> anyhow::Result<Configuration> {
    let given = CommandLineOptions {
        roots: global.roots.clone(),
        data_dir: global.data_dir.clone(),
        config: global.config.clone(),
    };
    Ok(Configuration::open(&given, &|name| std::env::var_os(name))?)
}

/// A single look at the sessions of the default roster.
pub fn recent(global: &Global, outlook: Outlook) -> anyhow::Result<Engine> {
    let settings = settings(global)?;
    let world = with_archive(real_sources(), &settings);
    Ok(look_at_recent(settings, world, outlook, &SystemClock))
}
