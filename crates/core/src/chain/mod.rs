//! Work chains: which session continues which, and how that is known.
//!
//! [`resolve()`] is a pure function from facts to [`Chains`]. It uses the strongest evidence first: the user's joins
//! and splits, then forks, then copied history. Changes of session in the hooks or the registry file of one process
//! come next, then the records' own process id, and last the markers with their rule of thumb. Without evidence it
//! links nothing: hiding a session behind a wrong successor is worse than showing two rows.

pub mod chains;
pub mod facts;
pub mod lineage;
pub mod link;
pub mod marker;
pub mod resolve;
pub mod ties;

mod copies;
mod forest;
mod markers;
mod nodes;
mod parents;

pub use chains::{Chain, Chains};
pub use facts::{LineageFacts, ManualLink};
pub use lineage::{BeganBy, HookMove, Lineage, Marker, MoveCause, Neighbours, RegistryMove, Segment, Switch};
pub use link::{Link, LinkConfidence, LinkReason};
pub use marker::{MarkerError, parse_marker};
pub use markers::Neighbour;
pub use resolve::{resolve, resolve_for};
pub use ties::SessionGroups;
