//! Who needs the person, and when that is worth a sound: the one policy for groups, order, tray, counts and alerts.
//!
//! [`need`] alone says what needs the person. [`Attention`] follows the rows over time and adds what a glance at one
//! row cannot know: how long it has been so, whether it has been told, and whether it may be told now.

mod episode;
mod need;
mod policy;
mod rows;
mod settings;

pub use episode::{Episode, Outcome, Sighting, Silence};
pub use need::{COUNT_DWELL, Counts, Need, need};
pub use policy::Attention;
pub use rows::{counts_of, needs_person};
pub use settings::{ALERT_DWELL, AttentionSettings, QuietHours};
