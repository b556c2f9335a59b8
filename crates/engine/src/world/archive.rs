//! The world with archived transcripts at the paths of deleted ones.

use watchbill_history::archive::over;
use watchbill_settings::Settings;

use crate::world::environment::Sources;

/// Transcripts that are archived later appear too. Without a data folder, gives the world unchanged.
pub fn with_archive(world: Sources, settings: &Settings) -> Sources {
    Sources { fs: over(world.fs, settings.data_dir.as_deref()), ..world }
}
