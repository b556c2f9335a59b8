//! Faults of the disk, the store and the clock while an engine runs. Each is reported, no part of the program waits
//! for its end, no stored data is lost, and everything is stored afterwards.

mod clock;
mod dead_mount;
mod disk;
mod index;
mod locked;
mod process;
mod removed_store_files;
