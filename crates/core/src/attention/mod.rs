//! Which sessions need the user, and when that is worth an alert: the one policy for groups, order, tray, counts and
//! alerts.
//!
//! [`need`] alone decides which state needs the user. [`Attention`] follows the rows over time. It adds facts that a
//! single row lacks: how long the need has lasted, whether it was reported, and whether it may be reported now.

mod episode;
mod limits;
mod need;
mod policy;
mod rows;
mod settings;

pub use episode::{AttentionEvent, Episode, Sighting, Silence};
pub use need::{COUNT_DWELL, Counts, Need, need};
pub use policy::Attention;
pub use rows::needs_person;
pub use settings::{ALERT_DWELL, AttentionSettings, LIMIT, QuietHours};
