//! Which addresses may be spoken to: https anywhere, http on this machine alone.

use std::net::IpAddr;

use ureq::http::Uri;

/// An address that may be spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    base: String,
    /// It is on this machine.
    pub is_loopback: bool,
    /// With encryption.
    pub is_https: bool,
}

impl Address {
    /// Reads an address such as `http://127.0.0.1:11434/v1`.
    ///
    /// # Errors
    /// When it is not an address, holds a login, or is plain http beyond this machine.
    pub fn of(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("`{text}` is no address for a model: {why}"));
        let text = text.trim().trim_end_matches('/');
        let Ok(uri) = text.parse::<Uri>() else { return wrong("it is no URL") };
        let (Some(host), Some(authority)) = (uri.host(), uri.authority()) else {
            return wrong("it names no host");
        };
        if authority.as_str().contains('@') {
            // Not repeated, because it may hold a password.
            return Err(
                "the address holds a login; put the key into a file and name it as key_file".to_owned()
            );
        }
        if uri.query().is_some() || text.contains('#') {
            return wrong("it has a part after `?` or `#`");
        }
        let is_https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return wrong("it begins neither with http:// nor with https://"),
        };
        let is_loopback = is_loopback(host);
        if !is_https && !is_loopback {
            return wrong("plain http is for this machine alone; use https");
        }
        Ok(Self { base: text.to_owned(), is_loopback, is_https })
    }

    /// The address of a path below it.
    pub fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }
}

/// Whether a host is this machine by its name. Other names are not looked up: what they mean may change.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for good in [
            "http://127.0.0.1:11434/v1",
            "http://localhost:8080/v1/",
            "http://[::1]:1234/v1",
            "http://127.9.9.9/v1",
            "https://models.example/v1",
        ] {
            assert!(Address::of(good).is_ok(), "{good}");
        }
        for bad in [
            "http://models.example/v1",
            "http://192.168.1.4:8080/v1",
            "http://localhost.example/v1",
            "http://127.0.0.1.example/v1",
            "http://0.0.0.0:8080/v1",
            "http://127.0.0.1@models.example/v1",
            "https://user:password@models.example/v1",
            "https://models.example/v1?key=a",
            "ftp://127.0.0.1/v1",
            "file:///etc/passwd",
            "127.0.0.1:11434",
            "/v1",
            "",
        ] {
            assert!(Address::of(bad).is_err(), "{bad}");
        }
        let login = Address::of("https://user:hunter2@models.example/v1").unwrap_err();
        assert!(!login.contains("hunter2"), "{login}");
    }

    #[test]
    fn a_path_is_added_once() {
        let address = Address::of(" http://localhost:8080/v1/ ").unwrap();
        assert_eq!(address.join("models"), "http://localhost:8080/v1/models");
    }
}
