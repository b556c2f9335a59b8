//! Faults of the disk, of the store and of the clock, met by a running engine: each is said, nobody waits for its end,
//! nothing that was stored is lost, and afterwards everything is stored.

mod clock;
mod disk;
mod index;
mod locked;
mod process;
mod removed;
