//! `service.json` in the data folder: where the service listens, and its token. Only its owner can read it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Serialize;
use watchbill_platform::files::{open_private, private_dir};

/// The file's name in the data folder.
pub const FILE: &str = "service.json";

#[derive(Serialize)]
struct Content<'a> {
    address: String,
    port: u16,
    token: &'a str,
    pid: u32,
    version: &'static str,
}

/// The file, removed when it is dropped.
#[derive(Debug)]
pub struct AddressFile {
    path: PathBuf,
    token: String,
}

impl AddressFile {
    /// Writes the file in place of one that an ended program left.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub fn write(data_dir: &Path, address: SocketAddr, token: &str) -> io::Result<Self> {
        let path = data_dir.join(FILE);
        let content = Content {
            address: address.ip().to_string(),
            port: address.port(),
            token,
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION"),
        };
        // The user's own data folder may be a link, as for the store.
        private_dir(&data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned()))?;
        let fresh = data_dir.join(format!("{FILE}.{}", std::process::id()));
        let mut file =
            open_private(std::fs::OpenOptions::new().write(true).create(true).truncate(true), &fresh)?;
        file.write_all(serde_json::to_string(&content).map_err(io::Error::other)?.as_bytes())?;
        std::fs::rename(&fresh, &path)?;
        Ok(Self { path, token: token.to_owned() })
    }
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        // A later program may have written its own.
        if std::fs::read_to_string(&self.path).is_ok_and(|text| text.contains(&self.token)) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics")]

    use super::*;

    #[test]
    fn a_data_folder_behind_a_link_gets_the_file() {
        let place = std::env::temp_dir().join(format!("watchbill-address-{}", std::process::id()));
        let (real, link) = (place.join("real"), place.join("link"));
        private_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let file = AddressFile::write(&link, SocketAddr::from(([127, 0, 0, 1], 1)), "token").unwrap();
        assert!(real.join(FILE).is_file());
        drop(file);
        assert!(!real.join(FILE).exists());
        std::fs::remove_dir_all(place).unwrap();
    }
}
