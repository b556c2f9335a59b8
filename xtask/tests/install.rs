//! `dist/install.sh`, run on a small archive: what it installs, replaces, refuses and removes.
#![cfg(unix)]
// A test may panic when it cannot prepare its folder; clippy does not know that these functions belong to tests.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A release in a folder, and a folder to install into.
struct Place(TempDir);

impl Place {
    /// With an archive whose program prints `word`.
    fn with_release(word: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.release(word, &["bin/watchbill", &format!("share/only-{word}")]);
        place
    }

    fn release(&self, word: &str, files: &[&str]) {
        let release = self.path("release");
        let _ = fs::remove_dir_all(&release);
        let system = std::env::consts::OS;
        let name = format!("watchbill-0.1.0-{system}-{}", std::env::consts::ARCH);
        for file in files {
            let file = release.join(&name).join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, format!("#!/bin/sh\necho {word}\n")).unwrap();
            fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let archive = format!("{name}.tar.gz");
        assert!(
            run(Command::new("tar").args(["-czf", &archive, &name]).current_dir(&release)).status.success()
        );
        let sum = run(Command::new("sha256sum").arg(&archive).current_dir(&release));
        fs::write(release.join("SHA256SUMS"), sum.stdout).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn install(&self, words: &[&str]) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/install.sh");
        let mut call = Command::new("sh");
        call.arg(script).args(words).arg("--prefix").arg(self.path("prefix"));
        run(call.env("HOME", self.path("home")).stdin(std::process::Stdio::null()))
    }

    /// Names of all files below the prefix.
    fn installed(&self) -> String {
        let found = run(Command::new("find").args(["prefix", "-type", "f"]).current_dir(self.0.path()));
        let mut names: Vec<_> =
            std::str::from_utf8(&found.stdout).unwrap().lines().map(str::to_owned).collect();
        names.sort();
        names.join(" ")
    }
}

fn run(call: &mut Command) -> Output {
    call.output().unwrap()
}

#[test]
fn an_archive_is_installed_replaced_and_removed_without_a_trace() {
    let place = Place::with_release("one");
    let release = place.path("release").display().to_string();
    fs::create_dir(place.path("prefix")).unwrap();
    fs::write(place.path("prefix/mine"), "").unwrap();
    for word in ["one", "two"] {
        place.release(word, &["bin/watchbill", &format!("share/only-{word}")]);
        let output = place.install(&[&release, "--yes"]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(
            place.installed(),
            format!(
                "prefix/bin/watchbill prefix/mine prefix/share/only-{word} prefix/share/watchbill/installed-files"
            )
        );
        let said = run(&mut Command::new(place.path("prefix/bin/watchbill"))).stdout;
        assert_eq!(said, format!("{word}\n").into_bytes());
    }
    let output = place.install(&["--remove", "--yes"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(place.installed(), "prefix/mine");
    assert!(!place.path("prefix/bin").exists());
    // A file of the person's own stays.
    fs::create_dir_all(place.path("prefix/bin")).unwrap();
    fs::write(place.path("prefix/bin/watchbill"), "mine").unwrap();
    let output = place.install(&[&release, "--yes"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("is there already"), "{output:?}");
    assert_eq!(place.installed(), "prefix/bin/watchbill prefix/mine");
}

#[test]
fn it_installs_nothing_that_has_another_checksum_or_that_it_was_not_told_to() {
    let place = Place::with_release("one");
    let release = place.path("release").display().to_string();
    let output = place.install(&[&release]);
    assert!(
        !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("--yes"),
        "{output:?}"
    );
    let sums = place.path("release/SHA256SUMS");
    let wrong = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, format!("{}{}", if wrong.starts_with('0') { "1" } else { "0" }, &wrong[1..])).unwrap();
    for (from, complaint) in [(release.as_str(), "not the file"), ("http://example.invalid", "https://")] {
        let output = place.install(&[from, "--yes"]);
        assert!(!output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(complaint), "{output:?}");
    }
    assert_eq!(place.installed(), "");
}
