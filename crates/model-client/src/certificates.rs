//! The certificates of the system, from the file where it keeps them.

use std::path::Path;

use ureq::tls::{Certificate, PemItem, parse_pem};

/// Where systems keep them: Debian, Fedora, openSUSE, RHEL, Alpine and macOS.
const FILES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The certificates that this system trusts.
///
/// # Errors
/// When none of the files exists.
pub fn of_system() -> Result<Vec<Certificate<'static>>, String> {
    let found = FILES.iter().map(|file| in_file(Path::new(file))).find(|found| !found.is_empty());
    found.ok_or_else(|| {
        "https does not work here: this system has no file of trusted certificates at a known place"
            .to_owned()
    })
}

/// The certificates of a file; those that cannot be read are left out.
pub fn in_file(file: &Path) -> Vec<Certificate<'static>> {
    let text = std::fs::read(file).unwrap_or_default();
    let items = parse_pem(&text).filter_map(Result::ok);
    items
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect()
}
