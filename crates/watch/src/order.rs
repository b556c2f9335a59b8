//! What the keeper of watches is told.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use crate::route::Step;

/// What the keeper is told.
#[derive(Debug)]
pub(crate) enum Order {
    Step(Step),
    WatchDir(PathBuf),
    UnwatchDir(PathBuf),
    Poll,
    Answer(Sender<()>),
    Stop,
}
