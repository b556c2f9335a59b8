//! All time spans of the resolver: dwell, lag, decay. They are defined here and nowhere else, but for
//! the length of a compaction, which a transcript may tell too.

pub(super) use crate::session::COMPACTION_LASTS;
use crate::time::Millis;

/// Registry and hooks report the same event up to this far apart. For so long, the older report of one does not
/// contradict the newer report of the other.
///
/// Measured with client 2.1.329, medians of 6 runs: prompt -> `busy` -42 ms, request -> `waiting` 32 ms, end ->
/// `idle` 58 ms; under load up to 1.7 s.
pub(super) const GRACE: Millis = Millis(2_000);
/// How long a request must last before it counts by a hook alone. An automatic reviewer answers after 90 ms, print
/// mode denies after 130 ms. A registry that says `waiting` confirms it at once.
pub(super) const ASK_DWELL: Millis = Millis(1_000);
/// How much newer than a registry's `idle` a turn's record or hook must be to prove the registry stale. A turn and its
/// status are written within a second of each other; five in a thousand registries stand still.
pub(super) const STALE_IDLE: Millis = Millis(1_500);
/// How much later than a process's end a record must be to prove that the session went on elsewhere.
pub(super) const AFTER_THE_END: Millis = Millis(2_000);
/// How long after its newest record a session may be without a registry file before that counts. The file may be half
/// written, or for a moment carry the throw-away id of `--continue`.
pub(super) const CLAIM_GRACE: Millis = Millis(2_000);
/// How long a registry may say `idle` between the end of the last subagent and the turn that reports it.
pub(super) const REPORT_GAP: Millis = Millis(1_000);
/// How long after a registry's `idle` the end of the turn may still be missing from the transcript.
pub(super) const SETTLING: Millis = Millis(500);
/// A status that follows a turn's last record by no more than this belongs to the same event.
pub(super) const SAME_EVENT: Millis = Millis(2_000);
