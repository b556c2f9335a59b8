//! The world with archived transcripts at the paths of deleted ones, and with the sessions of databases and documents as transcripts.

use std::sync::Arc;

use watchbill_history::archive::over;
use watchbill_history::database_fs::DatabaseFs;
use watchbill_history::document_fs::DocumentFs;
use watchbill_settings::Settings;

use crate::world::environment::Sources;

/// Transcripts that are archived later appear too. Without a data folder, gives the world unchanged.
pub fn with_archive(world: Sources, settings: &Settings) -> Sources {
    let data_dir = settings.data_dir.as_deref();
    let files = Arc::new(DocumentFs::over(world.fs));
    Sources { fs: over(Arc::new(DatabaseFs::over(files, data_dir)), data_dir), ..world }
}
