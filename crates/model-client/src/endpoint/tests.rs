//! https: a certificate that is trusted, and one that is not.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// A key and a certificate for 127.0.0.1; `None` where there is no `openssl`.
fn certified(folder: &Path) -> Option<ServerConfig> {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "1",
        ])
        .args(["-subj", "/CN=watchbill", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(folder)
        .output()
        .ok()?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let certificate = CertificateDer::from_pem_file(folder.join("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Some(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
}

#[test]
fn https_works_with_a_trusted_certificate_alone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(config) = certified(folder.path()) else {
        // The report of the test run is Linux's alone.
        #[cfg(target_os = "linux")]
        watchbill_testkit::skipped("NOT TESTED: https, because there is no `openssl` here");
        return;
    };
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = Address::of(&format!("https://{}/v1", listener.local_addr().unwrap())).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let _ = stream.read(&mut [0; 2048]);
            let body = r#"{"data":[{"id":"small"}]}"#;
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    let until = Instant::now() + Duration::from_secs(20);
    let endpoint = |roots: &[Certificate<'static>]| Endpoint {
        agent: agent(&address, roots),
        address: address.clone(),
        key: None,
        until,
    };
    let trusted = certificates::in_file(&folder.path().join("cert.pem"));
    assert_eq!(trusted.len(), 1);
    assert_eq!(endpoint(&trusted).models().unwrap().models, ["small"]);
    let error = endpoint(&[]).models().unwrap_err();
    assert!(error.words.contains("certificate") && error.away, "{error:?}");
}
