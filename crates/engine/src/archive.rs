//! The world with archived transcripts in the places of those that are gone.

use watchbill_history::archive::over;
use watchbill_settings::Settings;

use crate::environment::World;

/// Also with those that are archived from now on. Without a data folder it is the world as it is.
pub fn with_archive(world: World, settings: &Settings) -> World {
    World { fs: over(world.fs, settings.data_dir.as_deref()), ..world }
}
