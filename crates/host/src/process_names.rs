//! The name of a host's systemd scope.

/// The systemd scope of a session.
pub fn scope(session: &str) -> String {
    format!("watchbill-own-{session}.scope")
}
