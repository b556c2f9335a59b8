//! Names of a host's processes and of its systemd scope.

/// The name of the program.
pub const NAME: &str = "watchbill-host";

/// The first argument of the host itself.
pub const KEEP: &str = "--keep";

/// The systemd scope of a session.
pub fn scope(session: &str) -> String {
    format!("watchbill-own-{session}.scope")
}
