//! The settings that a command runs with, and one look at the sessions.

use watchbill_engine::archive::with_archive;
use watchbill_engine::clock::SystemClock;
use watchbill_engine::cold::look;
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::handle::real_world;
use watchbill_settings::{Configuration, Given, Settings};

use crate::args::Global;

/// One look at everything: the person's files, or the demo's.
pub fn engine(global: &Global, outlook: Outlook) -> anyhow::Result<Engine> {
    if global.demo {
        return Ok(watchbill_engine::demo::look(outlook));
    }
    let settings = settings(global)?;
    let world = with_archive(real_world(), &settings);
    Ok(look(settings, world, outlook, &SystemClock))
}

/// The settings that the options, the environment and the configuration file give.
pub fn settings(global: &Global) -> anyhow::Result<Settings> {
    Ok((*configuration(global)?.settings()).clone())
}

/// The same, for as long as the program runs.
pub fn configuration(global: &Global) -> anyhow::Result<Configuration> {
    let given = Given {
        claude_dirs: global.claude_dirs.clone(),
        data_dir: global.data_dir.clone(),
        config: global.config.clone(),
    };
    Ok(Configuration::open(&given, &|name| std::env::var_os(name))?)
}
