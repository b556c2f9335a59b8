//! Who needs the person, and when that is worth a sound: the one policy for groups, order, tray, counts and alerts.
//!
//! [`need`] alone says what needs the person. [`Attention`] follows the rows over time and adds what a glance at one
//! row cannot know: how long it has been so, whether it has been told, and whether it may be told now.

mod episode;
mod need;
mod policy;
mod settings;

pub use episode::{Episode, Outcome, Sighting, Silence};
pub use need::{Counts, Need, counts_of, need, needs_person};
pub use policy::{ALERT_DWELL, Attention, COUNT_DWELL};
pub use settings::{AttentionSettings, QuietHours};
