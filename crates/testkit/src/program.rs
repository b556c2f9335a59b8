//! Runs programs of other projects; a missing one gives a clear error.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Programs of the private desktop, and their Debian packages.
const PACKAGES: &[(&str, &str)] = &[
    ("Xvfb", "xvfb"),
    ("dbus-daemon", "dbus-daemon"),
    ("openbox", "openbox"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("import", "imagemagick"),
    ("xdotool", "xdotool"),
    ("wmctrl", "wmctrl"),
];

/// Starts a program. It ends with the returned value.
pub fn start(command: &mut Command) -> Result<Child> {
    command.kill_on_drop(true);
    let name = command.as_std().get_program().to_owned();
    command.spawn().map_err(|error| explain(&name, &error))
}

/// Runs a program to its end and returns its output.
pub async fn output(command: &mut Command) -> Result<std::process::Output> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let name = command.as_std().get_program().to_owned();
    command.output().await.map_err(|error| explain(&name, &error))
}

/// Starts a server that prints its address in its first line.
pub async fn start_and_read_line(command: &mut Command) -> Result<(Child, String)> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = start(command)?;
    let output = child.stdout.take().context("the output was not piped")?;
    let mut lines = BufReader::new(output).lines();
    let line = tokio::time::timeout(Duration::from_secs(30), lines.next_line())
        .await
        .with_context(|| format!("{name} said nothing within 30 s"))??
        .with_context(|| format!("{name} ended without printing its address"))?;
    // A closed pipe would end the server at its next line, so the rest is read and dropped.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Ok((child, line.trim().to_owned()))
}

fn explain(program: &OsStr, error: &std::io::Error) -> anyhow::Error {
    let name = program.to_string_lossy();
    let package = PACKAGES.iter().find(|(known, _)| *known == name).map(|(_, package)| package);
    match (error.kind(), package) {
        (ErrorKind::NotFound, Some(package)) => {
            anyhow!("{name} is missing; on Debian and Ubuntu: apt-get install {package}")
        }
        _ => anyhow!("{name} could not be started: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_names_its_package() {
        let missing = std::io::Error::from(ErrorKind::NotFound);
        let message = explain(OsStr::new("WebKitWebDriver"), &missing).to_string();
        assert!(message.contains("apt-get install webkit2gtk-driver"), "{message}");
        let message = explain(OsStr::new("/opt/app"), &missing).to_string();
        assert!(message.starts_with("/opt/app could not be started"), "{message}");
    }

    #[tokio::test]
    async fn a_server_that_ends_silently_is_reported() {
        let error = start_and_read_line(&mut Command::new("true")).await.expect_err("no address");
        assert!(error.to_string().contains("true ended without"), "{error}");
    }
}
